package model

import (
	"math"
	"slices"

	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/ranks"
)

// sameFigure is how closely another kind of processor computes what stands beside a certificate, of which
// it computes that as closely.
const sameFigure = 1e-6

// Range is that of every input, in its own units, on the rows a model was made from: all but the
// test rows. A guarantee about rows from their source says nothing of rows that it has none like.
type Range struct {
	Min []float64 `json:"min"`
	Max []float64 `json:"max"`

	// Far is how far nearly all rows are from those that trained, see Farthest. 0: nobody knows. A row's distance is the
	// standard deviation of f, in scaled units. With a stationary kernel it is next to 0 at rows that trained, and that
	// of the prior where they say nothing; with a linear one it grows on, as leverage does.
	Far float64 `json:"far,omitzero"`
}

// Farthest is the distance that a further row exceeds with a probability of at most 1 %, where it and rows with these
// variances of f are of one source; with fewer than 99 of them it is the largest.
func Farthest(variances []float64) float64 {
	n := len(variances)
	if n == 0 {
		return 0
	}
	return math.Sqrt(slices.Sorted(slices.Values(variances))[min((99*(n+1)+99)/100, n)-1])
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
	if err := eachRow(d, madeRows(d, roles), func(_ int, row []float64) {
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
	return Range{Min: low, Max: high}, err
}

// outside counts the inputs of a row that lie outside the range; 1 if none does but the row, where f has a variance, is
// far; 0 where no range is known.
func (r Range) outside(row []float64, variance float64) (n int) {
	for j := range r.Min {
		if v := row[j]; !(r.Min[j] <= v && v <= r.Max[j]) {
			n++
		}
	}
	if n == 0 && r.Far > 0 && math.Sqrt(variance) > r.Far+sameFigure*math.Max(1, r.Far) {
		return 1
	}
	return n
}

// count counts them for each row of d that this rank has, where f has the variances given.
func (r Range) count(d *dataset.Data, variance []float64) ([]int, error) {
	rows := d.All()
	counts := make([]int, len(rows))
	if r.Min == nil {
		return counts, nil
	}
	return counts, eachRow(d, rows, func(i int, row []float64) { counts[i] = r.outside(row, variance[i]) })
}
