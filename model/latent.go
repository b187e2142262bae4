package model

import (
	"context"
	"errors"
	"math"

	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/internal/lists"
	"github.com/krigo-gp/krigo/matrix"
	"github.com/krigo-gp/krigo/observation"
	"github.com/krigo-gp/krigo/pacbayes"
	"github.com/krigo-gp/krigo/posterior"
)

// latent returns the mean and variance of f (y without noise) under q at rows, which it reads block
// by block. With an exposure, f is the logarithm of the row's mean, and not of the mean at exposure
// 1.
func latent(q *posterior.Posterior, rows observation.Blocks) (mean, variance []float64, err error) {
	defer matrix.Ended(&err)
	if q == nil {
		return nil, nil, errors.New("the model is empty: load or fit a model first")
	}
	n, _ := rows.Dims()
	mean = make([]float64, n)
	variance = make([]float64, n)
	tell := told(rows.Context())
	err = observation.EachBlock(rows, func(first int, x matrix.Dense) {
		end := first + x.Rows
		q.Latent(x, mean[first:end], variance[first:end])
		if tell != nil {
			tell(end, n)
		}
	})
	if err == nil {
		err = rows.Shift(mean)
	}
	return mean, variance, err
}

// targets returns the targets of rows, transformed and scaled as in the model's training.
func (m *Model) targets(d *dataset.Data, rows []int) ([]float64, error) {
	y, err := d.Targets(rows)
	m.Scaling.Target(y, y)
	return y, err
}

// TargetScale returns sizes of targets in standard deviations of the target if the loss is relative
// to a target's size, else nil. The sizes may have the targets' signs.
func TargetScale(l pacbayes.Loss, s dataset.Scaling, sizes []float64) []float64 {
	if l.Kind != pacbayes.Relative && l.Kind != pacbayes.ClippedAbsolute {
		return nil
	}
	return lists.Of(sizes, func(y float64) float64 { return math.Abs(y) / s.TargetScale })
}

// tellingKey is the key of the function that a Telling context carries.
type tellingKey struct{}

// Telling returns a context that reports progress.
// While a model predicts many rows at once, tell gets the number of rows done and the total. The
// goroutine that predicts calls tell. dataset.Data.Within gives the context to the data.
func Telling(ctx context.Context, tell func(done, of int)) context.Context {
	return context.WithValue(ctx, tellingKey{}, tell)
}

// told returns the function that Telling put into ctx, or nil.
func told(ctx context.Context) func(done, of int) {
	if ctx == nil {
		return nil
	}
	tell, _ := ctx.Value(tellingKey{}).(func(done, of int))
	return tell
}

// MonotoneOf returns the axes in ways with the ends that the rows have, in scaled units. An axis
// along which predictions fall has From above To, as in ways. It returns nil if ways is nil.
func MonotoneOf(rows observation.Blocks, ways posterior.Monotone) (axes posterior.Monotone, err error) {
	if ways == nil {
		return nil, nil
	}
	n, d := rows.Dims()
	err = observation.EachBlock(rows, func(first int, x matrix.Dense) {
		for i := range x.Rows {
			for k, a := range ways {
				v := x.At(i, a.Input)
				if first+i == 0 {
					axes = append(axes, posterior.Axis{Input: a.Input, From: v, To: v})
				}
				low := &axes[k].From
				high := &axes[k].To
				if a.From > a.To {
					low, high = high, low
				}
				*low, *high = min(*low, v), max(*high, v)
			}
		}
	})
	if err == nil && n > 0 {
		err = axes.Check(d)
	}
	return axes, err
}
