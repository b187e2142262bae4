package objective

import (
	"github.com/krigo-gp/krigo/internal/linalg"
	"github.com/krigo-gp/krigo/kernel"
	"github.com/krigo-gp/krigo/matrix"
	"github.com/krigo-gp/krigo/posterior"
)

// inducingFactor holds the inducing inputs Z, a kernel at θ, and L = chol(K_ZZ + jitter I).
// It whitens the covariances of rows with Z, V = L⁻¹K_ZX, and pulls adjoints of V back to θ and Z.
type inducingFactor struct {
	kernel kernel.Kernel
	theta  []float64
	m      int
	z      matrix.Dense // M×d
	l      matrix.Dense // M×M
	jitter float64
}

// factor computes L for θ and Z. The jitter is at least minJitter.
func (f *inducingFactor) factor(theta []float64, z matrix.Dense, minJitter float64) (err error) {
	f.theta = theta
	f.z = z
	f.jitter, err = posterior.FactorInducing(kernel.At(f.kernel, theta), z, minJitter, f.l)
	return err
}

// whiten fills row i of v with V_i = L⁻¹k(Z, x_i).
func (f *inducingFactor) whiten(x, v matrix.Dense) {
	kernel.At(f.kernel, f.theta).Fill(x, f.z, v)
	linalg.Trsm(false, true, f.l, v)
}

// unwhiten fills u with Ū = L⁻ᵀV̄ (M×n). bar has the rows V̄_i; unwhiten overwrites bar.
func (f *inducingFactor) unwhiten(bar, u matrix.Dense) {
	linalg.TrsmTo(false, f.l, bar, u)
}

// pullRows pulls Ū, the adjoint of k(Z, x_i), and λ̄_i, the adjoint of k(x_i, x_i), back to θ and
// Z.
func (f *inducingFactor) pullRows(x, u matrix.Dense, lambda, dTheta []float64, dZ matrix.Dense) {
	kernel.At(f.kernel, f.theta).Pull(f.z, x,
		kernel.Adjoint{K: u, Gradient: kernel.Gradient{Theta: dTheta, Inputs: dZ}})
	f.kernel.PullDiag(f.theta, x, lambda, kernel.Gradient{Theta: dTheta})
}

// pullZZ pulls K̄_ZZ = −½ L⁻ᵀ sym(G) L⁻¹ back to θ and Z, where G = Σ V̄_i V_iᵀ. It overwrites g.
// If the value depends on L through VᵀV alone, G is symmetric, and the formula needs no derivative
// of the Cholesky factorisation.
func (f *inducingFactor) pullZZ(g matrix.Dense, dTheta []float64, dZ matrix.Dense) {
	linalg.Trsm(true, true, f.l, g)
	linalg.Trsm(false, false, f.l, g)
	for i := range f.m {
		for j := range i + 1 {
			v := -0.25 * (g.At(i, j) + g.At(j, i))
			g.Set(i, j, v)
			g.Set(j, i, v)
		}
	}
	pullSelf(kernel.At(f.kernel, f.theta), f.z, g, dTheta, dZ)
}

// pullSelf pulls a symmetric adjoint of K_ZZ back to θ and Z.
// It doubles the derivatives with respect to Z, because an inducing input determines both a row and
// a column of K_ZZ.
func pullSelf(at kernel.Bound, z, bar matrix.Dense, dTheta []float64, dZ matrix.Dense) {
	zBar := matrix.New(z.Rows, z.Cols)
	at.Pull(z, z, kernel.Adjoint{K: bar, Gradient: kernel.Gradient{Theta: dTheta, Inputs: zBar}})
	for i := range z.Rows {
		linalg.Axpy(2, zBar.Row(i), dZ.Row(i))
	}
}
