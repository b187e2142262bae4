// Package linalg is the only door to dense linear algebra and to elementary
// functions on slices. Nothing above it knows which routines do the work.
//
// Three layers. A tile kernel (tile.go; gen writes those in assembly, for AVX-512 and AVX2) multiplies, solves or
// transposes what fits into registers. Panels (product.go) are the one form in which kernels read their operands;
// packing absorbs transposes and strides. The routines cut their work into panels and blocks and share those out: a
// Cholesky step solves for packed rows and, without packing them again, takes their product from the rest. What the
// kernels don't serve, one vector at a time, gonum does.
//
// Matrices are row-major float64. Routines name their destination last, as BLAS does, and never allocate it. A result
// doesn't depend on the number of cores: work is cut into blocks of fixed size, and what is reduced is reduced in a
// fixed order. The number of cores is GOMAXPROCS. It does depend, within rounding, on the instruction set: AVX-512 and
// AVX2 add in the same order with fused multiply-adds, portable code may round each product.
//
// Shape mistakes are mistakes of the program and panic; numerical trouble (a
// matrix that isn't positive definite) is an error.
package linalg

import (
	"fmt"
	"math/bits"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/krigo-gp/krigo/matrix"
)

// Matrix is what this package computes with. Signatures that others may implement or call spell matrix.Dense.
type Matrix = matrix.Dense

// New is matrix.New.
func New(rows, cols int) Matrix { return matrix.New(rows, cols) }

// Of is matrix.Of.
func Of(rows, cols int, data []float64) Matrix { return matrix.Of(rows, cols, data) }

// UpTo numbers n things from 0.
func UpTo(n int) []int {
	numbers := make([]int, n)
	for i := range numbers {
		numbers[i] = i
	}
	return numbers
}

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

// Parallel calls task(0) … task(n−1), each once, on up to GOMAXPROCS goroutines,
// and returns when all have. Tasks must not depend on one another's order.
func Parallel(n int, task func(i int)) {
	workers := min(runtime.GOMAXPROCS(0), n)
	if workers <= 1 {
		for i := range n {
			task(i)
		}
		return
	}
	j := &job{task: task, n: int64(n), done: make(chan struct{}, 1)}
	for range workers - 1 {
		go j.work()
	}
	j.work()
	<-j.done
	if end := j.end.Load(); end != nil {
		panic(*end)
	}
}

// A job is a number of tasks. Whoever works on it takes the next one; it is done
// when all tasks are, even if a goroutine that was to help hasn't woken up yet.
type job struct {
	task           func(i int)
	n              int64
	next, finished atomic.Int64
	done           chan struct{}
	end            atomic.Pointer[matrix.End] // of a task, for the caller
}

func (j *job) work() {
	for i := j.next.Add(1) - 1; i < j.n; i = j.next.Add(1) - 1 {
		j.do(int(i))
		if j.finished.Add(1) == j.n {
			j.done <- struct{}{}
		}
	}
}

// do does a task, unless another one has ended the work.
func (j *job) do(i int) {
	defer func() {
		switch end := recover().(type) {
		case nil:
		case matrix.End:
			j.end.Store(&end)
		default:
			panic(end)
		}
	}()
	if j.end.Load() == nil {
		j.task(i)
	}
}

// inPhases does the tasks of phase 0, of phase 1, and so on, each phase when the one before is finished. It is as many
// calls of Parallel, but waking a thread can take longer than a phase does, so here the helpers are woken once and stay
// awake. Each of them asks for every phase, some late. The whole takes about so many multiplications, and ends with the
// contexts of its operands: tasks are then skipped, and counted all the same, so that nobody waits for them.
func inPhases(multiplications float64, of operands, phases int, phase func(p int) (n int, task func(i int))) {
	of.check()
	workers := int(min(float64(runtime.GOMAXPROCS(0)), 1+multiplications/enough))
	if workers == 1 {
		for p := range phases {
			n, task := phase(p)
			for i := range n {
				of.check()
				task(i)
			}
		}
		return
	}
	defer of.check()
	state := make([]struct{ next, finished atomic.Int64 }, phases)
	Parallel(workers, func(int) {
		for p := range phases {
			n, task := phase(p)
			s := &state[p]
			for i := s.next.Add(1) - 1; i < int64(n); i = s.next.Add(1) - 1 {
				if !of.ends() {
					task(int(i))
				}
				s.finished.Add(1)
			}
			for spin := 0; s.finished.Load() < int64(n); spin++ {
				if spin < 1000 {
					runtime.Gosched()
				} else { // whoever has the last task may want this core
					time.Sleep(20 * time.Microsecond)
				}
			}
		}
	})
}

// enough is the number of multiplications that is worth a goroutine.
const enough = 1 << 19

// pools[c] holds scratch memory of capacity 2^c, so that callers with different needs don't take one another's. A
// pointer goes into a pool without allocation, a slice would not.
var pools [48]sync.Pool

// Borrow returns a scratch matrix of any content; give it back with Return.
func Borrow(rows, cols int) Matrix {
	matrix.Ask(rows, cols)
	n := rows * cols
	class := bits.Len(uint(max(n, 1) - 1))
	m := Matrix{Rows: rows, Cols: cols, Stride: cols}
	if p, _ := pools[class].Get().(*float64); p != nil {
		m.Data = unsafe.Slice(p, 1<<class)[:n]
	} else {
		m.Data = make([]float64, n, 1<<class)
	}
	return m
}

// Return gives borrowed memory back. It must not be used afterwards.
func Return(ms ...Matrix) {
	for _, m := range ms {
		if c := cap(m.Data); c&(c-1) == 0 && c > 0 {
			pools[bits.Len(uint(c-1))].Put(unsafe.SliceData(m.Data))
		}
	}
}
