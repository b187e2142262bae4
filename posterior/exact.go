package posterior

import (
	"errors"
	"fmt"

	"github.com/krigo-gp/krigo/internal/linalg"
	"github.com/krigo-gp/krigo/kernel"
	"github.com/krigo-gp/krigo/matrix"
)

// NewExact conditions the GP (kernel, mean) on y at the rows of x with Gaussian
// noise of variance noise. It keeps x; it fails where C isn't positive definite.
func NewExact(k kernel.Kernel, theta []float64, mean kernel.Mean, beta []float64, x matrix.Dense, y []float64,
	noise float64) (*Posterior, error) {
	n := x.Rows
	p := &Posterior{Kernel: k, Theta: theta, Mean: mean, Beta: beta, Noise: noise, Support: x,
		Weights: make([]float64, n), Chol: x.Like(n, n)}
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
		return nil, errors.New("the posterior's weights aren't finite: look for extreme values in the data, or raise the " +
			"noise variance")
	}
	return p, nil
}

// NotDefinite explains a failed factorisation of K + σ_n² I. The full GP adds no
// jitter, since the noise variance already stands on the diagonal.
func NotDefinite(err error, noise float64) error {
	return fmt.Errorf("the matrix K + σ_n² I can't be factored with noise variance %.3g (%w): raise the noise variance, "+
		"or shorten the lengthscales", noise, err)
}

// LeaveOneOut writes, for each row the exact GP was conditioned on, the mean and
// variance of y_i (noise included) predicted from all other rows: y_i − w_i/[C⁻¹]_ii
// and 1/[C⁻¹]_ii (Rasmussen & Williams 2006, Eq. 5.12). A diagnostic, not a bound.
func (p *Posterior) LeaveOneOut(y, mean, variance []float64) {
	inv := p.Chol.Like(p.Support.Rows, p.Support.Rows)
	linalg.CholeskyInverse(p.Chol, inv)
	for i, w := range p.Weights {
		variance[i] = 1 / inv.At(i, i)
		mean[i] = y[i] - w*variance[i]
	}
}
