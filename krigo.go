// Package krigo trains Gaussian processes that generalise, and certifies that they
// do: with confidence 1−δ, the posterior's risk on further rows is at most a bound B
// computed from the rows it was trained on (Reeb, Doerr, Gerwinn, Rakitsch, "Learning
// Gaussian Processes by Minimizing PAC-Bayesian Generalization Bounds", NeurIPS 2018).
//
// Fit takes a table and gives a Model with its Certificate; Load reads one that was
// saved. The packages below hold the parts: kernel, objective, pacbayes, posterior,
// train, model, dataset.
package krigo

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/method"
	"github.com/krigo-gp/krigo/model"
	"github.com/krigo-gp/krigo/pacbayes"
	"github.com/krigo-gp/krigo/posterior"
)

// Model is a trained Gaussian process; see package model.
type Model = model.Model

// Certificate is a bound on a model's risk; see package pacbayes.
type Certificate = pacbayes.Certificate

// Load reads a model file written by Model.Save.
func Load(path string) (*Model, error) { return model.Load(path) }

// Event tells how training goes.
type Event struct {
	Family    string // kernel family, as in "se" or "se (ARD)"
	Start     int    // which starting point, from 1
	Starts    int    // of how many, over all families
	Iteration int
	Value     float64 // of the objective
	Stopped   string  // why the run from this start ended; empty while it goes on

	// Solver is how a full GP is solved; "" otherwise. While a long solve is under way,
	// Iteration is its own and Residual, otherwise 0, its relative residual.
	Solver   string
	Residual float64
}

// Checkpoint is a fit in the middle: the state of the run from every starting point.
// A fit resumes only with the same data and options.
type Checkpoint struct {
	Version     int                      `json:"version"`
	Fingerprint string                   `json:"fingerprint"` // of all rows and all options
	Runs        map[string]*method.State `json:"runs"`

	// Curves are how the runs went so far.
	Curves map[string]*model.Curve `json:"curves,omitempty"`
}

// ErrOtherCheckpoint is Fit's where Options.Resume isn't of this fit.
var ErrOtherCheckpoint = errors.New("the checkpoint belongs to other data or other options: resume with those it was written with")

// A full GP is trained on at most maxFull rows, where its three matrices take 10 GB;
// above defaultFull, where a step takes seconds, only if asked for. A sparse one has
// defaultInducing inducing inputs, or half the rows where that is less.
const (
	maxFull         = 20000
	defaultFull     = 2000
	defaultInducing = 500
	maxAuto         = 2000 // inducing inputs that auto may choose
)

// Fit trains a model on a table: it deals the rows their roles, scales, minimises the
// objective from several starting points, rounds the prior's parameters to the grid,
// and certifies the posterior of the rounded parameters on all certified rows.
//
// With options that make no sense it returns a UsageError; if ctx ends, ctx's error,
// having offered the last state to Options.Save.
//
// A table that is spread over ranks (dataset.ReadPart) is fitted by all of them: each calls Fit with
// the same options, and gets the same model, but for the row hashes that a model file holds, which
// the first rank's has; Progress and Save are called there alone. An error on one rank reaches the
// others when that rank is closed.
func Fit(ctx context.Context, table *dataset.Table, o Options) (*Model, error) {
	o, err := o.chooseObjective(table.Rows).withDefaults()
	if err != nil {
		return nil, err
	}
	if o.asked, err = o.text(); err != nil {
		return nil, err
	}
	begin := time.Now()
	p, err := prepare(table, o)
	if err != nil {
		return nil, err
	}
	if table.Ranks().Rank() > 0 {
		o.Progress, o.Save = nil, nil
	}
	var m *Model
	var runs []run
	if o.Prior == "informed" {
		m, runs, err = p.fitInformed(ctx, o)
	} else {
		m, runs, err = p.fitGrid(ctx, o)
	}
	if err != nil {
		return nil, err
	}
	for _, r := range runs {
		m.Training.Starts++
		m.Training.Iterations += r.result.Iterations
		m.Training.Evaluations += r.result.Evaluations
	}
	m.Training.Seconds = time.Since(begin).Seconds()
	return m, nil
}

// fitGrid trains with a prior whose parameters lie on the grid.
func (p *prepared) fitGrid(ctx context.Context, o Options) (*Model, []run, error) {
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

// decide decides how to train: full or sparse, from where, and how often.
func (p *prepared) decide(o Options, f family) (Options, error) {
	if o.Optimizer == "" {
		o.Optimizer = "lbfgs"
		if p.n > defaultFull {
			o.Optimizer = "adam"
		}
	}
	if err := p.setMethod(o); err != nil {
		return o, err
	}
	if o.Restarts == 0 {
		o.Restarts = 3 // about 1 start in 150 falls into Q = P; three in a row won't
		if p.inducing > 0 || p.trainsByCG(o) || o.FixParameters {
			o.Restarts = 1 // minutes each, and moving inducing inputs escape where a full GP is stuck
		}
	}
	if p.inducing > 0 {
		return o, p.chooseInducing(o, f)
	}
	return o, nil
}

// conclude makes the model from the best run, or goes on from it with a free-form posterior.
func (p *prepared) conclude(ctx context.Context, o Options, families []family, best run, c *checkpoints) (*Model, []run, error) {
	var m *Model
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

// finish rounds the best run's parameters to the grid and makes the model from them.
func (p *prepared) finish(o Options, f family, best run, choices int) (*Model, error) {
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
func (p *prepared) score(m *Model) (err error) {
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
func (p *prepared) model(o Options, f family, x []float64, choices int) (*Model, error) {
	q, err := p.posterior(o, f, x)
	if err != nil {
		return nil, err
	}
	return p.certify(o, f, q, choices)
}

// certify makes a certified model of a posterior with parameters on the grid.
func (p *prepared) certify(o Options, f family, q *posterior.Posterior, choices int) (*Model, error) {
	m := &Model{
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
	if m.Certificate, err = m.Certify(p.data); err != nil {
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
