package linalg

import (
	"math/bits"
	"runtime"
	"sync"
	"sync/atomic"
	"unsafe"
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

// pools[c] holds scratch memory of capacity 2^c, so that callers with different
// needs don't take one another's. A pointer goes into a pool without allocation, a
// slice would not.
var pools [48]sync.Pool

// Borrow returns a scratch matrix of any content; give it back with Return.
func Borrow(rows, cols int) Matrix {
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
