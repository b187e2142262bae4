package linalg

import (
	"fmt"
	"unsafe"

	"gonum.org/v1/gonum/blas/blas64"
)

// Matrix is a dense row-major matrix, or a view into one: element (i, j) is
// Data[i*Stride+j].
type Matrix struct {
	Rows, Cols, Stride int
	Data               []float64
}

// New returns a rows × cols matrix of zeros.
func New(rows, cols int) Matrix {
	return Matrix{Rows: rows, Cols: cols, Stride: cols, Data: make([]float64, rows*cols)}
}

// Of returns a matrix over data, which holds rows × cols values row by row.
func Of(rows, cols int, data []float64) Matrix {
	if len(data) != rows*cols {
		panic(fmt.Sprintf("linalg: %d values for a %d×%d matrix", len(data), rows, cols))
	}
	return Matrix{Rows: rows, Cols: cols, Stride: cols, Data: data}
}

// IsZero says whether the matrix is the zero value, which stands for "not wanted".
func (m Matrix) IsZero() bool { return m.Data == nil }

// Row returns row i as a slice of the matrix's own memory.
func (m Matrix) Row(i int) []float64 { return m.Data[i*m.Stride : i*m.Stride+m.Cols] }

// At returns element (i, j).
func (m Matrix) At(i, j int) float64 { return m.Data[i*m.Stride+j] }

// Set sets element (i, j).
func (m Matrix) Set(i, j int, v float64) { m.Data[i*m.Stride+j] = v }

// View returns rows [r0, r1) and columns [c0, c1) without copying.
func (m Matrix) View(r0, r1, c0, c1 int) Matrix {
	if r0 < 0 || r1 < r0 || r1 > m.Rows || c0 < 0 || c1 < c0 || c1 > m.Cols {
		panic(fmt.Sprintf("linalg: view [%d:%d, %d:%d] of a %d×%d matrix", r0, r1, c0, c1, m.Rows, m.Cols))
	}
	v := Matrix{Rows: r1 - r0, Cols: c1 - c0, Stride: m.Stride}
	if v.Rows > 0 && v.Cols > 0 {
		v.Data = m.Data[r0*m.Stride+c0 : (r1-1)*m.Stride+c1]
	}
	return v
}

// RowRange returns rows [r0, r1) without copying.
func (m Matrix) RowRange(r0, r1 int) Matrix { return m.View(r0, r1, 0, m.Cols) }

// Zero sets every element to 0.
func (m Matrix) Zero() {
	for i := range m.Rows {
		clear(m.Row(i))
	}
}

// CopyFrom copies a matrix of the same shape.
func (m Matrix) CopyFrom(a Matrix) {
	sameShape(m, a)
	for i := range m.Rows {
		copy(m.Row(i), a.Row(i))
	}
}

// MirrorLower copies the strict lower triangle of a square matrix to the upper.
func (m Matrix) MirrorLower() {
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

// AddDiagonal adds v to every diagonal element.
func (m Matrix) AddDiagonal(v float64) {
	for i := range min(m.Rows, m.Cols) {
		m.Data[i*m.Stride+i] += v
	}
}

func (m Matrix) general() blas64.General {
	return blas64.General{Rows: m.Rows, Cols: m.Cols, Stride: m.Stride, Data: m.Data}
}

// same says whether two matrices are the same memory in the same shape.
func (m Matrix) same(a Matrix) bool {
	return m.Rows == a.Rows && m.Cols == a.Cols && m.Stride == a.Stride && unsafe.SliceData(m.Data) == unsafe.SliceData(a.Data)
}

func square(m Matrix) {
	if m.Rows != m.Cols {
		panic(fmt.Sprintf("linalg: a square matrix is needed, not %d×%d", m.Rows, m.Cols))
	}
}

func sameShape(a, b Matrix) {
	if a.Rows != b.Rows || a.Cols != b.Cols {
		panic(fmt.Sprintf("linalg: %d×%d against %d×%d", a.Rows, a.Cols, b.Rows, b.Cols))
	}
}
