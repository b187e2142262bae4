package fit

import (
	"context"

	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/fitting"
	"github.com/krigo-gp/krigo/internal/fit/ask"
	"github.com/krigo-gp/krigo/internal/fit/conduct"
	"github.com/krigo-gp/krigo/internal/fit/deal"
	"github.com/krigo-gp/krigo/internal/fit/search"
	"github.com/krigo-gp/krigo/internal/lists"
	"github.com/krigo-gp/krigo/internal/ties"
	"github.com/krigo-gp/krigo/matrix"
	"github.com/krigo-gp/krigo/model"
)

// Ties looks at fewer rows where there are many inputs, since each costs time with each row.
const (
	mostLooked  = 1000
	leastLooked = 400
	fewLooked   = 200 // a look at up to as many rows does all that a fit does
	mostCells   = 60_000
	stretch     = 8 // rows that follow one another, since a unit's rows often do
)

// Look returns what ties the prior rows of a table together, without a fit: it measures the errors
// of a brief GP on at most mostLooked of them (see conduct.Ties).
func Look(ctx context.Context, table *dataset.Table, o ask.Asked) (found []model.Tie, err error) {
	defer matrix.Ended(&err)
	if o, err = o.ResolveFor(table); err != nil {
		return nil, err
	}
	d, err := deal.Silently(table.Within(ctx), o)
	if err != nil {
		return nil, err
	}
	// Certified rows aren't looked at, so that a later certificate pays for nothing.
	rows, err := d.Take(dataset.Prior)
	if err != nil {
		return nil, err
	}
	_, inputs := rows.Rows.Dims()
	rows.Options.Spare = 0 // Decide counts all units
	most := min(mostLooked, max(leastLooked, mostCells/max(1, inputs)))
	if rows.N > most {
		rows = rows.Choose(stretches(rows.N, most))
	}
	all, err := deal.Gather(rows.Rows)
	if err != nil {
		return nil, err
	}
	look := ties.Look{Brief: rows.N > fewLooked, Fit: search.Quickly}
	if rows.N*inputs > mostCells/4 {
		look.Fit = search.Briefly
	}
	look.Told = func(done, of int) {
		if o.Run.Progress != nil {
			o.Run.Progress(fitting.Event{Looking: true, Iteration: done, Of: of})
		}
	}
	look.Told(0, 0)
	look.Given, err = look.Fit(ctx, all.X, all.Y)
	if err != nil {
		return nil, err
	}
	return conduct.Ties(ctx, rows, look)
}

// stretches returns some of n rows: stretches of the same length, spaced as evenly as possible.
func stretches(n, some int) (rows []int) {
	for _, k := range lists.Spread(n/stretch, some/stretch) {
		for i := range stretch {
			rows = append(rows, k*stretch+i)
		}
	}
	return rows
}
