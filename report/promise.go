package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/krigo-gp/krigo/internal/cautious"
	"github.com/krigo-gp/krigo/internal/drawing"
	"github.com/krigo-gp/krigo/internal/lists"
	"github.com/krigo-gp/krigo/model"
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

// mostPromised is the largest number of widths in the table of the promise.
const mostPromised = 5

const promise = "The promise"

// predictor is the model, or a simple predictor that it is compared with on the certified rows.
type predictor struct {
	name string
	model.Baseline
}

// rivals returns the simple predictors that are known.
func (r *maker) rivals() []predictor {
	x := r.context
	if x == nil {
		return nil
	}
	constant := "constant " + number(x.Constant.Value)
	if classes := r.m.Classes; classes != nil {
		constant = "always " + cautious.Name(classes[int(x.Constant.Value)])
	}
	return lists.If([]predictor{{"linear model", x.Linear}, {constant, x.Constant.Baseline}},
		func(of predictor) bool { return of.Baseline != (model.Baseline{}) })
}

// drawPromise draws the guaranteed share by half-width, and behind it the share that was observed and the shares that
// the same rows guarantee for simple predictors.
func (r *maker) drawPromise() error {
	c := r.certified
	if c == nil || !c.Valid || c.Curve == nil || len(c.Curve.Points) == 0 {
		return nil
	}
	all := append([]predictor{{"this model", model.Baseline{Curve: c.Curve}}},
		lists.If(r.rivals(), func(of predictor) bool { return of.Curve != nil })...)
	named := c.Foremost()
	share := 1 - named.Bound
	chart := drawing.NewChart("half-width, "+r.widthUnit(), "share of predictions within")
	chart.Y.Ticks = drawing.PercentTicks
	if chart.Y.Span(0, 1); c.Curve.Points[0].Bound < 0.5 {
		chart.Y.Span(0.5, 1)
	}
	widest := c.Curve.Points[len(c.Curve.Points)-1].HalfWidthRaw
	for _, of := range all {
		at, _ := of.Curve.Width(share)
		widest = max(widest, at.HalfWidthRaw)
	}
	_, widest, ok := drawing.Widened(0, 1.03*widest)
	if !ok {
		return drawing.ErrRange
	}
	chart.X.Span(0, widest)
	stairs := func(of *pacbayes.Curve, share func(p pacbayes.CurvePoint) float64) []drawing.XY {
		at := []drawing.XY{{X: of.Points[0].HalfWidthRaw}}
		for _, p := range of.Points {
			at = append(at, drawing.XY{X: p.HalfWidthRaw, Y: share(p)})
		}
		return drawing.Stairs(append(at, drawing.XY{X: widest, Y: at[len(at)-1].Y}))
	}
	guaranteed := func(p pacbayes.CurvePoint) float64 { return 1 - p.Bound }
	chart.Line("this model, guaranteed", drawing.Green, nil) // the first in the legend, and drawn last
	chart.Line("as seen", drawing.Blue, stairs(c.Curve,
		func(p pacbayes.CurvePoint) float64 { return 1 - float64(p.Misses)/float64(c.Rows) }))
	chart.Thin("", []drawing.XY{{X: 0, Y: share}, {X: widest, Y: share}})
	for i, of := range all[1:] {
		draw := chart.Dashed
		if i == 0 {
			draw = func(label string, pts []drawing.XY) { chart.Line(label, drawing.Grey, pts) }
		}
		draw(of.name, stairs(of.Curve, guaranteed))
	}
	chart.Line("", drawing.Green, stairs(c.Curve, guaranteed))
	note := cautious.Complement(named.Bound) + " within "
	for i, of := range all {
		colour := drawing.Grey
		if i == 0 {
			colour = drawing.Green
		}
		if at, ok := of.Curve.Width(share); ok {
			dot := drawing.XY{X: at.HalfWidthRaw, Y: share}
			chart.Dots("", colour, []drawing.XY{dot})
			chart.Note(note+"±"+cautious.Width(dot.X), colour, dot, i+1)
		}
		note = ""
	}
	f := Figure{Title: promise, Head: []string{"at least", "within"}}
	words := ""
	for _, p := range listed(c) {
		cells := []string{cautious.Complement(p.Bound), "±" + cautious.Width(p.HalfWidthRaw)}
		words += fmt.Sprintf(" at least %s within %s;", cells[0], cells[1])
		for _, of := range all[1:] {
			at, _ := of.Curve.Width(1 - p.Bound)
			cells = append(cells, "±"+cautious.Width(at.HalfWidthRaw))
		}
		f.Cells = append(f.Cells, cells)
	}
	f.Caption = fmt.Sprintf("Guaranteed with %s confidence at all widths at once, for predictions on further %s. ",
		cautious.Complement(c.Delta), r.m.Population().Says)
	if len(all) > 1 {
		f.Head = append(f.Head, lists.Of(all[1:], func(of predictor) string { return of.name })...)
		f.Caption += "Grey: what the same rows guarantee for simple predictors; each curve holds by itself. "
	}
	f.Caption += fmt.Sprintf("Nothing is guaranteed about bands narrower than ±%s.",
		cautious.Width(c.Curve.Points[0].HalfWidthRaw))
	return r.draw(f, described{chart, "Guaranteed shares of predictions:" + words[:len(words)-1] + "."})
}

// listed returns the points of c's curve that the table has, by width: those of usual shares, the promised one, and
// while there is room the declared ε and the narrowest width.
func listed(c *pacbayes.Certificate) (points []pacbayes.CurvePoint) {
	add := func(p pacbayes.CurvePoint, ok bool) {
		if ok && len(points) < mostPromised && !slices.ContainsFunc(points, func(other pacbayes.CurvePoint) bool {
			return other.HalfWidth == p.HalfWidth
		}) {
			points = append(points, p)
		}
	}
	add(c.Foremost(), true)
	for _, share := range []float64{0.95, 0.8, 0.99} {
		p, ok := c.Curve.Width(share)
		p.Bound = 1 - share
		add(p, ok && p.HalfWidth > c.Curve.Points[0].HalfWidth)
	}
	add(pacbayes.CurvePoint{HalfWidth: c.Epsilon, HalfWidthRaw: c.EpsilonRaw, Bound: c.MeanBound}, c.MeanBound < 1)
	add(c.Curve.Points[0], true)
	slices.SortFunc(points, func(a, b pacbayes.CurvePoint) int { return cmp.Compare(a.HalfWidth, b.HalfWidth) })
	return points
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
