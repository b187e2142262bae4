package main

import (
	"context"
	"fmt"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
)

func reebFig2(ctx context.Context, env Env) error {
	runs, err := table1Runs(ctx, env)
	if err != nil {
		return err
	}
	var plots []*plot.Plot
	for _, panel := range []struct {
		title   string
		measure int
	}{{"upper bound B", 0}, {"Gibbs risk, train", 2}, {"Gibbs risk, test", 3}, {"MSE, test", 4}, {"KL/N", 5}} {
		p := plot.New()
		p.Title.Text, p.X.Label.Text = panel.title, "ε"
		p.Y.Min = 0
		const width = 7 // width of a bar, in points
		for m, method := range reebMethods {
			var heights plotter.Values
			var bars errorBars
			for i, eps := range reebEpsilons {
				mean, se := column(runs[row(eps, method)], panel.measure)
				heights = append(heights, mean)
				bars.XYs = append(bars.XYs, plotter.XY{X: float64(i), Y: mean})
				bars.YErrors = append(bars.YErrors, struct{ Low, High float64 }{se, se})
			}
			chart, err := plotter.NewBarChart(heights, vg.Points(width))
			if err != nil {
				return err
			}
			chart.Color, chart.LineStyle.Width = palette[m], 0
			chart.Offset = vg.Points(width * float64(m-1))
			p.Add(chart)
			whiskers, err := plotter.NewYErrorBars(bars)
			if err != nil {
				return err
			}
			p.Add(shifted{whiskers, chart.Offset})
			if len(plots) == 0 {
				p.Legend.Add(paperNames[method], chart)
			}
		}
		names := make([]string, len(reebEpsilons))
		for i, eps := range reebEpsilons {
			names[i] = fmt.Sprintf("%.1f", eps)
		}
		p.NominalX(names...)
		p.Legend.Top = true
		plots = append(plots, p)
	}
	return save(env, "reeb-fig2", 34*vg.Centimeter, 8*vg.Centimeter, plots...)
}
