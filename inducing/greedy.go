package inducing

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/krigo-gp/krigo/internal/linalg"
	"github.com/krigo-gp/krigo/kernel"
)

const (
	// DefaultTolerance is the share of the prior's variance that AutoSize may leave
	// unexplained. The trace term of the variational bound is tr(K − Q)/(2σ_n²): where
	// the noise has a tenth of the variance of f, 0.01 costs 0.05 nats a row.
	DefaultTolerance = 0.01

	// negligible is the share of its variance under which what a row has left is called
	// nothing: rounding, or less than the jitter that the objectives add to K_ZZ.
	negligible = 1e-10

	// greedyBytes bounds the partial factor. Where N rows need more, rows are chosen from
	// a random subset that fits, but of 4M rows at least.
	greedyBytes = 256 << 20

	// factorBlock is the number of rows of a factor that one task brings up to date.
	factorBlock = 1024

	// panel is the number of rows that are chosen among candidates before all rows are
	// brought up to date at once. Candidates are an eighth of the rows, and 1,024 at least:
	// fewer would end panels early, more would cost what the matrix products save.
	panel, candidateShare, candidateLeast = 64, 8, 1024
)

// Approximation is a Set and what its Nyström approximation of K leaves. Where the rows
// were chosen from a subset of the table, Trace and Share are estimates from what is left
// at the others of the subset; they are low, since the choice has seen those, by a few
// percent where the subset has 30 rows for each that was chosen.
type Approximation struct {
	Set
	Trace float64 // tr(K − Q)
	Share float64 // tr(K − Q)/tr K
}

// Greedy chooses up to m rows, each the one of greatest variance given those before it,
// which is Cholesky's factorisation with pivoting stopped early (Fine & Scheinberg 2001;
// Foster et al. 2009; for inducing inputs Burt et al. 2020). Outlying rows come first: with
// few inducing inputs for the table, k-means may leave less. It stops before m where
// nothing is left to explain: rows that repeat others are never chosen. Time O(NM²),
// memory O(NM) up to 256 MiB; where that is passed, it works on a random subset of the
// rows, always the same.
func Greedy(k kernel.Kernel, theta []float64, x linalg.Matrix, m int) (Approximation, error) {
	return greedy(k, theta, x, m, negligible, greedyBytes)
}

// AutoSize is Greedy until a share of at most tolerance is left unexplained: len(Rows) is
// the smallest number of greedily chosen inducing inputs that leave no more. capped says
// that maxM weren't enough.
func AutoSize(k kernel.Kernel, theta []float64, x linalg.Matrix, maxM int, tolerance float64) (a Approximation, capped bool, err error) {
	if !(tolerance >= 0 && tolerance < 1) {
		return a, false, fmt.Errorf("a tolerance of %g: want a share of the prior's variance, from 0 up to 1", tolerance)
	}
	tolerance = max(tolerance, negligible)
	a, err = greedy(k, theta, x, maxM, tolerance, greedyBytes)
	return a, a.Share > tolerance, err
}

func greedy(k kernel.Kernel, theta []float64, x linalg.Matrix, m int, tolerance float64, bytes int) (Approximation, error) {
	if err := check(x, m); err != nil {
		return Approximation{}, err
	}
	total, err := trace(k, theta, x)
	if err != nil {
		return Approximation{}, err
	}
	from := subset(x.Rows, max(bytes/(8*m), 4*m), rand.New(rand.NewPCG(0, 0)))
	s := x
	if len(from) < x.Rows {
		s = take(x, from)
	}
	diag := make([]float64, s.Rows)
	k.Diag(theta, s, diag)
	g := search{kernel: k, theta: theta, x: s, factor: newFactor(diag, m)}
	all := linalg.Sum(g.left)
	left, share := all, 1.
	var rows []int
	for len(rows) < m && share > tolerance {
		pivots, l := g.ahead(min(panel, m-len(rows)))
		if len(pivots) == 0 {
			break
		}
		taken := g.extend(pivots, l)
		for i, r := range pivots {
			if left -= taken[i]; i == len(pivots)-1 {
				left = linalg.Sum(g.left)
			}
			rows = append(rows, from[r])
			share = max(left, 0) / all
			if s.Rows < x.Rows { // a larger share of the subset's rows is chosen, where nothing is left
				unchosen := func(n int) float64 { return 1 - float64(len(rows))/float64(n) }
				share *= unchosen(x.Rows) / unchosen(s.Rows)
			}
			if share <= tolerance {
				break
			}
		}
	}
	return Approximation{Set: setOf(x, rows), Trace: share * total, Share: share}, nil
}

// trace returns tr K(X, X).
func trace(k kernel.Kernel, theta []float64, x linalg.Matrix) (float64, error) {
	diag := make([]float64, x.Rows)
	k.Diag(theta, x, diag)
	t := linalg.Sum(diag)
	if !(t > 0) || math.IsInf(t, 0) {
		return 0, fmt.Errorf("inducing inputs: the kernel's variances at the rows sum to %g, not to a positive number", t)
	}
	return t, nil
}

// factor is a partial Cholesky factorisation of a positive semidefinite n×n matrix A with
// pivots in any order: A ≈ V Vᵀ, exactly so in the pivots' rows and columns.
type factor struct {
	v     linalg.Matrix // n×m, of which len(rows) columns are made
	left  []float64     // diag(A − V Vᵀ); 0 where that is negligible
	small []float64     // what is negligible
	rows  []int         // the pivots
}

// newFactor starts a factorisation of up to m columns; it keeps diag, A's diagonal.
func newFactor(diag []float64, m int) *factor {
	small := make([]float64, len(diag))
	linalg.Axpy(negligible, diag, small)
	return &factor{v: linalg.New(len(diag), m), left: diag, small: small}
}

// add makes row i the next pivot; fill writes A_i,r0 … A_i,r1−1 to a matrix of one row.
func (f *factor) add(i int, fill func(r0, r1 int, column linalg.Matrix)) {
	n, j := f.v.Rows, len(f.rows)
	scale, vi := 1/math.Sqrt(f.left[i]), f.v.Row(i)[:j]
	linalg.Parallel((n+factorBlock-1)/factorBlock, func(b int) {
		r0, r1 := b*factorBlock, min((b+1)*factorBlock, n)
		column := linalg.Borrow(1, r1-r0)
		fill(r0, r1, column)
		linalg.Gemv(false, -1, f.v.View(r0, r1, 0, j), vi, 1, column.Data)
		for r, c := range column.Data {
			r += r0
			c *= scale
			f.v.Set(r, j, c)
			if f.left[r] -= c * c; f.left[r] <= f.small[r] {
				f.left[r] = 0
			}
		}
		linalg.Return(column)
	})
	f.left[i] = 0
	f.rows = append(f.rows, i)
}

// search is the factorisation of K(X, X) with the greatest pivot first. The next pivots
// are sought among the rows that have most left: nothing ever gains, so that they are the
// pivots of all rows for as long as one of them has more left than any other row had. All
// rows are then brought up to date at once, by matrix products.
type search struct {
	*factor
	kernel kernel.Kernel
	theta  []float64
	x      linalg.Matrix
}

// ahead returns the next pivots, up to p of them, and their part of the factor, p×p.
func (g *search) ahead(p int) (pivots []int, l linalg.Matrix) {
	n, done := g.x.Rows, len(g.rows)
	order := subset(n, n, nil)
	slices.SortFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(g.left[b], g.left[a]), cmp.Compare(a, b))
	})
	c, others := max(n/candidateShare, candidateLeast), -1.
	if c < n {
		others = g.left[order[c]]
		order = order[:c]
	}
	slices.Sort(order) // of equal rows the first is chosen

	x, v := take(g.x, order), take(g.v.View(0, n, 0, done), order)
	f := &factor{v: linalg.New(len(order), p), left: make([]float64, len(order)), small: make([]float64, len(order))}
	for i, r := range order {
		f.left[i], f.small[i] = g.left[r], g.small[r]
	}
	for len(f.rows) < p {
		i := floats.MaxIdx(f.left)
		if f.left[i] == 0 || len(f.rows) > 0 && f.left[i] <= others {
			break
		}
		f.add(i, func(r0, r1 int, column linalg.Matrix) {
			g.kernel.Cov(g.theta, x.RowRange(i, i+1), x.RowRange(r0, r1), column)
			linalg.Gemv(false, -1, v.RowRange(r0, r1), v.Row(i), 1, column.Data)
		})
		pivots = append(pivots, order[i])
	}
	return pivots, take(f.v.View(0, len(order), 0, len(f.rows)), f.rows)
}

// extend makes pivots the next columns, (K_XP − V V_Pᵀ) L⁻ᵀ, and returns what each took
// from the trace.
func (g *search) extend(pivots []int, l linalg.Matrix) []float64 {
	n, j, p := g.x.Rows, len(g.rows), len(pivots)
	z, vz := take(g.x, pivots), take(g.v.View(0, n, 0, j), pivots)
	taken := linalg.New((n+factorBlock-1)/factorBlock, p)
	linalg.Parallel(taken.Rows, func(b int) {
		r0, r1 := b*factorBlock, min((b+1)*factorBlock, n)
		columns := g.v.View(r0, r1, j, j+p)
		g.kernel.Cov(g.theta, g.x.RowRange(r0, r1), z, columns)
		linalg.Gemm(false, true, -1, g.v.View(r0, r1, 0, j), vz, 1, columns)
		linalg.Trsm(false, true, l, columns)
		for i := range columns.Rows {
			for t, v := range columns.Row(i) {
				taken.Row(b)[t] += v * v
				g.left[r0+i] -= v * v
			}
			if g.left[r0+i] <= g.small[r0+i] {
				g.left[r0+i] = 0
			}
		}
	})
	for b := 1; b < taken.Rows; b++ {
		linalg.Axpy(1, taken.Row(b), taken.Row(0))
	}
	for _, i := range pivots {
		g.left[i] = 0
	}
	g.rows = append(g.rows, pivots...)
	return taken.Row(0)
}
