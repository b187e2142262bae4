package pacbayes

import "math"

// Shifted bounds the mean loss on rows of another source.
// It assumes that KL(other ‖ this) is at most ρ nats a row, and that the mean loss on rows of this
// source is at most bound. The result is
//
//	sup{p : kl(p ‖ bound) ≤ ρ}.
//
// The reason is the data-processing inequality.
// A row's loss, or a coin that falls with this probability, is made from the row, and can't tell
// two sources better apart than the row itself.
// The result is rounded up. It is NaN for a bound outside [0,1] or ρ < 0, and 1 if ρ is infinite.
// KLInverse, in contrast, looks for the other argument of kl.
func Shifted(bound, rho float64) float64 {
	switch {
	case !(0 <= bound && bound <= 1 && rho >= 0):
		return math.NaN()
	case math.IsInf(rho, 1):
		return 1
	case rho == 0 || bound == 0 || bound == 1: // a loss that never happens here never happens there
		return bound
	}
	// KL has a relative error of at most 2e-15.
	need := rho * (1 + 4e-15)
	if KL(1, bound) <= need {
		return 1
	}
	low := bound
	high := 1.
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
