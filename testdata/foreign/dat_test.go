package foreign

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/krigo-gp/krigo"
	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/dataset/files"
)

// TestFormat shows that a table in a file of a registered format comes back bit by bit, and that a model fitted to
// the file equals a model fitted to the table.
func TestFormat(t *testing.T) {
	table := waves()
	path := filepath.Join(t.TempDir(), "waves.dat")
	fill := func(i int, values []float64) error { copy(values, table.Values[2*i:]); return nil }
	do(t, files.WriteFile(path, table.Names, table.Rows, fill))
	read, err := files.ReadFile(path, dataset.Reading{})
	if err != nil || !reflect.DeepEqual(read.Values, table.Values) || !reflect.DeepEqual(read.Names, table.Names) {
		t.Fatalf("%v: came back as %+v", err, read)
	}
	var bounds []float64
	for _, from := range []*dataset.Table{table, read} {
		m := must(krigo.Fit(context.Background(), from,
			krigo.Options{Data: krigo.Data{Target: "y"}, Method: krigo.Method{Name: "vfe", Inducing: 20}}))(t)
		bounds = append(bounds, m.Certificate.Bound)
	}
	if bounds[0] != bounds[1] {
		t.Errorf("bound %v from the table, %v from the file", bounds[0], bounds[1])
	}
	if err := files.WriteFile(path, []string{"a b"}, 1, fill); err == nil || !strings.Contains(err.Error(), `"a b"`) {
		t.Errorf("a name with a blank: %v", err)
	}
}

// TestFormatRefuses shows that text becomes categories and that missing cells stay missing. An error names the line.
func TestFormatRefuses(t *testing.T) {
	path := filepath.Join(t.TempDir(), "t.dat")
	read := func(text string) (*dataset.Table, error) {
		do(t, os.WriteFile(path, []byte(text), 0o600))
		return files.ReadFile(path, dataset.Reading{})
	}
	table, err := read("# x  heat\ty\n1 gas 2\n\n# a comment\n? oil 3\n")
	if err != nil || table.Rows != 2 || !reflect.DeepEqual(table.Text[1], []string{"gas", "oil"}) ||
		table.Where(1) != "line 5" {
		t.Errorf("%+v, %v", table, err)
	}
	_, err = read("x y\n1 2\n3\n")
	var at *dataset.Error
	if !errors.As(err, &at) || at.Line != 3 || !strings.Contains(err.Error(), "t.dat: line 3: expected 2 cells, got 1") {
		t.Errorf("a short line: %v", err)
	}
	if table, err = read("x y\n1 2\n3 inf\n"); err == nil {
		_, err = table.Regression("y")
	}
	if err == nil || !strings.Contains(err.Error(), "t.dat: line 3") {
		t.Errorf("an infinite target: %v", err)
	}
	if _, err := read(""); err == nil {
		t.Error("an empty file was read")
	}
}
