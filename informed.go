package krigo

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/pacbayes"
	"github.com/krigo-gp/krigo/posterior"
)

// informedRows is how many of n rows an informed prior is learnt on where no share is given: a rule,
// which costs nothing. Seven in ten, about which the mean's certificate is flat; of more than 3,333
// rows all but 1,000, up to eight in ten, since with so many certified rows the bound follows the
// misses, which more prior rows make fewer; of less than 70 rows all but those that a certificate
// takes, and at least a quarter (docs/certificate.md).
func informedRows(n int) int {
	of := func(share float64) int { return int(math.Ceil(share * float64(n))) }
	rows := min(of(0.8), max(of(0.7), n-1000))
	return max(min(rows, n-pacbayes.MinRows-1), of(0.25))
}

// counts says how many of so many rows are for testing, for calibration and for the prior.
func (o Options) counts(rows int) (test, calibration, prior int) {
	of := func(share float64, rows int) int { return int(math.Ceil(share * float64(rows))) }
	test, calibration = of(o.TestFraction, rows), of(o.CalibrationFraction, rows)
	switch left := rows - test - calibration; {
	case o.PriorShare > 0:
		prior = of(o.PriorShare, left)
	case o.Prior == "informed":
		prior = informedRows(left)
	case o.Scaling == dataset.PriorRows:
		prior = dataset.DefaultPriorRows(left)
	}
	return test, calibration, prior
}

// chooseObjective makes the choice of who names no objective: an informed prior by the evidence,
// of more rows than a full GP is trained on by default by vfe. The mean of such a prior has the
// tightest certificate there is; its test error is that of training on seven to eight rows in ten
// (docs/certificate.md). Options that speak of the grid's prior or of posteriors learnt for a bound,
// and parameters to start from, which may have been learnt on any rows, ask for kl-pac.
func (o Options) chooseObjective(rows int) Options {
	if o.Objective == "" && (o.FixParameters || o.Solver == posterior.ByCG || o.Solver == posterior.ByNearest) {
		o.Objective = "evidence" // which alone has them
	}
	if o.Objective != "" || o.Prior != "" && o.Prior != "informed" {
		return o
	}
	if o.Prior == "" && (o.Init != nil || o.Grid != (pacbayes.Grid{}) || o.GridMixed || o.Alpha != nil || o.LearnAlpha || o.PosteriorFree || o.PosteriorFITC) {
		return o
	}
	with := o
	with.Prior, with.Objective = "informed", "evidence"
	test, calibration, prior := with.counts(rows)
	if o.Prior == "" && o.PriorShare == 0 && rows-test-calibration-prior < pacbayes.MinRows {
		return o // no certificate: the grid's prior leaves more to train on, or says that there are too few
	}
	if o.Inducing > 0 || o.asksInducing() || prior > defaultFull && !o.Full {
		with.Objective = "vfe"
	}
	return with
}

// learns says whether an informed prior is followed by a posterior of the certified rows.
func (o Options) learns() bool {
	return o.Prior == "informed" && (o.PosteriorLearnt || o.PosteriorFree)
}

// setPrior fills in what depends on the prior.
func (o *Options) setPrior() {
	if o.Prior == "informed" && len(o.Temper) == 0 {
		o.Temper = []float64{1}
	}
	if o.MeanBound == "" {
		o.MeanBound = pacbayes.Twice
		if o.Prior == "informed" && !o.learns() {
			o.MeanBound = pacbayes.Direct // a third of the bound by way of a random draw
		}
	}
	if o.Bound == "" {
		o.Bound = pacbayes.KLBound
		if o.learns() {
			o.Bound = pacbayes.MaurerBound // never above kl; the grid prior's stays the paper's
		}
	}
}

// checkPrior reports what doesn't go together in the options of the prior and the bounds.
func (o Options) checkPrior() (errs []error) {
	informed := o.Prior == "informed"
	if !informed && o.Prior != "grid" {
		errs = append(errs, fmt.Errorf("prior %q: want grid or informed", o.Prior))
	}
	if !informed && (o.PosteriorLearnt || len(o.Temper) > 0) {
		errs = append(errs, errors.New("temper and posterior learnt are for prior informed: the grid's prior isn't learnt"))
	}
	if !(o.PriorShare >= 0 && o.PriorShare < 1) {
		errs = append(errs, fmt.Errorf("prior-share %v: want a share in (0, 1)", o.PriorShare))
	}
	if !(o.CalibrationFraction >= 0 && o.CalibrationFraction < 1) {
		errs = append(errs, fmt.Errorf("calibration-fraction %v: want a share in [0, 1)", o.CalibrationFraction))
	}
	for _, t := range o.Temper {
		if !(t > 0) || math.IsInf(t, 1) {
			errs = append(errs, fmt.Errorf("temper %v: want positive factors of the prior's covariance, such as 1,0.3,0.1", t))
		}
	}
	if o.MeanBound == pacbayes.Direct && len(o.Temper) > 1 {
		errs = append(errs, errors.New("temper: a mean bounded directly doesn't depend on it; give one factor, or mean-bound both or twice"))
	}
	if informed && o.Init != nil {
		errs = append(errs, errors.New("init: an informed prior is learnt on the prior rows alone, and given parameters may have been learnt on others; with prior grid they may start training"))
	}
	if o.GridMixed && informed {
		errs = append(errs, errors.New("grid: an informed prior lies on none"))
	}
	if o.GridMixed && (!o.pac()) {
		errs = append(errs, fmt.Errorf("grid with a choice of digits: it is for kl-pac and sqrt-pac, which train for the bound, not %s", o.Objective))
	}
	// What else terms are checked for is the options' own check.
	if kind, err := pacbayes.ParseLoss(o.Loss); err == nil {
		if err := o.terms(o.loss(kind), 1).CheckRoute(); err != nil {
			errs = append(errs, err)
		}
	}
	return errs
}

// pac says whether the objective is a bound itself.
func (o Options) pac() bool { return o.Objective == "kl-pac" || o.Objective == "sqrt-pac" }

// terms returns what the options say of the certificate.
func (o Options) terms(loss pacbayes.Loss, choices int) pacbayes.Terms {
	t := pacbayes.Terms{Loss: loss, Delta: o.Delta, Grid: o.Grid, Choices: choices, Scaling: o.Scaling,
		Informed: o.Prior == "informed", Promise: o.Promise}
	if o.Bound != pacbayes.KLBound {
		t.Inequality = o.Bound
	}
	if o.MeanBound != pacbayes.Twice {
		t.Route = o.MeanBound
	}
	t.Fixed = t.Informed && !o.learns()
	return t
}

// terms returns those of a certificate for a family of priors.
func (p *prepared) terms(o Options, f family, choices int) pacbayes.Terms {
	t := o.terms(p.loss, choices)
	t.EpsilonRaw, t.Params, t.PriorRows = p.epsRaw, f.gridParams(), p.priorRows
	t.Encoded = p.data.Encoding != nil
	t.Group, t.Backtest = o.Group, o.Split == "last"
	if o.GridMixed {
		f.mix(&t, o.tied)
	}
	return t
}

// fitInformed learns a prior on the prior rows, and takes it for the posterior or learns one
// on the certified rows.
func (p *prepared) fitInformed(ctx context.Context, o Options) (*Model, []run, error) {
	c, err := p.checkpoints(o)
	if err != nil {
		return nil, nil, err
	}
	first := *p
	if err := first.take(dataset.Prior); err != nil {
		return nil, nil, err
	}
	own := o
	own.Prior, own.PosteriorLearnt, own.PosteriorFree, own.Temper = "grid", false, false, nil
	own.Bound, own.MeanBound, own.Promise = pacbayes.KLBound, pacbayes.Twice, 0
	own.LearnAlpha = o.LearnAlpha && o.pac()
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
func (p *prepared) takePrior(o Options, prior *posterior.Posterior) (lowest *Model, err error) {
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
