package observation

import (
	"context"
	"encoding/json"
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/internal/linalg"
	"github.com/krigo-gp/krigo/internal/lists"
	"github.com/krigo-gp/krigo/objective"
)

// Prediction is a model's prediction for one row, in the target's own units.
type Prediction struct {
	// mean of f, and of y if the noise is symmetric;
	// with a transform of the target, the median or mean of y
	Mean           float64 `json:"mean"`
	LatentVariance float64 `json:"latent_variance"` // variance of f
	// variance of y, from the noise's own density if it isn't Gaussian;
	// see dataset.Scaling.RawVariance
	PredictiveVariance float64 `json:"predictive_variance"`
	Lower95            float64 `json:"lower95"` // central 95 % credible interval for y
	Upper95            float64 `json:"upper95"`
	// Outside counts the inputs that lie outside the range of the rows that the model was made
	// from. If no input does, Outside is 1 for a row that is farther from the training rows than
	// nearly all others (Range.Far), else 0. A guarantee about rows from the model's source says
	// nothing about a row that is outside. In models up to version 4 it is always 0.
	Outside int `json:"outside"`
	// Label is the more probable class, if the target has classes, or the most probable level of an
	// ordinal target. Mean is then the probability of the second class, or the mean level, and
	// LatentVariance is of f itself.
	Label string `json:"label,omitempty"`

	// The square roots of the variances. A standard deviation may fit in a float64 even if its
	// variance doesn't (see OutOfRange).
	LatentSD     float64 `json:"latent_sd"`
	PredictiveSD float64 `json:"predictive_sd"`

	// mean of f, if the noise takes sites or the target has a transform, and the standard deviation
	// of the transformed y; in scaled units, else 0
	f, sd float64
	unit  dataset.RowUnit
}

// Unit returns the unit of the row's target, which the prediction is in.
func (p Prediction) Unit() dataset.RowUnit { return p.unit }

// Lost says whether the row has no prediction, because it overflows. Then all its numbers but
// Outside are NaN. JSON has null in its place, and a table has empty cells.
func (p Prediction) Lost() bool { return math.IsNaN(p.Mean) }

// MarshalJSON writes null if the row has no prediction.
func (p Prediction) MarshalJSON() ([]byte, error) {
	if p.Lost() {
		return []byte("null"), nil
	}
	type plain Prediction
	return json.Marshal(plain(p))
}

// OutOfRange says whether a float64 can't hold a variance to all its digits, though it holds the
// standard deviation.
func (p Prediction) OutOfRange() bool {
	out := func(variance, sd float64) bool {
		return sd > 0 && (variance < 0x1p-1022 || variance == math.MaxFloat64)
	}
	return out(p.LatentVariance, p.LatentSD) || out(p.PredictiveVariance, p.PredictiveSD)
}

// Fill copies the prediction to values, a row of a table with the columns krigo.PredictionNames;
// see files.WriteFile.
func (p Prediction) Fill(values []float64) {
	copy(values, []float64{p.Mean, p.LatentVariance, p.PredictiveVariance, p.Lower95, p.Upper95,
		float64(p.Outside), p.LatentSD, p.PredictiveSD})
}

// Points returns predictions and standard deviations of y, both in standard deviations of the
// target, given the mean and variance of f at each row, and the noise variances that NoisesAt
// returns. If the noise takes sites, a prediction is its mean, which is the probability of the
// second class if the target has classes. If the target has a transform, quadrature computes both,
// unless the prediction is a median.
func (o *Observation) Points(mean, variance, noises []float64) (point, sd []float64, err error) {
	spreads, err := o.Spreads(mean, variance, noises)
	if err == nil {
		point, sd = o.PointsOf(mean, variance, spreads)
	}
	return point, sd, err
}

// PointsOf does what Points does, given each row's distribution of y. It computes nothing for a row
// for which SpreadsWithin returned an error.
func (o *Observation) PointsOf(mean, variance []float64,
	spreads []objective.Spread) (point, sd []float64) {
	sd = lists.Of(spreads, func(s objective.Spread) float64 { return math.Sqrt(s.Variance) })
	noise := o.Sited()
	if o.Scaling.Transform == nil && noise == nil {
		return mean, sd
	}
	point = make([]float64, len(mean))
	// A transform's mean and variance are integrals, so rows are done in parallel.
	Each(context.Background(), len(mean), func(i int) {
		switch {
		case spreads[i] == objective.Spread{}:
		case noise != nil:
			point[i] = noise.Point(mean[i], variance[i], o.ObservationNoise)
		default:
			point[i], sd[i] = o.point(mean[i], spreads[i].Variance)
		}
		sd[i] /= o.Scaling.TargetScale
	})
	o.Scaling.Standard(point, point)
	return point, sd
}

// point returns the prediction and the standard deviation of y in the target's unit, if the target
// has a transform. A predicted mean is the mean of y given that f equals its own mean.
// It isn't averaged over f, because such an average grows without limit with the variance of f.
func (o *Observation) point(mean, variance float64) (point, sd float64) {
	_, sd = o.Scaling.Moments(mean, variance)
	if o.Scaling.Transform.Estimate == dataset.Median {
		return o.Scaling.Raw(mean), sd
	}
	point, _ = o.Scaling.Moments(mean, o.ObservationNoise)
	return point, sd
}

// Estimate returns the prediction, in the target's own units, if f has this mean.
func (o *Observation) Estimate(f float64) float64 {
	if o.Scaling.Transform == nil {
		return o.Scaling.Raw(f)
	}
	point, _ := o.point(f, o.ObservationNoise)
	return point
}

// At holds the mean and variance of f at rows, in scaled units, the units of the rows' targets, and
// what Noises returns. Work on the rows ends with Context, which may be nil.
type At struct {
	Context                context.Context
	Mean, Variance, Noises []float64
	Units                  dataset.RowUnits
}

// Predict returns predictions of rows, in the target's units, without Outside.
// A row whose prediction overflows is lost (see Prediction.Lost).
func (o *Observation) Predict(at At) ([]Prediction, error) {
	spreads, errs, err := o.SpreadsWithin(at.Context, at.Mean, at.Variance, at.Noises)
	if err != nil {
		return nil, err
	}
	ps := make([]Prediction, len(at.Mean))
	Each(at.Context, len(ps), func(i int) {
		if errs[i] == nil {
			ps[i] = o.predicted(at.Mean[i], at.Variance[i], at.Units.At(i), spreads[i])
		}
	})
	nan := math.NaN()
	for i, p := range ps {
		switch {
		case errs[i] != nil || !linalg.Finite([]float64{p.Mean, p.Lower95, p.Upper95,
			p.LatentVariance, p.PredictiveVariance, p.LatentSD, p.PredictiveSD}):
			ps[i] = Prediction{Mean: nan, LatentVariance: nan, PredictiveVariance: nan,
				Lower95: nan, Upper95: nan, LatentSD: nan, PredictiveSD: nan}
		case o.Classes != nil: // only now is the mean known to be a probability
			ps[i].Label = o.Classes[int(math.Round(p.Mean))]
		}
	}
	return ps, nil
}

// predicted returns the prediction of a row whose target has the unit, given the mean and variance of
// f and the spread of y, in scaled units.
func (o *Observation) predicted(mean, variance float64, u dataset.RowUnit,
	y objective.Spread) (p Prediction) {
	switch {
	case o.Sited() != nil:
		return o.sitedPrediction(mean, variance, y).in(u)
	case o.Scaling.Transform != nil:
		return o.transformed(mean, variance, y).in(u)
	}
	s := o.Scaling
	p = Prediction{Mean: s.Raw(mean), LatentVariance: s.RawVariance(variance),
		PredictiveVariance: s.RawVariance(y.Variance), LatentSD: s.RawSD(variance),
		PredictiveSD: s.RawSD(y.Variance)}.in(u)
	p.Lower95 = p.Mean + y.Lower*p.PredictiveSD
	p.Upper95 = p.Mean + y.Upper*p.PredictiveSD
	return p
}

// in returns a prediction in the unit of its row's target, given the prediction in the model's unit.
func (p Prediction) in(u dataset.RowUnit) Prediction {
	p.unit = u
	p.Mean = u.Target(p.Mean)
	p.Lower95 = u.Target(p.Lower95)
	p.Upper95 = u.Target(p.Upper95)
	p.LatentSD = u.Width(p.LatentSD)
	p.PredictiveSD = u.Width(p.PredictiveSD)
	p.LatentVariance = min(u.Width(u.Width(p.LatentVariance)), math.MaxFloat64)
	p.PredictiveVariance = min(u.Width(u.Width(p.PredictiveVariance)), math.MaxFloat64)
	return p
}

// sitedPrediction returns the prediction of a target whose noise takes sites.
func (o *Observation) sitedPrediction(mean, variance float64, y objective.Spread) Prediction {
	noise := o.Sited()
	sd := math.Sqrt(y.Variance)
	from := o.From(mean, variance)
	p := Prediction{Mean: noise.Point(mean, variance, o.ObservationNoise),
		LatentVariance: variance, PredictiveVariance: y.Variance, LatentSD: math.Sqrt(variance),
		PredictiveSD: sd, Lower95: from + y.Lower*sd, Upper95: from + y.Upper*sd, f: mean}
	// counts and levels are whole numbers
	if noise.Whole() {
		p.Lower95 = math.Round(p.Lower95) + 0
		p.Upper95 = math.Round(p.Upper95) + 0 // no −0
	}
	if o := o.Ordinal; o != nil {
		p.Label = fmt.Sprintf("%.0f", o.Levels[floats.MaxIdx(o.Chances(mean, variance, 1))])
	} else {
		p.Lower95 = max(p.Lower95, 0)
	}
	return p
}

// transformed returns the prediction of a target that has a transform.
func (o *Observation) transformed(mean, variance float64, y objective.Spread) (p Prediction) {
	s := o.Scaling
	sd := math.Sqrt(y.Variance)
	// Standard deviations beyond 1e154 have no finite square.
	square := func(sd float64) float64 { return min(sd*sd, math.MaxFloat64) }
	p = Prediction{Lower95: s.Raw(mean + y.Lower*sd), Upper95: s.Raw(mean + y.Upper*sd),
		f: mean, sd: sd}
	_, p.LatentSD = s.Moments(mean, variance)
	p.Mean, p.PredictiveSD = o.point(mean, y.Variance)
	p.LatentVariance = square(p.LatentSD)
	p.PredictiveVariance = square(p.PredictiveSD)
	return p
}

// Chance holds the probabilities of a level of an ordinal target, row by row.
type Chance struct {
	Level         float64   `json:"level"`
	Probabilities []float64 `json:"probabilities"`
}

// Chances returns the probabilities of all levels, given what o predicted, or nil if the target
// isn't ordinal. A row without a prediction has zeros.
func (o *Observation) Chances(ps []Prediction) (all []Chance) {
	if o.Ordinal == nil {
		return nil
	}
	all = lists.Of(o.Ordinal.Levels, func(level float64) Chance { return Chance{Level: level} })
	for _, p := range ps {
		for at, c := range o.Ordinal.Chances(p.f, p.LatentVariance, 1) {
			if p.Lost() { // JSON has no NaN
				c = 0
			}
			all[at].Probabilities = append(all[at].Probabilities, c)
		}
	}
	return all
}

// Within returns the ends of the interval of k standard deviations of y to either side of p, which
// o predicted. If the target has a transform, these are standard deviations of the transformed y.
func (o *Observation) Within(p Prediction, k float64) (lower, upper float64) {
	if o.Scaling.Transform == nil {
		return p.Mean - k*p.PredictiveSD, p.Mean + k*p.PredictiveSD
	}
	if p.sd == 0 { // o didn't predict p
		return math.NaN(), math.NaN()
	}
	return p.unit.Target(o.Scaling.Raw(p.f - k*p.sd)), p.unit.Target(o.Scaling.Raw(p.f + k*p.sd))
}
