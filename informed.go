package krigo

import (
	"context"
	"fmt"
	"slices"

	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/model"
	"github.com/krigo-gp/krigo/posterior"
)

// fitInformed learns a prior on the prior rows, and takes it for the posterior or learns one
// on the certified rows.
func fitInformed(ctx context.Context, certified share, c *checkpoints) (*model.Model, []run, error) {
	d, o := certified.dealt, certified.options
	first, err := decidePrior(certified)
	if err != nil {
		return nil, nil, err
	}
	first, t, err := first.optimum(ctx, c)
	if err != nil {
		return nil, nil, err
	}
	if t.tried != nil {
		if d, err = d.tried(t.tried, first.restarts); err != nil {
			return nil, nil, err
		}
		certified.dealt = d
	}
	prior, notices, err := first.posterior(ctx, c, t)
	if err != nil {
		return nil, nil, err
	}
	if !o.learns() {
		m, err := d.takePrior(prior, notices)
		if err == nil {
			m.Training.ObjectiveValue, m.Training.Stopped = t.best.result.Value, t.best.result.Stopped
			m.Curves = c.curves()
		}
		return m, t.all, err
	}
	var tempered []family
	for _, temper := range o.Prior.Temper {
		k, m, err := prior.Prior(temper)
		if err != nil {
			return nil, nil, err
		}
		tempered = append(tempered, family{name: fmt.Sprintf("informed prior ×%g", temper), kernel: k, mean: m})
	}
	learn := o.learnsPosterior(first.choice.Inducing)
	second, err := decide(certified, learn, tempered, notices)
	if err != nil {
		return nil, nil, err
	}
	learnt, err := second.train(ctx, c)
	if err != nil {
		return nil, nil, err
	}
	m, more, err := second.conclude(ctx, c, learnt)
	if err != nil {
		return nil, nil, err
	}
	m.Notices = append(m.Notices, fmt.Sprintf("the prior was trained by %s on %d rows, the posterior by %s on the %d "+
		"certified ones", o.Method.Name, first.n, learn.Method.Name, certified.n))
	return m, slices.Concat(t.all, more), nil
}

// decidePrior decides how an informed prior is trained on the prior rows, and makes sure that the posterior that is
// learnt after it can be trained on the certified ones.
func decidePrior(certified share) (*plan, error) {
	o := certified.options
	rows, err := certified.take(dataset.Prior)
	if err != nil {
		return nil, err
	}
	own := o.learnsPrior()
	p, err := decide(rows, own, own.Kernel.families(certified.data.Cols), certified.notices)
	if err == nil {
		err = o.checkPredictor(p.choice.Solver)
	}
	if err == nil && o.learns() {
		_, err = planned(certified, o.learnsPosterior(p.choice.Inducing), nil, false, nil)
	}
	return p, err
}

// takePrior makes the model whose posterior is the prior: of its tempers the one with the
// lowest bound, which is paid for.
func (d *dealt) takePrior(prior *posterior.Posterior, notices []string) (lowest *model.Model, err error) {
	var chosen float64
	tempers := d.options.Prior.Temper
	if d.reason != "" {
		m, err := d.uncertified(prior, notices)
		if err != nil {
			return nil, err
		}
		m.CertificateReason = d.reason
		return m, d.score(m)
	}
	if !prior.Factored() {
		m, err := d.certify(prior, d.terms(d.options, family{}, 1, 0), notices)
		if err != nil {
			return nil, err
		}
		return m, d.score(m)
	}
	for _, temper := range tempers {
		q, err := prior.Unconditioned(temper)
		if err != nil {
			return nil, err
		}
		m, err := d.certify(q, d.terms(d.options, family{kernel: q.Kernel, mean: q.Mean}, len(tempers), 0),
			slices.Clone(notices))
		if err != nil {
			return nil, err
		}
		if lowest == nil || m.Certificate != nil && m.Certificate.Bound < lowest.Certificate.Bound {
			lowest, chosen = m, temper
		}
	}
	if len(tempers) > 1 && lowest.Certificate != nil {
		lowest.Notices = append(lowest.Notices, fmt.Sprintf("of the tempers %v, %g gave the lowest bound", tempers, chosen))
	}
	return lowest, d.score(lowest)
}
