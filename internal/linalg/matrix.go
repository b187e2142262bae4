package linalg

import (
	"fmt"
	"unsafe"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/krigo-gp/krigo/matrix"
)

// Matrix is what this package computes with. Signatures that others may implement or call
// spell matrix.Dense.
type Matrix = matrix.Dense

// New is matrix.New.
func New(rows, cols int) Matrix { return matrix.New(rows, cols) }

// Of is matrix.Of.
func Of(rows, cols int, data []float64) Matrix { return matrix.Of(rows, cols, data) }

// operands are the matrices of an operation, which ends with the context of any of them.
type operands [3]Matrix

func (o *operands) ends() bool { return o[0].Ends() || o[1].Ends() || o[2].Ends() }

func (o *operands) check() {
	for _, m := range o {
		m.Check()
	}
}

func general(m Matrix) blas64.General {
	return blas64.General{Rows: m.Rows, Cols: m.Cols, Stride: m.Stride, Data: m.Data}
}

// same says whether two matrices are the same memory in the same shape.
func same(m, a Matrix) bool {
	return m.Rows == a.Rows && m.Cols == a.Cols && m.Stride == a.Stride &&
		unsafe.SliceData(m.Data) == unsafe.SliceData(a.Data)
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
