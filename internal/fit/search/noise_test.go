package search

import (
	"testing"

	"github.com/krigo-gp/krigo/internal/linalg"
	"github.com/krigo-gp/krigo/internal/must"
)

// TestEvenness: errors of equal size, equal inputs and rows that are fewer than inputs say nothing of a noise that varies,
// and errors that grow with an input do.
func TestEvenness(t *testing.T) {
	x := linalg.New(40, 1)
	mean := make([]float64, 40)
	v := make([]float64, 40)
	equal := make([]float64, 40)
	grows := make([]float64, 40)
	for i := range 40 {
		x.Set(i, 0, float64(i))
		equal[i] = 4
		grows[i] = float64(i*i) + 0.1
	}
	must.Be(t, evenness(x, mean, equal, v, 1), 1.)
	must.Be(t, evenness(linalg.New(40, 1), mean, grows, v, 1), 1.)
	must.Be(t, evenness(linalg.New(3, 3), mean[:3], equal[:3], v[:3], 1), 1.)
	must.Hold(t, evenness(x, mean, grows, v, 1) < 1e-6, "%g", evenness(x, mean, grows, v, 1))
}
