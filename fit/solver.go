package fit

import (
	"fmt"

	"github.com/krigo-gp/krigo/method"
	"github.com/krigo-gp/krigo/objective"
	"github.com/krigo-gp/krigo/posterior"
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

// setMethod decides between the full and a sparse GP.
func (p *prepared) setMethod(o Options) error {
	n := p.n
	if o.sparseOnly() || o.Inducing > 0 || o.asksInducing() || (n > defaultFull && !o.Full && o.Objective != method.EvidenceName) {
		p.inducing = o.Inducing
		if p.inducing == 0 {
			p.inducing = min(defaultInducing, (n+1)/2)
			if o.asksInducing() {
				p.inducing = min(maxAuto, (n+1)/2)
			}
		}
	}
	if p.inducing > n {
		return Usage("inducing %d: there are only %d rows to train on", p.inducing, n)
	}
	if err := p.chooseSolver(o); err != nil {
		return err
	}
	if p.data.Ranks().Size() > 1 && p.inducing == 0 && p.solver == posterior.ByCholesky && o.pac() {
		return Usage("a bound of a full GP isn't trained over ranks: use inducing inputs, or one rank")
	}
	if o.Objective == method.RenyiName && n > method.MaxRenyi && (o.evaluating && !o.estimatesRenyi() || o.Optimizer != "" && !o.onBatches()) {
		return fmt.Errorf("%s: %d rows: the α-ELBO of all of them at once takes up to %d; train on batches (optimizer adam or sgd), or use fewer rows; evaluate can estimate it with solver cg", p.data.Source, n, method.MaxRenyi)
	}
	if p.inducing == 0 || o.estimatesRenyi() {
		var err error
		if p.all, err = Gather(p.rows); err != nil {
			return err
		}
	}
	switch o.Objective {
	case method.KLPACName, method.SqrtPACName, method.FITCName:
		p.alpha = 1
	case method.PEPName:
		p.alpha = 0.5
	}
	if o.Alpha != nil {
		p.alpha = *o.Alpha
	}
	return nil
}

// chooseSolver decides how a full GP is solved; a sparse one has no choice, and the Rényi GP one
// where it ends as the full GP.
func (p *prepared) chooseSolver(o Options) error {
	if p.inducing > 0 && (o.Objective != method.RenyiName || o.evaluating || o.Alpha != nil && *o.Alpha != 0) {
		return nil
	}
	n := p.n
	p.solver = o.Solver
	trains := o.Objective == method.EvidenceName && !o.FixParameters && !o.onBatches() // solves in every step
	if o.Solver == "auto" {
		switch {
		case n <= maxFull || o.Objective != method.EvidenceName && o.Objective != method.RenyiName:
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
