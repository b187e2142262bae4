package posterior

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/krigo-gp/krigo/internal/linalg"
	"github.com/krigo-gp/krigo/iterative"
	"github.com/krigo-gp/krigo/kernel"
	"github.com/krigo-gp/krigo/matrix"
	"github.com/krigo-gp/krigo/ranks"
)

// The exact posterior of more rows than can be factored. Its weights come from one solve by
// conjugate gradients. Its variances, which would take a solve for each row, are those given
// the nearest rows of the support alone: never under the exact ones, since to condition on
// fewer rows leaves more variance, and close to them where near rows say what there is to
// know. (A low-rank factor of C⁻¹ for all rows together isn't: on 1,600 rows of kin40k, the
// best of rank 200 leaves 4.6 times the exact variance.) A few rows may be solved for exactly.

// Iterative says how conjugate gradients solve; the zero value is ready to use.
type Iterative struct {
	Tolerance float64 // relative residual of the weights, 0: 1e-6
	Rank      int     // of the preconditioner, 0: iterative.Rank of the number of rows
	Progress  func(iterative.Progress)
	Ranks     ranks.Ranks // share the products with the covariance matrix, unless nil
}

// NewIterative is NewExact without an N×N matrix: O(N·rank) memory, O(N²) time an
// iteration. Variances are conditioned on the nearest rows of x, see NewNearest. It keeps x. An error
// may be an *iterative.Stalled one.
func NewIterative(ctx context.Context, k kernel.Kernel, theta []float64, mean kernel.Mean, beta []float64, x matrix.Dense, y []float64, noise float64, nearest int, o Iterative) (*Posterior, error) {
	p := NewNearest(k, theta, mean, beta, x, y, noise, nearest)
	ctx, fail := context.WithCancelCause(ctx)
	defer fail(nil)
	s, err := p.solver(o, fail)
	if err != nil {
		return nil, err
	}
	b, w := matrix.Of(x.Rows, 1, p.Targets), matrix.New(x.Rows, 1)
	if _, err := s.Solve(ctx, b, w); cause(ctx, err) != nil {
		return nil, cause(ctx, err)
	}
	p.Weights, p.Targets = w.Data, nil
	return p, nil
}

func (p *Posterior) covariance() iterative.Covariance {
	return iterative.Covariance{Kernel: p.Kernel, Theta: p.Theta, X: p.Support, Noise: p.Noise}
}

// cause is what ended ctx, if it has ended, else err.
func cause(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// solver tells fail where ranks can't go on.
func (p *Posterior) solver(o Iterative, fail func(error)) (iterative.Solver, error) {
	if o.Rank == 0 {
		o.Rank = iterative.Rank(p.Support.Rows)
	}
	c := p.covariance()
	pre, err := iterative.PivotedCholesky(c, o.Rank)
	s := iterative.Solver{Times: c.Times, Rough: c.Rough(), Preconditioner: pre, Tolerance: o.Tolerance, Progress: o.Progress}
	if o.Ranks != nil && o.Ranks.Size() > 1 {
		s.Times, s.Rough = c.Shared(o.Ranks, fail), nil
	}
	return s, err
}

// SolvedVariance writes the variance of f(x_i) with a solve for every row of x, to the
// relative residual given; it is for a posterior by NewIterative. What the residual
// leaves makes it larger: for any u, kᵀA⁻¹k ≥ 2kᵀu − uᵀAu.
func (p *Posterior) SolvedVariance(ctx context.Context, x matrix.Dense, variance []float64, o Iterative) error {
	ctx, fail := context.WithCancelCause(ctx)
	defer fail(nil)
	s, err := p.solver(o, fail)
	if err != nil {
		return err
	}
	n := p.Support.Rows
	p.Kernel.Diag(p.Theta, x, variance)
	for i0 := 0; i0 < x.Rows; i0 += solvedRows {
		rows := x.RowRange(i0, min(i0+solvedRows, x.Rows))
		// Products with one column round otherwise than with several: no row is alone.
		cols := max(rows.Rows, 2)
		b, u := matrix.New(n, cols), matrix.New(n, cols)
		kernel.FillBlock(p.Kernel, p.Theta, p.Support, rows, b.View(0, n, 0, rows.Rows))
		solution, err := s.Solve(ctx, b, u)
		if err = cause(ctx, err); err != nil {
			return err
		}
		for i := range n {
			for j, v := range u.Row(i)[:rows.Rows] {
				variance[i0+j] -= v * (b.At(i, j) + solution.Residuals.At(i, j))
			}
		}
	}
	for i, v := range variance {
		variance[i] = max(v, 0)
	}
	return nil
}

// solvedRows is the number of rows that are solved for together.
const solvedRows = 64

// Excess compares the variances of Latent with those of SolvedVariance at the rows of x and
// returns by what factor they are larger, on average and at most, noise included.
func (p *Posterior) Excess(ctx context.Context, x matrix.Dense, o Iterative) (mean, largest float64, err error) {
	n := x.Rows
	m, v, exact := make([]float64, n), make([]float64, n), make([]float64, n)
	p.Latent(x, m, v)
	if err := p.SolvedVariance(ctx, x, exact, o); err != nil {
		return 0, 0, err
	}
	for i, e := range exact {
		f := (v[i] + p.Noise) / (e + p.Noise)
		mean += f / float64(n)
		largest = max(largest, f)
	}
	return mean, largest, nil
}

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
const nearestTask = 16

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
// they explain. Where their covariance matrix can't be factored, these aren't numbers.
func (p *Posterior) local(ks, variance []float64) (mean, explained float64) {
	score := func(i int) float64 {
		if v := variance[i]; v > 0 {
			return ks[i] * ks[i] / v
		}
		return 0
	}
	m := p.Nearest
	rows := smallest(len(ks), m, func(a, b int) int { return cmp.Or(cmp.Compare(score(b), score(a)), cmp.Compare(a, b)) })
	slices.Sort(rows)
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

// smallest returns the first m of 0 … n−1 in the order given, themselves in any order, by
// keeping the best m in a heap with the worst of them on top.
func smallest(n, m int, order func(a, b int) int) []int {
	heap := make([]int, 0, m)
	down := func(i int) {
		for {
			c := 2*i + 1
			if c >= len(heap) {
				return
			}
			if c+1 < len(heap) && order(heap[c+1], heap[c]) > 0 {
				c++
			}
			if order(heap[c], heap[i]) <= 0 {
				return
			}
			heap[i], heap[c] = heap[c], heap[i]
			i = c
		}
	}
	for i := range n {
		switch {
		case len(heap) < m:
			heap = append(heap, i)
			if len(heap) == m {
				for j := m/2 - 1; j >= 0; j-- {
					down(j)
				}
			}
		case order(i, heap[0]) < 0:
			heap[0] = i
			down(0)
		}
	}
	return heap
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
