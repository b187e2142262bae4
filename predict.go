package krigo

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/krigo-gp/krigo/internal/faults"

	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/dataset/files"
	"github.com/krigo-gp/krigo/internal/cautious"
	"github.com/krigo-gp/krigo/internal/fit/deal"
	"github.com/krigo-gp/krigo/internal/linalg"
	"github.com/krigo-gp/krigo/internal/lists"
	"github.com/krigo-gp/krigo/iterative"
	"github.com/krigo-gp/krigo/matrix"
	"github.com/krigo-gp/krigo/memory"
	"github.com/krigo-gp/krigo/model"
	"github.com/krigo-gp/krigo/model/say"
	"github.com/krigo-gp/krigo/pacbayes"
	"github.com/krigo-gp/krigo/posterior"
)

// What a model says of rows: predictions, samples, covariances and intervals.

// PredictOptions say how Predict computes.
type PredictOptions struct {
	// ExactVariance solves by conjugate gradients for every row's variance, where a model of
	// --solver cg takes it from the nearest rows.
	// Progress is called with the progress of these solves, and may be nil.
	ExactVariance bool
	Progress      func(iteration int, residual float64)
}

// Predict predicts every row of a table, in the target's own units.
// The table needs the model's input columns, in any order. Other columns are ignored.
// For rows of numbers without a table see PredictAt.
func (m *Model) Predict(ctx context.Context, table *dataset.Table,
	o PredictOptions) (ps []model.Prediction, err error) {
	defer matrix.Ended(&err)
	if m.Posterior == nil {
		return nil, faults.Usage("the model is empty: load one, or fit one")
	}
	if _, ok := m.Posterior.Solution.(*posterior.Gradients); o.ExactVariance && !ok {
		return nil, faults.Usage("exact variances are for a model of --solver cg; this one is %s",
			m.Posterior.Kind())
	}
	if !o.ExactVariance {
		d, err := m.Unlabelled(table.Within(ctx))
		if err != nil {
			return nil, err
		}
		return m.Model.Predict(d)
	}
	d, x, err := m.inputs(ctx, table)
	if err != nil {
		return nil, err
	}
	mean := make([]float64, x.Rows)
	variance := make([]float64, x.Rows)
	m.Posterior.Latent(x, mean, nil)
	solve := iterations(o.Progress)
	solve.Tolerance = 1e-4
	if err := m.Posterior.SolvedVariance(ctx, x, variance, solve); err != nil {
		return nil, err
	}
	return m.Predictions(d, mean, variance)
}

// Explain says how much each column of a table moves the prediction for each row.
func (m *Model) Explain(ctx context.Context, table *dataset.Table) (*model.Explanation, error) {
	d, err := m.Unlabelled(table.Within(ctx))
	if err != nil {
		return nil, err
	}
	return m.Model.Explain(d)
}

// inputs returns the rows of a table as the model sees them, and their scaled inputs as a matrix.
func (m *Model) inputs(ctx context.Context,
	table *dataset.Table) (d *dataset.Data, x matrix.Dense, err error) {
	if d, err = m.Unlabelled(table.Within(ctx)); err != nil {
		return nil, x, err
	}
	at, err := deal.Gather(d.Scaled(d.All(), m.Scaling))
	return d, at.X, err
}

// iterations returns settings that make iterative solves call progress, unless nil, after every
// iteration.
func iterations(progress func(iteration int, residual float64)) (o posterior.Iterative) {
	if progress != nil {
		o.Progress = func(s iterative.Progress) { progress(s.Iteration, s.Residual) }
	}
	return o
}

// SampleOptions say what Sample draws.
type SampleOptions struct {
	Count int    // number of functions
	Seed  uint64 // the same seed gives the same draws
	// called while a model of --solver cg solves; may be nil
	Progress func(iteration int, residual float64)
}

// Sample draws functions jointly from the model's posterior and returns their values at every row
// of a table, row by row, in the target's own units:
// draws of f, without observation noise, or of a count's mean.
// The largest number stands for a value beyond it. A row whose draws overflow has nil.
func (m *Model) Sample(ctx context.Context, table *dataset.Table,
	o SampleOptions) (samples [][]float64, err error) {
	defer matrix.Ended(&err)
	if o.Count < 1 {
		return nil, faults.Usage("%d samples: want at least one", o.Count)
	}
	if err := memory.Afford(fmt.Sprintf("%s: %d samples at %d rows", table.Source, o.Count,
		table.Rows), 2*8*float64(o.Count)*float64(table.Rows)); err != nil {
		return nil, err
	}
	d, x, err := m.inputs(ctx, table)
	if err != nil {
		return nil, err
	}
	units, err := m.RowUnits(d, d.All())
	if err != nil {
		return nil, err
	}
	shifts, err := d.Shifts(d.All())
	if err != nil {
		return nil, err
	}
	draws := linalg.New(x.Rows, o.Count)
	if err := m.Posterior.Sample(ctx, x, draws,
		posterior.Draws{Seed: o.Seed, Solve: iterations(o.Progress), Stretch: m.Stretch()}); err != nil {
		return nil, err
	}
	samples = make([][]float64, x.Rows)
	for i := range samples {
		samples[i] = draws.Row(i)
		for j, f := range samples[i] {
			if shifts != nil {
				f += shifts[i]
			}
			samples[i][j] = max(-math.MaxFloat64, min(units.At(i).Target(m.valueOf(f)),
				math.MaxFloat64))
		}
		if !linalg.Finite(samples[i]) {
			samples[i] = nil
		}
	}
	return samples, nil
}

// valueOf returns the value of the target, in the model's unit and without noise, if f is known.
func (m *Model) valueOf(f float64) float64 {
	if m.Scaling.AsIs {
		return m.Sited().Point(f, 0, m.ObservationNoise)
	}
	return m.Scaling.Raw(f)
}

// Covariance returns the joint covariance matrix of the function, without observation noise, at the
// rows of a table, in the target's own units squared: of models that are factored.
// It has a value for each pair of rows.
func (m *Model) Covariance(ctx context.Context,
	table *dataset.Table) (cov matrix.Dense, err error) {
	defer matrix.Ended(&err)
	if t := m.Scaling.Transform; t != nil {
		return matrix.Dense{},
			faults.Usage("covariance: the function is Gaussian as the model sees the "+
				"target, by the transform %s, and in the target's own units it isn't: ask for "+
				"samples, or fit with target-transform none", t.Name)
	}
	if m.Scaling.AsIs {
		return matrix.Dense{},
			faults.Usage("covariance: the mean of %s isn't Gaussian with noise %s: "+
				"ask for samples", m.Target, m.Noise)
	}
	d, x, err := m.inputs(ctx, table)
	if err != nil {
		return matrix.Dense{}, err
	}
	units, err := m.RowUnits(d, d.All())
	if err != nil {
		return matrix.Dense{}, err
	}
	if cov, err = m.Posterior.Covariance(ctx, x); err != nil {
		return matrix.Dense{}, fmt.Errorf("%s: %w", table.Source, err)
	}
	scale := m.Scaling.TargetScale * m.Stretch()
	for i := range cov.Rows {
		scaled := max(cov.At(i, i), 0)
		for j, v := range cov.Row(i) {
			cov.Row(i)[j] = units.At(i).Width(units.At(j).Width(v * scale * scale))
		}
		if !linalg.Finite(cov.Row(i)) || (cov.At(i, i) == 0 && m.Scaling.RawSD(scaled) > 0) {
			return matrix.Dense{},
				fmt.Errorf("%s: %s: its covariances leave the range of float64: ask for samples, "+
					"or fit "+
					"the target in another unit", table.Source, table.Where(i))
		}
	}
	return cov, nil
}

// PredictionNames returns the names of the columns of a table of predictions.
func PredictionNames() []string {
	return []string{"mean", "latent_variance", "predictive_variance", "lower95", "upper95",
		"outside", "latent_sd", "predictive_sd"}
}

// WritePredictions writes predictions as CSV.
func WritePredictions(w io.Writer, ps []model.Prediction) error {
	return files.Write(w, PredictionNames(), len(ps), func(i int, values []float64) error {
		ps[i].Fill(values)
		return nil
	})
}

// Interval is one for a target, in its own units. Both ends are NaN if the row has no prediction, or
// if the interval overflows. JSON then has null, and a table has empty cells.
type Interval struct {
	Lower float64 `json:"lower"`
	Upper float64 `json:"upper"`
}

// MarshalJSON writes null if there is no interval.
func (i Interval) MarshalJSON() ([]byte, error) {
	if math.IsNaN(i.Lower) {
		return []byte("null"), nil
	}
	type plain Interval
	return json.Marshal(plain(i))
}

// IntervalKinds returns the kinds of intervals that Intervals knows, apart from the credible
// interval that every Prediction has. Their guarantees are of different kinds:
//
//	credible    none: the model's own belief
//	conformal   a further target lies within with probability 95 %, or another level, on average over draws of the
//	            calibration rows, or certified rows, and over further rows from the same source (all of them
//	            exchangeable), whatever the model; as wide for every row
//	normalised  the same, with a width that follows the model's standard deviation
//	band        with confidence 1−δ over the draw of the certified rows at least the certificate's
//	            share of all further predictions are within the band; as wide for every row
func IntervalKinds() []string { return []string{"conformal", "normalised", "band"} }

// IntervalOptions say which intervals Intervals or IntervalsOfFew make.
type IntervalOptions struct {
	Kind  string  // a name from IntervalKinds, or from FewRowKinds
	Level float64 // share of targets to hold; 0: 0.95. A band's level is the certificate's
	// for IntervalsOfFew: the guarantee holds for each value of this column; "": no column
	By string
}

// Intervals returns an interval, of one of IntervalKinds, for every prediction.
func (m *Model) Intervals(ps []model.Prediction, o IntervalOptions) ([]Interval, error) {
	var of func(model.Prediction) Interval
	switch c, kind, level := m.Conformal, o.Kind, o.Level; {
	case o.By != "":
		return nil, faults.Usage("by %q: intervals by the values of a column are %s", o.By,
			strings.Join(FewRowKinds(), " or "))
	case !(level >= 0 && level < 1):
		return nil, faults.Usage("level %v: want a share of targets between 0 and 1, such as 0.9",
			level)
	case !slices.Contains(IntervalKinds(), kind):
		return nil, faults.Usage("intervals %q: want one of %s", kind,
			strings.Join(IntervalKinds(), ", "))
	case kind == "band":
		var err error
		if of, err = band(m); err != nil {
			return nil, err
		}
	case c == nil && m.Censored != "":
		return nil, fmt.Errorf("%s intervals need targets, and some of this model's are limits",
			kind)
	case c == nil:
		return nil, fmt.Errorf("%s intervals: the model has no calibration rows, and no "+
			"certified rows in their place, which takes a mean certified by its own misses: fit "+
			"it with --calibration-fraction", kind)
	default:
		// w is a half-width in scaled units, and sds a number of standard deviations of each row.
		w, sds, err := c.At(level)
		if err != nil {
			return nil, fmt.Errorf("%s intervals: %w", kind, err)
		}
		w *= m.Scaling.TargetScale
		if of = constant(m.Scaling, w, w); kind == "normalised" {
			sds = ownDeviations(m, sds)
			of = func(p model.Prediction) Interval {
				lower, upper := m.Within(p, sds)
				return intervalOf(m.Scaling.Outward(p.Unit(), lower, upper))
			}
		}
	}
	return lists.Of(ps, of), nil
}

// band returns the interval that a certificate guarantees for a share of predictions:
// the interval of the certificate's promise, or the width of a curve that Headline names, or else
// of the declared ε. If a prediction is at most ε below or ε' above the target, the target is at
// most ε above or ε' below the prediction.
func band(m *Model) (of func(model.Prediction) Interval, err error) {
	c := m.Certificate
	var kind pacbayes.Kind
	width := 0.
	raw := 0.
	switch {
	case c == nil || !c.Valid:
		return nil, fmt.Errorf("band: the model has no certificate")
	case c.Loss == pacbayes.Label:
		return nil, fmt.Errorf("band: the certificate is about labels, which have no widths: " +
			"leave these intervals out")
	case c.Promise != nil && c.Promise.HalfWidth > 0:
		kind = say.BandOf(c.Promise)
		width = c.Promise.HalfWidth
		raw = c.Promise.HalfWidthRaw
	case c.Curve != nil && len(c.Curve.Points) > 0:
		p := say.Foremost(c)
		kind = c.Loss
		width = p.HalfWidth
		raw = p.HalfWidthRaw
	case c.MeanBound < 1:
		kind = c.Loss
		width = c.Epsilon
		raw = c.EpsilonRaw
	}
	// The loss says in which unit the width counts: the target's, the target's own size, or the
	// row's standard deviation. Widths are rounded outward.
	switch kind {
	case pacbayes.Band:
		return constant(m.Scaling, raw, raw), nil
	case pacbayes.Asymmetric:
		return constant(m.Scaling, raw*c.EpsilonAbove/width, raw), nil
	case pacbayes.Relative:
		width = cautious.Widen(raw, 1)
		return func(p model.Prediction) Interval {
			return intervalOf(m.Scaling.OutwardRelative(p.Unit(), p.Mean, width))
		}, nil
	case pacbayes.Scaled:
		width = ownDeviations(m, width)
		return func(p model.Prediction) Interval {
			return intervalOf(m.Scaling.Outward(p.Unit(), p.Mean-width*p.PredictiveSD,
				p.Mean+width*p.PredictiveSD))
		}, nil
	}
	return nil, fmt.Errorf("band: the certificate guarantees none: declare the band loss with a " +
		"wider ε, or ask for a promise")
}

// constant returns a function that makes intervals of the same widths, below and above and in the
// model's unit, around every prediction.
func constant(s dataset.Scaling, below, above float64) func(model.Prediction) Interval {
	below, above = cautious.Widen(below, s.TargetScale), cautious.Widen(above, s.TargetScale)
	return func(p model.Prediction) Interval {
		u := p.Unit()
		return intervalOf(s.Outward(u, p.Mean-u.Width(below), p.Mean+u.Width(above)))
	}
}

// ownDeviations widens k, a number of standard deviations of y.
// No row's standard deviation is below the noise's, times the stretch, so the target's is at most
// 1/√LeastNoise times as large as a row's, divided by the stretch.
func ownDeviations(m *Model, k float64) float64 {
	return cautious.Widen(k, max(1, 1/math.Sqrt(m.LeastNoise()))/min(1, m.Stretch()))
}

// intervalOf returns an interval with finite ends: the largest number stands for an end beyond it,
// since no target lies there, and JSON has no ∞.
func intervalOf(lower, upper float64) Interval {
	return Interval{max(lower, -math.MaxFloat64), min(upper, math.MaxFloat64)}
}

// FewRowKinds returns the kinds of intervals that IntervalsOfFew knows.
func FewRowKinds() []string { return []string{"full", "jackknife"} }

// IntervalsOfFew returns intervals for the rows of a table by all rows of the data that a model was
// made from, with the parameters that were trained on the model's prior rows.
// It is meant for few rows, for which intervals from the certified rows alone are wide.
// The intervals have marginal guarantees, but no certificate:
//
//	full       a further target lies within with probability of at least the level, on average over draws of the
//	           certified rows and over further rows from the same source (all of them exchangeable),
//	           whatever the model; see model.Whole
//	jackknife  the same with probability of at least 2·level − 1, and in practice about the level
//
// With a column By, the guarantee holds for each value of the column, and uses only the rows with
// this value. An interval is infinite if these rows are too few.
func (m *Model) IntervalsOfFew(ctx context.Context, data, table *dataset.Table,
	o IntervalOptions) (all []Interval, err error) {
	defer matrix.Ended(&err)
	level := cmp.Or(o.Level, 0.95)
	switch {
	case !slices.Contains(FewRowKinds(), o.Kind):
		return nil, faults.Usage("intervals %q: want one of %s", o.Kind,
			strings.Join(FewRowKinds(), ", "))
	case !(level > 0 && level < 1):
		return nil, faults.Usage("level %v: want a share of targets between 0 and 1, such as 0.9",
			level)
	}
	d, err := m.Labelled(data.Within(ctx))
	if err != nil {
		return nil, err
	}
	w, err := m.Whole(d)
	if err != nil {
		return nil, err
	}
	rows, x, err := m.inputs(ctx, table)
	if err != nil {
		return nil, err
	}
	var alike func(row, other int) bool
	if o.By != "" {
		inputs, err := m.InputsOf(o.By)
		if err != nil {
			return nil, faults.AsUsage(err)
		}
		others := w.Others()
		alike = func(row, other int) bool {
			return !slices.ContainsFunc(inputs, func(j int) bool {
				return x.At(row, j) != others.At(other, j)
			})
		}
	}
	ends := w.Full
	if o.Kind == "jackknife" {
		ends = w.Jackknife
	}
	units, err := rows.RowUnits(rows.All())
	if err != nil {
		return nil, err
	}
	var is []Interval
	for i, e := range ends(x, level, alike) {
		if units != nil && !math.IsInf(e.Lower, 0) && !math.IsInf(e.Upper, 0) {
			u := units[i]
			e.Lower, e.Upper = m.Scaling.Outward(u, u.Target(e.Lower), u.Target(e.Upper))
		}
		// If rows are too few, the ends are −∞ and +∞.
		// If an end is NaN, or infinite on the wrong side, a computation overflowed.
		if !(e.Lower <= e.Upper) || math.IsInf(e.Lower, 1) || math.IsInf(e.Upper, -1) {
			e = model.Ends{Lower: math.NaN(), Upper: math.NaN()}
		}
		is = append(is, intervalOf(e.Lower, e.Upper))
	}
	return is, nil
}
