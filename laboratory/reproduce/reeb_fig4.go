package main

import (
	"context"
	"fmt"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"

	"github.com/krigo-gp/krigo/pacbayes"
)

func reebFig4(_ context.Context, env Env) error {
	p := plot.New()
	p.Title.Text = "Upper inverse of the binary kl"
	p.X.Label.Text, p.Y.Label.Text = "q", "kl⁻¹(q, ε)"
	for i, eps := range []float64{0, 0.1, 0.2, 0.5, 1, 2, 5} {
		f := func(q float64) float64 { return pacbayes.KLInverse(q, eps) }
		if err := addCurve(p, fmt.Sprintf("ε = %g", eps), palette[i], curve(f, 0, 1)); err != nil {
			return err
		}
	}
	p.X.Max = 1.2 // leaves room for the legend
	return save(env, "reeb-fig4", 12*vg.Centimeter, 9*vg.Centimeter, p)
}
