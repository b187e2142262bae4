package main

import (
	"fmt"
	"math"

	"github.com/krigo-gp/krigo/internal/linalg"
	"github.com/krigo-gp/krigo/matrix"
)

// riskBound returns the bound of Theorem 5 of "The Rényi Gaussian Process", with the right-hand side that its proof
// gives. With probability at least 1−δ over y ~ p_θ*, for a θ chosen before y was seen,
//
//	D_α(p_θ‖p_θ*)/N ≤ (α/(N t)) (ln p_θ*(y) − L_α(y; θ)) + ln(1/δ)/(N t),  t = 1−α, 0 < α < 1
//
// where D_α is renyiDivergence between the N-dimensional distributions of the targets. The paper prints
// p_θ(y)p_θ*(y)/N(y; 0, Ξ) in the logarithm, which has a unit, and the paper's form doesn't hold. The bound doesn't
// hold for a θ that was trained on y.
func riskBound(rows int, alpha, logTruth, elbo, delta float64) float64 {
	perNat, constant := riskTerms(rows, alpha, delta)
	return perNat*(logTruth-elbo) + constant
}

// riskTerms returns the two terms of riskBound: the factor of ln p_θ*(y) − L_α in nats, and the constant.
func riskTerms(rows int, alpha, delta float64) (perNat, constant float64) {
	t, n := 1-alpha, float64(rows)
	return alpha / (n * t), math.Log(1/delta) / (n * t)
}

// renyiDivergence returns D_α(N(0, c)‖N(0, truth)) for 0 < α < 1 and N×N matrices c and truth:
//
//	(1/(2t)) [ln|t c + α truth| − t ln|c| − α ln|truth|],  t = 1−α
func renyiDivergence(c, truth matrix.Dense, alpha float64) (float64, error) {
	if !(alpha > 0 && alpha < 1) {
		return 0, fmt.Errorf("α = %v: this divergence needs 0 < α < 1", alpha)
	}
	t := 1 - alpha
	var sum float64
	for _, part := range []struct{ weight, ofC, ofTruth float64 }{{1, t, alpha}, {-t, 1, 0}, {-alpha, 0, 1}} {
		a := c.Like(c.Rows, c.Cols)
		for i := range c.Rows {
			linalg.Axpy(part.ofC, c.Row(i), a.Row(i))
			linalg.Axpy(part.ofTruth, truth.Row(i), a.Row(i))
		}
		if err := linalg.Cholesky(a); err != nil {
			return 0, err
		}
		sum += part.weight * linalg.LogDet(a)
	}
	return sum / (2 * t), nil
}
