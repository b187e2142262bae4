package linalg

import (
	"fmt"
	"runtime"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
)

// The operations of BLAS: products, rank updates, and solves with triangular matrices.

// trans returns the flag as gonum's BLAS takes it.
func trans(t bool) blas.Transpose {
	if t {
		return blas.Trans
	}
	return blas.NoTrans
}

// Gemm sets C ← α op(A) op(B) + β C, where op transposes if its flag is set.
//
// An element depends only on its row of op(A), its column of op(B), α, β and its old value, bit for
// bit, and on nothing else in the call.
func Gemm(transA, transB bool, alpha float64, a, b Matrix, beta float64, c Matrix) {
	gemm(transA, transB, alpha, a, b, beta, c, false)
}

// GemmLower does what Gemm does, for a symmetric result.
// It computes only the lower triangle of the square C.
func GemmLower(transA, transB bool, alpha float64, a, b Matrix, beta float64, c Matrix) {
	square(c)
	gemm(transA, transB, alpha, a, b, beta, c, true)
}

// gemm does the work of Gemm, or of GemmLower if lower is set.
// Without a product to add (α = 0 or no depth), it only multiplies C by β.
func gemm(transA, transB bool, alpha float64, a, b Matrix, beta float64, c Matrix, lower bool) {
	x := operand{Matrix: a, columns: transA}
	y := operand{Matrix: b, columns: !transB}
	if x.depth() != y.depth() || c.Rows != x.count() || c.Cols != y.count() {
		panic(fmt.Sprintf("linalg: Gemm of %d×%d and %d×%d into %d×%d", x.count(), x.depth(),
			y.depth(), y.count(), c.Rows, c.Cols))
	}
	if c.Rows == 0 || c.Cols == 0 {
		return
	}
	if x.depth() > 0 && alpha != 0 {
		multiply(alpha, x, y, beta, c, lower)
		return
	}
	for i := range c.Rows {
		end := c.Cols
		if lower {
			end = i + 1
		}
		scale(beta, c.Row(i)[:end])
	}
}

// SyrkLower sets the lower triangle of C ← α A Aᵀ + β C, or of α Aᵀ A + β C.
func SyrkLower(transA bool, alpha float64, a Matrix, beta float64, c Matrix) {
	GemmLower(transA, !transA, alpha, a, a, beta, c)
}

// SyrkScaled sets the lower triangle of C ← Aᵀ diag(scale) A + β C.
func SyrkScaled(a Matrix, scale []float64, beta float64, c Matrix) {
	square(c)
	if len(scale) != a.Rows || c.Rows != a.Cols {
		panic(fmt.Sprintf("linalg: SyrkScaled of %d×%d with %d factors into %d×%d", a.Rows, a.Cols,
			len(scale), c.Rows, c.Cols))
	}
	if a.Rows > 0 && a.Cols > 0 {
		multiply(1, operand{Matrix: a, columns: true},
			operand{Matrix: a, columns: true, scale: scale}, beta, c, true)
	}
}

// Gemv sets y ← α op(A) x + β y. If op doesn't transpose, each element is one dot product in a
// fixed order, so it doesn't depend on the other rows.
func Gemv(transA bool, alpha float64, a Matrix, x []float64, beta float64, y []float64) {
	m := a.Rows
	n := a.Cols
	if transA {
		m, n = n, m
	}
	if len(x) != n || len(y) != m {
		panic(fmt.Sprintf("linalg: Gemv of %d×%d with %d values into %d", m, n, len(x), len(y)))
	}
	if m == 0 {
		return
	}
	if n == 0 {
		scale(beta, y)
		return
	}
	blas64.Gemv(trans(transA), alpha, general(a), blas64.Vector{N: n, Inc: 1, Data: x}, beta,
		blas64.Vector{N: m, Inc: 1, Data: y})
}

// Ger sets A ← A + α x yᵀ.
func Ger(alpha float64, x, y []float64, a Matrix) {
	for i, v := range x {
		Axpy(alpha*v, y, a.Row(i))
	}
}

// Trsm solves a triangular system with many right-hand sides in place. L is lower triangular.
// From the left B ← op(L)⁻¹ B, from the right B ← B op(L)⁻¹.
func Trsm(left, transL bool, l, b Matrix) {
	square(l)
	x := operand{Matrix: b, columns: left}
	if x.depth() != l.Rows {
		panic(fmt.Sprintf("linalg: Trsm of order %d with %d×%d", l.Rows, b.Rows, b.Cols))
	}
	if x.count() > 0 {
		substitute(l, transL == left, x, x, nil)
	}
}

// TrsmTo does what Trsm does from the right, but writes the transpose of the solution to out, and
// leaves B undefined.
func TrsmTo(transL bool, l, b, out Matrix) {
	square(l)
	if b.Cols != l.Rows || out.Rows != b.Cols || out.Cols != b.Rows {
		panic(fmt.Sprintf("linalg: TrsmTo of order %d with %d×%d into %d×%d", l.Rows, b.Rows,
			b.Cols, out.Rows, out.Cols))
	}
	if b.Rows > 0 {
		substitute(l, !transL, operand{Matrix: b}, operand{Matrix: out, columns: true}, nil)
	}
}

// Trsv solves L x = b, or Lᵀ x = b, in place.
func Trsv(transL bool, l Matrix, x []float64) {
	square(l)
	if len(x) != l.Rows {
		panic(fmt.Sprintf("linalg: Trsv of order %d with %d values", l.Rows, len(x)))
	}
	tri := blas64.Triangular{Uplo: blas.Lower, Diag: blas.NonUnit, N: l.Rows, Stride: l.Stride,
		Data: l.Data}
	blas64.Trsv(trans(transL), tri, blas64.Vector{N: len(x), Inc: 1, Data: x})
}

// MirrorLower copies the strict lower triangle of a square matrix to the upper.
func MirrorLower(m Matrix) {
	square(m)
	const b = 64 // with square blocks the strided writes stay in cache
	nb := (m.Rows + b - 1) / b
	Parallel(nb, func(bi int) {
		i1 := min((bi+1)*b, m.Rows)
		for j0 := 0; j0 <= bi*b; j0 += b {
			for i := bi * b; i < i1; i += lanes {
				done := j0 // the columns before are mirrored by whole tiles
				if end := min(j0+b, i); i+lanes <= i1 && j0 < end {
					transposeTile(end-j0, m.Data[i*m.Stride+j0:], m.Stride, m.Data[j0*m.Stride+i:],
						m.Stride)
					done = end
				}
				for r := i; r < min(i+lanes, i1); r++ {
					for j := done; j < min(j0+b, r); j++ {
						m.Data[j*m.Stride+r] = m.Data[r*m.Stride+j]
					}
				}
			}
		}
	})
}

// order is the number of equations that one step of a triangular solve or a factorisation takes.
// It is a whole number of panels and tiles at every level.
const order = 240

// factorStep returns how many rows a step of a factorisation or an inversion takes.
// One core factors a block while others wait, and triangles are solved more slowly than blocks are
// multiplied, so blocks are small. Large blocks read and write the rest less often.
func factorStep(n int) int {
	if n > 10*order {
		return cut(n, order, maxWidth)
	}
	return cut(n, order/2, maxWidth)
}

// A triangle is a packed diagonal block T, in front of or among other vectors.
// Vector i is row i of T, with the reciprocal of the diagonal element.
// If T is lower triangular, elements above the diagonal aren't read.
// If it is upper triangular (back), elements below the diagonal aren't read.
type triangle struct {
	panels
	back bool
}

// invertDiagonal replaces the diagonal elements of T's rows [i0, i1) by their reciprocals.
// T has order n, and equations beyond n, which only fill up, become x = 0.
func (t triangle) invertDiagonal(i0, i1, n int) {
	for i := i0; i < i1; i++ {
		d := &t.at(i, i)[0]
		*d = 1 / *d
	}
	for i := n; i1 == n && i < t.depth; i++ {
		t.at(i, i)[0] = 1
	}
}

// solve replaces the panel of x with vectors i, i+1, … by T⁻¹ x.
// If T is lower, elements before from (a whole number of tiles) are zero and stay zero.
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

// substitute writes to out the solution of L x = b, or of Lᵀ x = b from the last equation back, for
// every vector of x.
// It overwrites x, which may be out. Vectors don't depend on one another.
// kept has the panels of each step if L is packed already.
func substitute(l Matrix, back bool, x, out operand, kept []panels) {
	n := l.Rows
	count := x.count()
	step := cut(n, order, maxWidth)
	chunk := share(count)
	var all panels
	if kept == nil {
		all = borrowPanels(n, step)
		defer all.release()
	}
	inPhases(float64(n)*float64(n)/2*float64(count), operands{l, x.Matrix, out.Matrix},
		2*((n+step-1)/step), func(p int) (int, func(int)) {
			// This step solves the equations [r0, r1), and then updates the unknowns [u0, u1).
			// In their panels the triangle begins at t0, and the part of L for the other unknowns
			// begins at rest.
			r0 := p / 2 * step
			if back {
				r0 = (n-1)/step*step - r0
			}
			r1 := min(r0+step, n)
			u0 := r1
			u1 := n
			t0 := 0
			rest := r1 - r0
			rows := operand{Matrix: l.View(r0, n, r0, r1)}
			if back {
				u0 = 0
				u1 = r0
				t0 = r0
				rest = 0
				rows = operand{Matrix: l.View(r0, r1, 0, r1), columns: true}
			}
			all := all.of(r1 - r0)
			if kept != nil {
				all = kept[p/2]
			}
			t := triangle{all.from(t0), back}
			if p%2 == 0 {
				if kept != nil {
					return 0, nil
				}
				return packTasks(rows.count()), func(c int) {
					all.packTask(rows, c)
					i0 := max(c*packed, t0)
					i1 := min((c+1)*packed, t0+r1-r0)
					t.invertDiagonal(i0-t0, i1-t0, r1-r0)
				}
			}
			here := x.part(0, count, r0, r1)
			there := x.part(0, count, u0, u1)
			return (count + chunk - 1) / chunk, func(c int) {
				i0 := c * chunk
				i1 := min((c+1)*chunk, count)
				now := borrowPanels(i1-i0, r1-r0)
				now.pack(here, i0, i1, 0)
				for i := 0; i < i1-i0; i += width {
					t.solve(now, i, 0)
				}
				now.unpack(out.part(0, count, r0, r1), i0, i1, 0)
				if u0 < u1 {
					p := product{-1, 1, now, all.from(rest), r1 - r0,
						there.part(i0, i1, 0, u1-u0).Matrix, false, noStair}
					if x.columns {
						p.a, p.b = p.b, p.a
					}
					p.block(0, p.c.Rows, 0, p.c.Cols)
				}
				now.release()
			}
		})
}

// share returns how many of count vectors a task should take.
// It makes enough tasks to balance the work, and gives a task at most blockCols vectors.
func share(count int) int {
	return min(blockCols, max(maxWidth, roundUp(count/(16*runtime.GOMAXPROCS(0)), maxWidth)))
}

// TriangularInverse overwrites the lower triangular L with its inverse (N³/3 multiplications).
// It leaves the strict upper triangle as it is.
func TriangularInverse(l Matrix) {
	square(l)
	triangularInverse(l, l)
}

// triangularInverse writes the inverse of L to c, which may be L.
// It solves L X = I from the top down. After each step, the rows of c below hold −L X so far.
func triangularInverse(l, c Matrix) {
	n := l.Rows
	step := factorStep(n)
	all := borrowPanels(n, step)
	inPhases(cube(n)/6, operands{l, c}, 2*((n+step-1)/step), func(p int) (int, func(int)) {
		r0 := p / 2 * step
		r1 := min(r0+step, n)
		all := all.of(r1 - r0)
		t := triangle{all, false}
		if p%2 == 0 {
			below := operand{Matrix: l.View(r0, n, r0, r1)}
			return packTasks(n - r0), func(k int) {
				all.packTask(below, k)
				t.invertDiagonal(k*packed, min((k+1)*packed, r1-r0), r1-r0)
			}
		}
		rows := operand{Matrix: c.View(r0, r1, 0, r0), columns: true}
		chunk := share(r1)
		old := (r0 + chunk - 1) / chunk // tasks for columns that earlier steps began
		return old + (r1-r0+chunk-1)/chunk, func(k int) {
			j0 := k * chunk
			j1 := min((k+1)*chunk, r0)
			beta := 1.0
			if k >= old {
				j0 = r0 + (k-old)*chunk
				j1 = min(j0+chunk, r1)
				beta = 0
			}
			// now gets the right-hand sides: −L X so far in old columns, the identity in new ones.
			now := borrowPanels(j1-j0, r1-r0)
			if k < old {
				now.pack(rows, j0, j1, 0)
			} else {
				clear(now.data)
				for j := j0; j < j1; j++ {
					now.at(j-j0, j-r0)[0] = 1
				}
			}
			for j := j0; j < j1; j += width {
				t.solve(now, j-j0, max(j-r0, 0)/lanes*lanes)
				if k < old {
					continue
				}
				for i, v := j-r0, now.at(j-j0, 0); i < r1-r0; i++ {
					copy(c.Row(r0 + i)[j:min(j+width, r0+i+1)], v[i*width:])
				}
			}
			if k < old {
				now.unpack(rows, j0, j1, 0)
			}
			// The rows below get their part of −L X from these rows of X.
			if r1 < n {
				p := product{-1, beta, all.from(r1 - r0), now, r1 - r0, c.View(r1, n, j0, j1),
					false, noStair}
				p.block(0, n-r1, 0, j1-j0)
			}
			now.release()
		}
	})
	all.release()
}

// cube returns n³ as a float, which doesn't overflow.
func cube(n int) float64 { return float64(n) * float64(n) * float64(n) }
