package neighbours

import (
	"cmp"
	"slices"

	"github.com/krigo-gp/krigo/internal/linalg"
	"github.com/krigo-gp/krigo/internal/radial"
	"github.com/krigo-gp/krigo/kernel"
	"github.com/krigo-gp/krigo/matrix"
)

// boxes finds the neighbours that scan finds, with fewer covariances.
// Neighbouring leaves of a tree in the joint metric share a box, and the kernel bounds a point's
// covariances with all rows of a box. The search takes the boxes with the largest bounds first, and
// leaves out the boxes that can't hold a neighbour.
type boxes struct {
	*tree    // it has no points
	k        kernel.Boxed
	variance float64 // prior variance of every row
}

// boxRows is the number of rows of a box. On 33,743 rows of traffic with matern32*matern12, a
// search for 64 to 512 neighbours takes .16 CPU ms with 128 rows, .19 with 64, .24 with 32, and .5
// by a scan.
const boxRows = 2 * leafRows

// newBoxes returns false if the kernel has no joint metric or no bounds.
func newBoxes(k kernel.Kernel, theta []float64, x matrix.Dense) (*boxes, bool) {
	inverse, ok := kernel.Joint(k, theta)
	if !ok || x.Rows <= boxRows {
		return nil, false
	}
	t, scaled := ordered(x, inverse)
	scaled.Release()
	variance := make([]float64, 1)
	k.Diag(theta, x.RowRange(0, 1), variance)
	boxed, ok := kernel.At(k, theta).Boxes(x, t.rows, boxRows)
	return &boxes{t, boxed, variance[0]}, ok
}

// search goes through the boxes from the highest bound on the correlation to the lowest. A box is
// left out for a point if its bound is below the point's worst neighbour so far.
func (s *boxes) search(q matrix.Dense, m int, admit func(i, row int) bool, rows []int32,
	keys []float64) {
	order := s.alongside(q)
	n := (len(s.rows) + boxRows - 1) / boxRows
	linalg.Parallel((q.Rows+searchTask-1)/searchTask, func(task int) {
		q.Check()
		w := &boxWalk{boxes: s, admit: admit, points: linalg.Borrow(radial.Group, q.Cols),
			most: linalg.Borrow(radial.Group, n), ks: linalg.Borrow(radial.Group, boxRows)}
		for r := range w.heaps {
			w.heaps[r] = newHeap(m)
		}
		group := order[task*searchTask : min((task+1)*searchTask, q.Rows)]
		best := make([]float64, n)
		by := make([]int, n)
		for p := 0; p < len(group); p += radial.Group {
			w.of = group[p:min(p+radial.Group, len(group))]
			// The points of a group lie close together, so one order of boxes serves them all.
			clear(best)
			for r, i := range w.of {
				copy(w.points.Row(r), q.Row(int(i)))
				s.k.Most(w.points.Row(r), w.most.Row(r))
				for j, k := range w.most.Row(r) {
					best[j], by[j] = max(best[j], k), j
				}
			}
			slices.SortFunc(by, func(a, b int) int { return cmp.Compare(best[b], best[a]) })
			for _, j := range by {
				w.box(j)
			}
			for r, i := range w.of {
				w.heaps[r].empty(int(i), rows, keys)
			}
		}
		linalg.Return(w.points, w.most, w.ks)
	})
}

// boxWalk searches for the neighbours of radial.Group points at once.
type boxWalk struct {
	*boxes
	of     []int32      // the points' rows in the matrix q
	points matrix.Dense // the points
	most   matrix.Dense // bounds of their covariances with each box
	ks     matrix.Dense // covariances with the rows of a box
	heaps  [radial.Group]heap
	admit  func(i, row int) bool
}

// Keys that are computed from a bound of covariances may be wrong by the share loose, and by tiny.
const (
	loose = 1e-8
	tiny  = 0x1p-1000
)

// box offers the rows of box j to the heaps of the points that may have neighbours there.
func (w *boxWalk) box(j int) {
	var near [radial.Group]bool
	some := false
	for r := range w.of {
		// If the bound isn't a number, the rows are offered.
		near[r] = !(keyOf(w.most.At(r, j), w.variance)*(1+loose)-tiny > w.heaps[r].worst())
		some = some || near[r]
	}
	if !some {
		return
	}
	lo := j * boxRows
	hi := min((j+1)*boxRows, len(w.rows))
	w.k.Columns(w.points.RowRange(0, len(w.of)), lo, hi, w.ks.View(0, len(w.of), 0, hi-lo))
	rows := w.rows[lo:hi]
	for r, i := range w.of {
		if !near[r] {
			continue
		}
		h := &w.heaps[r]
		worst := h.worst()
		for c, k := range w.ks.Row(r)[:len(rows)] {
			if key := keyOf(k, w.variance); key <= worst &&
				(w.admit == nil || w.admit(int(i), int(rows[c]))) {
				h.offer(key, rows[c])
				worst = h.worst()
			}
		}
	}
}
