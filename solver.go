package krigo

import (
	"context"
	"fmt"
	"github.com/krigo-gp/krigo/matrix"
	"github.com/krigo-gp/krigo/method"

	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/iterative"
	"github.com/krigo-gp/krigo/objective"
	"github.com/krigo-gp/krigo/posterior"
	"github.com/krigo-gp/krigo/train"
)

const (
	// maxIterative rows are conditioned on by conjugate gradients if nobody asks for more. By
	// estimate, from the 1.4 ns that a pair of rows of 8 inputs takes of a core, a product for
	// 50,000 rows takes two cores a second, and the 2,000 that a solve may take half an hour. The
	// largest solve that was measured had 32,000 rows (docs/performance.md).
	maxIterative = 50000

	// excessRows are compared to say how good the variances of a cg model are: with 16
	// columns a product costs little more than with one.
	excessRows = 16
)

// noCertificate says why a full GP that isn't factored has none.
var noCertificate = map[string]string{
	posterior.ByCG:      "conjugate gradients estimate ln|C| from random probes, and an estimate of KL(Q‖P) isn't a bound on it: --solver cholesky, or kl-pac with inducing inputs, certify",
	posterior.ByNearest: "each prediction stands on other rows: there is no one posterior Q to certify; kl-pac with inducing inputs has one",
}

// chooseSolver decides how a full GP is solved; a sparse one has no choice, and the Rényi GP one
// where it ends as the full GP.
func (p *prepared) chooseSolver(o Options) error {
	if p.inducing > 0 && (o.Objective != "renyi" || o.evaluating || o.Alpha != nil && *o.Alpha != 0) {
		return nil
	}
	n := p.n
	p.solver = o.Solver
	trains := o.Objective == "evidence" && !o.FixParameters && !o.onBatches() // solves in every step
	if o.Solver == "auto" {
		switch {
		case n <= maxFull || o.Objective != "evidence" && o.Objective != "renyi":
			p.solver = posterior.ByCholesky
		case n <= maxIterative || trains:
			p.solver = posterior.ByCG
		default:
			p.solver = posterior.ByNearest
		}
		if p.solver == posterior.ByCG && n > maxIterative {
			return fmt.Errorf("%s: training the evidence on %d rows may take days: train on batches (--optimizer adam), or find parameters with a sparse objective (vfe) and condition on all rows with --init and --fix-parameters, or ask for --solver cg",
				p.data.Source, n)
		}
	}
	switch {
	case p.solver == posterior.ByCholesky && n > maxFull:
		return fmt.Errorf("%s: %d rows to train on: a factored full GP takes up to %d; use a sparse objective (vfe, kl-pac with inducing inputs), the evidence with --solver cg, or fewer rows",
			p.data.Source, n, maxFull)
	case p.solver == posterior.ByCG && !trains:
		p.notices = append(p.notices, "the posterior's weights are solved for by conjugate gradients (cg)")
	case p.solver == posterior.ByCG:
		p.notices = append(p.notices, fmt.Sprintf("solved by conjugate gradients (cg): evidence and gradient are estimates from %d random probes", objective.DefaultProbes))
	case p.solver == posterior.ByNearest:
		p.notices = append(p.notices, fmt.Sprintf("predictions are those of the exact GP on each row's %d nearest training rows, not on all %d", min(method.NearestRows, n), n))
	}
	return nil
}

// trainsByCG says whether training evaluates the evidence by conjugate gradients.
func (p *prepared) trainsByCG(o Options) bool {
	return p.solver == posterior.ByCG && o.Objective == "evidence" && !o.onBatches()
}

// unseen returns the inputs of some rows, and says which they are.
func (p *prepared) unseen() (x matrix.Dense, which string, err error) {
	// Rows it wasn't trained on, if there are any.
	role, what := dataset.Prior, "rows set aside for the scaling"
	if p.roles.Count(role) == 0 {
		role, what = dataset.Test, "test rows"
	}
	if p.roles.Count(role) == 0 {
		role, what = dataset.Certified, "training rows"
	}
	rows := p.roles.Rows(role)
	rows = rows[:min(len(rows), excessRows)]
	at, err := gather(p.data.Scaled(p.data.Own(rows), p.scaling))
	if err != nil {
		return at.X, "", err
	}
	return at.X, what, nil
}

// reported evaluates the evidence and its standard error at x, with an anchor there.
func (p *prepared) reported(o Options, f family, x []float64) (value float64, standardError *float64, err error) {
	problem := p.problem(o, f, 1)
	value, err = problem.Evaluate(x, nil)
	if e, ok := problem.Objective().(*objective.IterativeEvidence); ok && err == nil {
		standardError = &e.StandardError
	}
	return value, standardError, err
}

// tellSolve passes the progress of single solves on.
func (c *checkpoints) tellSolve(s iterative.Progress) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.progress != nil {
		c.progress(Event{Solver: posterior.ByCG, Iteration: s.Iteration, Residual: s.Residual})
	}
}

// given returns the parameters of Options.Init as the only run, without training.
func (p *prepared) given(o Options, families []family) (run, error) {
	if err := p.checkInit(o, families); err != nil {
		return run{}, err
	}
	for i, f := range families {
		x, err := p.fromInit(o, f)
		if err != nil || x == nil {
			continue
		}
		r := &train.Result{X: x, Stopped: "parameters given"}
		return run{i, r}, nil
	}
	return run{}, usage("init: its kernel is none of those that are fitted")
}

// PredictExactVariance is Predict with a solve by conjugate gradients for every row's
// variance, for a model that has them from the nearest rows. Progress may be nil.
func PredictExactVariance(ctx context.Context, m *Model, table *dataset.Table, progress func(iteration int, residual float64)) ([]Prediction, error) {
	if m.Posterior.Kind() != posterior.ByCG {
		return nil, usage("exact variances are for a model of --solver cg; this one is %s", m.Posterior.Kind())
	}
	return predict(m, table, func(rows *dataset.Scaled) (mean, variance []float64, err error) {
		at, err := gather(rows)
		if err != nil {
			return nil, nil, err
		}
		x := at.X
		mean, variance = make([]float64, x.Rows), make([]float64, x.Rows)
		m.Posterior.Latent(x, mean, nil)
		o := posterior.Iterative{Tolerance: 1e-4}
		if progress != nil {
			o.Progress = func(s iterative.Progress) { progress(s.Iteration, s.Residual) }
		}
		return mean, variance, m.Posterior.SolvedVariance(ctx, x, variance, o)
	})
}
