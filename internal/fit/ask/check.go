package ask

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/fitting"
	"github.com/krigo-gp/krigo/internal/faults"
	"github.com/krigo-gp/krigo/internal/settings"
	"github.com/krigo-gp/krigo/internal/spelling"
	"github.com/krigo-gp/krigo/kernel"
	"github.com/krigo-gp/krigo/method"
	"github.com/krigo-gp/krigo/model"
	"github.com/krigo-gp/krigo/objective"
	"github.com/krigo-gp/krigo/pacbayes"
	"github.com/krigo-gp/krigo/posterior"
	"github.com/krigo-gp/krigo/ranks"
)

// Check reports everything that is wrong with options whose defaults are filled in:
// first each part by its tags, then options that can't be combined.
func (o Asked) Check(evaluating bool) error {
	use := method.Use{Evaluating: evaluating, Given: o.Run.FixParameters, Informed: o.Informed(),
		Learns: o.Learns(), Sited: o.Sited() != nil}
	return faults.AsUsage(errors.Join(slices.Concat(
		settings.CheckAll(&o.Data), checkData(o.Data),
		settings.CheckAll(&o.Kernel), checkKernel(o.Kernel),
		o.Method.Check(use),
		settings.CheckAll(&o.Prior), checkPrior(o.Prior),
		settings.CheckAll(&o.Promise), checkPromise(o.Promise),
		settings.CheckAll(&o.Run), checkRun(o.Run),
		o.checkTogether(), o.checkBacktest(evaluating))...))
}

// LooksAtNoise says whether left-out errors decide if the noise of predictions varies: nobody named
// a noise, and one that varies could be asked for.
func (o Asked) LooksAtNoise() bool {
	varies := o
	varies.Kernel.Noise = NoiseAuto
	return o.Kernel.Noise == "" && o.ChoosesFreely() && varies.Check(false) == nil
}

// checkData reports options of the data that contradict one another. It doesn't know the table.
func checkData(d fitting.Data) settings.Faults {
	wrong := settings.Faults{
		faults.If(d.Target == "", "target: name the column to predict"),
		faults.If(Encodes(d) && d.Scaling != dataset.PriorRows,
			"categorical, missing mean: categories and means are learnt from prior rows, and "+
				"the inputs' scaling with them: leave it at prior-rows, not %s", d.Scaling),
		faults.If((d.Scaling == dataset.Declared) != (d.Declared != nil),
			"scaling: declared scaling needs its constants, and constants need declared scaling"),
	}
	if d.Declared != nil {
		wrong = append(wrong,
			faults.Of(d.Declared.Validate(), "scaling: %w"),
			faults.If(d.Declared.Transform != nil,
				"scaling: a transform of the target isn't declared, since its constants come "+
					"from the prior rows: name it by target-transform"),
		)
	}
	wrong = append(wrong,
		faults.If(d.TestFraction > 0 && d.Test != nil,
			"test-fraction and a test table exclude each other"),
		faults.If(d.Group != "" && d.Split == "last",
			"group: a fit can't have both --group and --split last: whole groups get random "+
				"roles"),
	)
	wrong.If(d.Group != "" && (d.Group == d.Target || slices.Contains(d.Categorical, d.Group)),
		"group %q: that column is the target, or an input", d.Group)
	return append(wrong, checkBeside(d)...)
}

// checkBeside reports what a fit of several targets can't have.
func checkBeside(d fitting.Data) (wrong settings.Faults) {
	if d.Beside == nil {
		return nil
	}
	for i, name := range d.Beside {
		wrong = append(wrong,
			faults.If(name == "",
				"target: there is a comma without a name of a column before and after it"),
			faults.If(slices.Contains(d.Beside[:i], name), "target %q is listed twice", name),
			faults.If(slices.Contains(d.Inputs, name),
				"inputs: %q is a target of the same fit, and no target is an input of "+
					"another: fit it alone", name),
			faults.If(name != "" && name == d.Group, "group %q: that column is a target", name),
		)
	}
	return append(wrong,
		faults.If(len(d.Beside) < 2 || !slices.Contains(d.Beside, d.Target),
			"several targets: the target %q has to be one of at least two", d.Target),
		faults.If(d.Scaling == dataset.Declared,
			"several targets: declared constants are of one target: leave the scaling at "+
				"prior-rows, or fit each target alone"),
		faults.If(d.Group == dataset.EqualRows,
			"several targets: rows that are equal in one target may differ in another, so "+
				"that copies don't group rows: choose --duplicates drop"),
		faults.If(strings.HasPrefix(d.Group, dataset.BlockPrefix) && strings.HasSuffix(d.Group, ":auto"),
			"several targets: targets would choose different blocks: name a size in place of "+
				"auto"),
	)
}

// checkKernel reports kernel expressions that can't be parsed, or that are listed twice.
func checkKernel(k fitting.Kernel) (wrong settings.Faults) {
	expressions := Expressions(k, AutoKernels)
	for i, expression := range expressions {
		err := kernel.Check(expression)
		wrong = append(wrong, err,
			faults.If(err == nil && slices.Contains(expressions[:i], expression),
				"kernel: %s twice", expression),
		)
	}
	return wrong
}

// Monotone returns the inputs of Monotone. From is 1 and To is 0 if predictions fall as the input
// rises.
func Monotone(k fitting.Kernel, inputs []kernel.Input) (ways posterior.Monotone, err error) {
	columns, down, err := columnsWithWays(k)
	for i, name := range columns {
		at, err := kernel.Find(inputs, name)
		if err != nil {
			return nil, faults.Usage("monotone: %w", err)
		}
		if inputs[at[0]].Category != "" {
			return nil, faults.Usage("monotone: %.200q is a column of categories, which have no "+
				"order: name a column of numbers", name)
		}
		ways = append(ways, posterior.Axis{Input: at[0], To: 1})
		if down[i] {
			ways[i].From = 1
			ways[i].To = 0
		}
	}
	return ways, err
}

// CheckColumns reports kernels on columns that aren't inputs.
func CheckColumns(k fitting.Kernel, inputs []kernel.Input) error {
	for _, expression := range Expressions(k, AutoKernels) {
		if _, err := kernel.Parse(expression, len(inputs), false, inputs...); err != nil {
			return faults.AsUsage(err)
		}
	}
	return nil
}

// checkPrior reports settings of the prior that its kind doesn't have, an impossible share of prior
// rows, and an impossible grid.
func checkPrior(p fitting.Prior) settings.Faults {
	return settings.Faults{
		faults.If(p.Kind == "grid" && (p.Learn || len(p.Temper) > 0),
			"temper and posterior learnt are for prior informed: the grid's prior isn't learnt"),
		faults.If(p.Kind == "informed" && p.Mixed,
			"grid: only for --prior grid; an informed prior's parameters aren't rounded to a "+
				"grid"),
		faults.If(!(p.Share >= 0 && p.Share <= 1) || (p.Share == 1 && (p.Kind == "grid" ||
			p.Learn)),
			"prior-share %v: want a share in (0, 1), or 1 for an informed prior that nothing "+
				"is learnt after: all rows then train, and none is certified", p.Share),
		p.Grid.Validate(),
	}
}

// checkPromise reports an unknown loss, an impossible ε, and a second width that the loss doesn't
// take.
func checkPromise(p fitting.Promise) settings.Faults {
	kind, err := pacbayes.ParseLoss(p.Loss)
	if err != nil {
		return settings.Faults{err}
	}
	err = Loss(p, kind).Validate()
	return settings.Faults{
		faults.Of(err, "epsilon: %w"),
		faults.If(err == nil && kind != pacbayes.Asymmetric && p.EpsilonAbove != 0,
			"epsilon: two widths are for the asymmetric loss, not %q", kind),
	}
}

// checkRun reports options of the run that exclude one another, and an init that JSON can't hold.
func checkRun(r fitting.Run) settings.Faults {
	_, err := json.Marshal(r.Init)
	return settings.Faults{
		faults.If(r.Budget > 0 && r.Declared != "",
			"budget: what a declaration has tried doesn't depend on time"),
		faults.If(r.FixParameters && (r.Init == nil || r.Restarts > 1),
			"fix-parameters: give the parameters as init, and no restarts"),
		faults.Of(err, "init: %w"), // for example NaN: options are kept as JSON
	}
}

// checkTogether reports what can't be combined in the kernel, the method, the prior and the
// promise.
func (o Asked) checkTogether() settings.Faults {
	bound := o.Method.Kind().Bound != ""
	return slices.Concat(settings.Faults{
		faults.If(o.Method.InducingBy == "theory" &&
			!slices.Contains([]string{"se", "matern32", "matern52"}, o.Kernel.Expression),
			"inducing theory: eigenvalues are known of the kernels se, matern32 and "+
				"matern52, not of %s", o.Kernel.Expression),
		faults.If(o.Informed() && o.Run.Init != nil,
			"init: an informed prior is learnt on the prior rows alone, and given parameters "+
				"may have been learnt on others; with prior grid they may start training"),
		faults.If(o.Run.Budget != 0 && !o.Informed(),
			"budget: it is for choices among kernels on prior rows, with prior informed: a "+
				"choice on the certified rows is paid for whether it was tried or not"),
		faults.If(o.Data.Group != "" && o.Promise.Population != "",
			"population same: it promises for rows of known units, group for new ones: leave "+
				"one of them out"),
		faults.If((o.Promise.Curve || len(o.Promise.Slices) > 0) && o.Data.Split == "last",
			"curve, slices: a backtest promises nothing of any width, nor of any kind of rows"),
		faults.If(o.Promise.Curve && o.Data.Group != "",
			"curve: groups have no curve, since a group's loss is the share of its rows that "+
				"miss"),
		faults.If(len(o.Promise.Slices) > 0 && o.Data.Group != "",
			"slices: groups have no slices, since a group's loss is the share of its rows "+
				"that miss"),
		o.Observed().Goes(o.features()),
		faults.When(o.Kernel.Monotone != nil, o.unordered(), "monotone: %w"),
		faults.When(o.Run.Deliver == "all", o.CheckDelivered(), "%w"),
		faults.If(pacbayes.Kind(o.Promise.Loss).OwnSD() && (bound || o.Method.Term == "loss"),
			"loss %s: it counts the standard deviations that training finds, so that %s "+
				"can't be trained by it: use an objective such as evidence or nearest, with a "+
				"term of its own", o.Promise.Loss, o.Method.Name),
		faults.If(o.Prior.Mixed && !bound,
			"grid with a choice of digits: it is for kl-pac and sqrt-pac, which train for "+
				"the bound, not %s", o.Method.Name),
		faults.If(o.Promise.MeanBound == pacbayes.Direct && len(o.Prior.Temper) > 1,
			"temper: a mean bounded directly doesn't depend on it; give one factor, or "+
				"mean-bound both or twice"),
	}, o.checkTerms())
}

// checkTerms checks whether the terms suit the route. Other checks of terms are checks of options.
func (o Asked) checkTerms() settings.Faults {
	kind, err := pacbayes.ParseLoss(o.Promise.Loss)
	if err != nil || settings.CheckAll(&o.Promise) != nil {
		return nil
	}
	return settings.Faults{o.Terms(Loss(o.Promise, kind), 1).CheckRoute()}
}

// Likelihood returns the name of the noise that a fit trains; "" is Gaussian.
func (o Asked) Likelihood() string {
	if o.Kernel.Noise == objective.StudentName || o.Sited() != nil {
		return o.Kernel.Noise
	}
	return o.Method.Likelihood()
}

// unordered says why the predictions can't be monotone, or returns nil.
func (o Asked) unordered() error {
	columns, _, err := columnsWithWays(o.Kernel)
	return faults.First(
		err,
		faults.If(len(columns) > 2 || (len(columns) == 2 && columns[0] == columns[1]),
			"it takes one column or two different ones, because each row is predicted at "+
				"every knot of a grid on these columns"),
		faults.If(!o.certifiesMean(),
			"a random draw of the model isn't monotone, so that it takes a mean that is "+
				"certified by its own misses: prior informed, nothing learnt after it, and "+
				"mean-bound direct"),
		faults.If(o.Method.Kind().Bound != "",
			"%s trains for a bound on its own mean: take an objective such as evidence or "+
				"nearest", o.Method.Name),
		faults.If(o.Data.Beside != nil, "it is of one target: fit each target alone"),
	)
}

// CheckDelivered reports options whose models have no sibling on all rows.
func (o Asked) CheckDelivered() error {
	return faults.First(
		faults.UsageIf(!o.Informed() || o.Learns(),
			"deliver all: it is for informed priors that nothing is learnt after, as by "+
				"default: other models are trained on the certified rows themselves"),
		faults.UsageIf(o.TrainsAll(),
			"deliver all: all rows train the model itself, and none certifies it: leave it out"),
	)
}

// checkBacktest reports what can't be computed for a backtest or for groups.
func (o Asked) checkBacktest(evaluating bool) settings.Faults {
	last := o.Data.Split == "last"
	return settings.Faults{
		faults.If(o.Promise.Calibration > 0 && (o.Data.Group != "" || last),
			"calibration-fraction: conformal intervals are about rows that could change "+
				"places, which rows of groups, or of other times, can't: leave it out with group "+
				"and split last"),
		faults.If(last && !evaluating && (!o.certifiesMean() || o.Promise.Share > 0),
			"split last: a backtest is of a mean that didn't see the last rows, and promises "+
				"nothing: it needs prior informed, nothing learnt after it, mean-bound direct, "+
				"and no promise"),
	}
}

// CheckPredictor reports what an informed prior without a factor can't have.
// Only its mean is a fixed function of the prior rows, so only its mean can be certified.
func (o Asked) CheckPredictor(solver string) error {
	if solver != posterior.ByCG && solver != posterior.ByNearest {
		return nil
	}
	return faults.First(
		faults.UsageIf(o.Learns(),
			"posterior learnt or free after a prior solved by %s: its covariance isn't "+
				"factored, so that nothing can be learnt after it", solver),
		faults.UsageIf(o.Promise.MeanBound != pacbayes.Direct || o.Prior.Temper[0] != 1,
			"mean-bound %s with a prior solved by %s: its mean alone can be certified, "+
				"directly, and it isn't tempered", o.Promise.MeanBound, solver),
	)
}

// CheckSpread reports options that need all rows on one rank.
func (o Asked) CheckSpread(r ranks.Ranks) error {
	part := cmp.Or(append(o.Observed().OneRank(),
		spelling.If(Encodes(o.Data), "an encoding of categories or missing values"),
		spelling.If(o.Method.AlphaBy == "cv", "alpha cv"),
		spelling.If(o.Data.Group != "", "group"),
		spelling.If(len(o.Promise.Slices) > 0, "slices"),
		spelling.If(o.Kernel.Monotone != nil, "a monotone prediction"))...)
	return faults.UsageIf(part != "" && r.Size() > 1, "%s isn't spread over ranks: use one", part)
}

// CheckCounts reports too few rows, or groups, for the options.
func (o Asked) CheckCounts(source string, units, test, calibration, prior int) error {
	what := spelling.Either(o.Data.Group != "", "groups", "rows")
	rows := units - test - calibration
	if rows < 2 {
		return fmt.Errorf("%s: %d %s less %d for testing and %d for calibration leave %d to "+
			"train on: set aside fewer", source, units, what, test, calibration, max(rows, 0))
	}
	if o.Promise.Calibration > 0 && calibration < model.LeastCalibration {
		return fmt.Errorf("calibration-fraction %v: that is %d of the %d rows of %s, and "+
			"conformal intervals need %d", o.Promise.Calibration, calibration, units, source,
			model.LeastCalibration)
	}
	if left := rows - prior; left < 2 && !o.TrainsAll() {
		purpose := "the scaling"
		instead := "declare the scaling's constants"
		if calibration > 0 || o.Prior.Share > 0 || o.Informed() {
			purpose = fmt.Sprintf("the prior and %d for calibration", calibration)
			instead = "set aside fewer"
		}
		return fmt.Errorf("%s: %d %s less %d for testing and %d for %s leave %d to train on: use "+
			"more %s, or %s", source, units, what, test, prior, purpose, max(left, 0),
			what, instead)
	}
	return nil
}
