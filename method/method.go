// Package method holds the ways to train a Gaussian process.
// A method is a struct that holds its settings and nothing else.
// Bind joins a method with a task, which is rows with a kernel and a mean, and returns a Problem.
// A problem knows how to minimise itself from a start, and which posterior it makes.
// Methods know neither tables nor flags.
//
// This program trains a full Gaussian process on six rows by the evidence, and predicts between
// them:
//
//	package main
//
//	import (
//		"context"
//		"fmt"
//		"log"
//
//		"github.com/krigo-gp/krigo/kernel"
//		"github.com/krigo-gp/krigo/matrix"
//		"github.com/krigo-gp/krigo/method"
//		"github.com/krigo-gp/krigo/objective"
//		"github.com/krigo-gp/krigo/train"
//	)
//
//	func main() {
//		x, y := matrix.Of(6, 1, []float64{0, 1, 2, 3, 4, 5}), []float64{0, 0.8, 0.9, 0.1, -0.8, -1}
//		rows := objective.Memory{X: x, Y: y}
//		p := method.Evidence{}.Bind(method.Task{
//			Kernel: kernel.SE(1, false), Mean: kernel.ZeroMean{}, Rows: rows, All: rows, N: len(y), Limit: 10,
//		})
//		start := make([]float64, p.Dim()) // [θ, ln σ_n²]
//		best, err := train.LBFGS{}.In(p.Box(start)).Minimize(context.Background(), p, train.Start(start), nil)
//		if err != nil {
//			log.Fatal(err)
//		}
//		q, _, err := p.Posterior(best.X)
//		if err != nil {
//			log.Fatal(err)
//		}
//		mean, variance := make([]float64, 1), make([]float64, 1)
//		q.Latent(matrix.Of(1, 1, []float64{1.5}), mean, variance)
//		fmt.Printf("%.2f\n", mean[0])
//		// Output:
//		// 0.98
//	}
//
// θ are the kernel's parameters, β the mean's, σ_n² is the noise variance, Z are the inducing
// inputs, f_Z the values of f there, and Q is the posterior.
// An informed prior was learnt on rows set aside for it, the prior rows.
// A rank is one of several processes that share the rows.
package method

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/krigo-gp/krigo/finding"
	"github.com/krigo-gp/krigo/internal/lists"
	"github.com/krigo-gp/krigo/iterative"
	"github.com/krigo-gp/krigo/kernel"
	"github.com/krigo-gp/krigo/matrix"
	"github.com/krigo-gp/krigo/objective"
	"github.com/krigo-gp/krigo/pacbayes"
	"github.com/krigo-gp/krigo/posterior"
	"github.com/krigo-gp/krigo/ranks"
	"github.com/krigo-gp/krigo/train"
)

// Method is a way to train: Evidence, PAC, Collapsed, SVGP, Free, Renyi, Nearest.
type Method interface {
	// Bind returns the problem of training with the method on a task.
	Bind(Task) Problem
}

// Task holds what a method is bound to.
type Task struct {
	Kernel kernel.Kernel
	Mean   kernel.Mean
	Rows   objective.Rows // this rank's rows to train on, in scaled units
	N      int            // number of rows of all ranks
	Ranks  ranks.Ranks
	Seed   uint64

	M         int              // number of inducing inputs; 0: a full GP
	MinJitter float64          // least number to add to the diagonal of K_ZZ
	All       objective.Memory // rows of all ranks, for a full GP
	// rows of all ranks, for a sparse objective that ends as a full GP
	Whole func() (objective.Memory, error)

	// For bounds: the loss, |y_raw| in scaled units if the loss is relative to it, and what is paid
	// besides KL.
	Loss    pacbayes.Loss
	Scale   []float64
	Penalty float64

	// The prior's parameters stay in [−Limit, Limit]. If Held is set, they stay where they start.
	// If FixInducing is set, the inducing inputs stay where they start.
	Limit       float64
	Held        bool
	FixInducing bool

	Noise objective.Sited // a noise that takes sites (objective.EPEvidence), or nil
	// with such a noise, ByNearest may be inducing inputs, if these predict better
	Either  bool
	Started bool // training starts from parameters that were trained before

	// Solver says how the posterior of a full GP is solved:
	// posterior.ByCholesky, ByCG or ByNearest. ByNearest makes each prediction from the Neighbours
	// nearest rows (0: NearestRows). ByCG compares its variances with exact variances at the inputs
	// x that Unseen returns. The string which names the rows that have these inputs.
	Solver     string
	Neighbours int
	Unseen     func() (x matrix.Dense, which string, err error)

	Context  context.Context          // ends solves by conjugate gradients
	Progress func(iterative.Progress) // Progress gets the progress of solves by conjugate gradients
	// Comparing gets how many of the second derivatives are done that a comparison of kernels
	// takes. It may be nil.
	Comparing func(done, of int)

	// predictions are asked for between and beyond the rows, as on a map; see
	// objective.NearestProblem
	Apart bool
	// the group of each row of All, or nil; rows of a group say more of one another than of rows of
	// further groups
	Units []int

	GradientErrors bool // asks for the standard errors of estimated gradients
}

// Problem is a function to minimise, of [θ, β, ln σ_n², Z] and of parameters that the method adds.
type Problem interface {
	train.Objective
	// Names returns the name of every parameter.
	Names() []string
	// Box returns the bounds of the parameters. Held parameters stay at their values in x.
	Box(x []float64) train.Bounds
	// Start turns collapsed parameters, [θ, β, ln σ_n², Z] and α if it is learnt, into the
	// problem's parameters.
	Start(collapsed []float64) ([]float64, error)
	// Minimize trains from x, or resumes the run from its last state.
	Minimize(ctx context.Context, run Run, x []float64) (*train.Result, error)
	// Posterior returns Q at x, and findings about Q for people.
	Posterior(x []float64) (*posterior.Posterior, finding.List, error)
	// Diagnostics returns what the problem knows besides its value.
	// Its figures are from the last evaluation.
	Diagnostics() Diagnostics
}

// Racer is a problem that may be one of several, for several kernels.
// Only one of them is then trained to the end.
type Racer interface {
	Problem
	// Races says whether the settings leave the number of steps to krigo.
	Races() bool
	// Race takes the first steps of Minimize, which later goes on from there.
	// The result's value says how well the kernel predicts.
	Race(ctx context.Context, run Run, x []float64) (*train.Result, error)
	// Judge returns the value of Race's result at another x, such as the end of Minimize.
	Judge(x []float64) (float64, error)
}

// plain holds what all problems with the parameters [θ, β, ln σ_n², Z] share.
type plain struct{ task Task }

// Box returns the task's bounds, with the noise variance as a parameter.
func (p plain) Box(x []float64) train.Bounds       { return p.task.box(x, true) }
func (plain) Start(x []float64) ([]float64, error) { return x, nil }

// Diagnostics holds what a problem knows besides its value.
// A field is zero if the problem doesn't know it.
type Diagnostics struct {
	Jitter         float64   // added to the diagonal of K_ZZ
	StandardError  *float64  // standard error of the value, if the value is an estimate
	GradientErrors []float64 // standard errors of an estimated gradient, if the task asks for them

	// Bounds returns the method's own bounds of the evidence.
	Bounds func(x []float64) (objective.Sandwich, error)
	// Marginal returns −ln ∫ p(y | x) p(x) dx about the mode x where training ended, for a prior
	// density p(x) of the parameters. If the result isn't less than the argument below, Marginal
	// may return +∞.
	Marginal func(mode *train.Result, below float64) (float64, error)
	Peak     float64 // about −ln p(x) at its largest

	FreeForm  *objective.FreeFormProblem // the problem, if q is a parameter
	Conjugate bool                       // the optimal q is known
}

// keepBytes is how much of V = L⁻¹K_ZX may stay in memory between the passes of an evaluation.
const keepBytes = 1 << 30

// Sparse returns a sparse problem over the rows. The caller sets its objective.
func (t Task) Sparse() *objective.SparseProblem {
	return &objective.SparseProblem{Kernel: t.Kernel, Mean: t.Mean, Rows: t.Rows, M: t.M,
		Keep: keepBytes, MinJitter: t.MinJitter, Ranks: t.Ranks}
}

// prior returns the number of the prior's parameters, [θ, β].
func (t Task) prior() int { return len(t.Kernel.Params()) + len(t.Mean.Params()) }

// dims returns the number of inputs.
func (t Task) dims() int {
	_, d := t.Rows.Dims()
	return d
}

// LeastNoise and MostNoise bound the noise variance.
// The noise variance isn't on the prior's grid, since it only shapes Q.
const (
	LeastNoise = 1e-8
	MostNoise  = 1e6
)

// box returns the bounds of the parameters: the grid's limits for θ and β, limits for the noise if
// it is a parameter, and no limits for inducing inputs.
// Parameters that are held or fixed stay at their values in x.
func (t Task) box(x []float64, noise bool) train.Bounds {
	n := t.prior()
	b := train.Bounds{Lower: slices.Repeat([]float64{math.Inf(-1)}, len(x)),
		Upper: slices.Repeat([]float64{math.Inf(1)}, len(x))}
	for i := range n {
		b.Lower[i], b.Upper[i] = -t.Limit, t.Limit
	}
	hold := func(from, to int) {
		copy(b.Lower[from:to], x[from:to])
		copy(b.Upper[from:to], x[from:to])
	}
	if t.Held {
		hold(0, n)
	}
	// Noises that take sites without a scale have no variance to learn, so the parameter stays at
	// ln 1 = 0.
	if noise {
		if b.Lower[n], b.Upper[n] = math.Log(LeastNoise), math.Log(MostNoise); t.Noise != nil &&
			!t.Noise.Scaled() {
			b.Lower[n], b.Upper[n] = 0, 0
		}
		n++
	}
	for i := n; (t.Noise != nil || t.correlates()) && i < len(x); i++ { // Problem.More
		b.Lower[i], b.Upper[i] = -t.Limit, t.Limit
	}
	if t.FixInducing {
		hold(n, n+t.M*t.dims())
	}
	return b
}

// parameters splits [θ, β, ln σ_n², …] into θ, β and σ_n².
func (t Task) parameters(x []float64) (theta, beta []float64, noise float64) {
	nk := len(t.Kernel.Params())
	g := t.prior()
	return x[:nk], x[nk:g], math.Exp(x[g])
}

// evidence returns the problem of the evidence.
func (t Task) evidence() *objective.Problem {
	if t.Noise != nil {
		p := t.full(&objective.EPEvidence{Noise: t.Noise, Shift: t.All.Shift})
		o, _ := t.Noise.(objective.Ordinal)
		p.More = lists.To(o.Steps(), func(i int) string { return fmt.Sprintf("log_step%d", i+1) })
		return p
	}
	if t.correlates() {
		p := t.full(&objective.Evidence{Pairs: objective.PairsOf(t.All.X, t.Units)})
		p.More = []string{"log_group_odds", "log_group_length"}
		return p
	}
	return t.full(&objective.Evidence{})
}

// correlates says whether the noise of rows of a group is correlated in the evidence, so that it
// learns what groups have in common. Q takes this noise as independent, since a further group
// shares it with none.
func (t Task) correlates() bool { return t.Units != nil && t.Noise == nil && t.All.PerRow.Same() }

// full returns the problem of a full GP with the objective o.
func (t Task) full(o objective.Exact) *objective.Problem {
	p := &objective.Problem{Kernel: t.Kernel, Mean: t.Mean, X: t.All.X, Y: t.All.Y,
		PerRow: t.All.PerRow, Objective: o}
	p.Replicates()
	return p
}

// exact returns the full GP's Q at [θ, β, ln σ_n², …], solved by the task's Solver.
func (t Task) exact(all objective.Memory, x []float64) (*posterior.Posterior, finding.List, error) {
	theta, beta, noise := t.parameters(x)
	switch t.Solver {
	case posterior.ByNearest:
		return posterior.NewNearest(posterior.Given{Kernel: t.Kernel, Theta: theta,
			Mean: t.Mean, Beta: beta, Noise: noise, X: all.X, Y: all.Y, PerRow: all.PerRow},
			cmp.Or(t.Neighbours, NearestRows)), nil, nil
	case posterior.ByCG:
		return t.iterative(all, theta, beta, noise)
	}
	q, err := posterior.NewExact(posterior.Given{Kernel: t.Kernel, Theta: theta, Mean: t.Mean,
		Beta: beta, Noise: noise, X: all.X, Y: all.Y, PerRow: all.PerRow})
	return q, nil, err
}

// NearestRows is the number of rows that a variance is conditioned on if there are too many rows to
// factor, or a whole prediction if there are too many rows to solve for.
// One prediction takes about 10 ms on one core.
const NearestRows = 1024

// iterative returns Q by conjugate gradients, and a finding that says how good the variances are.
func (t Task) iterative(all objective.Memory, theta, beta []float64,
	noise float64) (*posterior.Posterior, finding.List, error) {
	o := posterior.Iterative{Progress: t.Progress, Ranks: t.Ranks}
	var err error
	if o.Preconditioner, err = iterative.PivotedCholesky(iterative.Covariance{Kernel: t.Kernel,
		Theta: theta, X: all.X, Noise: noise, Noises: all.PerRow.Each(all.X.Rows, noise)},
		iterative.Rank(all.X.Rows)); err != nil {
		return nil, nil, err
	}
	q, err := posterior.NewIterative(t.Context, posterior.Given{Kernel: t.Kernel, Theta: theta,
		Mean: t.Mean, Beta: beta, Noise: noise, X: all.X, Y: all.Y, PerRow: all.PerRow},
		NearestRows, o)
	if err != nil {
		return nil, nil, err
	}
	// A finding tells people how far the variances from nearest rows exceed exact ones at some
	// inputs.
	x, which, err := t.Unseen()
	if err != nil {
		return nil, nil, err
	}
	o.Tolerance = 1e-3
	mean, largest, err := q.Excess(t.Context, x, o)
	if err != nil {
		return nil, nil, err
	}
	return q, finding.List{finding.New(finding.CGVariances, min(NearestRows, all.X.Rows), x.Rows,
		which, mean, largest)}, nil
}

// jittered adds findings to a sparse posterior: its jitter, and how far rounding moves its log
// likelihood if that is more than 10⁻⁶ nats a row.
func (t Task) jittered(q *posterior.Posterior, jitter float64,
	err error) (*posterior.Posterior, finding.List, error) {
	if err != nil {
		return q, nil, err
	}
	var found finding.List
	if jitter > 0 {
		found.Add(finding.Jitter, jitter)
	}
	if nats := q.Solution.(*posterior.Inducing).Doubt(q); nats > 1e-6*float64(t.N) {
		found.Add(finding.Rounding, nats)
	}
	return q, found, nil
}
