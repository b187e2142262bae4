package fit

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/method"
	"github.com/krigo-gp/krigo/model"
	"github.com/krigo-gp/krigo/objective"
	"github.com/krigo-gp/krigo/pacbayes"
	"github.com/krigo-gp/krigo/posterior"
)

// noteTraining notes what a person should know of how the best run went.
func (p *prepared) noteTraining(o Options, f family, best run, choices int) {
	x := best.result.X
	problem := p.problem(o, f, choices)
	names, box := problem.Names(), problem.Box(x)
	for _, i := range best.result.AtBound {
		if p.held && i < f.gridParams() {
			continue
		}
		if strings.HasPrefix(names[i], "inducing") {
			break // fixed on request
		}
		p.notices = append(p.notices, fmt.Sprintf("%s ended on the edge of its range [%.4g, %.4g], at %.4g", names[i], box.Lower[i], box.Upper[i], x[i]))
	}
	if o.onBatches() && !o.freeForm() && p.n > method.MaxEvaluated {
		p.notices = append(p.notices, "objective_value is the mean over the batches of the last epoch, an estimate")
	}
	if r := best.result; r.Rejected > 0 {
		p.notices = append(p.notices, fmt.Sprintf("%d of %d training steps left the objective's domain and were shortened (the last: %s)", r.Rejected, r.Evaluations, r.Rejection))
	}
}

// reported evaluates the evidence and its standard error at x, with an anchor there.
func (p *prepared) reported(o Options, f family, x []float64) (value float64, standardError *float64, err error) {
	problem := p.problem(o, f, 1)
	value, err = problem.Evaluate(x, nil)
	if e, ok := problem.Objective().(*objective.IterativeEvidence); ok && err == nil {
		standardError = &e.StandardError
	}
	return value, standardError, err
}

// finish rounds the best run's parameters to the grid and makes the model from them.
func (p *prepared) finish(o Options, f family, best run, choices int) (*model.Model, error) {
	p.noteTraining(o, f, best, choices)
	x := slices.Clone(best.result.X)
	g := f.gridParams()
	names := p.problem(o, f, choices).Names()
	for _, i := range o.Grid.RoundAll(x[:g], x[:g]) {
		p.notices = append(p.notices, names[i]+" lay outside the grid and was moved to its end")
	}
	m, err := p.model(o, f, x, choices)
	if err != nil {
		return nil, err
	}
	m.Training = model.Training{ObjectiveValue: best.result.Value, Stopped: best.result.Stopped}
	if p.trainsByCG(o) || o.FixParameters && p.solver == posterior.ByCholesky {
		if m.Training.ObjectiveValue, m.Training.StandardError, err = p.reported(o, f, best.result.X); err != nil {
			return nil, err
		}
	}
	if o.LearnAlpha && !o.PosteriorFree {
		alpha := p.alphaAt(o, x)
		m.Training.Alpha = &alpha
	}
	return m, p.score(m)
}

// score measures the model on the test rows, if there are any.
func (p *prepared) score(m *model.Model) (err error) {
	if p.test != nil {
		if c, err := m.Copies(p.test, p.test.All()); err != nil {
			return err
		} else if seen := c.Seen; seen > 0 {
			m.Notices = append(m.Notices, fmt.Sprintf("%d of the %d test rows of %s equal rows that the model was made from: they say little about further ones",
				seen, p.test.Rows, p.test.Source))
		}
		var group []int
		if p.test.Grouped() {
			units, err := p.test.Units()
			if err != nil {
				return err
			}
			group = units.Groups()
		}
		m.Test, err = m.Score(p.test, p.test.All(), group)
	} else if p.roles.Count(dataset.Test) > 0 {
		m.Test, err = m.Score(p.data, p.data.RowsOf(p.roles, dataset.Test), p.roles.Group)
	}
	return err
}

// posterior returns Q at [θ, β, ln σ_n², Z].
func (p *prepared) posterior(o Options, f family, x []float64) (*posterior.Posterior, error) {
	q, notes, err := p.problem(o, f, 1).Posterior(x)
	p.notices = append(p.notices, notes...)
	return q, err
}

// model makes a certified model from parameters on the grid.
func (p *prepared) model(o Options, f family, x []float64, choices int) (*model.Model, error) {
	q, err := p.posterior(o, f, x)
	if err != nil {
		return nil, err
	}
	return p.certify(o, f, q, choices)
}

// certify makes a certified model of a posterior with parameters on the grid.
func (p *prepared) certify(o Options, f family, q *posterior.Posterior, choices int) (*model.Model, error) {
	m := &model.Model{
		Objective: o.Objective, Inputs: p.data.Inputs, Target: p.data.Target, Encoding: p.data.Encoding, Scaling: p.scaling, Posterior: q,
		Terms:  p.terms(o, f, choices),
		Source: p.data.Source, Seed: o.Seed, Split: o.split(), Group: o.Group, Fitted: o.asked,
		Hash: p.units.HashOf(p.roles.Rows(dataset.Certified)), All: p.units.Hash, Targets: p.units.Targets, Notices: p.notices,
	}
	m.Counts, m.Groups = p.roles.Counts()
	var err error
	if m.Range, err = model.RangeOf(p.data, p.roles); err != nil {
		return nil, err
	}
	if m.Rows, m.Named, err = model.HashRows(p.data, p.roles); err != nil {
		return nil, err
	}
	if m.ObservationNoise, err = m.EstimateNoise(p.data, p.roles); err != nil {
		return nil, err
	}
	if reason := noCertificate[p.solver]; reason != "" {
		m.CertificateReason = reason
		return m, nil
	}
	if o.CalibrationFraction > 0 {
		if err := m.Calibrate(p.data, p.roles); err != nil {
			return nil, err
		}
	}
	notice, err := m.OrderNotice(p.data, p.roles)
	if err != nil {
		return nil, err
	}
	if notice != "" {
		m.Notices = append(m.Notices, notice)
	}
	if m.Certificate, err = m.CertifyDealt(p.data, p.roles); err != nil {
		if !errors.Is(err, pacbayes.ErrTooFewRows) {
			return nil, err
		}
		n, what := m.Counts[dataset.Certified], "rows"
		if m.Group != "" {
			n, what = m.Groups[dataset.Certified], "groups"
		}
		m.CertificateReason = fmt.Sprintf("%v, only %d: fit more %s, or leave more of them with a smaller prior-share or test-fraction", err, n, what)
	}
	return m, nil
}
