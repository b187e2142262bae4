package posterior_test

import (
	"math"
	"testing"

	"github.com/krigo-gp/krigo/kernel"
	"github.com/krigo-gp/krigo/matrix"
	"github.com/krigo-gp/krigo/posterior"
)

// TestApart: the distance of two posteriors is the distance of their predictions, however large their weights are.
func TestApart(t *testing.T) {
	of := func(weight float64) *posterior.Posterior {
		one := matrix.Of(1, 1, []float64{1})
		return &posterior.Posterior{Kernel: kernel.SE(1, false), Theta: []float64{0, 0}, Mean: kernel.LinearMean{},
			Beta: []float64{-1e6}, Noise: 1, Support: matrix.New(1, 1),
			Solution: &posterior.Inducing{W: []float64{weight}, Chol: one, CholB: one}}
	}
	mean, covariance := of(1e6).Apart(of(1e6+5), matrix.Of(2, 1, []float64{3, 1}))
	if want := 5 * math.Exp(-0.5); math.Abs(mean-want) > 1e-12 || covariance != 0 {
		t.Errorf("means %v apart, want %v; covariances %v", mean, want, covariance)
	}
}
