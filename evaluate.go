package krigo

import (
	"context"

	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/internal/fit"
)

// BoundEvidence bounds the evidence at the parameters of a sparse model, in time O(NM²).
// It uses the rows that trained the model, or the prior rows if the model is its informed prior.
// It returns nil for a model without inducing inputs, for a posterior learnt from an informed
// prior, and if d isn't the model's data.
func (m *Model) BoundEvidence(d *dataset.Data) (*EvidenceBounds, error) {
	return fit.BoundEvidence(&m.Model, d)
}

// Evaluate computes the objective, its gradient, and the certificate at the parameters rounded to
// the grid, without training. If params has a free-form q, Evaluate uses this q.
// Without it svgp is evaluated at its optimal q, which is known only for Gaussian noise.
// Rows get their roles and scaling as in Fit.
// No choice among kernel families has to be paid for, because the lengthscales in params say
// whether the kernel is ARD. For renyi, α comes from the options, is 0 by default, and may be
// negative here. With the solver cg, conjugate gradients estimate renyi for 0 ≤ α < 1 ("The Rényi
// Gaussian Process", Sect. 3.2).
func Evaluate(ctx context.Context, table *dataset.Table, params *Params,
	o Options) (*Evaluation, error) {
	return fit.Evaluate(ctx, table, params, o.asked())
}
