package report

import (
	"math"
	"slices"

	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/internal/linalg"
	"github.com/krigo-gp/krigo/internal/lists"
)

// kind says which rows of the data a sample shows.
type kind struct {
	of    string // "test rows"
	role  dataset.Role
	fresh bool  // the mean was fixed without them
	rows  []int // numbers in the table, from 0
}

// noRole is the role of rows that aren't dealt with the model's own, because they come from other
// data.
const noRole = dataset.Role(255)

// sample holds rows with observations and their predictions.
type sample struct {
	kind
	name string // "102 test rows"
	all  int    // rows of this kind; the sample holds some of them if they are many

	y, mean []float64
	scaled  []float64 // observed minus predicted, in the target's scale
	z       []float64 // the same divided by the predictive standard deviation
	logLoss []float64 // minus the logarithm of the true class's probability; nil without classes
	// whether the row counts as a miss; nil: no certificate, or losses between 0 and 1
	miss    []bool
	epsilon string // what a miss exceeds: "the certificate's ε"
	values  map[int][]float64
}

// misses returns the number of misses.
func (s *sample) misses() int {
	return len(lists.If(s.miss, func(missed bool) bool { return missed }))
}

// within returns the share of rows whose residual is at most size predictive standard deviations,
// on either side.
func (s *sample) within(size float64) float64 {
	inside := lists.If(s.z, func(z float64) bool { return math.Abs(z) <= size })
	return float64(len(inside)) / float64(len(s.z))
}

// finite says whether the observations, the residuals and the range of the residuals are finite, so
// that they can be drawn.
func (s *sample) finite() bool {
	return linalg.Finite(s.z) && linalg.Finite(s.y) &&
		linalg.Finite([]float64{slices.Max(s.z) - slices.Min(s.z)})
}
