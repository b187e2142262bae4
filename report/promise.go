package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/krigo-gp/krigo"
	"github.com/krigo-gp/krigo/internal/cautious"
	"github.com/krigo-gp/krigo/internal/drawing"
	"github.com/krigo-gp/krigo/internal/lists"
	"github.com/krigo-gp/krigo/internal/spelling"
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

const promise = "The promise"

// predictor is a simple predictor that the model is compared with on the certified rows.
type predictor struct {
	name string
	model.Baseline
}

// rivals returns the simple predictors that are known.
func (r *maker) rivals() []predictor {
	if r.context == nil {
		return nil
	}
	of := *r.m
	of.Context = r.context
	names, scores := of.Simpler()
	all := lists.To(len(names), func(i int) predictor { return predictor{names[i], scores[i]} })
	slices.Reverse(all) // the linear model first, since it is nearer to the model
	return all
}

// drawPromise draws the guaranteed share by half-width, and behind it the share that was observed
// and the shares that the same rows guarantee for simple predictors.
func (r *maker) drawPromise() error {
	c := r.certified
	if c == nil || !c.Valid || c.Curve == nil || len(c.Curve.Points) == 0 {
		return nil
	}
	rivals := lists.If(r.rivals(), func(of predictor) bool {
		return of.Curve != nil && len(of.Curve.Points) > 0
	})
	// The widths at which krigo and its rivals guarantee the share that the headline names.
	named := krigo.Foremost(c)
	share := 1 - named.Bound
	dots := []drawing.XY{{X: named.HalfWidthRaw, Y: share}}
	widest := c.Curve.Points[len(c.Curve.Points)-1].HalfWidthRaw
	for _, of := range rivals {
		dots = append(dots, drawing.XY{X: of.width(named.Bound), Y: share})
		widest = max(widest, of.width(named.Bound))
	}
	_, widest, ok := drawing.Widened(0, 1.03*widest)
	if !ok {
		return drawing.ErrRange
	}
	chart := drawing.NewChart("half-width, "+r.widthUnit(), "share of predictions within")
	chart.X.Span(0, widest)
	chart.Y.Ticks = drawing.PercentTicks
	if chart.Y.Span(0, 1); c.Curve.Points[0].Bound < 0.5 {
		chart.Y.Span(0.5, 1)
	}
	guaranteed := func(p pacbayes.CurvePoint) float64 { return 1 - p.Bound }
	chart.Line("krigo, guaranteed", drawing.Green, nil) // the first in the legend, and drawn last
	chart.Line("krigo, on the certified rows", drawing.Blue, stairs(c.Curve, widest,
		func(p pacbayes.CurvePoint) float64 { return 1 - float64(p.Misses)/float64(c.Rows) }))
	chart.Thin("", []drawing.XY{{X: 0, Y: share}, {X: widest, Y: share}})
	for i, of := range rivals {
		if line := stairs(of.Curve, widest, guaranteed); i == 0 {
			chart.Line(of.name+", guaranteed", drawing.Grey, line)
		} else {
			chart.Dashed(of.name+", guaranteed", line)
		}
	}
	// Between two points of the curve the guarantee of the narrower holds, so that curves are
	// stairs.
	chart.Line("", drawing.Green, stairs(c.Curve, widest, guaranteed))
	chart.Dots("", drawing.Grey, dots[1:])
	chart.Dots("", drawing.Green, dots[:1])
	chart.Note(cautious.Complement(named.Bound)+" within ±"+cautious.Width(dots[0].X),
		drawing.Green, dots[0])
	for _, at := range dots[1:] {
		chart.Note("±"+cautious.Width(at.X), drawing.Grey, at)
	}
	f := Figure{Title: promise, Caption: fmt.Sprintf("Guaranteed with %s confidence at all "+
		"widths at once, for predictions on further %s. ", cautious.Complement(c.Delta),
		r.m.Population().Says)}
	f.Caption += spelling.If(len(rivals) > 0,
		"Grey: what the same rows guarantee for simple predictors; each curve holds by itself. ")
	f.Caption += fmt.Sprintf("Nothing is guaranteed about bands narrower than ±%s.",
		cautious.Width(c.Curve.Points[0].HalfWidthRaw))
	words := f.list(krigo.Widths(c), rivals)
	return r.draw(f, described{chart, "Guaranteed shares of predictions:" + words + "."})
}

// list fills the figure's table with points of the model's curve, and with the widths that simple
// predictors need for the same shares. It returns the points in words.
func (f *Figure) list(points []pacbayes.CurvePoint, rivals []predictor) (words string) {
	f.Head = append([]string{"at least", "within"}, lists.Of(rivals, func(of predictor) string {
		return of.name
	})...)
	for _, p := range points {
		cells := []string{cautious.Complement(p.Bound), "±" + cautious.Width(p.HalfWidthRaw)}
		words += fmt.Sprintf(" at least %s within %s;", cells[0], cells[1])
		for _, of := range rivals {
			cells = append(cells, "±"+cautious.Width(of.width(p.Bound)))
		}
		f.Cells = append(f.Cells, cells)
	}
	return strings.TrimSuffix(words, ";")
}

// width returns the least half-width outside which at most the share bound of the predictions lies.
func (p predictor) width(bound float64) float64 {
	// a share is rounded, and no bound lies as near to another
	at, _ := p.Curve.Width(1 - bound - 1e-12)
	return at.HalfWidthRaw
}

// stairs returns a curve from the lower end of the chart to its right end.
func stairs(of *pacbayes.Curve, widest float64,
	share func(p pacbayes.CurvePoint) float64) []drawing.XY {
	at := lists.Of(of.Points, func(p pacbayes.CurvePoint) drawing.XY {
		return drawing.XY{X: p.HalfWidthRaw, Y: share(p)}
	})
	return drawing.Stairs(slices.Concat([]drawing.XY{{X: at[0].X}}, at,
		[]drawing.XY{{X: widest, Y: at[len(at)-1].Y}}))
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
	f := Figure{Title: "Kinds of rows", Head: []string{"kind", "certified rows",
		"misses", "at most"}, Caption: "Dots: the share of certified rows that miss. Triangles: " +
		"at most this share of further rows of the kind misses, with the certificate's " +
		"confidence, for all kinds at once."}
	// Each kind has a dot at its misses, joined to a triangle at its bound. A kind without a bound
	// has its reason in the table.
	for k, s := range c.Slices {
		name := cautious.Name(s.By) + " " + cautious.Name(s.Name)
		at := float64(k)
		chart.Y.Names = append(chart.Y.Names, name)
		cells := []string{name, whole(s.Rows), fmt.Sprintf("%.2f %%", 100*s.MeanRisk),
			fmt.Sprintf("%.2f %%", 100*cautious.RoundUp(s.MeanBound, 4))}
		if s.Reason != "" {
			cells[2], cells[3] = "–", s.Reason
		} else {
			seen = append(seen, drawing.XY{X: s.MeanRisk, Y: at})
			bound = append(bound, drawing.XY{X: s.MeanBound, Y: at})
			between = append(between,
				[2]drawing.XY{{X: s.MeanRisk, Y: at}, {X: s.MeanBound, Y: at}})
		}
		f.Cells = append(f.Cells, cells)
	}
	most := 0.
	for _, p := range bound {
		most = max(most, p.X)
	}
	if chart.X.Span(0, 1); most > 0 {
		chart.X.Span(0, min(1, 1.05*most))
	}
	chart.Segments("", drawing.Grey, between)
	chart.Dots("certified rows", drawing.Blue, seen)
	chart.Triangles("guaranteed: at most", drawing.Green, bound)
	return r.draw(f, described{chart,
		fmt.Sprintf("Misses of %d kinds of rows, with upper bounds of at most %.2f %%. "+
			"The table has the numbers.", len(c.Slices), 100*cautious.RoundUp(most, 4))})
}
