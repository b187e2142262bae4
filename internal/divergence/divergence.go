// Package divergence computes KL(Q‖P) in closed form, from factors that the caller already has.
// So a certificate and the objective of a training mean the same number.
package divergence

import (
	"math"

	"github.com/krigo-gp/krigo/internal/linalg"
	"github.com/krigo-gp/krigo/matrix"
)

// Exact returns KL(Q‖P) = ½[ln|C| − N ln s − tr(K C⁻¹) + wᵀKw] of the exact posterior Q from its
// prior P, in nats (Reeb et al. 2018, Eq. 8).
// Here C = K + sI and w = C⁻¹(y − m). n is N, the number of rows, and noise is s.
func Exact(n int, logDetC, noise, traceKCinv, wKw float64) float64 {
	return 0.5 * (logDetC - float64(n)*math.Log(noise) - traceKCinv + wKw)
}

// Sparse returns KL(Q‖P) = ½[tr B⁻¹ + μᵀμ − M + ln|B|] of a sparse posterior Q from its prior P, in
// nats (Reeb et al. 2018, Eq. 10, in the parametrisation of Eq. 11).
// In whitened coordinates the prior of the M inducing outputs is N(0, I), and Q is N(μ, B⁻¹).
// B (M×M) is the precision there, I + V D⁻¹Vᵀ for a posterior of Eq. 11 (see package objective).
// cholB is the Cholesky factor of B, binv is B⁻¹ with at least its diagonal, and mu is μ.
func Sparse(cholB, binv matrix.Dense, mu []float64) float64 {
	kl := linalg.LogDet(cholB) + linalg.Dot(mu, mu)
	for i := range binv.Rows {
		kl += binv.At(i, i) - 1
	}
	return kl / 2
}
