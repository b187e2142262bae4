package pacbayes

import "math"

// reproducible is how much two kinds of processor may differ in the same number. For honest sparse models they differed
// by up to 2e-7. A stored number may differ by as much from the recomputed number, which krigo prints.
const reproducible = 1e-6

// same says whether a computed number agrees with the stored number, to within reproducible.
func same(computed, stored float64) bool {
	return math.Abs(computed-stored) <= reproducible*math.Max(1, math.Abs(stored))
}
