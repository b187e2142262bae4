package posterior

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/krigo-gp/krigo/internal/linalg"
	"github.com/krigo-gp/krigo/iterative"
	"github.com/krigo-gp/krigo/kernel"
)

// The exact posterior of more rows than can be factored. Its weights come from one solve by
// conjugate gradients. Its variances, too many solves, come from a low-rank
// C = R Rᵀ ⪯ (K + sI)⁻¹, or for a few rows from solves of their own; either way they are never
// under the exact ones.

// Iterative says how conjugate gradients solve; the zero value is ready to use.
type Iterative struct {
	Tolerance float64 // relative residual of the weights, 0: 1e-6
	Rank      int     // of the preconditioner, 0: iterative.Rank of the number of rows
	Progress  func(iterative.Progress)
}

// maxRoot is the rank of R: with 50,000 rows it takes 200 MB.
const maxRoot = 512

// NewIterative is NewExact without an N×N matrix: O(N·rank) memory, O(N²) time an
// iteration. It keeps x. An error may be an *iterative.Stalled one.
func NewIterative(ctx context.Context, k kernel.Kernel, theta []float64, mean kernel.Mean, beta []float64, x linalg.Matrix, y []float64, noise float64, o Iterative) (*Posterior, error) {
	p := &Posterior{Kernel: k, Theta: theta, Mean: mean, Beta: beta, Noise: noise, Support: x, Weights: make([]float64, x.Rows)}
	s, err := p.solver(o)
	if err != nil {
		return nil, err
	}
	b := linalg.Of(x.Rows, 1, p.residuals(y))
	if _, err := s.Solve(ctx, b, linalg.Of(x.Rows, 1, p.Weights)); err != nil {
		return nil, err
	}
	p.Root, err = root(p.covariance(), s.Preconditioner)
	return p, err
}

func (p *Posterior) covariance() iterative.Covariance {
	return iterative.Covariance{Kernel: p.Kernel, Theta: p.Theta, X: p.Support, Noise: p.Noise}
}

func (p *Posterior) solver(o Iterative) (iterative.Solver, error) {
	if o.Rank == 0 {
		o.Rank = iterative.Rank(p.Support.Rows)
	}
	c := p.covariance()
	pre, err := iterative.PivotedCholesky(c, o.Rank)
	return iterative.Solver{Times: c.Times, Preconditioner: pre, Tolerance: o.Tolerance, Progress: o.Progress}, err
}

// residuals returns y − m_β(X).
func (p *Posterior) residuals(y []float64) []float64 {
	r := make([]float64, len(y))
	p.Mean.At(p.Beta, p.Support, r)
	for i, m := range r {
		r[i] = y[i] - m
	}
	return r
}

// root returns R with R Rᵀ = Q(QᵀAQ)⁻¹Qᵀ for Q the first columns of the preconditioner's
// F: the best that weights of their span can do, in the norm of A, and so never more than
// A⁻¹ (Galerkin's projection).
func root(c iterative.Covariance, pre *iterative.Preconditioner) (linalg.Matrix, error) {
	n := c.X.Rows
	f := pre.Factor()
	for m := min(f.Cols, maxRoot); m > 0; m /= 2 {
		r, ar, g := linalg.New(n, m), linalg.New(n, m), linalg.New(m, m)
		r.CopyFrom(f.View(0, n, 0, m))
		c.Times(r, ar)
		linalg.GemmLower(true, false, 1, r, ar, 0, g)
		if linalg.Cholesky(g) == nil {
			linalg.Trsm(false, true, g, r)
			return r, nil
		}
		// The last columns of F are the smallest; what rounding leaves of them isn't
		// independent of the others.
	}
	return linalg.New(n, 1), nil // K is 0
}

// SolvedVariance writes the variance of f(x_i) with a solve for every row of x, to the
// relative residual given; it is for a posterior by NewIterative. What the residual
// leaves makes it larger: for any u, kᵀA⁻¹k ≥ 2kᵀu − uᵀAu.
func (p *Posterior) SolvedVariance(ctx context.Context, x linalg.Matrix, variance []float64, o Iterative) error {
	s, err := p.solver(o)
	if err != nil {
		return err
	}
	n := p.Support.Rows
	p.Kernel.Diag(p.Theta, x, variance)
	for i0 := 0; i0 < x.Rows; i0 += solvedRows {
		rows := x.RowRange(i0, min(i0+solvedRows, x.Rows))
		b, u := linalg.New(n, rows.Rows), linalg.New(n, rows.Rows)
		kernel.FillBlock(p.Kernel, p.Theta, p.Support, rows, b)
		solution, err := s.Solve(ctx, b, u)
		if err != nil {
			return err
		}
		for i := range n {
			for j, v := range u.Row(i) {
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
func (p *Posterior) Excess(ctx context.Context, x linalg.Matrix, o Iterative) (mean, largest float64, err error) {
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
// another model than the exact GP on all rows, whose variance is never larger.
func NewNearest(k kernel.Kernel, theta []float64, mean kernel.Mean, beta []float64, x linalg.Matrix, y []float64, noise float64, count int) *Posterior {
	p := &Posterior{Kernel: k, Theta: theta, Mean: mean, Beta: beta, Noise: noise, Support: x, Nearest: min(count, x.Rows)}
	p.Targets = p.residuals(y)
	return p
}

// latentNearest is Latent; variance may be nil.
func (p *Posterior) latentNearest(x linalg.Matrix, mean, variance []float64) {
	own, support := make([]float64, x.Rows), make([]float64, p.Support.Rows)
	p.Kernel.Diag(p.Theta, x, own)
	p.Kernel.Diag(p.Theta, p.Support, support)
	linalg.Parallel(x.Rows, func(i int) {
		m, v := p.nearest(x.RowRange(i, i+1), own[i], support)
		mean[i] += m
		if variance != nil {
			variance[i] = v
		}
	})
}

// nearest predicts one row; the mean is without the prior's. Where the covariance matrix
// can't be factored, results aren't numbers.
func (p *Posterior) nearest(x linalg.Matrix, priorVariance float64, supportVariance []float64) (mean, variance float64) {
	n, m := p.Support.Rows, p.Nearest
	ks := linalg.Borrow(1, n)
	p.Kernel.Cov(p.Theta, x, p.Support, ks)
	score := func(i int) float64 {
		if v := supportVariance[i]; v > 0 {
			return ks.Data[i] * ks.Data[i] / v
		}
		return 0
	}
	rows := smallest(n, m, func(a, b int) int { return cmp.Or(cmp.Compare(score(b), score(a)), cmp.Compare(a, b)) })
	slices.Sort(rows)
	near, k, rhs := linalg.Borrow(m, x.Cols), linalg.Borrow(m, m), linalg.Borrow(2, m)
	c, r := rhs.Row(0), rhs.Row(1)
	for i, row := range rows {
		copy(near.Row(i), p.Support.Row(row))
		c[i], r[i] = ks.Data[row], p.Targets[row]
	}
	p.Kernel.Cov(p.Theta, near, near, k)
	k.AddDiagonal(p.Noise)
	if linalg.Cholesky(k) != nil {
		mean, variance = math.NaN(), math.NaN()
	} else {
		linalg.Trsv(false, k, c)
		linalg.Trsv(false, k, r)
		mean, variance = linalg.Dot(c, r), max(priorVariance-linalg.Dot(c, c), 0)
	}
	linalg.Return(ks, near, k, rhs)
	return mean, variance
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

// Kind says how a posterior knows its covariance.
func (p *Posterior) Kind() string {
	switch {
	case p.Nearest > 0:
		return fmt.Sprintf("nearest %d rows", p.Nearest)
	case p.Chol.IsZero():
		return "cg"
	}
	return "cholesky"
}
