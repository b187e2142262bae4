package reproduce

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
	"github.com/krigo-gp/krigo/objective"
	"github.com/krigo-gp/krigo/pacbayes"
	"github.com/krigo-gp/krigo/posterior"
	"github.com/krigo-gp/krigo/train"
)

// snelsonFit is a GP fitted to Snelson's data, as the paper's Figs. 1 and 6 draw them.
type snelsonFit struct {
	q         *posterior.Posterior
	zBefore   linalg.Matrix // the zero Matrix for the full GP
	klPerRow  float64
	withNoise bool    // the band is of y, not of f
	epsilon   float64 // 0: no ε-band
	title     string
	bound     float64
}

// snelson returns Snelson's data as they are.
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

// fullSnelson is the full GP trained on the evidence.
func fullSnelson(ctx context.Context, x linalg.Matrix, y []float64) (*snelsonFit, error) {
	p := &objective.Problem{Kernel: kernel.SE(1, false), Mean: kernel.ZeroMean{}, X: x, Y: y, Objective: &objective.Evidence{}}
	r, err := train.LBFGS{}.Minimize(ctx, p, train.Bounds{}, train.Start([]float64{0, 0, 0}), nil)
	if err != nil {
		return nil, err
	}
	q, err := posterior.NewExact(p.Kernel, r.X[:1+1], p.Mean, nil, x, y, math.Exp(r.X[2]))
	if err != nil {
		return nil, err
	}
	return &snelsonFit{q: q, withNoise: true, title: "full GP", klPerRow: q.KL() / float64(len(y))}, nil
}

// sparseSnelson trains a sparse GP from evenly spread inducing inputs.
func sparseSnelson(ctx context.Context, o objective.Sparse, alpha float64, x linalg.Matrix, y []float64, m int, logNoise float64) (*snelsonFit, *train.Result, error) {
	z := even(x, m)
	p := &objective.SparseProblem{Kernel: kernel.SE(1, false), Mean: kernel.ZeroMean{}, Rows: objective.Memory{X: x, Y: y}, M: m, Objective: o, Keep: 1 << 30}
	r, err := train.LBFGS{}.Minimize(ctx, p, train.Bounds{}, train.Start(append([]float64{0, 0, logNoise}, z.Data...)), nil)
	if err != nil {
		return nil, nil, err
	}
	q, err := p.Posterior(r.X, alpha)
	if err != nil {
		return nil, nil, err
	}
	return &snelsonFit{q: q, zBefore: z, klPerRow: q.KL() / float64(len(y))}, r, nil
}

func snelsonPAC(ctx context.Context, x linalg.Matrix, y []float64, m int, eps float64) (*snelsonFit, error) {
	o := &objective.SparsePAC{Alpha: 1, Loss: pacbayes.Loss{Kind: pacbayes.Band, Below: eps}, Bound: pacbayes.KLBound,
		Penalty: pacbayes.Penalty(pacbayes.DefaultGrid.LogInverseP(2), 0, len(y), 0.01)}
	f, r, err := sparseSnelson(ctx, o, 1, x, y, m, math.Log(0.1))
	if err != nil {
		return nil, err
	}
	f.epsilon, f.bound = eps, r.Value
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
