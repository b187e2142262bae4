package main

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/krigo-gp/krigo/internal/linalg"
	"github.com/krigo-gp/krigo/kernel"
	"github.com/krigo-gp/krigo/method"
	"github.com/krigo-gp/krigo/train"
)

// localMinimum is the end of one run of Fig. 7.
type localMinimum struct {
	Noise float64 `json:"noise_variance"`
	Value float64 `json:"value"`
}

// reebFig7 trains FITC and kl-PAC-SGP (M = 8, ε = 0.6) on every second point of Snelson's data, from 100 starts with
// σ_n² in [1e-5, 10] and random inducing inputs. It draws the resulting noise variances against the objectives.
func reebFig7(ctx context.Context, env Env) error {
	x0, y0, err := snelson()
	if err != nil {
		return err
	}
	var xs, ys []float64
	for i := 0; i < len(y0); i += 2 {
		xs, ys = append(xs, x0.Data[i]), append(ys, y0[i])
	}
	x := linalg.Of(len(ys), 1, xs)
	const m = 8
	methods := []string{method.FITCName, method.KLPACName}
	var tasks []task[localMinimum]
	starts := env.reps(100)
	for _, name := range methods {
		for s := range starts {
			tasks = append(tasks, task[localMinimum]{fmt.Sprintf("%s/start=%d", name, s),
				func(ctx context.Context) (localMinimum, error) {
					rng := rand.New(rand.NewPCG(uint64(s), 7))
					start := []float64{0, 0, math.Log(1e-5) + rng.Float64()*math.Log(1e6)}
					for range m {
						start = append(start, xs[rng.IntN(len(xs))]+0.1*rng.NormFloat64())
					}
					how := snelsonPAC(m, 0.6, len(ys))
					how.name = name
					p, err := how.bind(kernel.SE(1, false), x, ys)
					if err != nil {
						return localMinimum{}, err
					}
					r, err := train.LBFGS{}.Minimize(ctx, p, train.Start(start), nil)
					if err != nil {
						return localMinimum{}, err
					}
					return localMinimum{math.Exp(r.X[2]), r.Value}, nil
				}})
		}
	}
	results, err := runAll(ctx, env, "reeb-fig7", tasks, nil)
	if err != nil {
		return err
	}
	var plots []*plot.Plot
	for i, name := range methods {
		rs := results[i*starts : (i+1)*starts]
		best, low := rs[0], 0
		var pts plotter.XYs
		for _, r := range rs {
			if r.Value < best.Value {
				best = r
			}
			if r.Noise < 1e-4 {
				low++
			}
			pts = append(pts, plotter.XY{X: math.Log10(r.Noise), Y: r.Value})
		}
		fmt.Fprintf(env.Stdout, "%-7s best of %d runs: objective %.4g at σ_n² = %.3g (in the paper %s); %d runs end at σ_n² < 1e-4\n",
			name, starts, best.Value, best.Noise,
			map[string]string{method.FITCName: "about 1e-6", method.KLPACName: "2.1e-2"}[name], low)
		p := plot.New()
		p.Title.Text, p.X.Label.Text, p.Y.Label.Text = name, "log₁₀ σ_n²", "objective"
		for c, group := range []plotter.XYs{pts, {{X: math.Log10(best.Noise), Y: best.Value}}} {
			scatter, err := plotter.NewScatter(group)
			if err != nil {
				return err
			}
			scatter.GlyphStyle = draw.GlyphStyle{Color: palette[c], Radius: vg.Points(2.5), Shape: draw.CircleGlyph{}}
			p.Add(scatter)
		}
		plots = append(plots, p)
	}
	return save(env, "reeb-fig7", 22*vg.Centimeter, 8*vg.Centimeter, plots...)
}
