package posterior

import (
	"fmt"
	"math"

	"github.com/krigo-gp/krigo/internal/linalg"
)

// Refactored returns the posterior with an L computed again from kernel, support and noise
// variance. It does the same for a posterior that is its prior.
// KL and variances depend on L, so nobody's word is needed for the KL and the variances.
// It returns an error if the stored L differs, because the posterior would then predict otherwise,
// or if a number isn't finite.
//
// Refactored factors K_SS + cI. For an exact posterior, c is its noise variance.
// Some files don't hold c: the jitter of a sparse posterior, and the noise variance of an exact
// posterior that is a prior. Then the diagonal of L gives c.
// Any c ≥ 0 makes a Q with the KL that is computed for it, because u = f_Z + √c ε are inducing
// variables like any others, and √c ε is the noise of data.
// The same holds for any L_B with a positive diagonal. For a posterior without a factor, only its
// numbers are checked.
func (p *Posterior) Refactored() (*Posterior, error) {
	if !(p.Noise > 0 && !math.IsInf(p.Noise, 1)) {
		return nil, fmt.Errorf("the posterior's noise variance is %v", p.Noise)
	}
	return p.refactored()
}

// refactored does what Refactored does, except that a Noise of 0 means that the noise is unknown.
func (p *Posterior) refactored() (*Posterior, error) {
	q := *p
	// A prior that is a posterior comes first, since p's covariances are computed with its factor.
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
	// Triangles are checked by refactor, which compares them with new ones.
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
