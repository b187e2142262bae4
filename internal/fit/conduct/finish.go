package conduct

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
	"github.com/krigo-gp/krigo/internal/fit/ask"
	"github.com/krigo-gp/krigo/internal/fit/deal"
	"github.com/krigo-gp/krigo/internal/fit/plan"
	"github.com/krigo-gp/krigo/internal/fit/search"
	"github.com/krigo-gp/krigo/internal/linalg"
	"github.com/krigo-gp/krigo/method"
	"github.com/krigo-gp/krigo/model"
	"github.com/krigo-gp/krigo/observation"
	"github.com/krigo-gp/krigo/pacbayes"
	"github.com/krigo-gp/krigo/posterior"
)

// How the best run becomes a model: rounded to the grid, certified and scored, with findings about
// its parameters.

// foundAbout returns findings about the best run of a problem: parameters that ended on their
// bounds, an objective known only as a mean over batches, and steps that had to be shortened.
func foundAbout(p *plan.Plan, problem method.Problem, best search.Run) (found finding.List) {
	x := best.Result.X
	names := problem.Names()
	box := problem.Box(x)
	var at []int
	for _, i := range best.Result.AtBound {
		switch {
		case box.Lower[i] == box.Upper[i], best.Family.Held && i < best.Family.GridParams(),
			strings.HasPrefix(names[i], "inducing"): // fixed
		case names[i] == "alpha":
			found.Add(finding.AlphaAtEdge, x[i])
		default:
			at = append(at, i)
		}
	}
	found = append(found, about(p, names, at, func(i int, of parameter) (finding.Kind, []float64) {
		kinds := [...]finding.Kind{finding.ParameterLow, finding.ParameterHigh}
		if of.name == search.Lengthscale {
			kinds = [...]finding.Kind{finding.LengthscaleLow, finding.LengthscaleHigh}
		}
		end := 0
		// on the upper bound, not the lower
		if x[i] > (box.Lower[i]+box.Upper[i])/2 {
			end = 1
		}
		return kinds[end], []float64{of.value(box.Lower[i]), of.value(box.Upper[i])}
	})...)
	if p.Choice.OnBatches() && !p.Choice.FreeForm() && !p.Choice.Kind().Local &&
		p.N > method.MaxEvaluated {
		found.Add(finding.MeanOfBatches)
	}
	if r := best.Result; r.Rejected > 0 {
		found.Add(finding.ShortenedSteps, r.Rejected, r.Evaluations, r.Rejection)
	}
	return found
}

// Posterior returns the posterior of the trained parameters, without rounding, and all findings
// about the training.
func Posterior(ctx context.Context, p *plan.Plan, c *deal.Checkpoints,
	t search.Trained) (*posterior.Posterior, finding.List, error) {
	problem := p.Problem(ctx, c, t.Best.Family)
	q, found, err := problem.Posterior(t.Best.Result.X)
	return q, slices.Concat(p.Findings, t.Findings, found, foundAbout(p, problem, t.Best)), err
}

// finish rounds the best run's parameters to the grid and makes the model.
// problem is the problem of the best run.
func finish(ctx context.Context, p *plan.Plan, c *deal.Checkpoints, problem method.Problem,
	best search.Run, found finding.List) (*model.Model, error) {
	f := best.Family
	found = slices.Concat(found, foundAbout(p, problem, best))
	x := slices.Clone(best.Result.X)
	g := f.GridParams()
	found = append(found, about(p, problem.Names(), f.Terms.Grid.RoundAll(x[:g], x[:g]),
		func(int, parameter) (finding.Kind, []float64) { return finding.OutsideGrid, nil })...)
	q, more, err := problem.Posterior(x)
	if err != nil {
		return nil, err
	}
	m, err := Certify(p.Dealt, q, f.Terms, append(found, more...))
	if err != nil {
		return nil, err
	}
	m.Training = model.Training{ObjectiveValue: best.Result.Value, Stopped: best.Result.Stopped}
	if p.TrainsByCG() || (p.Given && p.Choice.Solver == posterior.ByCholesky) {
		// An estimate is computed again, with an anchor at the point where training ended.
		again := p.Problem(ctx, c, f)
		if m.Training.ObjectiveValue, err = again.Evaluate(best.Result.X, nil); err != nil {
			return nil, err
		}
		m.Training.StandardError = again.Diagnostics().StandardError
	}
	return m, nil
}

// Score measures the model on the test rows, if there are any.
func Score(d *deal.Dealt, m *model.Model) (err error) {
	if d.Test == nil {
		if d.Roles.Count(dataset.Test) > 0 {
			m.Test, err = m.Score(d.Data, d.Data.RowsOf(d.Roles, dataset.Test), d.Roles.Group)
		}
		if m.Test != nil {
			m.Findings = append(m.Findings, m.Test.Found...)
		}
		return err
	}
	_, gaps, err := m.Gaps(d.Test)
	if err != nil {
		return err
	}
	for _, f := range gaps {
		f.Subject[1] += " of " + d.Test.Source
		m.Findings = append(m.Findings, f)
	}
	c, err := m.Copies(d.Test, d.Test.All())
	if err != nil {
		return err
	}
	if c.Seen > 0 {
		m.Findings.Add(finding.SeenTests, c.Seen, d.Test.Rows, d.Test.Source)
	}
	group, err := d.Test.Groups()
	if err != nil {
		return err
	}
	t, err := m.Score(d.Test, d.Test.All(), group)
	if t != nil {
		m.Findings = append(m.Findings, t.Found...)
	}
	if errors.Is(err, model.ErrUnscored) { // another table mustn't take the fit
		return nil
	}
	m.Test = t
	return err
}

// describe makes a model of a posterior. The model keeps the options, the roles and what was found
// already.
func describe(d *deal.Dealt, q *posterior.Posterior, terms pacbayes.Terms,
	found finding.List) (m *model.Model, err error) {
	o := d.Options
	own := *q // a copy, since the caller's q isn't monotone
	q = &own
	if q.Monotone, err = model.MonotoneOf(d.Data.ScaledOf(d.Roles, dataset.Prior, d.Scaling),
		d.Monotone); err != nil {
		return nil, err
	}
	m = &model.Model{
		Objective: o.Method.Name, Inputs: d.Data.Inputs, Target: d.Data.Target,
		Observation: observation.Observation{Scaling: d.Scaling, Varying: d.Varying,
			Ordinal: d.Ordinal, Classes: o.Data.Classes, Kinds: o.Data.Kinds,
			Columns: o.Data.Columns},
		Encoding: d.Data.Encoding, Posterior: q, Terms: terms,
		Origin: model.Origin{Source: d.Data.Source, Seed: o.Run.Seed, Split: ask.Split(o.Data),
			Group: o.Data.Group, Hash: d.Units.HashOf(d.Roles.Rows(dataset.Certified)),
			All: d.Units.Hash, Targets: d.Units.Targets, HashOrder: d.Order},
		Reading: o.Data.Reading, Fitted: d.Text, Findings: found, Beside: o.Data.Beside,
		Refuses: o.Data.Refuses,
	}
	if m.Beside != nil {
		m.Dealt = d.Dealt
	}
	// An objective that trains for a bound doesn't fit a likelihood, unless the targets are labels.
	if m.Counts, m.Groups = d.Roles.Counts(); !m.TrainsForBound() || o.Labels() {
		m.Noise = o.Likelihood()
	}
	if m.Range, err = model.RangeOf(d.Data, d.Roles); err != nil {
		return nil, err
	}
	if m.Rows, m.Named, err = model.HashRows(d.Data, d.Roles); err != nil {
		return nil, err
	}
	m.ObservationNoise, err = m.EstimateNoise(d.Data, d.Roles)
	return m, err
}

// near reports that rows of neighbouring blocks predict one another, if the kernel correlates them
// along a column.
func near(d *deal.Dealt, q *posterior.Posterior) (found finding.List) {
	const much = 0.5 // correlation
	columns, sizes := d.Data.Blocks()
	for k, name := range columns {
		if j := slices.Index(d.Data.Inputs, name); j >= 0 {
			x := linalg.New(2, d.Data.Cols)
			c := linalg.New(2, 2)
			x.Set(1, j, sizes[k]/d.Scaling.InputScale[j])
			q.Kernel.Cov(q.Theta, x, x, c)
			if rho := c.At(0, 1) / math.Sqrt(c.At(0, 0)*c.At(1, 1)); rho > much {
				found.Add(finding.NearBlocks, sizes[k], name, rho)
			}
		}
	}
	return found
}

// Uncertified makes the model of a posterior that was trained on all rows except test and
// calibration rows.
func Uncertified(d *deal.Dealt, q *posterior.Posterior, found finding.List) (*model.Model, error) {
	m, err := describe(d, q, plan.Terms(d, plan.Family{}, 1), found)
	if err != nil {
		return nil, err
	}
	if q.Support.Rows <= ask.DefaultFull && d.Options.Sited() == nil {
		// errors, as targets are 0
		if left, variance, ok := q.LeaveOneOut(make([]float64, q.Support.Rows)); ok {
			if left, err = m.OwnErrors(d.Data, d.Data.RowsOf(d.Roles, dataset.Prior), left,
				variance); err != nil {
				return nil, err
			}
			for i, v := range variance {
				variance[i] = math.Max(v-q.NoiseOf(i), 0)
			}
			m.Range.Far = model.Farthest(variance)
			if d.Options.Data.Censored == "" && d.Monotone == nil { // a limit has no error
				m.Training.LeaveOneOut = d.Scaling.TargetScale * math.Sqrt(linalg.Dot(left,
					left)/float64(len(left)))
			}
		}
	}
	return m, m.Calibrate(d.Data, d.Roles)
}

// Certify makes a certified model of a posterior whose parameters are on the grid.
// found holds the findings so far.
func Certify(d *deal.Dealt, q *posterior.Posterior, terms pacbayes.Terms,
	found finding.List) (*model.Model, error) {
	m, err := describe(d, q, terms, found)
	if err != nil {
		return nil, err
	}
	// Without a joint Q there is no KL, and only the mean's own misses could be bounded.
	if why := q.Joint(); why != nil && !terms.MeanAlone() {
		m.CertificateReason = why.Error()
		return m, nil
	}
	inOrder, err := m.CertifyOwn(d.Data, d.Roles)
	m.Findings = slices.Concat(m.Findings, near(d, q), inOrder)
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

// parameter is a parse of a parameter's name, such as "2.log_lengthscale2[3]".
type parameter struct {
	// the part of the kernel, counted from 1, such as "2.1"; "" if the kernel has no parts
	part  string
	name  string // the name without "log_"
	input string // the parameter's column, or ""
	value func(v float64) float64
}

// readParameter parses a parameter's name, such as "2.1.log_lengthscale2[3]": the kernel's part
// from 1 on, the name in words, the input's name, and the function from the parameter to its value.
func readParameter(p *plan.Plan, text string) (of parameter) {
	var parts []string
	for {
		head, rest, _ := strings.Cut(text, ".")
		if _, err := strconv.Atoi(head); err != nil {
			break
		}
		parts = append(parts, head)
		text = rest
	}
	of.part = strings.Join(parts, ".")
	of.value = func(v float64) float64 { return v }
	text, isLog := strings.CutPrefix(text, "log_")
	name, index, _ := strings.Cut(strings.TrimSuffix(text, "]"), "[")
	if j, err := strconv.Atoi(index); err == nil && 1 <= j && j <= p.Data.Cols {
		text = name
		of.input = p.Data.Inputs[j-1]
	}
	switch of.name = strings.ReplaceAll(text, "_", " "); {
	// the parameter is ln l²
	case of.name == search.Lengthscale+"2":
		of.name = search.Lengthscale
		of.value = func(v float64) float64 { return math.Exp(v / 2) }
	case isLog:
		of.value = math.Exp
	}
	return of
}

// about makes findings about the parameters at.
// Parameters that differ only in their input share a finding.
func about(p *plan.Plan, names []string, at []int,
	kind func(i int, of parameter) (finding.Kind, []float64)) (all finding.List) {
	type group struct {
		kind    finding.Kind
		of      parameter
		inputs  []string
		numbers []float64
	}
	var groups []*group
	for _, i := range at {
		of := readParameter(p, names[i])
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
