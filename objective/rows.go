package objective

import (
	"context"
	"slices"

	"github.com/krigo-gp/krigo/internal/lists"
	"github.com/krigo-gp/krigo/matrix"
	"github.com/krigo-gp/krigo/posterior"
	"github.com/krigo-gp/krigo/ranks"
)

// Rows is a source of training rows: a table in memory or on disk.
type Rows interface {
	Dims() (rows, cols int)
	// Block reads rows first … first+n−1 into x (n×cols) and y.
	Block(first, n int, x, y []float64) error
	// Pick reads the rows with the given numbers, in the given order, into x (len(rows)×cols) and
	// y.
	Pick(rows []int, x, y []float64) error
}

// spread is an interface that Rows implement if one rank's rows needn't follow each other directly
// among the rows of all ranks. Spread returns the number of each row among the rows of all ranks,
// ascending. nil means that the rows directly follow the rows of the ranks before.
type spread interface{ Spread() []int }

// rowNoise is an interface that Rows implement if their rows may differ in noise.
type rowNoise interface{ RowNoise() posterior.RowNoise }

// noiseOf returns how noisy each row of a source is.
// A source that doesn't say so has the noise variance s in all rows.
func noiseOf(of Rows) posterior.RowNoise {
	if n, ok := of.(rowNoise); ok {
		return n.RowNoise()
	}
	return posterior.RowNoise{}
}

// placesOf returns the numbers of this rank's rows among the rows of all ranks, ascending.
// nil means that the rows directly follow the rows of the ranks before.
func placesOf(of Rows) []int {
	if s, ok := of.(spread); ok {
		return s.Spread()
	}
	return nil
}

// ownRows finds which of the given rows this rank holds.
// rows are numbers among the rows of all ranks.
// here are the numbers of the found rows on this rank, and at are their indices in rows.
// first is the number of this rank's first row, if the rows aren't spread.
func ownRows(of Rows, first int, rows []int) (here, at []int) {
	n, _ := of.Dims()
	places := placesOf(of)
	here = []int{} // nil would mean all rows
	for i, row := range rows {
		k := row - first
		found := false
		if places != nil {
			k, found = slices.BinarySearch(places, row)
		} else {
			found = k >= 0 && k < n
		}
		if found {
			here = append(here, k)
			at = append(at, i)
		}
	}
	return here, at
}

// Memory is rows held in memory.
type Memory struct {
	X      matrix.Dense
	Y      []float64
	PerRow posterior.RowNoise // how noisy each row is
	// for noises with sites: what each row's target sees of f is f + Shift; nil: f
	Shift []float64
}

func (m Memory) RowNoise() posterior.RowNoise { return m.PerRow }
func (m Memory) Dims() (rows, cols int)       { return m.X.Rows, m.X.Cols }

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

// Some returns the rows that have the given numbers.
func (m Memory) Some(rows []int) Memory {
	some := Memory{X: matrix.New(len(rows), m.X.Cols), Y: make([]float64, len(rows)),
		PerRow: m.PerRow.Pick(rows)}
	m.Pick(rows, some.X.Data, some.Y) // of rows in memory it never fails
	if m.Shift != nil {
		some.Shift = lists.Of(rows, func(row int) float64 { return m.Shift[row] })
	}
	return some
}

// subset is the rows of a source that have the given numbers.
type subset struct {
	Rows
	numbers []int
}

func (s subset) Dims() (rows, cols int) {
	_, cols = s.Rows.Dims()
	return len(s.numbers), cols
}

// Block counts first among the subset's rows, not among the rows of the source.
func (s subset) Block(first, n int, x, y []float64) error {
	return s.Rows.Pick(s.numbers[first:first+n], x, y)
}

func (s subset) RowNoise() posterior.RowNoise { return noiseOf(s.Rows).Pick(s.numbers) }

// blockRows is the number of rows that an evaluation reads at a time.
// Another number would change the rounding of results.
const blockRows = 2048

// stream reads the rows of an evaluation block by block, and knows their place among the rows of
// all ranks.
type stream struct {
	from  Rows
	ranks ranks.Ranks
	n, d  int // number of rows of this rank, number of inputs
	first int // number of this rank's first row among the rows of all ranks
	total int // number of rows of all ranks

	y  []float64    // targets of the rows read so far, in memory for at least n rows
	xb matrix.Dense // a block of rows
	yb []float64
}

// newStream returns a stream with room for n rows of d inputs.
// total is n unless the caller sets it.
func newStream(from Rows, r ranks.Ranks, n, d int) stream {
	return stream{from: from, ranks: over(r), n: n, d: d, total: n,
		y: make([]float64, n), xb: newRows(from, r, min(blockRows, n), d),
		yb: make([]float64, min(blockRows, n))}
}

// newRows returns an n×d matrix for rows of a source.
// If there is only one rank, work on the matrix ends when the source's context ends.
// If there are several ranks, it doesn't, because a rank that ended alone would leave the other
// ranks waiting.
func newRows(from Rows, r ranks.Ranks, n, d int) matrix.Dense {
	x := matrix.New(n, d)
	if of, ok := from.(interface{ Context() context.Context }); ok && over(r).Size() == 1 {
		x = x.Until(of.Context())
	}
	return x
}

// read returns the inputs of rows i0 … i1−1 and stores their targets in s.y.
// The inputs are valid until the next call.
func (s *stream) read(i0, i1 int) (matrix.Dense, error) {
	x := s.xb.RowRange(0, i1-i0)
	y := s.yb[:i1-i0]
	x.Check()
	if err := s.from.Block(i0, i1-i0, x.Data, y); err != nil {
		return x, err
	}
	copy(s.y[i0:], y)
	return x, nil
}
