package main

import (
	"math"
	"testing"

	"github.com/krigo-gp/krigo/internal/must"
)

func TestMeanSE(t *testing.T) {
	mean, se := meanSE([]float64{1, 2, 4, 5})
	must.Hold(t, mean == 3 && math.Abs(se-math.Sqrt(10./3/4)) <= 1e-15, "%v ± %v", mean, se)
	if mean, se := meanSE([]float64{2}); mean != 2 || !math.IsNaN(se) {
		t.Errorf("one value: %v ± %v", mean, se)
	}
}
