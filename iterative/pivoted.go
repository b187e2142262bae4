package iterative

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/krigo-gp/krigo/internal/linalg"
	"github.com/krigo-gp/krigo/kernel"
	"github.com/krigo-gp/krigo/matrix"
)

const (
	// negligible is a share of a row's variance.
	// A remainder below this counts as nothing, because it is rounding, or less than the jitter
	// that sparse objectives add to K_ZZ.
	negligible = 1e-10

	// factorBlock is the number of rows of a factor that one task updates.
	factorBlock = 1024

	// panel is the number of pivots that are chosen among candidates before all rows are updated at
	// once. An eighth of the rows are candidates, and at least 1,024.
	// With fewer candidates, panels would end before they are full.
	// With more, choosing would take the time that the matrix products save.
	panel, candidateShare, candidateLeast = 64, 8, 1024
)

// PartialCholesky is a partial Cholesky factorisation of a positive semidefinite n×n matrix A with
// pivots in any order. A ≈ V Vᵀ, and the pivots' rows and columns are exact.
type PartialCholesky struct {
	V    matrix.Dense // n×m, with the first len(Rows) columns filled
	Left []float64    // diag(A − V Vᵀ), with 0 for negligible values
	Rows []int        // the pivots

	small []float64 // the largest negligible value, for each row
}

// NewPartialCholesky starts a factorisation with up to m columns. It keeps diag, A's diagonal.
func NewPartialCholesky(diag []float64, m int) *PartialCholesky {
	small := make([]float64, len(diag))
	linalg.Axpy(negligible, diag, small)
	return &PartialCholesky{V: matrix.New(len(diag), m), Left: diag, small: small}
}

// Add makes row i the next pivot. fill writes A_i,r0 … A_i,r1−1 to a matrix with one row.
func (f *PartialCholesky) Add(i int, fill func(r0, r1 int, column matrix.Dense)) {
	j := len(f.Rows)
	scale := 1 / math.Sqrt(f.Left[i])
	vi := f.V.Row(i)[:j]
	linalg.Blocks(f.V.Rows, factorBlock, func(r0, r1 int) {
		column := linalg.Borrow(1, r1-r0)
		fill(r0, r1, column)
		linalg.Gemv(false, -1, f.V.View(r0, r1, 0, j), vi, 1, column.Data)
		for r, c := range column.Data {
			r += r0
			c *= scale
			f.V.Set(r, j, c)
			if f.Left[r] -= c * c; f.Left[r] <= f.small[r] {
				f.Left[r] = 0
			}
		}
		linalg.Return(column)
	})
	f.Left[i] = 0
	f.Rows = append(f.Rows, i)
}

// Pivoting is the factorisation of K(X,X) with the greatest pivot first:
// each pivot is the row with the greatest variance given the earlier pivots (Fine & Scheinberg
// 2001; Foster et al. 2009).
type Pivoting struct {
	*PartialCholesky
	kernel kernel.Kernel
	theta  []float64
	x      matrix.Dense
}

// NewPivoting starts a factorisation with up to m columns.
func NewPivoting(k kernel.Kernel, theta []float64, x matrix.Dense, m int) Pivoting {
	diag := make([]float64, x.Rows)
	k.Diag(theta, x, diag)
	return Pivoting{NewPartialCholesky(diag, m), k, theta, x}
}

// Extend adds up to limit pivots. It adds fewer if nothing is left, or if all rows must be updated
// first. It returns how much each pivot takes from the trace of K − V Vᵀ, and nothing if nothing is
// left.
//
// Extend looks for the next pivots among the rows with most Left.
// Left never grows, so these are the pivots of all rows as long as one candidate has more left than
// any other row had. Then matrix products update all rows at once.
func (g Pivoting) Extend(limit int) []float64 {
	pivots, l := g.ahead(min(panel, limit))
	if len(pivots) == 0 {
		return nil
	}
	return g.extend(pivots, l)
}

// ahead returns up to p next pivots, and their p×p part of the factor.
func (g Pivoting) ahead(p int) (pivots []int, l matrix.Dense) {
	// Only the rows with the most variance left are candidates. A pivot counts while none of the
	// other rows has more left than it.
	order := linalg.UpTo(g.x.Rows)
	slices.SortFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(g.Left[b], g.Left[a]), cmp.Compare(a, b))
	})
	c := max(g.x.Rows/candidateShare, candidateLeast)
	others := -1.
	if c < g.x.Rows {
		others = g.Left[order[c]]
		order = order[:c]
	}
	slices.Sort(order) // the first of equal rows is chosen

	x := take(g.x, order)
	v := take(g.V.View(0, g.x.Rows, 0, len(g.Rows)), order)
	f := &PartialCholesky{V: matrix.New(len(order), p), Left: make([]float64, len(order)),
		small: make([]float64, len(order))}
	for i, r := range order {
		f.Left[i], f.small[i] = g.Left[r], g.small[r]
	}
	for len(f.Rows) < p {
		g.x.Check()
		i := floats.MaxIdx(f.Left)
		if f.Left[i] == 0 || (len(f.Rows) > 0 && f.Left[i] <= others) {
			break
		}
		// the candidates' remaining covariances with the pivot: K − V Vᵀ
		f.Add(i, func(r0, r1 int, column matrix.Dense) {
			g.kernel.Cov(g.theta, x.RowRange(i, i+1), x.RowRange(r0, r1), column)
			linalg.Gemv(false, -1, v.RowRange(r0, r1), v.Row(i), 1, column.Data)
		})
		pivots = append(pivots, order[i])
	}
	return pivots, take(f.V.View(0, len(order), 0, len(f.Rows)), f.Rows)
}

// extend makes pivots the next columns, (K_XP − V V_Pᵀ) L⁻ᵀ, and returns how much each takes from
// the trace.
func (g Pivoting) extend(pivots []int, l matrix.Dense) []float64 {
	j := len(g.Rows)
	p := len(pivots)
	z := take(g.x, pivots)
	vz := take(g.V.View(0, g.x.Rows, 0, j), pivots)
	taken := matrix.New((g.x.Rows+factorBlock-1)/factorBlock, p)
	// Blocks of rows are independent. Each sums what the columns take from its part of the trace.
	linalg.Parallel(taken.Rows, func(b int) {
		g.x.Check()
		r0 := b * factorBlock
		r1 := min((b+1)*factorBlock, g.x.Rows)
		columns := g.V.View(r0, r1, j, j+p)
		g.kernel.Cov(g.theta, g.x.RowRange(r0, r1), z, columns)
		linalg.Gemm(false, true, -1, g.V.View(r0, r1, 0, j), vz, 1, columns)
		linalg.Trsm(false, true, l, columns)
		for i := range columns.Rows {
			for t, v := range columns.Row(i) {
				taken.Row(b)[t] += v * v
				g.Left[r0+i] -= v * v
			}
			// what is left is rounding
			if g.Left[r0+i] <= g.small[r0+i] {
				g.Left[r0+i] = 0
			}
		}
	})
	for b := 1; b < taken.Rows; b++ {
		linalg.Axpy(1, taken.Row(b), taken.Row(0))
	}
	for _, i := range pivots {
		g.Left[i] = 0
	}
	g.Rows = append(g.Rows, pivots...)
	return taken.Row(0)
}

// take copies rows of x.
func take(x matrix.Dense, rows []int) matrix.Dense {
	return linalg.Pick(matrix.New(len(rows), x.Cols), x, rows)
}
