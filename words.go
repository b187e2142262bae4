package krigo

import (
	"fmt"

	"github.com/krigo-gp/krigo/pacbayes"
)

// Sentence says in words what a certificate of the model promises about its predictions.
// Shares are rounded to the cautious side: what is promised must hold.
func Sentence(m *Model, c *Certificate) string {
	lead := fmt.Sprintf("With %.4g %% confidence, ", 100*(1-c.Delta))
	if !c.Valid {
		lead = "Not a certificate but a " + c.Label + ":\n"
	}
	share := fmt.Sprintf("at most %.1f %% of predictions on further rows of this kind", 100*RoundUp(c.MeanBound))
	switch {
	case c.MeanBound >= 1:
		return fmt.Sprintf("%sthe bound says nothing about predictions: it is %.3f for a random draw from the model.", lead, RoundUp(c.Bound))
	case c.Loss == pacbayes.Band:
		return fmt.Sprintf("%s%s miss %s by more than %.4g (%.3g sd).", lead, share, m.Target, c.EpsilonRaw, c.Epsilon)
	case c.Loss == pacbayes.Relative:
		return fmt.Sprintf("%s%s miss %s by more than %.4g %% of it.", lead, share, m.Target, 100*c.Epsilon)
	case c.Loss == pacbayes.Asymmetric:
		return fmt.Sprintf("%s%s lie more than %.3g sd below or %.3g sd above %s.", lead, share, c.Epsilon, c.EpsilonAbove, m.Target)
	}
	width := ""
	if c.Loss != pacbayes.ClippedAbsolute {
		width = fmt.Sprintf(" (ε = %.4g)", c.EpsilonRaw)
	}
	return fmt.Sprintf("%sthe expected %s loss of predictions on further rows of this kind is at most %.3f%s.", lead, c.Loss, RoundUp(c.MeanBound), width)
}

// RoundUp rounds a bound on a risk up to three decimals, at most 1.
func RoundUp(b float64) float64 { return min(float64(int(b*1000)+1)/1000, 1) }
