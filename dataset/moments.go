package dataset

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/krigo-gp/krigo/internal/compensated"
	"github.com/krigo-gp/krigo/ranks"
)

// Moments are the mean and the population standard deviation of a column.
type Moments struct{ Mean, SD float64 }

// Constant allows for rounding noise in values meant to be equal: some hundreds
// of units in the last place.
func (m Moments) Constant() bool { return m.SD <= 1e-13*math.Abs(m.Mean) || m.SD == 0 }

func (m Moments) finite() bool {
	return !math.IsInf(m.Mean, 0) && !math.IsNaN(m.Mean) && !math.IsInf(m.SD, 0) && !math.IsNaN(m.SD)
}

// Moments computes the moments of the inputs and, last, of the target on the given rows,
// by the corrected two-pass algorithm (Chan, Golub and LeVeque, "Algorithms for computing
// the sample variance", 1983) with compensated sums, so that 1e12 + small keeps its
// digits. Deviations are divided by the largest, or the squares of extreme ones would
// leave the range.
func (d *Data) Moments(rows []int) ([]Moments, error) {
	type column struct {
		Mean, Largest      float64
		Sum, Rest, Squares compensated.Sum // Σ value; Σd, Σd² with d = (value − mean)/largest
	}
	columns := make([]column, d.Cols+1)
	r := d.Ranks()
	pass := func(add func(c *column, v float64)) error {
		return ranks.InTurn(r, func() error {
			return d.each(rows, func(_ int, x, y []float64) {
				for i, v := range y {
					for j, v := range x[i*d.Cols : (i+1)*d.Cols] {
						add(&columns[j], v)
					}
					add(&columns[d.Cols], v)
				}
			})
		}, func() ([]byte, error) {
			return binary.Append(nil, binary.LittleEndian, columns)
		}, func(state []byte) error {
			_, err := binary.Decode(state, binary.LittleEndian, columns)
			return err
		})
	}
	_, total, err := ranks.Place(r, len(rows))
	if err != nil {
		return nil, err
	}
	n := float64(total)
	if err := pass(func(c *column, v float64) { c.Sum.Add(v) }); err != nil {
		return nil, err
	}
	for j := range columns {
		columns[j].Mean = columns[j].Sum.Value() / n
	}
	if err := pass(func(c *column, v float64) { c.Largest = max(c.Largest, math.Abs(v-c.Mean)) }); err != nil {
		return nil, err
	}
	if err := pass(func(c *column, v float64) {
		if c.Largest > 0 {
			d := (v - c.Mean) / c.Largest
			c.Rest.Add(d)
			c.Squares.Add(d * d)
		}
	}); err != nil {
		return nil, err
	}
	out := make([]Moments, len(columns))
	for j, c := range columns {
		out[j].Mean = c.Mean
		if c.Largest == 0 {
			continue
		}
		shift := c.Rest.Value() / n // rounding error left in the mean
		variance := max(0, c.Squares.Value()/n-shift*shift)
		out[j] = Moments{Mean: c.Mean + c.Largest*shift, SD: c.Largest * math.Sqrt(variance)}
	}
	return out, nil
}

func overflow(source, name string) error {
	return &Error{File: source, Name: name,
		Err: fmt.Errorf("the values of column %q are too large to average: change its unit", name)}
}
