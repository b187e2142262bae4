package krigo

import (
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
			fs = append(fs, family{name, expression, parsed, mean})
		}
	}
	return fs
}

// spec is the family's kernel with every parameter 1.
func (f family) spec() kernel.Spec { return f.kernel.Spec(make([]float64, len(f.kernel.Params()))) }

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

// terms returns those of a certificate for a family of priors, by options that may differ from those of the data in
// how Q is found, one of so many choices; tied: different lengthscales of the mixed grid's prior, 0: as many as inputs.
func (d *dealt) terms(o Options, f family, choices, tied int) pacbayes.Terms {
	t := o.terms(d.loss, choices)
	t.EpsilonRaw, t.PriorRows = d.epsRaw, d.priorRows()
	if !t.Informed { // else nothing lies on a grid
		t.Params = f.gridParams()
	}
	t.Encoded = d.data.Encoding != nil
	t.Group, t.Backtest = o.Data.Group, o.Data.Split == "last"
	t.Copies = o.Data.Reading.Distinct || o.Data.Group == dataset.EqualRows
	if o.Prior.Mixed {
		f.mix(&t, tied)
	}
	return t
}
