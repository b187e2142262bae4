package krigo

import (
	"context"
	"errors"
	"math"
	"slices"

	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/internal/faults"
	"github.com/krigo-gp/krigo/matrix"
	"github.com/krigo-gp/krigo/method"
	"github.com/krigo-gp/krigo/model"
	"github.com/krigo-gp/krigo/objective"
	"github.com/krigo-gp/krigo/pacbayes"
)

// Refit fits a model again with the options of its fit, from the data of its fit.
// differs says what came out differently. It is "" if all bits are the same, apart from the time
// that training took. No other check can show that the posterior, and the parameters of an informed
// prior, are what the options make of the rows.
// Another kind of processor or another version may give other bits although nothing is wrong.
func (m *Model) Refit(ctx context.Context, table *dataset.Table,
	progress func(Event)) (*Model, string, error) {
	again, differs, err := refit(ctx, &m.Model, table, progress)
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
	return wrap(deliver(ctx, &m.Model, table, with))
}

// Validate reports everything that is wrong with the options for every table.
// Without a named method the number of rows decides the method.
// So Validate returns nil if the options suit a thousand rows, fewer rows, or many more.
// Otherwise it reports what is wrong for a thousand rows.
func (o Options) Validate() error {
	var first error
	for _, rows := range []int{1000, 0, 1e6} {
		_, err := newly(o).resolve(rows)
		if err == nil {
			return nil
		}
		if first == nil {
			first = err
		}
	}
	return first
}

// BoundEvidence bounds the evidence at the parameters of a sparse model, in time O(NM²).
// It uses the rows that trained the model, or the prior rows if the model is its informed prior.
// It returns nil for a model without inducing inputs, for a posterior learnt from an informed
// prior, and if d isn't the model's data.
func (m *Model) BoundEvidence(d *dataset.Data) (bounds *EvidenceBounds, err error) {
	defer matrix.Ended(&err)
	q := m.Trained()
	role := dataset.Certified
	if m.Terms.Fixed {
		role = dataset.Prior
	}
	own, err := m.MadeFrom(d)
	if err != nil || !own || q.Inducing() == 0 || (m.Terms.Informed && !m.Terms.Fixed) {
		return nil, err
	}
	roles, err := m.RolesOf(d)
	if err != nil {
		return nil, err
	}
	rows := d.ScaledOf(roles, role, m.Scaling)
	p := method.Task{Kernel: q.Kernel, Mean: q.Mean, Rows: rows, M: q.Support.Rows,
		Ranks: d.Ranks()}.Sparse()
	x := slices.Concat(q.Theta, q.Beta, []float64{math.Log(q.Noise)})
	for i := range q.Support.Rows {
		x = append(x, q.Support.Row(i)...)
	}
	lower, upper, err := p.Bounds(x)
	if err := errors.Join(err, rows.Err()); err != nil {
		return nil, err
	}
	return &EvidenceBounds{Upper: &upper, Variational: &lower}, nil
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
	return evaluate(ctx, table, params, newly(o))
}

// FewGroups returns a model's Few, or nil if too few groups aren't the reason.
func FewGroups(m *model.Model) *Few { return fewGroups(m) }

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
	return wrap(fit(ctx, table, newly(o)))
}

// Decide says what Fit would do with the table and the options.
// It refuses what Fit would refuse before training.
func Decide(ctx context.Context, table *dataset.Table, o Options) (*Plan, error) {
	return decide(ctx, table, newly(o))
}

// Declare returns the text of a declaration: what a fit with these options would do with a table.
func Declare(ctx context.Context, table *dataset.Table, o Options) ([]byte, error) {
	return declare(ctx, table, newly(o))
}

// Declared returns the options of a declaration.
// The certificate of their fit carries the declaration's hash.
// Fit refuses these options for other rows.
func Declared(declaration []byte) (o Options, err error) { return readDeclared(declaration) }

// looksLikeKinds is the largest number of different texts by which a target looks like classes.
const looksLikeKinds = 20

// Kinds returns the table with a column of 0 and 1 for each class, and the options of a fit of
// these columns, if the target has more than two classes:
// a text of at most 20 kinds, or of more kinds, or numbers, if the options ask for probit noise.
// Otherwise it returns both as they are. FitTargets takes what Kinds returns.
func (o Options) Kinds(table *dataset.Table) (*dataset.Table, Options, error) {
	d := o.Data
	asked := newly(o)
	if text := table.IsText(d.Target); d.Beside != nil || d.Classes != nil ||
		d.Censored != "" || asked.kept || (!asked.labels() && (o.Kernel.Noise != "" || !text)) {
		return table, o, nil
	}
	classes, err := table.Classes(d.Target)
	if err != nil || len(classes) <= 2 || (len(classes) > looksLikeKinds && !asked.labels()) {
		return table, o, err
	}
	k := &dataset.Kinds{Column: d.Target, Labels: classes}
	if table, err = k.Spread(table); err == nil {
		o.Data.Kinds, o.Data.Beside, o.Kernel.Noise = k, k.Names(), objective.ProbitName
		o.Data.Target = o.Data.Beside[0]
	}
	return table, o, err
}

// Ties looks for what ties the rows of a table together.
// It fits one kernel quickly, to some of the rows that these options would make prior rows.
// The result is advice on the choice of Data.Group. A fit looks again by itself.
func Ties(ctx context.Context, table *dataset.Table, o Options) ([]model.Tie, error) {
	o.Prior.Kind = "informed"
	return look(ctx, table, newly(o))
}

// ForTargets returns the options of the fit of each target, and how the certificates share δ.
func (o Options) ForTargets(table *dataset.Table,
	targets []string) (each []Options, shared model.Together, err error) {
	r := o.Run
	if err := faults.AsUsage(faults.First(
		faults.If(len(targets) < 2, "several targets: name at least two"),
		faults.If(table.Ranks().Size() > 1, "several targets: their fit runs on one rank"),
		faults.If(r.Declared != "" || r.Deliver == "all",
			"several targets: there is no declaration of their fit, and --deliver all trains "+
				"no sibling of it: fit each target alone"),
		faults.If(r.Resume != nil, "several targets: their fit keeps no checkpoint"),
	)); err != nil {
		return nil, shared, err
	}
	o.Run.Save = nil
	o.Data.Beside = targets
	o.Data.Target = targets[0]
	resolved, err := newly(o).resolve(table.Rows)
	if err != nil {
		return nil, shared, err
	}
	terms := resolved.terms(resolved.Promise.loss(pacbayes.Kind(resolved.Promise.Loss)), 1)
	terms.Backtest = resolved.Data.Split == "last"
	shared = model.Together{Delta: terms.Delta, Parts: len(targets)}
	if model.Apart(terms) == "" {
		shared.Parts++
		if o.Data.Kinds != nil {
			shared.Parts = 1 // the label was asked for, so all of δ goes to it
		}
	}
	for _, name := range targets {
		own := o
		own.Data.Target = name
		own.Promise.Delta = shared.Delta / float64(shared.Parts)
		each = append(each, own)
	}
	return each, shared, nil
}
