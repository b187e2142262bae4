// Package posterior holds the predictive distribution of a trained Gaussian
// process, whichever objective trained it: prediction, its divergence from the
// prior, and leave-one-out diagnostics.
//
// Notation: X (N×d) inputs, y targets, K = k_θ(X,X), s = σ_n² the noise variance,
// C = K + sI = L Lᵀ, r = y − m_β(X), w = C⁻¹r. All in scaled units.
package posterior

import (
	"errors"
	"fmt"
	"math"

	"github.com/krigo-gp/krigo/internal/linalg"
	"github.com/krigo-gp/krigo/kernel"
	"github.com/krigo-gp/krigo/matrix"
)

// Posterior is the Gaussian process Q with mean m_β(x) + k(x,S)·w and variance
// k(x,x) − ‖L⁻¹k(S,x)‖² + ‖L_B⁻¹L⁻¹k(S,x)‖².
//
// The exact posterior (Reeb et al. 2018, Eq. 6) has S = X, L Lᵀ = K + sI and no L_B. A
// sparse one (Eqs. 9, 11) has S = Z, L Lᵀ = K_ZZ, B = L_B L_Bᵀ and w = L⁻ᵀμ; a free-form
// q(f_Z) is of that form with B⁻¹ its whitened covariance. With no support at all Q is the
// prior itself (Unconditioned).
type Posterior struct {
	Kernel  kernel.Kernel
	Theta   []float64 // parameters of the kernel, natural logarithms
	Mean    kernel.Mean
	Beta    []float64    // parameters of the mean function
	Noise   float64      // σ_n²: it shapes Q and isn't in any variance returned here
	Support matrix.Dense // S: rows Q is conditioned on, or inducing inputs
	Weights []float64    // w
	Chol    matrix.Dense // L, lower triangle
	CholB   matrix.Dense // L_B, lower triangle; the zero Matrix for the exact posterior

	// Of exact posteriors that can't be factored, in place of Chol: see NewIterative and,
	// for one without weights, NewNearest.
	Nearest int       // rows of the support that each variance is conditioned on
	Targets []float64 // y − m_β(X), in place of the weights
}

// Sparse says whether the posterior stands on inducing inputs.
func (p *Posterior) Sparse() bool { return !p.CholB.IsZero() }

// NewExact conditions the GP (kernel, mean) on y at the rows of x with Gaussian
// noise of variance noise. It keeps x; it fails where C isn't positive definite.
func NewExact(k kernel.Kernel, theta []float64, mean kernel.Mean, beta []float64, x matrix.Dense, y []float64, noise float64) (*Posterior, error) {
	n := x.Rows
	p := &Posterior{Kernel: k, Theta: theta, Mean: mean, Beta: beta, Noise: noise, Support: x,
		Weights: make([]float64, n), Chol: matrix.New(n, n)}
	kernel.FillSymmetric(k, theta, x, p.Chol)
	p.Chol.AddDiagonal(noise)
	if err := linalg.Cholesky(p.Chol); err != nil {
		return nil, NotDefinite(err, noise)
	}
	mean.At(beta, x, p.Weights)
	for i, m := range p.Weights {
		p.Weights[i] = y[i] - m
	}
	linalg.Trsv(false, p.Chol, p.Weights)
	linalg.Trsv(true, p.Chol, p.Weights)
	if !linalg.Finite(p.Weights) {
		return nil, errors.New("the posterior's weights aren't finite: look for extreme values in the data, or raise the noise variance")
	}
	return p, nil
}

// NotDefinite explains a failed factorisation of K + σ_n² I. The full GP adds no
// jitter, since the noise variance already stands on the diagonal.
func NotDefinite(err error, noise float64) error {
	return fmt.Errorf("the matrix K + σ_n² I can't be factored with noise variance %.3g (%w): raise the noise variance, or shorten the lengthscales", noise, err)
}

// predictRows is the number of rows predicted at a time.
const predictRows = 256

// Latent writes the mean and the variance of f(x_i), without noise, for every
// row of x; variance may be nil. A row's result doesn't depend on the other rows.
func (p *Posterior) Latent(x matrix.Dense, mean, variance []float64) {
	p.Mean.At(p.Beta, x, mean)
	if p.Support.Rows == 0 {
		if variance != nil {
			linalg.Parallel((x.Rows+predictRows-1)/predictRows, func(t int) {
				i0, i1 := t*predictRows, min((t+1)*predictRows, x.Rows)
				p.Kernel.Diag(p.Theta, x.RowRange(i0, i1), variance[i0:i1])
			})
		}
		return
	}
	if variance != nil {
		p.Kernel.Diag(p.Theta, x, variance)
	}
	if p.Nearest > 0 {
		p.latentNearest(x, mean, variance)
		return
	}
	linalg.Parallel((x.Rows+predictRows-1)/predictRows, func(t int) {
		i0, i1 := t*predictRows, min((t+1)*predictRows, x.Rows)
		ks := linalg.Borrow(i1-i0, p.Support.Rows)
		p.Kernel.Cov(p.Theta, x.RowRange(i0, i1), p.Support, ks)
		for i := i0; i < i1; i++ {
			mean[i] += linalg.Dot(ks.Row(i-i0), p.Weights)
		}
		if variance != nil {
			linalg.Trsm(false, true, p.Chol, ks)
			for i := i0; i < i1; i++ {
				row := ks.Row(i - i0)
				variance[i] = math.Max(variance[i]-linalg.Dot(row, row), 0)
			}
			if p.Sparse() {
				linalg.Trsm(false, true, p.CholB, ks)
				for i := i0; i < i1; i++ {
					row := ks.Row(i - i0)
					variance[i] += linalg.Dot(row, row)
				}
			}
		}
		linalg.Return(ks)
	})
}

// Noisy writes the mean and the variance of an observation y = f(x_i) + noise
// with the observation-noise variance given. For a PAC-Bayes objective that isn't
// p.Noise, which was chosen to shape Q.
func (p *Posterior) Noisy(x matrix.Dense, observationNoise float64, mean, variance []float64) {
	p.Latent(x, mean, variance)
	for i := range variance {
		variance[i] += observationNoise
	}
}

// KL returns KL(Q‖P) from the prior P = GP(m_β, k_θ) (Reeb et al. 2018, Eqs. 8 and 10),
// evaluated on the support: Q(f|f_S) = P(f|f_S) elsewhere. It needs a factored posterior.
func (p *Posterior) KL() float64 {
	n := p.Support.Rows
	if n == 0 {
		return 0
	}
	if p.Sparse() {
		binv, mu := matrix.New(n, n), make([]float64, n)
		linalg.CholeskyInverse(p.CholB, binv)
		for i, w := range p.Weights { // μ = Lᵀw
			linalg.Axpy(w, p.Chol.Row(i)[:i+1], mu[:i+1])
		}
		return SparseKL(p.CholB, binv, mu)
	}
	// tr(K C⁻¹) = N − s tr C⁻¹ = N − s‖L⁻¹‖², which keeps its digits where s is small.
	work := matrix.New(n, n)
	work.CopyFrom(p.Chol)
	inverse, wKw := inverseNorm(work), 0.
	k := work
	kernel.FillSymmetric(p.Kernel, p.Theta, p.Support, k)
	for i, w := range p.Weights {
		wKw += w * linalg.Dot(k.Row(i), p.Weights)
	}
	return ExactKL(n, linalg.LogDet(p.Chol), p.Noise, float64(n)-p.Noise*inverse, wKw)
}

// ExactKL is KL(Q‖P) = ½[ln|C| − N ln s − tr(K C⁻¹) + wᵀKw] (Reeb et al. 2018, Eq. 8).
func ExactKL(n int, logDetC, noise, traceKCinv, wKw float64) float64 {
	return 0.5 * (logDetC - float64(n)*math.Log(noise) - traceKCinv + wKw)
}

// LeaveOneOut writes, for each row the exact GP was conditioned on, the mean and
// variance of y_i (noise included) predicted from all other rows: y_i − w_i/[C⁻¹]_ii
// and 1/[C⁻¹]_ii (Rasmussen & Williams 2006, Eq. 5.12). A diagnostic, not a bound.
func (p *Posterior) LeaveOneOut(y, mean, variance []float64) {
	inv := matrix.New(p.Support.Rows, p.Support.Rows)
	linalg.CholeskyInverse(p.Chol, inv)
	for i, w := range p.Weights {
		variance[i] = 1 / inv.At(i, i)
		mean[i] = y[i] - w*variance[i]
	}
}

// SparseKL is KL(Q‖P) = ½[tr B⁻¹ + μᵀμ − M + ln|B|] of the sparse posterior, from the
// Cholesky factor of B, B⁻¹ and μ (Reeb et al. 2018, Eq. 10, in the parametrisation 11).
func SparseKL(cholB, binv matrix.Dense, mu []float64) float64 {
	kl := linalg.LogDet(cholB) + linalg.Dot(mu, mu)
	for i := range binv.Rows {
		kl += binv.At(i, i) - 1
	}
	return kl / 2
}
