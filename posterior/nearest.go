package posterior

import (
	"math"
	"slices"
	"sync"

	"github.com/krigo-gp/krigo/internal/linalg"
	"github.com/krigo-gp/krigo/kernel"
	"github.com/krigo-gp/krigo/matrix"
	"github.com/krigo-gp/krigo/neighbours"
)

// NewNearest returns a posterior that predicts a row by the exact GP of the count rows of x
// with which the prior correlates it most (package neighbours): for stationary kernels, the nearest. It is
// another model than the exact GP on all rows. It keeps x.
func NewNearest(k kernel.Kernel, theta []float64, mean kernel.Mean, beta []float64, x matrix.Dense, y []float64,
	noise float64, count int) *Posterior {
	p := Posterior{Kernel: k, Theta: theta, Mean: mean, Beta: beta, Noise: noise, Support: x,
		Targets: make([]float64, len(y))}
	mean.At(beta, x, p.Targets)
	for i, m := range p.Targets {
		p.Targets[i] = y[i] - m
	}
	return p.Near(count)
}

// Near returns the posterior with variances, and predictions where it has no weights, from the count rows of its
// support that are nearest to each row. They are found by an index that is made when it is first asked for, once.
func (p Posterior) Near(count int) *Posterior {
	p.Nearest = min(count, p.Support.Rows)
	p.index = sync.OnceValue(func() *neighbours.Index { return neighbours.New(p.Kernel, p.Theta, p.Support) })
	return &p
}

const (
	nearestTask = 32      // rows that a task predicts
	nearestRows = 1 << 14 // rows whose neighbours are in memory at a time
)

// latentNearest adds to the prior's mean, and takes from its variance, which may be nil.
func (p *Posterior) latentNearest(x matrix.Dense, mean, variance []float64) {
	if p.Weights != nil {
		linalg.Parallel((x.Rows+nearestTask-1)/nearestTask, func(t int) {
			i0, i1 := t*nearestTask, min((t+1)*nearestTask, x.Rows)
			ks := linalg.Borrow(i1-i0, p.Support.Rows)
			p.Kernel.Cov(p.Theta, x.RowRange(i0, i1), p.Support, ks)
			for i := i0; i < i1; i++ {
				mean[i] += linalg.Dot(ks.Row(i-i0), p.Weights)
			}
			linalg.Return(ks)
		})
		if variance == nil {
			return
		}
	}
	m := p.Nearest
	rows := make([]int32, min(x.Rows, nearestRows)*m)
	for i0 := 0; i0 < x.Rows; i0 += nearestRows {
		i1 := min(i0+nearestRows, x.Rows)
		p.index().Nearest(x.RowRange(i0, i1), m, rows, nil)
		linalg.Parallel((i1-i0+nearestTask-1)/nearestTask, func(t int) {
			near := p.newLocal()
			for i := i0 + t*nearestTask; i < min(i0+(t+1)*nearestTask, i1); i++ {
				m, explained := near.condition(x.RowRange(i, i+1), rows[(i-i0)*m:][:m])
				mean[i] += m
				if variance != nil {
					variance[i] = max(variance[i]-explained, 0)
				}
			}
			near.release()
		})
	}
}

// local conditions single rows on their nearest ones.
type local struct {
	*Posterior
	x matrix.Dense // the nearest rows
	// k is their C, and below it a row k(x)ᵀ and a row rᵀ, which become L⁻¹k(x) and L⁻¹r where C becomes L.
	k matrix.Dense
}

func (p *Posterior) newLocal() *local {
	m := p.Nearest
	return &local{p, linalg.Borrow(m, p.Support.Cols), linalg.Borrow(m+2, m+2)}
}

func (l *local) release() { linalg.Return(l.x, l.k) }

// uncounted stands on the diagonal where only what is left of it counts: whatever is taken from it leaves it positive.
const uncounted = math.MaxFloat64 / 4

// condition conditions a point on rows of the support, which it takes in their order there: which of them is nearest
// doesn't show in the last digits. It returns what they add to the mean, nothing where the posterior has weights, and
// the variance that they explain. Where their covariance matrix can't be factored, or too few of the rows have
// covariances that are numbers, these aren't numbers.
func (l *local) condition(point matrix.Dense, rows []int32) (mean, explained float64) {
	m := len(rows)
	if rows[m-1] == neighbours.None {
		return math.NaN(), math.NaN()
	}
	slices.Sort(rows)
	c, r := l.k.Row(m)[:m], l.k.Row(m + 1)[:m]
	for i, row := range rows {
		copy(l.x.Row(i), l.Support.Row(int(row)))
		if r[i] = 0; l.Weights == nil {
			r[i] = l.Targets[row]
		}
	}
	kernel.FillLower(l.Kernel, l.Theta, l.x, l.k.View(0, m, 0, m))
	for i := range m {
		l.k.Row(i)[i] += l.Noise
	}
	l.Kernel.Cov(l.Theta, point, l.x, l.k.View(m, m+1, 0, m))
	l.k.Set(m, m, uncounted)
	l.k.Set(m+1, m, 0)
	l.k.Set(m+1, m+1, uncounted)
	if linalg.Cholesky(l.k) != nil {
		return math.NaN(), math.NaN()
	}
	return linalg.Dot(c, r), linalg.Dot(c, c)
}
