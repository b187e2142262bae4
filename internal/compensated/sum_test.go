package compensated

import (
	"math"
	"testing"
)

// TestSum adds numbers that plain sums lose, in one sum and in two joined sums.
func TestSum(t *testing.T) {
	for _, c := range []struct {
		numbers []float64
		want    float64
	}{
		{[]float64{1, 1e100, 1, -1e100}, 2},
		{[]float64{1e16, 1, 1, 1, -1e16}, 3},
		{[]float64{math.Inf(1), 1, 2}, math.Inf(1)},
		{[]float64{math.MaxFloat64, math.MaxFloat64, 1}, math.Inf(1)},
		{nil, 0},
	} {
		var all, left, right Sum
		for i, x := range c.numbers {
			all.Add(x)
			if i < 2 {
				left.Add(x)
			} else {
				right.Add(x)
			}
		}
		left.Join(right)
		if all.Value() != c.want || left.Value() != c.want {
			t.Errorf("%v: %v, joined %v; want %v", c.numbers, all.Value(), left.Value(), c.want)
		}
	}
}
