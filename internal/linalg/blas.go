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

// strip is the number of rows that one task of a blocked routine works on: large
// enough that a product inside it runs at speed, small enough that both cores of
// a small machine get work at N = 400.
const strip = 64

// Gemm sets C ← α op(A) op(B) + β C, where op transposes if the flag says so.
func Gemm(transA, transB bool, alpha float64, a, b Matrix, beta float64, c Matrix) {
	m, k := a.Rows, a.Cols
	if transA {
		m, k = k, m
	}
	kb, n := b.Rows, b.Cols
	if transB {
		kb, n = n, kb
	}
	if k != kb || c.Rows != m || c.Cols != n {
		panic(fmt.Sprintf("linalg: Gemm of %d×%d and %d×%d into %d×%d", m, k, kb, n, c.Rows, c.Cols))
	}
	if m == 0 || n == 0 {
		return
	}
	if k == 0 {
		for i := range m {
			scale(beta, c.Row(i))
		}
		return
	}
	blas64.Gemm(trans(transA), trans(transB), alpha, a.general(), b.general(), beta, c.general())
}

// GemmLower is Gemm for a result known to be symmetric: only the lower triangle
// of the square C (and the rest of its diagonal blocks) is computed.
func GemmLower(transA, transB bool, alpha float64, a, b Matrix, beta float64, c Matrix) {
	square(c)
	n := c.Rows
	Parallel((n+strip-1)/strip, func(t int) {
		t = (n+strip-1)/strip - 1 - t // the longest strips first
		i0, i1 := t*strip, min((t+1)*strip, n)
		ai := a.colsOrRows(transA, i0, i1)
		bi := b.colsOrRows(!transB, 0, i1)
		Gemm(transA, transB, alpha, ai, bi, beta, c.View(i0, i1, 0, i1))
	})
}

// colsOrRows returns columns [i0, i1) if cols is set, else those rows.
func (m Matrix) colsOrRows(cols bool, i0, i1 int) Matrix {
	if cols {
		return m.View(0, m.Rows, i0, i1)
	}
	return m.View(i0, i1, 0, m.Cols)
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
	blas64.Gemv(trans(transA), alpha, a.general(), blas64.Vector{N: n, Inc: 1, Data: x}, beta, blas64.Vector{N: m, Inc: 1, Data: y})
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
	if b.Rows == 0 || b.Cols == 0 {
		return
	}
	tri := blas64.Triangular{Uplo: blas.Lower, Diag: blas.NonUnit, N: l.Rows, Stride: l.Stride, Data: l.Data}
	if left {
		if b.Rows != l.Rows {
			panic(fmt.Sprintf("linalg: Trsm of order %d with %d rows", l.Rows, b.Rows))
		}
		Parallel((b.Cols+strip-1)/strip, func(t int) {
			v := b.View(0, b.Rows, t*strip, min((t+1)*strip, b.Cols))
			blas64.Trsm(blas.Left, trans(transL), 1, tri, v.general())
		})
		return
	}
	if b.Cols != l.Rows {
		panic(fmt.Sprintf("linalg: Trsm of order %d with %d columns", l.Rows, b.Cols))
	}
	Parallel((b.Rows+strip-1)/strip, func(t int) {
		v := b.RowRange(t*strip, min((t+1)*strip, b.Rows))
		blas64.Trsm(blas.Right, trans(transL), 1, tri, v.general())
	})
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
