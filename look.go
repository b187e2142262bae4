package krigo

import (
	"context"

	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/matrix"
	"github.com/krigo-gp/krigo/model"
)

const mostLooked = 1500 // rows that Ties looks at

// Ties looks for what ties the rows of a table together.
// It fits one kernel quickly, to some of the rows that these options would make prior rows.
// The result is advice on the choice of Data.Group. A fit looks again by itself.
func Ties(ctx context.Context, table *dataset.Table, of Options) (found []model.Tie, err error) {
	defer matrix.Ended(&err)
	of.Prior.Kind = "informed"
	o, err := newly(of).resolveFor(table)
	if err != nil {
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
