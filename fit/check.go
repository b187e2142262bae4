package fit

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/internal/spelling"
	"github.com/krigo-gp/krigo/kernel"
	"github.com/krigo-gp/krigo/method"
	"github.com/krigo-gp/krigo/model"
	"github.com/krigo-gp/krigo/pacbayes"
	"github.com/krigo-gp/krigo/posterior"
	"github.com/krigo-gp/krigo/ranks"
)

// oneOf reports a value that isn't one of a flag's names.
func oneOf(flag, v string, names ...string) []error {
	if slices.Contains(names, v) {
		return nil
	}
	return []error{fmt.Errorf("%s %q: want one of %s%s", flag, v, strings.Join(names, ", "), spelling.DidYouMean(v, names))}
}

// check reports all that is wrong with options whose defaults are filled in.
func (o Options) check() error {
	errs := slices.Concat(o.checkInducing(), o.checkSchedule(), o.checkPosterior(), o.checkBatches(), o.checkAlpha(), o.checkSolver(),
		o.checkTerms(), o.checkColumns(), o.checkRoles(), o.checkPrior())
	if o.Restarts < 0 || o.Restarts > 1000 {
		errs = append(errs, fmt.Errorf("restarts %d: want 1 to 1000, or 0 for the default", o.Restarts))
	}
	if len(errs) > 0 {
		return &UsageError{errors.Join(errs...)}
	}
	return nil
}

// checkInducing reports a wrong number or choice of inducing inputs.
func (o Options) checkInducing() (errs []error) {
	if o.Target == "" {
		errs = append(errs, errors.New("target: name the column to predict"))
	}
	errs = append(errs, oneOf("objective", o.Objective, Objectives...)...)
	errs = append(errs, oneOf("ard", o.ARD, "on", "off", "auto")...)
	errs = append(errs, oneOf("epsilon-units", o.EpsilonUnits, "sd", "raw")...)
	errs = append(errs, oneOf("inducing-init", o.InducingInit, "kmeans", "greedy", "kdpp", "random")...)
	if o.Inducing < 0 {
		errs = append(errs, fmt.Errorf("inducing %d: want a positive number of inducing inputs, or 0 for the default", o.Inducing))
	}
	if o.asksInducing() && o.Inducing > 0 || o.AutoInducing && o.TheoryInducing {
		errs = append(errs, errors.New("inducing: a number, auto and theory exclude each other"))
	}
	if o.TheoryInducing && !slices.Contains([]string{"se", "matern32", "matern52"}, o.Kernel) {
		errs = append(errs, fmt.Errorf("inducing theory: eigenvalues are known of the kernels se, matern32 and matern52, not of %s", o.Kernel))
	}
	if o.Full && (o.Inducing > 0 || o.asksInducing() || o.sparseOnly() && !o.PosteriorFree) {
		errs = append(errs, fmt.Errorf("objective %q with a full GP: full GPs have the objectives kl-pac, sqrt-pac and evidence, and no inducing inputs", o.Objective))
	}
	return errs
}

// checkSchedule reports an optimiser and a schedule of α that there aren't.
func (o Options) checkSchedule() (errs []error) {
	if o.Optimizer != "" || o.Objective != method.RenyiName {
		errs = append(errs, oneOf("optimizer", o.Optimizer, "lbfgs", "adam", "sgd", "mma")...)
	}
	errs = append(errs, oneOf("batches", o.Batches, "uniform", "nearest")...)
	errs = append(errs, oneOf("anneal", o.Anneal, "linear", "cosine", "geometric", "none")...)
	switch fixed := o.Alpha != nil || o.AlphaCV; {
	case o.Objective != method.RenyiName && (o.AlphaCV || o.Anneal != "none"):
		errs = append(errs, fmt.Errorf("anneal and alpha cv are for renyi, not %s", o.Objective))
	case o.Alpha != nil && o.AlphaCV:
		errs = append(errs, errors.New("alpha: a number and cv exclude each other"))
	case fixed && o.Anneal != "none":
		errs = append(errs, fmt.Errorf("anneal %s with a fixed α: leave alpha out, or anneal none", o.Anneal))
	case o.Objective == method.RenyiName && !fixed && o.Anneal == "none":
		errs = append(errs, errors.New("anneal none: say which α stays with alpha (0 is the exact GP, 1 vfe), or alpha cv"))
	}
	return errs
}

// checkPosterior reports posteriors that the objective doesn't have.
func (o Options) checkPosterior() (errs []error) {
	if o.PosteriorFree && o.Prior != "informed" && !o.pac() {
		errs = append(errs, fmt.Errorf("posterior free with %s: it is for kl-pac and sqrt-pac (svgp's always is free; the others' is a function of their parameters)", o.Objective))
	}
	if o.PosteriorFree && o.Full {
		errs = append(errs, errors.New("posterior free with a full GP: a free-form posterior stands on inducing inputs"))
	}
	if o.PosteriorFITC && (o.PosteriorFree || o.Objective == method.SVGPName || o.Objective == method.RenyiName) {
		errs = append(errs, errors.New("posterior fitc: free-form posteriors and renyi's have no α of that kind"))
	}
	return errs
}

// checkBatches reports settings of batches where there are none.
func (o Options) checkBatches() (errs []error) {
	if (o.onBatches() || o.batches()) && !method.Named(o.Objective).Batches && !o.PosteriorFree {
		errs = append(errs, fmt.Errorf("optimizer adam, sgd, batch, batches and learning-rate are for svgp, renyi, evidence and posterior free; %s needs all rows in every step", o.Objective))
	} else if o.Optimizer != "" && !o.onBatches() && o.batches() {
		errs = append(errs, fmt.Errorf("batch, batches and learning-rate are adam's and sgd's: %s takes all rows in every step", o.Optimizer))
	}
	if o.Batches == "nearest" && !method.Named(o.Objective).Nearest {
		errs = append(errs, fmt.Errorf("batches nearest: it is for renyi and evidence; the others' are a sum over rows, which uniform batches estimate without bias: not %s", o.Objective))
	}
	if o.Batch < 0 || o.Epochs < 0 || !(o.LearningRate >= 0) || o.LearningRate > 10 {
		errs = append(errs, fmt.Errorf("batch %d, epochs %d, learning-rate %v: want positive numbers, or 0 for the defaults", o.Batch, o.Epochs, o.LearningRate))
	}
	if o.Objective == method.EvidenceName && (o.Inducing > 0 || o.asksInducing()) {
		errs = append(errs, errors.New("objective \"evidence\" is a full GP's: choose vfe for a sparse one"))
	}
	return errs
}

// checkAlpha reports an α that the objective doesn't have.
func (o Options) checkAlpha() (errs []error) {
	if a := o.Alpha; a != nil {
		switch {
		case o.Objective == method.PEPName && !(*a > 0 && *a <= 1):
			errs = append(errs, fmt.Errorf("alpha %v: pep takes 0 < α ≤ 1 (vfe is the limit 0, fitc is 1)", *a))
		case o.Objective == method.RenyiName && o.evaluating && *a <= 1:
		case !(*a >= 0 && *a <= 1):
			errs = append(errs, fmt.Errorf("alpha %v: want 0 ≤ α ≤ 1", *a))
		case !method.Named(o.Objective).Alpha:
			errs = append(errs, fmt.Errorf("alpha doesn't apply to %s, which has its own", o.Objective))
		}
	}
	if o.LearnAlpha && !o.pac() && !o.learns() {
		errs = append(errs, fmt.Errorf("alpha learn: it is for kl-pac and sqrt-pac; %s has its own", o.Objective))
	}
	if o.LearnAlpha && (o.PosteriorFITC || o.Full) {
		errs = append(errs, errors.New("alpha learn: a full GP and posterior fitc have no α to learn"))
	}
	return errs
}

// checkSolver reports solvers and given parameters that don't go with the objective.
func (o Options) checkSolver() (errs []error) {
	errs = append(errs, oneOf("solver", o.Solver, "auto", posterior.ByCholesky, posterior.ByCG, posterior.ByNearest)...)
	byRows := o.Solver == posterior.ByCG || o.Solver == posterior.ByNearest
	if o.Objective != method.EvidenceName && (o.FixParameters || byRows && o.Objective != method.RenyiName) {
		errs = append(errs, fmt.Errorf("solver cg, solver nearest and fix-parameters are for the evidence; %s has another way", o.Objective))
	}
	if o.Objective == method.RenyiName && byRows && !o.estimatesRenyi() && (o.AlphaCV || o.Alpha != nil && *o.Alpha != 0) {
		errs = append(errs, errors.New("solver cg and nearest condition the exact GP, with which renyi ends where α falls to 0: leave alpha out"))
	}
	if o.FixParameters && (o.Init == nil || o.Restarts > 1) {
		errs = append(errs, errors.New("fix-parameters: give the parameters as init, and no restarts"))
	}
	if o.Solver == posterior.ByNearest && !o.FixParameters && !o.onBatches() && o.Objective == method.EvidenceName {
		errs = append(errs, errors.New("solver nearest predicts and can't train: it needs fix-parameters, or training on batches"))
	}
	return errs
}

// checkTerms reports what no prior, loss or certificate has.
func (o Options) checkTerms() (errs []error) {
	errs = append(errs, oneOf("scaling", o.Scaling, dataset.PriorRows, dataset.Declared, dataset.AllRows)...)
	if _, err := model.MeanOf(o.Mean, 1); err != nil {
		errs = append(errs, err)
	}
	if _, err := kernel.Parse(o.Kernel, 1, false); err != nil {
		errs = append(errs, err)
	}
	if kind, err := pacbayes.ParseLoss(o.Loss); err != nil {
		errs = append(errs, err)
	} else if err := o.loss(kind).Validate(); err != nil {
		errs = append(errs, fmt.Errorf("epsilon: %w", err))
	} else if kind != pacbayes.Asymmetric && o.EpsilonAbove != 0 {
		errs = append(errs, fmt.Errorf("epsilon: two widths are for the asymmetric loss, not %q", kind))
	}
	if !(o.Delta > 0 && o.Delta < 1) {
		errs = append(errs, fmt.Errorf("delta %v: want a probability between 0 and 1, such as 0.01", o.Delta))
	}
	if err := o.Grid.Validate(); err != nil {
		errs = append(errs, err)
	}
	return errs
}

// checkColumns reports encodings and scalings that don't go together.
func (o Options) checkColumns() (errs []error) {
	errs = append(errs, oneOf("missing", o.Missing, dataset.Refuse, dataset.FillMean)...)
	if o.encodes() && o.Scaling != dataset.PriorRows {
		errs = append(errs, fmt.Errorf("categorical, missing mean: categories and means are learnt from prior rows, and the inputs' scaling with them: leave it at prior-rows, not %s", o.Scaling))
	}
	if (o.Scaling == dataset.Declared) != (o.Declared != nil) {
		errs = append(errs, errors.New("scaling: declared scaling needs its constants, and constants need declared scaling"))
	}
	return errs
}

// checkRoles reports roles of rows that can't be.
func (o Options) checkRoles() (errs []error) {
	if !(o.TestFraction >= 0 && o.TestFraction < 1) {
		errs = append(errs, fmt.Errorf("test-fraction %v: want a share in [0, 1)", o.TestFraction))
	}
	errs = append(errs, oneOf("split", o.Split, "random", "last")...)
	if o.Group != "" && o.Split == "last" {
		errs = append(errs, errors.New("group: groups are dealt at random: leave out split last"))
	}
	if o.CalibrationFraction > 0 && (o.Group != "" || o.Split == "last") {
		errs = append(errs, errors.New("calibration-fraction: conformal intervals are about rows that could change places, which rows of groups, or of other times, can't: leave it out with group and split last"))
	}
	if o.Split == "last" && (o.Prior != "informed" || o.learns() || o.MeanBound != pacbayes.Direct || o.Promise > 0) && !o.evaluating {
		errs = append(errs, errors.New("split last: a backtest is of a mean that didn't see the last rows, and promises nothing: it needs prior informed, nothing learnt after it, mean-bound direct, and no promise"))
	}
	if o.Group != "" && (o.Group == o.Target || slices.Contains(o.Categorical, o.Group)) {
		errs = append(errs, fmt.Errorf("group %q: that column is the target, or an input", o.Group))
	}
	if o.TestFraction > 0 && o.Test != nil {
		errs = append(errs, errors.New("test-fraction and a test table exclude each other"))
	}
	return errs
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

// checkSpread reports options that one rank alone can follow.
func (o Options) checkSpread(r ranks.Ranks) error {
	if r.Size() == 1 {
		return nil
	}
	what := ""
	switch {
	case o.encodes():
		what = "an encoding of categories or missing values"
	case o.AlphaCV:
		what = "alpha cv"
	case o.Batches == "nearest":
		what = "batches nearest"
	case o.Group != "":
		what = "group"
	default:
		return nil
	}
	return Usage("%s isn't spread over ranks: use one", what)
}

// checkCounts reports too few rows, or groups, for what is asked.
func (o Options) checkCounts(source string, units, test, calibration, prior int) error {
	what := "rows"
	if o.Group != "" {
		what = "groups"
	}
	rows := units - test - calibration
	if rows < 2 {
		return fmt.Errorf("%s: %d %s less %d for testing and %d for calibration leave %d to train on: set aside fewer", source, units, what, test, calibration, max(rows, 0))
	}
	if o.CalibrationFraction > 0 && calibration < model.LeastCalibration {
		return fmt.Errorf("calibration-fraction %v: that is %d of the %d rows of %s, and conformal intervals need %d", o.CalibrationFraction, calibration, units, source, model.LeastCalibration)
	}
	if left := rows - prior; left < 2 {
		purpose, instead := "the scaling", "declare the scaling's constants"
		if calibration > 0 || o.PriorShare > 0 || o.Prior == "informed" {
			purpose, instead = fmt.Sprintf("the prior and %d for calibration", calibration), "set aside fewer"
		}
		return fmt.Errorf("%s: %d %s less %d for testing and %d for %s leave %d to train on: use more %s, or %s",
			source, units, what, test, prior, purpose, max(left, 0), what, instead)
	}
	return nil
}
