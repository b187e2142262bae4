package linalg

import "math"

//go:generate go run -C ../../tools ./vecgen -set bundle -pkg linalg -out ../internal/linalg/bundle_amd64.s -stubs ../internal/linalg/bundle_amd64.go

// Bundle is Abreast small matrices of the same shape, interleaved element by element: element (i, j) of matrix l is
// Data[(i*Cols+j)*Abreast+l]. One vector instruction works on the same element of all matrices, and the short loops
// of small matrices go away.
type Bundle struct {
	Rows, Cols int
	Data       []float64
}

// BorrowBundle returns a scratch bundle with arbitrary content. Release returns it.
func BorrowBundle(rows, cols int) Bundle {
	return Bundle{rows, cols, Borrow(rows, cols*Abreast).Data}
}

// Release returns borrowed memory, which must not be used afterwards.
func (b Bundle) Release() { Return(Matrix{Data: b.Data}) }

// Row returns row i of all matrices, Cols × Abreast.
func (b Bundle) Row(i int) []float64 { return b.Data[i*b.Cols*Abreast : (i+1)*b.Cols*Abreast] }

// At returns element (i, j) of all matrices.
func (b Bundle) At(i, j int) []float64 { return b.Data[(i*b.Cols+j)*Abreast:][:Abreast:Abreast] }

// RowRange returns rows [r0, r1) without copying.
func (b Bundle) RowRange(r0, r1 int) Bundle {
	return Bundle{r1 - r0, b.Cols, b.Data[r0*b.Cols*Abreast : r1*b.Cols*Abreast]}
}

// CholeskyBundle factors the leading n×n part A of each matrix. It overwrites the lower triangle of A with L, A = L Lᵀ,
// with reciprocals on the diagonal. It overwrites the first n columns of the rows below, B, with B L⁻ᵀ: row b becomes
// L⁻¹b. As in Cholesky, a pivot under 2⁻⁵⁰ of its diagonal element counts as not positive. If several matrices fail,
// the error names the first row in which one of them fails.
func CholeskyBundle(a Bundle, n int) error {
	ones := [Abreast]float64{1, 1, 1, 1, 1, 1, 1, 1}
	var inverse [Abreast]float64
	stride := a.Cols * Abreast
	for j := range n {
		row, d := a.Row(j), a.At(j, j)
		smallest := *(*[Abreast]float64)(d)
		eliminate(1, j, row, row, stride, &ones)
		for l, pivot := range d {
			if !(pivot > 0x1p-50*smallest[l]) || !(pivot > 0) || math.IsInf(pivot, 1) {
				return &NotPositiveDefinite{Row: j, Pivot: pivot}
			}
			inverse[l] = 1 / math.Sqrt(pivot)
		}
		copy(d, inverse[:])
		if j+1 < a.Rows {
			eliminate(a.Rows-j-1, j, row, a.Data[(j+1)*stride:], stride, &inverse)
		}
	}
	return nil
}

// SubstituteBundle solves with CholeskyBundle's result: each row b from row n on becomes L⁻ᵀb.
func SubstituteBundle(a Bundle, n int) {
	for j := n - 1; j >= 0; j-- {
		row, inverse := a.Row(j), a.At(j, j)
		for i := n; i < a.Rows; i++ {
			b, x := a.Row(i), (*[Abreast]float64)(a.At(i, j))
			for l, v := range inverse {
				x[l] *= v
			}
			subtract(j, row, x, b)
		}
	}
}

// CombineBundle fills out, n elements of every matrix, with x∘f + y∘g.
func CombineBundle(n int, x []float64, f *[Abreast]float64, y []float64, g *[Abreast]float64, out []float64) {
	combine(n, x, f, y, g, out)
}
