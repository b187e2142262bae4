package main

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/krigo-gp/krigo/data"
	"github.com/krigo-gp/krigo/internal/linalg"
	"github.com/krigo-gp/krigo/kernel"
	"github.com/krigo-gp/krigo/method"
	"github.com/krigo-gp/krigo/pacbayes"
	"github.com/krigo-gp/krigo/posterior"
	"github.com/krigo-gp/krigo/train"
)

// snelsonFit is a GP fitted to Snelson's data, as the paper's Figs. 1 and 6 draw them.
type snelsonFit struct {
	q         *posterior.Posterior
	zBefore   linalg.Matrix // the zero Matrix for the full GP
	klPerRow  float64
	withNoise bool    // the band is for y, not for f
	epsilon   float64 // 0: no ε-band
	title     string
	bound     float64
}

// snelson returns Snelson's data, unscaled.
func snelson() (linalg.Matrix, []float64, error) {
	d, err := data.Snelson().Regression("y")
	if err != nil {
		return linalg.Matrix{}, nil, err
	}
	x, y, err := d.Select(d.All())
	return linalg.Of(d.Rows, 1, x), y, err
}

// even spreads m points over the range of one-dimensional inputs.
func even(x linalg.Matrix, m int) linalg.Matrix {
	lo, hi := slices.Min(x.Data), slices.Max(x.Data)
	z := linalg.New(m, 1)
	for i := range m {
		z.Data[i] = lo + (hi-lo)*(float64(i)+0.5)/float64(m)
	}
	return z
}

// fullSnelson trains the full GP by the evidence.
func fullSnelson(ctx context.Context, x linalg.Matrix, y []float64) (*snelsonFit, error) {
	f, _, err := fitSnelson(ctx, way{name: method.EvidenceName}, x, y, []float64{0, 0, 0})
	if err != nil {
		return nil, err
	}
	f.withNoise, f.title = true, "full GP"
	return f, nil
}

// sparseSnelson trains a sparse GP from evenly spread inducing inputs.
func sparseSnelson(ctx context.Context, how way, x linalg.Matrix, y []float64) (*snelsonFit, float64, error) {
	z := even(x, how.m)
	f, value, err := fitSnelson(ctx, how, x, y, append([]float64{0, 0, math.Log(0.1)}, z.Data...))
	if err != nil {
		return nil, 0, err
	}
	f.zBefore = z
	return f, value, nil
}

// fitSnelson trains a method from a start. It also returns the value that training reached.
func fitSnelson(ctx context.Context, how way, x linalg.Matrix, y, start []float64) (*snelsonFit, float64, error) {
	p, err := how.bind(kernel.SE(1, false), x, y)
	if err != nil {
		return nil, 0, err
	}
	r, err := train.LBFGS{}.Minimize(ctx, p, train.Start(start), nil)
	if err != nil {
		return nil, 0, err
	}
	q, _, err := p.Posterior(r.X)
	if err != nil {
		return nil, 0, err
	}
	return &snelsonFit{q: q, klPerRow: q.KL() / float64(len(y))}, r.Value, nil
}

// snelsonPAC says how kl-PAC-SGP is trained on n rows.
func snelsonPAC(m int, eps float64, n int) way {
	return way{name: method.KLPACName, m: m, loss: pacbayes.Loss{Kind: pacbayes.Band, Below: eps},
		penalty: reebPenalty(pacbayes.DefaultGrid(), 2, n)}
}

// fitSnelsonPAC trains kl-PAC-SGP for an ε.
func fitSnelsonPAC(ctx context.Context, x linalg.Matrix, y []float64, m int, eps float64) (*snelsonFit, error) {
	f, value, err := sparseSnelson(ctx, snelsonPAC(m, eps, len(y)), x, y)
	if err != nil {
		return nil, err
	}
	f.epsilon, f.bound = eps, value
	f.title = fmt.Sprintf("kl-PAC-SGP, ε = %.3g", eps)
	return f, nil
}

// drawSnelson draws a fit in blue (mean ± 2 sd) on the full GP in red.
func drawSnelson(full, f *snelsonFit, x linalg.Matrix, y []float64) (*plot.Plot, error) {
	p := plot.New()
	p.Title.Text = f.title
	const n = 300
	grid := linalg.New(n+1, 1)
	for i := range n + 1 {
		grid.Data[i] = -1 + 8*float64(i)/n
	}
	lines := func(q *snelsonFit) (mean, low, high plotter.XYs) {
		m, v := make([]float64, n+1), make([]float64, n+1)
		if q.withNoise {
			q.q.Noisy(grid, q.q.Noise, m, v)
		} else {
			q.q.Latent(grid, m, v)
		}
		for i, at := range grid.Data {
			sd := 2 * math.Sqrt(v[i])
			mean = append(mean, plotter.XY{X: at, Y: m[i]})
			low = append(low, plotter.XY{X: at, Y: m[i] - sd})
			high = append(high, plotter.XY{X: at, Y: m[i] + sd})
		}
		return mean, low, high
	}
	if f.epsilon > 0 {
		mean, _, _ := lines(f)
		low, high := slices.Clone(mean), slices.Clone(mean)
		for i := range mean {
			low[i].Y -= f.epsilon
			high[i].Y += f.epsilon
		}
		band, err := between(low, high, transparent(2))
		if err != nil {
			return nil, err
		}
		p.Add(band)
	}
	for i, q := range []*snelsonFit{full, f} {
		mean, low, high := lines(q)
		colour := []int{1, 0}[i]
		band, err := between(low, high, transparent(colour))
		if err != nil {
			return nil, err
		}
		p.Add(band)
		if err := addCurve(p, "", palette[colour], mean); err != nil {
			return nil, err
		}
	}
	dots := make(plotter.XYs, len(y))
	for i := range dots {
		dots[i] = plotter.XY{X: x.Data[i], Y: y[i]}
	}
	after := make(plotter.XYs, f.q.Support.Rows)
	before := make(plotter.XYs, f.q.Support.Rows)
	for i := range after {
		before[i] = plotter.XY{X: f.zBefore.Data[i], Y: 3}
		after[i] = plotter.XY{X: f.q.Support.Data[i], Y: -3.3}
	}
	for _, s := range []struct {
		xys   plotter.XYs
		shape draw.GlyphDrawer
		size  vg.Length
	}{{dots, draw.CircleGlyph{}, 1}, {before, draw.CrossGlyph{}, 3}, {after, draw.CrossGlyph{}, 3}} {
		scatter, err := plotter.NewScatter(s.xys)
		if err != nil {
			return nil, err
		}
		scatter.GlyphStyle = draw.GlyphStyle{Color: palette[6], Radius: vg.Points(float64(s.size)), Shape: s.shape}
		p.Add(scatter)
	}
	p.Y.Min, p.Y.Max = -3.5, 3.2
	return p, nil
}
