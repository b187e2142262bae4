package fit

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/fitting"
	"github.com/krigo-gp/krigo/internal/cautious"
	"github.com/krigo-gp/krigo/internal/fit/ask"
	"github.com/krigo-gp/krigo/internal/fit/conduct"
	"github.com/krigo-gp/krigo/internal/fit/deal"
	"github.com/krigo-gp/krigo/internal/fit/plan"
	"github.com/krigo-gp/krigo/internal/fit/search"
	"github.com/krigo-gp/krigo/matrix"
	"github.com/krigo-gp/krigo/model"
)

// How a model is fitted again: the same model (Refit), or its sibling on all rows (Deliver).

// Refit fits a model again with its own options on the table, and says how the result differs: in
// the certificate, or in any bit of the file. differs is "" if it doesn't.
func Refit(ctx context.Context, m *model.Model, table *dataset.Table,
	progress func(fitting.Event)) (again *model.Model, differs string, err error) {
	if m.Fitted == nil {
		return nil, "", errors.New("the model doesn't say what it was fitted with: it was made " +
			"by a krigo that didn't keep that")
	}
	o, err := ask.Fitted(m)
	if err != nil {
		return nil, "", err
	}
	o.Run.Progress = progress
	o.Counting = !m.Scaling.Without && (m.Encoding == nil || !m.Encoding.Without)
	// When the model was fitted, dates may have been numbers.
	// In this table they may be text, in another form.
	table, err = m.Kinds.Spread(table.ReadAs(m.Reading))
	if err != nil {
		return nil, "", err
	}
	if again, err = Fit(ctx, table, o); err != nil {
		return nil, "", fmt.Errorf("fitting again: %w", err)
	}
	if again.Certificate != nil && m.Certificate != nil {
		if d := again.Certificate.Difference(m.Certificate); d != "" {
			return again, "the certificate's " + d, nil
		}
	}
	older := m.Context == nil
	// Bits are compared without fields that hold file names or times, or that older versions lack.
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
		same.Ties = slices.Clone(m.Ties)
		for i := range same.Ties { // kept options don't say whether a certificate was asked for
			same.Ties[i].Takes = 0
			same.Ties[i].Delta = 0
		}
		same.Fitted = ask.Translated(m.Fitted)
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

// Deliver returns the model's sibling: the same method, trained on every row of the same table
// except test rows. It has no certificate, because no row is left to certify it by.
func Deliver(ctx context.Context, m *model.Model, table *dataset.Table,
	with ask.Options) (sibling *model.Model, err error) {
	defer matrix.Ended(&err)
	begun := time.Now()
	o, err := ask.Fitted(m)
	if err != nil {
		return nil, err
	}
	if err := o.CheckDelivered(); err != nil {
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
	d, err := deal.Deal(table.Within(ctx), o)
	if err == nil {
		d, err = search.Seeing(ctx, d)
	}
	if err != nil {
		return nil, err
	}
	// The hash is of the rows in any order.
	if d.Units.Hash != m.All {
		return nil, fmt.Errorf("%s isn't the data that the model was made from", table.Source)
	}
	c, err := deal.Begin(d)
	if err != nil {
		return nil, err
	}
	intervals := fromAllRows(m, d)
	d = undealt(d)
	c.Stage = deal.AllRows
	s, err := plan.SiblingStage(d, m)
	if err != nil {
		return nil, err
	}
	p, err := s.Decide(d.Findings)
	if err != nil {
		return nil, err
	}
	var t search.Trained
	if p.Choice.OnBatches() && !p.Sparse() {
		// Training again on batches would add steps rather than rows, so the sibling keeps the
		// certified model's parameters. On public sets, parameters from seven rows in eight predict
		// from all rows as well as parameters trained further, or better.
		t, err = conduct.AtInit(ctx, p, c)
	} else {
		p, t, err = conduct.Optimum(ctx, p, c)
	}
	if err != nil {
		return nil, err
	}
	if p, t, err = search.WithNoise(ctx, p, c, t); err != nil {
		return nil, err
	}
	q, found, err := conduct.Posterior(ctx, p, c, t)
	if err != nil {
		return nil, err
	}
	all, err := conduct.Uncertified(p.Dealt, q, found)
	if err != nil {
		return nil, err
	}
	if o.Method.Kind().Bound != "" {
		all.ObservationNoise = m.ObservationNoise
	}
	all.Training.ObjectiveValue = t.Best.Result.Value
	all.Training.Stopped = t.Best.Result.Stopped
	search.Count(&all.Training, t.All, begun)
	all.CertificateReason = fmt.Sprintf("it was trained on all %d rows, so that none is left to "+
		"certify it by", p.N)
	if c := m.Certificate; c != nil && c.Valid {
		all.CertificateReason += fmt.Sprintf("; what is certified are the predictions of its "+
			"sibling, which was trained on %d of these rows, in a file of its own (the SHA-256 "+
			"of its certified rows is %s)%s", m.Counts[dataset.Prior], m.Hash, intervals)
	}
	return all, conduct.Score(d, all)
}

// fromAllRows says which intervals a certified model gives from all rows, or returns "".
// The model of all rows gives no such intervals, because all rows trained its parameters.
func fromAllRows(m *model.Model, d *deal.Dealt) string {
	w, err := m.Whole(d.Data)
	if err != nil {
		return ""
	}
	said := "; that file also has 95 % intervals from all rows, which hold on average (predict " +
		"--intervals full,jackknife)"
	if half := w.HalfWidth(0.95); m.Scaling.Transform == nil && !math.IsInf(half, 1) {
		said += fmt.Sprintf(": about ±%.3g of %s", half, cautious.Name(m.Target))
	}
	return said
}

// undealt returns the same rows with the same scaling and no certified row:
// every row except test rows may train.
func undealt(d *deal.Dealt) *deal.Dealt {
	all := *d
	all.Roles.Of = slices.Clone(d.Roles.Of)
	for i, role := range all.Roles.Of {
		if role != dataset.Test {
			all.Roles.Of[i] = dataset.Prior
		}
	}
	return &all
}
