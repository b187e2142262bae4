package method

import (
	"cmp"
	"context"
	"fmt"
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
	Local
	MAP
	Solved // the solver cg estimates the evidence, without a stored matrix
}

var _ Method = Evidence{}

// Complete fills in the optimiser.
func (m *Evidence) Complete() {
	m.Optimizer = cmp.Or(m.Optimizer, "lbfgs")
	m.Local.Complete()
}

// Check reports settings that can't be combined.
func (m Evidence) Check(use Use) []error {
	wrong := m.checkSteps(m.Optimizer, use)
	wrong.If(m.Hyperprior == "weak" && (m.Solver == posterior.ByCG || m.OnBatches()),
		"hyperprior weak: the evidence can't use it on batches or with solver cg")
	wrong.If(m.Solver == posterior.ByNearest && !use.Given && !use.Sited && !m.OnBatches(),
		"solver nearest can't train: use fix-parameters, or train on batches")
	return wrong
}

// Bind implements Method. On batches the objective is the Rényi GP's at α = 0.
func (m Evidence) Bind(t Task) Problem {
	if m.OnBatches() {
		return Renyi{Local: m.Local, Evidence: true}.Bind(t)
	}
	if m.Solver == posterior.ByCG {
		e := &objective.IterativeEvidence{Kernel: t.Kernel, Mean: t.Mean, X: t.All.X, Y: t.All.Y,
			PerRow: t.All.PerRow, Ranks: t.Ranks, Seed: t.Seed, Context: t.Context,
			Progress: t.Progress}
		if t.GradientErrors {
			e.GradientErrors = make([]float64, e.Dim())
		}
		return &byCG{e, plain{t}, m.Descent()}
	}
	// A weak prior density of the parameters makes the evidence comparable between kernels. If its
	// densities aren't all normal, the search begins with wide normal ones.
	if m.Hyperprior == "weak" {
		wide := weakFor(t)
		sparse := wide.sparse(t)
		regular := slices.Equal(wide, sparse)
		weak := func() mode { return mode{t.evidence(), sparse} }
		one := weak()
		p := &marginal{&collapsed{named: one, plain: plain{t}, descent: m.Descent()}, one, weak,
			t.Comparing, nil}
		if !regular {
			p.wide = &collapsed{named: mode{t.evidence(), wide}, plain: plain{t},
				descent: m.Descent()}
		}
		return p
	}
	return &collapsed{named: t.evidence(), plain: plain{t}, descent: m.Descent()}
}

// FullGP returns the problem of a full GP that minimises o, with the evidence's parameters, box,
// start and posterior. A method with its own objective can return this problem from Bind.
func (t Task) FullGP(o objective.Exact, d Descent) Problem {
	return &collapsed{named: t.full(o), plain: plain{t}, descent: d}
}

// PAC is a PAC-Bayes bound on the risk of Q itself (Reeb et al. 2018).
// Q is a full GP, or the sparse posterior of D = αλ + σ_n².
type PAC struct {
	Inequality pacbayes.Inequality // KLBound or PinskerBound
	Sparse
	// Sparse kl-pac, sqrt-pac, pep: α of Q, 0 (VFE) to 1 (FITC), or learn; renyi: α of its bound, 0
	// (exact) to 1 (VFE), or cv.
	// Default: by objective.
	Alpha   float64 `set:"alpha" value:"A" range:"0:1"` // α in D = αλ + σ_n²; the first if learnt
	AlphaBy string  `set:"alpha" values:"learn"`        // learn: training changes α
	// Sparse GP: the objective's, fitc (α = 1), free (kl-pac, sqrt-pac).
	//
	// Posterior names the posterior: objective (the objective's own), fitc (always α = 1) or free.
	// With free, training goes on from the optimum with a free q(f_Z).
	Posterior string `set:"posterior" value:"P" values:"objective fitc free" default:"objective"`
	Steps
	Solver string `set:"solver" values:"auto cholesky" default:"auto"` // auto is cholesky
}

var _ Method = PAC{}

// Bind implements Method. Without inducing inputs the problem is the bound of the exact posterior,
// which is Q of all rows. With inducing inputs it is the bound of the sparse posterior at Alpha, or at
// an α that training learns.
func (m PAC) Bind(t Task) Problem {
	learn := m.AlphaBy == "learn"
	c := &collapsed{plain: plain{t}, descent: m.Descent(), alpha: m.Alpha, learnAlpha: learn &&
		t.M > 0, fitc: m.Posterior == "fitc"}
	if t.M == 0 {
		c.named = t.full(&objective.PAC{Loss: t.Loss, Bound: m.Inequality, Scale: t.Scale,
			Penalty: t.Penalty})
		return c
	}
	sparse := t.Sparse()
	sparse.LearnAlpha = learn
	sparse.Objective = &objective.SparsePAC{Alpha: m.Alpha, Loss: t.Loss, Bound: m.Inequality,
		Scale: t.Scale, Penalty: t.Penalty}
	c.named = sparse
	c.sparse = sparse
	return c
}

// Collapsed is a sparse objective whose Q follows from its parameters, such as objective.VFE, DTC
// and PEP.
type Collapsed struct {
	Objective objective.Sparse
	Alpha     float64 // α of its posterior: 0 for VFE and DTC, PEP's α for PEP
	Sparse
	Ended
	Steps
}

var _ Method = Collapsed{}

// Bind implements Method. The objective decides how Q follows from the parameters, and Alpha which
// posterior is made.
func (m Collapsed) Bind(t Task) Problem {
	sparse := t.Sparse()
	sparse.Objective = m.Objective
	return &collapsed{named: sparse, sparse: sparse, plain: plain{t}, descent: m.Descent(),
		alpha: m.Alpha, fitc: m.Posterior == "fitc"}
}

// PowerEP is PEP with a chosen α.
type PowerEP struct {
	Alpha float64 `set:"alpha" range:"0:1"` // α in D = αλ + σ_n², above 0
	Sparse
	Ended
	Steps
}

// Check refuses α = 0, which is vfe.
func (m PowerEP) Check(Use) []error {
	if m.Alpha > 0 {
		return nil
	}
	return []error{fmt.Errorf("alpha %v: pep takes 0 < α ≤ 1 (vfe is the limit 0, fitc is 1)",
		m.Alpha)}
}

// Bind implements Method: a Collapsed with PEP's objective at Alpha.
func (m PowerEP) Bind(t Task) Problem {
	return Collapsed{Objective: objective.PEP(m.Alpha), Alpha: m.Alpha, Steps: m.Steps,
		Ended: m.Ended}.Bind(t)
}

// named is an objective with the names of its parameters.
type named interface {
	train.Objective
	Names() []string
}

// collapsed is a problem whose Q is a function of [θ, β, ln σ_n², Z], and of α if it is learnt.
type collapsed struct {
	named
	sparse *objective.SparseProblem // the same objective; nil for a full GP
	plain
	descent    Descent
	alpha      float64
	learnAlpha bool
	fitc       bool
}

var _ Problem = (*collapsed)(nil)

// Diagnostics has the jitter that the last evaluation added to K_ZZ, or 0 for a full GP.
func (c *collapsed) Diagnostics() (d Diagnostics) {
	if c.sparse != nil {
		d.Jitter = c.sparse.Jitter
	}
	return d
}

// Start adds where the noise of groups starts: with half of its variance, and the length √d.
func (c *collapsed) Start(x []float64) ([]float64, error) {
	if c.task.correlates() && c.Dim() > len(x) {
		x = append(slices.Clip(x), 0, math.Log(float64(c.task.dims()))/2)
	}
	return x, nil
}

// Box returns the task's bounds, with 0 ≤ α ≤ 1 for a learnt α, which is the last parameter.
func (c *collapsed) Box(x []float64) train.Bounds {
	b := c.plain.Box(x)
	if c.learnAlpha {
		b.Lower[len(x)-1], b.Upper[len(x)-1] = 0, 1
	}
	return b
}

func (c *collapsed) Minimize(ctx context.Context, run Run, x []float64) (*train.Result, error) {
	return c.descent.Minimize(ctx, run.In(c.Box(x)), c.named, x)
}

// Posterior returns Q at x. A full GP has the exact Q of all rows, or of their sites. A sparse GP
// has the Q of α (Reeb et al. 2018, Eq. 11), which is 1 for FITC.
func (c *collapsed) Posterior(x []float64) (*posterior.Posterior, finding.List, error) {
	if c.task.M == 0 {
		if c.task.Noise != nil {
			return c.task.bySites(x)
		}
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
	return c.task.jittered(q, sparse.Jitter, err)
}
