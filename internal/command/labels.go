package command

import (
	"context"
	"fmt"
	"strings"

	"github.com/krigo-gp/krigo"
	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/finding"
	"github.com/krigo-gp/krigo/model"
	"github.com/krigo-gp/krigo/pacbayes"
	"github.com/krigo-gp/krigo/watch"
)

// isLabels says whether a file is a certificate of labels, not a model, by its name.
func isLabels(path string) bool { return strings.HasSuffix(path, ".json") }

// claimed is what outcomes are compared with.
type claimed struct {
	claim   watch.Claim
	reading dataset.Reading
	// rows for claim.Outcomes, and which cells were filled
	rows func(t *dataset.Table) (*dataset.Data, finding.List, error)
}

// openClaimed reads a model or a certificate of labels that is to be watched.
func openClaimed(ctx context.Context, path string) (*claimed, error) {
	if isLabels(path) {
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
	return &claimed{watch.ClaimOf(m), m.Reading.Every(), m.Later}, nil
}

// openLabels reads a certificate of labels, which bounds wrong labels among all rows and among rows
// of each class.
func openLabels(ctx context.Context, path string) (*claimed, error) {
	p, sum, err := krigo.LoadLabels(path)
	if err != nil {
		return nil, err
	}
	// Outcomes are compared with bounds between 0 and 1, and only if single rows were certified,
	// not groups.
	c := watch.Claim{Name: sum, Bound: 1, Delta: p.Delta, Miss: "got a wrong label",
		Seen: "a certified row"}
	for _, s := range p.Certificate.Statements {
		switch {
		case !(0 < s.Bound && s.Bound < 1) || p.Group != "":
		case s.About == pacbayes.ErrorRate:
			c.Bound = s.Bound
			c.Part = s.Delta
		case s.About == pacbayes.EachClass:
			c.Kinds = append(c.Kinds, watch.Claim{Of: s.Of, Bound: s.Bound, Part: s.Delta})
		}
	}
	if c.Alarms() == 0 {
		return nil, fmt.Errorf("%s can't be watched: want a bound on wrong labels among single "+
			"rows, of all classes or of each (certify with --statements error,classes and "+
			"without --group)", path)
	}
	// rows, the last function below, sets these before Outcomes uses them.
	var l *pacbayes.Labelled
	var hashes []uint64
	var same bool
	c.Outcomes = func(_ *dataset.Data, rows []int) (o model.Outcomes, _ error) {
		for _, i := range rows {
			wrong := 0.
			if l.Truth[i] != l.Predicted[i] {
				wrong = 1
			}
			o.Losses = append(o.Losses, wrong)
			o.Hashes = append(o.Hashes, hashes[i])
			if o.Of = append(o.Of, l.Classes[l.Truth[i]]); same {
				o.Seen++
			}
		}
		return o, nil
	}
	return &claimed{c, dataset.Reading{}.Every(), func(t *dataset.Table) (d *dataset.Data,
		_ finding.List, err error) {
		if l, hashes, same, err = p.Again(ctx, t); err == nil {
			d, err = t.Unlabelled(nil)
		}
		return d, nil, err
	}}, nil
}
