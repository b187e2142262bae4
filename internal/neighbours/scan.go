package neighbours

import (
	"github.com/krigo-gp/krigo/internal/linalg"
	"github.com/krigo-gp/krigo/kernel"
	"github.com/krigo-gp/krigo/matrix"
)

// scan finds neighbours by a kernel's covariances with all rows.
type scan struct {
	k        kernel.Kernel
	theta    []float64
	x        matrix.Dense
	variance []float64 // prior variances of the rows
}

// newScan returns a search for any kernel, with the prior variance of each row of x.
func newScan(k kernel.Kernel, theta []float64, x matrix.Dense) *scan {
	s := &scan{k, theta, x, make([]float64, x.Rows)}
	if x.Rows > 0 {
		k.Diag(theta, x, s.variance)
	}
	return s
}

// scanTask is the number of rows whose covariances a task holds.
const scanTask = 16

// search compares every row of q with every row of x, in O(rows of q · rows of x) covariances.
func (s *scan) search(q matrix.Dense, m int, admit func(i, row int) bool, rows []int32,
	keys []float64) {
	linalg.Blocks(q.Rows, scanTask, func(i0, i1 int) {
		q.Check()
		ks := linalg.Borrow(i1-i0, s.x.Rows)
		defer linalg.Return(ks)
		if s.x.Rows > 0 {
			s.k.Cov(s.theta, q.RowRange(i0, i1), s.x, ks)
		}
		h := newHeap(m)
		for i := i0; i < i1; i++ {
			worst := h.worst()
			for row, c := range ks.Row(i - i0) {
				if key := keyOf(c, s.variance[row]); key <= worst &&
					(admit == nil || admit(i, row)) {
					h.offer(key, int32(row))
					worst = h.worst()
				}
			}
			h.empty(i, rows, keys)
		}
	})
}

// keyOf returns the key of a row with variance v and covariance k with the point:
// minus the squared correlation, up to the point's own variance.
func keyOf(k, v float64) float64 {
	if v > 0 {
		return -(k * k / v)
	}
	return 0
}
