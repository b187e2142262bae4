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
	lead := fmt.Sprintf("With %s confidence, ", Complement(c.Delta))
	if !c.Valid {
		lead = "Not a certificate but a " + c.Label + ":\n"
	}
	same := lead
	if c.Valid {
		same = "With the same confidence, "
	} else if c.Promise != nil {
		same = ""
	}
	least := func(b float64) string {
		return fmt.Sprintf("at least %s of predictions on further rows of this kind", Complement(b))
	}
	caution := ""
	if c.Repeats*100 >= c.Rows && c.Repeats > 0 {
		caution = fmt.Sprintf("\nThis holds only if rows that equal another one, %d of them, are independent draws and not copies.", c.Repeats)
	}
	promise := ""
	if p := c.Promise; p != nil && p.HalfWidth > 0 {
		within := fmt.Sprintf("±%s of %s (%s sd)", width(p.HalfWidthRaw), m.Target, width(p.HalfWidth))
		if p.Relative {
			within = fmt.Sprintf("±%s %% of %s", width(100*p.HalfWidth), m.Target)
		}
		// The share itself isn't rounded: it was asked for.
		share := least(math.Min(RoundUp(p.Bound, 3), 1-p.Share))
		promise = fmt.Sprintf("%s%s lie within %s.\n", lead, share, within)
		lead = same
	} else if p != nil {
		promise = fmt.Sprintf("No band can be guaranteed to hold %s of the predictions: %s.\n", Complement(1-p.Share), p.Reason)
	}
	return promise + lead + bound(m, c, least) + caution
}

// bound says what the bound on the mean promises.
func bound(m *Model, c *Certificate, least func(float64) string) string {
	switch {
	case RoundUp(c.MeanBound, 3) >= 1:
		return fmt.Sprintf("the bound says nothing about predictions: it is %.3f for a random draw from the model.", RoundUp(c.Bound, 3))
	case c.Loss == pacbayes.Band:
		return fmt.Sprintf("%s lie within ±%s of %s (%s sd).", least(RoundUp(c.MeanBound, 3)), width(c.EpsilonRaw), m.Target, width(c.Epsilon))
	case c.Loss == pacbayes.Relative:
		return fmt.Sprintf("%s lie within ±%s %% of %s.", least(RoundUp(c.MeanBound, 3)), width(100*c.Epsilon), m.Target)
	case c.Loss == pacbayes.Asymmetric:
		return fmt.Sprintf("%s lie at most %s below and %s above %s (%s and %s sd).", least(RoundUp(c.MeanBound, 3)),
			width(c.EpsilonRaw), width(c.EpsilonRaw*c.EpsilonAbove/c.Epsilon), m.Target, width(c.Epsilon), width(c.EpsilonAbove))
	}
	unit := ""
	if c.Loss != pacbayes.ClippedAbsolute {
		unit = fmt.Sprintf(" (ε = %s)", width(c.EpsilonRaw))
	}
	return fmt.Sprintf("the expected %s loss of predictions on further rows of this kind is at most %.3f%s.", c.Loss, RoundUp(c.MeanBound, 3), unit)
}

// RoundUp rounds a bound on a risk up to so many decimals, at most 1.
func RoundUp(b float64, decimals int) float64 {
	unit := math.Pow10(decimals)
	return min((math.Floor(b*unit)+1)/unit, 1)
}

// Complement writes 1−p in per cent, rounded down: to two decimals, or as many as it takes for
// 99.9999 % not to become 99.99 %.
func Complement(p float64) string {
	share := 100 - 100*p
	for decimals := 2; ; decimals++ {
		unit := math.Pow10(decimals)
		down := math.Floor(share*unit*(1+1e-15)+min(1e-9, 100*p)) / unit
		if decimals > 13 { // p is about that of rounding
			return fmt.Sprintf("100·(1 − %g) %%", p)
		}
		if down < 100 && 100-down <= 1.1*100*p {
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
