package krigo

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/kernel"
	"github.com/krigo-gp/krigo/method"
	"github.com/krigo-gp/krigo/model"
	"github.com/krigo-gp/krigo/pacbayes"
)

// What is trained: the families of priors that are tried, with their terms, and the rows of each stage.

// family is a kernel and mean function whose parameters are trained.
type family struct {
	name   string
	of     string // the expression; kernels with one lengthscale and with several have the same
	kernel kernel.Kernel
	mean   kernel.Mean
	terms  pacbayes.Terms // of a certificate with a prior of this family
	held   bool           // the prior's parameters stay where training starts
}

func (f family) gridParams() int { return len(f.kernel.Params()) + len(f.mean.Params()) }

// families are the kernels that are tried, on inputs of dim columns.
func (k Kernel) families(dim int) (fs []family) {
	mean, _ := model.MeanOf(k.Mean, dim)
	for _, expression := range k.expressions() {
		for _, ard := range []bool{false, true} {
			if ard && k.ARD == "off" || !ard && k.ARD == "on" {
				continue
			}
			parsed, _ := kernel.Parse(expression, dim, ard) // checked with the options
			flat, _ := kernel.Parse(expression, dim, false)
			if k.ARD == "auto" && ard && (dim == 1 || slices.Equal(parsed.Params(), flat.Params())) {
				continue // nothing to choose
			}
			name := expression
			if ard {
				name = ardName(name)
			}
			fs = append(fs, family{name: name, of: expression, kernel: parsed, mean: mean})
		}
	}
	return fs
}

// spec is the family's kernel with every parameter 1.
func (f family) spec() kernel.Spec { return f.kernel.Spec(make([]float64, len(f.kernel.Params()))) }

// sameShape says whether kernels differ in the values of their parameters at most.
func sameShape(a, b kernel.Spec) bool {
	return a.Name == b.Name && len(a.Lengthscales) == len(b.Lengthscales) && len(a.Parameters) == len(b.Parameters) &&
		slices.EqualFunc(a.Parts, b.Parts, sameShape)
}

// ardName is the name of a kernel with one lengthscale an input.
func ardName(expression string) string { return expression + " (ARD)" }

// A mixed p_θ gives each of three grids, of 0, 1 and 2 digits, a third: p_θ ≥ ⅓/|Θ_r| for
// every θ of the grid r, so that ln 3 pays for the choice of r. Under ARD it also gives a fifth
// each to kernels with a lengthscale of its own for every input and to those with 1, 2, 3
// or 4 different ones: k values and an assignment, of which there are k^d, cost k ln|Θ_r| and
// d ln k nats in the place of d ln|Θ_r|. Few inputs have a lengthscale that is worth its digits.
const (
	mixedDigits = 3
	maxTied     = 4
)

// inputLengthscales lists the parameters that are lengthscales of single inputs.
func (f family) inputLengthscales() (at []int) {
	for i, q := range f.kernel.Params() {
		if q.Kind == kernel.Lengthscale && q.Dim >= 0 {
			at = append(at, i)
		}
	}
	return at
}

// mix sets what a mixed p_θ costs with so many different lengthscales; 0: all of their own.
func (f family) mix(t *pacbayes.Terms, tied int) {
	t.Resolutions = mixedDigits
	if d := len(f.inputLengthscales()); d > 1 {
		t.Structures = maxTied + 1
		if tied > 0 {
			t.Lengthscales, t.Tied = d, tied
			t.Params -= d - tied
		}
	}
}

// coarser is the family on another grid, with so many different lengthscales, and perhaps its parameters held.
func (f family) coarser(grid pacbayes.Grid, tied int, held bool) family {
	f.terms.Grid, f.held = grid, held
	f.mix(&f.terms, tied)
	return f
}

// gridTerms returns the terms of a family's prior on the grid for whose certificate nothing is promised.
func (d *dealt) gridTerms(f family, choices int) pacbayes.Terms {
	return pacbayes.Terms{Loss: d.loss, Delta: d.options.Promise.Delta, Grid: d.options.Prior.Grid, Params: f.gridParams(),
		Choices: choices}
}

// terms returns the terms of the certificate for a family of priors, one of so many choices.
func (d *dealt) terms(f family, choices int) pacbayes.Terms {
	t := d.options.priorTerms(f, choices, d.scaling)
	t.PriorRows, t.Encoded = d.roles.Count(dataset.Prior), d.data.Encoding != nil
	return t
}

// priorTerms returns what options say of these terms, in the units of a scaling.
func (o Options) priorTerms(f family, choices int, s dataset.Scaling) pacbayes.Terms {
	loss, epsilon := o.Promise.scaled(s)
	t := o.terms(loss, choices)
	t.EpsilonRaw = epsilon
	if !t.Informed { // else nothing lies on a grid
		t.Params = f.gridParams()
	}
	t.Group, t.Backtest = o.Data.Group, o.Data.Split == "last"
	t.Copies = o.Data.Reading.Distinct || o.Data.Group == dataset.EqualRows
	if o.Prior.Mixed {
		f.mix(&t, 0)
	}
	return t
}

// stage is a share of the rows and how it is trained on. A fit with a prior on the grid is one stage. An informed fit
// is one that learns the prior, and perhaps a second one that learns the posterior. A sibling is one more, on other
// rows.
type stage struct {
	share
	choice   method.Choice
	families []family // the priors that are tried, each with the terms of its certificate
	init     *Params  // where training starts; nil: at points of its own
	given    bool     // nothing is trained: the parameters of init are the result
	restarts int      // starting points of each family; 0: by the method
}

// priorStage learns an informed fit's prior on the prior rows. A method that trains for a bound does so as if these
// rows were certified with a prior on the grid.
func (d *dealt) priorStage() (stage, error) {
	rows, err := d.take(dataset.Prior)
	o := d.options
	return stage{share: rows, choice: priorMethod(o.Method), families: priced(o.Kernel.families(d.data.Cols), d.gridTerms),
		restarts: o.Run.Restarts}, err
}

// posteriorStage learns Q on the certified rows, from the priors that an informed fit chooses among. The prior has m
// inducing inputs.
func (d *dealt) posteriorStage(certified share, priors []family, m int) stage {
	return stage{share: certified, choice: posteriorMethod(d.options.Method, m), families: priced(priors, d.terms),
		restarts: d.options.Run.Restarts}
}

// siblingStage trains a model's sibling on d's prior rows: the evidence of all rows anew, other methods with the
// model's kernel from where its training ended.
func (d *dealt) siblingStage(m *model.Model) (stage, error) {
	s, err := d.priorStage()
	if err != nil || !s.choice.OnBatches() && s.choice.Kind().Exact {
		return s, err
	}
	at := m.Trained()
	s.init, s.restarts = &Params{Kernel: at.Kernel.Spec(at.Theta), NoiseVariance: at.Noise}, 1
	if b := at.Beta; len(b) > 0 {
		s.init.Mean = &MeanParams{Constant: b[0], Linear: b[1:]}
	}
	i := slices.IndexFunc(s.families, func(f family) bool { return sameShape(f.spec(), s.init.Kernel) })
	if i < 0 {
		return s, fmt.Errorf("the model's kernel, %s, is none of those that it says were tried", s.init.Kernel)
	}
	s.families = priced(s.families[i:i+1], d.gridTerms)
	return s, nil
}

// priced returns families with the terms of their certificates, one of which is chosen.
func priced(families []family, terms func(f family, choices int) pacbayes.Terms) []family {
	for i, f := range families {
		families[i].terms = terms(f, len(families))
	}
	return families
}

// priorMethod is how a method trains an informed prior: no free-form posterior follows, and α is learnt by bounds
// alone.
func priorMethod(c method.Choice) method.Choice {
	if c.Free() {
		c.Posterior = "objective"
	}
	if c.Kind().Bound == "" && c.Learns() {
		c.AlphaBy = ""
	}
	return c
}

// posteriorMethod is how a posterior is learnt after an informed prior with m inducing inputs: by the prior's method if
// that trains for a bound, else by kl-pac.
func posteriorMethod(c method.Choice, m int) method.Choice {
	if c.Kind().Bound == "" {
		kl := method.Choice{Name: method.KLPACName, Inducing: c.Inducing, InducingBy: c.InducingBy,
			InducingInit: c.InducingInit, FixInducing: c.FixInducing, Posterior: c.Posterior, Epochs: c.Epochs,
			Optimizer: "lbfgs"}
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
