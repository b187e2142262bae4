package krigo

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/internal/cautious"
	"github.com/krigo-gp/krigo/model"
	"github.com/krigo-gp/krigo/pacbayes"
)

// Sentence says in words what a certificate of the model promises about its predictions, in
// a line, or in two where a band was asked for. Every number is rounded to the cautious side:
// what is promised must hold.
func (m *Model) Sentence(c *pacbayes.Certificate) string {
	if m.Terms.Backtest {
		return backtest(m, c)
	}
	lead := confidence(c.Delta, "certified", c.Group)
	if !c.Valid {
		lead = "Not a certificate but a " + c.Label + ":\n"
	}
	same := lead
	if c.Valid {
		same = "With the same confidence, "
	} else if c.Promise != nil {
		same = ""
	}
	caution := ""
	if c.Repeats*100 >= c.Rows && c.Repeats > 0 {
		another := "another one"
		if c.Group != "" {
			another = "one of another group"
		}
		caution = fmt.Sprintf("\nThis holds only if rows that equal %s, %d of them, are independent draws and not copies.",
			another, c.Repeats)
	}
	if c.NearCopies > 0 {
		caution += fmt.Sprintf("\nThis holds only if certified rows that nearly equal another row, %d of %d, are independent "+
			"draws and not copies that were rounded or jittered.", c.NearCopies, min(c.Rows, 1000))
	}
	if m.Terms.Copies {
		caution += copiesOnly
	}
	if m.Split == model.ByPosition && c.Valid {
		caution += "\nThis holds only if the order of the file has nothing to do with what its rows hold: that order " +
			"decided which rows are certified."
	}
	about, promise := m.Population().Says, ""
	for _, line := range m.Told() {
		caution += "\n" + line
	}
	if c.Curve != nil && c.Valid && len(c.Curve.Points) > 0 {
		return lead + everyWidth(m, c, about) + slicesOf(c) + caution
	}
	if p := c.Promise; p != nil && p.HalfWidth > 0 {
		// The share itself isn't rounded: it was asked for.
		share := least(math.Min(cautious.RoundUp(p.Bound, 3), 1-p.Share), about)
		promise = fmt.Sprintf("%s%s lie within %s.\n", lead, share, promised(m, p))
		lead = same
	} else if p != nil {
		promise = fmt.Sprintf("No band can be guaranteed to hold %s of the predictions: %s.\n",
			cautious.Complement(1-p.Share), p.Reason)
	}
	return promise + lead + bound(m, c, about) + slicesOf(c) + caution
}

// copiesOnly is what a bound rests on where rows that equal one another were left out, or made a group.
const copiesOnly = "\nThis holds only if rows that equal one another are copies, as they were taken for, and not " +
	"independent draws that came out alike."

// curveShares are those that a curve is told for, where it has them; without a width for saidShare it says so.
var curveShares = []float64{0.5, 0.8, 0.9, saidShare, 0.99}

const saidShare = 0.95

// everyWidth is a table of what a curve promises, by width, with the declared ε and the promise among them.
func everyWidth(m *Model, c *pacbayes.Certificate, about string) string {
	e, points, none := c.Curve.MeanError, c.Curve.Points[:1:1], 1.
	for _, share := range curveShares {
		if p, ok := c.Curve.Width(share); ok && p.HalfWidth > points[0].HalfWidth {
			p.Bound = 1 - share
			points = append(points, p)
		} else if !ok && share <= saidShare {
			none = math.Min(none, share)
		}
	}
	if p := c.Promise; p != nil && p.HalfWidth > 0 {
		points = append(points, pacbayes.CurvePoint{HalfWidth: p.HalfWidth, HalfWidthRaw: p.HalfWidthRaw, Bound: p.Bound})
	} else if p != nil {
		none = math.Min(none, p.Share)
	}
	ends := ""
	if c.MeanBound < 1 {
		points = append(points, pacbayes.CurvePoint{HalfWidth: c.Epsilon, HalfWidthRaw: c.EpsilonRaw, Bound: c.MeanBound})
	} else {
		ends = fmt.Sprintf("\nNothing is said of narrower bands, such as %s.", within(m, c.Loss, c.Epsilon, c.EpsilonRaw))
	}
	slices.SortFunc(points, func(a, b pacbayes.CurvePoint) int {
		return cmp.Or(cmp.Compare(a.HalfWidth, b.HalfWidth), cmp.Compare(b.Bound, a.Bound))
	})
	said := fmt.Sprintf("all at once, of predictions on further %s at least", about)
	for i, p := range points {
		if line := fmt.Sprintf("\n  %s lie within %s", cautious.Complement(p.Bound), within(m, c.Loss, p.HalfWidth,
			p.HalfWidthRaw)); i == 0 || !strings.HasSuffix(said, line) {
			said += line
		}
	}
	if none < 1 {
		ends = fmt.Sprintf("\nNo width can be guaranteed to hold %s or more: certify more rows.%s", cautious.Complement(1-none),
			ends)
	}
	unit, raw := "", m.Terms.EpsilonRaw/m.Terms.Loss.Below
	switch c.Loss {
	case pacbayes.Relative:
		unit, raw = " times "+cautious.Name(m.Target), 1
	case pacbayes.Scaled:
		unit, raw = ownSD, 1
	}
	// A mean of errors that are counted up to a clip is at most the clip, whatever the rows are: a bound that isn't
	// plainly below it says nothing.
	tells := func(bound float64) bool { return bound < 0.999*e.Clip }
	if tells(e.Bound) {
		said += fmt.Sprintf("\nand their mean absolute error, errors above %s counted as so much, is at most %s%s",
			cautious.Least(e.Clip*raw), cautious.Width(e.Bound*raw), unit)
		if tells(e.Worst) {
			said += fmt.Sprintf(", that of the worst twentieth at most %s", cautious.Width(e.Worst*raw))
		}
	}
	return said + "." + ends
}

// slicesOf is a table of the kinds of rows that have bounds of their own.
func slicesOf(c *pacbayes.Certificate) string {
	if len(c.Slices) == 0 || !c.Valid {
		return ""
	}
	said := "\nWith the same confidence, for all these kinds of rows together, at most this share of each misses:"
	if !slices.ContainsFunc(c.Slices, func(s pacbayes.Slice) bool { return s.Reason == "" }) {
		said = fmt.Sprintf("\nNo kind of rows has a bound, since each has fewer than %d certified rows: the half of δ that "+
			"went to --slices bought nothing. Certify more rows, or fit without it.", pacbayes.MinRows)
	}
	for _, s := range c.Slices {
		which := cautious.Name(s.By) + " " + cautious.Name(s.Name)
		if s.Own() && s.From != nil {
			which += ", > " + cautious.Digits(*s.From, 6)
		}
		if s.Own() && s.To != nil {
			which += ", < " + cautious.Digits(*s.To, 6)
		}
		switch {
		case s.Reason != "":
			said += fmt.Sprintf("\n  %s: no bound, %s", which, s.Reason)
		default:
			said += fmt.Sprintf("\n  %s: %.1f %% (%.1f %% of %d certified rows)", which, 100*cautious.RoundUp(s.MeanBound, 3),
				100*s.MeanRisk, s.Rows)
		}
	}
	return said
}

// ownSD is the unit of half-widths that follow the model's uncertainty.
const ownSD = " of the model's own standard deviations"

// backtest says how the mean did on the last rows: in the past tense, since nothing follows from it.
func backtest(m *Model, c *pacbayes.Certificate) string {
	lead := fmt.Sprintf("A backtest, not a certificate: of the last %d rows, which the model didn't see, ", c.Rows)
	held := "all" // a share that was counted may be 1, as no bound is
	if c.EmpiricalRisk > 0 {
		held = cautious.Complement(cautious.RoundUp(c.EmpiricalRisk, 4))
	}
	switch c.Loss {
	case pacbayes.Band, pacbayes.Relative, pacbayes.Scaled:
		return fmt.Sprintf("%s lay within %s.", lead+held, within(m, c.Loss, c.Epsilon, c.EpsilonRaw))
	case pacbayes.Asymmetric:
		return fmt.Sprintf("%s were predicted at most %s below and %s above %s.", lead+held, cautious.Width(c.EpsilonRaw),
			cautious.Width(c.EpsilonRaw*c.EpsilonAbove/c.Epsilon), cautious.Name(m.Target))
	}
	return fmt.Sprintf("%sthe mean %s loss was %.4f.", lead, c.Loss, c.EmpiricalRisk)
}

// Sentence says in words what fresh rows show of the model's predictions, what that rests on, and
// what of the model's own certificate it contradicts.
func (f *Fresh) Sentence(m *Model) string {
	about := (&model.Model{Group: m.Group}).Population().Says // the source of the fresh rows, whatever ties the model's
	said := confidence(f.Delta, "fresh", m.Group) +
		bound(m, &pacbayes.Certificate{Bound: f.Bound, MeanBound: f.MeanBound, Route: m.Terms.Route, Group: m.Group,
			Loss: f.Loss, Epsilon: f.Epsilon, EpsilonAbove: f.EpsilonAbove, EpsilonRaw: f.EpsilonRaw}, about)
	switch {
	case f.Seen == f.Rows:
		said += "\nEvery one of these rows equals one that the model was made from: if they are the same observations, " +
			"this says nothing."
	case 2*f.Seen > f.Rows:
		said += fmt.Sprintf("\n%d of these %d rows equal one that the model was made from: if they are the same "+
			"observations, this says nothing.", f.Seen, f.Rows)
	case f.Seen > 0:
		said += fmt.Sprintf("\nThis holds only if rows that equal another one, or one that the model was made from (%d of "+
			"them, %d of the second kind), are independent draws and not the same observations.", f.Repeats, f.Seen)
	case f.Repeats > 0:
		said += fmt.Sprintf("\nThis holds only if rows that equal another one, %d of them, are independent draws and not "+
			"copies.", f.Repeats)
	}
	if f.Dropped > 0 {
		said += fmt.Sprintf("\n%d more rows equal one of these in every cell, and were left out, as when the model was "+
			"fitted.", f.Dropped)
	}
	if f.Untargeted > 0 {
		said += fmt.Sprintf("\n%d more rows have no %s, and were left out.", f.Untargeted, cautious.Name(m.Target))
	}
	if m.Terms.Copies {
		said += copiesOnly
	}
	if f.SeenGroups > 0 {
		said += fmt.Sprintf("\n%d of these %d groups are ones that the model was made from, by their %s: rows of known "+
			"groups say nothing about further groups.", f.SeenGroups, f.Groups, cautious.Name(m.Group))
	}
	if a := f.Anytime; a != nil {
		what, n, complete := "rows", f.Rows, ""
		if a.Groups > 0 {
			what, n = "complete groups", a.Groups
			complete = " A group is taken to be complete once the rows of another one follow its own: none may come to it later."
		}
		said += fmt.Sprintf("\nAt any time: with %s confidence the expected loss of predictions on further %s lies between "+
			"such limits at every number of fresh %s at once, "+
			"so that one may add some and look again; by these %d, between %.4f and %.4f.%s", cautious.Complement(f.Delta),
			about, what, n, cautious.RoundDown(a.AtLeast, 4), cautious.RoundUp(a.AtMost, 4), complete)
	}
	if f.Shift != nil {
		said += "\n" + f.Shift.Sentence()
	}
	x := f.Contradicts
	if x == nil {
		return said
	}
	sure := cautious.Complement(f.Delta)
	said += "\nTHIS CONTRADICTS the model's own certificate."
	if x.Mean != nil {
		said += fmt.Sprintf("\nWith %s confidence, the expected loss of predictions on further rows like these is at least "+
			"%.4f; the certificate says at most %.4f.",
			sure, cautious.RoundDown(x.Mean.AtLeast, 4), cautious.RoundUp(x.Mean.Certified, 4))
	}
	if x.Promise != nil {
		said += fmt.Sprintf("\nWith %s confidence, at least %.2f %% of predictions on further rows like these lie farther "+
			"off than %s; the promise says at most %.2f %%.",
			sure, 100*cautious.RoundDown(x.Promise.AtLeast, 4), promised(m, m.Certificate.Promise),
			100*math.Min(cautious.RoundUp(x.Promise.Certified, 4), 1-m.Certificate.Promise.Share))
	}
	return said + fmt.Sprintf("\nEither these rows come from another source than the certified ones, or a condition of "+
		"the certificate isn't met, or one of these statements failed by chance, of which each had at most %g."+
		"\nFor rows like these rely on what they show, not on the certificate.", f.Delta)
}

// Sentence says in words what a bound becomes on another source, and on what that rests. It continues another, whose
// confidence it has.
func (s *Shift) Sentence() string {
	return fmt.Sprintf("With the same confidence, on rows of another source: if its relative entropy to this one, "+
		"KL(that source ‖ this one), is at most %g nats a row, which no row here shows, "+
		"the expected loss of predictions there is at most %.4f.", s.Rho, cautious.RoundUp(s.MeanBound, 4))
}

// confidence begins a statement that holds with probability 1−δ over the draw of some rows, or groups
// of them by a column.
func confidence(delta float64, which, group string) string {
	what := "rows"
	if group != "" {
		what = "groups"
	}
	return fmt.Sprintf("With %s confidence (over the draw of the %s %s), ", cautious.Complement(delta), which, what)
}

func least(b float64, about string) string {
	return fmt.Sprintf("at least %s of predictions on further %s", cautious.Complement(b), about)
}

// promised is the band of a promise.
func promised(m *Model, p *pacbayes.Promise) string {
	return within(m, bandOf(p), p.HalfWidth, p.HalfWidthRaw)
}

// within is the band of a loss: of a half-width in the loss's unit, and in the target's own.
func within(m *Model, loss pacbayes.Kind, width, raw float64) string {
	switch target := cautious.Name(m.Target); loss {
	case pacbayes.Relative:
		return fmt.Sprintf("±%s %% of %s", cautious.Width(100*width), target)
	case pacbayes.Scaled:
		return fmt.Sprintf("±%s%s of %s", cautious.Width(width), ownSD, target)
	default:
		return fmt.Sprintf("±%s of %s%s", cautious.Width(raw), target, scaled(m, width))
	}
}

// scaled says what half-widths are in standard deviations of the target, or where its scale was declared in that,
// whatever it is of the target; predictions of elsewhere have no scale.
func scaled(m *Model, widths ...float64) string {
	unit := "sd"
	switch {
	case m.Terms.Elsewhere:
		return ""
	case m.Terms.Scaling == dataset.Declared:
		unit = "declared scales"
	}
	var texts []string
	for _, w := range widths {
		texts = append(texts, cautious.Width(w))
	}
	return fmt.Sprintf(" (%s %s)", strings.Join(texts, " and "), unit)
}

// bound says what the bound on the mean promises. On the route direct there is no other.
func bound(m *Model, c *pacbayes.Certificate, about string) string {
	share := least(cautious.RoundUp(c.MeanBound, 3), about)
	switch {
	case cautious.RoundUp(c.MeanBound, 3) >= 1 && c.Route == pacbayes.Direct:
		return fmt.Sprintf("the bound says nothing about predictions: their expected loss is at most %.3f.",
			cautious.RoundUp(c.MeanBound, 3))
	case cautious.RoundUp(c.MeanBound, 3) >= 1:
		return fmt.Sprintf("the bound says nothing about predictions: it is %.3f for a random draw from the model.",
			cautious.RoundUp(c.Bound, 3))
	case c.Loss == pacbayes.Band, c.Loss == pacbayes.Relative, c.Loss == pacbayes.Scaled:
		return fmt.Sprintf("%s lie within %s.", share, within(m, c.Loss, c.Epsilon, c.EpsilonRaw))
	case c.Loss == pacbayes.Asymmetric:
		return fmt.Sprintf("%s lie at most %s below and %s above %s%s.", share,
			cautious.Width(c.EpsilonRaw), cautious.Width(c.EpsilonRaw*c.EpsilonAbove/c.Epsilon), cautious.Name(m.Target),
			scaled(m, c.Epsilon, c.EpsilonAbove))
	}
	unit := ""
	if c.Loss != pacbayes.ClippedAbsolute {
		unit = fmt.Sprintf(" (ε = %s)", cautious.Width(c.EpsilonRaw))
	}
	return fmt.Sprintf("the expected %s loss of predictions on further %s is at most %.3f%s.", c.Loss, about,
		cautious.RoundUp(c.MeanBound, 3), unit)
}
