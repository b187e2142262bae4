package krigo

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/matrix"
	"github.com/krigo-gp/krigo/model"
)

// How a model is fitted again: the same model (Refit), or its sibling on all rows (Deliver).

func refit(ctx context.Context, m *model.Model, table *dataset.Table,
	progress func(Event)) (again *model.Model, differs string, err error) {
	if m.Fitted == nil {
		return nil, "", errors.New("the model doesn't say what it was fitted with: it was made " +
			"by a krigo that didn't keep that")
	}
	o, err := asked(m)
	if err != nil {
		return nil, "", err
	}
	o.Run.Progress = progress
	// When the model was fitted, dates may have been numbers.
	// In this table they may be text, in another form.
	table, err = m.Kinds.Spread(table.ReadAs(m.Reading))
	if err != nil {
		return nil, "", err
	}
	if again, err = fit(ctx, table, o); err != nil {
		return nil, "", fmt.Errorf("fitting again: %w", err)
	}
	if again.Certificate != nil && m.Certificate != nil {
		if d := again.Certificate.Difference(m.Certificate); d != "" {
			return again, "the certificate's " + d, nil
		}
	}
	older := m.Context == nil
	bits := func(m *model.Model) ([]byte, error) {
		same := *m
		if older { // the model is older than contexts
			same.Context = nil
		}
		if same.Context != nil {
			figures := *same.Context
			figures.AllRows = model.AllRows{}
			same.Context = &figures
		}
		same.Training.Seconds = 0
		same.Source = ""
		same.Findings = nil // these fields name files
		if m.Counts[dataset.Test] == 0 {
			same.Test = nil // a test table isn't at hand
		}
		same.Fitted = translated(m.Fitted)
		var out bytes.Buffer
		err := same.Write(&out)
		return out.Bytes(), err
	}
	a, err := bits(again)
	if err != nil {
		return nil, "", err
	}
	b, err := bits(m)
	if err == nil && !bytes.Equal(a, b) {
		differs = "some bits are others, in the last digits of what was trained if not more"
	}
	return again, differs, err
}

func deliver(ctx context.Context, m *model.Model, table *dataset.Table,
	with Options) (sibling *model.Model, err error) {
	defer matrix.Ended(&err)
	begun := time.Now()
	o, err := asked(m)
	if err != nil {
		return nil, err
	}
	if err := o.checkDelivered(); err != nil {
		return nil, err
	}
	o.Data.Test = with.Data.Test
	o.Run.Progress = with.Run.Progress
	o.Run.Save = with.Run.Save
	o.Run.Resume = with.Run.Resume
	if table.Ranks().Rank() > 0 {
		o.Run.Progress = nil
		o.Run.Save = nil
	}
	ctx, over := during(ctx, nil)
	defer over()
	d, err := deal(table.Within(ctx), o)
	if err == nil {
		d, err = d.seeing(ctx)
	}
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
	d = d.undealt()
	c.stage = allRows
	s, err := d.siblingStage(m)
	if err != nil {
		return nil, err
	}
	p, err := s.decide(d.findings)
	if err != nil {
		return nil, err
	}
	var t trained
	if p.choice.OnBatches() && !p.sparse() {
		// Training again on batches would add steps rather than rows, so the sibling keeps the
		// certified model's parameters. On public sets, parameters from seven rows in eight predict
		// from all rows as well as parameters trained further, or better.
		t, err = p.atInit(ctx, c)
	} else {
		p, t, err = p.optimum(ctx, c)
	}
	if err != nil {
		return nil, err
	}
	if p, t, err = p.withNoise(ctx, c, t); err != nil {
		return nil, err
	}
	q, found, err := p.posterior(ctx, c, t)
	if err != nil {
		return nil, err
	}
	all, err := p.uncertified(q, found)
	if err != nil {
		return nil, err
	}
	if o.Method.Kind().Bound != "" {
		all.ObservationNoise = m.ObservationNoise
	}
	all.Training.ObjectiveValue = t.best.result.Value
	all.Training.Stopped = t.best.result.Stopped
	count(&all.Training, t.all, begun)
	all.CertificateReason = fmt.Sprintf("it was trained on all %d rows, so that none is left to "+
		"certify it by", p.n)
	if c := m.Certificate; c != nil && c.Valid {
		all.CertificateReason += fmt.Sprintf("; what is certified are the predictions of its "+
			"sibling, which was trained on %d of these rows, in a file of its own (the SHA-256 "+
			"of its certified rows is %s)", m.Counts[dataset.Prior], m.Hash)
	}
	if err := d.score(all); err != nil {
		return nil, err
	}
	return all, nil
}

// undealt returns the same rows with the same scaling and no certified row:
// every row except test rows may train.
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
