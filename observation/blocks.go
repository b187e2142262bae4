package observation

import (
	"context"

	"github.com/krigo-gp/krigo/internal/linalg"
	"github.com/krigo-gp/krigo/internal/lists"
	"github.com/krigo-gp/krigo/matrix"
)

// Blocks are rows in scaled units that are read block by block, for example a dataset.Scaled.
type Blocks interface {
	Dims() (rows, cols int)
	// Block reads the inputs of rows first … first+n−1 into x (n×cols), and their targets into y
	// unless y is nil.
	Block(first, n int, x, y []float64) error
	// Shift adds to f what the rows' columns say, such as the logarithms of exposures.
	Shift(f []float64) error
	// KnownNoise returns the squares of the rows' standard errors, or nil without any.
	KnownNoise() ([]float64, error)
	// Context ends work on the rows. It may be nil.
	Context() context.Context
}

// EachBlock reads the inputs of rows block by block, and calls do with each block.
func EachBlock(rows Blocks, do func(first int, x matrix.Dense)) error {
	n, d := rows.Dims()
	most := min(n, BlockRows(d))
	x := linalg.New(most, d).Until(rows.Context())
	for first, end := range lists.Blocks(n, most) {
		block := x.RowRange(0, end-first)
		if err := rows.Block(first, block.Rows, block.Data[:block.Rows*d], nil); err != nil {
			return err
		}
		do(first, block)
	}
	return nil
}

// BlockRows returns how many rows of cols inputs krigo reads at a time:
// enough rows to keep every core busy with predictions, but at most a few megabytes even if
// categories became thousands of inputs.
func BlockRows(cols int) int { return max(1<<8, min(1<<14, 1<<20/max(1, cols))) }

// Each calls do for 0 … n−1, on all cores. After ctx has ended it panics with a matrix.End.
func Each(ctx context.Context, n int, do func(i int)) {
	const task = 256
	work := matrix.Dense{}.Until(ctx)
	linalg.Each(n, task, func(i int) {
		work.Check()
		do(i)
	})
}
