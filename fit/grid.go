package fit

import (
	"context"

	"github.com/krigo-gp/krigo/model"
)

// optimum is the best run of training, or the parameters given where nothing is trained.
func (p *prepared) optimum(ctx context.Context, o *Options, families []family, c *checkpoints) (best run, all []run, err error) {
	p.ctx, p.progress = ctx, c.tellSolve
	if o.AlphaCV {
		if p.alpha, err = p.crossValidate(ctx, *o, families[0], c); err != nil {
			return best, nil, err
		}
		o.Alpha = &p.alpha
	}
	if !o.FixParameters {
		return p.train(ctx, *o, families, c)
	}
	best, err = p.given(*o, families)
	if err == nil {
		err = c.tell(Event{Family: families[best.family].name, Start: 1, Starts: 1, Solver: p.solver, Stopped: best.result.Stopped}, func() {})
	}
	return best, []run{best}, err
}

// fitGrid trains with a prior whose parameters lie on the grid.
func (p *prepared) fitGrid(ctx context.Context, o Options) (*model.Model, []run, error) {
	families := p.families(o)
	o, err := p.decide(o, families[0])
	if err != nil {
		return nil, nil, err
	}
	c, err := p.checkpoints(o)
	if err != nil {
		return nil, nil, err
	}
	best, runs, err := p.optimum(ctx, &o, families, c)
	if err != nil {
		return nil, nil, err
	}
	if o.GridMixed {
		coarse, err := p.coarsen(ctx, &o, families, &best, runs, c)
		if err != nil {
			return nil, nil, err
		}
		runs = append(runs, coarse...)
	}
	m, free, err := p.conclude(ctx, o, families, best, c)
	return m, append(runs, free...), err
}

// conclude makes the model from the best run, or goes on from it with a free-form posterior.
func (p *prepared) conclude(ctx context.Context, o Options, families []family, best run, c *checkpoints) (*model.Model, []run, error) {
	var m *model.Model
	var free []run
	var err error
	if o.PosteriorFree {
		free = make([]run, 1)
		m, free[0], err = p.freeUp(ctx, o, families, best, c)
	} else {
		m, err = p.finish(o, families[best.family], best, len(families))
	}
	if err != nil {
		return nil, nil, err
	}
	m.Curves = c.curves()
	return m, free, nil
}
