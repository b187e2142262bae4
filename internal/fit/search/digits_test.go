package search

import (
	"math"
	"testing"

	"github.com/krigo-gp/krigo/internal/fit/plan"
	"github.com/krigo-gp/krigo/internal/must"
	"github.com/krigo-gp/krigo/kernel"
)

// quadratic is ½Σ (i+1)(x_i − i)².
type quadratic struct{ n int }

func (q quadratic) Dim() int { return q.n }

func (q quadratic) Evaluate(x, gradient []float64) (v float64, err error) {
	for i, a := range x {
		d := a - float64(i)
		v += float64(i+1) * d * d / 2
		if gradient != nil {
			gradient[i] = float64(i+1) * d
		}
	}
	return v, nil
}

// TestTiedLengthscales shows that tie gives the lengthscales of a group the mean of their logarithms, and leaves variance and noise
// as they are. The gradient by the tied parameters agrees with finite differences.
func TestTiedLengthscales(t *testing.T) {
	f := plan.Family{Kernel: kernel.SE(6, true), Mean: kernel.ZeroMean{}}
	x := []float64{6, 0.1, 5.8, -3, 5.9, 0.3, 1.5, 0.7} // six lengthscales, variance, noise
	for k, groups := range map[int][][]int{1: {{0, 1, 2, 3, 4, 5}}, 2: {{0, 2, 4}, {1, 3, 5}},
		3: {{0, 2, 4}, {1, 5}, {3}}} {
		tied := tie(f, x, k)
		tied.objective = quadratic{len(x)}
		must.Need(t, tied.Dim() == k+2, "%d groups: %d parameters", k, tied.Dim())
		few := tied.reduce(x)
		back := tied.expand(few)
		for _, g := range groups {
			var mean float64
			for _, i := range g {
				mean += x[i] / float64(len(g))
			}
			for _, i := range g {
				must.Hold(t, math.Abs(back[i]-mean) <= 1e-12,
					"%d groups: parameter %d is %v, want %v", k, i, back[i], mean)
			}
		}
		must.Hold(t, back[6] == x[6] && back[7] == x[7],
			"%d groups: others moved to %v", k, back[6:])
		gradient := make([]float64, tied.Dim())
		if _, err := tied.Evaluate(few, gradient); err != nil {
			t.Fatal(err)
		}
		for i := range few {
			const h = 1e-4
			few[i] += h
			up, _ := tied.Evaluate(few, nil)
			few[i] -= 2 * h
			down, _ := tied.Evaluate(few, nil)
			few[i] += h
			if want := (up - down) / (2 * h); math.Abs(gradient[i]-want) > 1e-6 {
				t.Errorf("%d groups: derivative %d is %v, want %v", k, i, gradient[i], want)
			}
		}
	}
}
