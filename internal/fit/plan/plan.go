// Package plan decides how the rows of a share train: which kernels, which method, from which
// points. A Stage is what is asked for, and a Plan has every decision made. Neither changes once it
// is made.
package plan

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/krigo-gp/krigo/internal/faults"

	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/finding"
	"github.com/krigo-gp/krigo/internal/fit/ask"
	"github.com/krigo-gp/krigo/internal/fit/deal"
	"github.com/krigo-gp/krigo/internal/linalg"
	"github.com/krigo-gp/krigo/internal/lists"
	"github.com/krigo-gp/krigo/iterative"
	"github.com/krigo-gp/krigo/matrix"
	"github.com/krigo-gp/krigo/memory"
	"github.com/krigo-gp/krigo/method"
	"github.com/krigo-gp/krigo/objective"
	"github.com/krigo-gp/krigo/posterior"
)

// Plan is a stage with every decision made: all fields of its method are set (Inducing is 0 for a
// full GP). It doesn't change.
type Plan struct {
	Stage
	z        linalg.Matrix    // inducing inputs that training starts from
	All      objective.Memory // scaled rows of all ranks, only for a full GP
	Units    []int            // the group of each row of All, if a promise is about new groups, or nil
	Varied   []float64        // a_i of the rows of a sparse GP, if the noise depends on the inputs
	Of       int              // how many rows its rows are a sample of, which compares kernels
	Estimate bool             // the method's Estimate estimates the objective
	Findings finding.List     // what a person should know already
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

	// batchedRows is the number of rows above which a local posterior trains on batches.
	// On SLID (2,321 prior rows) batches take 10 CPU s, and all rows 50.
	batchedRows = 2000

	// excessRows is the number of rows that show how good a cg model's variances are.
	// A product with 16 columns costs little more than a product with one column.
	excessRows = 16
)

// Planned decides whether the GP is full or sparse, and how it is trained and solved.
// found holds what is known already.
func (s Stage) Planned(evaluating bool, found finding.List) (*Plan, error) {
	p := &Plan{Stage: s, Findings: slices.Clone(found)}
	c := &p.Choice
	k := s.Choice.Kind()
	c.Optimizer = cmp.Or(c.Optimizer, s.optimizer(k))
	if all := evaluating || !c.OnBatches(); all { // every step uses all rows
		p.Estimate = c.Estimable() &&
			(c.Solver == posterior.ByCG || (!evaluating && s.N > k.MaxRows))
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
	if p.Estimate && !evaluating {
		p.Findings.Add(finding.Estimated, objective.DefaultProbes)
	}
	if !p.Sparse() || p.Estimate {
		var err error
		if p.All, err = deal.Gather(s.Rows); err != nil {
			return nil, err
		}
		if p.Units, err = s.unitsOf(); err != nil {
			return nil, err
		}
		if k.Local { // a local posterior needs the values of all rows
			if p.Scale, err = deal.GatherValues(s.Rows, s.Scale); err != nil {
				return nil, err
			}
		}
	}
	*c = c.WithAlpha()
	if p.Restarts == 0 {
		p.Restarts = 3 // about 1 start in 150 ends at Q = P; three in a row won't
		if c.Inducing > 0 || p.TrainsByCG() || c.OnBatches() || p.Given || k.Local ||
			len(p.Families) > 2 {
			// a start takes minutes; moving inducing inputs and batches rarely get stuck
			p.Restarts = 1
		}
	}
	return p, nil
}

// optimizer returns the default optimizer: batches if a step on all rows takes long.
func (s Stage) optimizer(k method.Kind) string {
	if s.N > ask.DefaultFull || (k.Local && s.N > batchedRows) {
		return "adam"
	}
	return "lbfgs"
}

// chooseSize decides between a full and a sparse GP.
// It also sets the number of inducing inputs of a sparse GP, or its limit if a rule sets the number
// later.
func (p *Plan) chooseSize() {
	c := &p.Choice
	if c.Inducing > 0 || (!c.SparseOnly() && !c.ByRule() &&
		(p.N <= ask.DefaultFull || c.Full() || c.Kind().Size == method.FullOnly)) {
		return
	}
	c.Inducing = min(ask.DefaultInducing, (p.N+1)/2)
	if c.ByRule() {
		c.Inducing = min(ask.MaxAuto, (p.N+1)/2)
	}
}

// checkSize refuses numbers of rows that the method can't use.
func (p *Plan) checkSize(evaluating bool) error {
	c := p.Choice
	k := p.Choice.Kind()
	switch all := !p.Estimate && (evaluating || !c.OnBatches()); {
	case c.Inducing > p.N:
		return faults.Usage("inducing %d: there are only %d rows to train on", c.Inducing, p.N)
	case p.Data.Ranks().Size() > 1 && c.Inducing == 0 && c.Solver == posterior.ByCholesky &&
		k.Bound != "":
		return faults.Usage("a bound of a full GP isn't trained over ranks: use inducing " +
			"inputs, or one rank")
	case all && k.MaxRows > 0 && p.N > k.MaxRows:
		return fmt.Errorf("%s: %d rows: the α-ELBO of all of them at once takes up to %d; use "+
			"fewer rows, or estimate it with --solver cg", p.Data.Source, p.N, k.MaxRows)
	case p.Estimate && !evaluating && c.Optimizer == "mma":
		return faults.Usage("optimizer mma: of %d rows the α-ELBO is estimated by conjugate "+
			"gradients, which lbfgs trains by; or train on batches (optimizer adam)", p.N)
	case p.Estimate && !evaluating && ((c.Alpha != nil && *c.Alpha == 1) || (c.AlphaBy == "cv" &&
		slices.Contains(c.Grid(), 1))):
		return faults.Usage("alpha or alphas 1: by conjugate gradients renyi takes 0 ≤ α < 1; " +
			"at 1 it is vfe, which takes any number of rows (objective vfe)")
	}
	return nil
}

// chooseSolver decides how a full GP is solved.
// A sparse GP has no choice, except if α falls to 0 and it ends as a full GP.
func (p *Plan) chooseSolver(evaluating bool) error {
	c := &p.Choice
	k := p.Choice.Kind()
	if k.Local {
		c.Solver = posterior.ByNearest // Bind's problem finds by how many rows
		terms := method.MaxTerms
		if m, is := c.Method().(method.Nearest); is && !evaluating {
			terms = m.Terms()
		}
		if p.N > terms {
			p.Findings.Add(finding.SomeTerms, terms, p.N)
		}
		return nil
	}
	// A sparse posterior has no equations of all rows to solve.
	if c.Inducing > 0 && (!k.EndsFull || evaluating || (c.Alpha != nil && *c.Alpha != 0)) {
		c.Solver = ""
		return nil
	}
	trains := k.Exact && !p.Given && !c.OnBatches() // every step solves
	if c.Solver == "auto" {
		c.Solver = p.solverByRows(trains)
		if c.Solver == posterior.ByCG && p.N > maxIterative {
			return fmt.Errorf("%s: training the evidence on %d rows may take days: train on "+
				"batches (--optimizer adam), or find parameters with a sparse objective (vfe) "+
				"and condition on all rows with --init and --fix-parameters, or ask for "+
				"--solver cg", p.Data.Source, p.N)
		}
	}
	p.tellSolver(trains)
	return nil
}

// solverByRows returns the solver of a full GP for this number of rows.
// trains says that every step of training solves.
func (p *Plan) solverByRows(trains bool) string {
	k := p.Choice.Kind()
	switch n := p.N; {
	case p.Sited() != nil && n > ask.ExactSites:
		return posterior.ByNearest
	case n <= ask.AutoFull || (!k.Exact && !k.EndsFull):
		return posterior.ByCholesky
	case n <= maxIterative || trains:
		return posterior.ByCG
	}
	return posterior.ByNearest
}

// tellSolver finds what a person should know about the solver.
func (p *Plan) tellSolver(trains bool) {
	c := p.Choice
	n := p.N
	switch {
	case c.Solver == posterior.ByCholesky && n > ask.AutoFull:
		p.Findings.Add(finding.LongFactors, n, float64(n)*float64(n)*float64(n)/factorRate/60)
	case c.Solver == posterior.ByCG && !trains:
		p.Findings.Add(finding.WeightsByCG)
	case c.Solver == posterior.ByCG:
		p.Findings.Add(finding.EvidenceByCG, objective.DefaultProbes)
	case c.Solver == posterior.ByNearest && p.Sited() == nil: // sites say by how many rows
		p.predictsBy(method.NearestRows)
	}
}

// keptRow is the memory, in numbers, that a fit of nearest rows keeps for each row besides its
// inputs: SHA-256, role, place in the order, targets, residuals, adjoints and hashes.
const keptRow = 16

// afford reserves memory for the largest matrices before any work. A method takes more in all.
func (p *Plan) afford() error {
	n := float64(p.N)
	m := float64(p.Choice.Inducing)
	what := fmt.Sprintf("a full GP of %d rows (the objective vfe, and evidence with --solver cg, "+
		"need less)", p.N)
	values := 3 * n * n // the covariances, their factor, the adjoints
	switch {
	case p.Sparse():
		what = fmt.Sprintf("a GP with %d inducing inputs", p.Choice.Inducing)
		values = 4 * m * m
	case p.Choice.Solver != posterior.ByCholesky:
		what = fmt.Sprintf("a GP of %d rows", p.N)
		values = 0
	}
	if p.Choice.Kind().Local {
		values = n * keptRow // a file takes the inputs (see gather)
	} else if !p.Sparse() || p.Estimate {
		values += n * float64(p.Data.Cols+1) // see gather
	}
	return memory.Afford(p.Data.Source+": "+what, 8*values)
}

// predictsBy adds a finding if predictions use fewer rows than the plan has.
func (p *Plan) predictsBy(rows int) {
	if rows < p.N {
		p.Findings.Add(finding.ByNearest, rows, p.N)
	}
}

// Some returns the plan of a full GP for some of its rows.
func (p *Plan) Some(rows []int) *Plan {
	some := *p
	some.Share = p.Choose(rows)
	some.All = p.All.Some(rows)
	if p.Units != nil {
		some.Units = lists.Of(rows, func(row int) int { return p.Units[row] })
	}
	return &some
}

// Sparse says whether there are inducing inputs.
func (p *Plan) Sparse() bool { return p.Choice.Inducing > 0 }

// TrainsByCG says whether conjugate gradients evaluate the objective during training.
func (p *Plan) TrainsByCG() bool {
	return p.Estimate || (p.Choice.Solver == posterior.ByCG && p.Choice.Kind().Exact &&
		!p.Choice.OnBatches())
}

// Method returns the method that trains first, estimated by conjugate gradients if Estimate is true.
// If the posterior is free-form, package conduct trains it from the optimum.
func (p *Plan) Method() method.Method {
	way := p.Choice.Method()
	if p.Estimate {
		return way.(method.Estimable).Estimated()
	}
	return way
}

// Task returns what a method is bound to. c, unless nil, gets the progress of each solve.
func (p *Plan) Task(ctx context.Context, c *deal.Checkpoints, f Family) method.Task {
	var progress func(iterative.Progress)
	var comparing func(done, of int)
	if c != nil {
		progress = c.TellSolve
		comparing = func(done, of int) { c.TellComparison(f.Name, done, of) }
	}
	limit := p.Options.Prior.Grid.L
	if p.Options.Informed() {
		limit = FarLimit
	}
	return method.Task{
		Kernel: f.Kernel, Mean: f.Mean, Rows: p.source(), N: p.N, Ranks: p.Data.Ranks(),
		Seed: p.Options.Run.Seed,
		M:    p.Choice.Inducing, All: p.All,
		Whole: func() (objective.Memory, error) { return deal.Gather(p.Rows) },
		Loss:  p.Loss, Scale: p.Scale, Penalty: f.Terms.Penalty(p.N),
		Limit: limit, Held: f.Held, Noise: p.Sited(),
		FixInducing: p.Choice.FixInducing, Started: p.init != nil,
		Either: p.Options.Method.Solver == "auto", Solver: p.Choice.Solver, Unseen: p.unseen,
		Context: ctx, Progress: progress, Comparing: comparing, Apart: p.Options.OnMap(p.Inputs()),
		Units: p.Units,
	}
}

// unitsOf returns the group of each row of all ranks, or nil if a promise isn't about new groups.
// For the evidence, blocks are no groups: f, which doesn't end at a block's edge, is all that ties
// their rows.
func (s Stage) unitsOf() ([]int, error) {
	if s.Roles.Group == nil || s.Options.Data.Group == dataset.EqualRows ||
		(s.Choice.Kind().Exact && strings.HasPrefix(s.Options.Data.Group, dataset.BlockPrefix)) {
		return nil, nil
	}
	of, err := deal.GatherValues(s.Rows, lists.Of(s.Rows.Numbers, func(row int) float64 {
		return float64(s.Roles.Group[row])
	}))
	return lists.Of(of, func(unit float64) int { return int(unit) }), err
}

// Sited returns the noise whose sites training finds, or nil.
// A method that trains for the bound takes labels as numbers.
func (p *Plan) Sited() objective.Sited {
	if p.Choice.Kind().Bound != "" {
		return nil
	}
	if p.Ordinal != nil {
		return *p.Ordinal
	}
	return p.Options.Sited()
}

// source returns the rows to train on.
func (p *Plan) source() objective.Rows {
	each := posterior.RowNoise{Factor: p.Varied, Known: p.Known}
	if each.Same() {
		return p.Rows
	}
	return &NoisyRows{Scaled: p.Rows, Noise: each}
}

// NoisyRows are rows that differ in noise.
type NoisyRows struct {
	*dataset.Scaled
	Noise posterior.RowNoise
}

// RowNoise says how noisy each row is.
func (r *NoisyRows) RowNoise() posterior.RowNoise { return r.Noise }

// FarLimit bounds log-parameters that needn't lie on a grid.
// A lengthscale of e^±5 is already as good as infinite or zero.
// A variance of e^10 still leaves a noise variance of 1e-8 its digits.
const FarLimit = 10

// Problem binds the method to a family.
func (p *Plan) Problem(ctx context.Context, c *deal.Checkpoints, f Family) method.Problem {
	return p.Method().Bind(p.Task(ctx, c, f))
}

// unseen returns inputs of rows that training didn't use, if there are any, and says which rows
// they are.
func (p *Plan) unseen() (x matrix.Dense, which string, err error) {
	// Prior rows come first, since training didn't use them.
	role := dataset.Prior
	what := "prior"
	if p.Roles.Count(role) == 0 {
		role = dataset.Test
		what = "test"
	}
	if p.Roles.Count(role) == 0 {
		role = dataset.Certified
		what = "training"
	}
	rows := p.Roles.Rows(role)
	rows = rows[:min(len(rows), excessRows)]
	at, err := deal.Gather(p.Data.Scaled(p.Data.Own(rows), p.Scaling))
	return at.X, what, err
}
