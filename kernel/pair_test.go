package kernel_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/krigo-gp/krigo/internal/linalg"
	"github.com/krigo-gp/krigo/internal/must"
	"github.com/krigo-gp/krigo/kernel"
	"github.com/krigo-gp/krigo/kernel/kerneltest"
	"github.com/krigo-gp/krigo/matrix"
)

// cubic is σ² (1 + x·x')³ as a function with derivatives. It isn't stationary.
func cubic(theta, a, b []float64, bar float64, dTheta, dA []float64) float64 {
	s := 1 + linalg.Dot(a, b)
	v := math.Exp(theta[0])
	if dTheta != nil {
		dTheta[0] += bar * v * s * s * s
	}
	for d := range dA {
		dA[d] += bar * v * 3 * s * s * b[d]
	}
	return v * s * s * s
}

func init() {
	variance := func(int) []kernel.Param {
		return []kernel.Param{{Name: "log_variance", Kind: kernel.Variance, Dim: -1}}
	}
	kernel.RegisterPair("cubic", variance, cubic)
	kernel.RegisterPair("cubic-by-differences", variance, kernel.Differences(func(theta, a, b []float64) float64 {
		return cubic(theta, a, b, 0, nil, nil)
	}))
}

// TestPair: a Pair makes a kernel, and Differences gives its derivatives to nine digits.
func TestPair(t *testing.T) {
	k := must.Get(kernel.Parse("cubic", 2, false))(t)
	kerneltest.Run(t, k, 2, []float64{0.3})

	trial := must.Get(kernel.Parse("cubic-by-differences", 2, false))(t)
	x := matrix.New(2, 2)
	copy(x.Data, []float64{0.5, -1, 2, 0.25})
	bar := matrix.New(2, 2)
	copy(bar.Data, []float64{1, -2, 0.5, 3})
	var slopes [2][]float64
	for i, k := range []kernel.Kernel{k, trial} {
		dTheta, dX := make([]float64, 1), matrix.New(2, 2)
		k.Pull([]float64{0.3}, x, x, kernel.Adjoint{K: bar, Gradient: kernel.Gradient{Theta: dTheta, Inputs: dX}})
		k.PullDiag([]float64{0.3}, x, bar.Data[:2], kernel.Gradient{Theta: dTheta, Inputs: dX})
		slopes[i] = append(dTheta, dX.Data...)
	}
	for i, want := range slopes[0] {
		must.Near(t, slopes[1][i], want, 1e-9*math.Max(1, math.Abs(want)), fmt.Sprintf("derivative %d", i))
	}
}
