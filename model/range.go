package model

import (
	"math"
	"slices"

	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/ranks"
)

// Range is that of every input, in its own units, on the rows a model was made from: all but the
// test rows. A guarantee about rows from their source says nothing of rows that it has none like.
type Range struct {
	Min []float64 `json:"min"`
	Max []float64 `json:"max"`
}

// blockRows returns how many rows of cols inputs are read at a time: enough for every core to have some to predict,
// and, if categories became thousands of inputs, still no more than a few megabytes.
func blockRows(cols int) int { return max(1<<8, min(1<<14, 1<<20/max(1, cols))) }

// eachRow reads the inputs of rows, a block at a time, and hands them on one by one.
func eachRow(d *dataset.Data, rows []int, do func(i int, inputs []float64)) error {
	most := min(len(rows), blockRows(d.Cols))
	x := make([]float64, most*d.Cols)
	for first := 0; first < len(rows); first += most {
		n := min(len(rows)-first, most)
		if err := d.Read(rows[first:first+n], x[:n*d.Cols], nil); err != nil {
			return err
		}
		for i := range n {
			do(first+i, x[i*d.Cols:(i+1)*d.Cols])
		}
	}
	return nil
}

// RangeOf returns the range of the inputs of all rows but the test rows, of all ranks.
func RangeOf(d *dataset.Data, roles dataset.Roles) (r Range, err error) {
	low, high := slices.Repeat([]float64{math.Inf(1)}, d.Cols), slices.Repeat([]float64{math.Inf(-1)}, d.Cols)
	rows := slices.DeleteFunc(d.All(), func(i int) bool { return roles.Of[i] == dataset.Test })
	if err := eachRow(d, rows, func(_ int, row []float64) {
		for j, v := range row {
			low[j], high[j] = min(low[j], v), max(high[j], v)
		}
	}); err != nil {
		return r, err
	}
	of, err := ranks.All(d.Ranks(), slices.Concat(low, high)...)
	for _, ends := range of {
		for j := range d.Cols {
			low[j], high[j] = min(low[j], ends[j]), max(high[j], ends[d.Cols+j])
		}
	}
	return Range{low, high}, err
}

// outside counts the inputs of a row that lie outside the range; 0 where none is known.
func (r Range) outside(row []float64) (n int) {
	for j := range r.Min {
		if v := row[j]; !(r.Min[j] <= v && v <= r.Max[j]) {
			n++
		}
	}
	return n
}

// count counts them for each row of d that this rank has.
func (r Range) count(d *dataset.Data) ([]int, error) {
	rows := d.All()
	counts := make([]int, len(rows))
	if r.Min == nil {
		return counts, nil
	}
	return counts, eachRow(d, rows, func(i int, row []float64) { counts[i] = r.outside(row) })
}
