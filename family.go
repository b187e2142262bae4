package krigo

import (
	"slices"

	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/kernel"
	"github.com/krigo-gp/krigo/model"
	"github.com/krigo-gp/krigo/pacbayes"
)

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
			if k.ARD == "auto" && ard && (dim == 1 || !kernel.HasLengthscales(parsed)) {
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
	t.PriorRows, t.Encoded = d.priorRows(), d.data.Encoding != nil
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
