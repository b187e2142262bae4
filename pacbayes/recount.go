package pacbayes

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/krigo-gp/krigo/internal/cautious"
	"github.com/krigo-gp/krigo/internal/linalg"
	"github.com/krigo-gp/krigo/internal/lists"
	"github.com/krigo-gp/krigo/internal/spelling"
)

// A certificate that stands in a file states its counts beside its bounds.
// The functions of this file compute every bound again that follows from counts, δ and terms, so
// that a reader without the rows refuses a certificate whose numbers contradict one another.

// span is where a bound must lie. It is one number if the bound follows from the stated counts.
type span struct{ least, most float64 }

// exactly returns the span of a bound that follows from the counts.
func exactly(v float64) span { return span{v, v} }

// holds says whether a stored number lies in the span, to within reproducible.
func (s span) holds(stored float64) bool {
	return (stored >= s.least && stored <= s.most) || same(s.least, stored) || same(s.most, stored)
}

// mostCrossed is the most rows for which Recount computes again how often a whole curve fails,
// which takes .15 s. A curve of more rows has a smaller level.
const mostCrossed = 100_000

// Recount returns the first number of c that c's own counts contradict, or "".
// A bound that needs more of the rows than counts, such as a betting bound, must lie between the
// least and the largest bound that rows of these counts can have.
// meanRisk is the mean's loss on the certified rows. It is NaN if the file doesn't say it.
func (t Terms) Recount(c *Certificate, meanRisk float64) string {
	// First refuse counts and risks that no rows can have. The formulas below rely on this.
	n := cmp.Or(c.Groups, c.Rows)
	if n < MinRows || c.Groups > c.Rows || (c.Groups > 0) != (t.Group != "") {
		return fmt.Sprintf("it counts %d rows and %d groups", c.Rows, c.Groups)
	}
	if !(c.EmpiricalRisk >= 0 && c.EmpiricalRisk <= 1+1e-9) {
		return fmt.Sprintf("empirical_risk is %v", c.EmpiricalRisk)
	}
	if t.Fixed && c.KL != 0 {
		return fmt.Sprintf("kl is %v, but nothing was learnt on the certified rows", c.KL)
	}
	if t.Curve {
		if differs := t.recountCurve(c, n); differs != "" {
			return differs
		}
	}
	if differs := t.recountSlices(c); differs != "" {
		return differs
	}
	// Then compare each stated bound with the bound, or the span of bounds, that these counts give.
	bound, mean, root := t.spans(c, n, meanRisk)
	for _, stated := range []struct {
		name  string
		value float64
		in    span
	}{{"bound", c.Bound, bound}, {"mean_bound", c.MeanBound, mean},
		{"bound_sqrt", c.BoundSqrt, exactly(root)}} {
		if !stated.in.holds(stated.value) {
			return fmt.Sprintf("%s is %.9g, where its counts give %.9g", stated.name, stated.value,
				stated.in.least)
		}
	}
	return t.recountPromise(c)
}

// spans returns where the bounds on a random draw and on the mean must lie, and the root form of
// the bound.
func (t Terms) spans(c *Certificate, n int, meanRisk float64) (bound, mean span, root float64) {
	if !t.Fixed {
		eps := (c.KL + t.Penalty(n)) / float64(n)
		bound = exactly(t.inequality().anyQ(c.EmpiricalRisk, 0, eps, n))
		if t.inequality() == SplitBound {
			bound = span{c.EmpiricalRisk, 1}
		}
		return bound, exactly(math.Min(1, 2*c.Bound)), c.EmpiricalRisk + math.Sqrt(eps/2) + rounding
	}
	level := t.Delta / math.Exp(c.ChoicesPenalty)
	own := t.spanOf(meanRisk, n, t.Delta/t.statements())
	switch {
	case t.Curve:
		level = c.Curve.Level
		own = exactly(c.Curve.At(t.Loss.Below))
	case t.Route == Direct:
		own = t.spanOf(c.EmpiricalRisk, n, t.Delta/t.statements())
	}
	root = c.EmpiricalRisk + math.Sqrt(-math.Log(level)/(2*float64(n))) + rounding
	if t.Route == Direct {
		return own, exactly(c.Bound), root
	}
	draw := t
	draw.Loss.Kind = ClippedSquare // a random draw's loss isn't 0 or 1
	bound = draw.spanOf(c.EmpiricalRisk, n, t.Delta/t.statements()/float64(t.Choices))
	twice := math.Min(1, 2*c.Bound)
	if t.Route == Both {
		own.least = math.Max(own.least, t.spanOf(0, n, t.Delta/t.statements()).least)
		return bound, span{math.Min(twice, own.least), math.Min(twice, own.most)}, root
	}
	return bound, exactly(twice), root
}

// spanOf returns where the bound of a fixed predictor must lie that has this risk on n units.
func (t Terms) spanOf(risk float64, n int, delta float64) span {
	if risk != risk {
		return span{0, 1}
	}
	q := t.inequality()
	zeroOne := t.Loss.IsZeroOne() && t.Group == ""
	if zeroOne && !same(risk*float64(n), math.Round(risk*float64(n))) {
		return span{2, 2} // no count of misses has this share
	}
	switch {
	case q.byMean(zeroOne):
		return exactly(q.ofMean(math.Min(risk, 1), n, zeroOne, delta))
	case q == BettingBound:
		least, most := betweenBets(math.Min(risk, 1), n, delta, gamblers(t.Rules, n, delta))
		return span{least, most}
	}
	return span{risk, 1}
}

// recountCurve returns what in c's curve its counts contradict.
func (t Terms) recountCurve(c *Certificate, n int) string {
	w := c.Curve
	delta := t.Delta / t.share()
	// The level is right if the bounds at all listed numbers of misses fail together with at most
	// δ. For more than mostCrossed rows it must hold for mostCrossed rows.
	at := func(n int) (misses []int, bounds []float64) {
		misses = curveMisses(n, t.curveEnd())
		return misses, curveBounds(misses, n, w.Level, delta, t.read())
	}
	few := min(n, mostCrossed)
	misses, bounds := at(few)
	if !(w.Level > 0 && w.Level <= delta) ||
		crossing(few, misses, bounds) > delta*(1+reproducible) {
		return fmt.Sprintf("curve's level is %.9g, at which the bounds of %d rows don't hold "+
			"together", w.Level, n)
	}
	// Along the curve widths grow and misses fall, and each bound is the exact binomial bound.
	if n > few {
		misses, bounds = at(n)
	}
	last := CurvePoint{Bound: 1, Misses: n + 1}
	raw := t.EpsilonRaw / t.Loss.Below
	for i, p := range w.Points {
		place, listed := slices.BinarySearch(misses, p.Misses)
		if !(p.HalfWidth >= last.HalfWidth && p.Misses < last.Misses) || !listed ||
			!same(p.Bound, bounds[place]) ||
			!cautious.SameWidth(p.HalfWidthRaw, p.HalfWidth*raw, raw) {
			return fmt.Sprintf("curve's point %d of %d is wrong", i+1, len(w.Points))
		}
		last = p
	}
	// The declared ε is one width of the curve: a narrower or equal half-width can't have fewer
	// misses than there are at ε.
	if t.Loss.IsZeroOne() && t.Route == Direct {
		missed := c.EmpiricalRisk * float64(n)
		for i, p := range w.Points {
			over := p.HalfWidth <= t.Loss.Below && missed > float64(p.Misses)+0.5
			if !same(missed, math.Round(missed)) || over {
				return fmt.Sprintf("empirical_risk contradicts the curve's point %d of %d", i+1,
					len(w.Points))
			}
		}
	}
	if m := w.meanError(); !same(m.Clip, w.MeanError.Clip) || !same(m.Bound, w.MeanError.Bound) ||
		!same(m.Worst, w.MeanError.Worst) {
		return "curve's mean error doesn't follow from its points"
	}
	return ""
}

// recountSlices returns what in c's slices their counts contradict.
func (t Terms) recountSlices(c *Certificate) string {
	// δ is split among the slices that are large enough, as slices splits it (Rules 0: among all).
	parts := len(lists.If(c.Slices, func(s Slice) bool {
		return t.Rules == 0 || s.Rows >= MinRows
	}))
	for _, s := range c.Slices {
		misses := s.MeanRisk * float64(s.Rows)
		bound := 1.
		if s.Rows >= MinRows {
			bound = ClopperPearson(int(math.Round(misses)), s.Rows,
				t.Delta/t.share()/float64(parts))
		}
		if !(s.MeanRisk >= 0 && s.MeanRisk <= 1) || !same(misses, math.Round(misses)) ||
			!same(s.MeanBound, bound) || s.Rows > c.Rows || (s.Reason != "") != (s.Rows < MinRows) {
			return fmt.Sprintf("slice %s %s contradicts its counts", s.By, s.Name)
		}
	}
	// The slices of one column are disjoint, so their rows and misses sum to at most those of all
	// rows.
	for _, by := range t.Slices {
		rows := 0
		missed := 0.
		names := map[string]bool{}
		for _, s := range c.Slices {
			if s.By == by {
				rows += s.Rows
				missed += s.MeanRisk * float64(s.Rows)
				names[s.Name] = true
			}
		}
		all := lists.If(c.Slices, func(s Slice) bool { return s.By == by })
		if rows > c.Rows || len(names) < len(all) || len(all) == 0 ||
			(t.Route == Direct && (missed > c.EmpiricalRisk*float64(c.Rows)+0.5 ||
				(rows == c.Rows && !same(missed, c.EmpiricalRisk*float64(c.Rows))))) {
			return fmt.Sprintf("slices by %s contradict the rows and misses of all", by)
		}
	}
	return ""
}

// recountPromise returns what in c's promise the curve, or the search for a width, contradicts.
func (t Terms) recountPromise(c *Certificate) string {
	p := c.Promise
	if p == nil {
		return ""
	}
	raw := t.EpsilonRaw / t.Loss.Below
	if t.Loss.Unitless() {
		raw = 1
	}
	wrong := p.HalfWidth < 0 || !cautious.SameWidth(p.HalfWidthRaw, p.HalfWidth*raw, raw) ||
		(p.HalfWidth == 0) != (p.Reason != "")
	if p.HalfWidth > 0 {
		wrong = wrong || !(p.Bound >= 0 && p.Bound <= 1-t.Promise+reproducible)
		wrong = wrong || ((t.Curve || t.MeanAlone()) && !same(p.Bound, 1-t.Promise))
	}
	if t.Curve {
		at, _ := c.Curve.Width(t.Promise)
		wrong = wrong || !same(at.HalfWidth, p.HalfWidth)
	}
	near := func(j int) bool { return same(PromiseWidth(j, p.Relative), p.HalfWidth) }
	if !t.Curve && p.HalfWidth > 0 {
		wrong = wrong || !slices.ContainsFunc(linalg.UpTo(promiseWidths), near)
	}
	if kind := t.Loss.Kind; !t.Curve && t.MeanAlone() && (kind == Band || kind == Relative ||
		kind == Scaled) &&
		// as many rows miss a narrower band, or more
		p.HalfWidth > 0 && p.HalfWidth <= t.Loss.Below {
		least := t.spanOf(c.EmpiricalRisk, cmp.Or(c.Groups, c.Rows), t.Delta/2/t.share()).least
		wrong = wrong || least > 1-t.Promise+reproducible
	}
	return spelling.If(wrong, "promise doesn't follow from its terms and the curve")
}

// RecountHoldOut says whether this risk of a simple predictor, on the rows of a certificate with
// these terms, can have this bound (see HoldOut).
func (t Terms) RecountHoldOut(risk, bound float64, n int) bool {
	of := t.alone()
	return of.spanOf(risk, n, of.Delta/of.statements()).holds(bound)
}
