package inducing

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/krigo-gp/krigo/internal/must"
	"github.com/krigo-gp/krigo/kernel"
)

func BenchmarkChoose(b *testing.B) {
	const d, m = 8, 500
	x, k, theta := gaussian(40000, d, 1), kernel.SE(d, false), []float64{math.Log(8), 0}
	rng := func() *rand.Rand { return source(2) }
	for name, choose := range map[string]func() error{
		"random":          func() error { _, err := Random(x, m, rng()); return err },
		"kmeans":          func() error { _, err := KMeans(x, m, rng()); return err },
		"greedy":          func() error { _, err := Greedy(k, theta, x, m); return err },
		"kdpp":            func() error { _, err := KDPP(k, theta, x, m, rng()); return err },
		"kdpp-exact-1500": func() error { _, err := KDPP(k, theta, x.RowRange(0, 1500), m, rng()); return err },
		"auto":            func() error { _, _, err := AutoSize(k, theta, x, 2*m, DefaultTolerance); return err },
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				must.Do(b, choose())
			}
		})
	}
}
