package observation

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/internal/linalg"
	"github.com/krigo-gp/krigo/matrix"
	"github.com/krigo-gp/krigo/objective"
	"gonum.org/v1/gonum/floats"
)

// NoisesAt returns the variance of the noise at each row of x, in scaled units, given the variances
// of f there. It returns nil if the noise is ObservationNoise everywhere.
// It leaves out the squares of the rows' standard errors.
func (o *Observation) NoisesAt(x matrix.Dense, mean, variance []float64) []float64 {
	if o.Varying == nil {
		return nil
	}
	if o.Varying.Whole {
		x = o.Varying.Beside(x, mean, variance, o.ObservationNoise)
	}
	noises := o.Varying.Factors(x)
	for i, a := range noises {
		noises[i] = a * o.ObservationNoise
		if o.Varying.Whole {
			noises[i] = a*(variance[i]+o.ObservationNoise) - variance[i]
		}
	}
	return noises
}

// KnownNoise returns ObservationNoise plus the square of each row's standard error, or nil if the
// model has no column of standard errors. rows are in the model's scaled units.
func (o *Observation) KnownNoise(rows Blocks) ([]float64, error) {
	if o.NoiseColumn == "" {
		return nil, nil
	}
	all, err := rows.KnownNoise()
	if all == nil && err == nil {
		err = fmt.Errorf("these rows lack the column %q, the standard errors of the target",
			o.NoiseColumn)
	}
	floats.AddConst(o.ObservationNoise, all)
	return all, err
}

// Noises does what NoisesAt and KnownNoise do, for rows that it reads block by block.
func (o *Observation) Noises(rows Blocks, mean, variance []float64) (all []float64, err error) {
	if o.NoiseColumn != "" {
		return o.KnownNoise(rows)
	}
	if o.Varying == nil {
		return nil, nil
	}
	err = EachBlock(rows, func(first int, x matrix.Dense) {
		all = append(all, o.NoisesAt(x, mean[first:first+x.Rows], variance[first:first+x.Rows])...)
	})
	return all, err
}

// NoiseIn returns the noise variance of row i, given what Noises returned.
func (o *Observation) NoiseIn(noises []float64, i int) float64 {
	if noises == nil {
		return o.ObservationNoise
	}
	return noises[i]
}

// LeastNoise returns the least variance of y that a prediction can have, in scaled units.
func (o *Observation) LeastNoise() float64 {
	if o.Varying == nil {
		return o.ObservationNoise
	}
	return o.ObservationNoise * math.Exp(o.Varying.Low)
}

// Spreads returns the distribution of y for each row, given the mean and variance of f there, and
// the noise variances that NoisesAt returns. An error about a row is a *dataset.Error.
func (o *Observation) Spreads(mean, variance, noises []float64) ([]objective.Spread, error) {
	of, errs, err := o.SpreadsWithin(context.Background(), mean, variance, noises)
	for i, wrong := range errs {
		if wrong != nil {
			return nil, &dataset.Error{Row: i + 1, Err: wrong}
		}
	}
	return of, err
}

// SpreadsWithin does what Spreads does, with an error or nil for each row, and panics with a
// matrix.End after ctx has ended. A row with an error has zeros. A mean or a variance that isn't finite is an error here, before anything
// searches for its quantiles.
func (o *Observation) SpreadsWithin(ctx context.Context, mean, variance,
	noises []float64) (of []objective.Spread, errs []error, err error) {
	noise, err := o.Likelihood()
	if err != nil {
		return nil, nil, err
	}
	of = make([]objective.Spread, len(mean))
	errs = make([]error, len(mean))
	Each(ctx, len(mean), func(i int) {
		if errs[i] = ErrTooFar; linalg.Finite([]float64{mean[i], variance[i]}) {
			of[i], errs[i] = noise.Spread(mean[i], variance[i], o.NoiseIn(noises, i))
		}
		if errs[i] != nil && errs[i] != ErrTooFar {
			of[i] = objective.Spread{}
			errs[i] = fmt.Errorf("the noise %q: %w", o.Noise, errs[i])
		}
	})
	return of, errs, nil
}

// From returns what the ends of a row's Spread are distances from, given the mean and variance of
// f.
func (o *Observation) From(mean, variance float64) float64 {
	if noise := o.Sited(); noise != nil && !noise.Whole() {
		return noise.Point(mean, variance, o.ObservationNoise)
	}
	return mean
}

// ErrTooFar is the error for a row whose prediction isn't a finite number.
var ErrTooFar = errors.New("the prediction overflows: its inputs are too far from the " +
	"training data")
