package command

import (
	"context"
	"fmt"

	"github.com/krigo-gp/krigo"
	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/internal/disk"
	"github.com/krigo-gp/krigo/internal/lists"
	"github.com/krigo-gp/krigo/model"
	"github.com/krigo-gp/krigo/pacbayes"
	"github.com/krigo-gp/krigo/watch"
)

// isJSON says whether a file is JSON, a certificate and no model.
func isJSON(path string) bool {
	begin := []byte{0}
	if f, err := disk.Open(path); err == nil {
		defer f.Close()
		_, _ = f.Read(begin) // who reads the file as a model says what is wrong with it
	}
	return begin[0] == '{'
}

// claimed is what outcomes are compared with.
type claimed struct {
	claim   watch.Claim
	reading dataset.Reading
	rows    func(t *dataset.Table) (*dataset.Data, error) // rows for claim.Outcomes
}

// openWatched reads a model or a certificate of labels that is to be watched.
func openWatched(ctx context.Context, path string) (*claimed, error) {
	if isJSON(path) {
		return openLabels(ctx, path)
	}
	all, err := model.LoadSeveral(path)
	if err != nil {
		return nil, err
	}
	m, err := all.Label()
	if err != nil {
		return nil, err
	}
	if err := watch.Watchable(m); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return &claimed{claim: watch.ClaimOf(m), reading: m.Reading.Every(), rows: m.Labelled}, nil
}

// openLabels reads a certificate of labels. δ is shared by alarms about all rows, and about each class with a bound.
func openLabels(ctx context.Context, path string) (*claimed, error) {
	p, sum, err := krigo.LoadLabels(path)
	if err != nil {
		return nil, err
	}
	if p.Group != "" {
		return nil, fmt.Errorf("%s can't be watched: its error rate is about groups by %s, and single rows are only parts of "+
			"groups", path, p.Group)
	}
	c := watch.Claim{Name: sum, Bound: 1, Miss: "got a wrong label"}
	for _, s := range p.Certificate.Statements {
		switch {
		case !(0 < s.Bound && s.Bound < 1):
		case s.About == pacbayes.ErrorRate:
			c.Bound = s.Bound
		case s.About == pacbayes.EachClass:
			c.Kinds = append(c.Kinds, watch.Claim{Of: s.Of, Bound: s.Bound, Miss: c.Miss})
		}
	}
	alarms := c.Alarms()
	if alarms == 0 {
		return nil, fmt.Errorf("%s can't be watched: none of its bounds is about wrong labels among all rows, or among rows "+
			"of a class: certify with --statements error,classes", path)
	}
	c.Delta = p.Delta / float64(alarms)
	for i := range c.Kinds {
		c.Kinds[i].Delta = c.Delta
	}
	var all model.Outcomes
	c.Outcomes = func(_ *dataset.Data, rows []int) (o model.Outcomes, _ error) {
		o.Losses = lists.Of(rows, func(i int) float64 { return all.Losses[i] })
		o.Hashes = lists.Of(rows, func(i int) uint64 { return all.Hashes[i] })
		o.Of = lists.Of(rows, func(i int) string { return all.Of[i] })
		o.Seen = min(all.Seen, len(rows))
		return o, nil
	}
	return &claimed{claim: c, reading: dataset.Reading{}.Every(), rows: func(t *dataset.Table) (_ *dataset.Data, err error) {
		if all, err = p.Outcomes(ctx, t); err != nil {
			return nil, err
		}
		return t.Unlabelled(nil)
	}}, nil
}
