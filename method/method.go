// Package method holds the ways to train a Gaussian process. A method is a value: a struct of what
// it may be asked, and nothing else. Bound to a task, which is rows with a kernel and a mean, it is a problem that
// knows how it is minimised from a start and which posterior it makes. Methods know neither tables nor flags.
package method

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/krigo-gp/krigo/finding"
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
	// Bind makes it the problem of a task.
	Bind(Task) Problem
}

// Task is what a method is bound to.
type Task struct {
	Kernel kernel.Kernel
	Mean   kernel.Mean
	Rows   objective.Rows // to train on, of this rank, in scaled units
	N      int            // rows of all ranks
	Ranks  ranks.Ranks
	Seed   uint64

	M         int                              // inducing inputs; 0: a full GP
	MinJitter float64                          // added to K_ZZ even where it can be factored without
	All       objective.Memory                 // the rows of all ranks, of a full GP
	Whole     func() (objective.Memory, error) // the same, where a sparse objective ends as a full GP

	// Of bounds: the loss, |y_raw| in scaled units for losses relative to it, and what is paid besides KL.
	Loss    pacbayes.Loss
	Scale   []float64
	Penalty float64

	// The box of the prior's parameters is [−Limit, Limit], or where Held is set the point itself, as is
	// that of inducing inputs where FixInducing is.
	Limit       float64
	Held        bool
	FixInducing bool

	// Solver is how the posterior of a full GP is solved: posterior.ByCholesky, ByCG or ByNearest, by as many
	// rows next to each as Neighbours says (0: NearestRows). Unseen returns the inputs of some rows, and says
	// which, that the variances of one by conjugate gradients are compared at with exact ones.
	Solver     string
	Neighbours int
	Unseen     func() (x matrix.Dense, which string, err error)

	Context  context.Context          // of single solves
	Progress func(iterative.Progress) // of these

	GradientErrors bool // estimates say how far off their gradients may be
}

// Problem is what is minimised, over [θ, β, ln σ_n², Z] and what a method adds to it.
type Problem interface {
	train.Objective
	// Names returns the name of every parameter.
	Names() []string
	// Box bounds the parameters; where some are held they stay as in x.
	Box(x []float64) train.Bounds
	// Start turns collapsed parameters, [θ, β, ln σ_n², Z] with α where it is learnt, into the problem's.
	Start(collapsed []float64) ([]float64, error)
	// Minimize trains from x, or goes on from where the run stands.
	Minimize(ctx context.Context, run Run, x []float64) (*train.Result, error)
	// Posterior returns Q at x, and what a person should know of it.
	Posterior(x []float64) (*posterior.Posterior, finding.List, error)
	// Diagnostics returns what it knows besides its value; figures are those of the last evaluation.
	Diagnostics() Diagnostics
}

// plain is what problems whose parameters are [θ, β, ln σ_n², Z] have in common.
type plain struct{ task Task }

// Box implements Problem.
func (p plain) Box(x []float64) train.Bounds { return p.task.box(x, true) }

// Start implements Problem.
func (plain) Start(x []float64) ([]float64, error) { return x, nil }

// Diagnostics are what a problem knows besides its value. The zero value of a field says that there is none.
type Diagnostics struct {
	Jitter         float64   // added to the diagonal of K_ZZ
	StandardError  *float64  // of the value, where that is an estimate
	GradientErrors []float64 // standard errors of the gradient, where that is an estimate and the task asks for them

	// Bounds returns bounds of the evidence of a method's own.
	Bounds func(x []float64) (objective.Sandwich, error)
	// Marginal returns −ln ∫ p(y | x) p(x) dx about the mode x, or +∞ where that isn't below some value, of parameters
	// with a prior density p(x).
	Marginal func(x []float64, below float64) (float64, error)

	FreeForm  *objective.FreeFormProblem // of a q that is a parameter
	Conjugate bool                       // the optimum of that q is known
}

// keepBytes of V = L⁻¹K_ZX may stay in memory between the passes of an evaluation.
const keepBytes = 1 << 30

// Sparse returns a sparse problem over the rows, its objective still open.
func (t Task) Sparse() *objective.SparseProblem {
	return &objective.SparseProblem{Kernel: t.Kernel, Mean: t.Mean, Rows: t.Rows, M: t.M, Keep: keepBytes,
		MinJitter: t.MinJitter, Ranks: t.Ranks}
}

// prior is the number of the prior's parameters, [θ, β].
func (t Task) prior() int { return len(t.Kernel.Params()) + len(t.Mean.Params()) }

// dims is the number of inputs.
func (t Task) dims() int {
	_, d := t.Rows.Dims()
	return d
}

// LeastNoise and MostNoise bound the noise variance, which isn't on the grid: it shapes Q alone.
const (
	LeastNoise = 1e-8
	MostNoise  = 1e6
)

// box bounds the parameters: the prior's by the grid, the noise, unless that is no parameter, inducing inputs not
// at all, or to where x has them if they are fixed.
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
	if noise {
		b.Lower[n], b.Upper[n] = math.Log(LeastNoise), math.Log(MostNoise)
		n++
	}
	if t.FixInducing {
		hold(n, n+t.M*t.dims())
	}
	return b
}

// parameters cuts [θ, β, ln σ_n², …].
func (t Task) parameters(x []float64) (theta, beta []float64, noise float64) {
	nk, g := len(t.Kernel.Params()), t.prior()
	return x[:nk], x[nk:g], math.Exp(x[g])
}

// exact returns the full GP's Q at [θ, β, ln σ_n², …], as its solver has it.
func (t Task) exact(all objective.Memory, x []float64) (*posterior.Posterior, finding.List, error) {
	theta, beta, noise := t.parameters(x)
	switch t.Solver {
	case posterior.ByNearest:
		return posterior.NewNearest(posterior.Given{Kernel: t.Kernel, Theta: theta, Mean: t.Mean, Beta: beta, Noise: noise,
				X: all.X, Y: all.Y}, cmp.Or(t.Neighbours, NearestRows)),
			nil, nil
	case posterior.ByCG:
		return t.iterative(all, theta, beta, noise)
	}
	q, err := posterior.NewExact(posterior.Given{Kernel: t.Kernel, Theta: theta, Mean: t.Mean, Beta: beta, Noise: noise,
		X: all.X, Y: all.Y})
	return q, nil, err
}

// NearestRows are what a variance stands on where all rows are too many to factor, and a
// whole prediction where they are too many to solve. One takes about 10 ms of a core.
const NearestRows = 1024

// iterative returns Q by conjugate gradients, and says how good its variances are.
func (t Task) iterative(all objective.Memory, theta, beta []float64, noise float64) (*posterior.Posterior,
	finding.List, error) {
	o := posterior.Iterative{Progress: t.Progress, Ranks: t.Ranks}
	q, err := posterior.NewIterative(t.Context, posterior.Given{Kernel: t.Kernel, Theta: theta, Mean: t.Mean, Beta: beta,
		Noise: noise, X: all.X, Y: all.Y}, NearestRows, o)
	if err != nil {
		return nil, nil, err
	}
	x, which, err := t.Unseen()
	if err != nil {
		return nil, nil, err
	}
	o.Tolerance = 1e-3
	mean, largest, err := q.Excess(t.Context, x, o)
	if err != nil {
		return nil, nil, err
	}
	return q, finding.List{finding.New(finding.CGVariances, min(NearestRows, all.X.Rows), x.Rows, which, mean,
		largest)}, nil
}

// jittered passes a sparse posterior on, with a finding of the jitter it needed.
func jittered(q *posterior.Posterior, jitter float64, err error) (*posterior.Posterior, finding.List,
	error) {
	if err == nil && jitter > 0 {
		return q, finding.List{finding.New(finding.Jitter, jitter)}, nil
	}
	return q, nil, err
}
