package fit

import (
	"github.com/krigo-gp/krigo/kernel"
	"github.com/krigo-gp/krigo/model"
	"github.com/krigo-gp/krigo/pacbayes"
)

// family is a kernel and mean function whose parameters are trained.
type family struct {
	name   string
	kernel kernel.Kernel
	mean   kernel.Mean
}

func (f family) gridParams() int { return len(f.kernel.Params()) + len(f.mean.Params()) }

func (p *prepared) families(o Options) []family {
	d := p.data.Cols
	mean, _ := model.MeanOf(o.Mean, d)
	var fs []family
	for _, ard := range []bool{false, true} {
		if ard && o.ARD == "off" || !ard && o.ARD == "on" {
			continue
		}
		k, _ := kernel.Parse(o.Kernel, d, ard) // checked with the options
		if o.ARD == "auto" && ard && (d == 1 || !kernel.HasLengthscales(k)) {
			continue // nothing to choose
		}
		name := o.Kernel
		if ard {
			name += " (ARD)"
		}
		fs = append(fs, family{name, k, mean})
	}
	return fs
}

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

// mix sets what a mixed p_θ costs with o.tied different lengthscales; 0: all of their own.
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
