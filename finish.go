package krigo

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/internal/linalg"
	"github.com/krigo-gp/krigo/method"
	"github.com/krigo-gp/krigo/model"
	"github.com/krigo-gp/krigo/pacbayes"
	"github.com/krigo-gp/krigo/posterior"
)

// notesOf are what a person should know of how the best run of a problem went.
func (p *plan) notesOf(problem method.Problem, best run) (notes []string) {
	x := best.result.X
	names, box := problem.Names(), problem.Box(x)
	for _, i := range best.result.AtBound {
		if best.family.held && i < best.family.gridParams() {
			continue
		}
		if strings.HasPrefix(names[i], "inducing") {
			break // fixed on request
		}
		notes = append(notes, fmt.Sprintf("%s ended on the edge of its range [%.4g, %.4g], at %.4g", names[i], box.Lower[i],
			box.Upper[i], x[i]))
	}
	if p.choice.OnBatches() && !p.choice.FreeForm() && p.n > method.MaxEvaluated {
		notes = append(notes, "objective_value is the mean over the batches of the last epoch, an estimate")
	}
	if r := best.result; r.Rejected > 0 {
		notes = append(notes, fmt.Sprintf("%d of %d training steps left the objective's domain and were shortened (the "+
			"last: %s)", r.Rejected, r.Evaluations, r.Rejection))
	}
	return notes
}

// posterior is that of the parameters that training found, as they are, with all that a person should know of how it
// went.
func (p *plan) posterior(ctx context.Context, c *checkpoints, t trained) (*posterior.Posterior, []string, error) {
	problem := p.problem(ctx, c, t.best.family)
	q, notes, err := problem.Posterior(t.best.result.X)
	return q, slices.Concat(p.notices, t.notices, notes.Words(), p.notesOf(problem, t.best)), err
}

// finish rounds the best run's parameters to the grid and makes the model of them; problem is the one of that run.
func (p *plan) finish(ctx context.Context, c *checkpoints, problem method.Problem, best run,
	notices []string) (*model.Model, error) {
	f := best.family
	notices = append(slices.Clone(notices), p.notesOf(problem, best)...)
	x := slices.Clone(best.result.X)
	g := f.gridParams()
	names := problem.Names()
	for _, i := range f.terms.Grid.RoundAll(x[:g], x[:g]) {
		notices = append(notices, names[i]+" lay outside the grid and was moved to its end")
	}
	q, notes, err := problem.Posterior(x)
	if err != nil {
		return nil, err
	}
	m, err := p.certify(q, f.terms, append(notices, notes.Words()...))
	if err != nil {
		return nil, err
	}
	m.Training = model.Training{ObjectiveValue: best.result.Value, Stopped: best.result.Stopped}
	if p.trainsByCG() || p.given && p.choice.Solver == posterior.ByCholesky {
		// An estimate is made anew, with an anchor where training ended.
		again := p.problem(ctx, c, f)
		if m.Training.ObjectiveValue, err = again.Evaluate(best.result.X, nil); err != nil {
			return nil, err
		}
		m.Training.StandardError = again.Diagnostics().StandardError
	}
	return m, p.score(m)
}

// score measures the model on the test rows, if there are any.
func (d *dealt) score(m *model.Model) (err error) {
	if d.test == nil {
		if d.roles.Count(dataset.Test) > 0 {
			m.Test, err = m.Score(d.data, d.data.RowsOf(d.roles, dataset.Test), d.roles.Group)
		}
		return err
	}
	c, err := m.Copies(d.test, d.test.All())
	if err != nil {
		return err
	}
	if c.Seen > 0 {
		m.Notices = append(m.Notices, fmt.Sprintf("%d of the %d test rows of %s equal rows that the model was made from: "+
			"they say little about further ones",
			c.Seen, d.test.Rows, d.test.Source))
	}
	var group []int
	if d.test.Group() != "" {
		units, err := d.test.Units()
		if err != nil {
			return err
		}
		group = units.Groups()
	}
	m.Test, err = m.Score(d.test, d.test.All(), group)
	return err
}

// describe makes a model of a posterior: what it was made from, and by which options; notices are what is known of it
// already.
func (d *dealt) describe(q *posterior.Posterior, terms pacbayes.Terms, notices []string) (m *model.Model, err error) {
	o := d.options
	m = &model.Model{
		Objective: o.Method.Name, Inputs: d.data.Inputs, Target: d.data.Target, Encoding: d.data.Encoding, Scaling: d.scaling,
		Posterior: q,
		Terms:     terms,
		Source:    d.data.Source, Seed: o.Run.Seed, Split: o.Data.split(), Group: o.Data.Group, Reading: o.Data.Reading,
		Fitted: d.text,
		Hash:   d.units.HashOf(d.roles.Rows(dataset.Certified)), All: d.units.Hash, Targets: d.units.Targets,
		Notices: notices,
	}
	m.Counts, m.Groups = d.roles.Counts()
	if m.Range, err = model.RangeOf(d.data, d.roles); err != nil {
		return nil, err
	}
	m.Rows, m.Named, err = model.HashRows(d.data, d.roles)
	return m, err
}

// uncertified makes the model of a posterior that all rows trained, but those for testing and calibration.
func (d *dealt) uncertified(q *posterior.Posterior, notices []string) (*model.Model, error) {
	m, err := d.describe(q, d.terms(family{}, 1), notices)
	if err != nil {
		return nil, err
	}
	if m.ObservationNoise, err = m.EstimateNoise(d.data, d.roles); err != nil {
		return nil, err
	}
	if q.Support.Rows <= defaultFull {
		if left, _, ok := q.LeaveOneOut(make([]float64, q.Support.Rows)); ok { // of targets 0: the errors
			m.Training.LeaveOneOut = d.scaling.TargetScale * math.Sqrt(linalg.Dot(left, left)/float64(len(left)))
		}
	}
	return m, m.Calibrate(d.data, d.roles)
}

// certify makes a certified model of a posterior with parameters on the grid; notices are what is known of it already.
func (d *dealt) certify(q *posterior.Posterior, terms pacbayes.Terms, notices []string) (*model.Model, error) {
	m, err := d.describe(q, terms, notices)
	if err != nil {
		return nil, err
	}
	if m.ObservationNoise, err = m.EstimateNoise(d.data, d.roles); err != nil {
		return nil, err
	}
	if why := q.Joint(); why != nil && !terms.MeanAlone() {
		m.CertificateReason = why.Error()
		return m, nil
	}
	if err := m.Calibrate(d.data, d.roles); err != nil {
		return nil, err
	}
	notice, err := m.OrderNotice(d.data, d.roles)
	if err != nil {
		return nil, err
	}
	if notice != "" {
		m.Notices = append(m.Notices, notice)
	}
	if m.Certificate, err = m.CertifyDealt(d.data, d.roles); err != nil {
		if errors.Is(err, pacbayes.ErrLoss) {
			m.CertificateReason = err.Error()
			return m, nil
		} else if !errors.Is(err, pacbayes.ErrTooFewRows) {
			return nil, err
		}
		n, what := m.Counts[dataset.Certified], "rows"
		if m.Group != "" {
			n, what = m.Groups[dataset.Certified], "groups"
		}
		m.CertificateReason = fmt.Sprintf("%v, only %d: fit more %s, or leave more of them with a smaller prior-share or "+
			"test-fraction", err, n, what)
	}
	return m, nil
}
