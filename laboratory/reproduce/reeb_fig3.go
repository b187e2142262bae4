package main

import (
	"context"
	"fmt"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"

	"github.com/krigo-gp/krigo/method"
	"github.com/krigo-gp/krigo/pacbayes"
)

// panels are the measures of Fig. 3, as indices of measureNames.
var panels = []struct {
	title   string
	measure int
}{{"upper bound B", 0}, {"Gibbs risk, train", 2}, {"Gibbs risk, test", 3}, {"MSE, test", 4}, {"KL/N", 5}}

// reebFig3 draws and prints the measures against M: ARD on pol and kin40k, one lengthscale on sarcos.
func reebFig3(ctx context.Context, env Env) error {
	ms := []int{100, 200, 300, 400, 500}
	if env.M > 0 {
		ms = []int{env.M}
	}
	methods := []string{method.KLPACName, method.VFEName, method.FITCName}
	var settings []reebSetting
	for rep := range env.reps(10) {
		for _, data := range env.sets() {
			for _, m := range ms {
				for _, by := range methods {
					settings = append(settings, reebSetting{data, data != "sarcos10k", by, m, pacbayes.Band, 0.6, rep})
				}
			}
		}
	}
	// Runs that Table 2 has at M = 500 are taken from there.
	results, err := runSparse(ctx, env, "reeb-table2", settings, nil)
	if err != nil {
		return err
	}
	of := func(data, by string, m int) (rs []measures) {
		for i, s := range settings {
			if s.Data == data && s.M == m && s.Method == by {
				rs = append(rs, results[i].FITC)
			}
		}
		return rs
	}

	cells := []string{"data", "method", "M", "runs"}
	for _, panel := range panels {
		cells = append(cells, panel.title)
	}
	header(env.Stdout, cells)
	for _, data := range env.sets() {
		for _, by := range methods {
			for _, m := range ms {
				rs := of(data, by, m)
				cells := []string{data, by, fmt.Sprint(m), fmt.Sprint(len(rs))}
				for _, panel := range panels {
					mean, se := column(rs, panel.measure)
					cells = append(cells, plusMinus(mean, se, 3))
				}
				line(env.Stdout, cells)
			}
		}
		var plots []*plot.Plot
		for i, panel := range panels {
			p := plot.New()
			p.Title.Text, p.X.Label.Text, p.Y.Min = panel.title, "M", 0
			if i == 0 {
				p.Title.Text = data + ": " + panel.title
			}
			for c, by := range methods {
				var curve plotter.XYs
				for _, m := range ms {
					mean, _ := column(of(data, by, m), panel.measure)
					curve = append(curve, plotter.XY{X: float64(m), Y: mean})
				}
				if err := addCurve(p, map[bool]string{true: by}[i == 0], palette[c], curve); err != nil {
					return err
				}
			}
			plots = append(plots, p)
		}
		if err := save(env, "reeb-fig3-"+data, 34*vg.Centimeter, 7*vg.Centimeter, plots...); err != nil {
			return err
		}
	}
	return nil
}
