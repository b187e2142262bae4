package plan

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/fitting"
	"github.com/krigo-gp/krigo/internal/fit/ask"
	"github.com/krigo-gp/krigo/internal/fit/deal"
	"github.com/krigo-gp/krigo/internal/lists"
	"github.com/krigo-gp/krigo/kernel"
	"github.com/krigo-gp/krigo/method"
	"github.com/krigo-gp/krigo/model"
	"github.com/krigo-gp/krigo/objective"
	"github.com/krigo-gp/krigo/pacbayes"
)

// What is trained: the families of priors that krigo tries, with their terms, and the rows of each
// stage.

// Family is a kernel and a mean function whose parameters are trained.
type Family struct {
	Name   string
	Of     string // the expression; kernels with one lengthscale and with several have the same
	Kernel kernel.Kernel
	Mean   kernel.Mean
	Terms  pacbayes.Terms // terms of a certificate with a prior of this family
	Doubt  float64        // the nats by which the evidence must be larger than other kernels'
	Held   bool           // the prior's parameters stay where training starts
}

// GridParams returns the number of the prior's parameters, [θ, β], which lie on the grid.
func (f Family) GridParams() int { return len(f.Kernel.Params()) + len(f.Mean.Params()) }

// Families returns the kernels to try, for these inputs.
func Families(o ask.Asked, inputs []kernel.Input) (fs []Family) {
	dim := len(inputs)
	k := o.Kernel
	mean, _ := model.MeanOf(k.Mean, dim)
	for _, expression := range ask.Expressions(k, o.Auto(inputs)) {
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
				name = ArdName(name)
			}
			fs = append(fs, Family{Name: name, Of: expression, Kernel: parsed, Mean: mean,
				Doubt: doubt(o, expression)})
		}
	}
	return fs
}

// stepsDoubt is by how many nats a row the kernel steps must have more evidence than other kernels.
// On drawn step functions steps has .1 to .5 nats a row more evidence, and 25 to 55 % less error.
// On real tables whose best kernel is rough it has up to .08 nats a row more and is as often worse,
// since it learns 17 parameters for each input.
// If the best kernel is smooth, it has up to .16 nats a row more:
// its error is 33 % lower on mpg, 13 % higher on boston and 35 % higher on a split of hitters.
const stepsDoubt = 1. / 11

// LabelDoubt is by how many nats the additive kernel must have more evidence than other kernels for
// labels, which say little of a kernel, and by how many the objective at its mode must be lower for
// the linear kernel than for all others.
// There the linear kernel is lower by 5 to 15 nats on Pima and biopsy, and its log loss by 3 and 16
// %. It is lower by 2 to 3 nats on two_class_dat, where it costs 3 %.
// Integrated evidence differs by less than 2.7 nats on Pima, and says nothing.
// The additive kernel has up to 2.5 nats more evidence than matern32 on Pima and two_class_dat, and
// costs 1 and 2 %.
const LabelDoubt = 4

// doubt returns the doubt about the kernel of an expression.
// On 62 splits of 54 tables of numbers a doubt about the additive kernel, or about a straight line
// beside the best kernel, changes the RMSE by less than .3 % in the mean (one split of gas: 77 %).
func doubt(o ask.Asked, expression string) float64 {
	if expression == ask.AutoAdditive && o.Labels() {
		return LabelDoubt
	}
	return 0
}

// Possible returns all families that a fit may end with.
func Possible(o ask.Asked, inputs []kernel.Input) []Family {
	fs := Families(o, inputs)
	for _, f := range slices.Clip(fs) {
		fs = append(fs, Further(o, f, inputs, 0)...)
	}
	return fs
}

// Further returns the families that auto tries after all others, if best is the best of them for
// rows rows: best with a straight line; and steps, if best is as rough as it was on every drawn
// step function. krigo tries them if choosing a kernel costs nothing, and not for classes and
// counts.
func Further(o ask.Asked, best Family, inputs []kernel.Input, rows int) (fs []Family) {
	expressions := kernel.Split(o.Kernel.Expression)
	if !slices.Contains(expressions, ask.AutoKernel) || !o.ChoosesFreely() ||
		(o.Sited() != nil && o.Kernel.Noise != objective.StudentName) {
		return nil
	}
	ard := strings.Contains(best.Name, ArdName(""))
	add := func(expression string, doubt float64) {
		f := best
		f.Name = strings.Replace(best.Name, best.Of, expression, 1)
		f.Of = expression
		f.Doubt = doubt
		f.Kernel, _ = kernel.Parse(expression, len(inputs), ard, inputs...)
		if !slices.Contains(expressions, expression) {
			fs = append(fs, f)
		}
	}
	if !strings.HasSuffix(best.Of, ask.AutoLinear) {
		add(best.Of+"+"+ask.AutoLinear, 0)
	}
	rough := best.Of == ask.AutoAdditive || best.Of == ask.AutoKernels[0]
	if rough && len(inputs) <= ask.MostAdditive {
		add(ask.AutoSteps, stepsDoubt*float64(rows))
	}
	return fs
}

// Spec returns the family's kernel with every parameter set to 1.
func (f Family) Spec() kernel.Spec { return f.Kernel.Spec(make([]float64, len(f.Kernel.Params()))) }

// SameShape says whether two kernels are equal except for the values of their parameters.
func SameShape(a, b kernel.Spec) bool {
	return kernel.SameKernel(a.Name, b.Name) && len(a.Lengthscales) == len(b.Lengthscales) &&
		len(a.Parameters) == len(b.Parameters) && slices.EqualFunc(a.Parts, b.Parts, SameShape)
}

// ArdName names the kernel with one lengthscale per input.
func ArdName(expression string) string { return expression + " (ARD)" }

// A mixed p_θ gives a third of its mass to each of three grids, of 0, 1 and 2 digits.
// So p_θ ≥ ⅓/|Θ_r| for every θ of the grid r, and ln 3 pays for the choice of r.
// Under ARD it also gives a fifth to kernels with a separate lengthscale for every input, and a
// fifth each to kernels with 1, 2, 3 or 4 different lengthscales.
// A kernel with k different lengthscales costs k ln|Θ_r| nats for their values, and d ln k nats for
// the assignment of d inputs to them (there are k^d assignments), instead of d ln|Θ_r|.
// Few inputs need a lengthscale with all its digits.
const (
	MixedDigits = 3
	MaxTied     = 4
)

// InputLengthscales returns the indices of parameters that are the lengthscale of a single input.
func (f Family) InputLengthscales() []int {
	params := f.Kernel.Params()
	return lists.Where(len(params), func(i int) bool {
		return params[i].Kind == kernel.Lengthscale && params[i].Dim >= 0
	})
}

// Mix sets what a mixed p_θ costs with tied different lengthscales.
// If tied is 0, every input has its own.
func (f Family) Mix(t *pacbayes.Terms, tied int) {
	t.Resolutions = MixedDigits
	if d := len(f.InputLengthscales()); d > 1 {
		t.Structures = MaxTied + 1
		if tied > 0 {
			t.Lengthscales = d
			t.Tied = tied
			t.Params -= d - tied
		}
	}
}

// Coarser returns the family on another grid, with tied different lengthscales.
// If held, its parameters stay where training starts.
func (f Family) Coarser(grid pacbayes.Grid, tied int, held bool) Family {
	f.Terms.Grid = grid
	f.Held = held
	f.Mix(&f.Terms, tied)
	return f
}

// gridTerms returns the terms of a certificate with a family's prior on the grid.
// These terms contain no promise.
func gridTerms(d *deal.Dealt, f Family, choices int) pacbayes.Terms {
	return pacbayes.Terms{Loss: d.Loss, Delta: d.Options.Promise.Delta, Grid: d.Options.Prior.Grid,
		Params: f.GridParams(), Choices: choices}
}

// Terms returns the terms of a family's certificate.
// choices is the number of families among which the certified rows choose.
func Terms(d *deal.Dealt, f Family, choices int) pacbayes.Terms {
	t := PriorTerms(d.Options, f, choices, d.Scaling)
	t.PriorRows = d.Roles.Count(dataset.Prior)
	t.Encoded = d.Data.Encoding != nil
	return t
}

// PriorTerms returns the terms that the options decide, in the units of a scaling.
func PriorTerms(o ask.Asked, f Family, choices int, s dataset.Scaling) pacbayes.Terms {
	loss, epsilon := deal.Scaled(o.Promise, s)
	t := o.Terms(loss, choices)
	t.EpsilonRaw = epsilon
	if !t.Informed { // an informed prior isn't rounded to a grid
		t.Params = f.GridParams()
	}
	t.Group = o.Data.Group
	t.Backtest = o.Data.Split == "last"
	t.Copies = o.Data.Reading.Distinct || o.Data.Group == dataset.EqualRows
	if o.Prior.Mixed {
		f.Mix(&t, 0)
	}
	return t
}

// Stage says which rows to train on, and how. A fit with a prior on the grid has one stage.
// An informed fit has a stage that learns the prior, and perhaps a second one that learns the
// posterior. A sibling has one more stage, on other rows.
type Stage struct {
	deal.Share
	Choice   method.Choice
	Families []Family        // the priors to try, each with the terms of its certificate
	init     *fitting.Params // where training starts; nil: krigo chooses
	Given    bool            // nothing is trained: init's parameters are the result
	Restarts int             // starting points of each family; 0: the method decides
}

// GridStage learns the posterior on the certified rows, which also choose the prior on the grid.
func GridStage(d *deal.Dealt, certified deal.Share) Stage {
	o := d.Options
	return Stage{Share: certified, Choice: o.Method, Families: Priced(d, Families(o, d.Inputs())),
		init: o.Run.Init, Given: o.Run.FixParameters, Restarts: o.Run.Restarts}
}

// PriorStage learns an informed fit's prior on the prior rows.
// If the method minimises a bound, it treats the prior rows as if they were certified rows and the
// prior were on the grid.
func PriorStage(d *deal.Dealt) (Stage, error) {
	rows, err := d.Take(dataset.Prior)
	o := d.Options
	return Stage{Share: rows, Choice: PriorMethod(o.Method),
		Families: pricedOnGrid(d, Families(o, d.Inputs())), Restarts: o.Run.Restarts}, err
}

// PosteriorStage learns Q on the certified rows, from the priors that an informed fit chooses
// among. m is the number of the prior's inducing inputs.
func PosteriorStage(d *deal.Dealt, certified deal.Share, priors []Family, m int) Stage {
	return Stage{Share: certified, Choice: posteriorMethod(d.Options.Method, m),
		Families: Priced(d, priors), Restarts: d.Options.Run.Restarts}
}

// SiblingStage trains a model's sibling on d's prior rows.
// The evidence of a full GP is trained again from the start.
// Other methods keep the model's kernel, and start where the model's training ended.
func SiblingStage(d *deal.Dealt, m *model.Model) (Stage, error) {
	s, err := PriorStage(d)
	if err != nil || (!s.Choice.OnBatches() && s.Choice.Kind().Exact) {
		return s, err
	}
	at := m.Trained()
	s.init = &fitting.Params{Kernel: at.Kernel.Spec(at.Theta), NoiseVariance: at.Noise}
	s.Restarts = 1
	if b := at.Beta; len(b) > 0 {
		s.init.Mean = &fitting.MeanParams{Constant: b[0], Linear: b[1:]}
	}
	i := slices.IndexFunc(s.Families, func(f Family) bool {
		return SameShape(f.Spec(), s.init.Kernel)
	})
	if i < 0 {
		return s, fmt.Errorf("the model's kernel, %s, isn't among the kernels that it says "+
			"were tried", s.init.Kernel)
	}
	s.Families = pricedOnGrid(d, s.Families[i:i+1])
	return s, nil
}

// Priced returns the families with the terms of their certificates.
// The terms pay for choosing one of the families.
func Priced(d *deal.Dealt, families []Family) []Family {
	for i, f := range families {
		families[i].Terms = Terms(d, f, len(families))
	}
	return families
}

// pricedOnGrid returns the families with the terms that a prior on the grid would have.
func pricedOnGrid(d *deal.Dealt, families []Family) []Family {
	for i, f := range families {
		families[i].Terms = gridTerms(d, f, len(families))
	}
	return families
}

// PriorMethod returns how method c trains an informed prior.
// A prior has no free-form posterior, and only a method that minimises a bound learns α.
func PriorMethod(c method.Choice) method.Choice {
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
