package model

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/internal/linalg"
	"github.com/krigo-gp/krigo/internal/lists"
	"github.com/krigo-gp/krigo/matrix"
	"github.com/krigo-gp/krigo/objective"
	"github.com/krigo-gp/krigo/pacbayes"
	"github.com/krigo-gp/krigo/posterior"
)

// blocks are rows in scaled units that are read block by block, for example a dataset.Scaled.
type blocks interface {
	Dims() (rows, cols int)
	// Block reads the inputs of rows first … first+n−1 into x (n×cols), and their targets into y
	// unless y is nil.
	Block(first, n int, x, y []float64) error
}

// latent returns the mean and variance of f (y without noise) under q at rows, which it reads block
// by block. With an exposure, f is the logarithm of the row's mean, and not of the mean at exposure
// 1.
func latent(q *posterior.Posterior, rows blocks) (mean, variance []float64, err error) {
	defer matrix.Ended(&err)
	if q == nil {
		return nil, nil, errors.New("the model is empty: load or fit a model first")
	}
	n, _ := rows.Dims()
	mean = make([]float64, n)
	variance = make([]float64, n)
	var tell func(done, of int)
	if of, ok := rows.(interface{ Context() context.Context }); ok {
		tell = told(of.Context())
	}
	err = eachBlock(rows, func(first int, x matrix.Dense) {
		end := first + x.Rows
		q.Latent(x, mean[first:end], variance[first:end])
		if tell != nil {
			tell(end, n)
		}
	})
	if of, ok := rows.(interface{ Expose(f []float64) error }); ok && err == nil {
		err = of.Expose(mean)
	}
	return mean, variance, err
}

// eachBlock reads the inputs of rows block by block, and calls do with each block.
func eachBlock(rows blocks, do func(first int, x matrix.Dense)) error {
	n, d := rows.Dims()
	most := min(n, blockRows(d))
	x := linalg.New(most, d)
	if of, ok := rows.(interface{ Context() context.Context }); ok {
		x = x.Until(of.Context())
	}
	for first := 0; first < n; first += most {
		block := x.RowRange(0, min(most, n-first))
		if err := rows.Block(first, block.Rows, block.Data[:block.Rows*d], nil); err != nil {
			return err
		}
		do(first, block)
	}
	return nil
}

// NoisesAt returns the variance of the noise at each row of x, in scaled units, given the variances
// of f there. It returns nil if the noise is ObservationNoise everywhere.
// It leaves out the squares of the rows' standard errors.
func (m *Model) NoisesAt(x matrix.Dense, mean, variance []float64) []float64 {
	if m.Varying == nil {
		return nil
	}
	if m.Varying.Whole {
		x = m.Varying.Beside(x, mean, variance, m.ObservationNoise)
	}
	noises := m.Varying.Factors(x)
	for i, a := range noises {
		noises[i] = a * m.ObservationNoise
		if m.Varying.Whole {
			noises[i] = a*(variance[i]+m.ObservationNoise) - variance[i]
		}
	}
	return noises
}

// KnownNoise returns ObservationNoise plus the square of each row's standard error, or nil if the
// model has no column of standard errors. rows are in the model's scaled units.
func (m *Model) KnownNoise(rows any) ([]float64, error) {
	if m.Errors == "" {
		return nil, nil
	}
	var all []float64
	of, _ := rows.(interface{ KnownNoise() ([]float64, error) })
	if of != nil {
		var err error
		if all, err = of.KnownNoise(); err != nil {
			return nil, err
		}
	}
	if all == nil {
		return nil, fmt.Errorf("these rows lack the column %q, the standard errors of the target",
			m.Errors)
	}
	for i := range all {
		all[i] += m.ObservationNoise
	}
	return all, nil
}

// noises does what NoisesAt and KnownNoise do, for rows that it reads block by block.
func (m *Model) noises(rows blocks, mean, variance []float64) (all []float64, err error) {
	if m.Errors != "" {
		return m.KnownNoise(rows)
	}
	if m.Varying == nil {
		return nil, nil
	}
	err = eachBlock(rows, func(first int, x matrix.Dense) {
		all = append(all, m.NoisesAt(x, mean[first:first+x.Rows], variance[first:first+x.Rows])...)
	})
	return all, err
}

// Of does what Factors does for rows that it reads block by block.
func (v *Varying) Of(rows blocks) (a []float64, err error) {
	err = eachBlock(rows, func(_ int, x matrix.Dense) { a = append(a, v.Factors(x)...) })
	return a, err
}

// noiseIn returns the noise variance of row i, given what noises returned.
func (m *Model) noiseIn(noises []float64, i int) float64 {
	if noises == nil {
		return m.ObservationNoise
	}
	return noises[i]
}

// LeastNoise returns the least variance of y that a prediction can have, in scaled units.
func (m *Model) LeastNoise() float64 {
	if m.Varying == nil {
		return m.ObservationNoise
	}
	return m.ObservationNoise * math.Exp(m.Varying.Low)
}

// Spreads returns the distribution of y for each row, given the mean and variance of f there, and
// the noise variances that NoisesAt returns.
func (m *Model) Spreads(mean, variance, noises []float64) ([]objective.Spread, error) {
	return m.spreads(context.Background(), mean, variance, noises)
}

// spreads does what Spreads does, and panics with a matrix.End after ctx has ended.
// A mean or a variance that isn't finite is an error here, before anything searches for its
// quantiles.
func (m *Model) spreads(ctx context.Context, mean, variance,
	noises []float64) ([]objective.Spread, error) {
	noise, err := m.likelihood()
	if err != nil {
		return nil, err
	}
	for i := range mean {
		if !linalg.Finite([]float64{mean[i], variance[i]}) {
			return nil, &rowError{i, errTooFar}
		}
	}
	of := make([]objective.Spread, len(mean))
	errs := make([]error, len(mean))
	each(ctx, len(mean),
		func(i int) { of[i], errs[i] = noise.Spread(mean[i], variance[i], m.noiseIn(noises, i)) })
	for i, err := range errs {
		if err != nil {
			return nil, &rowError{i, fmt.Errorf("the noise %q: %w", m.Noise, err)}
		}
	}
	return of, nil
}

// from returns what the ends of a row's Spread are distances from, given the mean and variance of
// f.
func (m *Model) from(mean, variance float64) float64 {
	if noise := m.Sited(); noise != nil && !noise.Whole() {
		return noise.Point(mean, variance, m.ObservationNoise)
	}
	return mean
}

// errTooFar is the error for a row whose prediction isn't a finite number.
var errTooFar = errors.New("the prediction overflows: its inputs are too far from the " +
	"training data")

// rowError is an error about one of the rows that are predicted.
type rowError struct {
	row int
	error
}

func (e *rowError) Unwrap() error { return e.error }

// Points returns predictions and standard deviations of y, both in standard deviations of the
// target, given the mean and variance of f at each row, and the noise variances that NoisesAt
// returns. If the noise takes sites, a prediction is its mean, which is the probability of the
// second class if the target has classes. If the target has a transform, quadrature computes both,
// unless the prediction is a median.
func (m *Model) Points(mean, variance, noises []float64) (point, sd []float64, err error) {
	spreads, err := m.Spreads(mean, variance, noises)
	if err != nil {
		return nil, nil, err
	}
	sd = lists.Of(spreads, func(s objective.Spread) float64 { return math.Sqrt(s.Variance) })
	noise := m.Sited()
	if m.Scaling.Transform == nil && noise == nil {
		return mean, sd, nil
	}
	point = make([]float64, len(mean))
	if noise != nil {
		for i, f := range mean {
			point[i], sd[i] = noise.Point(f, variance[i],
				m.ObservationNoise), sd[i]/m.Scaling.TargetScale
		}
		m.Scaling.Standard(point, point)
		return point, sd, nil
	}
	each(context.Background(), len(mean), func(i int) {
		point[i], sd[i] = m.point(mean[i], spreads[i].Variance)
		sd[i] /= m.Scaling.TargetScale
	})
	m.Scaling.Standard(point, point)
	return point, sd, nil
}

// point returns the prediction and the standard deviation of y in the target's unit, if the target
// has a transform. A predicted mean is the mean of y given that f equals its own mean.
// It isn't averaged over f, because such an average grows without limit with the variance of f.
func (m *Model) point(mean, variance float64) (point, sd float64) {
	_, sd = m.Scaling.Moments(mean, variance)
	if m.Scaling.Transform.Estimate == dataset.Median {
		return m.Scaling.Raw(mean), sd
	}
	point, _ = m.Scaling.Moments(mean, m.ObservationNoise)
	return point, sd
}

// Sited returns the noise if it takes sites, or nil.
func (m *Model) Sited() objective.Sited {
	if m.Ordinal != nil {
		return *m.Ordinal
	}
	return objective.SitedOf(m.Noise)
}

// likelihood returns the noise.
func (m *Model) likelihood() (objective.Likelihood, error) {
	if m.Ordinal != nil {
		return *m.Ordinal, nil
	}
	return objective.NoiseOf(m.Noise)
}

// CheckTargets returns an error that names the first row whose target the noise can't have.
func CheckTargets(d *dataset.Data, rows []int, noise objective.Sited) error {
	y, err := d.Targets(rows)
	for i, v := range y {
		if err == nil {
			if wrong := noise.Allows(v); wrong != nil {
				err = fmt.Errorf("%s: %s: the target %q is %v, and %w: correct or remove the "+
					"row, or take another noise", d.Source, d.Where(rows[i]), d.Target, v, wrong)
			}
		}
	}
	return d.Ranks().Agree(err)
}

// each calls do for 0 … n−1, on all cores. After ctx has ended it panics with a matrix.End.
func each(ctx context.Context, n int, do func(i int)) {
	const task = 256
	work := matrix.Dense{}.Until(ctx)
	linalg.Parallel((n+task-1)/task, func(t int) {
		for i := t * task; i < min((t+1)*task, n); i++ {
			work.Check()
			do(i)
		}
	})
}

// OwnErrors turns errors of f into errors of the prediction, in standard deviations of the target.
// errs holds the errors of f at rows in scaled units, and variance holds the variances of y there.
func (m *Model) OwnErrors(d *dataset.Data, rows []int, errs,
	variance []float64) ([]float64, error) {
	if m.Scaling.Transform == nil {
		return errs, nil
	}
	y, err := d.Targets(rows)
	own := make([]float64, len(y))
	m.Scaling.Target(own, y)
	for i, z := range own {
		point, _ := m.point(z+errs[i], variance[i])
		own[i] = (point - y[i]) / m.Scaling.TargetScale
	}
	return own, err
}

// targets returns the targets of rows, transformed and scaled as in the model's training.
func (m *Model) targets(d *dataset.Data, rows []int) ([]float64, error) {
	y, err := d.Targets(rows)
	m.Scaling.Target(y, y)
	return y, err
}

// TargetScale returns |y_raw| in standard deviations of the target if the loss is relative to
// |y_raw|, else nil.
func TargetScale(l pacbayes.Loss, s dataset.Scaling, yRaw []float64) []float64 {
	if l.Kind != pacbayes.Relative && l.Kind != pacbayes.ClippedAbsolute {
		return nil
	}
	return lists.Of(yRaw, func(y float64) float64 { return math.Abs(y) / s.TargetScale })
}

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

// MonotoneOf returns axes of the same inputs and the same ways that end where the rows end, in
// scaled units.
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
