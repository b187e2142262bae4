package krigo

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/krigo-gp/krigo/internal/faults"

	"github.com/krigo-gp/krigo/finding"
	"github.com/krigo-gp/krigo/model"
	"github.com/krigo-gp/krigo/objective"
	"github.com/krigo-gp/krigo/posterior"
	"github.com/krigo-gp/krigo/train"
)

// How a plan is carried out: it is trained, and becomes the model of one stage, or of the two
// stages of an informed prior.

// optimum trains, or takes the given parameters.
// If α was cross-validated, the returned plan holds it.
func (p *plan) optimum(ctx context.Context, c *checkpoints) (_ *plan, _ trained, err error) {
	if p.choice.AlphaBy == "cv" {
		if p, err = p.crossValidate(ctx, c); err != nil {
			return nil, trained{}, err
		}
	}
	if p.options.Kernel.Noise == objective.StudentName || p.options.Data.Censored != "" {
		return p.alternate(ctx, c)
	}
	if p.sited() != nil && p.n > sitedRows && !p.given {
		some := *p
		some.share = p.choose(spread(p.n, sitedRows))
		some.choice.Solver = posterior.ByCholesky
		if some.all, err = gather(some.rows); err != nil {
			return nil, trained{}, err
		}
		t, err := some.train(ctx, c)
		return p, t, err
	}
	var t trained
	if p.given {
		t, err = p.atInit(ctx, c)
	} else {
		t, err = p.train(ctx, c)
	}
	if err == nil && p.options.Prior.Mixed {
		t, err = p.coarsen(ctx, c, t)
	}
	return p, t, err
}

// sitedRows is the most rows that train the parameters of a noise with sites.
// Every evaluation factors 8 to 30 matrices.
const sitedRows = 1000

// atInit returns the only run of a stage that trains nothing.
func (p *plan) atInit(_ context.Context, c *checkpoints) (trained, error) {
	for _, f := range p.families {
		x, err := p.fromInit(f)
		if err != nil || x == nil {
			continue
		}
		r := run{family: f, result: &train.Result{X: x, Stopped: "parameters given"}}
		return trained{best: r, all: []run{r}},
			c.tell(Event{Family: f.name, Start: 1, Starts: 1, Solver: p.choice.Solver,
				Stopped: r.result.Stopped}, func() {})
	}
	return trained{}, faults.Usage("init: its kernel isn't among the kernels to fit")
}

// fit trains and makes the model of the best run.
// If the posterior is free-form, training then goes on from this model.
// fit returns all runs.
func (p *plan) fit(ctx context.Context, c *checkpoints) (*model.Model, []run, error) {
	p, t, err := p.optimum(ctx, c)
	if err != nil {
		return nil, nil, err
	}
	found := slices.Concat(p.findings, t.findings)
	m, err := p.finish(ctx, c, p.problem(ctx, c, t.best.family), t.best, found)
	if err != nil {
		return nil, nil, err
	}
	if p.choice.Learns() {
		m.Training.Alpha = p.choice.Alpha
		if x := t.best.result.X; p.sparse() { // Z is the last parameter
			m.Training.Alpha = &x[len(x)-1]
		}
	}
	if p.choice.Free() {
		var free run
		if m, free, err = p.freeUp(ctx, c, m, t.best, found); err != nil {
			return nil, nil, err
		}
		t.all = append(t.all, free)
	}
	return m, t.all, nil
}

// freeUp trains a free-form posterior from the optimum of a collapsed bound.
// m is the model of that optimum. freeUp returns the model with the lower bound.
// The choice is free, since the bound holds for all posteriors together.
func (p *plan) freeUp(ctx context.Context, c *checkpoints, m *model.Model, best run,
	found finding.List) (*model.Model, run, error) {
	f := best.family
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
	free := run{family: f, result: r}
	other, err := p.finish(ctx, c, way.Bind(p.task(ctx, c, f)), free, found)
	if err != nil {
		return nil, run{}, err
	}
	if m.Certificate == nil || other.Certificate == nil {
		return other, free, nil
	}
	if other.Certificate.Bound > m.Certificate.Bound {
		m.Findings.Add(finding.FreeFormWorse, other.Certificate.Bound)
		return m, free, nil
	}
	other.Findings.Add(finding.FreeForm, other.Certificate.Bound, m.Certificate.Bound)
	return other, free, nil
}

// fitInformed learns a prior on the prior rows.
// The posterior is the prior itself, or is learnt on the certified rows.
func (p *plan) fitInformed(ctx context.Context, c *checkpoints, certified share) (
	m *model.Model, runs []run, err error) {
	o := p.options
	p, t, err := p.optimum(ctx, c)
	if err != nil {
		return nil, nil, err
	}
	if p, t, err = p.withNoise(ctx, c, t); err != nil {
		return nil, nil, err
	}
	if p.ordinal != nil {
		own := *p.dealt
		q := *p
		own.ordinal, q.dealt = new(objective.Ordinal), &own
		*own.ordinal, p = p.ordinal.With(t.best.result.X[t.best.family.gridParams()+1:]), &q
	}
	prior, found, err := p.posterior(ctx, c, t)
	if err != nil {
		return nil, nil, err
	}
	ties, err := p.tiesOf(ctx, prior)
	if err != nil {
		return nil, nil, err
	}
	if o.learns() {
		m, runs, err = p.fitPosterior(ctx, c, certified, prior, found)
	} else if m, err = p.takePrior(prior, found); err == nil {
		m.Training.ObjectiveValue = t.best.result.Value
		m.Training.Stopped = t.best.result.Stopped
	}
	if err == nil {
		p.speakOf(m, ties)
	}
	// keep the kernels that there was time for, as if they had been asked for
	if err == nil && t.tried != nil {
		o.Kernel.Expression = strings.Join(t.tried, ",")
		o.Run.Restarts = p.restarts
		m.Fitted, err = o.text()
	}
	return m, slices.Concat(t.all, runs), err
}

// fitPosterior learns a posterior on the certified rows from the prior of p.
func (p *plan) fitPosterior(ctx context.Context, c *checkpoints, certified share,
	prior *posterior.Posterior, found finding.List) (*model.Model, []run, error) {
	var tempered []family
	for _, temper := range p.options.Prior.Temper {
		k, m, err := prior.Prior(temper)
		if err != nil {
			return nil, nil, err
		}
		tempered = append(tempered, family{name: fmt.Sprintf("informed prior ×%g", temper),
			kernel: k, mean: m})
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

// takePrior makes the model whose posterior is the prior.
// It takes the temper with the lowest bound, and the bound pays for the choice.
func (d *dealt) takePrior(prior *posterior.Posterior,
	found finding.List) (lowest *model.Model, err error) {
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
		if lowest == nil || (m.Certificate != nil &&
			m.Certificate.Bound < lowest.Certificate.Bound) {
			lowest = m
			chosen = temper
		}
	}
	if len(tempers) > 1 && lowest.Certificate != nil {
		lowest.Findings.Add(finding.Temper, chosen, tempers)
	}
	return lowest, nil
}
