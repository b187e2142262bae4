package krigo

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/matrix"
)

// Deliver trains a certified model's sibling, from the data that it was made from, on all rows but those for testing,
// the certified ones too: the evidence of all rows at once anew, kernels that are tried among it, other methods with
// the model's kernel from where its training ended, and on batches with the parameters that it ended with. No row is
// left to certify it by; its CertificateReason says which model is certified. Of with, Data.Test and the run's
// Progress, Save and Resume count; other options are those that the model was fitted with.
func (m *Model) Deliver(ctx context.Context, table *dataset.Table, with Options) (sibling *Model, err error) {
	defer matrix.Ended(&err)
	begun := time.Now()
	o, err := asked(&m.Model)
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
	s, err := d.siblingStage(&m.Model)
	if err != nil {
		return nil, err
	}
	p, err := s.decide(d.findings)
	if err != nil {
		return nil, err
	}
	var t trained
	if p.choice.OnBatches() && !p.sparse() {
		// More steps aren't more rows: on public sets parameters of seven rows in eight predict as well, or better, from all
		// rows.
		t, err = p.atInit(ctx, c)
	} else {
		p, t, err = p.optimum(ctx, c)
	}
	if err != nil {
		return nil, err
	}
	q, found, err := p.posterior(ctx, c, t)
	if err != nil {
		return nil, err
	}
	all, err := d.uncertified(q, found)
	if err != nil {
		return nil, err
	}
	if o.Method.Kind().Bound != "" {
		all.ObservationNoise = m.ObservationNoise
	}
	all.Training.ObjectiveValue, all.Training.Stopped = t.best.result.Value, t.best.result.Stopped
	count(&all.Training, t.all, begun)
	all.CertificateReason = fmt.Sprintf("it was trained on all %d rows, so that none is left to certify it by", p.n)
	if c := m.Certificate; c != nil && c.Valid {
		all.CertificateReason += fmt.Sprintf("; what is certified are the predictions of its sibling, which was trained on "+
			"%d of these rows, in a file of its own (the SHA-256 of its certified rows is %s)", m.Counts[dataset.Prior], m.Hash)
	}
	return wrap(all, d.score(all))
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
