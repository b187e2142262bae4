package reproduce

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
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

// reebFig1 draws kl-PAC-SGP (M = 15) for three ε beside the full GP. The paper chose its
// ε relative to the full GP's σ_n and doesn't print them: ½, 1 and 5 times σ_n give its KL/N.
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
	fmt.Fprintf(env.Stdout, "Full GP: σ_n = %.3f. KL/N of kl-PAC-SGP (the paper's: 0.097, 0.109, 0.031):\n", sigma)
	var plots []*plot.Plot
	for _, times := range []float64{0.5, 1, 5} {
		f, err := snelsonPAC(ctx, x, y, 15, times*sigma)
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

// reebFig6 draws kl-PAC-SGP for two ε, FITC and VFE (M = 15) beside the full GP.
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
		f, err := snelsonPAC(ctx, x, y, 15, times*sigma)
		if err != nil {
			return err
		}
		fits = append(fits, f)
	}
	for _, c := range []struct {
		title string
		o     *objective.Energy
	}{{"FITC", objective.FITC()}, {"VFE", objective.VFE()}} {
		f, _, err := sparseSnelson(ctx, c.o, c.o.Alpha, x, y, 15, math.Log(0.1))
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

// reebFig3 draws the measures against M: ARD on pol and kin40k, one lengthscale on sarcos.
func reebFig3(ctx context.Context, env Env) error {
	ms := []int{100, 200, 300, 400, 500}
	if env.M > 0 {
		ms = []int{env.M}
	}
	var settings []sparseSetting
	for rep := range env.reps(10) {
		for _, data := range env.sets() {
			for _, m := range ms {
				for _, method := range []string{"kl-pac", "vfe", "fitc"} {
					settings = append(settings, sparseSetting{data, data != "sarcos10k", method, m, pacbayes.Band, 0.6, rep})
				}
			}
		}
	}
	// The same runs as Table 2's at M = 500 are taken from there.
	results, err := runSparse(ctx, env, "reeb-table2", settings, nil)
	if err != nil {
		return err
	}
	for _, data := range env.sets() {
		var plots []*plot.Plot
		for _, panel := range []struct {
			title   string
			measure int
		}{{data + ": upper bound B", 0}, {"Gibbs risk, train", 2}, {"Gibbs risk, test", 3}, {"MSE, test", 4}, {"KL/N", 5}} {
			p := plot.New()
			p.Title.Text, p.X.Label.Text, p.Y.Min = panel.title, "M", 0
			for c, method := range []string{"kl-pac", "vfe", "fitc"} {
				var line plotter.XYs
				for _, m := range ms {
					var rs []measures
					for i, s := range settings {
						if s.Data == data && s.M == m && s.Method == method {
							rs = append(rs, results[i].FITC)
						}
					}
					mean, _ := column(rs, panel.measure)
					line = append(line, plotter.XY{X: float64(m), Y: mean})
				}
				if err := addCurve(p, map[bool]string{true: method}[len(plots) == 0], palette[c], line); err != nil {
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

// localMinimum is one end of Fig. 7.
type localMinimum struct {
	Noise float64 `json:"noise_variance"`
	Value float64 `json:"value"`
}

// reebFig7 trains FITC and kl-PAC-SGP (M = 8, ε = 0.6) on every second point of Snelson's
// data from 100 starts with σ_n² in [1e-5, 10] and random inducing inputs, and
// draws the noise variances found against the objectives reached.
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
	methods := []string{"fitc", "kl-pac"}
	var tasks []task[localMinimum]
	starts := env.reps(100)
	for _, method := range methods {
		for s := range starts {
			tasks = append(tasks, task[localMinimum]{fmt.Sprintf("%s/start=%d", method, s), func(ctx context.Context) (localMinimum, error) {
				rng := rand.New(rand.NewPCG(uint64(s), 7))
				start := []float64{0, 0, math.Log(1e-5) + rng.Float64()*math.Log(1e6)}
				for range m {
					start = append(start, xs[rng.IntN(len(xs))]+0.1*rng.NormFloat64())
				}
				p := &objective.SparseProblem{Kernel: kernel.SE(1, false), Mean: kernel.ZeroMean{}, Rows: objective.Memory{X: x, Y: ys}, M: m, Keep: 1 << 30}
				if method == "fitc" {
					p.Objective = objective.FITC()
				} else {
					p.Objective = &objective.SparsePAC{Alpha: 1, Loss: pacbayes.Loss{Kind: pacbayes.Band, Below: 0.6}, Bound: pacbayes.KLBound,
						Penalty: pacbayes.Penalty(pacbayes.DefaultGrid.LogInverseP(2), 0, len(ys), 0.01)}
				}
				r, err := train.LBFGS{}.Minimize(ctx, p, train.Bounds{}, train.Start(start), nil)
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
	for i, method := range methods {
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
		fmt.Fprintf(env.Stdout, "%-7s best of %d: objective %.4g at σ_n² = %.3g (the paper: %s); σ_n² < 1e-4 in %d ends\n", method, starts, best.Value, best.Noise,
			map[string]string{"fitc": "about 1e-6", "kl-pac": "2.1e-2"}[method], low)
		p := plot.New()
		p.Title.Text, p.X.Label.Text, p.Y.Label.Text = method, "log₁₀ σ_n²", "objective"
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

// discretisation is one fit of Fig. 8.
type discretisation struct {
	LogTheta  float64 `json:"log_theta"` // ln|Θ|
	B         float64 `json:"b"`
	TrainRisk float64 `json:"train_risk"`
	TestRisk  float64 `json:"test_risk"`
	KLPerRow  float64 `json:"kl_per_row"`
}

// reebFig8 fits full PAC-GPs to draws from an SE-ARD GP with random lengthscales on
// [−3, 3]³ (ln l uniform in [−1, 1]; noise-free, as the paper has it), with grids of
// L ∈ {1, 2, 4, 8} and r ∈ {0, 1, 2, 4} digits. The paper has N = 2,000 training and
// 10,000 test points and 68 repetitions; here 500 test points of the same joint draw.
func reebFig8(ctx context.Context, env Env) error {
	n, test := 2000, 500
	if env.M > 0 {
		n = env.M // a smaller training set, for a quick look
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
	// The data depend on the repetition alone.
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
	kernel.FillSymmetric(k, theta, x, cov)
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
	xTrain, yTrain := x.RowRange(0, n), f[:n]

	loss := pacbayes.Loss{Kind: pacbayes.Band, Below: 0.6}
	terms := pacbayes.Terms{Loss: loss, EpsilonRaw: 0.6, Delta: 0.01, Grid: grid, Params: 4, Choices: 1, Scaling: "declared"}
	p := &objective.Problem{Kernel: k, Mean: kernel.ZeroMean{}, X: xTrain, Y: yTrain,
		Objective: &objective.PAC{Loss: loss, Bound: pacbayes.KLBound, Penalty: pacbayes.Penalty(grid.LogInverseP(4), 0, n, 0.01)}}
	lower, upper := slices.Repeat([]float64{-grid.L}, 5), slices.Repeat([]float64{grid.L}, 5)
	lower[4], upper[4] = math.Log(1e-6), math.Log(1e3)
	r, err := train.LBFGS{MaxEvaluations: 100}.Minimize(ctx, p, train.Bounds{Lower: lower, Upper: upper}, train.Start([]float64{0, 0, 0, 0, math.Log(0.1)}), nil)
	if err != nil {
		return discretisation{}, err
	}
	at := slices.Clone(r.X)
	grid.RoundAll(at[:4], at[:4])
	q, err := posterior.NewExact(k, at[:4], p.Mean, nil, xTrain, yTrain, math.Exp(at[4]))
	if err != nil {
		return discretisation{}, err
	}
	m, v := make([]float64, n), make([]float64, n)
	q.Latent(xTrain, m, v)
	c, err := terms.Certify(yTrain, m, v, nil, q.KL())
	if err != nil {
		return discretisation{}, err
	}
	m, v = m[:test], v[:test]
	q.Latent(x.RowRange(n, n+test), m, v)
	return discretisation{LogTheta: c.GridPenalty, B: c.Bound, TrainRisk: c.EmpiricalRisk, KLPerRow: c.KL / float64(n),
		TestRisk: pacbayes.Risk(loss, f[n:], m, v, nil, nil, nil)}, nil
}
