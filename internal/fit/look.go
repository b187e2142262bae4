package fit

import (
	"context"

	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/internal/fit/ask"
	"github.com/krigo-gp/krigo/internal/fit/conduct"
	"github.com/krigo-gp/krigo/internal/fit/deal"
	"github.com/krigo-gp/krigo/internal/fit/search"
	"github.com/krigo-gp/krigo/matrix"
	"github.com/krigo-gp/krigo/model"
)

const mostLooked = 1500 // rows that Ties looks at

// Look returns what ties the prior rows of a table together, without a fit: it measures the errors
// of a quick GP on at most mostLooked of them (see conduct.Ties).
func Look(ctx context.Context, table *dataset.Table, o ask.Asked) (found []model.Tie, err error) {
	defer matrix.Ended(&err)
	if o, err = o.ResolveFor(table); err != nil {
		return nil, err
	}
	d, err := deal.Deal(table.Within(ctx), o)
	if err != nil {
		return nil, err
	}
	// Certified rows aren't looked at, so that a later certificate pays for nothing.
	rows, err := d.Take(dataset.Prior)
	if err != nil {
		return nil, err
	}
	if rows.N > mostLooked {
		rows = rows.Choose(search.Spread(rows.N, mostLooked))
	}
	all, err := deal.Gather(rows.Rows)
	if err != nil {
		return nil, err
	}
	g, err := search.Quickly(ctx, all.X, all.Y)
	if err != nil {
		return nil, err
	}
	return conduct.Ties(ctx, rows, g)
}
