package neighbours

import (
	"slices"

	"github.com/krigo-gp/krigo/internal/linalg"
	"github.com/krigo-gp/krigo/kernel"
	"github.com/krigo-gp/krigo/matrix"
)

// scan asks a kernel for the covariances with all rows.
type scan struct {
	k        kernel.Kernel
	theta    []float64
	x        matrix.Dense
	variance []float64 // of the rows
}

func newScan(k kernel.Kernel, theta []float64, x matrix.Dense) *scan {
	s := &scan{k, theta, x, make([]float64, x.Rows)}
	if x.Rows > 0 {
		k.Diag(theta, x, s.variance)
	}
	return s
}

// scanTask is the number of rows whose covariances a task holds.
const scanTask = 16

func (s *scan) search(q matrix.Dense, m int, admit func(i, row int) bool, rows []int32, keys []float64) {
	linalg.Parallel((q.Rows+scanTask-1)/scanTask, func(t int) {
		i0, i1 := t*scanTask, min((t+1)*scanTask, q.Rows)
		ks := linalg.Borrow(i1-i0, s.x.Rows)
		defer linalg.Return(ks)
		if s.x.Rows > 0 {
			s.k.Cov(s.theta, q.RowRange(i0, i1), s.x, ks)
		}
		h := newHeap(m)
		for i := i0; i < i1; i++ {
			var of func(row int) bool
			if admit != nil {
				of = func(row int) bool { return admit(i, row) }
			}
			h.show(ks.Row(i-i0), s.variance, of)
			h.empty(part(rows, i, m), part(keys, i, m))
		}
	})
}

// show shows the admitted of all rows to the heap, given their covariances with a point and their variances.
func (h *heap) show(k, variance []float64, admit func(row int) bool) {
	worst := h.worst()
	for row, c := range k {
		if key := keyOf(c, variance[row]); key <= worst && (admit == nil || admit(row)) {
			h.offer(key, int32(row))
			worst = h.worst()
		}
	}
}

// keyOf is the key of a row with variance v whose covariance with the point is k: correlation squared and times −1, up
// to the point's own variance.
func keyOf(k, v float64) float64 {
	if v > 0 {
		return -(k * k / v)
	}
	return 0
}

// Correlated returns the numbers, in ascending order, of the m rows that are correlated most with a point, given its
// covariances with all rows and their variances.
func Correlated(k, variance []float64, m int) []int {
	h := newHeap(m)
	h.show(k, variance, nil)
	rows := make([]int, len(h.rows))
	for i, row := range h.rows {
		rows[i] = int(row)
	}
	slices.Sort(rows)
	return rows
}
