package neighbours

import (
	"cmp"
	"math"
	"slices"

	"github.com/krigo-gp/krigo/internal/linalg"
	"github.com/krigo-gp/krigo/internal/radial"
	"github.com/krigo-gp/krigo/matrix"
)

// leafRows is the number of points in a leaf: enough for the loops of package radial to run at speed, of which the
// panels are 16 points or a part of that.
const leafRows = 64

// tree is a k-d tree (Friedman, Bentley and Finkel 1977) with wide leaves. The distances to the points of a leaf are
// computed several at once, for several points asked for at once, so that where there are too many dimensions for
// boxes to exclude anything it is a pass over all rows at nearly the speed of one.
type tree struct {
	centre, inverse []float64
	points          radial.Points // in the order of the leaves
	rows            []int32       // their numbers
	nodes           []node
	boxes           matrix.Dense // of every node: least and greatest coordinates
}

// node holds points [lo, hi). Its children, if any, are in the two halves.
type node struct {
	lo, hi, left, right int
	axis                int
	cut                 float64 // coordinate of the right half's first point
}

func newTree(x matrix.Dense, inverse []float64) *tree {
	n, d := x.Rows, x.Cols
	t := &tree{centre: round(x), inverse: inverse, rows: make([]int32, n)}
	for i := range n {
		t.rows[i] = int32(i)
	}
	scaled := t.scaled(x)
	t.boxes = matrix.New(4*((n+leafRows-1)/leafRows), 2*d)
	t.grow(scaled, 0, n)
	ordered := x.Like(n, d)
	for i, row := range t.rows {
		copy(ordered.Row(i), x.Row(int(row)))
	}
	t.points = radial.Right(ordered, t.centre, t.inverse)
	return t
}

// round returns a point near the rows: near as seen from their extent, in numbers of so few digits that differences
// of inputs of few digits from it have no rounding, and rows at the same distance stay that.
func round(x matrix.Dense) []float64 {
	centre := make([]float64, x.Cols)
	for j := range centre {
		least, greatest := x.At(0, j), x.At(0, j)
		for i := range x.Rows {
			v := x.At(i, j)
			least, greatest = min(least, v), max(greatest, v)
		}
		_, exponent := math.Frexp(greatest - least)
		if unit := math.Ldexp(1, exponent); unit > 0 {
			centre[j] = math.Round(least/unit) * unit
		}
	}
	return centre
}

// scaled returns the rows of x as package radial packs them.
func (t *tree) scaled(x matrix.Dense) matrix.Dense {
	s := x.Like(x.Rows, x.Cols)
	for i := range x.Rows {
		row := s.Row(i)
		for j, v := range x.Row(i) {
			row[j] = (v - t.centre[j]) * t.inverse[j]
		}
	}
	return s
}

// grow makes the node of points [lo, hi) and those below it, and returns its number. It is split in the middle of
// its widest side, at a whole number of leaves.
func (t *tree) grow(scaled matrix.Dense, lo, hi int) int {
	scaled.Check()
	number, d := len(t.nodes), scaled.Cols
	t.nodes = append(t.nodes, node{lo: lo, hi: hi, left: None, right: None})
	box := t.boxes.Row(number)
	least, greatest := box[:d], box[d:]
	copy(least, scaled.Row(int(t.rows[lo])))
	copy(greatest, least)
	for _, row := range t.rows[lo:hi] {
		for j, v := range scaled.Row(int(row)) {
			least[j], greatest[j] = min(least[j], v), max(greatest[j], v)
		}
	}
	if hi-lo <= leafRows {
		return number
	}
	axis := 0
	for j := range d {
		if greatest[j]-least[j] > greatest[axis]-least[axis] {
			axis = j
		}
	}
	half := ((hi-lo)/leafRows + 1) / 2 * leafRows
	First(t.rows[lo:hi], half, func(a, b int32) int {
		return cmp.Or(cmp.Compare(scaled.At(int(a), axis), scaled.At(int(b), axis)), cmp.Compare(a, b))
	})
	cut := scaled.At(int(t.rows[lo+half]), axis)
	for _, row := range t.rows[lo+half : hi] {
		cut = min(cut, scaled.At(int(row), axis))
	}
	left := t.grow(scaled, lo, lo+half)
	right := t.grow(scaled, lo+half, hi)
	n := &t.nodes[number]
	n.left, n.right, n.axis, n.cut = left, right, axis, cut
	return number
}

// searchTask is the number of points that a task asks for.
const searchTask = 64

func (t *tree) search(q matrix.Dense, m int, admit func(i, row int) bool, rows []int32, keys []float64) {
	order := t.alongside(q)
	linalg.Parallel((q.Rows+searchTask-1)/searchTask, func(task int) {
		q.Check()
		group := order[task*searchTask : min((task+1)*searchTask, q.Rows)]
		points := linalg.Borrow(len(group), q.Cols)
		for p, i := range group {
			copy(points.Row(p), q.Row(int(i)))
		}
		w := &walk{tree: t, left: radial.Left(points, t.centre, t.inverse), at: t.scaled(points),
			u: linalg.Borrow(radial.Group, leafRows), admit: admit}
		for r := range w.heaps {
			w.heaps[r] = newHeap(m)
		}
		for p := 0; p < len(group); p += radial.Group {
			w.group, w.of = p/radial.Group, group[p:min(p+radial.Group, len(group))]
			var none [radial.Group]float64
			w.visit(0, none)
			for r, i := range w.of {
				w.heaps[r].empty(int(i), rows, keys)
			}
		}
		w.left.Release()
		linalg.Return(points, w.u)
	})
}

// alongside returns the numbers of the rows of q in the order of the leaves in which they lie, so that those asked
// for at once have neighbours in common.
func (t *tree) alongside(q matrix.Dense) []int32 {
	order, leaf := make([]int32, q.Rows), make([]int32, q.Rows)
	for i := range order {
		order[i] = int32(i)
		row, number := q.Row(i), 0
		for n := t.nodes[0]; n.left != None; n = t.nodes[number] {
			if number = n.left; (row[n.axis]-t.centre[n.axis])*t.inverse[n.axis] >= n.cut {
				number = n.right
			}
		}
		leaf[i] = int32(number)
	}
	slices.SortFunc(order, func(a, b int32) int { return cmp.Or(cmp.Compare(leaf[a], leaf[b]), cmp.Compare(a, b)) })
	return order
}

// walk is a search for the neighbours of radial.Group points at once.
type walk struct {
	*tree
	left  radial.Points // of a task
	at    matrix.Dense  // the same, row by row
	group int           // that is searched for
	of    []int32       // its rows of q
	u     matrix.Dense  // distances to a leaf
	heaps [radial.Group]heap
	admit func(i, row int) bool
}

// shy is below 1 by more than what rounding makes of the distance to a box.
const shy = 1 - 1e-12

// visit searches a node, whose box is so far away from the points, squared.
func (w *walk) visit(number int, away [radial.Group]float64) {
	var near [radial.Group]bool
	some := false
	for r := range w.of {
		near[r] = away[r]*shy <= w.heaps[r].worst()
		some = some || near[r]
	}
	if !some {
		return
	}
	n := &w.nodes[number]
	if n.left == None {
		w.leaf(n, near)
		return
	}
	first, second := n.left, n.right
	a, b := w.away(first, &near), w.away(second, &near)
	var sumA, sumB float64
	for r, near := range near {
		if near {
			sumA += a[r]
			sumB += b[r]
		}
	}
	if sumB < sumA {
		first, second, a, b = second, first, b, a
	}
	w.visit(first, a)
	w.visit(second, b)
}

// away returns the squared distances to a node's box of the points that are near to its parent's, +∞ of others.
func (w *walk) away(number int, near *[radial.Group]bool) (sum [radial.Group]float64) {
	box := w.boxes.Row(number)
	d := len(box) / 2
	least, greatest := box[:d], box[d:][:d]
	for r, near := range near {
		if !near {
			sum[r] = math.Inf(1)
			continue
		}
		at := w.at.Row(w.group*radial.Group + r)[:d]
		var s float64
		for j, v := range at {
			off := max(least[j]-v, v-greatest[j], 0) // no branch, which couldn't be foreseen
			s += off * off
		}
		sum[r] = s
	}
	return sum
}

// leaf shows the points of a leaf to the heaps of those that are near enough.
func (w *walk) leaf(n *node, near [radial.Group]bool) {
	radial.Strip(w.left, w.group, w.points, n.lo, n.hi, w.u)
	rows := w.rows[n.lo:n.hi]
	for r, i := range w.of {
		if !near[r] {
			continue
		}
		h := &w.heaps[r]
		worst := h.worst()
		for j, d := range w.u.Row(r)[:len(rows)] {
			if d <= worst && (w.admit == nil || w.admit(int(i), int(rows[j]))) {
				h.offer(d, rows[j])
				worst = h.worst()
			}
		}
	}
}
