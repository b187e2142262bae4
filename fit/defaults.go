package fit

import (
	"math"

	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/method"
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
		o.Objective = method.EvidenceName // which alone has them
	}
	if o.Objective != "" || o.Prior != "" && o.Prior != "informed" {
		return o
	}
	if o.Prior == "" && (o.Init != nil || o.Grid != (pacbayes.Grid{}) || o.GridMixed || o.Alpha != nil || o.LearnAlpha || o.PosteriorFree || o.PosteriorFITC) {
		return o
	}
	with := o
	with.Prior, with.Objective = "informed", method.EvidenceName
	test, calibration, prior := with.counts(rows)
	if o.Prior == "" && o.PriorShare == 0 && rows-test-calibration-prior < pacbayes.MinRows {
		return o // no certificate: the grid's prior leaves more to train on, or says that there are too few
	}
	if o.Inducing > 0 || o.asksInducing() || prior > defaultFull && !o.Full {
		with.Objective = method.VFEName
	}
	return with
}

// withDefaults fills the zero fields, or says all that is wrong with the others.
func (o Options) withDefaults() (Options, error) {
	text := func(v *string, unset string) {
		if *v == "" {
			*v = unset
		}
	}
	text(&o.Objective, method.KLPACName)
	text(&o.Kernel, "se")
	text(&o.ARD, "auto") // at a few hundred rows ARD's grid penalty often costs more than it gains: try both
	text(&o.Mean, "zero")
	text(&o.Loss, string(pacbayes.Band))
	text(&o.EpsilonUnits, "sd")
	text(&o.Scaling, dataset.PriorRows)
	text(&o.Missing, dataset.Refuse)
	text(&o.InducingInit, "kmeans")
	text(&o.Prior, "grid")
	text(&o.Split, "random")
	text(&o.Batches, "uniform")
	if o.Objective == method.RenyiName && o.Alpha == nil && !o.AlphaCV {
		text(&o.Anneal, "linear") // Algorithm 1 of "Optimize to Generalize in Gaussian Processes"
	}
	text(&o.Anneal, "none")
	text(&o.Solver, "auto")
	if o.Optimizer == "" {
		switch {
		case o.Objective == method.SVGPName || o.batches() || o.PosteriorFree && o.Epochs != 0:
			o.Optimizer = "adam" // a full pass a step is what svgp is there to avoid
		case o.Objective != method.RenyiName:
			o.Optimizer = "lbfgs" // renyi's depends on the number of rows
		}
	}
	if o.Epsilon == 0 {
		o.Epsilon = 0.6 // of Reeb et al. 2018, Sect. 4
	}
	if o.Delta == 0 {
		o.Delta = 0.01
	}
	if o.Grid == (pacbayes.Grid{}) {
		o.Grid = pacbayes.DefaultGrid
	}
	o.setPrior()
	return o, o.check()
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

// A full GP is trained on at most maxFull rows, where its three matrices take 10 GB;
// above defaultFull, where a step takes seconds, only if asked for. A sparse one has
// defaultInducing inducing inputs, or half the rows where that is less.
const (
	maxFull         = 20000
	defaultFull     = 2000
	defaultInducing = 500
	maxAuto         = 2000 // inducing inputs that auto may choose
)

// Validate reports all that is wrong with options, whatever the table.
func (o Options) Validate() error {
	_, err := o.withDefaults()
	return err
}
