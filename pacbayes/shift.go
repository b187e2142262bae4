package pacbayes

import "math"

// Shifted bounds the mean loss on rows of another source, KL(that ‖ this) ≤ ρ nats a row, where it is at most bound on
// rows of this one:
//
//	sup{p : kl(p ‖ bound) ≤ ρ}.
//
// A row's loss, or a coin that falls with that probability, is made of the row, and nothing made of rows tells two
// sources better apart than the rows do (the data-processing inequality). It is rounded up, and NaN for a bound outside
// [0,1] or ρ < 0. It isn't KLInverse, which looks for the other argument of kl.
func Shifted(bound, rho float64) float64 {
	switch {
	case !(0 <= bound && bound <= 1 && rho >= 0):
		return math.NaN()
	case rho == 0 || bound == 0 || bound == 1: // where nothing happens here, nothing does there, however near
		return bound
	}
	// KL is good to 2e-15.
	need := rho * (1 + 4e-15)
	if KL(1, bound) <= need {
		return 1
	}
	low, high := bound, 1.
	for {
		mid := low + (high-low)/2
		if !(low < mid && mid < high) {
			return high
		}
		if KL(mid, bound) > need {
			high = mid
		} else {
			low = mid
		}
	}
}
