package main

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"

	"github.com/krigo-gp/krigo"
	"github.com/krigo-gp/krigo/data"
	"github.com/krigo-gp/krigo/internal/cautious"
	"github.com/krigo-gp/krigo/pacbayes"
)

// bostonCurve fits boston by the defaults, with a certificate of every width. It draws the certified shares beside
// the observed shares, and beside what could be certified of a single width.
func bostonCurve(ctx context.Context, env Env) error {
	m, err := krigo.Fit(ctx, data.Boston(),
		krigo.Options{Data: krigo.Data{Target: "MEDV"}, Promise: krigo.Promise{Curve: true}})
	if err != nil {
		return err
	}
	c := m.Certificate
	var seen, alone, all plotter.XYs
	for _, at := range c.Curve.Points {
		seen = append(seen, plotter.XY{X: at.HalfWidthRaw, Y: 1 - float64(at.Misses)/float64(c.Rows)})
		alone = append(alone, plotter.XY{X: at.HalfWidthRaw, Y: 1 - pacbayes.ClopperPearson(at.Misses, c.Rows, c.Delta)})
		all = append(all, plotter.XY{X: at.HalfWidthRaw, Y: 1 - at.Bound})
	}
	p := plot.New()
	p.Title.Text = fmt.Sprintf("Guaranteed with %s confidence, from %d certified rows of boston",
		cautious.Complement(c.Delta), c.Rows)
	p.X.Label.Text, p.Y.Label.Text = "half-width w, in 1,000 dollars", "share of predictions within ± w"
	for i, of := range []struct {
		label string
		pts   plotter.XYs
	}{{"seen on the certified rows", seen}, {"at one width, declared beforehand", alone},
		{"at all widths at once", all}} {
		if err := addCurve(p, of.label, palette[i], steps(of.pts)); err != nil {
			return err
		}
	}
	p.X.Min, p.Y.Min, p.Y.Max = 0, 0, 1
	p.X.Max = math.Min(p.X.Max, 15)
	p.Legend.YPosition = -1
	fmt.Fprintf(env.Stdout, "δ′ = %.3g, δ/%.0f; %s\n", c.Curve.Level, c.Delta/c.Curve.Level, m.Sentence(c))
	return save(env, "boston-curve", 20*vg.Centimeter, 11*vg.Centimeter, p)
}
