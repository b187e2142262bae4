// Package divergence holds KL(Q‖P) in closed form, from factors that whoever asks has computed for something else: a
// posterior that is certified and an objective that is trained are to mean the same number.
package divergence

import (
	"math"

	"github.com/krigo-gp/krigo/internal/linalg"
	"github.com/krigo-gp/krigo/matrix"
)

// Exact is KL(Q‖P) = ½[ln|C| − N ln s − tr(K C⁻¹) + wᵀKw] (Reeb et al. 2018, Eq. 8).
func Exact(n int, logDetC, noise, traceKCinv, wKw float64) float64 {
	return 0.5 * (logDetC - float64(n)*math.Log(noise) - traceKCinv + wKw)
}

// Sparse is KL(Q‖P) = ½[tr B⁻¹ + μᵀμ − M + ln|B|] of the sparse posterior, from the
// Cholesky factor of B, B⁻¹ and μ (Reeb et al. 2018, Eq. 10, in the parametrisation 11).
func Sparse(cholB, binv matrix.Dense, mu []float64) float64 {
	kl := linalg.LogDet(cholB) + linalg.Dot(mu, mu)
	for i := range binv.Rows {
		kl += binv.At(i, i) - 1
	}
	return kl / 2
}
