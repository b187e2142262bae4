package krigo

import (
	"context"

	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/fitting"
	"github.com/krigo-gp/krigo/internal/fit"
	"github.com/krigo-gp/krigo/internal/fit/ask"
	"github.com/krigo-gp/krigo/model"
)

// Refit fits a model again with the options of its fit, from the data of its fit.
// differs says what came out differently. It is "" if all bits are the same, apart from the time
// that training took. No other check can show that the posterior, and the parameters of an informed
// prior, are what the options make of the rows.
// Another kind of processor or another version may give other bits although nothing is wrong.
func (m *Model) Refit(ctx context.Context, table *dataset.Table,
	progress func(Event)) (*Model, string, error) {
	again, differs, err := fit.Refit(ctx, &m.Model, table, progress)
	if again == nil {
		return nil, differs, err
	}
	return &Model{*again}, differs, err
}

// Deliver trains a certified model's sibling from the data of the model.
// The sibling trains on all rows except test rows, so also on the certified rows.
// The evidence of a full GP is trained again from the start, and kernels are tried again.
// Other methods keep the model's kernel and start where its training ended.
// A method on batches keeps the parameters that training ended with.
// No row is left to certify the sibling, and its CertificateReason says which model is certified.
// Deliver uses Data.Test and Run's Progress, Save and Resume of with.
// All other options are the model's.
func (m *Model) Deliver(ctx context.Context, table *dataset.Table,
	with Options) (*Model, error) {
	return wrap(fit.Deliver(ctx, &m.Model, table, ask.Options(with)))
}

// FewGroups returns a model's Few, or nil if too few groups aren't the reason.
func FewGroups(m *model.Model) *Few { return fit.FewGroups(m) }

// Fit trains a model on a table. It assigns the rows their roles, scales them, minimises the
// objective from several starting points, and rounds the prior's parameters to the grid.
// It then certifies the posterior of the rounded parameters on all certified rows.
//
// Fit returns a UsageError if the options make no sense.
// If ctx ends, Fit offers the last state to Run.Save and returns ctx's error.
//
// All ranks fit a table that is spread over ranks (dataset.ReadPart).
// Each rank calls Fit with the same options and gets the same model, except for the row hashes of
// the model file, which only the first rank has. Only the first rank calls Progress and Save.
// An error on one rank reaches the other ranks when the failing rank is closed.
func Fit(ctx context.Context, table *dataset.Table, o Options) (*Model, error) {
	return wrap(fit.Fit(ctx, table, o.asked()))
}

// Decide says what Fit would do with the table and the options.
// It refuses what Fit would refuse before training.
func Decide(ctx context.Context, table *dataset.Table, o Options) (*Plan, error) {
	return fit.Decide(ctx, table, o.asked())
}

// Declare returns the text of a declaration: what a fit with these options would do with a table.
func Declare(ctx context.Context, table *dataset.Table, o Options) ([]byte, error) {
	return fit.Declare(ctx, table, o.asked())
}

// Declared returns the options of a declaration.
// The certificate of their fit carries the declaration's hash.
// Fit refuses these options for other rows.
func Declared(declaration []byte) (Options, error) {
	o, err := fit.ReadDeclared(declaration)
	return Options(o), err
}

// AppendLog adds a declaration to the log in a file. It creates a file that doesn't exist.
// In such a log each line has the SHA-256 of the line before. AppendLog returns the number of the
// new line, and its SHA-256, which is the log's head. If it fails, or if the process is killed, the
// file stays as it was.
func AppendLog(path string, declaration []byte) (line int, head string, err error) {
	return fitting.AppendLog(path, declaration)
}

// Ties looks for what ties the rows of a table together.
// It fits one kernel quickly, to some of the rows that these options would make prior rows.
// The result is advice on the choice of Data.Group. A fit looks again by itself.
func Ties(ctx context.Context, table *dataset.Table, o Options) ([]model.Tie, error) {
	o.Prior.Kind = "informed"
	return fit.Look(ctx, table, o.asked())
}

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
