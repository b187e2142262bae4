package krigo

import (
	"fmt"
	"strings"

	"github.com/krigo-gp/krigo/internal/cautious"
	"github.com/krigo-gp/krigo/pacbayes"
)

// Headline returns the promise of c in one sentence, for places that have no room for all of Sentence. Of a curve it
// names one width (see pacbayes.Certificate.Foremost).
func (m *Model) Headline(c *pacbayes.Certificate) string {
	if !c.Valid {
		return m.Sentence(c)
	}
	if c.Curve == nil || len(c.Curve.Points) == 0 {
		first, _, _ := strings.Cut(m.Sentence(c), "\n")
		return first
	}
	p := c.Foremost()
	band := strings.TrimSuffix(within(m, c.Loss, p.HalfWidth, p.HalfWidthRaw), scaled(m, p.HalfWidth))
	return fmt.Sprintf("With %s confidence, %s lie within %s.", cautious.Complement(c.Delta),
		least(p.Bound, m.Population().Says), band)
}
