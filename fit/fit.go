package fit

import (
	"context"
	"time"

	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/model"
)

// Fit trains a model on a table: it deals the rows their roles, scales, minimises the
// objective from several starting points, rounds the prior's parameters to the grid,
// and certifies the posterior of the rounded parameters on all certified rows.
//
// With options that make no sense it returns a UsageError; if ctx ends, ctx's error,
// having offered the last state to Run.Save.
//
// A table that is spread over ranks (dataset.ReadPart) is fitted by all of them: each calls Fit with
// the same options, and gets the same model, but for the row hashes that a model file holds, which
// the first rank's has; Progress and Save are called there alone. An error on one rank reaches the
// others when that rank is closed.
func Fit(ctx context.Context, table *dataset.Table, o Options) (*model.Model, error) {
	o, err := o.resolve(table.Rows)
	if err != nil {
		return nil, err
	}
	begun := time.Now()
	if text := o.Run.Declaration; text != nil {
		if err := checkDeclared(table, o, text); err != nil {
			return nil, err
		}
	}
	if table.Ranks().Rank() > 0 {
		o.Run.Progress, o.Run.Predicting, o.Run.Save = nil, nil, nil
	}
	d, err := deal(table, o)
	if err != nil {
		return nil, err
	}
	certified, err := d.take(dataset.Certified)
	if err != nil {
		return nil, err
	}
	c, err := begin(d)
	if err != nil {
		return nil, err
	}
	if o.Run.Predicting != nil {
		ctx = model.Telling(ctx, o.Run.Predicting)
	}
	way := fitGrid
	if o.informed() {
		way = fitInformed
	}
	m, runs, err := way(ctx, certified, c)
	if err != nil {
		return nil, err
	}
	count(&m.Training, runs)
	m.Training.Seconds = time.Since(begun).Seconds()
	return m, nil
}
