package fit

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/krigo-gp/krigo/internal/cautious"
	"github.com/krigo-gp/krigo/model"
)

// freeUp goes on from the optimum of a collapsed bound with a free-form posterior, and
// returns the model whose certificate is lower. The choice is free: the bound holds for
// all posteriors together.
func (p *prepared) freeUp(ctx context.Context, o Options, families []family, best run, c *checkpoints) (*model.Model, run, error) {
	f := families[best.family]
	collapsed, notices := o, slices.Clone(p.notices)
	collapsed.PosteriorFree = false
	m, err := p.finish(collapsed, f, best, len(families))
	if err != nil {
		return nil, run{}, err
	}
	p.freeNoise = math.Exp(best.result.X[f.gridParams()])
	event := Event{Family: f.name + ", free-form", Start: len(families)*o.Restarts + 1, Starts: len(families)*o.Restarts + 1}
	problem := p.problem(o, f, len(families))
	x, err := problem.Start(best.result.X)
	if err != nil {
		return nil, run{}, err
	}
	r, err := problem.Minimize(ctx, c.run(f.name+"/free", event), x)
	if err != nil {
		return nil, run{}, err
	}
	if ctx.Err() != nil {
		return nil, run{}, ctx.Err()
	}
	if err := p.rows.Err(); err != nil {
		return nil, run{}, err
	}
	free := run{best.family, r}
	kept := p.notices
	p.notices = notices
	other, err := p.finish(o, f, free, len(families))
	if err != nil {
		return nil, run{}, err
	}
	if m.Certificate == nil || other.Certificate == nil {
		return other, free, nil
	}
	if other.Certificate.Bound > m.Certificate.Bound {
		m.Notices = append(kept, fmt.Sprintf("the free-form posterior's bound %.4f is no lower than the objective's own: that one is kept", cautious.RoundUp(other.Certificate.Bound, 4)))
		return m, free, nil
	}
	other.Notices = append(other.Notices, fmt.Sprintf("the posterior is free-form: bound %.4f, of the objective's own %.4f", cautious.RoundUp(other.Certificate.Bound, 4), cautious.RoundUp(m.Certificate.Bound, 4)))
	return other, free, nil
}
