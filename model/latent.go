package model

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/internal/linalg"
	"github.com/krigo-gp/krigo/matrix"
	"github.com/krigo-gp/krigo/objective"
	"github.com/krigo-gp/krigo/pacbayes"
	"github.com/krigo-gp/krigo/posterior"
)

// blocks are rows in scaled units that are read block by block: a dataset.Scaled is such.
type blocks interface {
	Dims() (rows, cols int)
	// Block reads the inputs of rows first … first+n−1 into x (n×cols) and, unless that is nil, their targets into y.
	Block(first, n int, x, y []float64) error
}

// latent returns the posterior's mean and variance of f at rows, which it reads block by block.
func latent(q *posterior.Posterior, rows blocks) (mean, variance []float64, err error) {
	defer matrix.Ended(&err)
	if q == nil {
		return nil, nil, errors.New("the model is empty: load one, or fit one")
	}
	n, d := rows.Dims()
	mean, variance = make([]float64, n), make([]float64, n)
	most := min(n, blockRows(d))
	x := linalg.New(most, d)
	var tell func(done, of int)
	if of, ok := rows.(interface{ Context() context.Context }); ok {
		x, tell = x.Until(of.Context()), told(of.Context())
	}
	for i := 0; i < n; i += most {
		k := min(most, n-i)
		block := x.RowRange(0, k)
		if err := rows.Block(i, k, block.Data[:k*d], nil); err != nil {
			return nil, nil, err
		}
		q.Latent(block, mean[i:i+k], variance[i:i+k])
		if tell != nil {
			tell(i+k, n)
		}
	}
	return mean, variance, nil
}

// Spreads describes the distributions of y where f has the means and variances given.
func (m *Model) Spreads(mean, variance []float64) ([]objective.Spread, error) {
	noise, err := objective.NoiseOf(m.Noise)
	if err != nil {
		return nil, err
	}
	of, errs := make([]objective.Spread, len(mean)), make([]error, len(mean))
	const task = 256
	linalg.Parallel((len(mean)+task-1)/task, func(t int) {
		for i := t * task; i < min((t+1)*task, len(mean)); i++ {
			of[i], errs[i] = noise.Spread(mean[i], variance[i], m.ObservationNoise)
		}
	})
	for _, err := range errs {
		if err != nil {
			return nil, fmt.Errorf("the noise %q: %w", m.Noise, err)
		}
	}
	return of, nil
}

// deviations returns the standard deviations of y.
func (m *Model) deviations(mean, variance []float64) ([]float64, error) {
	spreads, err := m.Spreads(mean, variance)
	sd := make([]float64, len(spreads))
	for i, s := range spreads {
		sd[i] = math.Sqrt(s.Variance)
	}
	return sd, err
}

// targets returns the targets of rows in scaled units, and their TargetScale.
func (m *Model) targets(d *dataset.Data, rows []int) (y, scale []float64, err error) {
	if y, err = d.Targets(rows); err != nil {
		return nil, nil, err
	}
	scale = TargetScale(m.Terms.Loss, m.Scaling, y)
	m.Scaling.Target(y, y)
	return y, scale, nil
}

// TargetScale returns |y_raw| in scaled units for the losses that are relative to it, else nil.
func TargetScale(l pacbayes.Loss, s dataset.Scaling, yRaw []float64) []float64 {
	if l.Kind != pacbayes.Relative && l.Kind != pacbayes.ClippedAbsolute {
		return nil
	}
	scale := make([]float64, len(yRaw))
	for i, y := range yRaw {
		scale[i] = math.Abs(y) / s.TargetScale
	}
	return scale
}
