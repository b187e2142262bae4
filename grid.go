package krigo

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/krigo-gp/krigo/internal/cautious"
	"github.com/krigo-gp/krigo/model"
)

// fitGrid trains on the certified rows with a prior whose parameters lie on the grid.
func fitGrid(ctx context.Context, certified share, c *checkpoints) (*model.Model, []run, error) {
	o := certified.options
	p, err := decide(certified, o, o.Kernel.families(certified.data.Cols), certified.notices)
	if err != nil {
		return nil, nil, err
	}
	p, t, err := p.optimum(ctx, c)
	if err != nil {
		return nil, nil, err
	}
	if o.Prior.Mixed {
		if p, t, err = p.coarsen(ctx, c, t); err != nil {
			return nil, nil, err
		}
	}
	return p.conclude(ctx, c, t)
}

// conclude makes the model of what training found, or goes on from it with a free-form posterior. It returns all runs.
func (p *plan) conclude(ctx context.Context, c *checkpoints, t trained) (*model.Model, []run, error) {
	notices := slices.Concat(p.notices, t.notices)
	m, err := p.finish(ctx, c, p.problem(ctx, c, p.families[t.best.family]), t.best, notices)
	if err != nil {
		return nil, nil, err
	}
	if p.choice.Learns() {
		alpha := p.alphaAt(t.best.result.X)
		m.Training.Alpha = &alpha
	}
	if p.choice.Free() {
		var free run
		if m, free, err = p.freeUp(ctx, c, m, t.best, notices); err != nil {
			return nil, nil, err
		}
		t.all = append(t.all, free)
	}
	m.Curves = c.curves()
	return m, t.all, nil
}

// freeUp goes on from the optimum of a collapsed bound, of which m is the model, with a free-form posterior, and
// returns the model whose certificate is lower. The choice is free: the bound holds for
// all posteriors together.
func (p *plan) freeUp(ctx context.Context, c *checkpoints, m *model.Model, best run, notices []string) (*model.Model,
	run, error) {
	f := p.families[best.family]
	last := len(p.families)*p.restarts + 1
	event := Event{Family: f.name + ", free-form", Start: last, Starts: last}
	way := p.choice.FreeUp(math.Exp(best.result.X[f.gridParams()]))
	problem := way.Bind(p.task(ctx, c, f))
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
	other, err := p.finish(ctx, c, way.Bind(p.task(ctx, c, f)), free, notices)
	if err != nil {
		return nil, run{}, err
	}
	if m.Certificate == nil || other.Certificate == nil {
		return other, free, nil
	}
	if other.Certificate.Bound > m.Certificate.Bound {
		m.Notices = append(m.Notices, fmt.Sprintf("the free-form posterior's bound %.4f is no lower than the objective's "+
			"own: that one is kept", cautious.RoundUp(other.Certificate.Bound, 4)))
		return m, free, nil
	}
	other.Notices = append(other.Notices, fmt.Sprintf("the posterior is free-form: bound %.4f, of the objective's own %.4f", cautious.RoundUp(other.Certificate.Bound, 4), cautious.RoundUp(m.Certificate.Bound, 4)))
	return other, free, nil
}
