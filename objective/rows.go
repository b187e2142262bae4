package objective

import (
	"context"
	"slices"

	"github.com/krigo-gp/krigo/matrix"
	"github.com/krigo-gp/krigo/ranks"
)

// Rows is a source of training rows: a table in memory or on disk.
type Rows interface {
	Dims() (rows, cols int)
	// Block reads rows first … first+n into x (n×cols) and y.
	Block(first, n int, x, y []float64) error
	// Pick reads the rows of these numbers into x (len(rows)×cols) and y.
	Pick(rows []int, x, y []float64) error
}

// spread is Rows that are some of those of all ranks: where each stands among these, in
// ascending order. nil: they follow those of the ranks before.
type spread interface{ Spread() []int }

func placesOf(of Rows) []int {
	if s, ok := of.(spread); ok {
		return s.Spread()
	}
	return nil
}

// ownRows finds which of the rows with these numbers, among those of all ranks, are at hand, by their numbers
// there, and where they stand in the list; first is where rows that aren't spread begin.
func ownRows(of Rows, first int, rows []int) (here, at []int) {
	n, _ := of.Dims()
	places := placesOf(of)
	here = []int{} // nil would be all
	for i, row := range rows {
		k, found := row-first, false
		if places != nil {
			k, found = slices.BinarySearch(places, row)
		} else {
			found = k >= 0 && k < n
		}
		if found {
			here, at = append(here, k), append(at, i)
		}
	}
	return here, at
}

// Memory is rows held in memory.
type Memory struct {
	X matrix.Dense
	Y []float64
}

func (m Memory) Dims() (rows, cols int) { return m.X.Rows, m.X.Cols }

func (m Memory) Block(first, n int, x, y []float64) error {
	for i := range n {
		copy(x[i*m.X.Cols:], m.X.Row(first+i))
	}
	copy(y, m.Y[first:first+n])
	return nil
}

func (m Memory) Pick(rows []int, x, y []float64) error {
	for i, row := range rows {
		copy(x[i*m.X.Cols:], m.X.Row(row))
		y[i] = m.Y[row]
	}
	return nil
}

// subset is the rows of some numbers.
type subset struct {
	Rows
	numbers []int
}

func (s subset) Dims() (rows, cols int) {
	_, cols = s.Rows.Dims()
	return len(s.numbers), cols
}

func (s subset) Block(first, n int, x, y []float64) error {
	return s.Rows.Pick(s.numbers[first:first+n], x, y)
}

// blockRows is the number of rows that are streamed at a time. It is part of the result's rounding, so it is fixed.
const blockRows = 2048

// stream is the rows of an evaluation, read block by block, and their place among those of all ranks.
type stream struct {
	from  Rows
	ranks ranks.Ranks
	n, d  int // rows of this rank, inputs
	first int // number of this rank's first row
	total int // rows of all ranks

	y  []float64    // N, or more: targets, as far as they were read
	xb matrix.Dense // a block of rows
	yb []float64
}

// newStream makes room for n rows of d inputs, which are all rows until it is said otherwise.
func newStream(from Rows, r ranks.Ranks, n, d int) stream {
	return stream{from: from, ranks: over(r), n: n, d: d, total: n,
		y: make([]float64, n), xb: newRows(from, r, min(blockRows, n), d), yb: make([]float64, min(blockRows, n))}
}

// newRows makes room for n rows of a source. Work on them ends with the source's context, but not that of one rank
// among others, which would wait for it.
func newRows(from Rows, r ranks.Ranks, n, d int) matrix.Dense {
	x := matrix.New(n, d)
	if of, ok := from.(interface{ Context() context.Context }); ok && over(r).Size() == 1 {
		x = x.Until(of.Context())
	}
	return x
}

func (s *stream) blocks() int { return (s.n + blockRows - 1) / blockRows }

// span returns the rows of a block.
func (s *stream) span(block int) (i0, i1 int) {
	return block * blockRows, min((block+1)*blockRows, s.n)
}

// read returns the inputs of rows i0 … i1; they stay until the next call.
func (s *stream) read(i0, i1 int) (matrix.Dense, error) {
	x, y := s.xb.RowRange(0, i1-i0), s.yb[:i1-i0]
	x.Check()
	if err := s.from.Block(i0, i1-i0, x.Data, y); err != nil {
		return x, err
	}
	copy(s.y[i0:], y)
	return x, nil
}
