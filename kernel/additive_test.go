package kernel_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/krigo-gp/krigo/internal/must"
	"github.com/krigo-gp/krigo/kernel"
	"github.com/krigo-gp/krigo/matrix"
)

// partOf returns the part k_i of an additive kernel of one input, for one lengthscale.
func partOf(logL2, x, z float64) float64 {
	a, b, k := matrix.Of(1, 1, []float64{x}), matrix.Of(1, 1, []float64{z}), matrix.New(1, 1)
	kernel.NewAdditive(1, true).Cov([]float64{logL2, 0}, a, b, k)
	return k.At(0, 0)
}

// TestAdditiveParts: under N(0, 1), a part has mean 0 in each argument. A part with a long lengthscale is nearly a
// small multiple of x x'.
func TestAdditiveParts(t *testing.T) {
	const step = 1. / 64
	for _, logL2 := range []float64{-4, -1, 0, 2, 9} {
		var mean float64
		for x := -9.; x <= 9; x += step {
			mean += step * math.Exp(-x*x/2) / math.Sqrt(2*math.Pi) * partOf(logL2, x, 0.7)
		}
		must.Hold(t, math.Abs(mean) <= 1e-13, "ln l² = %v: mean %v", logL2, mean)
	}
	for _, logL2 := range []float64{-600, -80, 80, 600} {
		theta, x := []float64{logL2, 0}, matrix.Of(2, 1, []float64{0.3, -0.2})
		kernel.NewAdditive(1, true).Pull(theta, x, x, kernel.Adjoint{K: matrix.Of(2, 2, []float64{1, 2, 3, 4}),
			Gradient: kernel.Gradient{Theta: theta}})
		must.Hold(t, !math.IsNaN(theta[0]) && !math.IsInf(theta[0], 0),
			"ln l² = %v: gradient %v", logL2, theta[0])
	}
	got := partOf(14, 1.5, -0.4) * math.Exp(14) * 0.002
	must.Hold(t, math.Abs(got+0.6) <= 1e-3, "a long lengthscale: %v, not −0.6", got)
}

// TestAdditiveSums: the covariance is the sum of all parts, and of all products of two parts.
func TestAdditiveSums(t *testing.T) {
	const dim = 5
	rng := rand.New(rand.NewPCG(1, 2))
	x, z, k := matrix.New(1, dim), matrix.New(1, dim), matrix.New(1, 1)
	theta := make([]float64, dim+2)
	var parts [dim]float64
	for i := range dim {
		theta[i] = rng.NormFloat64()
		x.Set(0, i, rng.NormFloat64())
		z.Set(0, i, rng.NormFloat64())
		parts[i] = partOf(theta[i], x.At(0, i), z.At(0, i))
	}
	theta[dim], theta[dim+1] = 0.3, -0.8
	kernel.NewAdditive(dim, true).Cov(theta, x, z, k)
	var first, second float64
	for i := range dim {
		first += parts[i]
		for j := range i {
			second += parts[i] * parts[j]
		}
	}
	want := math.Exp(0.3)*first/dim + math.Exp(-0.8)*second/(dim*(dim-1)/2)
	must.Hold(t, math.Abs(k.At(0, 0)-want) <= 1e-13, "%v, not %v", k.At(0, 0), want)
}
