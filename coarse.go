package krigo

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/krigo-gp/krigo/train"
)

// mixedDigits is the number of grids, of 0, 1 and 2 digits, that a mixed p_θ gives a third
// each: p_θ ≥ ⅓/|Θ_r| for every θ of the grid r, so that ln 3 pays for the choice of r, and a
// coarser grid costs less for every parameter, most under ARD.
const mixedDigits = 3

// coarsen looks for the grid with the lowest bound: from the best run of each family, the
// prior's parameters are rounded to fewer digits and stay there, while everything that shapes
// Q alone is trained on. It leaves the best in o and best, and holds its parameters.
func (p *prepared) coarsen(ctx context.Context, o *Options, families []family, best *run, runs []run, c *checkpoints) (more []run, err error) {
	fine, choices := *o, len(families)
	fine.PosteriorFree = false // the collapsed optimum comes first
	start := map[int]run{}
	for _, r := range runs {
		if s, ok := start[r.family]; !ok || r.result.Value < s.result.Value {
			start[r.family] = r
		}
	}
	p.held = true
	lowest := 2.0
	for i, f := range families {
		from, ok := start[i]
		if !ok {
			continue
		}
		for digits := mixedDigits - 1; digits >= 0; digits-- {
			with := fine
			with.Grid.Digits = digits
			x0 := slices.Clone(from.result.X)
			with.Grid.RoundAll(x0[:f.gridParams()], x0[:f.gridParams()])
			key := fmt.Sprintf("%s/digits=%d", f.name, digits)
			event := Event{Family: fmt.Sprintf("%s, grid %s", f.name, with.Grid), Start: 1, Starts: 1}
			r, err := c.lbfgs(ctx, key, event, p.newProblem(with, f, choices), p.box(with, f, x0), x0, with.evaluations())
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			var outside *train.StartError
			if errors.As(err, &outside) {
				continue
			}
			if err != nil {
				return nil, err
			}
			more = append(more, run{i, r})
			if r.Value < lowest {
				lowest = r.Value
				*best = run{i, r}
				o.Grid = with.Grid
			}
		}
	}
	p.notices = append(p.notices, fmt.Sprintf("of grids with 0 to %d digits, that with %d gave the lowest bound", mixedDigits-1, o.Grid.Digits))
	return more, nil
}
