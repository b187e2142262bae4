package krigo

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/matrix"
	"github.com/krigo-gp/krigo/model"
)

// Deliver trains a certified model's sibling, from the data that it was made from, on all rows but those for testing,
// the certified ones too: the evidence of all rows at once anew, kernels that are tried among it, other methods with
// the model's kernel from where its training ended, and on batches with the parameters that it ended with. No row is
// left to certify it by; its CertificateReason says which model is certified. Of with, Data.Test and the run's Progress, Save and Resume count; other options are those that
// the model was fitted with.
func Deliver(ctx context.Context, m *model.Model, table *dataset.Table, with Options) (all *model.Model, err error) {
	defer matrix.Ended(&err)
	begun := time.Now()
	o, err := asked(m)
	if err != nil {
		return nil, err
	}
	if err := o.checkDelivered(); err != nil {
		return nil, err
	}
	o.Data.Test, o.Run.Progress, o.Run.Save, o.Run.Resume = with.Data.Test, with.Run.Progress, with.Run.Save,
		with.Run.Resume
	if table.Ranks().Rank() > 0 {
		o.Run.Progress, o.Run.Save = nil, nil
	}
	ctx, over := during(ctx, nil)
	defer over()
	d, err := deal(table.Within(ctx), o)
	if err != nil {
		return nil, err
	}
	if d.units.Hash != m.All {
		return nil, fmt.Errorf("%s isn't the data that the model was made from", table.Source)
	}
	c, err := begin(d)
	if err != nil {
		return nil, err
	}
	d, c.stage = d.undealt(), allRows
	p, err := decideDelivered(d, m)
	if err != nil {
		return nil, err
	}
	if p.choice.OnBatches() && !p.sparse() {
		// More steps aren't more rows: on public sets parameters of seven rows in eight predict as well, or better, from all
		// rows.
		p.options.Run.FixParameters = true
	}
	p, t, err := p.optimum(ctx, c)
	if err != nil {
		return nil, err
	}
	q, notices, err := p.posterior(ctx, c, t)
	if err != nil {
		return nil, err
	}
	all, err = d.uncertified(q, notices)
	if err != nil {
		return nil, err
	}
	if o.Method.Kind().Bound != "" {
		all.ObservationNoise = m.ObservationNoise
	}
	all.Training.ObjectiveValue, all.Training.Stopped = t.best.result.Value, t.best.result.Stopped
	count(&all.Training, t.all)
	all.Training.Seconds = time.Since(begun).Seconds()
	all.CertificateReason = fmt.Sprintf("it was trained on all %d rows, so that none is left to certify it by", p.n)
	if c := m.Certificate; c != nil && c.Valid {
		all.CertificateReason += fmt.Sprintf("; what is certified are the predictions of its sibling, which was trained on "+
			"%d of these rows, in a file of its own (the SHA-256 of its certified rows is %s)", m.Counts[dataset.Prior], m.Hash)
	}
	return all, d.score(all)
}

// undealt is the same rows, scaled as they were, without a certified one: all but those for testing are to learn from.
func (d *dealt) undealt() *dealt {
	all := *d
	all.roles.Of = slices.Clone(d.roles.Of)
	for i, role := range all.roles.Of {
		if role != dataset.Test {
			all.roles.Of[i] = dataset.Prior
		}
	}
	return &all
}

// decideDelivered decides how a model's sibling is trained.
func decideDelivered(d *dealt, m *model.Model) (*plan, error) {
	rows, err := d.take(dataset.Prior)
	if err != nil {
		return nil, err
	}
	o := d.options.learnsPrior()
	if !o.Method.OnBatches() && o.Method.Kind().Exact {
		return decide(rows, o, o.Kernel.families(d.data.Cols), d.notices)
	}
	at := m.Trained()
	o.Run.Init, o.Run.Restarts = &Params{Kernel: at.Kernel.Spec(at.Theta), NoiseVariance: at.Noise}, 1
	if b := at.Beta; len(b) > 0 {
		o.Run.Init.Mean = &MeanParams{Constant: b[0], Linear: b[1:]}
	}
	for _, f := range o.Kernel.families(d.data.Cols) {
		if sameShape(f.spec(), o.Run.Init.Kernel) {
			return decide(rows, o, []family{f}, d.notices)
		}
	}
	return nil, fmt.Errorf("the model's kernel, %s, is none of those that it says were tried", o.Run.Init.Kernel)
}
