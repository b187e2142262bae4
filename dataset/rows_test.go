package dataset_test

import (
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/dataset/files"
	"github.com/krigo-gp/krigo/dataset/inspect"
	"github.com/krigo-gp/krigo/internal/must"
)

func TestFromRows(t *testing.T) {
	names, rows := []string{"a", "y"}, [][]float64{{1, 2}, {3, math.NaN()}, {5, 6}}
	table := must.Get(dataset.FromRows(names, rows))(t)
	rows[0][0], names[0] = 9, "changed"
	d, err := table.ReadAs(dataset.Reading{MissingTarget: dataset.Refuse}).Select([]string{"a"}, "y")
	if wantError(t, err, `rows: row 2, column 2 ("y"): the value is missing`); d != nil {
		t.Error("data beside an error")
	}
	d, err = table.Unlabelled([]string{"a"})
	must.Hold(t, err == nil && slices.Equal(inputsOf(t, d), []float64{1, 3, 5}), "%v, %v", d, err)
	for _, c := range []struct {
		names []string
		rows  [][]float64
		want  string
	}{
		{nil, [][]float64{{}}, "rows: the table has no columns"},
		{[]string{"a"}, nil, "rows: the table has no rows"},
		{[]string{"a", ""}, [][]float64{{1, 2}}, "rows: column 2 has no name"},
		{[]string{"a", "b", "a"}, [][]float64{{1, 2, 3}}, `rows: columns 1 and 3 are both named "a"`},
		{[]string{"a", "b"}, [][]float64{{1, 2}, {3}}, "rows: row 2: expected 2 values, one for each column, got 1"},
		{[]string{"a", "b"}, [][]float64{{1, 2, 3}}, "rows: row 1: expected 2 values, one for each column, got 3"},
		{[]string{"a", "b"}, [][]float64{{1, 2}, {3, math.Inf(-1)}},
			`rows: row 2, column 2 ("b"): -Inf is not finite; remove the row or fill the value`},
	} {
		table, err := dataset.FromRows(c.names, c.rows)
		if wantError(t, err, c.want); table != nil {
			t.Errorf("%s: a table beside an error", c.want)
		}
	}
}

// TestFromMatrix: the table has the rows of the matrix, for every type of matrix.
func TestFromMatrix(t *testing.T) {
	m := mat.NewDense(2, 3, []float64{1, 2, 3, 4, 5, 6})
	for _, c := range []struct {
		m      mat.Matrix
		names  []string
		values []float64
	}{
		{m, []string{"a", "b", "y"}, []float64{1, 2, 3, 4, 5, 6}},
		{m.T(), []string{"a", "y"}, []float64{1, 4, 2, 5, 3, 6}},
		{m.Slice(0, 2, 1, 3), []string{"a", "y"}, []float64{2, 3, 5, 6}},
		{mat.NewSymDense(2, []float64{1, 2, 2, 3}), []string{"a", "y"}, []float64{1, 2, 2, 3}},
	} {
		table, err := dataset.FromMatrix(c.names, c.m)
		must.Hold(t, err == nil && slices.Equal(valuesOf(t, table), c.values) &&
			table.Where(1) == "row 2", "%+v, %v, want %v", table, err, c.values)
	}
	_, err := dataset.FromMatrix([]string{"a", "y"}, m)
	wantError(t, err, "matrix: row 1: expected 2 values, one for each column, got 3")
	_, err = dataset.FromMatrix([]string{"a"}, &mat.Dense{})
	wantError(t, err, "matrix: the table has no rows")
	m.Set(1, 0, math.Inf(1))
	_, err = dataset.FromMatrix([]string{"a", "b", "y"}, m)
	wantError(t, err, `matrix: row 2, column 1 ("a"): +Inf is not finite`)
}

// TestHandMade: every view of a table as data checks that the table's fields fit together.
func TestHandMade(t *testing.T) {
	names := []string{"a", "y"}
	for _, c := range []struct {
		table dataset.Table
		want  string
	}{
		{dataset.Table{Names: names, Rows: 2, Values: []float64{1, 2, 3}},
			"t: 3 values in a table of 2 rows and 2 columns"},
		{dataset.Table{Names: names, Rows: 1, Values: []float64{1, 2, 3, 4}},
			"t: 4 values in a table of 1 rows and 2 columns"},
		{dataset.Table{Names: names, Rows: 2}, "t: 0 values in a table of 2 rows"},
		{dataset.Table{Names: names, Rows: -1}, "t: 0 values in a table of -1 rows"},
		{dataset.Table{Names: names, Rows: math.MaxInt/2 + 1}, "t: 0 values in a table of"},
		{dataset.Table{Names: names, Rows: 2, Values: []float64{1, 2, 3, 4}, Lines: []int{1}},
			"t: Lines has 1 lines for 2 rows"},
		{dataset.Table{Names: names, Rows: 1, Values: []float64{1, 2}, Text: [][]string{{"x", "z"}}},
			"t: Text has lists for 1 of 2 columns"},
		{dataset.Table{Names: names, Rows: 2, Values: []float64{0, 2, 2, 4}, Text: [][]string{{"x", "z"}, nil}},
			`t: row 2, column 1 ("a"): 2 is not the place of a text: Text has 2 texts`},
		{dataset.Table{Names: names, Rows: 2, Values: []float64{0, 2, 0.5, 4}, Text: [][]string{{"x", "z"}, nil}},
			`t: row 2, column 1 ("a"): 0.5 is not the place of a text`},
		{dataset.Table{Names: []string{"a", "y", "\xf9"}, Rows: 1, Values: []float64{1, 2, 3}},
			`the name of column 3, "\xf9", isn't UTF-8 text: rename it`},
		{dataset.Table{Names: []string{"a", "y", "a"}, Rows: 1, Values: []float64{1, 2, 3}},
			`t: columns 1 and 3 are both named "a"`},
	} {
		c.table.Source = "t"
		e := &dataset.Encoding{Missing: dataset.Refuse, Columns: []dataset.Column{{Name: "a", Categories: []string{"x"}}}}
		for name, see := range map[string]func() (*dataset.Data, error){
			"Regression": func() (*dataset.Data, error) { return c.table.Regression("y") },
			"Select":     func() (*dataset.Data, error) { return c.table.Select([]string{"a"}, "y") },
			"Unlabelled": func() (*dataset.Data, error) { return c.table.Unlabelled([]string{"a"}) },
			"Encode": func() (*dataset.Data, error) {
				return c.table.Encode("y", nil, dataset.Coding{Categorical: []string{"a"}, Missing: dataset.Refuse},
					these([]int{0}))
			},
			"Encoding.Select":     func() (*dataset.Data, error) { return e.Select(&c.table, e.Inputs(), "y") },
			"Encoding.Unlabelled": func() (*dataset.Data, error) { return e.Unlabelled(&c.table, e.Inputs()) },
		} {
			d, err := see()
			if wantError(t, err, c.want); d != nil {
				t.Errorf("%s: data beside %v", name, err)
			}
		}
	}
}

// TestError: errors.As finds errors with a place, and their fields hold the place.
func TestError(t *testing.T) {
	long := "a name of more than forty characters that messages shorten"
	for _, c := range []struct {
		text string
		want dataset.Error
		says string
	}{
		{"a,b\n1,2\n\n3,red\n", dataset.Error{File: "f.csv", Line: 4, Row: 2, Column: 2, Name: "b"},
			`f.csv: line 4 (row 2), column 2 ("b"): "red" is not a number; write one, or remove the row`},
		{"a," + long + "\n1,\nred,\n", dataset.Error{File: "f.csv", Line: 2, Row: 1, Column: 2, Name: long},
			`f.csv: line 2 (row 1), column 2 ("a name of more than forty characters tha…"): the value is missing; remove the ` +
				`row or fill the value (and 2 more problems)`},
		{"a,b\n1,2\n3\n", dataset.Error{File: "f.csv", Line: 3, Row: 2},
			`f.csv: line 3 (row 2): expected 2 fields, got 1: add or remove fields, or quote those that hold a ','`},
		{"a,b\n1,2\n\"3,4\n", dataset.Error{File: "f.csv", Line: 3},
			`f.csv: line 3: a quote (") is not closed or stands inside a field; double it or remove it`},
		{"a,,c\n1,2,3\n", dataset.Error{File: "f.csv", Line: 1, Column: 2},
			`f.csv: line 1: column 2 has no name: give it one in the header, or remove it, or have it named c2 by ` +
				`--header unique`},
		{"a,b,a\n1,2,3\n", dataset.Error{File: "f.csv", Column: 3, Name: "a"},
			`f.csv: columns 1 and 3 are both named "a": rename one, or have repeated names numbered with --header unique; if ` +
				`the second row names columns too, say --header two`},
	} {
		table, err := files.CSV{From: strings.NewReader(c.text), Source: "f.csv"}.Read()
		if err == nil {
			_, err = table.Unlabelled(table.Names)
		}
		var of *dataset.Error
		if !errors.As(err, &of) || err.Error() != c.says {
			t.Errorf("%v\nwant %s", err, c.says)
			continue
		}
		got := *of
		if got.Err = nil; got != c.want || errors.Unwrap(of) == nil {
			t.Errorf("%+v, want %+v", got, c.want)
		}
	}
	// Scaled values overflow in a table with lines, and in a table without lines.
	for lines, want := range map[bool]dataset.Error{true: {File: "f.csv", Line: 3}, false: {File: "rows", Row: 2}} {
		table, err := dataset.FromRows([]string{"a", "y"}, [][]float64{{1, 2}, {1e300, 3}})
		if lines {
			table, err = files.CSV{From: strings.NewReader("a,y\n1,2\n1e300,3\n"), Source: "f.csv"}.Read()
		}
		must.Do(t, err)
		d := must.Get(table.Regression("y"))(t)
		s := dataset.Identity(1)
		s.InputScale[0] = 1e-10
		x := make([]float64, 2)
		must.Do(t, d.Scaled(d.All(), s).Block(0, 2, x, nil))
		must.Be(t, x[1], math.MaxFloat64, "to predict")
		err = d.Scaled(d.All(), s).Block(0, 2, x, make([]float64, 2))
		var of *dataset.Error
		must.Hold(t, errors.As(err, &of) && of.Line == want.Line && of.Row == want.Row &&
			of.File == want.File, "%v", err)
		wantError(t, err, want.File+": ", "a value is so far from the others")
	}
}

// TestSeveralGoroutines: goroutines may view and read one table, in memory or on disk. The race detector checks it.
func TestSeveralGoroutines(t *testing.T) {
	memory := read(t, rooms)
	path := filepath.Join(t.TempDir(), "x.npy")
	must.Do(t, files.WriteFile(path, []string{"a", "y"}, 500,
		func(i int, v []float64) error { v[0], v[1] = float64(i), float64(i*i); return nil }))
	disk := must.Get(files.ReadFile(path, dataset.Reading{}))(t)
	defer disk.Close()
	scaled := must.Get(disk.Regression("y"))(t)
	view := scaled.Scaled(scaled.All(), dataset.Identity(1))
	found := make([]string, 4)
	var wait sync.WaitGroup
	for k := range found {
		wait.Go(func() {
			d, err := memory.Encode("y", nil, dataset.Coding{Categorical: []string{"fuel", "zone"},
				Missing: dataset.FillMean}, these([]int{0, 1, 2}))
			if err != nil {
				t.Error(err)
				return
			}
			told, err := inspect.Findings(d, must.Get(d.Units())(t))
			hash, err2 := d.Hash(d.All())
			x, y := make([]float64, 400), make([]float64, 400)
			err3 := view.Block(50, 400, x, y)
			found[k] = fmt.Sprint(told, err, hash, err2, err3, x, y)
		})
	}
	wait.Wait()
	for _, f := range found[1:] {
		must.Hold(t, f == found[0], "%s\n%s", f, found[0])
	}
}
