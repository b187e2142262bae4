package inspect

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"

	"github.com/krigo-gp/krigo/finding"
)

// spot is a value of a column, and its row.
type spot struct {
	v   float64
	row int
}

// count returns how many values are such, and the row of the first.
func count(values []spot, such func(v float64) bool) (rows, first int) {
	for _, at := range values {
		if such(at.v) {
			if rows++; rows == 1 {
				first = at.row
			}
		}
	}
	return rows, first
}

// ofTarget says whether a target has two values, counts, is skewed, or has many values at an end of its range. People are
// told; nothing is chosen by it.
func ofTarget(f ColumnFacts, y []spot, where func(row int) string) (found finding.List) {
	const few = 20
	if len(y) < few || f.Low >= f.High || len(f.Advice) > 0 { // or else these aren't its values yet
		return nil
	}
	var sorted []float64
	times, most := map[float64]int{}, 0 // most: of a value within the range
	for _, at := range y {
		sorted = append(sorted, at.v)
		if times[at.v]++; at.v > f.Low && at.v < f.High {
			most = max(most, times[at.v])
		}
	}
	slices.Sort(sorted)
	median, skew := sorted[len(y)/2], stat.Skew(sorted, nil)
	broken, _ := count(y, func(v float64) bool { return v != math.Trunc(v) })
	small, low := count(y, func(v float64) bool { return v <= 5 })
	large, high := count(y, func(v float64) bool { return v > 3*median })
	switch {
	case len(times) == 2:
		n, first := count(y, func(v float64) bool { return v == f.High })
		return finding.List{finding.New(finding.TwoValues, f.Name, f.Low, f.High, n, len(y), where(first))}
	case broken == 0 && (f.Low == 0 || f.Low == 1) && f.High > 5 && skew > 0.3:
		return finding.List{finding.New(finding.Counts, f.Name, f.Low, f.High, small, len(y), where(low))}
	case f.Low >= 0 && skew > 1.5 && median > 0 && large > 0:
		found.Add(finding.Skewed, f.Name, large, len(y), median, where(high))
	}
	for i, end := range []float64{f.Low, f.High} {
		n, first := count(y, func(v float64) bool { return v == end })
		if n >= 5 && 100*n >= len(y) && n >= 2*most && len(times) >= few {
			found.Add(finding.Capped, n, len(y), f.Name, end, []string{"smallest", "largest"}[i], where(first))
		}
	}
	return found
}

// ranks of values, of equal ones their mean.
func ranks(values []float64) []float64 {
	sorted, ranks := slices.Sorted(slices.Values(values)), make([]float64, len(values))
	for i, v := range values {
		first, _ := slices.BinarySearch(sorted, v)
		end, _ := slices.BinarySearch(sorted, math.Nextafter(v, math.Inf(1)))
		ranks[i] = float64(first + end)
	}
	return ranks
}
