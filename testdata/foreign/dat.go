package foreign

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/dataset/files"
)

func init() {
	files.Register(files.Format{Name: "DAT", Endings: []string{".dat"}, Read: readDAT, Write: writeDAT})
}

// longestLine is the number of bytes that a line may have.
const longestLine = 1 << 24

// readDAT reads a table whose cells have blanks between them. The first line names the columns, with or without a #
// in front. Later lines that begin with # are comments.
func readDAT(f *os.File, t *dataset.Table) error {
	in := bufio.NewScanner(f)
	in.Buffer(nil, longestLine)
	line := 1
	for ; in.Scan(); line++ {
		cells := strings.Fields(in.Text())
		switch {
		case len(cells) == 0:
		case t.Names == nil:
			t.Names = strings.Fields(strings.TrimPrefix(strings.TrimSpace(in.Text()), "#"))
		case strings.HasPrefix(cells[0], "#"):
		default:
			if err := t.AppendLine(line, cells); err != nil {
				return err
			}
		}
	}
	if err := in.Err(); err != nil {
		return fmt.Errorf("%s: line %d: %w", t.Source, line, err)
	}
	return nil
}

// writeDAT writes a table that readDAT can read. It refuses names that readDAT couldn't read.
func writeDAT(w io.Writer, names []string, rows int, fill files.Fill) error {
	for _, name := range names {
		if len(strings.Fields(name)) != 1 || strings.HasPrefix(name, "#") {
			return fmt.Errorf("column %q: in a DAT file, a name has no blanks and doesn't begin with #", name)
		}
	}
	if _, err := fmt.Fprintln(w, strings.Join(names, " ")); err != nil {
		return err
	}
	return fill.Lines(w, names, rows, ' ')
}
