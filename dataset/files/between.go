package files

import (
	"bytes"
	"io"
	"slices"

	"github.com/krigo-gp/krigo/dataset"
)

// between says whether bars or spaces separate the fields of text in whose first line nothing else does; 0: neither.
// They make as many fields of the first line that isn't blank as of the second. Names have spaces too: of spaces, one
// of the fields is a number.
func between(head []byte, as dataset.Reading) rune {
	first, rest, _ := bytes.Cut(bytes.TrimLeft(head, "\r\n"), []byte("\n"))
	second, _, whole := bytes.Cut(bytes.TrimLeft(rest, "\r\n"), []byte("\n"))
	if !whole && len(head) >= blockSize {
		return 0
	}
	fields := func(line []byte, comma rune) []string {
		in := io.Reader(bytes.NewReader(line))
		if comma == ' ' {
			in = &spaced{from: in}
		}
		record, _ := newCSV(in, comma).Read()
		return slices.Clone(record)
	}
	number := func(cell string) bool {
		_, err := as.Parse(cell)
		return err == nil
	}
	for _, comma := range "| " {
		names, cells := fields(first, comma), fields(second, comma)
		switch {
		case len(names) < 2 || len(names) != len(cells):
		case comma == '|', as.Thousands != " " && len(as.Units) == 0 && slices.ContainsFunc(cells, number):
			return comma
		}
	}
	return 0
}

// spaced is text in which spaces and tabs outside quotes are one space between two fields, and none elsewhere.
type spaced struct {
	from                  io.Reader
	quoted, within, blank bool // in quotes, behind the first field of a line, behind a space
}

func (s *spaced) Read(p []byte) (n int, err error) {
	if len(p) < 2 {
		return 0, io.ErrShortBuffer
	}
	for n == 0 && err == nil {
		var read int
		read, err = s.from.Read(p[1:]) // since a space of before may come first
		for _, c := range p[1 : 1+read] {
			switch {
			case s.quoted:
			case c == ' ', c == '\t':
				s.blank = true
				continue
			case c == '\r', c == '\n':
				s.within = false
			default:
				if s.blank && s.within {
					p[n] = ' '
					n++
				}
				s.within = true
			}
			if c == '"' {
				s.quoted = !s.quoted
			}
			s.blank = false
			p[n] = c
			n++
		}
	}
	return n, err
}
