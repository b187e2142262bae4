package posterior

import (
	"fmt"
	"math"

	"github.com/krigo-gp/krigo/internal/linalg"
	"github.com/krigo-gp/krigo/kernel"
	"github.com/krigo-gp/krigo/matrix"
)

// jitterEnd bounds the multiples of the mean variance, from jitterStart on and each ten times the one
// before, that are added to the diagonal of K_ZZ until it can be factored. The same K_ZZ is used in
// KL, mean and variance, which keeps the certificate sound: KL only falls when the noisy inducing
// outputs are marginalised (data processing).
const (
	jitterStart = 1e-10
	jitterEnd   = 1e-4
)

// FactorInducing fills l with the Cholesky factor of K_ZZ + jitter I, by the least jitter from
// minJitter on that there is one with whose pivots aren't those of rounding. These, of inducing inputs
// that all but coincide, would leave V = L⁻¹K_ZX, and a KL, wrong in the leading digits.
func FactorInducing(k kernel.Kernel, theta []float64, z matrix.Dense, minJitter float64,
	l matrix.Dense) (jitter float64, err error) {
	diag := make([]float64, z.Rows)
	k.Diag(theta, z, diag)
	scale := linalg.Sum(diag) / float64(z.Rows)
	if !(scale > 0) || math.IsInf(scale, 1) { // no multiple of it would ever help
		return 0, fmt.Errorf("the prior variance at the inducing inputs is %v: look at the kernel's variance", scale)
	}
	jitter = minJitter
	for {
		kernel.FillSymmetric(k, theta, z, l)
		l.AddDiagonal(jitter)
		err := linalg.Cholesky(l)
		if err == nil && (jitter >= jitterStart*scale || leastPivot(l) >= jitterStart*scale/2) {
			return jitter, nil
		}
		jitter = max(10*jitter, jitterStart*scale)
		if !(jitter <= jitterEnd*scale*1.01) {
			return jitter, fmt.Errorf("the covariance matrix of the inducing inputs can't be factored, even with %.0e of its "+
				"variance added (%w): use fewer inducing inputs or shorter lengthscales", jitterEnd, err)
		}
	}
}

// leastPivot is the smallest that a Cholesky factor was made with.
func leastPivot(l matrix.Dense) float64 {
	least := math.Inf(1)
	for i := range l.Rows {
		least = min(least, l.At(i, i)*l.At(i, i))
	}
	return least
}
