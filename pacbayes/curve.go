package pacbayes

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"sort"

	"github.com/krigo-gp/krigo/internal/cautious"
	"github.com/krigo-gp/krigo/internal/lists"
)

// Curve bounds the share of further predictions that miss by more than a width, for all widths at
// once, with probability 1−δ. Its predictor was fixed before the certified rows were seen.
// Everything that is read off a curve holds, also at widths chosen afterwards.
type Curve struct {
	// δ′, the largest level of the ClopperPearson bounds; all hold together at δ
	Level  float64      `json:"level"`
	Points []CurvePoint `json:"points"`

	MeanError MeanError `json:"mean_error"`
}

// CurvePoint says that at most the share Bound of further predictions miss by more than HalfWidth.
// The bound also holds for larger widths, up to that of the next point.
type CurvePoint struct {
	HalfWidth    float64 `json:"half_width"`     // in the units of the loss's ε
	HalfWidthRaw float64 `json:"half_width_raw"` // in the target's units, if the loss has a unit
	Misses       int     `json:"misses"`         // at most this many certified rows miss by more
	Bound        float64 `json:"bound"`
}

// MeanError bounds the mean of min(|y − ŷ|, Clip) over all predictions, and over the worst
// twentieth of the predictions, in the curve's units.
// Clip is the curve's largest width, because nothing is known beyond the largest error that was
// seen.
type MeanError struct {
	Clip  float64 `json:"clip"`
	Bound float64 `json:"bound"`
	Worst float64 `json:"worst"` // conditional value at risk at level 0.95
}

// tailShare is the share of the worst predictions, for MeanError.Worst.
const tailShare = 0.05

// curveShare is the share of misses at which a curve ends.
// Nobody asks how wide a band must be for a third of the predictions to miss.
// Bounds beyond this share would take a part of δ from the other bounds:
// at 150 rows δ′ is δ/9.7, and it would be δ/26 without this end.
const curveShare = 0.3

// curveEnd returns the largest share of misses at which a curve has a bound:
// curveShare, or 1 minus the promised share if this is larger.
// By the rules of older model files it is 1.
func (t Terms) curveEnd() float64 {
	switch {
	case t.Rules == 0:
		return 1
	case t.Promise > 0:
		return math.Max(curveShare, 1-t.Promise)
	}
	return curveShare
}

// read returns the shares of misses at which a curve is read, so that its bounds there are tight:
// what the table of widths leaves out, and what a promise does. By older rules it is nil.
func (t Terms) read() []float64 {
	if t.Rules < readRules {
		return nil
	}
	return []float64{1 - cmp.Or(t.Promise, 0.8), 0.2, 0.1, 0.05, 0.01}
}

// curve computes bounds on how often the mean misses by more than a width, for many widths.
// Widths are in the units that ε has for a loss that is 1 beyond ε.
func (t Terms) curve(s Sample) (*Curve, error) {
	level, misses, bounds := curveLevel(s.units(), t.Delta/t.share(), t.curveEnd(), t.read())
	c := &Curve{Level: level}
	// From many misses to few, so that widths ascend.
	for i, k := range slices.Backward(misses) {
		if bounds[i] < 1 {
			c.Points = append(c.Points, CurvePoint{Misses: k, Bound: bounds[i]})
		}
	}
	return t.HoldOutCurve(s, c)
}

// HoldOutCurve returns the curve of a predictor that was fixed before the rows of s were seen.
// It has the shares of own, a curve of another predictor on the same rows, and other widths.
// Either curve holds by itself, not both together.
func (t Terms) HoldOutCurve(s Sample, own *Curve) (*Curve, error) {
	// An error in the units of ε is a distance, or for a loss without a unit a multiple of the
	// row's scale.
	errs := make([]float64, len(s.Y))
	for i := range errs {
		errs[i] = math.Abs(s.Y[i] - s.Mean[i])
		if t.Loss.Unitless() && errs[i] > 0 {
			errs[i] /= s.Scale[i]
		}
	}
	widths, err := s.largest(errs, lists.Of(own.Points, func(p CurvePoint) int { return p.Misses }))
	if err != nil {
		return nil, err
	}
	c := &Curve{Level: own.Level}
	raw := t.EpsilonRaw / t.Loss.Below
	for i, p := range own.Points {
		// Widths are a hair wider, so that an error that is computed again in other units lies
		// within its width.
		if w := widths[i] * (1 + 1e-12); !math.IsInf(w, 1) {
			c.Points = append(c.Points, CurvePoint{w, w * raw, p.Misses, p.Bound})
		}
	}
	c.MeanError = c.meanError()
	return c, nil
}

// largest returns, for each i, the (misses[i]+1)-th largest error over all ranks.
// It sorts errs, the errors of this rank. It finds the result bit by bit from the highest bit:
// the largest number that more than misses[i] errors reach.
func (s Sample) largest(errs []float64, misses []int) ([]float64, error) {
	slices.Sort(errs)
	found := make([]float64, len(misses))
	for bit := uint64(1) << 62; bit > 0; bit >>= 1 {
		tried := make([]float64, len(misses))
		above := make([]float64, len(misses))
		for i, v := range found {
			if tried[i] = math.Float64frombits(math.Float64bits(v) | bit); !math.IsNaN(tried[i]) {
				above[i] = float64(len(errs) - sort.SearchFloat64s(errs, tried[i]))
			}
		}
		if s.Sum != nil {
			if err := s.Sum(above); err != nil {
				return nil, err
			}
		}
		for i, k := range misses {
			if above[i] > float64(k) {
				found[i] = tried[i]
			}
		}
	}
	return found, nil
}

// At returns the bound on the share of predictions that miss by more than width.
func (c *Curve) At(width float64) float64 {
	i := sort.Search(len(c.Points), func(i int) bool { return c.Points[i].HalfWidth > width })
	if i == 0 {
		return 1
	}
	return c.Points[i-1].Bound
}

// Width returns the point of the smallest width within which this share of the predictions is
// guaranteed to lie.
func (c *Curve) Width(share float64) (p CurvePoint, ok bool) {
	i := slices.IndexFunc(c.Points, func(p CurvePoint) bool { return p.Bound <= 1-share })
	if i < 0 {
		return p, false
	}
	return c.Points[i], true
}

// meanError computes ∫ S(w) dw and ∫ min(S(w)/0.05, 1) dw up to the last width.
// The curve's steps bound the share S(w) of predictions that miss by more than w.
func (c *Curve) meanError() (m MeanError) {
	bound := 1.
	from := 0.
	for _, p := range c.Points {
		m.Bound += bound * (p.HalfWidth - from)
		m.Worst += math.Min(bound/tailShare, 1) * (p.HalfWidth - from)
		bound = p.Bound
		from = p.HalfWidth
	}
	m.Clip = from
	return m
}

// difference names the first thing that differs between two curves, or returns "".
func (c *Curve) difference(d *Curve) string {
	if (c == nil) != (d == nil) || (c != nil && len(c.Points) != len(d.Points)) {
		return "curve differs"
	}
	if c == nil {
		return ""
	}
	if !same(c.Level/d.Level, 1) || !same(c.MeanError.Clip, d.MeanError.Clip) ||
		!same(c.MeanError.Bound, d.MeanError.Bound) || !same(c.MeanError.Worst, d.MeanError.Worst) {
		return "curve's level or mean error differs"
	}
	for i, p := range c.Points {
		q := d.Points[i]
		if p.Misses != q.Misses || !same(p.Bound, q.Bound) ||
			!sameWidths(p.HalfWidth, q.HalfWidth, p.HalfWidthRaw, q.HalfWidthRaw, c.unit()) {
			return fmt.Sprintf("curve's point %d of %d differs", i+1, len(c.Points))
		}
	}
	return ""
}

// unit returns how large 1 of HalfWidth is in the target's units.
func (c *Curve) unit() float64 {
	last := c.Points[len(c.Points)-1]
	return unitOf(last.HalfWidth, last.HalfWidthRaw)
}

// unitOf returns how large 1 of a half-width in the units of ε is in the target's units, given one
// half-width in both units. It returns 1 if the half-width is 0.
func unitOf(halfWidth, raw float64) float64 {
	if halfWidth == 0 {
		return 1
	}
	return raw / halfWidth
}

// sameWidths says whether a computed half-width is the stored half-width, both in the units of ε
// and in the target's units.
func sameWidths(computed, stored, computedRaw, storedRaw, unit float64) bool {
	return cautious.SameWidth(computed, stored, 1) &&
		cautious.SameWidth(computedRaw, storedRaw, unit)
}
