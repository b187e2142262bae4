package neighbours

import (
	"cmp"
	"math"
	"slices"

	"github.com/krigo-gp/krigo/internal/linalg"
	"github.com/krigo-gp/krigo/internal/radial"
	"github.com/krigo-gp/krigo/matrix"
)

// leafRows is the number of points in a leaf.
// The loops of package radial are fast with leaves of this size, because their panels have at most
// 16 points.
const leafRows = 64

// tree is a k-d tree (Friedman, Bentley and Finkel 1977) with wide leaves.
// It computes the distances of several query points to several points of a leaf at once.
// With many dimensions the boxes exclude nothing.
// A search is then a pass over all rows, at almost the speed of a plain pass.
type tree struct {
	centre, inverse []float64
	points          radial.Points // in the order of the leaves
	rows            []int32       // numbers of the points
	nodes           []node
	boxes           matrix.Dense // least and greatest coordinates of every node's points
	// largest number of leaves that a search visits for a group; 0: no limit
	most int
}

// node holds the points [lo, hi). Its children, if any, hold the two halves.
type node struct {
	lo, hi, left, right int
	axis                int
	cut                 float64 // coordinate of the right half's first point
}

// newTree returns a tree of the rows of x. inverse holds the factor of each input in the kernel's
// metric (kernel.Metric).
func newTree(x matrix.Dense, inverse []float64) *tree {
	t, scaled := ordered(x, inverse)
	t.points = radial.Kept(scaled)
	scaled.Release()
	return t
}

// ordered returns a tree without points, and the points in the order of the leaves.
func ordered(x matrix.Dense, inverse []float64) (*tree, matrix.Dense) {
	t := &tree{centre: round(x), inverse: inverse, rows: make([]int32, x.Rows),
		nodes: make([]node, nodesOf(x.Rows))}
	for i := range x.Rows {
		t.rows[i] = int32(i)
	}
	scaled := t.scaled(x, matrix.Large(x.Rows, x.Cols).Until(x.Context()))
	t.boxes = matrix.New(len(t.nodes), 2*x.Cols)
	t.grow(scaled, 0, 0, x.Rows)
	return t, scaled
}

// nodesOf returns the number of nodes of a tree of n points.
func nodesOf(n int) int { return 2*((n+leafRows-1)/leafRows) - 1 }

// round returns a point near the rows, compared with their extent.
// Its numbers have so few digits that its differences from inputs with few digits need no rounding.
// So rows at the same distance stay at the same distance.
func round(x matrix.Dense) []float64 {
	centre := make([]float64, x.Cols)
	for j := range centre {
		least := x.At(0, j)
		greatest := x.At(0, j)
		for i := range x.Rows {
			v := x.At(i, j)
			least = min(least, v)
			greatest = max(greatest, v)
		}
		_, exponent := math.Frexp(greatest - least)
		if unit := math.Ldexp(1, exponent); unit > 0 {
			centre[j] = math.Round(least/unit) * unit
		}
	}
	return centre
}

// scaled fills s with the rows of x as package radial packs them, and returns s.
func (t *tree) scaled(x, s matrix.Dense) matrix.Dense {
	return radial.Scaled(x, t.centre, t.inverse, s)
}

// alone is the number of points below which one goroutine makes a node and the nodes below it.
const alone = 1 << 14

// grow makes the node of the points [lo, hi) and the nodes below it, which follow it in number.
// It splits the node in the middle of its widest side, at a whole number of leaves.
// It moves the rows of scaled, so that each pass reads the rows of a node in one stretch.
// Random reads of 10⁷ rows would take most of the time.
func (t *tree) grow(scaled matrix.Dense, number, lo, hi int) {
	scaled.Check()
	n := &t.nodes[number]
	*n = node{lo: lo, hi: hi, left: None, right: None}
	box := t.boxes.Row(number)
	least := box[:scaled.Cols]
	greatest := box[scaled.Cols:]
	copy(least, scaled.Row(lo))
	copy(greatest, least)
	for i := lo; i < hi; i++ {
		for j, v := range scaled.Row(i) {
			least[j], greatest[j] = min(least[j], v), max(greatest[j], v)
		}
	}
	if hi-lo <= leafRows {
		return
	}
	for j := range scaled.Cols {
		if greatest[j]-least[j] > greatest[n.axis]-least[n.axis] {
			n.axis = j
		}
	}
	// A whole number of leaves on the left makes the numbers of all nodes known before they are
	// grown.
	half := lo + ((hi-lo)/leafRows+1)/2*leafRows
	t.halve(scaled, n.axis, lo, hi, half)
	n.cut = scaled.At(half, n.axis)
	for i := half; i < hi; i++ {
		n.cut = min(n.cut, scaled.At(i, n.axis))
	}
	n.left, n.right = number+1, number+1+nodesOf(half-lo)
	children := [2]func(){func() { t.grow(scaled, n.left, lo, half) },
		func() { t.grow(scaled, n.right, half, hi) }}
	if hi-lo > alone {
		linalg.Parallel(2, func(i int) { children[i]() })
		return
	}
	children[0]()
	children[1]()
}

// halve moves the points of [lo, hi) with the least coordinates along an axis to [lo, half)
// (Hoare's selection).
func (t *tree) halve(scaled matrix.Dense, axis, lo, hi, half int) {
	for hi--; lo < hi; {
		pivot := scaled.At(lo+(hi-lo)/2, axis)
		i := lo
		j := hi
		// After this loop, points up to j aren't above the pivot, and points from i on aren't below
		// it.
		for i <= j {
			for scaled.At(i, axis) < pivot {
				i++
			}
			for pivot < scaled.At(j, axis) {
				j--
			}
			if i <= j {
				a := scaled.Row(i)
				b := scaled.Row(j)
				for k, v := range a {
					a[k], b[k] = b[k], v
				}
				t.rows[i], t.rows[j] = t.rows[j], t.rows[i]
				i++
				j--
			}
		}
		switch {
		// The half that has the place half−1 is partitioned further.
		case half-1 <= j:
			hi = j
		case half-1 >= i:
			lo = i
		default:
			return
		}
	}
}

// searchTask is the number of points that a task searches for.
const searchTask = 64

// search descends the tree for groups of radial.Group points that lie close together, in parallel.
func (t *tree) search(q matrix.Dense, m int, admit func(i, row int) bool, rows []int32,
	keys []float64) {
	order := t.alongside(q)
	linalg.Blocks(q.Rows, searchTask, func(i0, i1 int) {
		q.Check()
		group := order[i0:i1]
		points := linalg.Pick(linalg.Borrow(len(group), q.Cols), q, group)
		w := &walk{tree: t, left: radial.Left(points, t.centre, t.inverse),
			at: t.scaled(points, linalg.Borrow(len(group), q.Cols)),
			u:  linalg.Borrow(radial.Group, leafRows), admit: admit}
		for r := range w.heaps {
			w.heaps[r] = newHeap(m)
		}
		for p := 0; p < len(group); p += radial.Group {
			w.group = p / radial.Group
			w.of = group[p:min(p+radial.Group, len(group))]
			w.leaves = 0
			var none [radial.Group]float64
			w.visit(0, none)
			for r, i := range w.of {
				w.heaps[r].empty(int(i), rows, keys)
			}
		}
		w.left.Release()
		linalg.Return(points, w.u, w.at)
	})
}

// alongside returns the numbers of the rows of q, in the order of the leaves that contain them.
// Points that are searched for together then have neighbours in common.
func (t *tree) alongside(q matrix.Dense) []int32 {
	order := make([]int32, q.Rows)
	leaf := make([]int32, q.Rows)
	for i := range order {
		order[i] = int32(i)
		row := q.Row(i)
		number := 0
		for n := t.nodes[0]; n.left != None; n = t.nodes[number] {
			if number = n.left; (row[n.axis]-t.centre[n.axis])*t.inverse[n.axis] >= n.cut {
				number = n.right
			}
		}
		leaf[i] = int32(number)
	}
	slices.SortFunc(order, func(a, b int32) int {
		return cmp.Or(cmp.Compare(leaf[a], leaf[b]), cmp.Compare(a, b))
	})
	return order
}

// walk searches for the neighbours of radial.Group points at once.
type walk struct {
	*tree
	left  radial.Points // the points for which a task searches
	at    matrix.Dense  // the points of left, row by row
	group int           // the group in search
	of    []int32       // the group's rows in the matrix q
	u     matrix.Dense  // distances to the points of a leaf
	heaps [radial.Group]heap
	admit func(i, row int) bool

	leaves int // leaves that were visited for the group
}

// shy is less than 1 by more than the rounding error of the distance to a box.
const shy = 1 - 1e-12

// visit searches a node for the points of a group. away holds the squared distances of the node's
// box from the points. The nearer child comes first, so that the other is more often too far.
func (w *walk) visit(number int, away [radial.Group]float64) {
	var near [radial.Group]bool
	some := false
	// shy allows for rounding, so that no neighbour is lost.
	for r := range w.of {
		near[r] = away[r]*shy <= w.heaps[r].worst()
		some = some || near[r]
	}
	if !some || (w.most > 0 && w.leaves >= w.most) {
		return
	}
	n := &w.nodes[number]
	if n.left == None {
		w.leaf(n, near)
		return
	}
	first := n.left
	second := n.right
	a := w.away(first, &near)
	b := w.away(second, &near)
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

// away returns the squared distances of a node's box from the points that are near its parent's
// box, and +∞ for other points.
func (w *walk) away(number int, near *[radial.Group]bool) (sum [radial.Group]float64) {
	box := w.boxes.Row(number)
	d := len(box) / 2
	for r, near := range near {
		sum[r] = math.Inf(1)
		if near {
			sum[r] = radial.FromBox(w.at.Row(w.group*radial.Group + r)[:d], box[:d], box[d:])
		}
	}
	return sum
}

// leaf offers the points of a leaf to the heaps of the points that are near enough.
func (w *walk) leaf(n *node, near [radial.Group]bool) {
	w.leaves++
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
