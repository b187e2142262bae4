// Package matrix holds the dense matrix that carries inputs, covariances and adjoints, so that
// other modules can write kernels, means and objectives.
// It has only the access to elements that these need.
// Factorisations and products are elsewhere (gonum's mat reads Data and Stride as they are).
//
// This program changes part of a matrix through a view, and reads it with gonum:
//
//	package main
//
//	import (
//		"fmt"
//
//		"gonum.org/v1/gonum/mat"
//
//		"github.com/krigo-gp/krigo/matrix"
//	)
//
//	func main() {
//		m := matrix.Of(2, 2, []float64{2, 1, 1, 2})
//		m.View(0, 1, 0, 2).Set(0, 0, 3) // the first row
//		m.AddDiagonal(1)
//		fmt.Println(m.Row(0), m.Row(1), "trace", mat.Trace(mat.NewDense(m.Rows, m.Cols, m.Data)))
//		// Output:
//		// [4 1] [1 3] trace 7
//	}
package matrix

import (
	"context"
	"errors"
	"fmt"

	"github.com/krigo-gp/krigo/internal/disk"
	"github.com/krigo-gp/krigo/memory"
)

// Dense is a dense row-major matrix, or a view of one. Element (i, j) is Data[i*Stride+j].
type Dense struct {
	Rows, Cols, Stride int
	Data               []float64

	ctx context.Context // work on the matrix ends when this context ends; nil: it never ends early
	// holds Data, and keeps it while a matrix or a view of it is reachable; nil: Data is in memory
	file *disk.Scratch
}

// End is the panic of work that can't go on: a matrix needs too much memory, or a context has
// ended. So nobody gets half-done results. A function that returns an error defers [Ended], as all
// exported functions of krigo do.
type End struct{ Err error }

// Ended turns the panic of an [End] into the error of the function that defers it.
func Ended(err *error) {
	switch end := recover().(type) {
	case nil:
	case End:
		*err = end.Err
	default:
		panic(end)
	}
}

// Ask panics with an [End] if package memory doesn't allow a matrix of this size.
// Every matrix asks here.
func Ask(rows, cols int) {
	if bytes := 8 * float64(rows) * float64(cols); bytes > float64(memory.Limit()) {
		panic(End{memory.Afford(fmt.Sprintf("a %d×%d matrix", rows, cols), bytes)})
	}
}

// New returns a rows × cols matrix of zeros, which [Ask] allows.
func New(rows, cols int) Dense {
	Ask(rows, cols)
	return Dense{Rows: rows, Cols: cols, Stride: cols, Data: make([]float64, rows*cols)}
}

// inMemory is the share of memory.Limit that a matrix of Large may take in memory.
// A nearest-neighbour model holds two such matrices of about the same size, and a third while a
// tree is built.
const inMemory = 1. / 8

// Large returns a matrix of zeros for rows of a table.
// If the matrix would take much of the memory that the process may use, it lies in a temporary file
// without a name, where the system can map files.
// The numbers that are computed from it are the same.
func Large(rows, cols int) Dense {
	if bytes := 8 * float64(rows) * float64(cols); bytes > inMemory*float64(memory.Limit()) {
		switch file, err := disk.NewScratch(rows * cols); {
		case err == nil:
			return Dense{Rows: rows, Cols: cols, Stride: cols, Data: file.Numbers, file: file}
		case !errors.Is(err, errors.ErrUnsupported):
			panic(End{err})
		}
	}
	return New(rows, cols)
}

// Release removes the file of a matrix of Large before the garbage collector does.
// The matrix and its views must not be used afterwards.
func (m Dense) Release() {
	if m.file != nil {
		m.file.Release()
	}
}

// Until returns m for work that ends with a context. Views of m have the context too.
// After the context has ended, covariances of m's rows, products and factorisations panic with an
// [End] within a block.
func (m Dense) Until(ctx context.Context) Dense {
	m.ctx = ctx
	return m
}

// Context returns the context given to Until, or nil.
func (m Dense) Context() context.Context { return m.ctx }

// Like returns a matrix of zeros with m's context.
func (m Dense) Like(rows, cols int) Dense { return New(rows, cols).Until(m.ctx) }

// Ends says whether m's context has ended.
func (m Dense) Ends() bool { return m.ctx != nil && m.ctx.Err() != nil }

// Check panics with an [End] if m's context has ended.
func (m Dense) Check() {
	if m.Ends() {
		panic(End{m.ctx.Err()})
	}
}

// Of returns a matrix over data, which holds rows × cols values row by row.
func Of(rows, cols int, data []float64) Dense {
	if len(data) != rows*cols {
		panic(fmt.Sprintf("matrix: %d values for a %d×%d matrix", len(data), rows, cols))
	}
	return Dense{Rows: rows, Cols: cols, Stride: cols, Data: data}
}

// IsZero says whether the matrix is the zero value, which means "not wanted".
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
		panic(fmt.Sprintf("matrix: view [%d:%d, %d:%d] of a %d×%d matrix", r0, r1, c0, c1,
			m.Rows, m.Cols))
	}
	v := Dense{Rows: r1 - r0, Cols: c1 - c0, Stride: m.Stride, ctx: m.ctx, file: m.file}
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
		panic(fmt.Sprintf("matrix: a %d×%d matrix can't be copied to a %d×%d one", a.Rows, a.Cols,
			m.Rows, m.Cols))
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
