// Package matrix holds the dense matrix in which inputs, covariances and adjoints are
// passed, so that kernels, means and objectives can be written in other modules. It has the access to
// elements that these need; factorisations and products are elsewhere (gonum's mat reads
// Data and Stride as they are).
package matrix

import "fmt"

// Dense is a dense row-major matrix, or a view into one: element (i, j) is
// Data[i*Stride+j].
type Dense struct {
	Rows, Cols, Stride int
	Data               []float64
}

// New returns a rows × cols matrix of zeros.
func New(rows, cols int) Dense {
	return Dense{Rows: rows, Cols: cols, Stride: cols, Data: make([]float64, rows*cols)}
}

// Of returns a matrix over data, which holds rows × cols values row by row.
func Of(rows, cols int, data []float64) Dense {
	if len(data) != rows*cols {
		panic(fmt.Sprintf("matrix: %d values for a %d×%d matrix", len(data), rows, cols))
	}
	return Dense{Rows: rows, Cols: cols, Stride: cols, Data: data}
}

// IsZero says whether the matrix is the zero value, which stands for "not wanted".
func (m Dense) IsZero() bool { return m.Data == nil }

// Row returns row i as a slice of the matrix's own memory.
func (m Dense) Row(i int) []float64 { return m.Data[i*m.Stride : i*m.Stride+m.Cols] }

// At returns element (i, j).
func (m Dense) At(i, j int) float64 { return m.Data[i*m.Stride+j] }

// Set sets element (i, j).
func (m Dense) Set(i, j int, v float64) { m.Data[i*m.Stride+j] = v }

// View returns rows [r0, r1) and columns [c0, c1) without copying.
func (m Dense) View(r0, r1, c0, c1 int) Dense {
	if r0 < 0 || r1 < r0 || r1 > m.Rows || c0 < 0 || c1 < c0 || c1 > m.Cols {
		panic(fmt.Sprintf("matrix: view [%d:%d, %d:%d] of a %d×%d matrix", r0, r1, c0, c1, m.Rows, m.Cols))
	}
	v := Dense{Rows: r1 - r0, Cols: c1 - c0, Stride: m.Stride}
	if v.Rows > 0 && v.Cols > 0 {
		v.Data = m.Data[r0*m.Stride+c0 : (r1-1)*m.Stride+c1]
	}
	return v
}

// RowRange returns rows [r0, r1) without copying.
func (m Dense) RowRange(r0, r1 int) Dense { return m.View(r0, r1, 0, m.Cols) }

// Zero sets every element to 0.
func (m Dense) Zero() {
	for i := range m.Rows {
		clear(m.Row(i))
	}
}

// CopyFrom copies a matrix of the same shape.
func (m Dense) CopyFrom(a Dense) {
	if m.Rows != a.Rows || m.Cols != a.Cols {
		panic(fmt.Sprintf("matrix: a %d×%d matrix can't be copied to a %d×%d one", a.Rows, a.Cols, m.Rows, m.Cols))
	}
	for i := range m.Rows {
		copy(m.Row(i), a.Row(i))
	}
}

// AddDiagonal adds v to every diagonal element.
func (m Dense) AddDiagonal(v float64) {
	for i := range min(m.Rows, m.Cols) {
		m.Data[i*m.Stride+i] += v
	}
}
