package model

import (
	"math"
	"slices"

	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/internal/linalg"
	"github.com/krigo-gp/krigo/internal/lists"
	"github.com/krigo-gp/krigo/observation"
	"github.com/krigo-gp/krigo/ranks"
)

// sameFigure is the relative difference that a figure beside a certificate may have on another kind
// of processor. The certificate's own numbers may differ by this much too.
const sameFigure = 1e-6

// Range holds the least and the largest value of every input, in the input's own units, over all
// rows except test rows.
// A guarantee about rows from one source says nothing about a row that is unlike all rows of that
// source.
type Range struct {
	Min []float64 `json:"min"`
	Max []float64 `json:"max"`

	// Far is a distance from the training rows that few rows exceed (see Farthest).
	// It is 0 if the distance is unknown.
	// A row's distance is the standard deviation of f, in scaled units.
	// With a stationary kernel it is almost 0 at training rows, and far from all training rows it
	// is the prior's standard deviation. With a linear kernel it grows without limit, as leverage
	// does.
	Far float64 `json:"far,omitzero"`

	// Missed names the columns that miss a value in these rows, if the encoding fills gaps.
	// It is nil if the encoding doesn't, and in old models.
	Missed []string `json:"missed,omitzero"`
}

// Farthest returns a distance that at most 1 % of further rows exceed, on average over draws, if
// further rows and the rows with these variances of f come from one source.
// With fewer than 99 rows it returns the largest distance.
func Farthest(variances []float64) float64 {
	n := len(variances)
	if n == 0 {
		return 0
	}
	return math.Sqrt(slices.Sorted(slices.Values(variances))[min((99*(n+1)+99)/100, n)-1])
}

// eachRow reads the inputs of rows in blocks, and calls do with each row.
func eachRow(d *dataset.Data, rows []int, do func(i int, inputs []float64)) error {
	most := min(len(rows), observation.BlockRows(d.Cols))
	x := make([]float64, most*d.Cols)
	for first, end := range lists.Blocks(len(rows), most) {
		n := end - first
		if err := d.Read(rows[first:end], x[:n*d.Cols], nil); err != nil {
			return err
		}
		for i := range n {
			do(first+i, x[i*d.Cols:(i+1)*d.Cols])
		}
	}
	return nil
}

// norm returns the Euclidean norm of v.
func norm(v []float64) float64 { return math.Sqrt(linalg.Dot(v, v)) }

// RangeOf returns the range of the inputs over all rows except test rows, of all ranks.
func RangeOf(d *dataset.Data, roles dataset.Roles) (r Range, err error) {
	rows := madeRows(d, roles)
	r.Min, r.Max, err = ends(d, rows)
	if err != nil || !d.Encoding.Fills() {
		return r, err
	}
	least, _, err := ends(d.Unencoded(), rows)
	r.Missed = []string{}
	for k, v := range least {
		if v != v {
			r.Missed = append(r.Missed, d.Encoding.Columns[k].Name)
		}
	}
	return r, err
}

// ends returns the least and the largest value of each column, or NaN if a value is missing.
func ends(d *dataset.Data, rows []int) (low, high []float64, err error) {
	low = slices.Repeat([]float64{math.Inf(1)}, d.Cols)
	high = slices.Repeat([]float64{math.Inf(-1)}, d.Cols)
	if err := eachRow(d, rows, func(_ int, row []float64) {
		for j, v := range row {
			low[j], high[j] = min(low[j], v), max(high[j], v)
		}
	}); err != nil {
		return nil, nil, err
	}
	of, err := ranks.All(d.Ranks(), slices.Concat(low, high)...)
	for _, ends := range of {
		for j := range d.Cols {
			low[j], high[j] = min(low[j], ends[j]), max(high[j], ends[d.Cols+j])
		}
	}
	return low, high, err
}

// outside counts the inputs of a row that lie outside the range.
// If no input does, outside returns 1 if the row is far, by the variance of f there, else 0.
// It returns 0 if the model has no range.
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
