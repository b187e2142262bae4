// Package neighbours finds the rows of a table that a kernel correlates most with a point:
// its nearest neighbours.
//
// Nearness is correlation under the prior, k(x,x')²/(k(x,x)k(x',x')), at the θ of the search.
// So it is defined for every kernel. If the kernel has a metric (kernel.Metric:
// stationary kernels, and most sums and products of them), the order is the order of distances
// between inputs divided by lengthscales, and a k-d tree finds the rows.
// For a product of such kernels with different metrics, the search bounds the covariances with
// boxes of rows, and leaves out boxes with small bounds.
// For other kernels it computes the covariances with all rows. All ways are exact.
//
// One case is approximate: a product of kernels with different metrics, on more than CorrelatedRows
// rows or in an index that About returns. It uses distances in a joint metric (kernel.Joint), which
// orders rows about as correlation does.
// Of the 64 or 512 neighbours by correlation, 86 to 98 % are among the 64 or 512 neighbours by the
// joint metric (matern32*matern12, 3 and 8 inputs, lengthscales e^z with z standard normal).
//
// Of rows with the same key, lower numbers come first.
// A row's neighbours depend on neither the rows that are searched for at the same time nor the
// number of cores.
package neighbours

import (
	"github.com/krigo-gp/krigo/internal/linalg"
	"github.com/krigo-gp/krigo/kernel"
	"github.com/krigo-gp/krigo/matrix"
)

// Index finds the rows nearest to a point. Several goroutines may use it at once.
type Index struct {
	x  matrix.Dense
	by searcher
}

// searcher finds the m admitted rows with the smallest keys, and then numbers, for every row of q,
// nearest first.
// admit says whether a row counts for row i of q; if it is nil, all rows count.
// rows and keys hold m entries for each row of q.
type searcher interface {
	search(q matrix.Dense, m int, admit func(i, row int) bool, rows []int32, keys []float64)
}

// CorrelatedRows is the largest number of rows among which the neighbours for a product of kernels
// without a metric are the most correlated rows.
// With more rows, computing all correlations would take longer than the work with the neighbours.
const CorrelatedRows = 50_000

// New returns an index of the rows of x, under the prior of the kernel at θ. It keeps x.
func New(k kernel.Kernel, theta []float64, x matrix.Dense) *Index {
	inverse, ok := kernel.Metric(k, theta)
	if !ok && x.Rows > CorrelatedRows {
		inverse, ok = kernel.Joint(k, theta)
	}
	if ok && x.Rows > 0 {
		return &Index{x, newTree(x, inverse)}
	}
	if b, ok := newBoxes(k, theta, x); ok {
		return &Index{x, b}
	}
	return &Index{x, newScan(k, theta, x)}
}

// Release gives memory back before the garbage collector does.
// The index must not be used afterwards.
func (ix *Index) Release() {
	if t, ok := ix.by.(*tree); ok {
		t.points.Drop()
	}
}

// MostRows is the number of rows beyond which a search with Some may leave out neighbours.
// Some bounds the time of a search. On 10⁶ rows of 10 independent normal inputs, it finds 64
// neighbours of a row in 0.17 instead of 1.44 CPU ms, and the last neighbour's squared distance is
// larger by 24 %. With lengthscales from training it takes 0.22 instead of 0.26 CPU ms, and the
// squared distance is larger by 5 %.
const MostRows = 512 * leafRows

// Some returns the same index, but its searches end after MostRows rows, nearest leaves first.
// Then its results depend on which rows are searched for together.
func (ix *Index) Some() *Index {
	t, ok := ix.by.(*tree)
	if !ok {
		return ix
	}
	some := *t
	some.most = MostRows / leafRows
	return &Index{ix.x, &some}
}

// About returns an index like New's. For a product of kernels with different metrics it takes the
// joint metric, however few rows there are.
func About(k kernel.Kernel, theta []float64, x matrix.Dense) *Index {
	if inverse, ok := kernel.Joint(k, theta); ok && x.Rows > 0 {
		return &Index{x, newTree(x, inverse)}
	}
	return New(k, theta, x)
}

// Metric says whether keys are squared distances, with inputs divided by lengthscales.
// Otherwise keys are squared correlations times −1.
func (ix *Index) Metric() bool {
	_, ok := ix.by.(*tree)
	return ok
}

// Nearest writes the numbers of the m rows nearest to every row of q, nearest first, and their keys
// unless keys is nil. Each row of q has m entries.
// If there are fewer rows, the rest is None and +∞.
func (ix *Index) Nearest(q matrix.Dense, m int, rows []int32, keys []float64) {
	ix.by.search(q, m, nil, rows, keys)
}

// Others does what Nearest does, for some rows of the index, each without itself.
// A copy of the row counts as a neighbour.
func (ix *Index) Others(of []int, m int, rows []int32) {
	ix.by.search(ix.rows(of), m, func(i, row int) bool { return row != of[i] }, rows, nil)
}

// Outside does what Nearest does, for some rows of the index, each among the rows of other units.
func (ix *Index) Outside(unit, of []int, m int, rows []int32) {
	ix.by.search(ix.rows(of), m, func(i, row int) bool {
		return unit[row] != unit[of[i]]
	}, rows, nil)
}

// Earlier does what Nearest does, for some rows of the index, each among the rows whose place is
// before the row's own place.
func (ix *Index) Earlier(place []int32, of []int, m int, rows []int32) {
	ix.by.search(ix.rows(of), m, func(i, row int) bool {
		return place[row] < place[of[i]]
	}, rows, nil)
}

// rows copies the rows with these numbers.
func (ix *Index) rows(of []int) matrix.Dense {
	return linalg.Pick(matrix.New(len(of), ix.x.Cols), ix.x, of)
}
