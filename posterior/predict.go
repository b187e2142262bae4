package posterior

import (
	"math"

	"github.com/krigo-gp/krigo/internal/linalg"
	"github.com/krigo-gp/krigo/matrix"
)

// predictRows is the number of rows predicted at a time.
const predictRows = 256

// Latent writes the mean and the variance of f(x_i), without noise, for every
// row of x; variance may be nil. A row's result doesn't depend on the other rows.
func (p *Posterior) Latent(x matrix.Dense, mean, variance []float64) {
	p.Mean.At(p.Beta, x, mean)
	if p.Support.Rows == 0 {
		if variance != nil {
			linalg.Parallel((x.Rows+predictRows-1)/predictRows, func(t int) {
				x.Check()
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
		x.Check()
		i0, i1 := t*predictRows, min((t+1)*predictRows, x.Rows)
		ks := linalg.Borrow(i1-i0, p.Support.Rows).Until(x.Context())
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
