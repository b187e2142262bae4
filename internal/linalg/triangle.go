package linalg

import "math"

// Triangle is a lower triangular matrix L in the form in which the kernels read it, for many solves
// with few vectors each. Otherwise packing L takes longer than solving for one vector.
type Triangle struct {
	l     Matrix
	steps []panels // for each step of substitute, L from its diagonal block down
}

// Pack packs L, whose numbers may not change afterwards.
func Pack(l Matrix) *Triangle {
	square(l)
	n := l.Rows
	t := &Triangle{l: l}
	step := cut(n, order, maxWidth)
	for r0 := 0; r0 < n; r0 += step {
		r1 := min(r0+step, n)
		depth := roundUp(r1-r0, lanes)
		all := panels{New(1, roundUp(n-r0, width)*depth).Data, depth}
		all.pack(operand{Matrix: l.View(r0, n, r0, r1)}, 0, n-r0, 0)
		triangle{all, false}.invertDiagonal(0, r1-r0, r1-r0)
		t.steps = append(t.steps, all)
	}
	return t
}

// fewVectors is the largest number of vectors that are solved for one at a time.
// With AVX-512 a multiplyTile takes as long as nine calls of columnTile for the same numbers of L.
const fewVectors = 8

// Solve replaces each row b of x by L⁻¹b, with the same bits as Trsm(false, true, L, x).
func (t *Triangle) Solve(x Matrix) {
	if x.Rows > fewVectors || !hasColumn() {
		substitute(t.l, false, operand{Matrix: x}, operand{Matrix: x}, t.steps)
		return
	}
	// the last panel of a step may end behind the last equation
	v := Borrow(x.Rows, roundUp(t.l.Rows, width)+maxWidth)
	for i := range x.Rows {
		clear(v.Row(i)[copy(v.Row(i), x.Row(i)):])
	}
	r0 := 0
	for _, all := range t.steps {
		x.Check()
		r1 := min(r0+all.depth, t.l.Rows)
		for i := range x.Rows {
			forward(all, r1-r0, v.Row(i)[r0:])
		}
		for u := r1; u < t.l.Rows; u += width {
			for i := range x.Rows {
				var sums [maxWidth]float64
				columnTile(r1-r0, all.at(u-r0, 0), v.Row(i)[r0:], sums[:])
				for k, s := range sums[:width] {
					v.Row(i)[u+k] -= s
				}
			}
		}
		r0 = r1
	}
	for i := range x.Rows {
		copy(x.Row(i), v.Row(i))
	}
	Return(v)
}

// forward solves the first n equations of a step, in the order in which triangle.solve does.
func forward(all panels, n int, x []float64) {
	for i := 0; i < n; i += width {
		var sums [maxWidth]float64
		if i > 0 {
			columnTile(i, all.at(i, 0), x, sums[:])
		}
		for k := i; k < min(i+width, n); k += lanes {
			for c := range lanes {
				x[k+c] -= sums[k-i+c]
			}
			for c := range lanes {
				column := all.at(i, k+c)[k-i:][:lanes]
				x[k+c] *= column[c]
				for r := c + 1; r < lanes; r++ {
					x[k+r] = math.FMA(-column[r], x[k+c], x[k+r])
				}
			}
			columnTile(lanes, all.at(i, k), x[k:], sums[:])
		}
	}
}
