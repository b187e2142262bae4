// Package objectivetest has tests that every training objective must pass.
package objectivetest

import (
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"github.com/krigo-gp/krigo/kernel"
	"github.com/krigo-gp/krigo/matrix"
	"github.com/krigo-gp/krigo/objective"
)

// Run is RunProblem for an objective of the full GP. fresh returns a new objective.
func Run(t *testing.T, fresh func() objective.Exact) {
	RunProblem(t, func(k kernel.Kernel, mean kernel.Mean, x matrix.Dense, y []float64) Problem {
		return &objective.Problem{Kernel: k, Mean: mean, X: x, Y: y, Objective: fresh()}
	})
}

// Problem is an objective bound to rows.
type Problem interface {
	Dim() int
	Names() []string
	Evaluate(x, gradient []float64) (float64, error)
}

// RunProblem checks an objective on small random problems with several kernels, mean functions and
// noise levels. bind returns the objective for given rows.
// The gradient must agree with central differences.
// The value must not depend on the order of the rows, the number of cores or earlier evaluations.
// A matrix that can't be factored must be an error.
func RunProblem(t *testing.T, bind func(k kernel.Kernel, mean kernel.Mean, x matrix.Dense,
	y []float64) Problem) {
	for _, c := range []struct {
		name     string
		kernel   string
		mean     kernel.Mean
		logNoise float64
	}{
		{"se", "se", kernel.ZeroMean{}, -1},
		{"quiet", "matern52", kernel.LinearMean{}, -7},
		{"loud", "se+linear", kernel.LinearMean{Dim: 2}, 3},
		{"very loud", "rq*periodic", kernel.ZeroMean{}, 9},
	} {
		t.Run(c.name, func(t *testing.T) {
			k, err := kernel.Parse(c.kernel, 2, true)
			if err != nil {
				t.Fatal(err)
			}
			rng := rand.New(rand.NewPCG(17, 19))
			const n = 23
			x := matrix.New(n, 2)
			y := make([]float64, n)
			for i := range y {
				x.Row(i)[0], x.Row(i)[1] = 2*rng.NormFloat64(), 2*rng.NormFloat64()
				y[i] = math.Sin(x.At(i, 0)) + 0.3*rng.NormFloat64()
			}
			make := func(x matrix.Dense, y []float64) Problem { return bind(k, c.mean, x, y) }
			p := make(x, y)
			at := slices.Repeat([]float64{0.2}, p.Dim())
			noise := slices.Index(p.Names(), "log_noise_variance")
			at[noise] = c.logNoise
			for i := noise + 1; i < len(at); i++ {
				at[i] = 3 * rng.NormFloat64() // inducing inputs
			}
			gradient := slices.Clone(at)
			value, err := p.Evaluate(at, gradient)
			if err != nil {
				t.Fatal(err)
			}
			for i, name := range p.Names() {
				want := difference(func(h float64) float64 {
					moved := slices.Clone(at)
					moved[i] += h
					v, err := p.Evaluate(moved, nil)
					if err != nil {
						t.Fatal(err)
					}
					return v
				})
				// A difference sees the value with a rounding error of about 1e-15/h of its size.
				if tol := 1e-8*math.Abs(want) + 1e-10*math.Max(math.Abs(value),
					1); !(math.Abs(gradient[i]-want) <= tol) {
					t.Errorf("d/d %s: got %.12g, differences give %.12g", name, gradient[i], want)
				}
			}
			if again, _ := p.Evaluate(at, nil); again != value {
				t.Errorf("evaluated again: %v, before %v", again, value)
			}
			defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(5))
			if other, _ := make(x, y).Evaluate(at, nil); other != value {
				t.Errorf("on five cores: %v, before %v", other, value)
			}

			perm := rng.Perm(n)
			px := matrix.New(n, 2)
			py := slices.Clone(y)
			for i, j := range perm {
				copy(px.Row(i), x.Row(j))
				py[i] = y[j]
			}
			if v, _ := make(px, py).Evaluate(at,
				nil); !(math.Abs(v-value) <= 1e-9*math.Max(math.Abs(value), 1)) {
				t.Errorf("rows in another order: %v, before %v", v, value)
			}

			bad := slices.Clone(at)
			bad[noise] = math.Inf(-1)
			copy(px.Row(1), px.Row(0)) // a repeated row without noise makes K singular
			if v, err := make(px, py).Evaluate(bad, nil); err == nil {
				t.Errorf("a singular matrix gave the value %v and no error", v)
			}
		})
	}
}

// difference returns the five-point central difference of f at 0.
func difference(f func(h float64) float64) float64 {
	const h = 1e-3
	return (8*(f(h)-f(-h)) - (f(2*h) - f(-2*h))) / (12 * h)
}
