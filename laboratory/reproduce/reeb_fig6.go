package main

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"

	"github.com/krigo-gp/krigo/method"
)

// reebFig6 draws kl-PAC-SGP for two values of ε, FITC and VFE (M = 15) beside the full GP.
func reebFig6(ctx context.Context, env Env) error {
	x, y, err := snelson()
	if err != nil {
		return err
	}
	full, err := fullSnelson(ctx, x, y)
	if err != nil {
		return err
	}
	sigma := math.Sqrt(full.q.Noise)
	var fits []*snelsonFit
	for _, times := range []float64{1, 5} {
		f, err := fitSnelsonPAC(ctx, x, y, 15, times*sigma)
		if err != nil {
			return err
		}
		fits = append(fits, f)
	}
	for _, c := range []struct {
		title, name string
	}{{"FITC", method.FITCName}, {"VFE", method.VFEName}} {
		f, _, err := sparseSnelson(ctx, way{name: c.name, m: 15}, x, y)
		if err != nil {
			return err
		}
		f.title, f.withNoise = c.title, true
		fits = append(fits, f)
	}
	var plots []*plot.Plot
	for _, f := range fits {
		fmt.Fprintf(env.Stdout, "%-22s σ_n = %.3f, KL/N = %.3f\n", f.title, math.Sqrt(f.q.Noise), f.klPerRow)
		p, err := drawSnelson(full, f, x, y)
		if err != nil {
			return err
		}
		plots = append(plots, p)
	}
	return save(env, "reeb-fig6", 38*vg.Centimeter, 8*vg.Centimeter, plots...)
}
