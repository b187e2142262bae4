package files

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"strings"

	"github.com/krigo-gp/krigo/dataset"
)

// commas reads rows of text with a mark between their cells, as RFC 4180 has them.
// Programs also write what RFC 4180 doesn't have, and commas reads it where it can mean one thing
// only: \" for a quote in quotes, quotes in the middle of a cell without quotes, and ="001".
type commas struct {
	in *bufio.Reader
	// the mark between cells; a space stands for any number of spaces and tabs
	mark   byte
	source string
	// counts lines that begin with #. They are left out if some stand above the header.
	remarks *int
	line    int   // the line that was read last
	begin   int   // the line on which the last row begins
	offset  int64 // bytes up to the end of the last line

	long   []byte // a line longer than the buffer of in
	text   []byte // the cells of the row, one after the other
	ends   []int  // where each cell ends in text
	record []string
}

// newCommas returns a reader of rows. above is the number of lines that were skipped, for the line
// numbers in errors.
func newCommas(in io.Reader, mark byte, source string, above int) *commas {
	buffered, is := in.(*bufio.Reader)
	if !is {
		buffered = bufio.NewReader(in)
	}
	return &commas{in: buffered, mark: mark, source: source, line: above}
}

func (c *commas) Line() int          { return c.begin }
func (c *commas) InputOffset() int64 { return c.offset }

// Read returns the next row that isn't blank. The slice is used again by the next call.
func (c *commas) Read() ([]string, error) {
	c.text = c.text[:0]
	for c.ends = c.ends[:0]; len(c.ends) == 0; {
		line, err := c.next()
		if err != nil {
			return nil, err
		}
		c.begin = c.line
		switch {
		case len(line) == 0:
		case line[0] == '#' && len(c.record) > 0 && c.remarks != nil && *c.remarks > 0:
			*c.remarks++
		default:
			if err := c.split(line); err != nil {
				return nil, err
			}
		}
	}
	c.record = c.record[:0]
	text := string(c.text)
	begin := 0
	for _, end := range c.ends {
		cell := text[begin:end]
		// Spreadsheets keep the zeros of ="001".
		if inside, found := strings.CutPrefix(cell, `="`); found && strings.HasSuffix(inside, `"`) {
			cell = inside[:len(inside)-1]
		}
		c.record = append(c.record, cell)
		begin = end
	}
	return c.record, nil
}

// next returns the next line without its end.
func (c *commas) next() ([]byte, error) {
	line, err := c.in.ReadSlice('\n')
	for c.long = c.long[:0]; err == bufio.ErrBufferFull; {
		c.long = append(c.long, line...)
		line, err = c.in.ReadSlice('\n')
	}
	if len(c.long) > 0 {
		c.long = append(c.long, line...)
		line = c.long
	}
	if len(line) == 0 || (err != nil && err != io.EOF) {
		return nil, err
	}
	c.line++
	c.offset += int64(len(line))
	return bytes.TrimSuffix(bytes.TrimSuffix(line, []byte("\n")), []byte("\r")), nil
}

// separates says whether a character separates cells.
func (c *commas) separates(b byte) bool { return b == c.mark || (c.mark == ' ' && b == '\t') }

// split adds the cells of a line, and of further lines that its quotes take in.
func (c *commas) split(line []byte) (err error) {
	for {
		if c.mark != '\t' { // between tabs, spaces belong to cells, and a tab ends an empty cell
			line = bytes.TrimLeft(line, " \t")
		}
		if len(line) == 0 && c.mark == ' ' {
			return nil
		}
		if len(line) > 0 && line[0] == '"' {
			if line, err = c.quoted(line[1:]); err != nil {
				return err
			}
		} else {
			end := bytes.IndexByte(line, c.mark)
			if c.mark == ' ' {
				end = bytes.IndexAny(line, " \t")
			}
			if end < 0 {
				end = len(line)
			}
			c.text = append(c.text, line[:end]...)
			line = line[end:]
		}
		c.ends = append(c.ends, len(c.text))
		if len(line) == 0 {
			return nil
		}
		line = line[1:]
	}
}

// quoted adds a cell up to its closing quote, and returns the rest of the line.
func (c *commas) quoted(line []byte) ([]byte, error) {
	ends := func(rest []byte) bool { return len(rest) == 0 || c.separates(rest[0]) }
	for {
		at := bytes.IndexByte(line, '"')
		if at < 0 {
			c.text = append(append(c.text, line...), '\n')
			var err error
			if line, err = c.next(); err == io.EOF {
				return nil, c.quoteError()
			} else if err != nil {
				return nil, err
			}
			continue
		}
		escaped := at > 0 && line[at-1] == '\\'
		c.text = append(c.text, line[:at]...)
		line = line[at+1:]
		switch doubled := len(line) > 0 && line[0] == '"'; {
		case escaped && doubled && ends(line[1:]): // as R writes 6": "6\""
			c.text[len(c.text)-1] = '"'
			return line[1:], nil
		case doubled:
			c.text = append(c.text, '"')
			line = line[1:]
		case ends(line):
			return line, nil
		case escaped:
			c.text[len(c.text)-1] = '"'
		default:
			return nil, c.quoteError()
		}
	}
}

// quoteError returns the error of a row after which nobody knows where the next row begins.
func (c *commas) quoteError() error {
	return &dataset.Error{File: c.source, Line: c.begin, Err: errors.New(`a quote (") is not ` +
		`closed or stands inside a field; double it or remove it`)}
}

// oneEnd passes text on. If its lines end with CR alone, as on old Macs, it makes them end with LF.
type oneEnd struct {
	io.Reader
	known, only bool // whether the ends are known, and whether they are CR alone
}

// Read decides by the first part of the text that shows the end of a line.
func (o *oneEnd) Read(p []byte) (int, error) {
	n, err := o.Reader.Read(p)
	if !o.known {
		at := bytes.IndexByte(p[:n], '\r')
		o.only = at >= 0 && at < n-1 && bytes.IndexByte(p[:n], '\n') < 0
		o.known = o.only || bytes.IndexByte(p[:n], '\n') >= 0
	}
	for i := 0; o.only && i < n; i++ {
		if p[i] == '\r' {
			p[i] = '\n'
		}
	}
	return n, err
}
