package objective

import (
	"math"

	"github.com/krigo-gp/krigo/internal/linalg"
	"github.com/krigo-gp/krigo/matrix"
	"github.com/krigo-gp/krigo/posterior"
)

// Evidence is the negative log marginal likelihood
//
//	−ln p(y) = ½[N ln 2π + ln|C| + rᵀw]        (Reeb et al. 2018, Eq. 33)
//
// with adjoints C̄ = ½(C⁻¹ − wwᵀ), s̄ = tr C̄, m̄ = −w.
type Evidence struct{ w []float64 }

var _ Exact = (*Evidence)(nil)

// Evaluate implements Exact. It overwrites prior.K with the Cholesky factor of C.
func (e *Evidence) Evaluate(prior Moments, y []float64, noise float64,
	adj *Adjoints) (float64, error) {
	k := prior.K
	n := len(y)
	w, quad, err := solve(k, prior.Mean, y, noise, &e.w)
	if err != nil {
		return 0, err
	}
	value := 0.5 * (float64(n)*math.Log(2*math.Pi) + linalg.LogDet(k) + quad)
	if adj == nil {
		return value, nil
	}
	// The lower triangle of C̄ = ½(C⁻¹ − wwᵀ).
	linalg.CholeskyInverseLower(k, adj.K)
	linalg.Each(n, chunkRows, func(i int) {
		row := adj.K.Row(i)[:i+1]
		linalg.Scale(0.5, row)
		linalg.Axpy(-0.5*w[i], w[:i+1], row)
	})
	adj.Noise = 0
	for i, wi := range w {
		adj.Noise += adj.K.At(i, i)
		adj.Mean[i] = -wi
	}
	return value, nil
}

// solve overwrites k with the Cholesky factor of C = K + sI.
// It returns w = C⁻¹r, stored in buffer, and quad = rᵀw.
func solve(k matrix.Dense, mean, y []float64, noise float64,
	buffer *[]float64) (w []float64, quad float64, err error) {
	if len(*buffer) != len(y) {
		*buffer = make([]float64, len(y))
	}
	w = *buffer
	k.AddDiagonal(noise)
	if err := linalg.Cholesky(k); err != nil {
		return nil, 0, posterior.NotDefinite(err, noise)
	}
	for i, v := range y {
		w[i] = v - mean[i]
	}
	// rᵀw = ‖L⁻¹r‖², and w = L⁻ᵀ(L⁻¹r).
	linalg.Trsv(false, k, w)
	quad = linalg.Dot(w, w)
	linalg.Trsv(true, k, w)
	return w, quad, nil
}
