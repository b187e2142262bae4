package inspect

import (
	"maps"
	"slices"
	"strconv"

	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/internal/lists"
)

// Values at an end of a column, far from all its other values.

// lone is a value that stands for missing ones, or the range of all slips at an end of a column.
// low and high are the least and the largest of the others.
type lone struct {
	v, last     float64
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

// What counts as a sentinel: it occurs much more often than any other value, and lies behind a gap
// that is much larger than any other gap. What counts as a slip says [dataset.Within].
const (
	fewOthers    = 10 // the least number of other values
	fewRows      = 20 // the least number of rows with other values
	leastRepeats = 5
	moreRepeats  = 5
	moreGap      = 3
)

// loneOf returns the values of a column that stand apart.
func loneOf(values []spot) (found []lone) {
	left := lists.Of(values, func(at spot) float64 { return at.v })
	if !ends(left) {
		return nil
	}
	times := map[float64]int{}
	first := map[float64]int{}
	for _, at := range slices.Backward(values) {
		times[at.v]++
		first[at.v] = at.row
	}
	rest := slices.Sorted(maps.Keys(times))
	for before := 0; before != len(rest); {
		before = len(rest)
		low, high := dataset.Within(left)
		sentinel := low == rest[0] && high == rest[before-1]
		if sentinel {
			low, high = repeated(rest, times)
		}
		for _, v := range rest {
			l := lone{v: v, last: v, rows: times[v], first: first[v], sentinel: sentinel, low: low,
				high: high, limit: dataset.SlipFrom(low, high)}
			if v < low {
				l.limit = -dataset.SlipFrom(-high, -low)
			}
			n := len(found)
			switch { // the slips at one end have one limit
			case low <= v && v <= high:
			case n > 0 && !sentinel && found[n-1].limit == l.limit:
				before := &found[n-1]
				before.last = v
				before.rows += l.rows
				before.first = min(before.first, l.first)
			default:
				found = append(found, l)
			}
		}
		within := func(v float64) bool { return low <= v && v <= high }
		rest = lists.If(rest, within)
		left = lists.If(left, within)
	}
	return found
}

// ends says whether an end of a column's values may stand apart: it repeats, or lies far from the
// others. This takes no sorting, which long columns would wait for.
func ends(values []float64) bool {
	low, high := dataset.Within(values)
	below := len(lists.If(values, func(v float64) bool { return v <= low }))
	above := len(lists.If(values, func(v float64) bool { return v >= high }))
	return max(below, above) >= leastRepeats ||
		slices.ContainsFunc(values, func(v float64) bool { return v < low || v > high })
}

// repeated returns the range of the values, in order, without a sentinel at an end.
func repeated(values []float64, times map[float64]int) (low, high float64) {
	last := len(values) - 1
	low = values[0]
	high = values[last]
	for _, end := range []int{last, 0} {
		others := values[:last]
		gap := values[last] - values[max(0, last-1)]
		if end == 0 {
			others = values[1:]
			gap = values[min(1, last)] - values[0]
		}
		rows := 0
		most := 0
		largest := 0.
		for i, v := range others {
			rows += times[v]
			most = max(most, times[v])
			largest = max(largest, v-others[max(0, i-1)])
		}
		n := times[values[end]]
		if last >= fewOthers && rows >= fewRows && n >= max(leastRepeats, moreRepeats*most) &&
			gap >= moreGap*largest {
			return others[0], others[last-1]
		}
	}
	return low, high
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
	counts := slices.Collect(maps.Values(rows))
	large := len(lists.If(counts, func(n int) bool { return n >= least }))
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
