package report

import (
	"fmt"
	"math"

	"github.com/krigo-gp/krigo/internal/cautious"
	"github.com/krigo-gp/krigo/internal/drawing"
	"github.com/krigo-gp/krigo/pacbayes"
)

// widthUnit returns the unit of the certificate's half-widths.
func (r *maker) widthUnit() string {
	switch r.m.Terms.Loss.Kind {
	case pacbayes.Relative:
		return "share of " + r.target
	case pacbayes.Scaled:
		return "the model's own standard deviations"
	}
	return r.target
}

// drawWidths draws the guaranteed share by half-width, and above it the share that was observed.
func (r *maker) drawWidths() error {
	c := r.certified
	if c == nil || !c.Valid || c.Curve == nil || len(c.Curve.Points) == 0 {
		return nil
	}
	chart := drawing.NewChart("half-width, "+r.widthUnit(), "share of predictions within")
	chart.Y.Span(0, 1)
	widest := 0.
	var sure, seen []drawing.XY
	for _, at := range c.Curve.Points {
		sure = append(sure, drawing.XY{X: at.HalfWidthRaw, Y: 1 - at.Bound})
		seen = append(seen, drawing.XY{X: at.HalfWidthRaw, Y: 1 - float64(at.Misses)/float64(c.Rows)})
		widest = max(widest, at.HalfWidthRaw)
	}
	if _, high, ok := drawing.Widened(0, widest); ok {
		chart.X.Span(0, high)
	}
	chart.Line("of the certified rows", drawing.Blue, drawing.Stairs(seen))
	chart.Line("guaranteed, all at once", drawing.Green, drawing.Stairs(sure))
	f := Figure{Title: "Every width at once", Head: []string{"share", "half-width, " + r.widthUnit()},
		Caption: fmt.Sprintf("The lower line is guaranteed with %s confidence, for all widths at once: at least this share of "+
			"predictions on further rows lies within ± the width.", cautious.Complement(c.Delta))}
	first := c.Curve.Points[0]
	f.Caption += fmt.Sprintf(" The curve begins at ±%s, and says nothing about narrower bands.",
		cautious.Width(first.HalfWidthRaw))
	words := ""
	for _, share := range []float64{0.5, 0.8, 0.9, 0.95, 0.99} {
		if at, ok := c.Curve.Width(share); ok && at.HalfWidth > first.HalfWidth {
			f.Cells = append(f.Cells, []string{cautious.Complement(1 - share), "±" + cautious.Width(at.HalfWidthRaw)})
			words += fmt.Sprintf(" %s within ±%s;", cautious.Complement(1-share), cautious.Width(at.HalfWidthRaw))
		}
	}
	if words == "" {
		f.Head, words = nil, " no share of a half or more;"
	}
	return r.draw(f, described{chart, "Guaranteed share of predictions by half-width:" + words[:len(words)-1] + "."})
}

// drawKinds draws the bounds of kinds of rows.
func (r *maker) drawKinds() error {
	c := r.certified
	if c == nil || !c.Valid || len(c.Slices) == 0 {
		return nil
	}
	chart := drawing.NewChart("share of misses", "")
	var seen, bound []drawing.XY
	var between [][2]drawing.XY
	f := Figure{Title: "Kinds of rows", Head: []string{"kind", "certified rows", "misses", "at most"},
		Caption: "Dots: the share of certified rows that miss. Triangles: at most this share of further rows of the kind " +
			"misses, with the certificate's confidence, for all kinds at once."}
	for k, s := range c.Slices {
		name := cautious.Name(s.By) + " " + cautious.Name(s.Name)
		at := float64(k)
		chart.Y.Names = append(chart.Y.Names, name)
		cells := []string{name, whole(s.Rows), fmt.Sprintf("%.2f %%", 100*s.MeanRisk),
			fmt.Sprintf("%.2f %%", 100*cautious.RoundUp(s.MeanBound, 4))}
		if s.Reason != "" {
			cells[2], cells[3] = "–", s.Reason
		} else {
			seen, bound = append(seen, drawing.XY{X: s.MeanRisk, Y: at}), append(bound, drawing.XY{X: s.MeanBound, Y: at})
			between = append(between, [2]drawing.XY{{X: s.MeanRisk, Y: at}, {X: s.MeanBound, Y: at}})
		}
		f.Cells = append(f.Cells, cells)
	}
	chart.X.Span(0, 1)
	if most := highest(bound); most > 0 && most < 1 {
		chart.X.Span(0, min(1, 1.05*most))
	}
	chart.Segments("", drawing.Grey, between)
	chart.Dots("certified rows", drawing.Blue, seen)
	chart.Triangles("guaranteed: at most", drawing.Green, bound)
	return r.draw(f, described{chart, fmt.Sprintf("Misses of %d kinds of rows, with upper bounds of at most %.2f %%. "+
		"The table has the numbers.", len(c.Slices), 100*cautious.RoundUp(max(0, highest(bound)), 4))})
}

func highest(pts []drawing.XY) float64 {
	most := math.Inf(-1)
	for _, p := range pts {
		most = max(most, p.X)
	}
	return most
}
