//go:build !amd64 && !arm64

package linalg

// Only the assembly takes four columns at a time.

func hasFours() bool                                         { return false }
func eliminateFour(_, _ int, _, _ []float64, _ int, _ *tile) {}
func factorFour([]float64, int, *tile)                       {}
func substituteFour(_ int, _ []float64, _ int, _ []float64)  {}

// copyScaled copies nothing: it leaves all rows to its caller.
func copyScaled(_ []float64, _ int, _ []float64, _ int, _ []float64) int { return 0 }
