package linalg

import "math"

//go:generate go run -C ../../tools ./vecgen -set bundle -dir ../internal/linalg

// Bundle is Abreast small matrices of the same shape, interleaved element by element:
// element (i, j) of matrix l is Data[(i*Cols+j)*Abreast+l].
// One vector instruction works on the same element of all matrices, and the short loops of small
// matrices go away.
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

// CholeskyBundle factors the leading n×n part A of each matrix.
// It overwrites the lower triangle of A with L, A = L Lᵀ, with reciprocals on the diagonal. It
// overwrites the first n columns of the rows below, B, with B L⁻ᵀ: row b becomes L⁻¹b.
// As in Cholesky, a pivot under 2⁻⁵⁰ of its diagonal element counts as not positive.
// If several matrices fail, the error names the first row in which one of them fails.
//
// Where the level has kernels for them, it takes four columns at a time.
// The upper triangle of their diagonal blocks then holds arbitrary numbers.
func CholeskyBundle(a Bundle, n int) error {
	first, err := a.factorFours(n)
	if err != nil {
		return err
	}
	ones := [Abreast]float64{1, 1, 1, 1, 1, 1, 1, 1}
	var inverse [Abreast]float64
	stride := a.Cols * Abreast
	for j := first; j < n; j++ {
		row := a.Row(j)
		d := a.At(j, j)
		smallest := *(*[Abreast]float64)(d)
		// The pivots are the diagonal elements minus the squares of the row's elements before them.
		eliminate(1, j, row, row, stride, &ones)
		for l, pivot := range d {
			if !sound(pivot, smallest[l]) {
				return &NotPositiveDefinite{Row: j, Pivot: pivot}
			}
			inverse[l] = 1 / math.Sqrt(pivot)
		}
		copy(d, inverse[:])
		// Column j of all rows below, divided by the roots of the pivots.
		if j+1 < a.Rows {
			eliminate(a.Rows-j-1, j, row, a.Data[(j+1)*stride:], stride, &inverse)
		}
	}
	return nil
}

// sound says whether a pivot is a positive number that isn't lost in the rounding errors of its
// diagonal element.
func sound(pivot, diagonal float64) bool {
	return pivot > 0x1p-50*diagonal && pivot > 0 && !math.IsInf(pivot, 1)
}

// unit is the tile with which eliminateFour subtracts without solving.
var unit = func() (t tile) {
	for i := 0; i < four*four; i += four + 1 {
		for l := range Abreast {
			t[i*Abreast+l] = 1
		}
	}
	return t
}()

// factorFours factors as many of the first n columns as make whole steps of four, and returns their
// number.
func (a Bundle) factorFours(n int) (int, error) {
	if !hasFours() {
		return 0, nil
	}
	var t tile
	diagonal := t[four*four*Abreast:]
	pivots := t[(four*four+four)*Abreast:]
	fine := t[(four*four+2*four)*Abreast:]
	stride := a.Cols * Abreast
	j := 0
	for ; j+four <= n; j += four {
		rows := a.Data[j*stride:]
		for c := range four {
			copy(diagonal[c*Abreast:][:Abreast], a.At(j+c, j+c))
		}
		// Subtract the earlier columns from the diagonal block, and factor it.
		eliminateFour(four, j, rows, rows, stride, &unit)
		factorFour(rows[j*Abreast:], stride, &t)
		// The sum of fine is Abreast if no matrix failed. Only otherwise are the pivots looked at
		// one by one.
		var sum float64
		for _, v := range fine {
			sum += v
		}
		if sum < Abreast {
			for i := range four * Abreast {
				if !sound(pivots[i], diagonal[i]) {
					return j, &NotPositiveDefinite{Row: j + i/Abreast, Pivot: pivots[i]}
				}
			}
		}
		// The four columns of all rows below.
		if j+four < a.Rows {
			eliminateFour(a.Rows-j-four, j, rows, rows[four*stride:], stride, &t)
		}
	}
	return j, nil
}

// SubstituteBundle solves with CholeskyBundle's result: each row b from row n on becomes L⁻ᵀb.
func SubstituteBundle(a Bundle, n int) {
	fours := 0
	if hasFours() {
		fours = n / four * four
	}
	// From the last unknown back: solve for x_j, and subtract its share from the unknowns before.
	for j := n - 1; j >= fours; j-- {
		row := a.Row(j)
		inverse := a.At(j, j)
		for i := n; i < a.Rows; i++ {
			b := a.Row(i)
			x := (*[Abreast]float64)(a.At(i, j))
			for l, v := range inverse {
				x[l] *= v
			}
			subtract(j, row, x, b)
		}
	}
	for j := fours - four; j >= 0; j -= four {
		for i := n; i < a.Rows; i++ {
			substituteFour(j, a.Row(j), a.Cols*Abreast, a.Row(i))
		}
	}
}

// CombineBundle fills out, n elements of every matrix, with x∘f + y∘g.
func CombineBundle(n int, x []float64, f *[Abreast]float64, y []float64, g *[Abreast]float64,
	out []float64) {
	combine(n, x, f, y, g, out)
}
