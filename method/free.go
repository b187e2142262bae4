package method

import (
	"context"
	"slices"

	"github.com/krigo-gp/krigo/finding"
	"github.com/krigo-gp/krigo/objective"
	"github.com/krigo-gp/krigo/pacbayes"
	"github.com/krigo-gp/krigo/posterior"
	"github.com/krigo-gp/krigo/train"
)

// Defaults of training free-form posteriors on batches.
// Free starts at an optimum, where only small steps make sense.
const (
	defaultBatch    = 1000
	defaultRate     = 0.02
	defaultFreeRate = 0.001
)

// maxLogChol bounds |ln L'_jj| of a free-form q.
// In whitened coordinates, in which the prior's variance is 1, the variances of q are then within
// e^±40.
const maxLogChol = 20

// SVGP is the energy of VFE as a sum over rows, with q(f_Z) as a parameter.
// If Noise isn't "", it is the energy of another likelihood.
type SVGP struct {
	Sparse
	Batched
	Noise string // name of a noise that objective.RegisterNoise knows; "": Gaussian noise
}

// Likelihood returns the name of the noise.
func (m SVGP) Likelihood() string { return m.Noise }

var _ Method = SVGP{}

// Bind implements Method. The parameters are [θ, β, ln σ_n², Z] and those of q. On batches, q takes
// natural-gradient steps and all else takes Adam's.
func (m SVGP) Bind(t Task) Problem {
	of, _ := objective.NoiseOf(m.Noise)
	noise := of.(pacbayes.Expectation) // as objective.RegisterNoise takes it
	f := &free{FreeFormProblem: t.free(&objective.SVGP{Noise: noise}, 0), task: t,
		descent: m.Descent(), noise: true, conjugate: m.Noise == ""}
	if m.OnBatches() {
		a := m.adam(t.N, t.Seed, defaultBatch, defaultRate, defaultSteps)
		// q averages over about 1/ρ batches, which are ten batches, or an epoch if the epoch has
		// fewer.
		a.NaturalStep = max(0.1, 1/float64(a.Batches(t.N)))
		f.batches = &a
	}
	return f
}

// Free is a PAC-Bayes bound of a free-form q(f_Z).
// Training starts from the optimum of a PAC, which is a bound for a collapsed Q.
type Free struct {
	Batched
	Inequality pacbayes.Inequality
	Noise      float64 // σ_n² of the collapsed posterior with which q starts
	Alpha      float64 // α of that posterior; if α was learnt, it is the last collapsed parameter
	LearnAlpha bool
}

var _ Method = Free{}

// Bind implements Method. The noise variance is fixed at m.Noise, because it only shaped the
// posterior with which q starts.
func (m Free) Bind(t Task) Problem {
	f := &free{FreeFormProblem: t.free(&objective.FreePAC{Loss: t.Loss, Bound: m.Inequality,
		Scale: t.Scale, Penalty: t.Penalty}, m.Noise), task: t, descent: m.Descent(),
		alpha: m.Alpha, learnAlpha: m.LearnAlpha}
	if m.OnBatches() {
		f.batches = new(m.adam(t.N, t.Seed, defaultBatch, defaultFreeRate, defaultSteps))
	}
	return f
}

// free is a problem that has the distribution q itself among its parameters.
type free struct {
	*objective.FreeFormProblem
	task       Task
	descent    Descent
	batches    *train.Adam // nil: all rows in every step
	noise      bool        // σ_n² is a parameter, as it is for svgp
	conjugate  bool        // svgp with Gaussian noise: the optimal q is known
	alpha      float64
	learnAlpha bool
}

var _ Problem = (*free)(nil)

// free returns the problem of objective o with a free-form q, for M inducing inputs. noise is a
// fixed σ_n², or 0 if it is a parameter.
func (t Task) free(o objective.FreeForm, noise float64) *objective.FreeFormProblem {
	return &objective.FreeFormProblem{Kernel: t.Kernel, Mean: t.Mean, Rows: t.Rows, M: t.M,
		Keep: keepBytes, MinJitter: t.MinJitter, Objective: o, Noise: noise, Ranks: t.Ranks}
}

// Diagnostics has the jitter of the last evaluation, and says whether the optimal q is known.
func (p *free) Diagnostics() Diagnostics {
	return Diagnostics{Jitter: p.Jitter, FreeForm: p.FreeFormProblem, Conjugate: p.conjugate}
}

// Box returns the task's bounds, with |ln L'_jj| ≤ maxLogChol for q's Cholesky factor.
func (p *free) Box(x []float64) train.Bounds {
	b := p.task.box(x, p.noise)
	for j := range p.task.M {
		i := p.DiagonalIndex(j)
		b.Lower[i], b.Upper[i] = -maxLogChol, maxLogChol
	}
	return b
}

// Start returns parameters whose q is the sparse posterior (Eq. 11 of Reeb et al. 2018) of the
// collapsed parameters.
func (p *free) Start(collapsed []float64) ([]float64, error) {
	alpha := p.alpha
	if p.learnAlpha {
		alpha = collapsed[len(collapsed)-1]
	}
	x, err := p.StartFrom(collapsed, alpha)
	if err != nil {
		return nil, &train.StartError{Reason: err}
	}
	return x, nil
}

// Minimize trains from x0, on all rows or on batches. After batches it returns the best on all rows
// of the last point, the point before and x0. If the optimal q is known, each of these points first
// gets it.
func (p *free) Minimize(ctx context.Context, run Run, x0 []float64) (*train.Result, error) {
	box := p.Box(x0)
	if p.batches == nil {
		return p.descent.Minimize(ctx, run.In(box), p.FreeFormProblem, x0)
	}
	s, err := onBatches(ctx, run, p.FreeFormProblem, searches{}, *p.batches, box, x0)
	if err != nil {
		return nil, err
	}
	return lowest(s, box, [][]float64{s.X, s.Previous, x0}, func(x []float64) (float64, error) {
		if p.conjugate {
			return p.Optimise(x)
		}
		return p.Evaluate(x, nil)
	})
}

// Posterior returns Q. If the optimal q is known, Posterior first moves q there, because the other
// parameters were rounded after training.
func (p *free) Posterior(x []float64) (*posterior.Posterior, finding.List, error) {
	if p.conjugate {
		x = slices.Clone(x)
		if _, err := p.Optimise(x); err != nil {
			return nil, nil, err
		}
	}
	q, err := p.FreeFormProblem.Posterior(x)
	return p.task.jittered(q, p.Jitter, err)
}
