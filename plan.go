package krigo

import (
	"context"
	"fmt"
	"slices"

	"github.com/krigo-gp/krigo/internal/faults"

	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/finding"
	"github.com/krigo-gp/krigo/internal/linalg"
	"github.com/krigo-gp/krigo/iterative"
	"github.com/krigo-gp/krigo/matrix"
	"github.com/krigo-gp/krigo/memory"
	"github.com/krigo-gp/krigo/method"
	"github.com/krigo-gp/krigo/objective"
	"github.com/krigo-gp/krigo/posterior"
)

// plan is a stage with every decision made: all fields of its method are set (Inducing is 0 for a
// full GP). It doesn't change.
type plan struct {
	stage
	z        linalg.Matrix    // inducing inputs that training starts from
	all      objective.Memory // scaled rows of all ranks, only for a full GP
	varied   []float64        // a_i of the rows of a sparse GP, if the noise depends on the inputs
	estimate bool             // the method's Estimate estimates the objective
	findings finding.List     // what a person should know already
}

const (
	// maxIterative is the default limit of rows for conjugate gradients.
	// A pair of rows with 8 inputs takes 1.4 ns of a core, so a product for 50,000 rows should take
	// two cores a second. A solve of up to 2,000 products may take half an hour.
	// The largest solve that was measured had 32,000 rows (docs/behind/performance.md).
	maxIterative = 50000

	// factorRate is how many operations one core with AVX-512 makes a second in a Cholesky
	// factorisation (4,096 rows:
	// 5.3e10) and an inversion (4,000 rows: 5.1e10). Together they take n³ operations.
	factorRate = 5e10

	// excessRows is the number of rows that show how good a cg model's variances are.
	// A product with 16 columns costs little more than a product with one column.
	excessRows = 16
)

// planned decides whether the GP is full or sparse, and how it is trained and solved.
// found holds what is known already.
func (s stage) planned(evaluating bool, found finding.List) (*plan, error) {
	p := &plan{stage: s, findings: slices.Clone(found)}
	c := &p.choice
	k := s.choice.Kind()
	if c.Optimizer == "" {
		c.Optimizer = "lbfgs"
		if s.n > defaultFull {
			c.Optimizer = "adam"
		}
	}
	if all := evaluating || !c.OnBatches(); all { // every step uses all rows
		p.estimate = c.Estimable() &&
			(c.Solver == posterior.ByCG || (!evaluating && s.n > k.MaxRows))
	}
	p.chooseSize()
	if err := p.chooseSolver(evaluating); err != nil {
		return nil, err
	}
	if err := p.checkSize(evaluating); err != nil {
		return nil, err
	}
	if err := p.afford(); err != nil {
		return nil, err
	}
	if p.estimate && !evaluating {
		p.findings.Add(finding.Estimated, objective.DefaultProbes)
	}
	if !p.sparse() || p.estimate {
		var err error
		if p.all, err = gather(s.rows); err != nil {
			return nil, err
		}
		if k.Local { // a local posterior needs the values of all rows
			if p.scale, err = gatherValues(s.rows, s.scale); err != nil {
				return nil, err
			}
		}
	}
	*c = c.WithAlpha()
	if p.restarts == 0 {
		p.restarts = 3 // about 1 start in 150 ends at Q = P; three in a row won't
		if c.Inducing > 0 || p.trainsByCG() || c.OnBatches() || p.given || k.Local ||
			len(p.families) > 2 {
			// a start takes minutes; moving inducing inputs and batches rarely get stuck
			p.restarts = 1
		}
	}
	return p, nil
}

// chooseSize decides between a full and a sparse GP.
// It also sets the number of inducing inputs of a sparse GP, or its limit if a rule sets the number
// later.
func (p *plan) chooseSize() {
	c := &p.choice
	if c.Inducing > 0 || (!c.SparseOnly() && !c.ByRule() &&
		(p.n <= defaultFull || c.Full() || c.Kind().Size == method.FullOnly)) {
		return
	}
	c.Inducing = min(defaultInducing, (p.n+1)/2)
	if c.ByRule() {
		c.Inducing = min(maxAuto, (p.n+1)/2)
	}
}

// checkSize refuses numbers of rows that the method can't use.
func (p *plan) checkSize(evaluating bool) error {
	c := p.choice
	k := p.choice.Kind()
	switch all := !p.estimate && (evaluating || !c.OnBatches()); {
	case c.Inducing > p.n:
		return faults.Usage("inducing %d: there are only %d rows to train on", c.Inducing, p.n)
	case p.data.Ranks().Size() > 1 && c.Inducing == 0 && c.Solver == posterior.ByCholesky &&
		k.Bound != "":
		return faults.Usage("a bound of a full GP isn't trained over ranks: use inducing inputs, or " +
			"one rank")
	case all && k.MaxRows > 0 && p.n > k.MaxRows:
		return fmt.Errorf("%s: %d rows: the α-ELBO of all of them at once takes up to %d; use "+
			"fewer rows, or estimate it with --solver cg", p.data.Source, p.n, k.MaxRows)
	case p.estimate && !evaluating && c.Optimizer == "mma":
		return faults.Usage("optimizer mma: of %d rows the α-ELBO is estimated by conjugate gradients, "+
			"which lbfgs trains by; or train on batches (optimizer adam)", p.n)
	case p.estimate && !evaluating && ((c.Alpha != nil && *c.Alpha == 1) || (c.AlphaBy == "cv" &&
		slices.Contains(c.Grid(), 1))):
		return faults.Usage("alpha or alphas 1: by conjugate gradients renyi takes 0 ≤ α < 1; at 1 it " +
			"is vfe, which takes any number of rows (objective vfe)")
	}
	return nil
}

// chooseSolver decides how a full GP is solved.
// A sparse GP has no choice, except if α falls to 0 and it ends as a full GP.
func (p *plan) chooseSolver(evaluating bool) error {
	c := &p.choice
	k := p.choice.Kind()
	n := p.n
	if k.Local {
		c.Solver = posterior.ByNearest // Bind's problem finds by how many rows
		terms := method.MaxTerms
		if m, is := c.Method().(method.Nearest); is && !evaluating {
			terms = m.Terms()
		}
		if n > terms {
			p.findings.Add(finding.SomeTerms, terms, n)
		}
		return nil
	}
	if c.Inducing > 0 && (!k.EndsFull || evaluating || (c.Alpha != nil && *c.Alpha != 0)) {
		c.Solver = ""
		return nil
	}
	trains := k.Exact && !p.given && !c.OnBatches() // every step solves
	if c.Solver == "auto" {
		switch {
		case p.sited() != nil && n > exactSites:
			c.Solver = posterior.ByNearest
		case n <= autoFull || (!k.Exact && !k.EndsFull):
			c.Solver = posterior.ByCholesky
		case n <= maxIterative || trains:
			c.Solver = posterior.ByCG
		default:
			c.Solver = posterior.ByNearest
		}
		if c.Solver == posterior.ByCG && n > maxIterative {
			return fmt.Errorf("%s: training the evidence on %d rows may take days: train on "+
				"batches (--optimizer adam), or find parameters with a sparse objective (vfe) "+
				"and condition on all rows with --init and --fix-parameters, or ask for "+
				"--solver cg", p.data.Source, n)
		}
	}
	switch {
	case c.Solver == posterior.ByCholesky && n > autoFull:
		p.findings.Add(finding.LongFactors, n, float64(n)*float64(n)*float64(n)/factorRate/60)
	case c.Solver == posterior.ByCG && !trains:
		p.findings.Add(finding.WeightsByCG)
	case c.Solver == posterior.ByCG:
		p.findings.Add(finding.EvidenceByCG, objective.DefaultProbes)
	case c.Solver == posterior.ByNearest && p.sited() == nil: // sites say by how many rows
		p.predictsBy(method.NearestRows)
	}
	return nil
}

// keptRow is the memory, in numbers, that a fit of nearest rows keeps for each row besides its
// inputs: SHA-256, role, place in the order, targets, residuals, adjoints and hashes.
const keptRow = 16

// afford reserves memory for the largest matrices before any work. A method takes more in all.
func (p *plan) afford() error {
	n := float64(p.n)
	m := float64(p.choice.Inducing)
	what := fmt.Sprintf("a full GP of %d rows (the objective vfe, and evidence with --solver cg, "+
		"need less)", p.n)
	values := 3 * n * n // the covariances, their factor, the adjoints
	switch {
	case p.sparse():
		what = fmt.Sprintf("a GP with %d inducing inputs", p.choice.Inducing)
		values = 4 * m * m
	case p.choice.Solver != posterior.ByCholesky:
		what = fmt.Sprintf("a GP of %d rows", p.n)
		values = 0
	}
	if p.choice.Kind().Local {
		values = n * keptRow // a file takes the inputs (see gather)
	} else if !p.sparse() || p.estimate {
		values += n * float64(p.data.Cols+1) // see gather
	}
	return memory.Afford(p.data.Source+": "+what, 8*values)
}

// predictsBy adds a finding if predictions use fewer rows than the plan has.
func (p *plan) predictsBy(rows int) {
	if rows < p.n {
		p.findings.Add(finding.ByNearest, rows, p.n)
	}
}

// sparse says whether there are inducing inputs.
func (p *plan) sparse() bool { return p.choice.Inducing > 0 }

// trainsByCG says whether conjugate gradients evaluate the objective during training.
func (p *plan) trainsByCG() bool {
	return p.estimate || (p.choice.Solver == posterior.ByCG && p.choice.Kind().Exact &&
		!p.choice.OnBatches())
}

// method returns the way to train. A free-form posterior comes later.
func (p *plan) method() method.Method {
	way := p.choice.Method()
	if p.estimate {
		return way.(method.Estimable).Estimated()
	}
	return way
}

// task returns what a method is bound to. c, unless nil, gets the progress of each solve.
func (p *plan) task(ctx context.Context, c *checkpoints, f family) method.Task {
	var progress func(iterative.Progress)
	var comparing func(done, of int)
	if c != nil {
		progress = c.tellSolve
		comparing = func(done, of int) { c.tellComparison(f.name, done, of) }
	}
	limit := p.options.Prior.Grid.L
	if p.options.informed() {
		limit = farLimit
	}
	return method.Task{
		Kernel: f.kernel, Mean: f.mean, Rows: p.source(), N: p.n, Ranks: p.data.Ranks(),
		Seed: p.options.Run.Seed,
		M:    p.choice.Inducing, All: p.all,
		Whole: func() (objective.Memory, error) { return gather(p.rows) },
		Loss:  p.loss, Scale: p.scale, Penalty: f.terms.Penalty(p.n),
		Limit: limit, Held: f.held, Alike: f.alike, Noise: p.sited(),
		FixInducing: p.choice.FixInducing, Started: p.init != nil,
		Either: p.options.Method.Solver == "auto", Solver: p.choice.Solver, Unseen: p.unseen,
		Context: ctx, Progress: progress, Comparing: comparing, Grouped: p.roles.Group != nil &&
			p.options.Data.Group != dataset.EqualRows,
	}
}

// sited returns the noise whose sites training finds, or nil.
// A method that trains for the bound takes labels as numbers.
func (p *plan) sited() objective.Sited {
	if p.choice.Kind().Bound != "" {
		return nil
	}
	if p.ordinal != nil {
		return *p.ordinal
	}
	return p.options.sited()
}

// source returns the rows to train on.
func (p *plan) source() objective.Rows {
	each := posterior.RowNoise{Factor: p.varied, Known: p.known}
	if each.Same() {
		return p.rows
	}
	return &noisyRows{Scaled: p.rows, noise: each}
}

// noisyRows are rows that differ in noise.
type noisyRows struct {
	*dataset.Scaled
	noise posterior.RowNoise
}

// RowNoise says how noisy each row is.
func (r *noisyRows) RowNoise() posterior.RowNoise { return r.noise }

// farLimit bounds log-parameters that needn't lie on a grid.
// A lengthscale of e^±5 is already as good as infinite or zero.
// A variance of e^10 still leaves a noise variance of 1e-8 its digits.
const farLimit = 10

// problem binds the method to a family.
func (p *plan) problem(ctx context.Context, c *checkpoints, f family) method.Problem {
	return p.method().Bind(p.task(ctx, c, f))
}

// unseen returns inputs of rows that training didn't use, if there are any, and says which rows
// they are.
func (p *plan) unseen() (x matrix.Dense, which string, err error) {
	// Prior rows come first, since training didn't use them.
	role := dataset.Prior
	what := "prior"
	if p.roles.Count(role) == 0 {
		role = dataset.Test
		what = "test"
	}
	if p.roles.Count(role) == 0 {
		role = dataset.Certified
		what = "training"
	}
	rows := p.roles.Rows(role)
	rows = rows[:min(len(rows), excessRows)]
	at, err := gather(p.data.Scaled(p.data.Own(rows), p.scaling))
	return at.X, what, err
}
