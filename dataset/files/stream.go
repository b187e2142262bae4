package files

import (
	"bufio"
	"bytes"
	"errors"

	"github.com/krigo-gp/krigo/dataset"
)

// Stream reads CSV text like [CSV.Read], but as it arrives from a pipe that may stay open.
// As soon as there are rows, it calls each with a table of these rows.
// A table has no more rows than most says. Stream ends with the text, with an error of each, or at
// the first bad row, after it has passed on the rows before.
// A column of numbers in one table may be text in the next.
func (c CSV) Stream(most int, each func(*dataset.Table) error) error {
	if err := c.As.Check(); err != nil {
		return err
	}
	c.As = c.As.Part()
	p, in, err := c.open(c.As.New(c.Source), firstLine)
	if err != nil {
		return err
	}
	p.passOn = func() error {
		t := p.table
		if t.Rows == 0 {
			return nil
		}
		t.Lines = t.Lines[:t.Rows] // drop the line of a bad row
		before := p.before
		p.before += t.Rows
		p.table = c.As.New(c.Source)
		p.table.Names = t.Names
		p.table.Found.Headless = t.Found.Headless
		p.table.Found.Remarks = t.Found.Remarks
		err := c.As.Apply(t)
		if err == nil {
			err = each(t)
		}
		var at *dataset.Error
		if errors.As(err, &at) && at.Row > 0 {
			at.Row += before
		}
		return err
	}
	p.enough = func() bool {
		if p.table.Rows >= most {
			return true
		}
		waiting, _ := in.Peek(in.Buffered())
		return bytes.IndexByte(bytes.TrimLeft(waiting, " \t\r\n"), '\n') < 0
	}
	return p.read()
}

// firstLine waits for the lines that tell what the text is, and returns the text at hand.
func firstLine(in *bufio.Reader) ([]byte, error) {
	for n := 1; ; n = min(in.Buffered()+1, blockSize) {
		head, err := in.Peek(n)
		if err == nil {
			head, err = in.Peek(in.Buffered())
		}
		if err != nil || len(head) >= blockSize {
			return head, err
		}
		rest := bytes.TrimLeft(head, "\r\n")
		for len(rest) > 0 && rest[0] == '#' { // perhaps a remark above the header
			_, rest, _ = bytes.Cut(rest, []byte("\n"))
		}
		first, below, whole := bytes.Cut(rest, []byte("\n"))
		mark := separator(rest, false)
		// With commas or semicolons alone, the first line tells what separates cells.
		sure := mark == ';' || (mark == ',' && !bytes.ContainsAny(first, "\t;"))
		if whole && (sure || isJSON(rest) ||
			bytes.IndexByte(below, '\n') >= 0) {
			return head, nil
		}
	}
}
