package main

import (
	"context"
	"fmt"
	"image/color"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/palette/moreland"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"

	"github.com/krigo-gp/krigo/internal/linalg"
	"github.com/krigo-gp/krigo/kernel"
	"github.com/krigo-gp/krigo/objective"
	"github.com/krigo-gp/krigo/train"
)

// landscape is the setting of Fig. 1 of "Optimize to Generalize in Gaussian Processes". The paper gives the length
// parameter 0.1, the variance 1.5, a fixed noise of 0.01, and the start (11, 0.4). It doesn't give N, M, the inputs'
// range, and the meaning of the length parameter ℓ. The authors' public script contour_plot_1.R (UMDataScienceLab/Renyi-GP)
// has 50 rows and 10 inducing inputs in equal steps from 0 to 5, the lengthscale 0.1 and the standard deviation 1.5.
// It learns the noise too, from 20 times a random number.
type landscape struct {
	Reading string // what ℓ is: "rate", k = v exp(−ℓd²/2), or "lengthscale", k = v exp(−d²/(2ℓ²))
	N, M    int
	Range   float64
	Even    bool // inputs in equal steps, not at random
	Script  bool // the inputs, inducing inputs and variance of the authors' script
	Noise   bool // the noise is learnt too, from the script's random starts
}

// landscapes are the two readings of ℓ. With the first, the start lies on a plain: the GP sees white noise, and the
// evidence's slope towards the long correlations of the data is 1e-7. The inducing inputs lie between the rows, so
// that the penalty tr(K − Q)/(2σ²) has a slope. With the second reading, the start has a long lengthscale and the
// data vary quickly. From there the negative log evidence itself falls steeply to the optimum.
var landscapes = []landscape{{"rate", 30, 15, 60, true, false, false}, {"lengthscale", 50, 25, 10, false, false, false},
	{"lengthscale", 50, 10, 5, true, true, false}, {"lengthscale", 50, 10, 5, true, true, true}}

const (
	landscapeNoise = 0.01
	landscapeSeeds = 100
)

var (
	landscapeTruth = [2]float64{0.1, 1.5} // ℓ, v
	landscapeStart = [2]float64{11, 0.4}
	landscapeGrid  = [2]span{{math.Log(0.003), math.Log(300), 93}, {math.Log(0.01), math.Log(100), 73}}
)

// span is n points from a to b.
type span struct {
	a, b float64
	n    int
}

func (s span) at(i int) float64 { return s.a + (s.b-s.a)*float64(i)/float64(s.n-1) }

func (l landscape) key(seed int) string {
	key := fmt.Sprintf("%s/n=%d/m=%d/range=%g/even=%v/seed=%d", l.Reading, l.N, l.M, l.Range, l.Even, seed)
	if l.Script {
		key += fmt.Sprintf("/script/noise=%v", l.Noise)
	}
	return key
}

// logL2 returns the kernel's parameter at ln ℓ.
func (l landscape) logL2(logLength float64) float64 {
	if l.Reading == "rate" {
		return -logLength
	}
	return 2 * logLength
}

func (l landscape) logLength(logL2 float64) float64 {
	if l.Reading == "rate" {
		return -logL2
	}
	return logL2 / 2
}

// parameters returns [θ, ln σ², Z] at (ln ℓ, ln v), with the inducing inputs z.
func (l landscape) parameters(logLength, logVariance float64, z []float64) []float64 {
	return append([]float64{l.logL2(logLength), logVariance, math.Log(landscapeNoise)}, z...)
}

// draw returns a problem and its inducing inputs.
func (l landscape) draw(seed int) (*objective.RenyiProblem, []float64, error) {
	rng := rand.New(rand.NewPCG(uint64(seed), 0x66696731))
	x, y, z := linalg.New(l.N, 1), make([]float64, l.N), make([]float64, l.M)
	for i := range l.N {
		x.Data[i] = l.Range * rng.Float64()
		if l.Even {
			x.Data[i] = l.Range * (float64(i) + 0.5) / float64(l.N)
		}
	}
	for i := range z {
		z[i] = l.Range * rng.Float64()
	}
	variance := landscapeTruth[1]
	if l.Script {
		variance *= variance
		for i := range l.N {
			x.Data[i] = l.Range * float64(i) / float64(l.N-1)
		}
		for i := range z {
			z[i] = l.Range * float64(i) / float64(l.M-1)
		}
	}
	k, c := kernel.SE(1, false), linalg.New(l.N, l.N)
	kernel.At(k, []float64{l.logL2(math.Log(landscapeTruth[0])), math.Log(variance)}).FillSymmetric(x, c)
	c.AddDiagonal(landscapeNoise)
	if err := linalg.Cholesky(c); err != nil {
		return nil, nil, err
	}
	white := make([]float64, l.N)
	for i := range white {
		white[i] = rng.NormFloat64()
	}
	for i := range y {
		y[i] = linalg.Dot(c.Row(i)[:i+1], white[:i+1])
	}
	return &objective.RenyiProblem{Kernel: k, Mean: kernel.ZeroMean{}, Rows: objective.Memory{X: x, Y: y}, M: l.M}, z, nil
}

// box leaves ℓ and v free, within the figure's scale and far beyond it.
func (l landscape) box(x []float64) train.Bounds {
	b := train.Bounds{Lower: slices.Clone(x), Upper: slices.Clone(x)}
	free := 2
	if l.Noise {
		free = 3
	}
	for i := range free {
		b.Lower[i], b.Upper[i] = -12, 12
	}
	return b
}

// path minimises −L_α for one α after another, each from where the last ended. It returns the points (ln ℓ, ln v) of
// every run, and the last value.
func (l landscape) path(ctx context.Context, p *objective.RenyiProblem, x []float64,
	alphas ...float64) (paths [][][2]float64, value float64, err error) {
	for _, alpha := range alphas {
		p.Alpha = alpha
		point := func(x []float64) [2]float64 { return [2]float64{l.logLength(x[0]), x[1]} }
		points := [][2]float64{point(x)}
		r, err := train.LBFGS{}.In(l.box(x)).Minimize(ctx, p, train.Start(x), func(s *train.State) error {
			points = append(points, point(s.X))
			return nil
		})
		if err != nil {
			return nil, 0, err
		}
		paths, x, value = append(paths, points), r.X, r.Value
	}
	return paths, value, nil
}

// falling returns values of α from 0.99 to 0 in equal steps.
func falling(steps int) []float64 {
	alphas := make([]float64, steps)
	for i := range alphas {
		alphas[i] = 0.99 * (1 - float64(i)/float64(steps-1))
	}
	return alphas
}

// fig1Result is −ln p(y) at the best point of the grid and at the ends of the two runs.
type fig1Result struct {
	Best, Plain, Annealed float64
	End                   [2]float64 // ℓ and v at the end of the plain run
}

func (l landscape) run(ctx context.Context, seed int) (fig1Result, error) {
	p, z, err := l.draw(seed)
	if err != nil {
		return fig1Result{}, err
	}
	r := fig1Result{Best: math.Inf(1)}
	for i := range landscapeGrid[0].n {
		for j := range landscapeGrid[1].n {
			if v, err := p.Evaluate(l.parameters(landscapeGrid[0].at(i), landscapeGrid[1].at(j), z), nil); err == nil {
				r.Best = min(r.Best, v)
			}
		}
	}
	start := l.parameters(math.Log(landscapeStart[0]), math.Log(landscapeStart[1]), z)
	if l.Noise {
		rng := rand.New(rand.NewPCG(uint64(seed), 0x7374617274))
		start = l.parameters(math.Log(2*rng.Float64()), 2*math.Log(2*rng.Float64()), z)
		start[2] = 2 * math.Log(20*rng.Float64())
	}
	paths, value, err := l.path(ctx, p, start, 0)
	if err != nil {
		return r, err
	}
	r.Plain = value
	end := paths[0][len(paths[0])-1]
	r.End = [2]float64{math.Exp(end[0]), math.Exp(end[1])}
	if _, r.Annealed, err = l.path(ctx, p, start, falling(12)...); err != nil && ctx.Err() == nil {
		r.Annealed = math.MaxFloat64 // a run that fails is stuck, and the other data sets go on
		err = nil
	}
	return r, err
}

func renyiFig1(ctx context.Context, env Env) error {
	seeds := env.reps(landscapeSeeds)
	var tasks []task[fig1Result]
	for _, l := range landscapes {
		for seed := range seeds {
			tasks = append(tasks, task[fig1Result]{l.key(seed),
				func(ctx context.Context) (fig1Result, error) { return l.run(ctx, seed) }})
		}
	}
	results, err := runAll(ctx, env, "renyi-fig1", tasks, nil)
	if err != nil {
		return err
	}
	w := env.Stdout
	fmt.Fprintf(w, `## Yue & Kontar, Optimize to Generalize, Fig. 1: loss surfaces

As in the paper, data come from a GP with length parameter ℓ = 0.1, variance 1.5 and noise variance 0.01. The noise is fixed.
L-BFGS starts at (ℓ, v) = (11, 0.4) and trains ln ℓ and ln v, either by the evidence, or with α falling from 0.99 to 0 in 12
stages. The paper doesn't give N, M and the range of the inputs, which the table shows, or the kernel's formula. If the kernel
is k = v exp(−ℓd²/2), the start is the local solution that the paper describes. At ℓ = 11 rows are uncorrelated, the GP is
white noise, and the evidence is flat in ℓ. The penalty of the α-ELBO isn't flat, because inducing inputs lie closer to rows
than rows to each other. If ℓ is a lengthscale, the start is a long lengthscale on data that vary quickly. The negative log
evidence falls steeply from there to the optimum, and few data sets get stuck. The last two rows have the authors' public
script: inputs and inducing inputs in equal steps, and 1.5 as the standard deviation. The very last also learns the noise,
from the script's random starts. A run is *stuck* if it ends more than 1 nat below the best point of a %d × %d grid of the
evidence.

`, landscapeGrid[0].n, landscapeGrid[1].n)
	header(w, []string{"ℓ is", "N", "M", "range", "inputs", "data sets", "evidence stuck", "of these, annealing isn't",
		"annealing stuck in all"})
	for i, l := range landscapes {
		var stuck, escaped, lost int
		for _, r := range results[i*seeds : (i+1)*seeds] {
			plain, annealed := r.Plain > r.Best+1, r.Annealed > r.Best+1
			if annealed {
				lost++
			}
			if plain {
				stuck++
				if !annealed {
					escaped++
				}
			}
		}
		inputs := map[bool]string{true: "equally spaced", false: "random"}[l.Even]
		reading := map[string]string{"rate": "the rate, exp(−ℓd²/2)", "lengthscale": "the lengthscale"}[l.Reading]
		if l.Script {
			reading += ", the authors' script"
		}
		if l.Noise {
			reading += ", noise learnt"
		}
		line(w, []string{reading,
			fmt.Sprint(l.N), fmt.Sprint(l.M),
			fmt.Sprintf("[0, %g]", l.Range), inputs, fmt.Sprint(seeds), fmt.Sprint(stuck), fmt.Sprint(escaped),
			fmt.Sprint(lost)})
	}
	fmt.Fprintln(w)
	return drawFig1(ctx, env, landscapes[0])
}

// surface is L_α as a function of (log₁₀ ℓ, log₁₀ v), cut off below.
type surface struct {
	values [][]float64
	grid   [2]span
}

func (s surface) Dims() (c, r int)   { return s.grid[0].n, s.grid[1].n }
func (s surface) Z(c, r int) float64 { return s.values[c][r] }
func (s surface) X(c int) float64    { return s.grid[0].at(c) / math.Ln10 }
func (s surface) Y(r int) float64    { return s.grid[1].at(r) / math.Ln10 }

// drawFig1 draws the surfaces of one data set for four values of α. Each has the path of the annealed run so far, and
// at α = 0 also the path of the plain run.
func drawFig1(ctx context.Context, env Env, l landscape) error {
	p, z, err := l.draw(0)
	if err != nil {
		return err
	}
	start := l.parameters(math.Log(landscapeStart[0]), math.Log(landscapeStart[1]), z)
	shown := falling(4)
	annealed, _, err := l.path(ctx, p, start, shown...)
	if err != nil {
		return err
	}
	plain, _, err := l.path(ctx, p, start, 0)
	if err != nil {
		return err
	}
	var plots []*plot.Plot
	for k, alpha := range shown {
		p.Alpha = alpha
		s := surface{grid: [2]span{{math.Log(0.01), math.Log(30), 60}, {math.Log(0.03), math.Log(30), 50}}}
		best := math.Inf(-1)
		for c := range s.grid[0].n {
			column := make([]float64, s.grid[1].n)
			for r := range column {
				v, err := p.Evaluate(l.parameters(s.grid[0].at(c), s.grid[1].at(r), z), nil)
				if err != nil {
					v = math.Inf(1)
				}
				column[r] = -v
				best = max(best, -v)
			}
			s.values = append(s.values, column)
		}
		for _, column := range s.values { // the figure needs only values near the maximum
			for r := range column {
				column[r] = -math.Log1p(best - max(column[r], best-1e5))
			}
		}
		f := plot.New()
		f.Title.Text = fmt.Sprintf("α = %.2f", alpha)
		f.X.Label.Text, f.Y.Label.Text = "log₁₀ ℓ", "log₁₀ v"
		f.Add(plotter.NewHeatMap(s, moreland.Kindlmann().Palette(64)))
		var until [][2]float64
		for _, part := range annealed[:k+1] {
			until = append(until, part...)
		}
		if err := addPath(f, "α falling", palette[4], until); err != nil {
			return err
		}
		if alpha == 0 {
			if err := addPath(f, "evidence", palette[3], plain[0]); err != nil {
				return err
			}
		}
		f.Legend.Top, f.Legend.Left, f.Legend.TextStyle.Color, f.Legend.YOffs = true, true, color.White, vg.Points(-6)
		plots = append(plots, f)
	}
	return save(env, "renyi-fig1", 36*vg.Centimeter, 10*vg.Centimeter, plots...)
}

func addPath(f *plot.Plot, label string, colour color.Color, points [][2]float64) error {
	var pts plotter.XYs
	for _, q := range points {
		pts = append(pts, plotter.XY{X: q[0] / math.Ln10, Y: q[1] / math.Ln10})
	}
	if err := addCurve(f, label, colour, pts); err != nil {
		return err
	}
	marks, err := plotter.NewScatter(pts)
	if err != nil {
		return err
	}
	marks.Color, marks.Radius = colour, vg.Points(2)
	f.Add(marks)
	return nil
}
