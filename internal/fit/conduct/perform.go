// Package conduct leads a plan from its search to a model: the posterior of the best run, on the
// grid and certified. It also checks a model against the options that it says it was fitted with.
package conduct

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/krigo-gp/krigo/internal/faults"

	"github.com/krigo-gp/krigo/finding"
	"github.com/krigo-gp/krigo/fitting"
	"github.com/krigo-gp/krigo/internal/fit/deal"
	"github.com/krigo-gp/krigo/internal/fit/plan"
	"github.com/krigo-gp/krigo/internal/fit/search"
	"github.com/krigo-gp/krigo/internal/lists"
	"github.com/krigo-gp/krigo/model"
	"github.com/krigo-gp/krigo/objective"
	"github.com/krigo-gp/krigo/posterior"
	"github.com/krigo-gp/krigo/train"
)

// How a plan is carried out: it is trained, and becomes the model of one stage, or of the two
// stages of an informed prior.

// Optimum returns the best run of training, or the given parameters if nothing is trained. If α was
// cross-validated, the returned plan holds it. Student's t noise and limits of detection train in
// turns with the parameters.
func Optimum(ctx context.Context, p *plan.Plan,
	c *deal.Checkpoints) (_ *plan.Plan, _ search.Trained, err error) {
	if p.Choice.AlphaBy == "cv" {
		if p, err = search.CrossValidate(ctx, p, c); err != nil {
			return nil, search.Trained{}, err
		}
	}
	if p.Options.Kernel.Noise == objective.StudentName || p.Options.Data.Censored != "" {
		return search.Alternate(ctx, p, c)
	}
	if p.Sited() != nil && p.N > sitedRows && !p.Given {
		// Sites of many rows cost too much in every step, so only sitedRows rows train.
		some := *p
		some.Share = p.Choose(lists.Spread(p.N, sitedRows))
		some.Choice.Solver = posterior.ByCholesky
		if some.All, err = deal.Gather(some.Rows); err != nil {
			return nil, search.Trained{}, err
		}
		t, err := search.Train(ctx, &some, c)
		return p, t, err
	}
	var t search.Trained
	if p.Given {
		t, err = AtInit(ctx, p, c)
	} else {
		if t, err = search.Train(ctx, p, c); err == nil {
			t, err = t.Averaged(p)
		}
	}
	if err == nil && p.Options.Prior.Mixed {
		t, err = search.Coarsen(ctx, p, c, t)
	}
	return p, t, err
}

// sitedRows is the most rows that train the parameters of a noise with sites.
// Every evaluation factors 8 to 30 matrices.
const sitedRows = 1000

// AtInit returns the only run of a stage that trains nothing.
func AtInit(_ context.Context, p *plan.Plan, c *deal.Checkpoints) (search.Trained, error) {
	for _, f := range p.Families {
		x, err := p.FromInit(f)
		if err != nil || x == nil {
			continue
		}
		r := search.Run{Family: f, Result: &train.Result{X: x, Stopped: "parameters given"}}
		return search.Trained{Best: r, All: []search.Run{r}},
			c.Tell(fitting.Event{Family: f.Name, Start: 1, Starts: 1, Solver: p.Choice.Solver,
				Stopped: r.Result.Stopped}, func() {})
	}
	return search.Trained{}, faults.Usage("init: its kernel isn't among the kernels to fit")
}

// Fit trains, and makes and certifies the model of the best run. If the posterior is free-form,
// training then goes on from this model's optimum. Fit returns the runs of all starts and families.
func Fit(ctx context.Context, p *plan.Plan,
	c *deal.Checkpoints) (*model.Model, []search.Run, error) {
	p, t, err := Optimum(ctx, p, c)
	if err != nil {
		return nil, nil, err
	}
	found := slices.Concat(p.Findings, t.Findings)
	m, err := finish(ctx, p, c, p.Problem(ctx, c, t.Best.Family), t.Best, found)
	if err != nil {
		return nil, nil, err
	}
	if p.Choice.Learns() {
		m.Training.Alpha = p.Choice.Alpha
		if x := t.Best.Result.X; p.Sparse() { // Z is the last parameter
			m.Training.Alpha = &x[len(x)-1]
		}
	}
	if p.Choice.Free() {
		var free search.Run
		if m, free, err = freeUp(ctx, p, c, m, t.Best, found); err != nil {
			return nil, nil, err
		}
		t.All = append(t.All, free)
	}
	return m, t.All, nil
}

// freeUp trains a free-form posterior from the optimum of a collapsed bound.
// m is the model of that optimum. freeUp returns the model with the lower bound.
// The choice is free, since the bound holds for all posteriors together.
func freeUp(ctx context.Context, p *plan.Plan, c *deal.Checkpoints, m *model.Model, best search.Run,
	found finding.List) (*model.Model, search.Run, error) {
	f := best.Family
	last := len(p.Families)*p.Restarts + 1
	event := fitting.Event{Family: f.Name + ", free-form", Start: last, Starts: last}
	way := p.Choice.FreeUp(math.Exp(best.Result.X[f.GridParams()]))
	problem := way.Bind(p.Task(ctx, c, f))
	x, err := problem.Start(best.Result.X)
	if err != nil {
		return nil, search.Run{}, err
	}
	r, err := problem.Minimize(ctx, c.Run(f.Name+"/free", event), x)
	if err != nil {
		return nil, search.Run{}, err
	}
	if err := cmp.Or(ctx.Err(), p.Rows.Err()); err != nil {
		return nil, search.Run{}, err
	}
	free := search.Run{Family: f, Result: r}
	other, err := finish(ctx, p, c, way.Bind(p.Task(ctx, c, f)), free, found)
	if err != nil {
		return nil, search.Run{}, err
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

// FitInformed learns a prior on the prior rows.
// The posterior is the prior itself, or is learnt on the certified rows.
func FitInformed(ctx context.Context, p *plan.Plan, c *deal.Checkpoints, certified deal.Share) (
	m *model.Model, runs []search.Run, err error) {
	o := p.Options
	p, t, err := Optimum(ctx, p, c)
	if err != nil {
		return nil, nil, err
	}
	if p, t, err = search.WithNoise(ctx, p, c, t); err != nil {
		return nil, nil, err
	}
	if p.Ordinal != nil {
		own := *p.Dealt
		own.Ordinal = new(p.Ordinal.With(t.Best.Result.X[t.Best.Family.GridParams()+1:]))
		q := *p
		q.Dealt = &own
		p = &q
	}
	prior, found, err := Posterior(ctx, p, c, t)
	if err != nil {
		return nil, nil, err
	}
	ties, err := tiesOf(ctx, p.Share, prior)
	if err != nil {
		return nil, nil, err
	}
	if o.Learns() {
		m, runs, err = fitPosterior(ctx, p, c, certified, prior, found)
	} else if m, err = takePrior(p.Dealt, prior, found); err == nil {
		m.Training.ObjectiveValue = t.Best.Result.Value
		m.Training.Stopped = t.Best.Result.Stopped
	}
	if err == nil {
		speakOf(p, m, ties)
		m.Findings = append(m.Findings, later(p.Share, prior, m)...)
	}
	// keep the kernels that there was time for, as if they had been asked for
	if err == nil && t.Tried != nil {
		o.Kernel.Expression = strings.Join(t.Tried, ",")
		o.Run.Restarts = p.Restarts
		m.Fitted, err = o.Text()
	}
	return m, slices.Concat(t.All, runs), err
}

// fitPosterior learns a posterior on the certified rows from the prior of p.
func fitPosterior(ctx context.Context, p *plan.Plan, c *deal.Checkpoints, certified deal.Share,
	prior *posterior.Posterior, found finding.List) (*model.Model, []search.Run, error) {
	var tempered []plan.Family
	for _, temper := range p.Options.Prior.Temper {
		k, m, err := prior.Prior(temper)
		if err != nil {
			return nil, nil, err
		}
		tempered = append(tempered, plan.Family{Name: fmt.Sprintf("informed prior ×%g", temper),
			Kernel: k, Mean: m})
	}
	second, err := plan.PosteriorStage(p.Dealt, certified, tempered,
		p.Choice.Inducing).Decide(found)
	if err != nil {
		return nil, nil, err
	}
	m, runs, err := Fit(ctx, second, c)
	if err == nil {
		m.Findings.Add(finding.PriorThenOwn, p.Choice.Name, p.N, second.Choice.Name, certified.N)
	}
	return m, runs, err
}

// takePrior makes the model whose posterior is the prior: nothing is learnt after it. Of several
// tempers it takes the one with the lowest bound, and the certificate pays for the choice.
func takePrior(d *deal.Dealt, prior *posterior.Posterior,
	found finding.List) (lowest *model.Model, err error) {
	if d.Reason != "" {
		m, err := Uncertified(d, prior, found)
		if err == nil {
			m.CertificateReason = d.Reason
		}
		return m, err
	}
	var chosen float64
	tempers := d.Options.Prior.Temper
	for _, temper := range tempers {
		q := prior
		if prior.Joint() == nil {
			if q, err = prior.Unconditioned(temper); err != nil {
				return nil, err
			}
		}
		m, err := Certify(d, q, plan.Terms(d, plan.Family{}, len(tempers)), slices.Clone(found))
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
