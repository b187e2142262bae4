package krigo

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/krigo-gp/krigo/finding"
	"github.com/krigo-gp/krigo/model"
	"github.com/krigo-gp/krigo/posterior"
)

// fitInformed learns a prior on the prior rows, and takes it for the posterior or learns one
// on the certified rows.
func (p *plan) fitInformed(ctx context.Context, c *checkpoints, certified share) (
	m *model.Model, runs []run, err error) {
	o := p.options
	p, t, err := p.optimum(ctx, c)
	if err != nil {
		return nil, nil, err
	}
	prior, found, err := p.posterior(ctx, c, t)
	if err != nil {
		return nil, nil, err
	}
	if o.learns() {
		m, runs, err = p.fitPosterior(ctx, c, certified, prior, found)
	} else if m, err = p.takePrior(prior, found); err == nil {
		m.Training.ObjectiveValue, m.Training.Stopped = t.best.result.Value, t.best.result.Stopped
	}
	if err == nil && t.tried != nil { // kept as what was asked for: the kernels that there was time for
		o.Kernel.Expression, o.Run.Restarts = strings.Join(t.tried, ","), p.restarts
		m.Fitted, err = o.text()
	}
	return m, slices.Concat(t.all, runs), err
}

// fitPosterior learns a posterior on the certified rows from the prior of p.
func (p *plan) fitPosterior(ctx context.Context, c *checkpoints, certified share, prior *posterior.Posterior,
	found finding.List) (*model.Model, []run, error) {
	var tempered []family
	for _, temper := range p.options.Prior.Temper {
		k, m, err := prior.Prior(temper)
		if err != nil {
			return nil, nil, err
		}
		tempered = append(tempered, family{name: fmt.Sprintf("informed prior ×%g", temper), kernel: k, mean: m})
	}
	second, err := p.posteriorStage(certified, tempered, p.choice.Inducing).decide(found)
	if err != nil {
		return nil, nil, err
	}
	m, runs, err := second.fit(ctx, c)
	if err == nil {
		m.Findings.Add(finding.PriorThenOwn, p.choice.Name, p.n, second.choice.Name, certified.n)
	}
	return m, runs, err
}

// takePrior makes the model whose posterior is the prior: of its tempers the one with the
// lowest bound, which is paid for.
func (d *dealt) takePrior(prior *posterior.Posterior, found finding.List) (lowest *model.Model, err error) {
	if d.reason != "" {
		m, err := d.uncertified(prior, found)
		if err == nil {
			m.CertificateReason = d.reason
		}
		return m, err
	}
	var chosen float64
	tempers := d.options.Prior.Temper
	for _, temper := range tempers {
		q := prior
		if prior.Joint() == nil {
			if q, err = prior.Unconditioned(temper); err != nil {
				return nil, err
			}
		}
		m, err := d.certify(q, d.terms(family{}, len(tempers)), slices.Clone(found))
		if err != nil {
			return nil, err
		}
		if lowest == nil || m.Certificate != nil && m.Certificate.Bound < lowest.Certificate.Bound {
			lowest, chosen = m, temper
		}
	}
	if len(tempers) > 1 && lowest.Certificate != nil {
		lowest.Findings.Add(finding.Temper, chosen, tempers)
	}
	return lowest, nil
}
