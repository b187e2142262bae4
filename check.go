package krigo

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/internal/settings"
	"github.com/krigo-gp/krigo/kernel"
	"github.com/krigo-gp/krigo/method"
	"github.com/krigo-gp/krigo/model"
	"github.com/krigo-gp/krigo/pacbayes"
	"github.com/krigo-gp/krigo/posterior"
	"github.com/krigo-gp/krigo/ranks"
)

// check reports all that is wrong with options whose defaults are filled in, each of their parts first, and then what
// doesn't go together.
func (o Options) check(evaluating bool) error {
	use := method.Use{Evaluating: evaluating, Given: o.Run.FixParameters, Informed: o.informed(), Learns: o.learns()}
	errs := slices.Concat(o.Data.check(), o.Kernel.check(), o.Method.Check(use), o.Prior.check(), o.Promise.check(),
		o.Run.check(),
		o.checkTogether(), o.checkBacktest(evaluating))
	if len(errs) > 0 {
		return &UsageError{errors.Join(errs...)}
	}
	return nil
}

func (d Data) check() (errs []error) {
	if d.Target == "" {
		errs = append(errs, errors.New("target: name the column to predict"))
	}
	errs = append(errs, settings.OneOf("missing", d.Missing, dataset.Refuse, dataset.FillMean)...)
	errs = append(errs, settings.OneOf("scaling", d.Scaling, dataset.PriorRows, dataset.Declared, dataset.AllRows)...)
	if d.encodes() && d.Scaling != dataset.PriorRows {
		errs = append(errs, fmt.Errorf("categorical, missing mean: categories and means are learnt from prior rows, and "+
			"the inputs' scaling with them: leave it at prior-rows, not %s", d.Scaling))
	}
	if (d.Scaling == dataset.Declared) != (d.Declared != nil) {
		errs = append(errs, errors.New("scaling: declared scaling needs its constants, and constants need declared scaling"))
	}
	if d.Declared != nil {
		if err := d.Declared.Validate(); err != nil {
			errs = append(errs, fmt.Errorf("scaling: %w", err))
		}
	}
	if !(d.TestFraction >= 0 && d.TestFraction < 1) {
		errs = append(errs, fmt.Errorf("test-fraction %v: want a share in [0, 1)", d.TestFraction))
	}
	if d.TestFraction > 0 && d.Test != nil {
		errs = append(errs, errors.New("test-fraction and a test table exclude each other"))
	}
	errs = append(errs, settings.OneOf("split", d.Split, "random", "last")...)
	if d.Group != "" && d.Split == "last" {
		errs = append(errs, errors.New("group: groups are dealt at random: leave out split last"))
	}
	if d.Group != "" && (d.Group == d.Target || slices.Contains(d.Categorical, d.Group)) {
		errs = append(errs, fmt.Errorf("group %q: that column is the target, or an input", d.Group))
	}
	return errs
}

func (k Kernel) check() (errs []error) {
	errs = append(errs, settings.OneOf("ard", k.ARD, "on", "off", "auto")...)
	if _, err := model.MeanOf(k.Mean, 1); err != nil {
		errs = append(errs, err)
	}
	expressions := k.expressions()
	for i, expression := range expressions {
		if _, err := kernel.Parse(expression, 1, false); err != nil {
			errs = append(errs, err)
		} else if slices.Contains(expressions[:i], expression) {
			errs = append(errs, fmt.Errorf("kernel: %s twice", expression))
		}
	}
	return errs
}

func (p Prior) check() (errs []error) {
	errs = append(errs, settings.OneOf("prior", p.Kind, "grid", "informed")...)
	if p.Kind == "grid" && (p.Learn || len(p.Temper) > 0) {
		errs = append(errs, errors.New("temper and posterior learnt are for prior informed: the grid's prior isn't learnt"))
	}
	if p.Kind == "informed" && p.Mixed {
		errs = append(errs, errors.New("grid: an informed prior lies on none"))
	}
	if !(p.Share >= 0 && p.Share <= 1) || p.Share == 1 && (p.Kind == "grid" || p.Learn) {
		errs = append(errs, fmt.Errorf("prior-share %v: want a share in (0, 1), or 1 for an informed prior that nothing is "+
			"learnt after: all rows then train, and none is certified", p.Share))
	}
	for _, t := range p.Temper {
		if !(t > 0) || math.IsInf(t, 1) {
			errs = append(errs, fmt.Errorf("temper %v: want positive factors of the prior's covariance, such as 1,0.3,0.1", t))
		}
	}
	if err := p.Grid.Validate(); err != nil {
		errs = append(errs, err)
	}
	return errs
}

func (p Promise) check() (errs []error) {
	errs = append(errs, settings.OneOf("epsilon-units", p.Units, "sd", "raw")...)
	if kind, err := pacbayes.ParseLoss(p.Loss); err != nil {
		errs = append(errs, err)
	} else if err := p.loss(kind).Validate(); err != nil {
		errs = append(errs, fmt.Errorf("epsilon: %w", err))
	} else if kind != pacbayes.Asymmetric && p.EpsilonAbove != 0 {
		errs = append(errs, fmt.Errorf("epsilon: two widths are for the asymmetric loss, not %q", kind))
	}
	if !(p.Delta >= 1e-300 && p.Delta < 1) {
		errs = append(errs, fmt.Errorf("delta %v: want a probability between 0 and 1, such as 0.01", p.Delta))
	}
	if !(p.Calibration >= 0 && p.Calibration < 1) {
		errs = append(errs, fmt.Errorf("calibration-fraction %v: want a share in [0, 1)", p.Calibration))
	}
	return errs
}

func (r Run) check() (errs []error) {
	errs = append(errs, settings.OneOf("deliver", cmp.Or(r.Deliver, "certified"), "certified", "all")...)
	if r.Restarts < 0 || r.Restarts > 1000 {
		errs = append(errs, fmt.Errorf("restarts %d: want 1 to 1000, or 0 for the default", r.Restarts))
	}
	if r.Budget > 0 && r.Declared != "" {
		errs = append(errs, errors.New("budget: what a declaration has tried doesn't depend on time"))
	}
	if r.Budget < 0 {
		errs = append(errs, fmt.Errorf("budget %v: want a duration, such as 60s", r.Budget))
	}
	if r.FixParameters && (r.Init == nil || r.Restarts > 1) {
		errs = append(errs, errors.New("fix-parameters: give the parameters as init, and no restarts"))
	}
	if _, err := json.Marshal(r.Init); err != nil {
		errs = append(errs, fmt.Errorf("init: %w", err)) // NaN, say: options are kept as JSON
	}
	return errs
}

// checkTogether reports what doesn't go together in the kernel, the method, the prior and the promise.
func (o Options) checkTogether() (errs []error) {
	if o.Method.InducingBy == "theory" && !slices.Contains([]string{"se", "matern32", "matern52"}, o.Kernel.Expression) {
		errs = append(errs, fmt.Errorf("inducing theory: eigenvalues are known of the kernels se, matern32 and matern52, "+
			"not of %s", o.Kernel.Expression))
	}
	if o.informed() && o.Run.Init != nil {
		errs = append(errs, errors.New("init: an informed prior is learnt on the prior rows alone, and given parameters "+
			"may have been learnt on others; with prior grid they may start training"))
	}
	if o.Run.Budget != 0 && !o.informed() {
		errs = append(errs, errors.New("budget: it is for choices among kernels on prior rows, with prior informed: a "+
			"choice on the certified rows is paid for whether it was tried or not"))
	}
	if (o.Promise.Curve || len(o.Promise.Slices) > 0) && o.Data.Split == "last" {
		errs = append(errs, errors.New("curve, slices: a backtest promises nothing of any width, nor of any kind of rows"))
	}
	if o.Run.Deliver == "all" {
		if err := o.checkDelivered(); err != nil {
			errs = append(errs, err)
		}
	}
	if o.Promise.Loss == string(pacbayes.Scaled) && (o.Method.Kind().Bound != "" || o.Method.Term == "loss") {
		errs = append(errs, fmt.Errorf("loss scaled: it counts the standard deviations that training finds, so that %s "+
			"can't be trained by it: use an objective such as evidence or nearest, with a term of its own", o.Method.Name))
	}
	if o.Prior.Mixed && o.Method.Kind().Bound == "" {
		errs = append(errs, fmt.Errorf("grid with a choice of digits: it is for kl-pac and sqrt-pac, which train for the "+
			"bound, not %s", o.Method.Name))
	}
	if o.Promise.MeanBound == pacbayes.Direct && len(o.Prior.Temper) > 1 {
		errs = append(errs, errors.New("temper: a mean bounded directly doesn't depend on it; give one factor, or "+
			"mean-bound both or twice"))
	}
	// What else terms are checked for is the options' own check.
	if kind, err := pacbayes.ParseLoss(o.Promise.Loss); err == nil {
		if err := o.terms(o.Promise.loss(kind), 1).CheckRoute(); err != nil {
			errs = append(errs, err)
		}
	}
	return errs
}

// checkDelivered reports options whose models have no sibling on all rows.
func (o Options) checkDelivered() error {
	if !o.informed() || o.learns() {
		return usage("deliver all: it is for informed priors that nothing is learnt after, as by default: other models are " +
			"trained on the certified rows themselves")
	}
	if o.trainsAll() {
		return usage("deliver all: all rows train the model itself, and none certifies it: leave it out")
	}
	return nil
}

// checkBacktest reports what can't be said of rows that come later, or in groups.
func (o Options) checkBacktest(evaluating bool) (errs []error) {
	last := o.Data.Split == "last"
	if o.Promise.Calibration > 0 && (o.Data.Group != "" || last) {
		errs = append(errs, errors.New("calibration-fraction: conformal intervals are about rows that could change places, "+
			"which rows of groups, or of other times, can't: leave it out with group and split last"))
	}
	if last && (!o.informed() || o.learns() || o.Promise.MeanBound != pacbayes.Direct || o.Promise.Share > 0) &&
		!evaluating {
		errs = append(errs, errors.New("split last: a backtest is of a mean that didn't see the last rows, and promises "+
			"nothing: it needs prior informed, nothing learnt after it, mean-bound direct, and no promise"))
	}
	return errs
}

// checkPredictor reports what can't be had of an informed prior that isn't factored, and whose mean alone is a function
// of the prior rows that can be certified.
func (o Options) checkPredictor(solver string) error {
	if solver == posterior.ByCG || solver == posterior.ByNearest {
		switch {
		case o.learns():
			return usage("posterior learnt or free after a prior solved by %s: its covariance isn't factored, so that nothing "+
				"can be learnt after it", solver)
		case o.Promise.MeanBound != pacbayes.Direct || o.Prior.Temper[0] != 1:
			return usage("mean-bound %s with a prior solved by %s: its mean alone can be certified, directly, and it isn't "+
				"tempered", o.Promise.MeanBound, solver)
		}
	}
	return nil
}

// checkSpread reports options that one rank alone can follow.
func (o Options) checkSpread(r ranks.Ranks) error {
	if r.Size() == 1 {
		return nil
	}
	what := ""
	switch {
	case o.Data.encodes():
		what = "an encoding of categories or missing values"
	case o.Method.AlphaBy == "cv":
		what = "alpha cv"
	case o.Data.Group != "":
		what = "group"
	case o.Promise.Curve || len(o.Promise.Slices) > 0:
		what = "curve, or slices,"
	default:
		return nil
	}
	return usage("%s isn't spread over ranks: use one", what)
}

// checkCounts reports too few rows, or groups, for what is asked.
func (o Options) checkCounts(source string, units, test, calibration, prior int) error {
	what := "rows"
	if o.Data.Group != "" {
		what = "groups"
	}
	rows := units - test - calibration
	if rows < 2 {
		return fmt.Errorf("%s: %d %s less %d for testing and %d for calibration leave %d to train on: set aside fewer",
			source, units, what, test, calibration, max(rows, 0))
	}
	if o.Promise.Calibration > 0 && calibration < model.LeastCalibration {
		return fmt.Errorf("calibration-fraction %v: that is %d of the %d rows of %s, and conformal intervals need %d",
			o.Promise.Calibration, calibration, units, source, model.LeastCalibration)
	}
	if left := rows - prior; left < 2 && !o.trainsAll() {
		purpose, instead := "the scaling", "declare the scaling's constants"
		if calibration > 0 || o.Prior.Share > 0 || o.informed() {
			purpose, instead = fmt.Sprintf("the prior and %d for calibration", calibration), "set aside fewer"
		}
		return fmt.Errorf("%s: %d %s less %d for testing and %d for %s leave %d to train on: use more %s, or %s",
			source, units, what, test, prior, purpose, max(left, 0), what, instead)
	}
	return nil
}
