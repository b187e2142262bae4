package krigo

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/finding"
	"github.com/krigo-gp/krigo/internal/linalg"
	"github.com/krigo-gp/krigo/method"
	"github.com/krigo-gp/krigo/model"
	"github.com/krigo-gp/krigo/pacbayes"
	"github.com/krigo-gp/krigo/posterior"
)

// How the best run becomes a model: rounded to the grid, certified and scored, with findings about
// its parameters.

// foundAbout returns what a person should know about the best run of a problem.
func (p *plan) foundAbout(problem method.Problem, best run) (found finding.List) {
	x := best.result.X
	names := problem.Names()
	box := problem.Box(x)
	var at []int
	for _, i := range best.result.AtBound {
		switch {
		case box.Lower[i] == box.Upper[i], best.family.held && i < best.family.gridParams(),
			strings.HasPrefix(names[i], "inducing"): // fixed
		case names[i] == "alpha":
			found.Add(finding.AlphaAtEdge, x[i])
		default:
			at = append(at, i)
		}
	}
	found = append(found, p.about(names, at, func(i int, of parameter) (finding.Kind, []float64) {
		kinds := [...]finding.Kind{finding.ParameterLow, finding.ParameterHigh}
		if of.name == lengthscale {
			kinds = [...]finding.Kind{finding.LengthscaleLow, finding.LengthscaleHigh}
		}
		end := 0
		if x[i] > (box.Lower[i]+box.Upper[i])/2 {
			end = 1
		}
		return kinds[end], []float64{of.value(box.Lower[i]), of.value(box.Upper[i])}
	})...)
	if p.choice.OnBatches() && !p.choice.FreeForm() && !p.choice.Kind().Local &&
		p.n > method.MaxEvaluated {
		found.Add(finding.MeanOfBatches)
	}
	if r := best.result; r.Rejected > 0 {
		found.Add(finding.ShortenedSteps, r.Rejected, r.Evaluations, r.Rejection)
	}
	return found
}

// posterior returns the posterior of the trained parameters, without rounding, and all findings
// about the training.
func (p *plan) posterior(ctx context.Context, c *checkpoints,
	t trained) (*posterior.Posterior, finding.List, error) {
	problem := p.problem(ctx, c, t.best.family)
	q, found, err := problem.Posterior(t.best.result.X)
	return q, slices.Concat(p.findings, t.findings, found, p.foundAbout(problem, t.best)), err
}

// finish rounds the best run's parameters to the grid and makes the model.
// problem is the problem of the best run.
func (p *plan) finish(ctx context.Context, c *checkpoints, problem method.Problem, best run,
	found finding.List) (*model.Model, error) {
	f := best.family
	found = slices.Concat(found, p.foundAbout(problem, best))
	x := slices.Clone(best.result.X)
	g := f.gridParams()
	found = append(found, p.about(problem.Names(), f.terms.Grid.RoundAll(x[:g], x[:g]),
		func(int, parameter) (finding.Kind, []float64) { return finding.OutsideGrid, nil })...)
	q, more, err := problem.Posterior(x)
	if err != nil {
		return nil, err
	}
	m, err := p.certify(q, f.terms, append(found, more...))
	if err != nil {
		return nil, err
	}
	m.Training = model.Training{ObjectiveValue: best.result.Value, Stopped: best.result.Stopped}
	if p.trainsByCG() || (p.given && p.choice.Solver == posterior.ByCholesky) {
		// An estimate is computed again, with an anchor at the point where training ended.
		again := p.problem(ctx, c, f)
		if m.Training.ObjectiveValue, err = again.Evaluate(best.result.X, nil); err != nil {
			return nil, err
		}
		m.Training.StandardError = again.Diagnostics().StandardError
	}
	return m, nil
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
		m.Findings.Add(finding.SeenTests, c.Seen, d.test.Rows, d.test.Source)
	}
	group, err := d.test.Groups()
	if err != nil {
		return err
	}
	m.Test, err = m.Score(d.test, d.test.All(), group)
	return err
}

// describe makes a model of a posterior. The model keeps the options, the roles and what was found
// already.
func (d *dealt) describe(q *posterior.Posterior, terms pacbayes.Terms,
	found finding.List) (m *model.Model, err error) {
	o := d.options
	own := *q
	q = &own
	if q.Monotone, err = model.MonotoneOf(d.data.ScaledOf(d.roles, dataset.Prior, d.scaling),
		d.monotone); err != nil {
		return nil, err
	}
	m = &model.Model{
		Objective: o.Method.Name, Inputs: d.data.Inputs, Target: d.data.Target,
		Offset:   d.data.Offset,
		Exposure: d.data.Exposure, Errors: d.data.Noise, Limits: o.Data.Censored,
		Classes: o.Data.Classes, Kinds: o.Data.Kinds, Encoding: d.data.Encoding,
		Scaling: d.scaling, Varying: d.varying, Ordinal: d.ordinal,
		Posterior: q,
		Terms:     terms,
		Source:    d.data.Source, Seed: o.Run.Seed, Split: o.Data.split(), Group: o.Data.Group,
		Reading: o.Data.Reading, Fitted: d.text,
		Hash: d.units.HashOf(d.roles.Rows(dataset.Certified)), All: d.units.Hash,
		Targets: d.units.Targets, HashOrder: d.order,
		Findings: found, Beside: o.Data.Beside,
	}
	if m.Beside != nil {
		m.Dealt = d.dealt
	}
	if m.Counts, m.Groups = d.roles.Counts(); !m.TrainsForBound() || o.labels() {
		m.Noise = o.likelihood()
	}
	if m.Range, err = model.RangeOf(d.data, d.roles); err != nil {
		return nil, err
	}
	if m.Rows, m.Named, err = model.HashRows(d.data, d.roles); err != nil {
		return nil, err
	}
	m.ObservationNoise, err = m.EstimateNoise(d.data, d.roles)
	return m, err
}

// near reports that rows of neighbouring blocks predict one another, if the kernel correlates them
// along a column.
func (d *dealt) near(q *posterior.Posterior) (found finding.List) {
	const much = 0.5 // correlation
	columns, sizes := d.data.Blocks()
	for k, name := range columns {
		if j := slices.Index(d.data.Inputs, name); j >= 0 {
			x := linalg.New(2, d.data.Cols)
			c := linalg.New(2, 2)
			x.Set(1, j, sizes[k]/d.scaling.InputScale[j])
			q.Kernel.Cov(q.Theta, x, x, c)
			if rho := c.At(0, 1) / math.Sqrt(c.At(0, 0)*c.At(1, 1)); rho > much {
				found.Add(finding.NearBlocks, sizes[k], name, rho)
			}
		}
	}
	return found
}

// uncertified makes the model of a posterior that was trained on all rows except test and
// calibration rows.
func (d *dealt) uncertified(q *posterior.Posterior, found finding.List) (*model.Model, error) {
	m, err := d.describe(q, d.terms(family{}, 1), found)
	if err != nil {
		return nil, err
	}
	if q.Support.Rows <= defaultFull && d.options.sited() == nil {
		// errors, as targets are 0
		if left, variance, ok := q.LeaveOneOut(make([]float64, q.Support.Rows)); ok {
			if left, err = m.OwnErrors(d.data, d.data.RowsOf(d.roles, dataset.Prior), left,
				variance); err != nil {
				return nil, err
			}
			for i, v := range variance {
				variance[i] = math.Max(v-q.NoiseOf(i), 0)
			}
			m.Range.Far = model.Farthest(variance)
			if d.options.Data.Censored == "" && d.monotone == nil { // a limit has no error
				m.Training.LeaveOneOut = d.scaling.TargetScale * math.Sqrt(linalg.Dot(left,
					left)/float64(len(left)))
			}
		}
	}
	return m, m.Calibrate(d.data, d.roles)
}

// certify makes a certified model of a posterior whose parameters are on the grid.
// found holds the findings so far.
func (d *dealt) certify(q *posterior.Posterior, terms pacbayes.Terms,
	found finding.List) (*model.Model, error) {
	m, err := d.describe(q, terms, found)
	if err != nil {
		return nil, err
	}
	if why := q.Joint(); why != nil && !terms.MeanAlone() {
		m.CertificateReason = why.Error()
		return m, nil
	}
	inOrder, err := m.CertifyOwn(d.data, d.roles)
	m.Findings = slices.Concat(m.Findings, d.near(q), inOrder)
	if err != nil {
		if errors.Is(err, pacbayes.ErrLoss) {
			m.CertificateReason = err.Error()
			return m, nil
		} else if !errors.Is(err, pacbayes.ErrTooFewRows) {
			return nil, err
		}
		n := m.Counts[dataset.Certified]
		what := "rows"
		if m.Group != "" {
			n = m.Groups[dataset.Certified]
			what = "groups"
		}
		m.CertificateReason = fmt.Sprintf("%v, only %d: fit more %s, or leave more of them with "+
			"a smaller prior-share or test-fraction", err, n, what)
	}
	return m, nil
}

// parameter is a parse of a parameter's name, such as "0.log_lengthscale2[3]".
type parameter struct {
	// the part of the kernel, counted from 1, such as "2.1"; "" if the kernel has no parts
	part  string
	name  string // the name without "log_"
	input string // the parameter's column, or ""
	value func(v float64) float64
}

// readParameter parses the name of a parameter.
func (p *plan) readParameter(text string) (of parameter) {
	var parts []string
	for {
		head, rest, _ := strings.Cut(text, ".")
		n, err := strconv.Atoi(head)
		if err != nil {
			break
		}
		parts = append(parts, strconv.Itoa(n+1))
		text = rest
	}
	of.part = strings.Join(parts, ".")
	of.value = func(v float64) float64 { return v }
	text, isLog := strings.CutPrefix(text, "log_")
	name, index, _ := strings.Cut(strings.TrimSuffix(text, "]"), "[")
	if j, err := strconv.Atoi(index); err == nil && 1 <= j && j <= p.data.Cols {
		text = name
		of.input = p.data.Inputs[j-1]
	}
	switch of.name = strings.ReplaceAll(text, "_", " "); {
	case of.name == lengthscale+"2":
		of.name = lengthscale
		of.value = func(v float64) float64 { return math.Exp(v / 2) }
	case isLog:
		of.value = math.Exp
	}
	return of
}

// about makes findings about the parameters at.
// Parameters that differ only in their input share a finding.
func (p *plan) about(names []string, at []int,
	kind func(i int, of parameter) (finding.Kind, []float64)) (all finding.List) {
	type group struct {
		kind    finding.Kind
		of      parameter
		inputs  []string
		numbers []float64
	}
	var groups []*group
	for _, i := range at {
		of := p.readParameter(names[i])
		k, numbers := kind(i, of)
		g := slices.IndexFunc(groups, func(g *group) bool {
			return g.kind == k && g.of.part == of.part && g.of.name == of.name &&
				slices.Equal(g.numbers, numbers)
		})
		if g < 0 {
			g = len(groups)
			groups = append(groups, &group{k, of, []string{}, numbers})
		}
		if of.input != "" {
			groups[g].inputs = append(groups[g].inputs, of.input)
		}
	}
	for _, g := range groups {
		all.Add(g.kind, g.of.name, g.inputs, g.of.part, g.numbers)
	}
	return all
}
