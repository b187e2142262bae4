package krigo

import (
	"fmt"

	"github.com/krigo-gp/krigo/pacbayes"
)

// Sentence says in words what a certificate of the model promises about its predictions, in
// a line, or in two where a band was asked for. Shares are rounded to the cautious side: what
// is promised must hold.
func Sentence(m *Model, c *Certificate) string {
	lead := fmt.Sprintf("With %.4g %% confidence, ", 100*(1-c.Delta))
	if !c.Valid {
		lead = "Not a certificate but a " + c.Label + ":\n"
	}
	least := func(b float64) string {
		return fmt.Sprintf("at least %.1f %% of predictions on further rows of this kind", 100*(1-RoundUp(b)))
	}
	promise := ""
	if p := c.Promise; p != nil && p.HalfWidth > 0 {
		within := fmt.Sprintf("±%.4g of %s (%.3g sd)", p.HalfWidthRaw, m.Target, p.HalfWidth)
		if p.Relative {
			within = fmt.Sprintf("±%.3g %% of %s", 100*p.HalfWidth, m.Target)
		}
		promise = fmt.Sprintf("%s%s lie within %s.\n", lead, least(p.Bound), within)
		lead = "With the same confidence, "
	} else if p != nil {
		promise = fmt.Sprintf("No band holds %.4g %% of the predictions: %s.\n", 100*p.Share, p.Reason)
	}
	lead = promise + lead
	switch {
	case c.MeanBound >= 1:
		return fmt.Sprintf("%sthe bound says nothing about predictions: it is %.3f for a random draw from the model.", lead, RoundUp(c.Bound))
	case c.Loss == pacbayes.Band:
		return fmt.Sprintf("%s%s lie within ±%.4g of %s (%.3g sd).", lead, least(c.MeanBound), c.EpsilonRaw, m.Target, c.Epsilon)
	case c.Loss == pacbayes.Relative:
		return fmt.Sprintf("%s%s lie within ±%.4g %% of %s.", lead, least(c.MeanBound), 100*c.Epsilon, m.Target)
	case c.Loss == pacbayes.Asymmetric:
		return fmt.Sprintf("%s%s lie at most %.3g sd below and %.3g sd above %s.", lead, least(c.MeanBound), c.Epsilon, c.EpsilonAbove, m.Target)
	}
	width := ""
	if c.Loss != pacbayes.ClippedAbsolute {
		width = fmt.Sprintf(" (ε = %.4g)", c.EpsilonRaw)
	}
	return fmt.Sprintf("%sthe expected %s loss of predictions on further rows of this kind is at most %.3f%s.", lead, c.Loss, RoundUp(c.MeanBound), width)
}

// RoundUp rounds a bound on a risk up to three decimals, at most 1.
func RoundUp(b float64) float64 { return min(float64(int(b*1000)+1)/1000, 1) }
