package krigo

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/matrix"
	"github.com/krigo-gp/krigo/model"
)

// work is the context of a fit. When that is over it ends nothing any more: the model keeps matrices of the fit.
type work struct {
	context.Context
	over atomic.Bool
}

// Err returns nil once the fit is over.
func (w *work) Err() error {
	if w.over.Load() {
		return nil
	}
	return w.Context.Err()
}

// during returns the context of a fit, with which reading rows, training and certifying end.
func during(ctx context.Context, predicting func(done, of int)) (context.Context, func()) {
	if predicting != nil {
		ctx = model.Telling(ctx, predicting)
	}
	w := &work{Context: ctx}
	return w, func() { w.over.Store(true) }
}

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
func Fit(ctx context.Context, table *dataset.Table, o Options) (made *Model, err error) {
	defer matrix.Ended(&err)
	o, err = o.resolve(table.Rows)
	if err != nil {
		return nil, err
	}
	begun := time.Now()
	if text := o.Run.Declaration; text != nil {
		if err := checkDeclared(ctx, table, o, text); err != nil {
			return nil, err
		}
	}
	if table.Ranks().Rank() > 0 {
		o.Run.Progress, o.Run.Predicting, o.Run.Save = nil, nil, nil
	}
	ctx, over := during(ctx, o.Run.Predicting)
	defer over()
	certified, c, first, err := open(table.Within(ctx), o)
	if err != nil {
		return nil, err
	}
	var m *model.Model
	var runs []run
	if o.informed() {
		m, runs, err = first.fitInformed(ctx, c, certified)
	} else {
		m, runs, err = first.fit(ctx, c)
	}
	if err == nil {
		err = certified.score(m)
	}
	if err == nil {
		err = ctx.Err() // which may have cost the certificate alone
	}
	if err != nil {
		return nil, err
	}
	m.Curves = c.curves()
	count(&m.Training, runs, begun)
	return &Model{*m}, nil
}
