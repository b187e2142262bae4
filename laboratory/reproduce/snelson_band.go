package main

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/krigo-gp/krigo"
	"github.com/krigo-gp/krigo/data"
	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/internal/cautious"
	"github.com/krigo-gp/krigo/method"
)

// snelsonBand fits Snelson's data with ε = 1 standard deviation and draws mean, ε-band and
// certificate.
func snelsonBand(ctx context.Context, env Env) error {
	table := data.Snelson()
	m, err := krigo.Fit(ctx, table, krigo.Options{Data: krigo.Data{Target: "y"},
		Method: krigo.Method{Name: method.KLPACName}, Promise: krigo.Promise{Epsilon: 1}})
	if err != nil {
		return err
	}
	d, err := table.Regression("y")
	if err != nil {
		return err
	}
	const a, b, n = -0.5, 6.5, 280
	grid := &dataset.Table{Source: "grid", Names: []string{"x"}, Rows: n + 1, Lines: make([]int, n+1)}
	for i := range grid.Rows {
		grid.Values = append(grid.Values, a+(b-a)*float64(i)/n)
	}
	ps, err := m.Predict(ctx, grid, krigo.PredictOptions{})
	if err != nil {
		return err
	}
	c := m.Certificate
	mean, low, high := make(plotter.XYs, len(ps)), make(plotter.XYs, len(ps)), make(plotter.XYs, len(ps))
	sdLow, sdHigh := make(plotter.XYs, len(ps)), make(plotter.XYs, len(ps))
	for i, q := range ps {
		x, sd := grid.Values[i], 2*math.Sqrt(q.LatentVariance)
		mean[i] = plotter.XY{X: x, Y: q.Mean}
		low[i], high[i] = plotter.XY{X: x, Y: q.Mean - c.EpsilonRaw}, plotter.XY{X: x, Y: q.Mean + c.EpsilonRaw}
		sdLow[i], sdHigh[i] = plotter.XY{X: x, Y: q.Mean - sd}, plotter.XY{X: x, Y: q.Mean + sd}
	}
	p := plot.New()
	p.Title.Text = fmt.Sprintf("With %s confidence, at most %.1f %% of further points lie outside the green band",
		cautious.Complement(c.Delta), 100*cautious.RoundUp(c.MeanBound, 3))
	p.X.Label.Text, p.Y.Label.Text = "x", "y"
	band, err := between(low, high, transparent(2))
	if err != nil {
		return err
	}
	belief, err := between(sdLow, sdHigh, transparent(0))
	if err != nil {
		return err
	}
	p.Add(band, belief)
	if err := addCurve(p, "posterior mean", palette[0], mean); err != nil {
		return err
	}
	xs, ys, err := d.Select(d.All())
	if err != nil {
		return err
	}
	points := make(plotter.XYs, d.Rows)
	for i := range points {
		points[i] = plotter.XY{X: xs[i], Y: ys[i]}
	}
	dots, err := plotter.NewScatter(points)
	if err != nil {
		return err
	}
	dots.GlyphStyle = draw.GlyphStyle{Color: palette[6], Radius: vg.Points(1.6), Shape: draw.CircleGlyph{}}
	p.Add(dots)
	p.Legend.Add(fmt.Sprintf("mean ± %s, the certified band", cautious.Width(c.EpsilonRaw)), band)
	p.Legend.Add("mean ± 2 sd of f", belief)
	p.Legend.Add("data", dots)
	p.Legend.Top = true
	p.Y.Max += 1.5 // leaves room for the legend
	fmt.Fprintf(env.Stdout, "Bound on a random draw %.4f, on the mean %.4f, from %d certified rows.\n",
		cautious.RoundUp(c.Bound, 4), cautious.RoundUp(c.MeanBound, 4), c.Rows)
	return save(env, "snelson-band", 20*vg.Centimeter, 11*vg.Centimeter, p)
}
