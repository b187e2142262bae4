package dataset

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
)

// FromRows makes a table of rows of numbers, which it copies. A NaN is a missing value. Errors call
// the table "rows", unless its Source is set to another name.
func FromRows(names []string, rows [][]float64) (*Table, error) {
	return tableOf("rows", names, len(rows), func(i int) []float64 { return rows[i] })
}

// FromMatrix makes a table of the rows of a matrix, which it copies. A NaN is a missing value.
// Errors call the table "matrix", unless its Source is set to another name.
func FromMatrix(names []string, m mat.Matrix) (*Table, error) {
	rows, cols := m.Dims()
	to := make([]float64, cols)
	return tableOf("matrix", names, rows, func(i int) []float64 { return mat.Row(to, i, m) })
}

func tableOf(source string, names []string, rows int, row func(i int) []float64) (*Table, error) {
	t := &Table{Source: source, Names: slices.Clone(names), Rows: rows, Values: make([]float64, 0, rows*len(names))}
	switch {
	case len(names) == 0:
		return nil, fmt.Errorf("%s: the table has no columns", source)
	case rows == 0:
		return nil, fmt.Errorf("%s: the table has no rows", source)
	}
	for i := range rows {
		values := row(i)
		if len(values) != len(names) {
			return nil, &Error{File: source, Row: i + 1, Err: fmt.Errorf("expected %d values, one for each column, got %d",
				len(names), len(values))}
		}
		if j := slices.IndexFunc(values, func(v float64) bool { return math.IsInf(v, 0) }); j >= 0 {
			return nil, &Error{File: source, Row: i + 1, Column: j + 1, Name: names[j], Err: notFinite(values[j])}
		}
		t.Values = append(t.Values, values...)
	}
	if err := t.Check(); err != nil {
		return nil, err
	}
	return t, nil
}
