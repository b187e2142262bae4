package krigo

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/internal/lists"
	"github.com/krigo-gp/krigo/kernel"
	"github.com/krigo-gp/krigo/method"
	"github.com/krigo-gp/krigo/model"
	"github.com/krigo-gp/krigo/objective"
	"github.com/krigo-gp/krigo/pacbayes"
)

// What is trained: the families of priors that krigo tries, with their terms, and the rows of each
// stage.

// family is a kernel and a mean function whose parameters are trained.
type family struct {
	name   string
	of     string // the expression; kernels with one lengthscale and with several have the same
	kernel kernel.Kernel
	mean   kernel.Mean
	terms  pacbayes.Terms // terms of a certificate with a prior of this family
	doubt  float64        // the nats by which the evidence must be larger than other kernels'
	alike  bool           // the inputs' lengthscales are alike a priori
	held   bool           // the prior's parameters stay where training starts
}

func (f family) gridParams() int { return len(f.kernel.Params()) + len(f.mean.Params()) }

// families returns the kernels to try, for these inputs.
func (o Asked) families(inputs []kernel.Input) (fs []family) {
	dim := len(inputs)
	k := o.Kernel
	mean, _ := model.MeanOf(k.Mean, dim)
	for _, expression := range k.expressions(o.auto(dim)) {
		for _, ard := range []bool{false, true} {
			if (ard && k.ARD == "off") || (!ard && k.ARD == "on") {
				continue
			}
			parsed, err := kernel.Parse(expression, dim, ard, inputs...)
			if err != nil {
				// checkColumns has told it already; the columns of a forged file may be wrong
				continue
			}
			flat, _ := kernel.Parse(expression, dim, false, inputs...)
			if k.ARD == "auto" && ard && len(parsed.Params()) == len(flat.Params()) {
				continue // the two kernels are the same
			}
			name := expression
			if ard {
				name = ardName(name)
			}
			fs = append(fs, family{name: name, of: expression, kernel: parsed, mean: mean,
				doubt: o.doubt(expression)})
		}
	}
	return fs
}

// additiveDoubt is by how many nats the additive kernel must have more evidence than other kernels.
// On ten folds it has slightly more on fertility, where it is 2.6 % worse (.7 % with the doubt),
// and machine (1.1 and .7 %). Servo gains 5 % instead of 7, and concreteslump and autos gain as
// much as without it.
const additiveDoubt = 0.5

// lineDoubt is additiveDoubt for a straight line beside the best kernel.
// On ten folds the line takes 6 % off the RMSE of concreteslump, where it has 4 to 10 nats more
// evidence. Between 0 and 1.5 nats it costs as often as it gains:
// 3 % on carseats, and 23 % on a fold of machine.
// A line with one lengthscale for all inputs has up to 8 nats more evidence on breastcancer and
// meats, and more error on half of their folds.
const lineDoubt = 1.5

// stepsDoubt is additiveDoubt for the kernel steps, for each row.
// On drawn step functions steps has .1 to .5 nats a row more evidence, and 25 to 55 % less error.
// On real tables whose best kernel is rough it has up to .08 nats a row more and is as often worse,
// since it learns 17 parameters for each input.
// If the best kernel is smooth, it has up to .16 nats a row more:
// its error is 33 % lower on mpg, 13 % higher on boston and 35 % higher on a split of hitters.
const stepsDoubt = 1. / 11

// labelDoubt is additiveDoubt for labels, which say little of a kernel, and the nats by which the
// objective at its mode must be lower for the linear kernel than for all others.
// There the linear kernel is lower by 5 to 15 nats on Pima and biopsy, and its log loss by 3 and 16
// %. It is lower by 2 to 3 nats on two_class_dat, where it costs 3 %.
// Integrated evidence differs by less than 2.7 nats on Pima, and says nothing.
// The additive kernel has up to 2.5 nats more evidence than matern32 on Pima and two_class_dat, and
// costs 1 and 2 %.
const labelDoubt = 4

// doubt returns the doubt about the kernel of an expression.
func (o Asked) doubt(expression string) float64 {
	switch {
	case expression != autoAdditive:
		return 0
	case o.labels():
		return labelDoubt
	}
	return additiveDoubt
}

// possible returns all families that a fit may end with.
func (o Asked) possible(inputs []kernel.Input) []family {
	fs := o.families(inputs)
	for _, f := range slices.Clip(fs) {
		fs = append(fs, o.further(f, inputs, 0)...)
	}
	return fs
}

// further returns the families that auto tries after all others, if best is the best of them for
// rows rows: best with a straight line; and steps, if best is as rough as it was on every drawn
// step function. krigo tries them if choosing a kernel costs nothing, and not for classes and
// counts.
func (o Asked) further(best family, inputs []kernel.Input, rows int) (fs []family) {
	expressions := kernel.Split(o.Kernel.Expression)
	if !slices.Contains(expressions, autoKernel) || !o.choosesFreely() ||
		(o.sited() != nil && o.Kernel.Noise != objective.StudentName) {
		return nil
	}
	ard := strings.Contains(best.name, ardName(""))
	add := func(expression string, doubt float64) {
		f := best
		f.name = strings.Replace(best.name, best.of, expression, 1)
		f.of = expression
		f.doubt = doubt
		f.kernel, _ = kernel.Parse(expression, len(inputs), ard, inputs...)
		if !slices.Contains(expressions, expression) {
			fs = append(fs, f)
		}
	}
	if !strings.HasSuffix(best.of, autoLinear) {
		add(best.of+"+"+autoLinear, lineDoubt)
	}
	rough := best.of == autoAdditive || best.of == autoKernels[0]
	if rough && len(inputs) <= mostAdditive {
		add(autoSteps, stepsDoubt*float64(rows))
	}
	return fs
}

// spec returns the family's kernel with every parameter set to 1.
func (f family) spec() kernel.Spec { return f.kernel.Spec(make([]float64, len(f.kernel.Params()))) }

// sameShape says whether two kernels are equal except for the values of their parameters.
func sameShape(a, b kernel.Spec) bool {
	return kernel.SameKernel(a.Name, b.Name) && len(a.Lengthscales) == len(b.Lengthscales) &&
		len(a.Parameters) == len(b.Parameters) && slices.EqualFunc(a.Parts, b.Parts, sameShape)
}

// ardName names the kernel with one lengthscale per input.
func ardName(expression string) string { return expression + " (ARD)" }

// A mixed p_θ gives a third of its mass to each of three grids, of 0, 1 and 2 digits.
// So p_θ ≥ ⅓/|Θ_r| for every θ of the grid r, and ln 3 pays for the choice of r.
// Under ARD it also gives a fifth to kernels with a separate lengthscale for every input, and a
// fifth each to kernels with 1, 2, 3 or 4 different lengthscales.
// A kernel with k different lengthscales costs k ln|Θ_r| nats for their values, and d ln k nats for
// the assignment of d inputs to them (there are k^d assignments), instead of d ln|Θ_r|.
// Few inputs need a lengthscale with all its digits.
const (
	mixedDigits = 3
	maxTied     = 4
)

// inputLengthscales returns the indices of parameters that are the lengthscale of a single input.
func (f family) inputLengthscales() []int {
	params := f.kernel.Params()
	return lists.Where(len(params), func(i int) bool {
		return params[i].Kind == kernel.Lengthscale && params[i].Dim >= 0
	})
}

// mix sets what a mixed p_θ costs with tied different lengthscales.
// If tied is 0, every input has its own.
func (f family) mix(t *pacbayes.Terms, tied int) {
	t.Resolutions = mixedDigits
	if d := len(f.inputLengthscales()); d > 1 {
		t.Structures = maxTied + 1
		if tied > 0 {
			t.Lengthscales = d
			t.Tied = tied
			t.Params -= d - tied
		}
	}
}

// coarser returns the family on another grid, with tied different lengthscales.
// If held, its parameters stay where training starts.
func (f family) coarser(grid pacbayes.Grid, tied int, held bool) family {
	f.terms.Grid = grid
	f.held = held
	f.mix(&f.terms, tied)
	return f
}

// gridTerms returns the terms of a certificate with a family's prior on the grid.
// These terms contain no promise.
func (d *dealt) gridTerms(f family, choices int) pacbayes.Terms {
	return pacbayes.Terms{Loss: d.loss, Delta: d.options.Promise.Delta, Grid: d.options.Prior.Grid,
		Params: f.gridParams(), Choices: choices}
}

// terms returns the terms of a family's certificate.
// choices is the number of families among which the certified rows choose.
func (d *dealt) terms(f family, choices int) pacbayes.Terms {
	t := d.options.priorTerms(f, choices, d.scaling)
	t.PriorRows = d.roles.Count(dataset.Prior)
	t.Encoded = d.data.Encoding != nil
	return t
}

// priorTerms returns the terms that the options decide, in the units of a scaling.
func (o Asked) priorTerms(f family, choices int, s dataset.Scaling) pacbayes.Terms {
	loss, epsilon := o.Promise.scaled(s)
	t := o.terms(loss, choices)
	t.EpsilonRaw = epsilon
	if !t.Informed { // an informed prior isn't rounded to a grid
		t.Params = f.gridParams()
	}
	t.Group = o.Data.Group
	t.Backtest = o.Data.Split == "last"
	t.Copies = o.Data.Reading.Distinct || o.Data.Group == dataset.EqualRows
	if o.Prior.Mixed {
		f.mix(&t, 0)
	}
	return t
}

// stage says which rows to train on, and how. A fit with a prior on the grid has one stage.
// An informed fit has a stage that learns the prior, and perhaps a second one that learns the
// posterior. A sibling has one more stage, on other rows.
type stage struct {
	share
	choice   method.Choice
	families []family // the priors to try, each with the terms of its certificate
	init     *Params  // where training starts; nil: krigo chooses
	given    bool     // nothing is trained: init's parameters are the result
	restarts int      // starting points of each family; 0: the method decides
}

// gridStage learns the posterior on the certified rows, which also choose the prior on the grid.
func (d *dealt) gridStage(certified share) stage {
	o := d.options
	return stage{share: certified, choice: o.Method, families: d.priced(o.families(d.inputs())),
		init: o.Run.Init, given: o.Run.FixParameters, restarts: o.Run.Restarts}
}

// priorStage learns an informed fit's prior on the prior rows.
// If the method minimises a bound, it treats the prior rows as if they were certified rows and the
// prior were on the grid.
func (d *dealt) priorStage() (stage, error) {
	rows, err := d.take(dataset.Prior)
	o := d.options
	return stage{share: rows, choice: priorMethod(o.Method),
		families: d.pricedOnGrid(o.families(d.inputs())), restarts: o.Run.Restarts}, err
}

// posteriorStage learns Q on the certified rows, from the priors that an informed fit chooses
// among. m is the number of the prior's inducing inputs.
func (d *dealt) posteriorStage(certified share, priors []family, m int) stage {
	return stage{share: certified, choice: posteriorMethod(d.options.Method, m),
		families: d.priced(priors), restarts: d.options.Run.Restarts}
}

// siblingStage trains a model's sibling on d's prior rows.
// The evidence of a full GP is trained again from the start.
// Other methods keep the model's kernel, and start where the model's training ended.
func (d *dealt) siblingStage(m *model.Model) (stage, error) {
	s, err := d.priorStage()
	if err != nil || (!s.choice.OnBatches() && s.choice.Kind().Exact) {
		return s, err
	}
	at := m.Trained()
	s.init = &Params{Kernel: at.Kernel.Spec(at.Theta), NoiseVariance: at.Noise}
	s.restarts = 1
	if b := at.Beta; len(b) > 0 {
		s.init.Mean = &MeanParams{Constant: b[0], Linear: b[1:]}
	}
	i := slices.IndexFunc(s.families, func(f family) bool {
		return sameShape(f.spec(), s.init.Kernel)
	})
	if i < 0 {
		return s, fmt.Errorf("the model's kernel, %s, isn't among the kernels that it says "+
			"were tried", s.init.Kernel)
	}
	s.families = d.pricedOnGrid(s.families[i : i+1])
	return s, nil
}

// priced returns the families with the terms of their certificates.
// The terms pay for choosing one of the families.
func (d *dealt) priced(families []family) []family {
	for i, f := range families {
		families[i].terms = d.terms(f, len(families))
	}
	return families
}

// pricedOnGrid returns the families with the terms that a prior on the grid would have.
func (d *dealt) pricedOnGrid(families []family) []family {
	for i, f := range families {
		families[i].terms = d.gridTerms(f, len(families))
	}
	return families
}

// priorMethod returns how method c trains an informed prior.
// A prior has no free-form posterior, and only a method that minimises a bound learns α.
func priorMethod(c method.Choice) method.Choice {
	if c.Free() {
		c.Posterior = "objective"
	}
	if c.Kind().Bound == "" && c.Learns() {
		c.AlphaBy = ""
	}
	return c
}

// posteriorMethod returns how a posterior is learnt after an informed prior with m inducing inputs:
// with the prior's method if it minimises a bound, else with kl-pac.
func posteriorMethod(c method.Choice, m int) method.Choice {
	if c.Kind().Bound == "" {
		kl := method.Choice{Name: method.KLPACName, Inducing: c.Inducing, InducingBy: c.InducingBy,
			InducingInit: c.InducingInit, FixInducing: c.FixInducing, Posterior: c.Posterior,
			Epochs: c.Epochs, Optimizer: "lbfgs"}
		if c.Learns() {
			kl.AlphaBy = c.AlphaBy
		}
		c = kl.WithDefaults()
	}
	c.Inducing = cmp.Or(c.Inducing, m)
	if c.Inducing == 0 && !c.Free() {
		c.InducingBy = "none"
	} else if c.Full() {
		c.InducingBy = ""
	}
	return c
}
