package report

import (
	"slices"

	"github.com/krigo-gp/krigo/internal/linalg"
)

// sample is rows with observations and their predictions.
type sample struct {
	name  string // as in "102 test rows"
	of    string // "test rows"
	fresh bool   // the mean was fixed without them
	all   int    // rows of that kind, of which these are some where they are more

	rows     []int // numbers in the table, from 0
	y, mean  []float64
	scaled   []float64 // observed less predicted, in the target's scale
	z        []float64 // the same in the predictive standard deviation
	miss     []bool    // whether it counts as a miss for the certificate; nil where there is none, or it counts by degrees
	epsilon  string    // of which it is one: "the certificate's ε"
	values   map[int][]float64
	promised int // rows within the promise's band; −1 without one
}

// misses counts them.
func (s *sample) misses() (n int) {
	for _, m := range s.miss {
		if m {
			n++
		}
	}
	return n
}

// finite says whether residuals can be drawn.
func (s *sample) finite() bool {
	return linalg.Finite(s.z) && linalg.Finite(s.y) && linalg.Finite([]float64{slices.Max(s.z) - slices.Min(s.z)})
}
