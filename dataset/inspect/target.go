package inspect

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"

	"github.com/krigo-gp/krigo/finding"
	"github.com/krigo-gp/krigo/internal/lists"
)

// spot is a value of a column, with its row.
type spot struct {
	v   float64
	row int
}

// count returns for how many values such is true, and the row of the first.
func count(values []spot, such func(v float64) bool) (rows, first int) {
	for _, at := range slices.Backward(values) {
		if such(at.v) {
			rows = rows + 1
			first = at.row
		}
	}
	return rows, first
}

// broken says whether a number isn't whole.
func broken(v float64) bool { return v != math.Trunc(v) }

// ofTarget says whether a target has two values, holds counts, is skewed, or has many values at an
// end of its range. It informs people, and krigo chooses nothing by it.
func ofTarget(f ColumnFacts, y []spot, where func(row int) string) (found finding.List) {
	const few = 20
	// a column with advice doesn't have its final values yet
	if len(y) < few || f.Low >= f.High || len(f.Advice) > 0 {
		return nil
	}
	add := func(kind finding.Kind, such func(v float64) bool, about ...any) {
		n, first := count(y, such)
		found.Add(kind, append([]any{f.Name, n, len(y), where(first)}, about...)...)
	}
	var sorted []float64
	times := map[float64]int{}
	most := 0 // most: how often the commonest value within the range occurs
	for _, at := range y {
		sorted = append(sorted, at.v)
		if times[at.v]++; at.v > f.Low && at.v < f.High {
			most = max(most, times[at.v])
		}
	}
	slices.Sort(sorted)
	median := sorted[len(y)/2]
	skew := stat.Skew(sorted, nil)
	switch whole := !slices.ContainsFunc(sorted, broken); {
	case len(times) == 2:
		return twoValues(f.Name, y, where)
	case whole && (f.Low == 0 || f.Low == 1) && f.High > 5 && skew > 0.3:
		add(finding.Counts, func(v float64) bool { return v <= 5 })
		return found
	case f.Low >= 0 && median > 0 && skew > 1.5 && f.High > 3*median:
		add(finding.Skewed, func(v float64) bool { return v > 3*median }, median)
	}
	for i, end := range []float64{f.Low, f.High} {
		if n := times[end]; n >= 5 && 100*n >= len(y) && n >= 2*most && len(times) >= few {
			add(finding.Capped, func(v float64) bool {
				return v == end
			}, end, []string{"smallest", "largest"}[i])
		}
	}
	return found
}

// twoValues says whether a target has two values, given one or more of them.
func twoValues(target string, y []spot, where func(row int) string) (found finding.List) {
	byValue := func(a, b spot) int { return cmp.Compare(a.v, b.v) }
	low := slices.MinFunc(y, byValue).v
	high := slices.MaxFunc(y, byValue).v
	n, first := count(y, func(v float64) bool { return v == high })
	others, _ := count(y, func(v float64) bool { return v == low })
	if low < high && n+others == len(y) {
		found.Add(finding.TwoValues, target, n, len(y), where(first), high, low)
	}
	return found
}

// Ranks returns twice the ranks of values. Equal values have their mean rank.
func Ranks(values []float64) []float64 {
	sorted := slices.Sorted(slices.Values(values))
	return lists.Of(values, func(v float64) float64 {
		first, _ := slices.BinarySearch(sorted, v)
		end, _ := slices.BinarySearch(sorted, math.Nextafter(v, math.Inf(1)))
		return float64(first + end)
	})
}
