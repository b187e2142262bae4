package dataset_test

import (
	"math"
	"testing"

	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/internal/must"
)

// BenchmarkDeal hashes a million rows of eight inputs, and deals them roles.
func BenchmarkDeal(b *testing.B) {
	const n, cols = 1_000_000, 8
	x, y := make([]float64, n*cols), make([]float64, n)
	for i := range x {
		x[i] = math.Sin(float64(i))
	}
	d := dataOf(cols, x, y)
	b.ReportAllocs()
	for b.Loop() {
		u := must.Get(d.Units())(b)
		must.Get(u.Deal(0, dataset.Counts{n / 5, 0, n / 2}))(b)
	}
}
