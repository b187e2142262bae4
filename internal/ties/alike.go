package ties

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mathext"

	"github.com/krigo-gp/krigo/internal/lists"
)

// scores replaces values by the normal scores of their ranks, so that a few large values don't
// decide.
func scores(values []float64) []float64 {
	z := make([]float64, len(values))
	for rank, i := range lists.Order(values, cmp.Compare) {
		z[i] = math.Sqrt2 * math.Erfinv(2*(float64(rank)+0.5)/float64(len(values))-1)
	}
	return z
}

// mostShuffled limits how often units are shuffled.
// Shuffling ends earlier when more than enoughAbove shuffles show at least as much as the table
// does.
const (
	mostShuffled = 4999
	enoughAbove  = 20
)

// alike returns the intraclass correlation of values within units (one-way analysis of variance,
// with units of any size), and the share of shuffled tables that have at least as large a
// correlation. Without rng it shuffles nothing, and takes the share from the F distribution, which
// fits well since the values are normal scores. It takes no smaller share than shuffles can show.
func alike(values []float64, members [][]int, rng *rand.Rand) (icc, p float64) {
	var z []float64
	var sizes []int
	var squares, sumSizes float64
	for _, rows := range members {
		sizes = append(sizes, len(rows))
		sumSizes += float64(len(rows)) * float64(len(rows))
		for _, row := range rows {
			z = append(z, values[row])
		}
	}
	z = scores(z)
	for _, v := range z {
		squares += v * v
	}
	between := func() (sum float64) { // the mean of z is 0
		at := 0
		for _, size := range sizes {
			var s float64
			for _, v := range z[at : at+size] {
				s += v
			}
			sum += s * s / float64(size)
			at += size
		}
		return sum
	}
	n := float64(len(z))
	g := float64(len(sizes))
	b := between()
	msb := b / (g - 1)
	msw := (squares - b) / (n - g)
	// size is n₀ of the analysis of variance, the size of a typical unit if sizes differ.
	size := (n - sumSizes/n) / (g - 1)
	icc = (msb - msw) / (msb + (size-1)*msw)
	if rng == nil {
		p = mathext.RegIncBeta((n-g)/2, (g-1)/2, (squares-b)/squares)
		return icc, math.Max(p, 1./(mostShuffled+1))
	}
	// The table itself counts as one of the shuffled tables, so that p is never 0.
	above := 1
	done := 1
	for ; done <= mostShuffled && above <= enoughAbove; done++ {
		rng.Shuffle(len(z), func(i, j int) { z[i], z[j] = z[j], z[i] })
		if between() >= b {
			above++
		}
	}
	return icc, float64(above) / float64(done)
}

// roots returns the square roots of absolute errors.
// A few large errors hardly change the mean of these roots.
func roots(errors []float64) []float64 {
	return lists.Of(errors, func(e float64) float64 { return math.Sqrt(math.Abs(e)) })
}

// ratio returns how many times as large errors is as others, in a typical unit.
// A unit's error is the mean of the roots of its absolute errors.
// `of` (mean or median) sums up the units, and the ratio is squared because of the roots.
func ratio(errors, others []float64, members [][]int, of func([]float64) float64) float64 {
	typical := func(errors []float64) float64 {
		return of(lists.Of(members, func(rows []int) float64 {
			own := lists.Of(rows, func(i int) float64 { return errors[i] })
			return mean(roots(own))
		}))
	}
	r := typical(errors) / typical(others)
	return r * r
}

// mean returns the mean of values, and 0 without values.
func mean(values []float64) float64 {
	return lists.Sum(values, func(v float64) float64 { return v / float64(len(values)) })
}

// median returns the median of values, which it sorts. There must be a value.
func median(values []float64) float64 {
	slices.Sort(values)
	n := len(values)
	return (values[(n-1)/2] + values[n/2]) / 2
}
