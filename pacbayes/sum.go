package pacbayes

import (
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/krigo-gp/krigo/internal/compensated"
)

const (
	chunkRows    = 1024 // about 0.1 ms of work, far more than it costs to start a chunk
	parallelRows = 4096 // from this number of rows on goroutines save time
)

// sumChunks adds up rows(lo, hi) over the n rows in chunks of chunkRows.
// From parallelRows rows on, goroutines compute the chunks, one for each processor.
// The sums are added in the order of the chunks.
func sumChunks(n int, rows func(lo, hi int) sums) (total sums) {
	chunks := (n + chunkRows - 1) / chunkRows
	chunk := func(c int) sums { return rows(c*chunkRows, min((c+1)*chunkRows, n)) }
	if n < parallelRows {
		for c := range chunks {
			total.join(chunk(c))
		}
		return total
	}
	parts := make([]sums, chunks)
	var next atomic.Int64
	var wg sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), chunks) {
		wg.Go(func() {
			for c := int(next.Add(1)) - 1; c < chunks; c = int(next.Add(1)) - 1 {
				parts[c] = chunk(c)
			}
		})
	}
	wg.Wait()
	for _, part := range parts {
		total.join(part)
	}
	return total
}

// sums holds two sums over the same rows: of a value and of a derivative.
type sums [2]compensated.Sum

// join adds the sums of another part of the rows, with their compensations.
func (t *sums) join(u sums) {
	for i := range t {
		t[i].Join(u[i])
	}
}
