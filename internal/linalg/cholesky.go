package linalg

import (
	"fmt"
	"math"
	"sync/atomic"
)

// NotPositiveDefinite says that a Cholesky factorisation met a pivot that is NaN, isn't positive,
// or is lost in rounding.
type NotPositiveDefinite struct {
	Row   int     // 0-based
	Pivot float64 // the pivot, which should be positive
}

func (e *NotPositiveDefinite) Error() string {
	if math.IsNaN(e.Pivot) {
		return fmt.Sprintf("the covariance matrix has values that aren't numbers: pivot %d",
			e.Row+1)
	}
	return fmt.Sprintf("the covariance matrix isn't positive definite: pivot %d is %.3g",
		e.Row+1, e.Pivot)
}

// Cholesky overwrites the lower triangle of the symmetric A with L, A = L Lᵀ.
// It reads only the lower triangle, and leaves the strict upper triangle as it is.
// A pivot under 2⁻⁵⁰ of its diagonal element consists of rounding errors, so it counts as not
// positive.
func Cholesky(a Matrix) error {
	square(a)
	n := a.Rows
	if n == 0 {
		return nil
	}
	smallest := Borrow(1, n)
	defer Return(smallest)
	for i := range n {
		smallest.Data[i] = 0x1p-50 * a.At(i, i)
	}
	step := factorStep(n)
	block := borrowPanels(step, step)
	all := borrowPanels(max(n-step, 0), step)
	defer block.release()
	defer all.release()
	var failure atomic.Pointer[NotPositiveDefinite]
	factor := func(k0 int) {
		if failure.Load() != nil {
			return
		}
		k1 := min(k0+step, n)
		t := triangle{block.of(k1 - k0), false}
		if err := t.factor(a.View(k0, k1, k0, k1), smallest.Data[k0:k1]); err != nil {
			err.Row += k0
			failure.Store(err)
		}
	}
	// All goroutines must see the same number of tasks, so after a failure the tasks go on with
	// what they find.
	inPhases(cube(n)/6, operands{a}, 2*((n+step-1)/step)-1, func(p int) (int, func(int)) {
		if p == 0 {
			return 1, func(int) { factor(0) }
		}
		k0 := (p - 1) / 2 * step
		k1 := k0 + step
		t := triangle{block.of(step), false}
		x := all.of(step)
		// The rows below are solved for. Their packed form then serves as both sides of the product
		// that updates the rest.
		if p%2 == 1 {
			below := operand{Matrix: a.View(k1, n, k0, k1)}
			return (n - k1 + maxWidth - 1) / maxWidth, func(c int) {
				i0 := c * maxWidth
				i1 := min((c+1)*maxWidth, n-k1)
				x.pack(below, i0, i1, i0)
				for i := i0; i < i1; i += width {
					t.solve(x, i, 0)
				}
				x.unpack(below, i0, i1, i0)
			}
		}
		// The next diagonal block comes first and is factored at once, while other goroutines
		// update the rest.
		update := &product{-1, 1, x, x, step, a.View(k1, n, k1, n), true, noStair}
		next := min(step, n-k1)
		g := newGrid(next, n-k1, n-k1)
		return 1 + g.tasks(), func(c int) {
			if c > 0 {
				g.run(update, c-1)
				return
			}
			update.block(0, next, 0, next)
			factor(k1)
		}
	})
	if err := failure.Load(); err != nil {
		return err
	}
	return nil
}

// factor does what Cholesky does, for a block of at most order rows.
// It writes the factor into the triangle, for the rows below.
//
// In panels, row k of t is column k of L. A tile holds a few columns of L for width rows, and it is
// updated as in solve.
func (t triangle) factor(a Matrix, smallest []float64) *NotPositiveDefinite {
	n := a.Rows
	for i := 0; i < n; i += width { // the lower triangle and the rest of its tiles
		end := min(i+width, n)
		t.pack(operand{Matrix: a.View(i, end, 0, end)}, 0, end-i, i)
	}
	for i := n; i < t.depth; i++ {
		t.at(i, i)[0] = 1
	}
	var corner [maxLanes * maxWidth]float64 // the diagonal tile, lanes × lanes
	for k := 0; k < t.depth; k += lanes {
		for i := k / width * width; i < t.depth; i += width {
			if k > 0 {
				multiplyTile(k, t.at(k, 0), t.at(i, 0), t.at(i, k), width, -1, 1)
			}
			if i <= k {
				d := t.at(k, k)
				if err := factorTile(d, a, k, smallest); err != nil {
					return err
				}
				for r := range lanes {
					copy(corner[r*width:][:lanes], d[r*width:])
				}
			}
			solveTile(false, corner[:], t.at(i, k))
			if i <= k {
				d := t.at(k, k)
				for r := range lanes {
					copy(d[r*width:][:lanes], corner[r*width:])
				}
			}
		}
	}
	// The elements of L below the diagonal go back to a. factorTile has written the diagonal.
	for i0 := 0; i0 < n; i0 += width {
		i1 := min(i0+width, n)
		if i0 > 0 {
			t.unpack(operand{Matrix: a.View(i0, i1, 0, i0)}, 0, i1-i0, i0)
		}
		for i := i0; i < i1; i++ {
			row := a.Row(i)
			v := t.at(i, 0)
			for k := i0; k < i; k++ {
				row[k] = v[k*width]
			}
		}
	}
	return nil
}

// factorTile factors the diagonal tile d, whose first column is k0.
// It writes the diagonal of L to a, and d keeps its reciprocals.
func factorTile(d []float64, a Matrix, k0 int, smallest []float64) *NotPositiveDefinite {
	for k := range min(lanes, a.Rows-k0) {
		dk := d[k*width:][:lanes]
		pivot := dk[k]
		if !(pivot > smallest[k0+k]) || !(pivot > 0) || math.IsInf(pivot, 1) {
			return &NotPositiveDefinite{Row: k0 + k, Pivot: pivot}
		}
		root := math.Sqrt(pivot)
		reciprocal := 1 / pivot
		a.Set(k0+k, k0+k, root)
		// the next pivot waits for the reciprocal, not for the root
		for r := k + 1; r < lanes; r++ {
			dr := d[r*width:][:lanes]
			f := dk[r] * reciprocal
			for i := r; i < lanes; i++ {
				dr[i] -= f * dk[i]
			}
		}
		dk[k] = 1 / root
		for i := k + 1; i < lanes; i++ {
			dk[i] *= dk[k]
		}
	}
	return nil
}

// CholeskySolve sets x ← (L Lᵀ)⁻¹x.
func CholeskySolve(l Matrix, x []float64) {
	Trsv(false, l, x)
	Trsv(true, l, x)
}

// LogDet returns ln|A| = 2 Σ ln L_ii from the Cholesky factor L of A.
func LogDet(l Matrix) float64 {
	var s float64
	for i := range l.Rows {
		s += math.Log(l.At(i, i))
	}
	return 2 * s
}

// CholeskyInverse writes A⁻¹ = L⁻ᵀL⁻¹, both triangles, to the distinct matrix c.
func CholeskyInverse(l, c Matrix) {
	CholeskyInverseLower(l, c)
	MirrorLower(c)
}

// CholeskyInverseLower writes the lower triangle of A⁻¹ to the distinct matrix c.
func CholeskyInverseLower(l, c Matrix) {
	square(l)
	if l.Rows != c.Rows || l.Cols != c.Cols {
		panic(fmt.Sprintf("linalg: %d×%d against %d×%d", l.Rows, l.Cols, c.Rows, c.Cols))
	}
	n := l.Rows
	if n == 0 {
		return
	}
	triangularInverse(l, c)
	// X = L⁻¹ is replaced by XᵀX from the top down. Each step packs the rows [k0, k1) of X.
	// It adds the part of their product that belongs to earlier rows to these rows, and overwrites
	// the rows [k0, k1) with the rest of the product.
	step := cut(n, order, maxWidth)
	all := borrowPanels(n, step)
	inPhases(cube(n)/6, operands{l, c}, 2*((n+step-1)/step), func(p int) (int, func(int)) {
		k0 := p / 2 * step
		k1 := min(k0+step, n)
		x := all.of(k1 - k0)
		if p%2 == 0 {
			rows := operand{Matrix: c.View(k0, k1, 0, k1), columns: true}
			return packTasks(k1), func(t int) {
				x.packTask(rows, t)
				for j := max(t*packed, k0); j < min((t+1)*packed, k1); j += width {
					clearAbove(x.at(j, 0), j-k0, k1-k0)
				}
			}
		}
		above := product{1, 1, x, x, k1 - k0, c.View(0, k1, 0, k1), true, noStair}
		here := above
		here.beta = 0
		here.stair = k0
		ga := newGrid(0, k0, k0)
		gh := newGrid(k0, k1, k1)
		return ga.tasks() + gh.tasks(), func(t int) {
			if t < gh.tasks() {
				gh.run(&here, t)
			} else {
				ga.run(&above, t-gh.tasks())
			}
		}
	})
	all.release()
}

// clearAbove clears the elements above the diagonal, in a panel of columns j, j+1, … with elements
// 0 to depth.
func clearAbove(panel []float64, j, depth int) {
	clear(panel[:j*width])
	for k := j; k < min(j+width, depth); k++ {
		clear(panel[k*width+k-j+1 : (k+1)*width])
	}
}
