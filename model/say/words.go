// Package say puts a model, its certificate and what rows show of it into words.
//
// This program says what a model promises, in a line:
//
//	package main
//
//	import (
//		"context"
//		"fmt"
//		"log"
//
//		"github.com/krigo-gp/krigo"
//		"github.com/krigo-gp/krigo/data"
//		"github.com/krigo-gp/krigo/model/say"
//	)
//
//	func main() {
//		m, err := krigo.Fit(context.Background(), data.Snelson(),
//			krigo.Options{Data: krigo.Data{Target: "y"}, Promise: krigo.Promise{Epsilon: 1}})
//		if err != nil {
//			log.Fatal(err)
//		}
//		fmt.Println(say.Headline(&m.Model, m.Certificate))
//	}
//
// Every number is rounded to the cautious side, so that what is said still holds.
package say

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/finding"
	"github.com/krigo-gp/krigo/internal/cautious"
	"github.com/krigo-gp/krigo/internal/lists"
	"github.com/krigo-gp/krigo/internal/spelling"
	"github.com/krigo-gp/krigo/model"
	"github.com/krigo-gp/krigo/pacbayes"
)

// Sentence returns what the certificate c promises about predictions of m, in words.
// It rounds every number to the cautious side, so that the promise still holds.
// Each line is a paragraph or an item of a list.
func Sentence(m *model.Model, c *pacbayes.Certificate) string {
	if m.Terms.Backtest {
		return backtest(m, c)
	}
	lead := spelling.Either(!c.Valid,
		"Not a certificate but a "+c.Label+":\n",
		Confidence(c.Delta, "certified", c.Group))
	same := lead
	if c.Valid {
		same = "With the same confidence, "
	} else if c.Promise != nil {
		same = ""
	}
	caution := spelling.If(c.Repeats*100 >= c.Rows && c.Repeats > 0,
		"\n%d rows equal %s. The bound holds only if they are independent draws, not copies.",
		c.Repeats, spelling.Either(c.Group != "", "a row of another group", "another row")) +
		spelling.If(c.NearCopies > 0,
			"\n%d of %d certified rows nearly equal another row. The bound holds only if they "+
				"are independent draws, not copies that were rounded or jittered.", c.NearCopies,
			min(c.Rows, 1000)) +
		spelling.If(m.Terms.Copies, CopiesOnly) +
		strings.Join(lists.Of(m.Cautions(), func(s string) string { return "\n" + s }), "") +
		spelling.If(m.Split == model.ByPosition && c.Valid,
			"\nThe order of the file decided which rows are certified. The bound holds only if "+
				"that order has nothing to do with what the rows hold.") +
		Limits(c.Limits, c.Rows)
	about := m.Population().Says
	promise := ""
	if x := m.Context; x != nil && c.Limits > 0 && c.Epsilon == m.Terms.Loss.Below && c.Valid {
		all := *c
		itself := *m
		all.MeanBound = x.Unknown.MeanBound
		itself.Censored = ""
		caution += " As a bound by itself, with the same confidence, and wherever such " +
			"targets lie: " + Bound(&itself, &all, about) +
			spelling.If(all.MeanBound > 0.5,
				" This says little, since %.0f %% of the targets are limits.",
				100*float64(c.Limits)/float64(c.Rows))
	}
	for _, line := range m.Told() {
		caution += "\n" + line
	}
	if slices.ContainsFunc(m.Findings, finding.Finding.Settles) && c.Valid {
		caution += settled
	}
	if c.Curve != nil && c.Valid && len(c.Curve.Points) > 0 {
		return lead + everyWidth(m, c, about) + slicesOf(m, c) + caution
	}
	if p := c.Promise; p != nil && p.HalfWidth > 0 {
		// The share itself isn't rounded, because the user asked for it.
		share := least(math.Min(cautious.RoundUp(p.Bound, 3), 1-p.Share), about)
		promise = fmt.Sprintf("%s%s lie within %s.\n", lead, share, Promised(m, p))
		lead = same
	} else if p != nil {
		promise = fmt.Sprintf("No band is guaranteed to hold %s of the predictions: %s.\n",
			cautious.Complement(1-p.Share), p.Reason)
	}
	return promise + lead + Bound(m, c, about) + slicesOf(m, c) + caution
}

// Limits says how many of the rows are limits of detection, and how they count.
func Limits(n, rows int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("\n%d of %d rows say only on which side of a limit their target lies. The "+
		"prediction for such a row counts as a miss if it lies on the other side, farther from "+
		"the limit than the width, and else as none.", n, rows)
}

// CopiesOnly is a condition of the bound if krigo left rows out, or grouped them, because they
// equal one another.
const CopiesOnly = "\nRows that equal one another were taken for copies. The bound holds only if " +
	"they are copies, and not independent draws that came out alike."

// settled is what a certificate doesn't pay for if the table decided what its columns are.
const settled = "\nWhat the columns are was decided from the inputs of all rows, certified rows " +
	"among them, and never from targets. The bound holds as if it had been known before."

// saidShares are the shares of predictions whose widths a sentence lists, in the order of use.
// If the curve has no width for saidShare, the sentence says so.
var saidShares = []float64{saidShare, 0.9, 0.8, 0.99}

const saidShare = 0.95

// saidWidths is the largest number of widths in a sentence. The mean error takes one more line.
const saidWidths = 4

// everyWidth returns a table of what the curve of c promises, by width.
func everyWidth(m *model.Model, c *pacbayes.Certificate, about string) string {
	points, none := saidPoints(c)
	said := fmt.Sprintf("all of these hold together for predictions on further %s:", about)
	for _, p := range points {
		said += fmt.Sprintf("\n  at least %s lie within %s", cautious.Complement(p.Bound),
			narrow(m, c.Loss, p.HalfWidth, p.HalfWidthRaw))
	}
	return said + saidMean(m, c) +
		spelling.If(none < 1,
			"\nNo width is guaranteed to hold %s of the predictions or more: certify more rows.",
			cautious.Complement(1-none)) +
		spelling.If(c.Epsilon != unasked && c.MeanBound >= 1,
			"\nNothing is guaranteed about narrower bands, such as %s.",
			within(m, c.Loss, c.Epsilon, c.EpsilonRaw))
}

// saidMean returns a line about the mean of clipped errors.
// For all rows this mean is at most the clip. So only a bound that is clearly below the clip is
// worth a line.
func saidMean(m *model.Model, c *pacbayes.Certificate) string {
	e := c.Curve.MeanError
	if !(e.Bound < 0.999*e.Clip) {
		return ""
	}
	unit := ""
	raw := m.Terms.EpsilonRaw / m.Terms.Loss.Below
	switch c.Loss {
	case pacbayes.Relative:
		unit = " times " + cautious.Name(m.Target)
		raw = 1
	case pacbayes.Scaled:
		unit = ownSD
		raw = 1
	}
	errs := spelling.Either(m.Censored != "", "distance from "+known(m), "absolute error")
	clip := cautious.Least(e.Clip * raw)
	return fmt.Sprintf("\n  their mean %s is at most %s%s, with each error capped at %s", errs,
		cautious.Width(e.Bound*raw), unit, clip)
}

// unasked is the default ε, in standard deviations of the target. An ε of exactly 0.6 counts as not
// asked for, so that tables of widths and headlines don't name it.
const unasked = 0.6

// saidPoints returns up to saidWidths points of c's curve that a sentence lists, by width: what
// somebody asked for, then the shares of saidShares in their order, and the narrowest width if
// there are fewer than two points. none is the smallest share that no width holds, among the
// promised share and saidShares up to saidShare. It is 1 if all have a width.
func saidPoints(c *pacbayes.Certificate) (points []pacbayes.CurvePoint, none float64) {
	add := func(p pacbayes.CurvePoint) {
		same := func(q pacbayes.CurvePoint) bool { return q.HalfWidth == p.HalfWidth }
		if len(points) < saidWidths && !slices.ContainsFunc(points, same) {
			points = append(points, p)
		}
	}
	none = 1.
	if p := c.Promise; p != nil && p.HalfWidth > 0 {
		add(pacbayes.CurvePoint{HalfWidth: p.HalfWidth, HalfWidthRaw: p.HalfWidthRaw,
			Bound: p.Bound})
	} else if p != nil {
		none = p.Share
	}
	if c.MeanBound < 1 && c.Epsilon != unasked {
		add(pacbayes.CurvePoint{HalfWidth: c.Epsilon, HalfWidthRaw: c.EpsilonRaw,
			Bound: c.MeanBound})
	}
	for _, share := range saidShares {
		p, ok := c.Curve.Width(share)
		if ok {
			p.Bound = 1 - share
			add(p)
		} else if share <= saidShare {
			none = math.Min(none, share)
		}
	}
	if len(points) < 2 {
		add(c.Curve.Points[0])
	}
	slices.SortFunc(points, func(a, b pacbayes.CurvePoint) int {
		return cmp.Compare(a.HalfWidth, b.HalfWidth)
	})
	return points, none
}

// slicesOf returns a table of the kinds of rows that have their own bounds.
func slicesOf(m *model.Model, c *pacbayes.Certificate) string {
	if len(c.Slices) == 0 || !c.Valid {
		return ""
	}
	misses := spelling.Either(c.Loss == pacbayes.Label,
		"rows gets a wrong label",
		"predictions lies "+outside(m, c))
	said := fmt.Sprintf("\nWith the same confidence, for all these kinds of rows together, at "+
		"most this share of each kind's %s:", misses)
	if !slices.ContainsFunc(c.Slices, func(s pacbayes.Slice) bool { return s.Reason == "" }) {
		said = fmt.Sprintf("\nNo kind of rows has a bound, because each kind has fewer than %d "+
			"certified rows. The half of δ that --slices took is lost: certify more rows, or "+
			"leave --slices out.", pacbayes.MinRows)
	}
	for _, s := range c.Slices {
		which := cautious.Name(s.By) + " " + cautious.Name(s.Name)
		if s.Own() && s.From != nil {
			which += ", > " + cautious.Digits(*s.From, 6)
		}
		if s.Own() && s.To != nil {
			which += ", < " + cautious.Digits(*s.To, 6)
		}
		said += "\n  " + which + spelling.Either(s.Reason != "",
			": no bound, "+s.Reason,
			fmt.Sprintf(": %.1f %% (here %.1f %% of %d certified rows)",
				100*cautious.RoundUp(s.MeanBound, 3), 100*s.MeanRisk, s.Rows))
	}
	return said
}

// outside returns words for the place of misses, which is outside the band of c's loss.
func outside(m *model.Model, c *pacbayes.Certificate) string {
	if c.Loss == pacbayes.Asymmetric {
		return fmt.Sprintf("more than %s below or %s above %s", cautious.Width(c.EpsilonRaw),
			cautious.Width(c.EpsilonRaw*c.EpsilonAbove/c.Epsilon), known(m))
	}
	return "outside " + within(m, c.Loss, c.Epsilon, c.EpsilonRaw)
}

// ownSD is the unit of half-widths that follow the model's uncertainty.
const ownSD = " of the model's own standard deviations"

// backtest returns how the mean did on the last rows.
// It uses the past tense, since nothing follows for further rows.
func backtest(m *model.Model, c *pacbayes.Certificate) string {
	lead := fmt.Sprintf("This is a backtest, not a certificate. Of the predictions on the last "+
		"%d rows, which the model didn't see, ", c.Rows)
	held := spelling.Either(c.EmpiricalRisk > 0,
		cautious.Complement(cautious.RoundUp(c.EmpiricalRisk, 4)),
		"all") // a counted share may be 1, unlike a bound
	switch c.Loss {
	case pacbayes.Label:
		return fmt.Sprintf("%s got the right label of %s.", lead+held, cautious.Name(m.Target))
	case pacbayes.Band, pacbayes.Relative, pacbayes.Scaled:
		return fmt.Sprintf("%s lay within %s.", lead+held,
			within(m, c.Loss, c.Epsilon, c.EpsilonRaw))
	case pacbayes.Asymmetric:
		return fmt.Sprintf("%s lay at most %s below and %s above %s.", lead+held,
			cautious.Width(c.EpsilonRaw), cautious.Width(c.EpsilonRaw*c.EpsilonAbove/c.Epsilon),
			known(m))
	}
	mean, size, capped := graded(m, c, c.EmpiricalRisk)
	return fmt.Sprintf("This is a backtest, not a certificate. On the last %d rows, which the "+
		"model didn't see, the %s of predictions was %s%s.", c.Rows, mean, size, capped)
}

// Confidence returns the beginning of a statement that holds with probability 1−δ over the draw of
// the certified or fresh rows, or of groups of them if group names a column.
func Confidence(delta float64, which, group string) string {
	return fmt.Sprintf("With %s confidence (over the draw of the %s %s), ",
		cautious.Complement(delta), which, spelling.Either(group != "", "groups", "rows"))
}

// least returns "at least 94.5 % of predictions on further rows", for a bound b on the share of
// misses, about rows of this kind.
func least(b float64, about string) string {
	return fmt.Sprintf("at least %s of predictions on further %s", cautious.Complement(b), about)
}

// Promised returns the band of p in words.
func Promised(m *model.Model, p *pacbayes.Promise) string {
	return within(m, BandOf(p), p.HalfWidth, p.HalfWidthRaw)
}

// known returns what predictions are compared with: the target, or what is known of it.
func known(m *model.Model) string {
	if m.Censored != "" {
		return "what is known of " + cautious.Name(m.Target)
	}
	return m.Counted(cautious.Name(m.Target))
}

// narrow returns the band of a loss in words.
// width is the half-width in the loss's unit, raw in the target's unit.
func narrow(m *model.Model, loss pacbayes.Kind, width, raw float64) string {
	switch target := known(m); loss {
	case pacbayes.Relative:
		return fmt.Sprintf("±%s %% of %s", cautious.Width(100*width), target)
	case pacbayes.Scaled:
		return fmt.Sprintf("±%s%s of %s", cautious.Width(width), ownSD, target)
	default:
		return fmt.Sprintf("±%s of %s", cautious.Width(raw), target)
	}
}

// within returns the band of a loss in words, such as "±9.2 of MEDV (1 sd)". width is the
// half-width in the loss's unit, and raw in the target's unit. The parentheses have the half-width
// in standard deviations of the target, or in declared scales. They are left out if the band is
// relative, in the model's own standard deviations, or of another program's predictions.
func within(m *model.Model, loss pacbayes.Kind, width, raw float64) string {
	return narrow(m, loss, width, raw) +
		spelling.Either(loss == pacbayes.Relative || loss == pacbayes.Scaled, "", scaled(m, width))
}

// scaled returns widths in parentheses with their unit, which is standard deviations of the target
// or declared scales.
// It returns "" for predictions that another program made, since they have no scale.
func scaled(m *model.Model, widths ...float64) string {
	unit := "sd"
	switch {
	case m.Terms.Elsewhere:
		return ""
	case m.Terms.Scaling == dataset.Declared:
		unit = "declared scales"
	}
	texts := lists.Of(widths, cautious.Width)
	return fmt.Sprintf(" (%s %s)", strings.Join(texts, " and "), unit)
}

// Bound returns in words what c's bound on the mean prediction promises. If that bound is 1 it says
// so, and names the bound on a random draw instead, unless the route is direct, which has none.
// Shares are rounded up to a tenth of a percent.
func Bound(m *model.Model, c *pacbayes.Certificate, about string) string {
	share := least(cautious.RoundUp(c.MeanBound, 3), about)
	switch {
	case cautious.RoundUp(c.MeanBound, 3) >= 1 && c.Route == pacbayes.Direct:
		return fmt.Sprintf("the bound says nothing about predictions: it limits their expected "+
			"loss to %.3f.", cautious.RoundUp(c.MeanBound, 3))
	case cautious.RoundUp(c.MeanBound, 3) >= 1:
		return fmt.Sprintf("the bound says nothing about predictions: it is %.3f for a random "+
			"draw from the model.", cautious.RoundUp(c.Bound, 3))
	case c.Loss == pacbayes.Label:
		return fmt.Sprintf("at most %.1f %% of further %s get a wrong label of %s.",
			100*cautious.RoundUp(c.MeanBound, 3), about, cautious.Name(m.Target)) +
			spelling.If(c.Route != pacbayes.Direct,
				" It is at most %.1f %% if each label is the sign of a new random draw of the "+
					"model.", 100*cautious.RoundUp(c.Bound, 3))
	case c.Loss == pacbayes.Band, c.Loss == pacbayes.Relative, c.Loss == pacbayes.Scaled:
		return fmt.Sprintf("%s lie within %s.", share, within(m, c.Loss, c.Epsilon, c.EpsilonRaw))
	case c.Loss == pacbayes.Asymmetric:
		return fmt.Sprintf("%s lie at most %s below and %s above %s%s.", share,
			cautious.Width(c.EpsilonRaw), cautious.Width(c.EpsilonRaw*c.EpsilonAbove/c.Epsilon),
			known(m), scaled(m, c.Epsilon, c.EpsilonAbove))
	}
	mean, size, capped := graded(m, c, c.MeanBound)
	return fmt.Sprintf("the %s of predictions on further %s is at most %s%s.", mean, about, size,
		capped)
}

// graded names the mean of losses that c bounds, and writes it and the cap of each loss, for losses
// that aren't 0 or 1. risk is at most 1. The mean is rounded up and the cap down.
func graded(m *model.Model, c *pacbayes.Certificate, risk float64) (mean, size, capped string) {
	of := spelling.Either(m.Censored != "", "distance from "+known(m), "error")
	switch c.Loss {
	case pacbayes.ClippedSquare:
		return "root mean squared " + of, cautious.Width(c.EpsilonRaw * math.Sqrt(risk)),
			fmt.Sprintf(", with each error capped at %s of %s", cautious.Least(c.EpsilonRaw),
				m.Counted(cautious.Name(m.Target)))
	case pacbayes.ClippedAbsolute:
		return "mean relative " + of, cautious.PercentUp(risk), ", with each error capped at 100 %"
	case pacbayes.LogDensity:
		of := pacbayes.Loss{Below: c.Epsilon}
		return "mean negative log density",
			fmt.Sprintf("%.3f nats", math.Ceil(1000*of.NegativeLog(risk))/1000),
			fmt.Sprintf(", with each row's capped at %s nats. The density is of %s in %s: the "+
				"normal density with the predicted mean and standard deviation",
				cautious.Least(of.NegativeLog(1)), known(m),
				spelling.Either(m.Terms.Scaling == dataset.Declared, "declared scales",
					"standard deviations"))
	}
	return fmt.Sprintf("mean %s loss", c.Loss), fmt.Sprintf("%.3f", cautious.RoundUp(risk, 3)),
		fmt.Sprintf(" (ε = %s)", cautious.Width(c.EpsilonRaw))
}

// BandOf returns the loss that gives the unit of a promise's band.
func BandOf(p *pacbayes.Promise) pacbayes.Kind {
	switch {
	case p.Relative:
		return pacbayes.Relative
	case p.Scaled:
		return pacbayes.Scaled
	}
	return pacbayes.Band
}
