package krigo

import (
	"fmt"
	"math"
	"strconv"

	"github.com/krigo-gp/krigo/pacbayes"
)

// Sentence says in words what a certificate of the model promises about its predictions, in
// a line, or in two where a band was asked for. Every number is rounded to the cautious side:
// what is promised must hold.
func Sentence(m *Model, c *Certificate) string {
	lead := fmt.Sprintf("With %s confidence, ", Confidence(c.Delta))
	if !c.Valid {
		lead = "Not a certificate but a " + c.Label + ":\n"
	}
	least := func(b float64) string {
		return fmt.Sprintf("at least %.4g %% of predictions on further rows of this kind", 100*(1-b))
	}
	promise := ""
	if p := c.Promise; p != nil && p.HalfWidth > 0 {
		within := fmt.Sprintf("±%s of %s (%.3g sd)", width(p.HalfWidthRaw), m.Target, p.HalfWidth)
		if p.Relative {
			within = fmt.Sprintf("±%s %% of %s", width(100*p.HalfWidth), m.Target)
		}
		// The share itself isn't rounded: it was asked for.
		promise = fmt.Sprintf("%s%s lie within %s.\n", lead, least(math.Min(RoundUp(p.Bound, 3), 1-p.Share)), within)
		lead = "With the same confidence, "
	} else if p != nil {
		promise = fmt.Sprintf("No band can be guaranteed to hold %.4g %% of the predictions: %s.\n", 100*p.Share, p.Reason)
	}
	lead = promise + lead
	switch {
	case c.MeanBound >= 1:
		return fmt.Sprintf("%sthe bound says nothing about predictions: it is %.3f for a random draw from the model.", lead, RoundUp(c.Bound, 3))
	case c.Loss == pacbayes.Band:
		return fmt.Sprintf("%s%s lie within ±%s of %s (%.3g sd).", lead, least(RoundUp(c.MeanBound, 3)), width(c.EpsilonRaw), m.Target, c.Epsilon)
	case c.Loss == pacbayes.Relative:
		return fmt.Sprintf("%s%s lie within ±%s %% of %s.", lead, least(RoundUp(c.MeanBound, 3)), width(100*c.Epsilon), m.Target)
	case c.Loss == pacbayes.Asymmetric:
		return fmt.Sprintf("%s%s lie at most %.3g sd below and %.3g sd above %s.", lead, least(RoundUp(c.MeanBound, 3)), c.Epsilon, c.EpsilonAbove, m.Target)
	}
	unit := ""
	if c.Loss != pacbayes.ClippedAbsolute {
		unit = fmt.Sprintf(" (ε = %.4g)", c.EpsilonRaw)
	}
	return fmt.Sprintf("%sthe expected %s loss of predictions on further rows of this kind is at most %.3f%s.", lead, c.Loss, RoundUp(c.MeanBound, 3), unit)
}

// RoundUp rounds a bound on a risk up to so many decimals, at most 1.
func RoundUp(b float64, decimals int) float64 {
	unit := math.Pow10(decimals)
	return min((math.Floor(b*unit)+1)/unit, 1)
}

// Confidence writes 1−δ in per cent, rounded down: to two decimals, or as many as it takes for
// 99.9999 % not to become 99.99 %.
func Confidence(delta float64) string {
	share := 100 - 100*delta
	for decimals := 2; ; decimals++ {
		unit := math.Pow10(decimals)
		down := math.Floor(share*unit+1e-9) / unit
		if 100-down <= 1.1*100*delta || decimals == 12 {
			return strconv.FormatFloat(down, 'f', -1, 64) + " %"
		}
	}
}

// width writes the half-width of a band to four digits, rounded up but for what rounding in
// float64 may have added to it.
func width(w float64) string {
	unit := math.Pow(10, 3-math.Floor(math.Log10(w)))
	return fmt.Sprintf("%.4g", math.Ceil(w*unit*(1-1e-12))/unit)
}
