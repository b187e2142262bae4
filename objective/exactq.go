package objective

import (
	"github.com/krigo-gp/krigo/internal/divergence"
	"github.com/krigo-gp/krigo/internal/linalg"
	"github.com/krigo-gp/krigo/matrix"
)

// exactQ is the posterior family of the full PAC-GP:
// Q is the exact posterior (Reeb et al. 2018, Eq. 6) with a free parameter σ_n².
// forward computes Q's predictions at the training rows and KL(Q‖P).
// backward turns the adjoints of the predictions and of the KL into adjoints of K, s and m.
//
//	m̂ = y − s w                     σ̂²_i = s − s²[C⁻¹]_ii
//	KL = ½[ln|C| − N ln s − tr T + wᵀKw]    T = K C⁻¹ = I − sC⁻¹          (8)
//
// These forms subtract numbers of size s to get numbers of size K.
// If the noise exceeds the prior variance, forward takes products with K instead, at the cost of
// one more matrix product: m̂ = m + Kw, σ̂²_i = K_ii − Σ_j T_ij K_ij.
type exactQ struct {
	mean, variance []float64 // m̂, σ̂² (latent)
	kl             float64

	noise   float64
	w, u    []float64    // C⁻¹r, C⁻¹w
	inv     matrix.Dense // C⁻¹
	scratch matrix.Dense // K, then L, then the right factor of the product in backward
	byK     bool         // the noise exceeds the prior variance
	k, t    matrix.Dense // copies of K and T, kept only if byK
	tmp     []float64
}

// forward computes the predictions mean and variance (N numbers each), and kl.
// k is the prior covariance, whose lower triangle it reads. k then serves as scratch memory.
func (q *exactQ) forward(k matrix.Dense, mean, y []float64, noise float64) error {
	n := len(y)
	if len(q.mean) != n {
		*q = exactQ{inv: k.Like(n, n)}
		for _, v := range []*[]float64{&q.mean, &q.variance, &q.u, &q.tmp} {
			*v = make([]float64, n)
		}
	}
	var largest float64
	for i := range n {
		largest = max(largest, k.At(i, i))
	}
	q.noise = noise
	q.scratch = k
	q.byK = noise > largest
	// solve overwrites k, so products with K need a copy of it.
	if q.byK {
		if q.k.IsZero() {
			q.k, q.t = k.Like(n, n), k.Like(n, n)
		}
		q.k.CopyFrom(k)
		linalg.MirrorLower(q.k)
	}
	w, quad, err := solve(k, mean, y, noise, &q.w)
	if err != nil {
		return err
	}
	linalg.CholeskyInverse(k, q.inv)

	// trace is tr T. wᵀKw is rᵀw − s wᵀw, because K = C − sI.
	var trace, wKw float64
	if q.byK {
		linalg.Gemm(false, false, 1, q.k, q.inv, 0, q.t)
		linalg.Gemv(false, 1, q.k, w, 0, q.mean)
		wKw = linalg.Dot(w, q.mean)
		for i, m := range mean {
			q.mean[i] += m
			q.variance[i] = max(q.k.At(i, i)-linalg.Dot(q.t.Row(i), q.k.Row(i)), 0)
			trace += q.t.At(i, i)
		}
	} else {
		wKw = quad - noise*linalg.Dot(w, w)
		for i, v := range y {
			ti := 1 - noise*q.inv.At(i, i)
			q.mean[i] = v - noise*w[i]
			q.variance[i] = max(noise*ti, 0)
			trace += ti
		}
	}
	q.kl = divergence.Exact(n, linalg.LogDet(k), noise, trace, wKw)
	return nil
}

// backward fills adj from g = ∂/∂m̂, h = ∂/∂σ̂² and κ = ∂/∂KL:
//
//	K̄ = (κ/2)C⁻¹T + s² C⁻¹diag(h)C⁻¹ + p wᵀ + w pᵀ,  p = ½(κ s C⁻¹w + s C⁻¹g) − (κ/4) w
//	s̄ = −(κ/2)[‖T‖²/s + 2wᵀTw] − gᵀTw + Σ h_i ‖T_i‖²
//	m̄ = −κ Tw + s C⁻¹g
//
// It computes C⁻¹T as C⁻¹ − sC⁻², or as a product if that difference would cancel (byK).
func (q *exactQ) backward(g, h []float64, kappa float64, adj *Adjoints) {
	s := q.noise
	w := q.w
	linalg.Gemv(false, 1, q.inv, w, 0, q.u)
	if q.byK {
		for i, hi := range h {
			row := q.scratch.Row(i)
			copy(row, q.t.Row(i)) // T is symmetric: row i of K C⁻¹ is row i of C⁻¹K
			linalg.Scale(kappa/2, row)
			linalg.Axpy(s*s*hi, q.inv.Row(i), row)
		}
		linalg.GemmLower(false, false, 1, q.inv, q.scratch, 0, adj.K)
	} else {
		for i, hi := range h {
			row := q.scratch.Row(i)
			copy(row, q.inv.Row(i))
			linalg.Scale(s*s*hi-kappa*s/2, row)
		}
		adj.K.CopyFrom(q.inv)
		linalg.GemmLower(false, false, 1, q.inv, q.scratch, kappa/2, adj.K)
	}

	tg := q.tmp
	tw := q.scratch.Row(0) // scratch is free again
	linalg.Gemv(false, 1, q.inv, g, 0, tg)
	if q.byK {
		linalg.Gemv(false, 1, q.t, w, 0, tw)
	} else {
		for i, v := range w {
			tw[i] = v - s*q.u[i]
		}
	}
	// s̄ has −(κ/2)‖T‖²/s = −(κ/(2s)) Σ ‖T_i‖² from the loop, together with Σ h_i ‖T_i‖².
	adj.Noise = -kappa*linalg.Dot(w, tw) - linalg.Dot(g, tw)
	for i, hi := range h {
		var norm float64 // ‖T_i‖²
		if q.byK {
			norm = linalg.Dot(q.t.Row(i), q.t.Row(i))
		} else {
			row := q.inv.Row(i)
			norm = 1 - 2*s*row[i] + s*s*linalg.Dot(row, row)
		}
		adj.Noise += (hi - kappa/(2*s)) * norm
	}
	for i, c := range tg {
		adj.Mean[i] = s*c - kappa*tw[i]
		tg[i] = 0.5*(kappa*s*q.u[i]+s*c) - kappa/4*w[i] // p
	}
	p := tg
	for i := range w {
		row := adj.K.Row(i)[:i+1]
		linalg.Axpy(p[i], w[:i+1], row)
		linalg.Axpy(w[i], p[:i+1], row)
	}
}
