package krigo

import (
	"context"

	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/matrix"
	"github.com/krigo-gp/krigo/model"
)

const mostLooked = 1500 // rows that Ties looks at

func look(ctx context.Context, table *dataset.Table, o Asked) (found []model.Tie, err error) {
	defer matrix.Ended(&err)
	if o, err = o.resolveFor(table); err != nil {
		return nil, err
	}
	d, err := deal(table.Within(ctx), o)
	if err != nil {
		return nil, err
	}
	rows, err := d.take(dataset.Prior)
	if err != nil {
		return nil, err
	}
	if rows.n > mostLooked {
		rows = rows.choose(spread(rows.n, mostLooked))
	}
	all, err := gather(rows.rows)
	if err != nil {
		return nil, err
	}
	g, err := quickly(ctx, all.X, all.Y)
	if err != nil {
		return nil, err
	}
	return rows.ties(ctx, g)
}
