package method

import (
	"context"
	"math"
	"slices"

	"github.com/krigo-gp/krigo/finding"
	"github.com/krigo-gp/krigo/objective"
	"github.com/krigo-gp/krigo/pacbayes"
	"github.com/krigo-gp/krigo/posterior"
	"github.com/krigo-gp/krigo/train"
)

// Evidence is −ln p(y) of a full GP.
type Evidence struct {
	Descent
	ByCG bool // estimated by conjugate gradients, without a stored matrix
	Weak bool // with the weak prior of its hyperparameters; not by conjugate gradients
}

var _ Method = Evidence{}

// Bind implements Method.
func (m Evidence) Bind(t Task) Problem {
	if m.ByCG {
		e := &objective.IterativeEvidence{Kernel: t.Kernel, Mean: t.Mean, X: t.All.X, Y: t.All.Y, Ranks: t.Ranks,
			Seed: t.Seed, Context: t.Context, Progress: t.Progress}
		if t.GradientErrors {
			e.GradientErrors = make([]float64, e.Dim())
		}
		return &byCG{e, t, m.Descent}
	}
	full := t.full(&objective.Evidence{})
	if m.Weak {
		weak := mode{full, weakFor(t)}
		return &marginal{&collapsed{named: weak, task: t, descent: m.Descent}, weak}
	}
	return &collapsed{named: full, task: t, descent: m.Descent}
}

// full is a full GP's problem.
func (t Task) full(o objective.Exact) *objective.Problem {
	return &objective.Problem{Kernel: t.Kernel, Mean: t.Mean, X: t.All.X, Y: t.All.Y, Objective: o}
}

// PAC is a PAC-Bayes bound on the risk of Q itself (Reeb et al. 2018): of a full GP, or of a sparse one with the
// posterior of D = αλ + σ_n².
type PAC struct {
	Descent
	Inequality pacbayes.Inequality // KLBound or PinskerBound
	Alpha      float64             // where it is learnt, that of the start
	LearnAlpha bool
	FITC       bool // the posterior is that of α = 1, whichever was trained
}

var _ Method = PAC{}

// Bind implements Method.
func (m PAC) Bind(t Task) Problem {
	c := &collapsed{task: t, descent: m.Descent, alpha: m.Alpha, learnAlpha: m.LearnAlpha && t.M > 0, fitc: m.FITC}
	if t.M == 0 {
		c.named = t.full(&objective.PAC{Loss: t.Loss, Bound: m.Inequality, Scale: t.Scale, Penalty: t.Penalty})
		return c
	}
	sparse := t.Sparse()
	sparse.LearnAlpha = m.LearnAlpha
	sparse.Objective = &objective.SparsePAC{Alpha: m.Alpha, Loss: t.Loss, Bound: m.Inequality, Scale: t.Scale,
		Penalty: t.Penalty}
	c.named, c.sparse = sparse, sparse
	return c
}

// Collapsed is a sparse objective whose Q follows from its parameters: by way of objective.VFE, DTC and PEP.
type Collapsed struct {
	Descent
	Objective objective.Sparse
	Alpha     float64 // of its posterior: 0 for VFE and DTC, that of PEP
	FITC      bool    // the posterior is that of α = 1
}

var _ Method = Collapsed{}

// Bind implements Method.
func (m Collapsed) Bind(t Task) Problem {
	sparse := t.Sparse()
	sparse.Objective = m.Objective
	return &collapsed{named: sparse, sparse: sparse, task: t, descent: m.Descent, alpha: m.Alpha, fitc: m.FITC}
}

// named is an objective with the names of its parameters.
type named interface {
	train.Objective
	Names() []string
}

// collapsed is a problem whose Q is a function of [θ, β, ln σ_n², Z], and of α where that is learnt.
type collapsed struct {
	named
	sparse     *objective.SparseProblem // the same; nil of a full GP
	task       Task
	descent    Descent
	alpha      float64
	learnAlpha bool
	fitc       bool
}

var _ Problem = (*collapsed)(nil)

// Diagnostics implements Problem.
func (c *collapsed) Diagnostics() (d Diagnostics) {
	if c.sparse != nil {
		d.Jitter = c.sparse.Jitter
	}
	return d
}

// Box implements Problem.
func (c *collapsed) Box(x []float64) train.Bounds {
	b := c.task.box(x, true)
	if c.learnAlpha {
		b.Lower[len(x)-1], b.Upper[len(x)-1] = 0, 1
	}
	return b
}

// Start implements Problem.
func (c *collapsed) Start(x []float64) ([]float64, error) { return x, nil }

// Minimize implements Problem.
func (c *collapsed) Minimize(ctx context.Context, run Run, x []float64) (*train.Result, error) {
	return c.descent.Minimize(ctx, run.In(c.Box(x)), c.named, x)
}

// Posterior implements Problem.
func (c *collapsed) Posterior(x []float64) (*posterior.Posterior, finding.List, error) {
	if c.task.M == 0 {
		return c.task.exact(c.task.All, x)
	}
	alpha := c.alpha
	switch {
	case c.fitc:
		alpha = 1
	case c.learnAlpha:
		alpha = x[len(x)-1]
	}
	sparse := c.task.Sparse()
	q, err := sparse.Posterior(x, alpha)
	return jittered(q, sparse.Jitter, err)
}

// Follows returns the Q that a method makes of the [θ, β, ln σ_n², Z] of a sparse posterior q and the task's rows, in
// closed form; nil where the method trains more than these.
func (c Choice) Follows(t Task, q *posterior.Posterior) (*posterior.Posterior, error) {
	p, ok := c.whole().Method().Bind(t).(*collapsed)
	if !ok || p.learnAlpha && !p.fitc {
		return nil, nil
	}
	x := slices.Concat(q.Theta, q.Beta, []float64{math.Log(q.Noise)}, q.Support.Data)
	if p.learnAlpha {
		x = append(x, p.alpha)
	}
	again, _, err := p.Posterior(x)
	return again, err
}
