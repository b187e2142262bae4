package linalg

import (
	"fmt"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
)

func trans(t bool) blas.Transpose {
	if t {
		return blas.Trans
	}
	return blas.NoTrans
}

// Gemm sets C ← α op(A) op(B) + β C, where op transposes if the flag says so.
//
// An element depends on its row of op(A), its column of op(B), α, β and what stood
// there, bit for bit, whatever else is in the call.
func Gemm(transA, transB bool, alpha float64, a, b Matrix, beta float64, c Matrix) {
	gemm(transA, transB, alpha, a, b, beta, c, false)
}

// GemmLower is Gemm for a result known to be symmetric: only the lower triangle
// of the square C is computed.
func GemmLower(transA, transB bool, alpha float64, a, b Matrix, beta float64, c Matrix) {
	square(c)
	gemm(transA, transB, alpha, a, b, beta, c, true)
}

func gemm(transA, transB bool, alpha float64, a, b Matrix, beta float64, c Matrix, lower bool) {
	x, y := operand{Matrix: a, columns: transA}, operand{Matrix: b, columns: !transB}
	if x.depth() != y.depth() || c.Rows != x.count() || c.Cols != y.count() {
		panic(fmt.Sprintf("linalg: Gemm of %d×%d and %d×%d into %d×%d", x.count(), x.depth(), y.depth(), y.count(), c.Rows,
			c.Cols))
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

// Gemv sets y ← α op(A) x + β y. Each element is one dot product in a fixed
// order when op doesn't transpose, so it doesn't depend on the other rows.
func Gemv(transA bool, alpha float64, a Matrix, x []float64, beta float64, y []float64) {
	m, n := a.Rows, a.Cols
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

// Trsm solves a triangular system with many right-hand sides in place, L lower
// triangular: from the left B ← op(L)⁻¹ B, from the right B ← B op(L)⁻¹.
func Trsm(left, transL bool, l, b Matrix) {
	square(l)
	x := operand{Matrix: b, columns: left}
	if x.depth() != l.Rows {
		panic(fmt.Sprintf("linalg: Trsm of order %d with %d×%d", l.Rows, b.Rows, b.Cols))
	}
	if x.count() > 0 {
		substitute(l, transL == left, x)
	}
}

// Trsv solves L x = b, or Lᵀ x = b, in place.
func Trsv(transL bool, l Matrix, x []float64) {
	square(l)
	if len(x) != l.Rows {
		panic(fmt.Sprintf("linalg: Trsv of order %d with %d values", l.Rows, len(x)))
	}
	tri := blas64.Triangular{Uplo: blas.Lower, Diag: blas.NonUnit, N: l.Rows, Stride: l.Stride, Data: l.Data}
	blas64.Trsv(trans(transL), tri, blas64.Vector{N: len(x), Inc: 1, Data: x})
}

// MirrorLower copies the strict lower triangle of a square matrix to the upper.
func MirrorLower(m Matrix) {
	square(m)
	const b = 64 // square blocks, so that the strided writes stay in cache
	nb := (m.Rows + b - 1) / b
	Parallel(nb, func(bi int) {
		i1 := min((bi+1)*b, m.Rows)
		for j0 := 0; j0 <= bi*b; j0 += b {
			for i := bi * b; i < i1; i++ {
				row := m.Data[i*m.Stride:]
				for j := j0; j < min(j0+b, i); j++ {
					m.Data[j*m.Stride+i] = row[j]
				}
			}
		}
	})
}
