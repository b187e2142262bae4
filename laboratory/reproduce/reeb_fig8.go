package main

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"

	"github.com/krigo-gp/krigo/internal/linalg"
	"github.com/krigo-gp/krigo/kernel"
	"github.com/krigo-gp/krigo/method"
	"github.com/krigo-gp/krigo/pacbayes"
	"github.com/krigo-gp/krigo/train"
)

// discretisation is one fit of Fig. 8.
type discretisation struct {
	LogTheta  float64 `json:"log_theta"` // ln|Θ|
	B         float64 `json:"b"`
	TrainRisk float64 `json:"train_risk"`
	TestRisk  float64 `json:"test_risk"`
	KLPerRow  float64 `json:"kl_per_row"`
}

// reebFig8 fits full PAC-GPs to draws from an SE-ARD GP with random lengthscales on [−3, 3]³ (ln l uniform in [−1,
// 1]; noise-free, as in the paper). The grids have L ∈ {1, 2, 4, 8} and r ∈ {0, 1, 2, 4} digits. The paper has N =
// 2,000 training and 10,000 test points and 68 repetitions. Here 500 test points of the same joint draw are used.
func reebFig8(ctx context.Context, env Env) error {
	n, test := 2000, 500
	if env.M > 0 {
		n = env.M // fewer training rows, for a quick look
	}
	var tasks []task[discretisation]
	grids := []pacbayes.Grid{}
	for _, l := range []float64{1, 2, 4, 8} {
		for _, digits := range []int{0, 1, 2, 4} {
			grids = append(grids, pacbayes.Grid{L: l, Digits: digits})
		}
	}
	reps := env.reps(68)
	for rep := range reps {
		for _, grid := range grids {
			tasks = append(tasks, task[discretisation]{fmt.Sprintf("n=%d/rep=%d/grid=%s", n, rep, grid),
				func(ctx context.Context) (discretisation, error) { return discretised(ctx, grid, n, test, rep) }})
		}
	}
	env.OneAtATime = true
	results, err := runAll(ctx, env, "reeb-fig8", tasks, nil)
	if err != nil {
		return err
	}
	w := env.Stdout
	fmt.Fprintf(w, "## Reeb et al. 2018, Fig. 8: the grid's resolution, N = %d, %d repetitions\n\n", n, reps)
	header(w, []string{"L", "digits", "ln|Θ|", "B", "R_S train", "R_S test", "KL/N"})
	type point struct{ theta, b, train, test, kl float64 }
	var points []point
	for g, grid := range grids {
		var v [4][]float64
		var theta float64
		for rep := range reps {
			r := results[rep*len(grids)+g]
			theta = r.LogTheta
			for i, x := range []float64{r.B, r.TrainRisk, r.TestRisk, r.KLPerRow} {
				v[i] = append(v[i], x)
			}
		}
		cells := []string{fmt.Sprint(grid.L), fmt.Sprint(grid.Digits), fmt.Sprintf("%.1f", theta)}
		var mean [4]float64
		for i := range v {
			m, se := meanSE(v[i])
			mean[i] = m
			cells = append(cells, fmt.Sprintf("%.4f ± %.4f", m, se))
		}
		line(w, cells)
		points = append(points, point{theta, mean[0], mean[1], mean[2], mean[3]})
	}
	slices.SortFunc(points, func(a, b point) int { return int(math.Copysign(1, a.theta-b.theta)) })
	p := plot.New()
	p.Title.Text, p.X.Label.Text = "Resolution of the grid", "ln|Θ|"
	for i, c := range []struct {
		name string
		of   func(point) float64
	}{{"B", func(p point) float64 { return p.b }}, {"R_S train", func(p point) float64 { return p.train }},
		{"R_S test", func(p point) float64 { return p.test }}, {"KL/N", func(p point) float64 { return p.kl }}} {
		var pts plotter.XYs
		for _, q := range points {
			pts = append(pts, plotter.XY{X: q.theta, Y: c.of(q)})
		}
		if err := addCurve(p, c.name, palette[i], pts); err != nil {
			return err
		}
	}
	p.Legend.Top = true
	return save(env, "reeb-fig8", 14*vg.Centimeter, 9*vg.Centimeter, p)
}

func discretised(ctx context.Context, grid pacbayes.Grid, n, test, rep int) (discretisation, error) {
	// The data depend only on the repetition.
	rng := rand.New(rand.NewPCG(uint64(rep), 8))
	k := kernel.SE(3, true)
	theta := []float64{0, 0, 0, 0}
	for i := range 3 {
		theta[i] = 2 * (2*rng.Float64() - 1) // ln l²
	}
	x := linalg.New(n+test, 3)
	for i := range x.Data {
		x.Data[i] = 6*rng.Float64() - 3
	}
	cov := linalg.New(n+test, n+test)
	kernel.At(k, theta).FillSymmetric(x, cov)
	cov.AddDiagonal(1e-8)
	if err := linalg.Cholesky(cov); err != nil {
		return discretisation{}, err
	}
	white := make([]float64, n+test)
	for i := range white {
		white[i] = rng.NormFloat64()
	}
	f := make([]float64, n+test)
	for i := range f {
		f[i] = linalg.Dot(cov.Row(i)[:i+1], white[:i+1])
	}
	sp := split{x: x.RowRange(0, n), xTest: x.RowRange(n, n+test), y: f[:n], yTest: f[n:]}

	terms := pacbayes.Terms{Loss: pacbayes.Loss{Kind: pacbayes.Band, Below: 0.6}, EpsilonRaw: 0.6, Delta: reebDelta,
		Grid: grid, Params: 4, Choices: 1, Scaling: "declared"}
	p, err := way{name: method.KLPACName, loss: terms.Loss, penalty: reebPenalty(grid, terms.Params, n)}.bind(k, sp.x,
		sp.y)
	if err != nil {
		return discretisation{}, err
	}
	lower, upper := slices.Repeat([]float64{-grid.L}, 5), slices.Repeat([]float64{grid.L}, 5)
	lower[4], upper[4] = math.Log(1e-6), math.Log(1e3)
	r, err := train.LBFGS{MaxEvaluations: 100}.In(train.Bounds{Lower: lower, Upper: upper}).Minimize(ctx, p,
		train.Start([]float64{0, 0, 0, 0, math.Log(0.1)}), nil)
	if err != nil {
		return discretisation{}, err
	}
	at := slices.Clone(r.X)
	grid.RoundAll(at[:4], at[:4])
	q, _, err := p.Posterior(at)
	if err != nil {
		return discretisation{}, err
	}
	m, _, err := measure(q, terms, sp)
	return discretisation{LogTheta: grid.LogInverseP(terms.Params), B: m.B, TrainRisk: m.TrainRisk, TestRisk: m.TestRisk,
		KLPerRow: m.KLPerRow}, err
}
