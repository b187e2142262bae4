package reproduce

import (
	"context"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"

	"github.com/krigo-gp/krigo"
	"github.com/krigo-gp/krigo/data"
	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/internal/drawing"
	"github.com/krigo-gp/krigo/pacbayes"
)

var palette, transparent, addCurve, between = drawing.Palette, drawing.Transparent, drawing.Curve, drawing.Between

// save draws plots in a row on one sheet.
func save(env Env, name string, width, height vg.Length, plots ...*plot.Plot) error {
	if err := os.MkdirAll(env.Out, 0o755); err != nil {
		return err
	}
	canvas := vgimg.NewWith(vgimg.UseWH(width, height), vgimg.UseDPI(160))
	row := make([]*plot.Plot, len(plots))
	copy(row, plots)
	tiles := draw.Tiles{Rows: 1, Cols: len(row), PadX: vg.Points(10), PadTop: vg.Points(4), PadBottom: vg.Points(4), PadLeft: vg.Points(4), PadRight: vg.Points(8)}
	for i, c := range plot.Align([][]*plot.Plot{row}, tiles, draw.New(canvas))[0] {
		row[i].Draw(c)
	}
	path := filepath.Join(env.Out, name+".png")
	err := dataset.WriteFileAtomic(path, func(w io.Writer) error {
		_, err := vgimg.PngCanvas{Canvas: canvas}.WriteTo(w)
		return err
	})
	if err == nil {
		fmt.Fprintf(env.Stdout, "Drawn: %s\n", path)
	}
	return err
}

// curve samples f on [a, b].
func curve(f func(float64) float64, a, b float64) plotter.XYs {
	const n = 400
	pts := make(plotter.XYs, n+1)
	for i := range pts {
		x := a + (b-a)*float64(i)/n
		pts[i] = plotter.XY{X: x, Y: f(x)}
	}
	return pts
}

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
	p.X.Max = 1.2 // room for the legend
	return save(env, "reeb-fig4", 12*vg.Centimeter, 9*vg.Centimeter, p)
}

func reebFig5(_ context.Context, env Env) error {
	p := plot.New()
	p.Title.Text = "Bounded losses, ε = 1"
	p.X.Label.Text, p.Y.Label.Text = "y − ŷ", "loss"
	for i, kind := range []pacbayes.Kind{pacbayes.Band, pacbayes.ClippedSquare, pacbayes.Gaussian} {
		l := pacbayes.Loss{Kind: kind, Below: 1}
		if err := addCurve(p, string(kind), palette[i], curve(func(d float64) float64 { return l.Point(d, 0, 0) }, -2.5, 2.5)); err != nil {
			return err
		}
	}
	p.Y.Min, p.Y.Max = 0, 1.05
	p.X.Max = 4 // room for the legend
	return save(env, "reeb-fig5", 12*vg.Centimeter, 9*vg.Centimeter, p)
}

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
		const width = 7 // points
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

type errorBars struct {
	plotter.XYs
	plotter.YErrors
}

// shifted draws a plotter moved to the right.
type shifted struct {
	plot.Plotter
	by vg.Length
}

func (s shifted) Plot(c draw.Canvas, p *plot.Plot) {
	c.Min.X += s.by
	c.Max.X += s.by
	s.Plotter.Plot(c, p)
}

// snelsonBand fits Snelson's data with ε = 1 standard deviation and draws mean, ε-band and
// certificate.
func snelsonBand(ctx context.Context, env Env) error {
	table := data.Snelson()
	m, err := krigo.Fit(ctx, table, krigo.Options{Target: "y", Objective: "kl-pac", Epsilon: 1})
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
	ps, err := krigo.Predict(m, grid)
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
		krigo.Complement(c.Delta), 100*krigo.RoundUp(c.MeanBound, 3))
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
	p.Legend.Add(fmt.Sprintf("mean ± %s, the certified band", krigo.Width(c.EpsilonRaw)), band)
	p.Legend.Add("mean ± 2 sd of f", belief)
	p.Legend.Add("data", dots)
	p.Legend.Top = true
	p.Y.Max += 1.5 // room for the legend
	fmt.Fprintf(env.Stdout, "Bound on a random draw %.4f, on the mean %.4f, from %d certified rows.\n", krigo.RoundUp(c.Bound, 4), krigo.RoundUp(c.MeanBound, 4), c.Rows)
	return save(env, "snelson-band", 20*vg.Centimeter, 11*vg.Centimeter, p)
}
