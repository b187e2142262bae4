package krigo

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/krigo-gp/krigo/fit"
	"github.com/krigo-gp/krigo/internal/linalg"
	"github.com/krigo-gp/krigo/pacbayes"
)

// Interval is one for a target, in its own units.
type Interval struct {
	Lower float64 `json:"lower"`
	Upper float64 `json:"upper"`
}

// IntervalKinds are those that Intervals knows, apart from the credible interval that every
// Prediction has. Their guarantees are of different kinds:
//
//	credible    none: the model's own belief
//	conformal   a further target lies within with probability 95 %, or another level, on average over draws of the
//	            calibration rows, or certified rows, and over further rows from the same source (all of them
//	            exchangeable), whatever the model; as wide for every row
//	normalised  the same, with a width that follows the model's standard deviation
//	band        with confidence 1−δ over the draw of the certified rows at least the certificate's
//	            share of all further predictions are within the band; as wide for every row
var IntervalKinds = []string{"conformal", "normalised", "band"}

// Intervals returns an interval of a kind for every prediction. The level is the share of targets that conformal and normalised ones
// hold; 0 is 0.95. A band's is its certificate's.
func Intervals(m *Model, kind string, level float64, ps []Prediction) ([]Interval, error) {
	interval := func(below, above float64) func(Prediction) Interval {
		return func(p Prediction) Interval { return Interval{p.Mean - below, p.Mean + above} }
	}
	var of func(Prediction) Interval
	switch c := m.Conformal; {
	case !(level >= 0 && level < 1):
		return nil, fit.Usage("level %v: want a share of targets between 0 and 1, such as 0.9", level)
	case !slices.Contains(IntervalKinds, kind):
		return nil, fit.Usage("intervals %q: want one of %s", kind, strings.Join(IntervalKinds, ", "))
	case kind == "band":
		below, above, relative, err := band(m.Certificate)
		if err != nil {
			return nil, err
		}
		of = interval(below, above)
		if relative {
			of = func(p Prediction) Interval { return relativeBand(p.Mean, below) }
		}
	case c == nil:
		return nil, fmt.Errorf("%s intervals: the model has no calibration rows, and no certified rows in their place, which takes a mean certified by its own misses: fit it with --calibration-fraction", kind)
	default:
		w, sds, err := c.At(level)
		if err != nil {
			return nil, fmt.Errorf("%s intervals: %w", kind, err)
		}
		w *= m.Scaling.TargetScale
		if of = interval(w, w); kind == "normalised" {
			of = func(p Prediction) Interval {
				return Interval{p.Mean - sds*p.PredictiveSD(), p.Mean + sds*p.PredictiveSD()}
			}
		}
	}
	is := make([]Interval, len(ps))
	for i, p := range ps {
		is[i] = of(p)
		if !linalg.Finite([]float64{is[i].Lower, is[i].Upper}) {
			return nil, fmt.Errorf("prediction %d: the %s interval overflows: leave these intervals out, or fit the target in a larger unit", i+1, kind)
		}
	}
	return is, nil
}

// band returns how far below and above a prediction the band reaches that a certificate guarantees
// for a share of predictions: that of its promise, else the declared one. Predictions at most ε
// below and ε' above the target have the target at most ε' below and ε above themselves.
func band(c *Certificate) (below, above float64, relative bool, err error) {
	switch {
	case c == nil || !c.Valid:
		return 0, 0, false, fmt.Errorf("band: the model has no certificate")
	case c.Promise != nil && c.Promise.HalfWidth > 0:
		return c.Promise.HalfWidthRaw, c.Promise.HalfWidthRaw, c.Promise.Relative, nil
	case c.MeanBound < 1 && c.Loss == pacbayes.Asymmetric:
		return c.EpsilonRaw * c.EpsilonAbove / c.Epsilon, c.EpsilonRaw, false, nil
	case c.MeanBound < 1 && (c.Loss == pacbayes.Band || c.Loss == pacbayes.Relative):
		return c.EpsilonRaw, c.EpsilonRaw, c.Loss == pacbayes.Relative, nil
	}
	return 0, 0, false, fmt.Errorf("band: the certificate guarantees none: declare the band loss with a wider ε, or ask for a promise")
}

// relativeBand is the y with |y − ŷ| ≤ ε|y|: between ŷ/(1+ε) and ŷ/(1−ε), and without an
// end from ε = 1 on.
func relativeBand(mean, epsilon float64) Interval {
	near, far := mean/(1+epsilon), mean/(1-epsilon)
	switch {
	case epsilon >= 1:
		return Interval{-math.MaxFloat64, math.MaxFloat64}
	case mean < 0:
		return Interval{far, near}
	}
	return Interval{near, far}
}
