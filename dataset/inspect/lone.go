package inspect

import (
	"maps"
	"math"
	"slices"
	"strconv"

	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/internal/lists"
)

// Values at an end of a column, far from all its other values.

// lone is one value that stands apart. low and high are the least and the largest of the others.
type lone struct {
	v           float64
	rows, first int  // number of rows, and the first row
	sentinel    bool // it stands for missing values; otherwise it is a slip
	low, high   float64
	limit       float64 // of a slip: from here on, values lie as far from the others as a slip does
}

// beyond returns, as a mark of missing values, what lies as far from the others as the slip does.
// The limit lies about a tenth of the way nearer to the others.
// It has three digits, or more if the others lie far from 0 and close together.
func (l lone) beyond(write func(float64) string) string {
	side := ">"
	nearest := l.high
	if l.limit < l.high {
		side = "<"
		nearest = l.low
	}
	way := l.limit - nearest
	limit := nearest + 0.9*way
	for digits := 3; digits < 17; digits++ {
		text := strconv.FormatFloat(nearest+0.9*way, 'g', digits, 64)
		short, err := strconv.ParseFloat(text, 64)
		if share := (short - nearest) / way; err == nil && share > 0.8 && share < 1 {
			limit = short
			break
		}
	}
	return side + write(limit)
}

// counted are the values of a column that don't stand apart: in order, with how often each occurs.
type counted struct {
	values []float64
	times  []int
	rows   int // the sum of times
}

// What counts as standing apart.
// A slip is rare, and its distance from the other values is at least slipRanges times their range.
// Heavy tails may lie as far. So a slip among positive numbers is far in their logarithms, too.
// A sentinel occurs much more often than any other value, and lies behind a gap that is much larger
// than any other gap.
const (
	fewOthers    = 10 // the least number of other values
	fewRows      = 20 // the least number of rows with other values
	slipRanges   = 10
	leastRepeats = 5
	moreRepeats  = 5
	moreGap      = 3
)

// loneOf returns the values of a column that stand apart.
func loneOf(values []spot) (found []lone) {
	if !ends(values) {
		return nil
	}
	times := map[float64]int{}
	first := map[float64]int{}
	for _, at := range slices.Backward(values) {
		times[at.v]++
		first[at.v] = at.row
	}
	c := counted{values: slices.Sorted(maps.Keys(times)), rows: len(values)}
	c.times = lists.Of(c.values, func(v float64) int { return times[v] })
	for {
		// Each end is looked at as the upper one.
		sign := 1.
		n, sentinel := c.apart()
		if n == 0 {
			sign = -1
			n, sentinel = c.turned().apart()
		}
		if n == 0 {
			return found
		}
		if sign < 0 {
			c = c.turned()
		}
		end := len(c.values) - n
		for i, v := range c.values[end:] {
			limit := dataset.SlipFrom(c.values[0], c.values[end-1])
			found = append(found, lone{v: sign * v, limit: sign * limit, rows: c.times[end+i],
				first:    first[sign*v],
				sentinel: sentinel, low: min(sign*c.values[0], sign*c.values[end-1]),
				high: max(sign*c.values[0], sign*c.values[end-1])})
			c.rows -= c.times[end+i]
		}
		c.values = c.values[:end]
		c.times = c.times[:end]
		if sign < 0 {
			c = c.turned()
		}
	}
}

// ends says whether an end of a column's values may stand apart: its value repeats, or lies far from
// the middle half of some values. This takes no sorting, which long columns would wait for.
func ends(values []spot) bool {
	const some = 1000
	low := math.Inf(1)
	high := math.Inf(-1)
	times := [2]int{} // of low and high
	var sample []float64
	for i, at := range values {
		if at.v < low {
			low = at.v
			times[0] = 0
		}
		if at.v > high {
			high = at.v
			times[1] = 0
		}
		if at.v == low {
			times[0]++
		}
		if at.v == high {
			times[1]++
		}
		if i%(1+len(values)/some) == 0 {
			sample = append(sample, at.v)
		}
	}
	slices.Sort(sample)
	n := len(sample)
	return n > 0 && (max(times[0], times[1]) >= leastRepeats ||
		max(high-sample[3*n/4], sample[n/4]-low) >= slipRanges*(sample[3*n/4]-sample[n/4]))
}

// turned returns the values with the other sign, and so the ends exchanged.
func (c counted) turned() counted {
	of := counted{values: lists.Of(c.values, func(v float64) float64 { return -v }),
		times: slices.Clone(c.times), rows: c.rows}
	slices.Reverse(of.values)
	slices.Reverse(of.times)
	return of
}

// apart returns how many of the last values stand apart, or 0.
func (c counted) apart() (n int, sentinel bool) {
	end := len(c.values)
	rows := 0
	for n = 1; n+fewOthers <= end; n++ {
		v := c.values[end-n]
		last := c.values[end-n-1] // the largest of the other values
		least := c.values[0]
		rows += c.times[end-n]
		switch {
		case c.rows-rows < fewRows:
			return 0, false
		case n == 1 && rows >= leastRepeats && c.repeated(rows, v-last):
			return 1, true
		case rows > dataset.MostSlips(c.rows):
			return 0, false
		case v >= dataset.SlipFrom(least, last):
			return n, false
		}
	}
	return 0, false
}

// repeated says whether the last value is a sentinel, given its number of rows and the gap before it.
func (c counted) repeated(rows int, gap float64) bool {
	largest := 0.
	others := c.values[:len(c.values)-1]
	for i := 1; i < len(others); i++ {
		largest = max(largest, others[i]-others[i-1])
	}
	return rows >= moreRepeats*slices.Max(c.times[:len(others)]) && gap >= moreGap*largest
}

// derived says whether rows with different values in a column lie in different ranges of the
// target, as they do if the column is the target rounded, or made from it.
func derived(t *dataset.Table, k int, y []spot) (levels int, is bool) {
	const least = 10 // rows of a level, on average and in two levels
	ends := map[float64][2]float64{}
	rows := map[float64]int{}
	for _, at := range y {
		v := t.Values[at.row*len(t.Names)+k]
		if v != v {
			continue
		}
		e, known := ends[v]
		if !known {
			e = [2]float64{at.v, at.v}
		}
		ends[v] = [2]float64{min(e[0], at.v), max(e[1], at.v)}
		if rows[v]++; len(ends)*least > len(y) {
			return 0, false
		}
	}
	large := 0
	for _, n := range rows {
		if n >= least {
			large++
		}
	}
	all := slices.SortedFunc(maps.Values(ends), func(a, b [2]float64) int {
		return slices.Compare(a[:], b[:])
	})
	for i := range all {
		if i > 0 && all[i][0] <= all[i-1][1] {
			return 0, false
		}
	}
	return len(all), large >= 2
}
