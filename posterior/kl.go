package posterior

import (
	"slices"

	"github.com/krigo-gp/krigo/internal/divergence"
	"github.com/krigo-gp/krigo/internal/linalg"
	"github.com/krigo-gp/krigo/kernel"
	"github.com/krigo-gp/krigo/matrix"
)

// KL returns KL(Q‖P) from the prior P = GP(m_β, k_θ) (Reeb et al. 2018, Eqs. 8 and 10),
// evaluated on the support: Q(f|f_S) = P(f|f_S) elsewhere. It needs a factored posterior.
func (p *Posterior) KL() float64 {
	n := p.Support.Rows
	if n == 0 {
		return 0
	}
	if p.Sparse() {
		binv, mu := p.Chol.Like(n, n), make([]float64, n)
		linalg.CholeskyInverse(p.CholB, binv)
		for i, w := range p.Weights { // μ = Lᵀw
			linalg.Axpy(w, p.Chol.Row(i)[:i+1], mu[:i+1])
		}
		return divergence.Sparse(p.CholB, binv, mu)
	}
	// tr(K C⁻¹) = N − s tr C⁻¹ = N − s‖L⁻¹‖², which keeps its digits where s is small.
	work := p.Chol.Like(n, n)
	work.CopyFrom(p.Chol)
	inverse, wKw := inverseNorm(work), 0.
	k := work
	kernel.FillSymmetric(p.Kernel, p.Theta, p.Support, k)
	for i, w := range p.Weights {
		wKw += w * linalg.Dot(k.Row(i), p.Weights)
	}
	return divergence.Exact(n, linalg.LogDet(p.Chol), p.Noise, float64(n)-p.Noise*inverse, wKw)
}

// KLRounding is how many nats of KL(Q‖P) rounding may have taken: a certificate adds them. Cholesky's
// factor is that of a matrix that is off by Nε of the largest variance, and so is K: with it wᵀKw, or
// ‖μ‖² = wᵀ(K + cI)w, by that times ‖w‖², which weights chosen along directions in which K is next to nothing
// make large; and ln|K + sI| and its trace by that share of s for each of N pivots.
func (p *Posterior) KLRounding() float64 {
	n := float64(p.Support.Rows)
	if n == 0 {
		return 0
	}
	off := n * 0x1p-52 * p.whole()
	nats := off * linalg.Dot(p.Weights, p.Weights) / 2
	if !p.Sparse() {
		nats += n * off / p.Noise
	}
	return nats
}

// whole returns the largest prior variance on the support, of a prior that is a posterior before it
// was conditioned: what is left of a variance was rounded where it was whole.
func (p *Posterior) whole() float64 {
	k, theta, temper := p.Kernel, p.Theta, 1.0
	if c, ok := k.(*kernel.Conditional); ok {
		k, theta, temper = c.Kernel, c.Theta, c.Temper
	}
	diag := make([]float64, p.Support.Rows)
	k.Diag(theta, p.Support, diag)
	return temper * slices.Max(diag)
}

// inverseNorm returns ‖L⁻¹‖², the square of the norm of Frobenius. It overwrites L.
func inverseNorm(l matrix.Dense) (sum float64) {
	linalg.TriangularInverse(l)
	for i := range l.Rows {
		row := l.Row(i)[:i+1]
		sum += linalg.Dot(row, row)
	}
	return sum
}
