// Package neighbours finds the rows of a table that a kernel correlates most with a point: its nearest neighbours.
//
// Nearness is correlation under the prior, k(x,x')²/(k(x,x)k(x',x')), at the θ of the search, so that it is defined for
// every kernel. Where the kernel has a metric (kernel.Metric: stationary ones and what is made of them) the order is
// that of distances in inputs over lengthscales, by which a k-d tree finds them; other kernels are asked for the
// covariances with all rows. Both are exact: of rows at the same distance those with lower numbers come first, a row's
// neighbours don't depend on the rows that are searched for beside it, nor on the number of processor cores.
package neighbours

import (
	"github.com/krigo-gp/krigo/kernel"
	"github.com/krigo-gp/krigo/matrix"
)

// Index answers which of its rows are nearest to a point. Several goroutines may ask it.
type Index struct {
	x  matrix.Dense
	by searcher
}

// searcher finds the m admitted rows of the least keys, then numbers, for every row of q, nearest first. Row i of q
// is known to admit by the number i; admit is nil where all rows count. rows and keys hold m entries for each.
type searcher interface {
	search(q matrix.Dense, m int, admit func(i, row int) bool, rows []int32, keys []float64)
}

// New returns an index of the rows of x, which it keeps, under the prior of the kernel at θ.
func New(k kernel.Kernel, theta []float64, x matrix.Dense) *Index {
	if inverse, ok := kernel.Metric(k, theta); ok && x.Rows > 0 {
		return &Index{x, newTree(x, inverse)}
	}
	return &Index{x, newScan(k, theta, x)}
}

// Metric says whether keys are squared distances, in inputs over lengthscales; else they are correlations squared,
// times −1.
func (ix *Index) Metric() bool {
	_, ok := ix.by.(*tree)
	return ok
}

// Nearest writes the numbers of the m rows nearest to every row of q, nearest first, and their keys unless keys is
// nil: m entries a row, None and +∞ where there are fewer.
func (ix *Index) Nearest(q matrix.Dense, m int, rows []int32, keys []float64) {
	ix.by.search(q, m, nil, rows, keys)
}

// Others is Nearest for rows [lo, hi) of the index, each without itself. A copy of a row is a neighbour like any other.
func (ix *Index) Others(lo, hi, m int, rows []int32) {
	ix.by.search(ix.x.RowRange(lo, hi), m, func(i, row int) bool { return row != lo+i }, rows, nil)
}

// Earlier is Nearest for rows [lo, hi) of the index, each among those whose place is before its own.
func (ix *Index) Earlier(place []int32, lo, hi, m int, rows []int32) {
	ix.by.search(ix.x.RowRange(lo, hi), m, func(i, row int) bool { return place[row] < place[lo+i] }, rows, nil)
}
