// Package posterior holds the predictive distribution of a trained Gaussian
// process, whichever objective trained it: prediction, its divergence from the
// prior, and leave-one-out diagnostics.
//
// Notation: X (N×d) inputs, y targets, K = k_θ(X,X), s = σ_n² the noise variance,
// C = K + sI = L Lᵀ, r = y − m_β(X), w = C⁻¹r. All in scaled units.
package posterior

import (
	"context"

	"github.com/krigo-gp/krigo/kernel"
	"github.com/krigo-gp/krigo/matrix"
	"github.com/krigo-gp/krigo/neighbours"
)

// Posterior is the Gaussian process Q with mean m_β(x) + k(x,S)·w and variance
// k(x,x) − ‖L⁻¹k(S,x)‖² + ‖L_B⁻¹L⁻¹k(S,x)‖².
//
// The exact posterior (Reeb et al. 2018, Eq. 6) has S = X, L Lᵀ = K + sI and no L_B. A
// sparse one (Eqs. 9, 11) has S = Z, L Lᵀ = K_ZZ, B = L_B L_Bᵀ and w = L⁻ᵀμ; a free-form
// q(f_Z) is of that form with B⁻¹ its whitened covariance. With no support at all Q is the
// prior itself (Unconditioned).
//
// No method changes a Posterior: one that nobody else changes may be used by several goroutines at once.
type Posterior struct {
	Kernel  kernel.Kernel
	Theta   []float64 // parameters of the kernel, natural logarithms
	Mean    kernel.Mean
	Beta    []float64    // parameters of the mean function
	Noise   float64      // σ_n²: it shapes Q and isn't in any variance returned here
	Support matrix.Dense // S: rows Q is conditioned on, or inducing inputs
	Weights []float64    // w
	Chol    matrix.Dense // L, lower triangle
	CholB   matrix.Dense // L_B, lower triangle; zero for the exact posterior

	// Of exact posteriors that can't be factored, in place of Chol: see NewIterative and,
	// for one without weights, NewNearest. Both are made by Near.
	Nearest int       // rows of the support that each variance is conditioned on
	Targets []float64 // y − m_β(X), in place of the weights
	index   func() *neighbours.Index
}

// Until returns p for work that ends with a context; see matrix.Dense.Until.
func (p *Posterior) Until(ctx context.Context) *Posterior {
	q := *p
	q.Support, q.Chol, q.CholB = p.Support.Until(ctx), p.Chol.Until(ctx), p.CholB.Until(ctx)
	return &q
}

// The kinds of posteriors, by how they were solved for.
const (
	ByCholesky = "cholesky"
	ByCG       = "cg"      // NewIterative
	ByNearest  = "nearest" // NewNearest
)

// Kind says how a posterior was solved for.
func (p *Posterior) Kind() string {
	switch {
	case p.Nearest > 0 && p.Weights == nil:
		return ByNearest
	case p.Nearest > 0:
		return ByCG
	}
	return ByCholesky
}

// Factored says whether the posterior is a process whose covariances of all rows together are known. Of others there
// are variances of single points, and no KL(Q‖P).
func (p *Posterior) Factored() bool { return p.Kind() == ByCholesky }

// Sparse says whether the posterior stands on inducing inputs.
func (p *Posterior) Sparse() bool { return !p.CholB.IsZero() }
