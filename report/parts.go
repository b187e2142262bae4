package report

import (
	"fmt"
	"slices"

	"github.com/krigo-gp/krigo/internal/cautious"
	"github.com/krigo-gp/krigo/internal/drawing"
	"github.com/krigo-gp/krigo/internal/lists"
	"github.com/krigo-gp/krigo/model"
)

// Of the parts of an additive kernel with at least drawnShare of the variance, the page shows
// mostMain functions of one column and mostPairs of two.
const (
	drawnShare = 0.02
	mostMain   = 6
	mostPairs  = 3
)

// parts draws the largest parts of an additive kernel, with a table of all shares, if the model has
// such a kernel: at most mostMain of one column and mostPairs of two.
func (r *maker) parts() {
	p := r.m.Parts()
	if p == nil || r.real.n() == 0 {
		return
	}
	r.begin("parts", "Parts that add up").Note = "The kernel adds functions of one column and of " +
		"two. Each part is 0 on average over independent, normally distributed inputs with the " +
		"mean and the spread of the rows that scaled them, and the shares are for such inputs, " +
		"too, which overstates columns of categories. Bands are two standard deviations of the " +
		"model's own belief, not certified."
	shares := table{Name: "Shares of the parts",
		Head: []string{"part", "share", "standard deviation"}, Says: "All other parts together: " +
			cautious.Percent(p.Others) + "."}
	main := 0
	pairs := 0
	for _, s := range p.Shares {
		shares.Cells = append(shares.Cells, []string{s.Name(), cautious.Percent(s.Share), cautious.Percent(s.SD)})
		if s.Share < drawnShare {
			continue
		}
		of := lists.Of(s.Columns, func(name string) column {
			return r.columns[slices.IndexFunc(r.columns, func(c column) bool {
				return c.raw == name
			})]
		})
		title := s.Name() + ", " + cautious.Percent(s.Share)
		if len(of) == 1 && main < mostMain {
			main++
			r.guard(title, func() error { return r.drawMain(title, s, of[0]) })
		}
		if len(of) == 2 && pairs < mostPairs && of[0].continuous() && of[1].continuous() {
			pairs++
			r.guard(title, func() error { return r.drawPair(title, s, of[0], of[1]) })
		}
	}
	r.last().Tables = []table{shares}
}

// part returns the mean and the standard deviation of a part at rows, in the unit of the target
// that the model sees.
func (r *maker) part(s *model.Share, x []float64) (mean, sd []float64, err error) {
	at, err := r.scaled(x)
	if err != nil {
		return nil, nil, err
	}
	mean = make([]float64, at.Rows)
	sd = make([]float64, at.Rows)
	s.At(at, mean, sd)
	unit, _ := r.seen()
	for i := range mean {
		mean[i], sd[i] = mean[i]*unit, sd[i]*unit
	}
	return mean, sd, nil
}

// drawMain draws the part of one column with a band of two standard deviations, as a line or as a
// mark for each level.
func (r *maker) drawMain(title string, s *model.Share, c column) error {
	of := levels(r.real, c)
	x, values := r.grid(c, r.real.at(r.middle), of)
	mean, sd, err := r.part(s, x)
	if err != nil {
		return err
	}
	_, name := r.seen()
	effect := "effect on " + name
	chart := drawing.NewChart(c.name, effect)
	if of != nil {
		chart = drawing.NewChart(effect, c.name)
		var ends [][2]drawing.XY
		var dots []drawing.XY
		for i, l := range of {
			y := float64(i)
			chart.Y.Names = append(chart.Y.Names, l.name)
			ends = append(ends, [2]drawing.XY{{X: mean[i] - 2*sd[i], Y: y},
				{X: mean[i] + 2*sd[i], Y: y}})
			dots = append(dots, drawing.XY{X: mean[i], Y: y})
		}
		chart.Strong("± 2 sd", drawing.Blue, ends)
		chart.Dots("mean", drawing.Blue, dots)
	} else {
		chart.X.Ticks = ticksOf(c)
		low := slices.Clone(mean)
		high := slices.Clone(mean)
		line := make([]drawing.XY, len(mean))
		for i, v := range mean {
			low[i], high[i], line[i] = v-2*sd[i], v+2*sd[i], drawing.XY{X: values[i], Y: v}
		}
		chart.Area("± 2 sd", drawing.Blue, values, low, high)
		chart.Line("", drawing.Blue, line)
		chart.Rug("rows", r.rug(c))
	}
	words := fmt.Sprintf("The part of %s: from %s to %s.", c.name, number(slices.Min(mean)),
		number(slices.Max(mean)))
	return r.draw(Figure{Title: title}, described{chart, words})
}

// drawPair draws the part of two columns of numbers as a map of colours, with some rows.
func (r *maker) drawPair(title string, s *model.Share, a, b column) error {
	g := drawing.Grid{Cols: 30, Rows: 24}
	g.Left, g.Right = central(r.real.of(a))
	g.Low, g.High = central(r.real.of(b))
	var x []float64
	row := slices.Clone(r.real.at(r.middle))
	for k := range g.Rows {
		for i := range g.Cols {
			p := g.Centre(i, k)
			row[a.inputs[0]], row[b.inputs[0]] = p.X, p.Y
			x = append(x, row...)
		}
	}
	var err error
	if g.Z, _, err = r.part(s, x); err != nil {
		return err
	}
	_, name := r.seen()
	chart := chartOf(a, b)
	if err := chart.Heat("effect on "+name, g); err != nil {
		return err
	}
	chart.Specks(r.points(250, a, b))
	words := fmt.Sprintf("What %s and %s add together: from %s to %s.", a.name, b.name,
		number(slices.Min(g.Z)), number(slices.Max(g.Z)))
	return r.draw(Figure{Title: title, Caption: "What the two columns add together, beyond each " +
		"alone. Points are rows."}, described{chart, words})
}
