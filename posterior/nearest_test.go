package posterior_test

import (
	"math/rand/v2"
	"testing"

	"github.com/krigo-gp/krigo/kernel"
	"github.com/krigo-gp/krigo/matrix"
	"github.com/krigo-gp/krigo/posterior"
)

// BenchmarkNearest predicts 1,000 rows from 256 of 40,000 each, and a row alone.
func BenchmarkNearest(b *testing.B) {
	rng := rand.New(rand.NewPCG(5, 5))
	x, y := matrix.New(40000, 8), make([]float64, 40000)
	for i := range x.Data {
		x.Data[i] = rng.NormFloat64()
	}
	q := posterior.NewNearest(kernel.Matern32(8, true), make([]float64, 9), kernel.ZeroMean{}, nil, x, y, 0.1, 256)
	points, mean, variance := matrix.New(1000, 8), make([]float64, 1000), make([]float64, 1000)
	for i := range points.Data {
		points.Data[i] = rng.NormFloat64()
	}
	b.Run("1000", func(b *testing.B) {
		for b.Loop() {
			q.Latent(points, mean, variance)
		}
	})
	b.Run("1", func(b *testing.B) {
		for b.Loop() {
			q.Latent(points.RowRange(0, 1), mean[:1], variance[:1])
		}
	})
}
