package linalg

import "runtime"

// order is the number of equations that a triangular solve or a factorisation
// takes in one step: whole panels and whole tiles at every level.
const order = 240

// A triangle is a packed diagonal block T, in front of or among other vectors:
// vector i is row i of T, with the reciprocal of the diagonal. Of a lower triangle what
// stands above the diagonal isn't read, of an upper one (back) what stands below.
type triangle struct {
	panels
	back bool
}

// invertDiagonal replaces the diagonal elements of T's rows [i0, i1), T of order n,
// by their reciprocals, and makes equations that only fill up read x = 0.
func (t triangle) invertDiagonal(i0, i1, n int) {
	for i := i0; i < i1; i++ {
		d := &t.at(i, i)[0]
		*d = 1 / *d
	}
	for i := n; i1 == n && i < t.depth; i++ {
		t.at(i, i)[0] = 1
	}
}

// solve replaces the panel of x that holds vectors i, i+1, … by T⁻¹ x. Elements
// before from, a whole number of tiles, are zero and stay it if T is lower.
func (t triangle) solve(x panels, i, from int) {
	if t.back {
		for k := t.depth - lanes; k >= 0; k -= lanes {
			if done := k + lanes; done < t.depth {
				multiplyTile(t.depth-done, t.at(k, done), x.at(i, done), x.at(i, k), width, -1, 1)
			}
			solveTile(true, t.at(k, k), x.at(i, k))
		}
		return
	}
	for k := from; k < t.depth; k += lanes {
		if k > from {
			multiplyTile(k-from, t.at(k, from), x.at(i, from), x.at(i, k), width, -1, 1)
		}
		solveTile(false, t.at(k, k), x.at(i, k))
	}
}

// substitute replaces every vector of x by the solution of L x = b, or of Lᵀ x = b
// from the last equation back. Vectors don't depend on one another.
func substitute(l Matrix, back bool, x operand) {
	n, count := l.Rows, x.count()
	step, chunk := cut(n, order, maxWidth), share(count)
	all := borrowPanels(n, step)
	inPhases(float64(n)*float64(n)/2*float64(count), operands{l, x.Matrix}, 2*((n+step-1)/step),
		func(p int) (int, func(int)) {
			// Equations [r0, r1), and the unknowns [u0, u1) that they leave. In their panels
			// the triangle begins at t0, what the others need of L at rest.
			r0 := p / 2 * step
			if back {
				r0 = (n-1)/step*step - r0
			}
			r1 := min(r0+step, n)
			u0, u1, t0, rest := r1, n, 0, r1-r0
			rows := operand{Matrix: l.View(r0, n, r0, r1)}
			if back {
				u0, u1, t0, rest = 0, r0, r0, 0
				rows = operand{Matrix: l.View(r0, r1, 0, r1), columns: true}
			}
			all := all.of(r1 - r0)
			t := triangle{all.from(t0), back}
			if p%2 == 0 {
				return packTasks(rows.count()), func(c int) {
					all.packTask(rows, c)
					i0, i1 := max(c*packed, t0), min((c+1)*packed, t0+r1-r0)
					t.invertDiagonal(i0-t0, i1-t0, r1-r0)
				}
			}
			here, there := x.part(0, count, r0, r1), x.part(0, count, u0, u1)
			return (count + chunk - 1) / chunk, func(c int) {
				i0, i1 := c*chunk, min((c+1)*chunk, count)
				now := borrowPanels(i1-i0, r1-r0)
				now.pack(here, i0, i1, 0)
				for i := 0; i < i1-i0; i += width {
					t.solve(now, i, 0)
				}
				now.unpack(here, i0, i1, 0)
				if u0 < u1 {
					p := product{-1, 1, now, all.from(rest), r1 - r0, there.part(i0, i1, 0, u1-u0).Matrix, false, noStair}
					if x.columns {
						p.a, p.b = p.b, p.a
					}
					p.block(0, p.c.Rows, 0, p.c.Cols)
				}
				now.release()
			}
		})
	all.release()
}

// share returns how many of count vectors a task should take: enough tasks to share
// out evenly, and no more vectors than blockCols.
func share(count int) int {
	return min(blockCols, max(maxWidth, roundUp(count/(16*runtime.GOMAXPROCS(0)), maxWidth)))
}

// TriangularInverse overwrites the lower triangular L with its inverse (N³/3
// multiplications). The strict upper triangle is left as it is.
//
// It is the solution of L X = I from the top down, in L's place: step by step,
// rows below hold −L X so far.
func TriangularInverse(l Matrix) {
	square(l)
	n := l.Rows
	step := cut(n, order, maxWidth)
	all := borrowPanels(n, step)
	inPhases(cube(n)/6, operands{l}, 2*((n+step-1)/step), func(p int) (int, func(int)) {
		r0 := p / 2 * step
		r1 := min(r0+step, n)
		all := all.of(r1 - r0)
		t := triangle{all, false}
		if p%2 == 0 {
			below := operand{Matrix: l.View(r0, n, r0, r1)}
			return packTasks(n - r0), func(c int) {
				all.packTask(below, c)
				t.invertDiagonal(c*packed, min((c+1)*packed, r1-r0), r1-r0)
			}
		}
		rows := operand{Matrix: l.View(r0, r1, 0, r0), columns: true}
		chunk := share(r1)
		old := (r0 + chunk - 1) / chunk // tasks for the columns that are under way
		return old + (r1-r0+chunk-1)/chunk, func(c int) {
			j0, j1, beta := c*chunk, min((c+1)*chunk, r0), 1.0
			if c >= old {
				j0 = r0 + (c-old)*chunk
				j1, beta = min(j0+chunk, r1), 0
			}
			now := borrowPanels(j1-j0, r1-r0)
			if c < old {
				now.pack(rows, j0, j1, 0)
			} else {
				clear(now.data)
				for j := j0; j < j1; j++ {
					now.at(j-j0, j-r0)[0] = 1
				}
			}
			for j := j0; j < j1; j += width {
				t.solve(now, j-j0, max(j-r0, 0)/lanes*lanes)
				if c < old {
					continue
				}
				for k, v := j-r0, now.at(j-j0, 0); k < r1-r0; k++ {
					copy(l.Row(r0 + k)[j:min(j+width, r0+k+1)], v[k*width:])
				}
			}
			if c < old {
				now.unpack(rows, j0, j1, 0)
			}
			if r1 < n {
				p := product{-1, beta, all.from(r1 - r0), now, r1 - r0, l.View(r1, n, j0, j1), false, noStair}
				p.block(0, n-r1, 0, j1-j0)
			}
			now.release()
		}
	})
	all.release()
}

func cube(n int) float64 { return float64(n) * float64(n) * float64(n) }
