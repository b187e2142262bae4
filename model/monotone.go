package model

import (
	"github.com/krigo-gp/krigo/matrix"
	"github.com/krigo-gp/krigo/posterior"
)

// MonotoneOf returns axes of the same inputs and the same ways that end where the rows end, in scaled units.
func MonotoneOf(rows blocks, ways posterior.Monotone) (axes posterior.Monotone, err error) {
	if ways == nil {
		return nil, nil
	}
	n, d := rows.Dims()
	err = eachBlock(rows, func(first int, x matrix.Dense) {
		for i := range x.Rows {
			for k, a := range ways {
				v := x.At(i, a.Input)
				if first+i == 0 {
					axes = append(axes, posterior.Axis{Input: a.Input, From: v, To: v})
				}
				low, high := &axes[k].From, &axes[k].To
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
