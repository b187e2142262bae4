package pacbayes

import "math"

// reproducible is how closely another kind of processor computes the same numbers: those of honest sparse models were
// up to 2e-7 apart. It is also how far a stored number may be from the recomputed one, which is what is printed.
const reproducible = 1e-6

// same says whether a computed number is as closely the stored one.
func same(computed, stored float64) bool {
	return math.Abs(computed-stored) <= reproducible*math.Max(1, math.Abs(stored))
}
