package posterior

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/krigo-gp/krigo/internal/linalg"
	"github.com/krigo-gp/krigo/internal/neighbours"
	"github.com/krigo-gp/krigo/kernel"
	"github.com/krigo-gp/krigo/matrix"
)

// near predicts each row by the nearest ones of the support. Only single points have variances: there is no process.
type near struct {
	count int // rows of the support
	index func() *neighbours.Index
}

// newNear finds the rows by an index that is made when it is first asked for, once.
func newNear(p *Posterior, count int) near {
	return near{min(count, p.Support.Rows),
		sync.OnceValue(func() *neighbours.Index { return neighbours.New(p.Kernel, p.Theta, p.Support) })}
}

func (near) Inducing() int                                  { return 0 }
func (near) kl(*Posterior) float64                          { return math.NaN() }
func (near) rounding(*Posterior) float64                    { return math.NaN() }
func (near) explain(*Posterior, matrix.Dense, matrix.Dense) { panic("posterior: no joint covariance") }

func (near) leaveOneOut(*Posterior, []float64) (mean, variance []float64, ok bool) {
	return nil, nil, false
}

func (near) prior(*kernel.Conditional) error {
	return errors.New("a posterior by conjugate gradients or nearest rows can't be a prior: its covariance isn't factored")
}

func (s near) work(n, d float64, _ bool) float64 {
	k := float64(s.count)
	return k*k*k/3 + 2*n*d
}

// Nearest is the solution that predicts a row by the exact GP of the rows of the support with which the prior
// correlates it most (package neighbours): for stationary kernels, the nearest. It is another model than the exact GP
// on all rows.
type Nearest struct {
	near
	Targets []float64 // y − m_β(X)
}

var _ Solution = (*Nearest)(nil)

// NewNearest returns a posterior that predicts each row by count rows of x. It keeps x.
func NewNearest(g Given, count int) *Posterior {
	k, theta, mean, beta, x, y, noise := g.Kernel, g.Theta, g.Mean, g.Beta, g.X, g.Y, g.Noise
	p := &Posterior{Kernel: k, Theta: theta, Mean: mean, Beta: beta, Noise: noise, Support: x}
	targets := make([]float64, len(y))
	mean.At(beta, x, targets)
	for i, m := range targets {
		targets[i] = y[i] - m
	}
	p.Solution = &Nearest{newNear(p, count), targets}
	return p
}

func (*Nearest) Kind() string { return ByNearest }

func (*Nearest) Joint() error {
	return errors.New("each prediction stands on other rows: there is no one posterior Q to certify; --prior " +
		"informed certifies the mean by its own misses, and kl-pac with inducing inputs has a Q")
}

func (*Nearest) Drawable() error {
	return errors.New("a posterior of the nearest rows can't be sampled: each prediction stands on other rows, so they " +
		"have no joint distribution: fit one with --solver cholesky or cg, or with inducing inputs")
}

func (q *Nearest) Local() string { return fmt.Sprintf("the %d training rows nearest to it", q.count) }

func (q *Nearest) Arrays() ([]Array, int) { return []Array{list("targets", q.Targets)}, q.count }

func (q *Nearest) until(context.Context) Solution { return q }
func (*Nearest) Weights() []float64               { return nil }

func (q *Nearest) latent(p *Posterior, x matrix.Dense, mean, variance []float64) {
	if variance != nil {
		p.Kernel.Diag(p.Theta, x, variance)
	}
	q.nearest(p, q.Targets, x, mean, variance)
}

func (*Nearest) conditioning(context.Context, *Posterior, Iterative) (conditioner, error) {
	return nil, (*Nearest)(nil).Drawable()
}

// refactor finds the rows by an index that is made anew.
func (q *Nearest) refactor(p *Posterior) (Solution, error) {
	return &Nearest{newNear(p, q.count), q.Targets}, nil
}

func (q *Nearest) follows(_ *Posterior, y, mean []float64, at Made) error {
	for i := range y {
		residual := y[i] - mean[i]
		if !(math.Abs(q.Targets[at.Place(i)]-residual) <= at.Tolerance*(math.Abs(y[i])+math.Abs(mean[i]))) {
			return ErrOther
		}
	}
	return nil
}

const (
	nearestTask = 32      // rows that a task predicts
	nearestRows = 1 << 14 // rows whose neighbours are in memory at a time
)

// nearest adds to the prior's mean what targets make of it, unless they are nil, and takes from its variance, which may
// be nil.
func (s near) nearest(p *Posterior, targets []float64, x matrix.Dense, mean, variance []float64) {
	m := s.count
	rows := make([]int32, min(x.Rows, nearestRows)*m)
	for i0 := 0; i0 < x.Rows; i0 += nearestRows {
		i1 := min(i0+nearestRows, x.Rows)
		s.index().Nearest(x.RowRange(i0, i1), m, rows, nil)
		linalg.Parallel((i1-i0+nearestTask-1)/nearestTask, func(t int) {
			near := &local{p, targets, linalg.Borrow(m, p.Support.Cols), linalg.Borrow(m+2, m+2)}
			for i := i0 + t*nearestTask; i < min(i0+(t+1)*nearestTask, i1); i++ {
				m, explained := near.condition(x.RowRange(i, i+1), rows[(i-i0)*m:][:m])
				mean[i] += m
				if variance != nil {
					variance[i] = max(variance[i]-explained, 0)
				}
			}
			linalg.Return(near.x, near.k)
		})
	}
}

// local conditions single rows on their nearest ones.
type local struct {
	*Posterior
	targets []float64
	x       matrix.Dense // the nearest rows
	// k is their C, and below it a row k(x)ᵀ and a row rᵀ, which become L⁻¹k(x) and L⁻¹r where C becomes L.
	k matrix.Dense
}

// uncounted stands on the diagonal where only what is left of it counts: whatever is taken from it leaves it positive.
const uncounted = math.MaxFloat64 / 4

// condition conditions a point on rows of the support, which it takes in their order there: which of them is nearest
// doesn't show in the last digits. It returns what they add to the mean, nothing without targets, and
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
		if r[i] = 0; l.targets != nil {
			r[i] = l.targets[row]
		}
	}
	kernel.At(l.Kernel, l.Theta).FillLower(l.x, l.k.View(0, m, 0, m))
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
