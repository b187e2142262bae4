package inducing

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/krigo-gp/krigo/internal/linalg"
	"github.com/krigo-gp/krigo/iterative"
	"github.com/krigo-gp/krigo/kernel"
	"github.com/krigo-gp/krigo/matrix"
)

const (
	// DefaultTolerance is the share of the prior's variance that AutoSize may leave unexplained.
	// The trace term of the variational bound is tr(K − Q)/(2σ_n²).
	// If the noise variance is a tenth of the variance of f, a share of 0.01 costs 0.05 nats a row.
	DefaultTolerance = 0.01

	// negligible is the smallest tolerance, as a share of a row's variance.
	// Below it a remainder is rounding, or less than the jitter added to K_ZZ.
	negligible = 1e-10

	// greedyBytes limits the partial factor. If N rows need more, rows are chosen from a random
	// subset that fits, with at least 4M rows.
	greedyBytes = 256 << 20
)

// Approximation is a Set with what its Nyström approximation of K leaves unexplained.
// If the rows were chosen from a subset of the table, Trace and Share are estimates from the other
// rows of the subset. These estimates are too low, because the choice has seen the rows.
// If the subset has 30 rows for each chosen row, they are too low by a few percent.
type Approximation struct {
	Set
	Trace float64 // tr(K − Q)
	Share float64 // tr(K − Q)/tr K
}

// Greedy chooses up to m rows. Each has the greatest variance given the rows chosen before it.
// This is Cholesky's factorisation with pivoting, stopped early (Fine & Scheinberg 2001;
// Foster et al. 2009; for inducing inputs Burt et al. 2020).
// Outlying rows come first, so with few inducing inputs for the table, k-means may leave less
// unexplained.
// Greedy stops early if nothing is left to explain, and it never chooses a row that repeats
// another. Time O(NM²), memory O(NM) up to 256 MiB.
// Above that it works on a random subset of the rows, which is always the same.
func Greedy(k kernel.Kernel, theta []float64, x matrix.Dense, m int) (Approximation, error) {
	return greedy(k, theta, x, m, negligible, greedyBytes)
}

// AutoSize runs Greedy until a share of at most tolerance is left unexplained.
// len(Rows) is the smallest number of greedily chosen inducing inputs for which this is so.
// capped says that maxM weren't enough.
func AutoSize(k kernel.Kernel, theta []float64, x matrix.Dense, maxM int,
	tolerance float64) (a Approximation, capped bool, err error) {
	if !(tolerance >= 0 && tolerance < 1) {
		return a, false, fmt.Errorf("a tolerance of %g: want a share of the prior's variance, "+
			"from 0 up to 1", tolerance)
	}
	tolerance = max(tolerance, negligible)
	a, err = greedy(k, theta, x, maxM, tolerance, greedyBytes)
	return a, a.Share > tolerance, err
}

// greedy does what Greedy does, and stops if at most the share tolerance is left unexplained.
// The partial factor takes at most bytes, or the memory for 4m rows if that is more.
func greedy(k kernel.Kernel, theta []float64, x matrix.Dense, m int, tolerance float64,
	bytes int) (Approximation, error) {
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
	g := iterative.NewPivoting(k, theta, s, m)
	all := linalg.Sum(g.Left)
	left := all
	share := 1.
	var rows []int
	for len(rows) < m && share > tolerance {
		// Extend chooses several rows at once. The share falls row by row, so that no row too many
		// is kept.
		taken := g.Extend(m - len(rows))
		if len(taken) == 0 {
			break
		}
		for i, r := range g.Rows[len(g.Rows)-len(taken):] {
			// At the end of a batch, the sum is taken anew, which drops rounding errors.
			if left -= taken[i]; i == len(taken)-1 {
				left = linalg.Sum(g.Left)
			}
			rows = append(rows, from[r])
			share = max(left, 0) / all
			// chosen rows have no variance left, and are a larger share of s than of x
			if s.Rows < x.Rows {
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
func trace(k kernel.Kernel, theta []float64, x matrix.Dense) (float64, error) {
	diag := make([]float64, x.Rows)
	k.Diag(theta, x, diag)
	t := linalg.Sum(diag)
	if !(t > 0) || math.IsInf(t, 0) {
		return 0, fmt.Errorf("inducing inputs: the kernel's variances at the rows sum to %g, not "+
			"to a positive number", t)
	}
	return t, nil
}
