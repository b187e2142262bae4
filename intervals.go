package krigo

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/internal/cautious"
	"github.com/krigo-gp/krigo/internal/linalg"
	"github.com/krigo-gp/krigo/matrix"
	"github.com/krigo-gp/krigo/model"
	"github.com/krigo-gp/krigo/pacbayes"
)

// Interval is one for a target, in its own units.
type Interval struct {
	Lower float64 `json:"lower"`
	Upper float64 `json:"upper"`
}

// IntervalKinds are the kinds that Intervals knows, apart from the credible interval that every
// Prediction has. Their guarantees are of different kinds:
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
	Kind  string  // of IntervalKinds, or of FewRowKinds
	Level float64 // share of targets that an interval is to hold; 0: 0.95. A band's is its certificate's
	By    string  // IntervalsOfFew: a column for each of whose values the guarantee holds by itself; "": none
}

// Intervals returns an interval, of one of IntervalKinds, for every prediction.
func (m *Model) Intervals(ps []model.Prediction, o IntervalOptions) ([]Interval, error) {
	var of func(model.Prediction) Interval
	switch c, kind, level := m.Conformal, o.Kind, o.Level; {
	case o.By != "":
		return nil, usage("by %q: intervals by the values of a column are %s", o.By, strings.Join(FewRowKinds(), " or "))
	case !(level >= 0 && level < 1):
		return nil, usage("level %v: want a share of targets between 0 and 1, such as 0.9", level)
	case !slices.Contains(IntervalKinds(), kind):
		return nil, usage("intervals %q: want one of %s", kind, strings.Join(IntervalKinds(), ", "))
	case kind == "band":
		var err error
		if of, err = band(m); err != nil {
			return nil, err
		}
	case c == nil:
		return nil, fmt.Errorf("%s intervals: the model has no calibration rows, and no certified rows in their place, "+
			"which takes a mean certified by its own misses: fit it with --calibration-fraction", kind)
	default:
		w, sds, err := c.At(level)
		if err != nil {
			return nil, fmt.Errorf("%s intervals: %w", kind, err)
		}
		w *= m.Scaling.TargetScale
		if of = constant(m.Scaling, w, w); kind == "normalised" {
			of = deviations(m, sds)
		}
	}
	is := make([]Interval, len(ps))
	for i, p := range ps {
		is[i] = of(p)
		if !linalg.Finite([]float64{is[i].Lower, is[i].Upper}) {
			return nil, fmt.Errorf("prediction %d: the %s interval overflows: leave these intervals out, or fit the target in "+
				"a larger unit", i+1, o.Kind)
		}
	}
	return is, nil
}

// band returns the interval that a certificate guarantees for a share of predictions: that of its promise, else of the
// declared ε. Predictions at most ε below and ε' above the target have the target at most ε' below and ε above
// themselves.
func band(m *Model) (of func(model.Prediction) Interval, err error) {
	c, kind, width, raw := m.Certificate, pacbayes.Band, 0., 0.
	switch {
	case c == nil || !c.Valid:
		return nil, fmt.Errorf("band: the model has no certificate")
	case c.Promise != nil && c.Promise.HalfWidth > 0:
		width, raw = c.Promise.HalfWidth, c.Promise.HalfWidthRaw
		switch {
		case c.Promise.Relative:
			kind = pacbayes.Relative
		case c.Promise.Scaled:
			kind = pacbayes.Scaled
		}
	case c.MeanBound < 1:
		kind, width, raw = c.Loss, c.Epsilon, c.EpsilonRaw
	default:
		kind = ""
	}
	switch kind {
	case pacbayes.Band:
		return constant(m.Scaling, raw, raw), nil
	case pacbayes.Asymmetric:
		return constant(m.Scaling, raw*c.EpsilonAbove/width, raw), nil
	case pacbayes.Relative:
		width = cautious.Widen(raw, 1)
		return func(p model.Prediction) Interval { return intervalOf(m.Scaling.OutwardRelative(p.Mean, width)) }, nil
	case pacbayes.Scaled:
		return deviations(m, width), nil
	}
	return nil, fmt.Errorf("band: the certificate guarantees none: declare the band loss with a wider ε, or ask for a " +
		"promise")
}

// constant makes intervals that reach as far about every prediction.
func constant(s dataset.Scaling, below, above float64) func(model.Prediction) Interval {
	below, above = cautious.Widen(below, s.TargetScale), cautious.Widen(above, s.TargetScale)
	return func(p model.Prediction) Interval { return intervalOf(s.Outward(p.Mean-below, p.Mean+above)) }
}

// deviations makes intervals of so many standard deviations of y to either side.
func deviations(m *Model, k float64) func(model.Prediction) Interval {
	k = cautious.Widen(k, max(1, 1/math.Sqrt(m.ObservationNoise))) // a row's own is no less
	return func(p model.Prediction) Interval {
		return intervalOf(m.Scaling.Outward(p.Mean-k*p.PredictiveSD, p.Mean+k*p.PredictiveSD))
	}
}

func intervalOf(lower, upper float64) Interval { return Interval{lower, upper} }

// FewRowKinds are the kinds that IntervalsOfFew knows.
func FewRowKinds() []string { return []string{"full", "jackknife"} }

// IntervalsOfFew returns intervals for the rows of a table by all rows of the data that a model was made from, with the
// parameters that its prior rows gave it: for few rows, where intervals by the certified rows alone are wide. They are
// marginal guarantees, and no certificate:
//
//	full       a further target lies within with probability of at least the level, on average over draws of the
//	           certified rows and over further rows from the same source (all of them exchangeable),
//	           whatever the model; see model.Whole
//	jackknife  with probability of at least 2·level − 1, likewise, and about the level in practice
//
// With a column By, the guarantee holds for each of its values, from the rows with that value alone; an interval is
// infinite if these are too few.
func (m *Model) IntervalsOfFew(ctx context.Context, data, table *dataset.Table, o IntervalOptions) (all []Interval,
	err error) {
	defer matrix.Ended(&err)
	kind, level := o.Kind, cmp.Or(o.Level, 0.95)
	switch {
	case !slices.Contains(FewRowKinds(), kind):
		return nil, usage("intervals %q: want one of %s", kind, strings.Join(FewRowKinds(), ", "))
	case !(level > 0 && level < 1):
		return nil, usage("level %v: want a share of targets between 0 and 1, such as 0.9", level)
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
			return nil, &UsageError{Err: err}
		}
		others := w.Others()
		alike = func(row, other int) bool {
			for _, j := range inputs {
				if x.At(row, j) != others.At(other, j) {
					return false
				}
			}
			return true
		}
	}
	ends := w.Full
	if kind == "jackknife" {
		ends = w.Jackknife
	}
	var is []Interval
	for i, e := range ends(x, level, alike) {
		// Infinite ends are those of too few rows; on the other side, or of no number, what was computed overflowed.
		if !(e.Lower <= e.Upper) || math.IsInf(e.Lower, 1) || math.IsInf(e.Upper, -1) {
			return nil, fmt.Errorf("%s: %s: the %s interval overflows: its inputs are too far from the training data",
				table.Source, rows.Where(i), kind)
		}
		is = append(is, Interval{max(e.Lower, -math.MaxFloat64), min(e.Upper, math.MaxFloat64)})
	}
	return is, nil
}
