package linalg

import (
	"runtime"
	"sync"
	"sync/atomic"
)

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
	var next atomic.Int64
	var done sync.WaitGroup
	work := func() {
		for {
			i := int(next.Add(1)) - 1
			if i >= n {
				return
			}
			task(i)
		}
	}
	for range workers - 1 {
		done.Go(work)
	}
	work()
	done.Wait()
}

var pool sync.Pool

// Borrow returns a scratch matrix of any content; give it back with Return.
func Borrow(rows, cols int) Matrix {
	n := rows * cols
	if p, _ := pool.Get().(*[]float64); p != nil {
		if cap(*p) >= n {
			return Matrix{Rows: rows, Cols: cols, Stride: cols, Data: (*p)[:n]}
		}
	}
	return New(rows, cols)
}

// Return gives scratch memory back. The matrix must not be used afterwards.
func Return(ms ...Matrix) {
	for _, m := range ms {
		if cap(m.Data) > 0 {
			d := m.Data[:0]
			pool.Put(&d)
		}
	}
}
