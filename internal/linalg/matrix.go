// Package linalg is the only door to dense linear algebra and to elementary
// functions on slices. Nothing above it knows which routines do the work.
//
// The package has three layers. A tile kernel multiplies, solves or transposes what fits into
// registers (tile.go; tools generates the kernels in assembly, for AVX-512 and AVX2).
// Panels are the form in which kernels read their operands, and packing them absorbs transposes and
// strides (product.go). The routines cut their work into panels and blocks and share these among
// goroutines. For example, a Cholesky step solves for packed rows, and subtracts the product of the
// packed rows without packing them again. gonum does what the kernels don't serve:
// operations on one vector at a time.
//
// Matrices are row-major float64. Routines name their destination last, as BLAS does, and never
// allocate it. A result doesn't depend on the number of cores, which is GOMAXPROCS:
// work is cut into blocks of fixed size, and sums are taken in a fixed order.
// A result depends, within rounding, on the instruction set.
// AVX-512 and AVX2 add in the same order with fused multiply-adds, and portable code may round each
// product.
//
// Shapes that don't fit are mistakes of the program and panic.
// Numerical trouble, such as a matrix that isn't positive definite, is an error.
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

	"github.com/krigo-gp/krigo/internal/cpu"
	"github.com/krigo-gp/krigo/internal/lists"
	"github.com/krigo-gp/krigo/matrix"
)

// Matrix is the matrix type of this package. Signatures that other packages implement or call write
// matrix.Dense.
type Matrix = matrix.Dense

// New calls matrix.New.
func New(rows, cols int) Matrix { return matrix.New(rows, cols) }

// Of calls matrix.Of.
func Of(rows, cols int, data []float64) Matrix { return matrix.Of(rows, cols, data) }

// UpTo returns the numbers 0 to n−1.
func UpTo(n int) []int {
	return lists.To(n, func(i int) int { return i })
}

// operands are the matrices of an operation. The operation ends when the context of any of these
// matrices ends.
type operands [3]Matrix

// ends says whether the context of an operand has ended.
func (o *operands) ends() bool { return o[0].Ends() || o[1].Ends() || o[2].Ends() }

// check panics with a matrix.End if the context of an operand has ended.
func (o *operands) check() {
	for _, m := range o {
		m.Check()
	}
}

// general returns m as gonum's BLAS takes it.
func general(m Matrix) blas64.General {
	return blas64.General{Rows: m.Rows, Cols: m.Cols, Stride: m.Stride, Data: m.Data}
}

// same says whether two matrices share their memory and have the same shape.
func same(m, a Matrix) bool {
	return m.Rows == a.Rows && m.Cols == a.Cols && m.Stride == a.Stride &&
		unsafe.SliceData(m.Data) == unsafe.SliceData(a.Data)
}

// square panics unless m is square.
func square(m Matrix) {
	if m.Rows != m.Cols {
		panic(fmt.Sprintf("linalg: a square matrix is needed, not %d×%d", m.Rows, m.Cols))
	}
}

// Parallel calls task(0) … task(n−1), each once, on up to GOMAXPROCS goroutines, and returns when
// all have ended.
// Tasks must not depend on the order of other tasks. A task may call Parallel.
// While all cores are busy, that call gets no goroutine of its own.
func Parallel(n int, task func(i int)) {
	if n <= 1 || runtime.GOMAXPROCS(0) == 1 {
		for i := range n {
			task(i)
		}
		return
	}
	newJob(n, task).run()
}

// Blocks cuts the numbers 0 … n−1 into blocks of size numbers, and calls task with the first number
// and the end of each block, as Parallel does. The last block may be shorter.
func Blocks(n, size int, task func(i0, i1 int)) {
	Parallel((n+size-1)/size, func(t int) { task(t*size, min((t+1)*size, n)) })
}

// Each calls do for 0 … n−1, with a task for each block of size numbers.
func Each(n, size int, do func(i int)) {
	Blocks(n, size, func(i0, i1 int) {
		for i := i0; i < i1; i++ {
			do(i)
		}
	})
}

// A job is a number of tasks. Each goroutine that works on it takes the next task.
// The job is done when all tasks are done, even if a goroutine that should help hasn't woken up
// yet.
type job struct {
	task           func(i int)
	n, most        int64 // tasks, and goroutines of all jobs that may help
	next, finished atomic.Int64
	done           chan struct{}
	end            atomic.Pointer[matrix.End] // the End with which a task panicked, for the caller
}

// helping is the number of goroutines that help, in all jobs.
var helping atomic.Int64

// newJob returns a job of n tasks that haven't begun.
func newJob(n int, task func(i int)) *job {
	return &job{task: task, n: int64(n), most: int64(runtime.GOMAXPROCS(0)) - 1,
		done: make(chan struct{}, 1)}
}

// run does the tasks, with helpers, and returns when all are done.
// If a task has panicked with a matrix.End, run panics with it on the caller's goroutine.
func (j *job) run() {
	j.work()
	<-j.done
	if end := j.end.Load(); end != nil {
		panic(*end)
	}
}

// recruit starts goroutines that help, at most one for each task that is left and each core that no
// job uses.
func (j *job) recruit() {
	for left := j.n - j.next.Load(); left > 0 && helping.Load() < j.most; left-- {
		if helping.Add(1) > j.most {
			helping.Add(-1)
			return
		}
		go func() {
			defer helping.Add(-1)
			j.work()
		}()
	}
}

// work does tasks until none is left to begin. The last task to finish, on any goroutine, reports
// on done.
func (j *job) work() {
	for i := j.next.Add(1) - 1; i < j.n; i = j.next.Add(1) - 1 {
		j.recruit()
		j.do(int(i))
		if j.finished.Add(1) == j.n {
			j.done <- struct{}{}
		}
	}
}

// do runs a task, unless another task has ended the work.
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

// inPhases runs the tasks of phase 0, of phase 1, and so on.
// Each phase begins when the previous phase is finished.
// One call of Parallel per phase would do the same.
// But waking a thread can take longer than a phase, so here the helpers are woken once and stay
// awake. Each helper calls phase for every p, some of them late.
// multiplications is the approximate work in all.
// When the context of an operand ends, the work skips the remaining tasks but counts them, so that
// nobody waits for the skipped tasks.
func inPhases(multiplications float64, of operands, phases int,
	phase func(p int) (n int, task func(i int))) {
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
	var j *job
	j = newJob(workers, func(int) {
		for p := range phases {
			j.recruit() // a core may be free that was busy before
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
				} else { // the goroutine with the last task may need this core
					time.Sleep(20 * time.Microsecond)
				}
			}
		}
	})
	j.run()
}

// enough is the number of multiplications that are worth a goroutine.
const enough = 1 << 19

// pools[c] holds scratch memory of capacity 2^c, so that callers with different needs don't take
// each other's memory.
// It holds pointers, because putting a slice into a pool would allocate.
var pools [48]sync.Pool

// Borrow returns a scratch matrix with arbitrary content. Return gives it back.
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

// Return gives back borrowed memory, which must not be used afterwards.
func Return(ms ...Matrix) {
	for _, m := range ms {
		if c := cap(m.Data); c&(c-1) == 0 && c > 0 {
			pools[bits.Len(uint(c-1))].Put(unsafe.SliceData(m.Data))
		}
	}
}

// Level is the instruction set in use, chosen once.
var Level, levelError = cpu.Choose()

// LevelError says why the instruction set of the environment variable isn't in use.
// Programs report it and stop, since the user asked for that instruction set.
func LevelError() error { return levelError }
