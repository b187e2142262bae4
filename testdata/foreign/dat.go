package foreign

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/dataset/files"
)

func init() {
	files.Register(files.Format{Name: "DAT", Endings: []string{".dat"}, Read: readDAT, Write: writeDAT})
}

// readDAT reads a table of cells between blanks, whose first line names the columns, with or without
// a # before. Lines that begin with # further down are comments.
func readDAT(f *os.File, t *dataset.Table) error {
	in := bufio.NewScanner(f)
	for line := 1; in.Scan(); line++ {
		cells := strings.Fields(in.Text())
		switch {
		case len(cells) == 0:
		case t.Names == nil:
			t.Names = strings.Fields(strings.TrimPrefix(strings.TrimSpace(in.Text()), "#"))
		case strings.HasPrefix(cells[0], "#"):
		case len(cells) != len(t.Names):
			return &dataset.Error{File: t.Source, Line: line,
				Err: fmt.Errorf("expected %d cells, got %d: write ? where one is missing", len(t.Names), len(cells))}
		default:
			t.Lines = append(t.Lines, line)
			if err := t.Append(cells); err != nil {
				return err
			}
		}
	}
	if err := in.Err(); err != nil {
		return fmt.Errorf("%s: cannot be read: %w", t.Source, err)
	}
	if t.Rows == 0 {
		return fmt.Errorf("%s: no rows below a line of names", t.Source)
	}
	return nil
}

// writeDAT writes such a table. It refuses names that it couldn't read again.
func writeDAT(w io.Writer, names []string, rows int, fill files.Fill) error {
	for _, name := range names {
		if len(strings.Fields(name)) != 1 || strings.HasPrefix(name, "#") {
			return fmt.Errorf("column %q: a name in a DAT file has no blanks, and no # in front", name)
		}
	}
	out := bufio.NewWriter(w)
	fmt.Fprintln(out, strings.Join(names, " "))
	err := fill.Each(names, rows, func(values []float64) error {
		for j, v := range values {
			if j > 0 {
				out.WriteByte(' ')
			}
			out.Write(strconv.AppendFloat(out.AvailableBuffer(), v, 'g', -1, 64))
		}
		return out.WriteByte('\n')
	})
	if err != nil {
		return err
	}
	return out.Flush()
}
