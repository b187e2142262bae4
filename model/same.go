package model

import "math"

// sameFigure is how closely another kind of processor computes what stands beside a certificate, of which
// it computes that as closely.
const sameFigure = 1e-6

// near says whether two numbers are the same but for what another kind of processor may compute.
func near(a, b, tolerance float64) bool {
	return math.Abs(a-b) <= tolerance*math.Max(math.Abs(a), math.Abs(b))
}
