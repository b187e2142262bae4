package linalg

import "runtime"

// order is the number of equations that a triangular solve or a factorisation
// takes in one step: whole panels and whole tiles at every level.
const order = 240

// triangle returns diagonal block l packed for solve: strictly below its diagonal
// the elements of l, or of lᵀ with equations and unknowns in reverse order, on it
// the reciprocals. Equations that only fill up read x = 0.
func triangle(l Matrix, backward bool) panels {
	n := l.Rows
	p := borrowPanels(n, n)
	for i := range p.depth {
		v := p.at(i, 0)
		if i >= n {
			for k := range p.depth {
				v[k*width] = 0
			}
			v[i*width] = 1
			continue
		}
		if backward {
			for k := range i + 1 {
				v[k*width] = l.At(n-1-k, n-1-i)
			}
		} else {
			for k, e := range l.Row(i)[:i+1] {
				v[k*width] = e
			}
		}
		v[i*width] = 1 / v[i*width]
	}
	return p
}

// solve replaces the panel of x that holds vectors i, i+1, … by T⁻¹ x. Elements
// before from are zero and stay it; from is a whole number of tiles.
func (t panels) solve(x panels, i, from int) {
	for k := from; k < t.depth; k += lanes {
		if k > from {
			multiplyTile(k-from, t.at(k, from), x.at(i, from), x.at(i, k), width, -1, 1)
		}
		solveTile(t.at(k, k), x.at(i, k))
	}
}

// substitute replaces every vector of x by the solution of L x = b, or of Lᵀ x = b
// if x runs backward. Vectors don't depend on one another.
func substitute(l Matrix, x operand) {
	n, count := l.Rows, x.count()
	chunk := min(blockCols, max(2*maxWidth, roundUp(count/(8*runtime.GOMAXPROCS(0)), maxWidth)))
	step := cut(n, order, maxWidth)
	for done := 0; done < n; done += step {
		next := min(done+step, n)
		r0, r1, rest := done, next, operand{}
		if x.backward {
			r0, r1 = n-next, n-done
			rest = operand{Matrix: l.View(r0, r1, 0, r0), columns: true, backward: true}
		} else {
			rest = operand{Matrix: l.View(r1, n, r0, r1)}
		}
		t := triangle(l.View(r0, r1, r0, r1), x.backward)
		later := rest.packed()
		Parallel((count+chunk-1)/chunk, func(c int) {
			i0, i1 := c*chunk, min((c+1)*chunk, count)
			now := borrowPanels(i1-i0, r1-r0)
			now.pack(x.part(0, count, r0, r1), i0, i1, 0)
			for i := 0; i < i1-i0; i += width {
				t.solve(now, i, 0)
			}
			now.unpack(x.part(0, count, r0, r1), i0, i1, 0)
			if rest.count() > 0 {
				a, b := later, now
				o := x.part(i0, i1, r1, n)
				if x.backward {
					o = x.part(i0, i1, 0, r0)
				}
				if !x.columns {
					a, b = now, later
				}
				p := product{-1, 1, a, b, r1 - r0, o.Matrix, false, noStair}
				p.block(0, o.Rows, 0, o.Cols)
			}
			now.release()
		})
		later.release()
		t.release()
	}
}

// packed returns the operand in panels, to be released.
func (o operand) packed() panels {
	n := o.count()
	p := borrowPanels(n, o.depth())
	const chunk = 2 * maxWidth
	Parallel((n+chunk-1)/chunk, func(t int) {
		p.pack(o, t*chunk, min((t+1)*chunk, n), t*chunk)
	})
	return p
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
	for r0 := 0; r0 < n; r0 += step {
		r1 := min(r0+step, n)
		diag := l.View(r0, r1, r0, r1)
		t := triangle(diag, false)
		later := operand{Matrix: l.View(r1, n, r0, r1)}.packed()
		chunk := min(blockCols, max(maxWidth, roundUp(r1/(8*runtime.GOMAXPROCS(0)), maxWidth)))
		old := (r0 + chunk - 1) / chunk // tasks for the columns that are under way
		Parallel(old+(r1-r0+chunk-1)/chunk, func(c int) {
			j0, j1, beta := c*chunk, min((c+1)*chunk, r0), 1.0
			if c >= old {
				j0 = r0 + (c-old)*chunk
				j1, beta = min(j0+chunk, r1), 0
			}
			now := borrowPanels(j1-j0, r1-r0)
			if c < old {
				rows := operand{Matrix: l.View(r0, r1, 0, r0), columns: true}
				now.pack(rows, j0, j1, 0)
				for i := 0; i < j1-j0; i += width {
					t.solve(now, i, 0)
				}
				now.unpack(rows, j0, j1, 0)
			} else {
				clear(now.data)
				for j := j0; j < j1; j++ {
					now.at(j-j0, j-r0)[0] = 1
				}
				for i := 0; i < j1-j0; i += width {
					t.solve(now, i, (j0+i-r0)/lanes*lanes)
				}
				for j := j0; j < j1; j++ {
					for k, v := j-r0, now.at(j-j0, 0); k < r1-r0; k++ {
						l.Set(r0+k, j, v[k*width])
					}
				}
			}
			if r1 < n {
				p := product{-1, beta, later, now, r1 - r0, l.View(r1, n, j0, j1), false, noStair}
				p.block(0, n-r1, 0, j1-j0)
			}
			now.release()
		})
		later.release()
		t.release()
	}
}
