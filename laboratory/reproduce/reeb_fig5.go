package main

import (
	"context"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"

	"github.com/krigo-gp/krigo/pacbayes"
)

func reebFig5(_ context.Context, env Env) error {
	p := plot.New()
	p.Title.Text = "Bounded losses, ε = 1"
	p.X.Label.Text, p.Y.Label.Text = "y − ŷ", "loss"
	for i, kind := range []pacbayes.Kind{pacbayes.Band, pacbayes.ClippedSquare, pacbayes.Gaussian} {
		l := pacbayes.Loss{Kind: kind, Below: 1}
		if err := addCurve(p, string(kind), palette[i], curve(func(d float64) float64 { return l.Point(d, 0, 0) }, -2.5,
			2.5)); err != nil {
			return err
		}
	}
	p.Y.Min, p.Y.Max = 0, 1.05
	p.X.Max = 4 // leaves room for the legend
	return save(env, "reeb-fig5", 12*vg.Centimeter, 9*vg.Centimeter, p)
}
