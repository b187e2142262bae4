package say

import (
	"fmt"
	"strings"

	"github.com/krigo-gp/krigo/internal/cautious"
	"github.com/krigo-gp/krigo/model"
	"github.com/krigo-gp/krigo/pacbayes"
)

// Headline returns the promise of c in one sentence, for places that have no room for all of
// Sentence. Of a curve it names one width (see Foremost).
func Headline(m *model.Model, c *pacbayes.Certificate) string {
	if !c.Valid {
		return Sentence(m, c)
	}
	if c.Curve == nil || len(c.Curve.Points) == 0 {
		first, _, _ := strings.Cut(Sentence(m, c), "\n")
		return first
	}
	p := Foremost(c)
	return fmt.Sprintf("With %s confidence, %s lie within %s.", cautious.Complement(c.Delta),
		least(p.Bound, m.Population().Says), narrow(m, c.Loss, p.HalfWidth, p.HalfWidthRaw))
}

// Foremost returns the point of c's curve that a headline names. If a share was promised, it is the
// width that holds this share. Else, if an ε other than the default has a bound below 1, it is that
// ε. Else it is the width that holds nine predictions in ten, or the curve's last point if no width
// does.
func Foremost(c *pacbayes.Certificate) pacbayes.CurvePoint {
	share := 0.9
	if c.Promise != nil {
		share = c.Promise.Share
	} else if c.MeanBound < 1 && c.Epsilon != unasked {
		return pacbayes.CurvePoint{HalfWidth: c.Epsilon, HalfWidthRaw: c.EpsilonRaw,
			Bound: c.MeanBound}
	}
	p, ok := c.Curve.Width(share)
	if !ok {
		return c.Curve.Points[len(c.Curve.Points)-1]
	}
	p.Bound = 1 - share
	return p
}

// Widths returns the points of c's curve that Sentence lists, by width.
func Widths(c *pacbayes.Certificate) []pacbayes.CurvePoint {
	points, _ := saidPoints(c)
	return points
}
