package method

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/krigo-gp/krigo/finding"
	"github.com/krigo-gp/krigo/internal/must"
	"github.com/krigo-gp/krigo/kernel"
	"github.com/krigo-gp/krigo/matrix"
	"github.com/krigo-gp/krigo/objective"
	"github.com/krigo-gp/krigo/posterior"
)

// TestEither chooses inducing inputs for a plane, which as many of them as it has slopes describe exactly, and nearest
// rows for a function of many waves, which few inducing inputs can't follow.
func TestEither(t *testing.T) {
	must.Long(t)
	rng := rand.New(rand.NewPCG(1, 2))
	for _, c := range []struct {
		kernel string
		rows   int
		inputs int
		f      func(x []float64) float64
		want   finding.Kind
	}{
		{"linear", 1000, 6, func(x []float64) float64 { return 2*x[0] - x[1] + x[2] }, finding.ByInducing},
		{"matern32", 2000, 2, func(x []float64) float64 { return 4 * math.Sin(16*x[0]) * math.Cos(16*x[1]) },
			finding.ByNearest},
	} {
		x, y := matrix.New(c.rows, c.inputs), make([]float64, c.rows)
		for i := range y {
			for j := range c.inputs {
				x.Row(i)[j] = rng.NormFloat64()
			}
			if c.f(x.Row(i))+rng.NormFloat64() > 0 {
				y[i] = 1
			}
		}
		k, err := kernel.Parse(c.kernel, c.inputs, false)
		if err != nil {
			t.Fatal(err)
		}
		at := []float64{2 * math.Log(0.1), math.Log(16), 0}
		at = at[2-len(k.Params()):]
		task := Task{Kernel: k, Mean: kernel.ZeroMean{}, All: objective.Memory{X: x, Y: y}, N: c.rows,
			Noise: objective.Probit(), Solver: posterior.ByNearest, Either: true, Context: t.Context()}
		q, found, err := task.bySites(at)
		if err != nil || found.Of(c.want) == nil {
			t.Fatalf("%s: %v, %v, want %v", c.kernel, found, err, c.want)
		}
		if c.kernel != "linear" {
			continue
		}
		task.Solver = ""
		exact, _, err := task.bySites(at)
		if err != nil {
			t.Fatal(err)
		}
		mean, want := make([]float64, c.rows), make([]float64, c.rows)
		q.Latent(x, mean, nil)
		exact.Latent(x, want, nil)
		for i, m := range mean {
			if !(math.Abs(m-want[i]) <= 1e-3) {
				t.Fatalf("row %d: f is %g, and %g by the full GP", i, m, want[i])
			}
		}
	}
}
