package main

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
)

// reebFig1 draws kl-PAC-SGP (M = 15) for three values of ε beside the full GP. The paper chooses its ε relative to
// the full GP's σ_n and doesn't print them. With ½, 1 and 5 times σ_n the figure has the paper's KL/N.
func reebFig1(ctx context.Context, env Env) error {
	x, y, err := snelson()
	if err != nil {
		return err
	}
	full, err := fullSnelson(ctx, x, y)
	if err != nil {
		return err
	}
	sigma := math.Sqrt(full.q.Noise)
	fmt.Fprintf(env.Stdout, "Full GP: σ_n = %.3f. KL/N of kl-PAC-SGP (in the paper 0.097, 0.109, 0.031):\n", sigma)
	var plots []*plot.Plot
	for _, times := range []float64{0.5, 1, 5} {
		f, err := fitSnelsonPAC(ctx, x, y, 15, times*sigma)
		if err != nil {
			return err
		}
		fmt.Fprintf(env.Stdout, "  ε = %.3f (%g σ_n): KL/N = %.3f, objective %.3f\n", f.epsilon, times, f.klPerRow, f.bound)
		p, err := drawSnelson(full, f, x, y)
		if err != nil {
			return err
		}
		plots = append(plots, p)
	}
	return save(env, "reeb-fig1", 30*vg.Centimeter, 8*vg.Centimeter, plots...)
}
