package report

import (
	"errors"
	"math"

	"github.com/krigo-gp/krigo/internal/linalg"
)

var errFar = errors.New("a row is too far from the training data to be predicted")

// latent is the mean of f at rows, in the target's scaled units, in which squares are numbers, and, where it is asked
// for, its variance, which takes longer.
func (r *maker) latent(x []float64, variances bool) (mean, variance []float64, err error) {
	d := len(r.m.Inputs)
	at := linalg.New(len(x)/d, d).Until(r.ctx)
	r.m.Scaling.Inputs(at.Data, x)
	if !linalg.Finite(at.Data) {
		return nil, nil, errFar
	}
	mean = make([]float64, at.Rows)
	if variances {
		variance = make([]float64, at.Rows)
	}
	r.m.Posterior.Latent(at, mean, variance)
	for _, f := range mean {
		if raw := r.m.Scaling.RawMean(f); math.IsNaN(raw) || math.IsInf(raw, 0) {
			return nil, nil, errFar
		}
	}
	return mean, variance, nil
}

// means is latent's mean alone.
func (r *maker) means(x []float64) ([]float64, error) {
	mean, _, err := r.latent(x, false)
	return mean, err
}

// raw are means in the target's own units.
func (r *maker) raw(means []float64) []float64 {
	out := make([]float64, len(means))
	for i, v := range means {
		out[i] = r.m.Scaling.RawMean(v)
	}
	return out
}
