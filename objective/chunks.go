package objective

import (
	"github.com/krigo-gp/krigo/internal/linalg"
	"github.com/krigo-gp/krigo/matrix"
)

// chunkRows is the number of rows that one core handles at a time in loops over the rows of a
// block. Sums over rows add up the sums of chunks, so another chunkRows would change the rounding
// of results.
const chunkRows = 128

// inChunks cuts the rows of a block into chunks and calls each, in parallel, with every chunk and
// its rows r0 … r1−1.
func inChunks(rows int, each func(chunk, r0, r1 int)) {
	linalg.Parallel(chunks(rows), func(c int) { each(c, c*chunkRows, min((c+1)*chunkRows, rows)) })
}

// chunks returns the number of chunks of chunkRows rows. The last may have fewer.
func chunks(rows int) int { return (rows + chunkRows - 1) / chunkRows }

// addRows adds Σ weight_i V_i to sum.
func addRows(v matrix.Dense, weight, sum []float64) {
	parts := linalg.Borrow(chunks(v.Rows), v.Cols)
	defer linalg.Return(parts)
	inChunks(v.Rows, func(c, r0, r1 int) {
		part := parts.Row(c)
		clear(part)
		for r := r0; r < r1; r++ {
			linalg.Axpy(weight[r], v.Row(r), part)
		}
	})
	for c := range parts.Rows {
		linalg.Axpy(1, parts.Row(c), sum)
	}
}
