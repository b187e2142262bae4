package report

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/krigo-gp/krigo/dataset/inspect"
	"github.com/krigo-gp/krigo/internal/linalg"
	"github.com/krigo-gp/krigo/internal/lists"
)

// dependence is the strongest dependence that was found between two columns.
type dependence struct {
	a, b        int     // columns
	correlation float64 // of ranks
	// one rank is replaced by its distance from the middle, which shows how x² depends on x
	fold bool
}

// Columns look independent if no rank correlation is above leastDependence, or above what chance
// makes in one table of a hundred.
const leastDependence = 0.2

// For the mostKinds commonest categories of a column, dependenceOf looks for dependence.
const mostKinds = 12

// feature describes a column by one number a row:
// its rank, the rank's distance from the middle, or whether the row has a category.
// Features of different columns are correlated.
type feature struct {
	column int
	fold   bool
	values []float64 // their mean is 0, and their sum of squares 1
}

// dependenceOf finds the two columns that depend on one another most plainly, and says whether they
// do. Ranks show only whether a column rises or falls with another column, or with its distance
// from the middle. So dependent being false doesn't prove independence.
func dependenceOf(r rows, columns []column) (found dependence, dependent bool) {
	var all []feature
	add := func(column int, fold bool, values []float64) {
		if linalg.Finite(values) && standardised(values) {
			all = append(all, feature{column, fold, values})
		}
	}
	for k, c := range columns {
		switch {
		case c.categories != nil:
			of := r.of(c)
			names, _ := frequent(of)
			for _, name := range names[:min(mostKinds, len(names))] {
				add(k, false, lists.Of(of, func(v float64) float64 {
					if v == name {
						return 1
					}
					return 0
				}))
			}
		default:
			for _, j := range c.inputs {
				values := lists.To(r.n(), func(i int) float64 { return r.at(i)[j] })
				ranks := inspect.Ranks(values)
				// ranks are from 1 to 2n − 1
				middle := float64(len(ranks))
				// before add changes ranks
				far := lists.Of(ranks, func(v float64) float64 { return math.Abs(v - middle) })
				add(k, false, ranks)
				add(k, true, inspect.Ranks(far))
			}
		}
	}
	pairs := 0
	for i, a := range all {
		for _, b := range all[:i] {
			if a.column == b.column {
				continue
			}
			pairs++
			if v := linalg.Dot(a.values, b.values); math.Abs(v) > math.Abs(found.correlation) {
				found = dependence{b.column, a.column, v, a.fold || b.fold}
			}
		}
	}
	chance := math.Sqrt(2*math.Log(math.Max(2, float64(pairs)/0.005))) / math.Sqrt(
		float64(max(1, r.n())))
	return found, math.Abs(found.correlation) > math.Max(leastDependence, chance)
}

// standardised gives values the mean 0 and the sum of squares 1.
// ok is false if values differ by rounding alone.
// It divides by the largest value first, and by the largest deviation, so that no square leaves the
// range of float64.
func standardised(values []float64) (ok bool) {
	divide := func(by float64) {
		for i := range values {
			values[i] /= by
		}
	}
	largest := func() float64 { return max(slices.Max(values), -slices.Min(values)) }
	divide(cmp.Or(largest(), 1))
	mean := linalg.Sum(values) / float64(len(values))
	floats.AddConst(-mean, values)
	size := largest()
	if size < 1e-13 {
		return false
	}
	divide(size)
	divide(math.Sqrt(linalg.Dot(values, values)))
	return true
}
