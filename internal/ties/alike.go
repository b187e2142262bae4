package ties

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
)

// scores replaces values by the normal scores of their ranks, so that no few of them decide.
func scores(values []float64) []float64 {
	order := make([]int, len(values))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(values[a], values[b]) })
	z := make([]float64, len(values))
	for rank, i := range order {
		z[i] = math.Sqrt2 * math.Erfinv(2*(float64(rank)+0.5)/float64(len(values))-1)
	}
	return z
}

// mostShuffled is how often units are shuffled at most. Fewer do where enough of them show more than the table does.
const (
	mostShuffled = 4999
	enoughAbove  = 20
)

// alike returns the intraclass correlation of values within units (one-way analysis of variance, of units of whatever
// size), and the share of shuffled tables that have as much.
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
	between := func() (sum float64) { // about the mean, which is 0
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
	n, g, b := float64(len(z)), float64(len(sizes)), between()
	msb, msw, size := b/(g-1), (squares-b)/(n-g), (n-sumSizes/n)/(g-1)
	icc = (msb - msw) / (msb + (size-1)*msw)
	above, done := 1, 1
	for ; done <= mostShuffled && above <= enoughAbove; done++ {
		rng.Shuffle(len(z), func(i, j int) { z[i], z[j] = z[j], z[i] })
		if between() >= b {
			above++
		}
	}
	return icc, float64(above) / float64(done)
}

// medianSize returns the median of absolute values.
func medianSize(values []float64) float64 {
	sizes := make([]float64, len(values))
	for i, v := range values {
		sizes[i] = math.Abs(v)
	}
	slices.Sort(sizes)
	n := len(sizes)
	return (sizes[(n-1)/2] + sizes[n/2]) / 2
}

// rootSize returns the mean of the roots of absolute values: of all of them, but few large ones don't decide.
func rootSize(values []float64) (mean float64) {
	for _, v := range values {
		mean += math.Sqrt(math.Abs(v)) / float64(len(values))
	}
	return mean
}
