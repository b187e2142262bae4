package posterior

import (
	"fmt"
	"math"

	"github.com/krigo-gp/krigo/internal/linalg"
)

// Refactored returns the posterior with an L made anew from kernel, support and noise variance, as is that of a
// posterior which its prior is: KL and variances rest on them, and are then nobody's word. An error where a stored L is
// another one, so that the posterior predicts otherwise, or a number isn't one.
//
// K_SS + cI is what is factored. The c of an exact posterior is its noise variance. That of a
// sparse one, its jitter, isn't stored, nor is the noise variance of an exact one that another was
// learnt from: c is then what L has on the diagonal. Any c ≥ 0 makes a Q with the KL that is
// computed for it, since u = f_Z + √c ε are inducing variables, and √c ε the noise of data, like any
// others. So does any L_B with a positive diagonal. Of a posterior that isn't factored its numbers are checked alone.
func (p *Posterior) Refactored() (*Posterior, error) {
	if !(p.Noise > 0 && !math.IsInf(p.Noise, 1)) {
		return nil, fmt.Errorf("the posterior's noise variance is %v", p.Noise)
	}
	return p.refactored()
}

// refactored is Refactored where a Noise of 0 isn't known.
func (p *Posterior) refactored() (*Posterior, error) {
	q := *p
	if prior, temper := p.OfPrior(); prior != nil {
		if p.Support.Rows == 0 {
			prior.Noise = p.Noise // see Unconditioned
		}
		again, err := prior.Until(p.Support.Context()).refactored()
		if err != nil {
			return nil, fmt.Errorf("the prior: %w", err)
		}
		if q.Kernel, q.Mean, err = again.Prior(temper); err != nil {
			return nil, err
		}
	}
	for _, of := range []struct {
		what   string
		values []float64
	}{{"parameters", p.Theta}, {"mean's parameters", p.Beta}, {"support", p.Support.Data}} {
		if !linalg.Finite(of.values) {
			return nil, fmt.Errorf("the posterior's %s aren't finite", of.what)
		}
	}
	arrays, _ := p.Arrays()
	for _, a := range arrays {
		if a.Cols == 1 && !linalg.Finite(a.Values[0]) {
			return nil, fmt.Errorf("the posterior's %s aren't finite", a.Name)
		}
	}
	var err error
	q.Solution, err = p.refactor(&q)
	return &q, err
}
