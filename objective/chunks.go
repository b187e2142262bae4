package objective

import (
	"github.com/krigo-gp/krigo/internal/linalg"
	"github.com/krigo-gp/krigo/matrix"
)

// chunkRows is the number of rows that one core handles at a time in loops over the rows of a
// block. Sums over rows add up the sums of chunks, so another chunkRows would change the rounding
// of results.
const chunkRows = 128

// addRows adds Σ weight_i V_i to sum.
func addRows(v matrix.Dense, weight, sum []float64) {
	parts := linalg.Borrow((v.Rows+chunkRows-1)/chunkRows, v.Cols)
	defer linalg.Return(parts)
	linalg.Blocks(v.Rows, chunkRows, func(r0, r1 int) {
		part := parts.Row(r0 / chunkRows)
		clear(part)
		for r := r0; r < r1; r++ {
			linalg.Axpy(weight[r], v.Row(r), part)
		}
	})
	for c := range parts.Rows {
		linalg.Axpy(1, parts.Row(c), sum)
	}
}
