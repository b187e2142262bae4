package posterior_test

import (
	"math"
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

// TestNearestOverflow: rows whose covariances are beyond what numbers hold leave no prediction, not one of whatever else
// was in memory.
func TestNearestOverflow(t *testing.T) {
	k, err := kernel.Parse("linear", 1, false)
	if err != nil {
		t.Fatal(err)
	}
	x := matrix.Of(2, 1, []float64{0.5, 1e3})
	p := posterior.NewNearest(k, []float64{709}, kernel.ZeroMean{}, nil, x, []float64{1, 2}, 0.1, 2)
	mean, variance := make([]float64, 1), make([]float64, 1)
	p.Latent(matrix.Of(1, 1, []float64{0.5}), mean, variance)
	if !math.IsNaN(mean[0]) {
		t.Errorf("mean %v", mean[0])
	}
}
