package posterior

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/krigo-gp/krigo/internal/linalg"
	"github.com/krigo-gp/krigo/kernel"
)

// TestOwn compares the moments of f in the rows themselves with those of a posterior made anew.
func TestOwn(t *testing.T) {
	const n = 90
	rng := rand.New(rand.NewPCG(5, 6))
	x, y, noises := linalg.New(n, 2), make([]float64, n), make([]float64, n)
	for i := range x.Data {
		x.Data[i] = rng.NormFloat64()
	}
	k, err := kernel.Parse("matern32", 2, false)
	if err != nil {
		t.Fatal(err)
	}
	g := Given{Kernel: k, Theta: []float64{0, 0}, Mean: kernel.LinearMean{}, Beta: []float64{0.3}, Noise: 1, X: x, Y: y}
	own := Own(g, 20)
	for range 2 {
		for i := range y {
			y[i], noises[i] = rng.NormFloat64(), 0.1+rng.Float64()
		}
		g.Y, g.PerRow = y, RowNoise{Factor: make([]float64, n), Known: noises}
		mean, variance, m, v := make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n)
		own(y, noises, mean, variance)
		NewNearest(g, 20).Latent(x, m, v)
		if !slices.Equal(mean, m) || !slices.Equal(variance, v) {
			t.Fatalf("means %v and %v, variances %v and %v", mean, m, variance, v)
		}
	}
}
