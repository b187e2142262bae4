package say

import (
	"fmt"

	"github.com/krigo-gp/krigo/internal/cautious"
	"github.com/krigo-gp/krigo/internal/lists"
	"github.com/krigo-gp/krigo/internal/spelling"
	"github.com/krigo-gp/krigo/model"
	"github.com/krigo-gp/krigo/pacbayes"
)

// Targets says in words what holds for all targets together.
// The sentences of the models' certificates hold with it, at the confidence that the first
// paragraph states.
func Targets(t *model.Several) string {
	if len(t.Models) == 1 {
		return ""
	}
	first := t.Models[0]
	c := t.Together.Certificate
	names := make([]string, len(t.Models))
	certified := 0
	for i, m := range t.Models {
		names[i] = cautious.Name(m.Target)
		if c := m.Certificate; c != nil && c.Valid {
			certified++
		}
	}
	all := spelling.Listed(names, "and")
	if first.Kinds != nil && c != nil {
		return kinds(t)
	}
	said := fmt.Sprintf("%sall of these hold together: the certificate of each target below, "+
		"whose δ is %g/%d", Confidence(t.Together.Delta, "certified", first.Group),
		t.Together.Delta, t.Together.Parts)
	switch {
	case c == nil && certified == 0:
		return fmt.Sprintf("Nothing is certified of the targets %s together, nor of any of them: "+
			"%s.", all, t.Together.Reason)
	case c == nil:
		return fmt.Sprintf("%s. Nothing is certified of %s at once: %s.", said, all,
			t.Together.Reason)
	}
	said += ", and for all targets at once, of predictions on further " + t.Population() +
		" that have " + all + ":"
	// The sentence has a line for each of these widths: a curve's, or the declared ε and the
	// promise.
	points := []pacbayes.CurvePoint{{HalfWidth: c.Epsilon, Bound: c.MeanBound}}
	if c.Curve != nil && len(c.Curve.Points) > 0 {
		points, _ = saidPoints(c)
	} else if p := c.Promise; p != nil && p.HalfWidth > 0 {
		points = append(points, pacbayes.CurvePoint{HalfWidth: p.HalfWidth,
			Bound: min(p.Bound, 1-p.Share)})
	}
	last := ""
	for _, p := range points {
		bands := lists.To(len(t.Models), func(i int) string {
			m := t.Models[i]
			// A width of all targets together is a width of the first target, and of each other
			// target in proportion to the declared widths.
			own := p.HalfWidth * m.Terms.Loss.Below / first.Terms.Loss.Below
			return within(m, c.Loss, own, p.HalfWidth*t.Together.Units[i])
		})
		if p.Bound < 1 {
			line := fmt.Sprintf("\n  at least %s lie within %s, all at once",
				cautious.Complement(p.Bound), spelling.Listed(bands, "and"))
			if line != last {
				said += line
			}
			last = line
		}
	}
	if last == "" {
		said += "\n  nothing, since the bound on the share of rows that miss is 1"
	}
	return said + fmt.Sprintf("\nA row counts as missed if any target misses. %d certified rows "+
		"have all targets.", c.Rows)
}

// kinds says what holds for the labels, and for each class against the others.
func kinds(t *model.Several) string {
	first := t.Models[0]
	c := t.Together.Certificate
	column := cautious.Name(first.Kinds.Column)
	said := Confidence(t.Together.Delta, "certified", first.Group)
	before := "all of these hold together:\n  "
	after := ""
	if t.Together.Parts == 1 {
		before = ""
		after = "\nEach of these holds by itself at that confidence, not together with another:"
	}
	said += before + fmt.Sprintf("at most %s of further %s get a wrong label of %s; it is %s on "+
		"the %d certified rows", cautious.PercentUp(c.MeanBound), t.Population(), column,
		cautious.Percent(c.EmpiricalRisk), c.Rows) + after
	for i, m := range t.Models {
		if own := m.Certificate; own != nil && own.Valid {
			said += fmt.Sprintf("\n  for at most %s it is wrong whether they are of the class %s",
				cautious.PercentUp(own.MeanBound), cautious.Name(first.Kinds.Labels[i]))
		}
	}
	return said
}
