// Package neighbours finds the rows of a table that a kernel correlates most with a point: its nearest neighbours.
//
// Nearness is correlation under the prior, k(x,x')²/(k(x,x)k(x',x')), at the θ of the search, so that it is defined for
// every kernel. Where the kernel has a metric (kernel.Metric: stationary ones and what is made of them) the order is
// that of distances in inputs over lengthscales, by which a k-d tree finds them; other kernels are asked for the
// covariances with all rows. Both are exact. Of more than CorrelatedRows rows, products of kernels whose metrics differ
// take distances in a joint one (kernel.Joint), which orders rows about as correlation does: of the 64 or 512
// neighbours by correlation 86 to 98 in a hundred are among as many by that (matern32*matern12, 3 and 8 inputs,
// lengthscales e^z with z standard normal). Always, of rows with the same key those with lower numbers come first, a
// row's neighbours don't depend on the rows that are searched for beside it, nor on the number of processor cores.
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

// CorrelatedRows are the most whose correlations with every point are computed where a product of kernels has no
// metric. A pass over more for each point would take longer than what is done with its neighbours.
const CorrelatedRows = 50_000

// New returns an index of the rows of x, which it keeps, under the prior of the kernel at θ.
func New(k kernel.Kernel, theta []float64, x matrix.Dense) *Index {
	inverse, ok := kernel.Metric(k, theta)
	if !ok && x.Rows > CorrelatedRows {
		inverse, ok = kernel.Joint(k, theta)
	}
	if ok && x.Rows > 0 {
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

// Others is Nearest for some rows of the index, each without itself. A copy of a row is a neighbour like any other.
func (ix *Index) Others(of []int, m int, rows []int32) {
	ix.by.search(ix.rows(of), m, func(i, row int) bool { return row != of[i] }, rows, nil)
}

// Outside is Nearest for some rows of the index, each among those whose unit isn't its own.
func (ix *Index) Outside(unit, of []int, m int, rows []int32) {
	ix.by.search(ix.rows(of), m, func(i, row int) bool { return unit[row] != unit[of[i]] }, rows, nil)
}

// Earlier is Nearest for some rows of the index, each among those whose place is before its own.
func (ix *Index) Earlier(place []int32, of []int, m int, rows []int32) {
	ix.by.search(ix.rows(of), m, func(i, row int) bool { return place[row] < place[of[i]] }, rows, nil)
}

// rows copies those with the numbers given.
func (ix *Index) rows(of []int) matrix.Dense {
	x := matrix.New(len(of), ix.x.Cols)
	for i, row := range of {
		copy(x.Row(i), ix.x.Row(row))
	}
	return x
}
