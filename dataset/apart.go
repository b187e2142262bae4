package dataset

import (
	"encoding/binary"
	"math"
	"slices"

	"github.com/krigo-gp/krigo/ranks"
)

// Values of an input that stand apart, such as a slip of the decimal point. They would set a
// column's mean and standard deviation alone, and the other values would look all the same.

// What counts as standing apart.
const (
	fewOthers = 10 // the least number of other values
	fewRows   = 20 // the least number of rows with other values
	mostApart = 20 // the largest number of rows at each end
	slipRange = 10 // how many ranges of the other values lie between
)

// SlipFrom returns from where on a value above others, from least to last, stands apart.
// Its distance from them is at least ten times their range. Heavy tails may lie as far. So a value
// among positive numbers is far in their logarithms, too.
func SlipFrom(least, last float64) float64 {
	limit := last + slipRange*(last-least)
	if least > 0 {
		limit = max(limit, last*math.Sqrt(last/least))
	}
	return limit
}

// span is a range of values.
type span struct{ low, high float64 }

// holds says whether v lies in the range.
func (s span) holds(v float64) bool { return s.low <= v && v <= s.high }

// Within returns the range of the values that don't stand apart: at most max(3, n/100) of n values,
// and at most 20, may stand apart at an end. At least 20 values of ten kinds must be left.
func Within(values []float64) (low, high float64) {
	var e ends
	for _, v := range values {
		e.add(v)
	}
	s := e.span()
	return s.low, s.high
}

// ends has the least and the largest values of a column. encoding/binary can carry it.
type ends struct {
	Rows, Kinds int64 // numbers of rows, and of different values up to len(Some)
	Some        [fewOthers + 2*mostApart]float64
	Low, High   [mostApart + 1]float64 // from the end inwards; High has them with the other sign
}

// add adds the value of a row. A missing value changes nothing.
func (e *ends) add(v float64) {
	if v != v {
		return
	}
	push(e.Low[:], v, e.Rows)
	push(e.High[:], -v, e.Rows)
	e.Rows++
	if int(e.Kinds) < len(e.Some) && !slices.Contains(e.Some[:e.Kinds], v) {
		e.Some[e.Kinds] = v
		e.Kinds++
	}
}

// push keeps a list of the least of the given number of rows in order, and puts v into it.
func push(least []float64, v float64, rows int64) {
	i := min(int(rows), len(least))
	for ; i > 0 && v < least[i-1]; i-- {
		if i < len(least) {
			least[i] = least[i-1]
		}
	}
	if i < len(least) {
		least[i] = v
	}
}

// span returns the range of the values that don't stand apart.
func (e *ends) span() span {
	low := e.Low[:]
	high := e.High[:]
	for before := int64(-1); before != e.Rows && e.Rows > fewRows; {
		before = e.Rows
		high = e.without(high, low)
		low = e.without(low, high)
	}
	return span{low[0], -high[0]}
}

// without returns an end's values without those that stand apart, and counts them no longer.
func (e *ends) without(end, other []float64) []float64 {
	for n := 1; n <= max(3, int(e.Rows/100)) && n < len(end); n++ {
		left := e.Rows - int64(n)
		if left < fewRows || e.Kinds-int64(n) < fewOthers {
			break
		}
		if -end[n-1] >= SlipFrom(other[0], -end[n]) {
			e.Rows = left
			e.Kinds -= int64(n)
			return end[n:]
		}
	}
	return end
}

// spans returns for each input the range of its values in these rows that don't stand apart, and
// whether any do.
func (d *Data) spans(rows []int) (of []span, apart bool, err error) {
	columns := make([]ends, d.Cols)
	err = ranks.InTurn(d.Ranks(), func() error {
		return d.each(rows, func(_ int, x, _ []float64) {
			for i, v := range x {
				columns[i%d.Cols].add(v)
			}
		})
	}, func() ([]byte, error) {
		return binary.Append(nil, binary.LittleEndian, columns)
	}, func(state []byte) error {
		_, err := binary.Decode(state, binary.LittleEndian, columns)
		return err
	})
	for _, c := range columns {
		all := c.Rows
		of = append(of, c.span())
		apart = apart || c.Rows < all
	}
	return of, apart, err
}
