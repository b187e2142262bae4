package posterior

import (
	"math"

	"github.com/krigo-gp/krigo/internal/linalg"
	"github.com/krigo-gp/krigo/kernel"
	"github.com/krigo-gp/krigo/matrix"
	"github.com/krigo-gp/krigo/neighbours"
)

// NewNearest returns a posterior that predicts a row by the exact GP of the count rows of x
// with which the prior correlates it most: for stationary kernels, the nearest. It is
// another model than the exact GP on all rows. It keeps x.
func NewNearest(k kernel.Kernel, theta []float64, mean kernel.Mean, beta []float64, x matrix.Dense, y []float64, noise float64, count int) *Posterior {
	p := &Posterior{Kernel: k, Theta: theta, Mean: mean, Beta: beta, Noise: noise, Support: x, Nearest: min(count, x.Rows), Targets: make([]float64, len(y))}
	mean.At(beta, x, p.Targets)
	for i, m := range p.Targets {
		p.Targets[i] = y[i] - m
	}
	return p
}

// nearestTask is the number of rows that a task predicts.
const nearestTask = 32

// latentNearest adds to the prior's mean, and takes from its variance, which may be nil.
func (p *Posterior) latentNearest(x matrix.Dense, mean, variance []float64) {
	support := make([]float64, p.Support.Rows)
	p.Kernel.Diag(p.Theta, p.Support, support)
	linalg.Parallel((x.Rows+nearestTask-1)/nearestTask, func(t int) {
		i0, i1 := t*nearestTask, min((t+1)*nearestTask, x.Rows)
		ks := linalg.Borrow(i1-i0, p.Support.Rows)
		p.Kernel.Cov(p.Theta, x.RowRange(i0, i1), p.Support, ks)
		for i := i0; i < i1; i++ {
			row := ks.Row(i - i0)
			if p.Weights != nil {
				mean[i] += linalg.Dot(row, p.Weights)
			}
			if p.Weights == nil || variance != nil {
				m, explained := p.local(row, support)
				if p.Weights == nil {
					mean[i] += m
				}
				if variance != nil {
					variance[i] = max(variance[i]-explained, 0)
				}
			}
		}
		linalg.Return(ks)
	})
}

// local conditions a row of covariances ks on the nearest rows of the support, whose variances
// are given. It returns the mean, unless the posterior has weights, and the variance that
// they explain. Where their covariance matrix can't be factored, or too few of the rows have covariances that are numbers, these aren't
// numbers.
func (p *Posterior) local(ks, variance []float64) (mean, explained float64) {
	m := p.Nearest
	rows := neighbours.Correlated(ks, variance, m)
	if len(rows) < m { // the others' correlations aren't numbers
		return math.NaN(), math.NaN()
	}
	near, k, rhs := linalg.Borrow(m, p.Support.Cols), linalg.Borrow(m, m), linalg.Borrow(2, m)
	defer linalg.Return(near, k, rhs)
	c, r := rhs.Row(0), rhs.Row(1)
	for i, row := range rows {
		copy(near.Row(i), p.Support.Row(row))
		c[i] = ks[row]
	}
	p.Kernel.Cov(p.Theta, near, near, k)
	k.AddDiagonal(p.Noise)
	if linalg.Cholesky(k) != nil {
		return math.NaN(), math.NaN()
	}
	linalg.Trsv(false, k, c)
	if p.Weights == nil {
		for i, row := range rows {
			r[i] = p.Targets[row]
		}
		linalg.Trsv(false, k, r)
		mean = linalg.Dot(c, r)
	}
	return mean, linalg.Dot(c, c)
}
