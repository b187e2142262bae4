package fit

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/model"
	"github.com/krigo-gp/krigo/posterior"
)

// fitInformed learns a prior on the prior rows, and takes it for the posterior or learns one
// on the certified rows.
func (p *prepared) fitInformed(ctx context.Context, o Options) (*model.Model, []run, error) {
	c, err := p.checkpoints(o)
	if err != nil {
		return nil, nil, err
	}
	first := *p
	if err := first.take(dataset.Prior); err != nil {
		return nil, nil, err
	}
	own := o.learnsPrior()
	families := first.families(own)
	if own, err = first.decide(own, families[0]); err != nil {
		return nil, nil, err
	}
	best, runs, err := first.optimum(ctx, &own, families, c)
	if err != nil {
		return nil, nil, err
	}
	prior, err := first.posterior(own, families[best.family], best.result.X)
	if err != nil {
		return nil, nil, err
	}
	first.noteTraining(own, families[best.family], best, len(families))
	p.notices = first.notices
	if !o.learns() {
		m, err := p.takePrior(o, prior)
		if err == nil {
			m.Training.ObjectiveValue, m.Training.Stopped = best.result.Value, best.result.Stopped
			m.Curves = c.curves()
		}
		return m, runs, err
	}
	var tempered []family
	for _, temper := range o.Temper {
		k, m, err := prior.Prior(temper)
		if err != nil {
			return nil, nil, err
		}
		tempered = append(tempered, family{fmt.Sprintf("informed prior ×%g", temper), k, m})
	}

	learn := o
	if !o.pac() {
		learn.Objective, learn.Alpha, learn.Optimizer = "kl-pac", nil, "lbfgs"
		learn.Anneal, learn.AlphaCV = "none", false
	}
	learn.Init, learn.PosteriorLearnt = nil, true
	learn.Inducing = cmp.Or(o.Inducing, first.inducing)
	learn.Full = learn.Inducing == 0 && !o.PosteriorFree
	if learn, err = p.decide(learn, tempered[0]); err != nil {
		return nil, nil, err
	}
	learnt, more, err := p.train(ctx, learn, tempered, c)
	if err != nil {
		return nil, nil, err
	}
	m, free, err := p.conclude(ctx, learn, tempered, learnt, c)
	if err != nil {
		return nil, nil, err
	}
	m.Objective = o.Objective
	m.Notices = append(m.Notices, fmt.Sprintf("the prior was trained by %s on %d rows, the posterior by %s on the %d certified ones", o.Objective, p.priorRows, learn.Objective, p.n))
	return m, slices.Concat(runs, more, free), nil
}

// takePrior makes the model whose posterior is the prior: of its tempers the one with the
// lowest bound, which is paid for.
func (p *prepared) takePrior(o Options, prior *posterior.Posterior) (lowest *model.Model, err error) {
	var chosen float64
	for _, temper := range o.Temper {
		q, err := prior.Unconditioned(temper)
		if err != nil {
			return nil, err
		}
		m, err := p.certify(o, family{kernel: q.Kernel, mean: q.Mean}, q, len(o.Temper))
		if err != nil {
			return nil, err
		}
		if lowest == nil || m.Certificate != nil && m.Certificate.Bound < lowest.Certificate.Bound {
			lowest, chosen = m, temper
		}
	}
	if len(o.Temper) > 1 && lowest.Certificate != nil {
		lowest.Notices = append(lowest.Notices, fmt.Sprintf("of the tempers %v, %g gave the lowest bound", o.Temper, chosen))
	}
	return lowest, p.score(lowest)
}
