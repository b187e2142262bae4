// Package kerneltest holds what every kernel must satisfy, as tests that any implementation can
// run.
package kerneltest

import (
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"github.com/krigo-gp/krigo/internal/linalg"
	"github.com/krigo-gp/krigo/kernel"
	"github.com/krigo-gp/krigo/matrix"
)

// Run checks a kernel on dim inputs at the parameters theta: shapes, symmetry,
// positive semidefiniteness, the diagonal, independence of a row from its block,
// pull-backs against central differences, and the same result on any number of cores.
func Run(t *testing.T, k kernel.Kernel, dim int, theta []float64) {
	t.Helper()
	if len(theta) != len(k.Params()) {
		t.Fatalf("%d parameters given, the kernel has %d", len(theta), len(k.Params()))
	}
	rng := rand.New(rand.NewPCG(11, 13))
	a := points(rng, 9, dim)
	b := points(rng, 7, dim)
	copy(b.Row(2), a.Row(4)) // makes two points coincide
	cov := func(th []float64, a, b matrix.Dense) matrix.Dense {
		out := matrix.New(a.Rows, b.Rows)
		k.Cov(th, a, b, out)
		return out
	}
	t.Run("symmetric", func(t *testing.T) { symmetric(t, k, theta, a) })
	t.Run("a row alone", func(t *testing.T) {
		whole := cov(theta, a, b)
		for i := range a.Rows {
			if alone := cov(theta, a.RowRange(i, i+1), b).Row(0); !slices.Equal(alone,
				whole.Row(i)) {
				t.Errorf("row %d alone gives %v, in the block %v", i, alone, whole.Row(i))
			}
		}
	})

	bar := points(rng, 9, 7)
	diagBar := points(rng, 1, 9).Data
	f := func(th []float64, a matrix.Dense) float64 {
		s := 0.0
		c := cov(th, a, b)
		for i := range c.Rows {
			s += linalg.Dot(c.Row(i), bar.Row(i))
		}
		return s
	}
	fd := func(th []float64, a matrix.Dense) float64 {
		d := make([]float64, a.Rows)
		k.Diag(th, a, d)
		return linalg.Dot(d, diagBar)
	}
	for _, c := range []struct {
		name string
		f    func([]float64, matrix.Dense) float64
		pull func(dTheta []float64, dA matrix.Dense)
	}{
		{"pull-back", f, func(d []float64, dA matrix.Dense) {
			kernel.At(k, theta).Pull(a, b,
				kernel.Adjoint{K: bar, Gradient: kernel.Gradient{Theta: d, Inputs: dA}})
		}},
		{"pull-back of the diagonal", fd, func(d []float64, dA matrix.Dense) {
			k.PullDiag(theta, a, diagBar, kernel.Gradient{Theta: d, Inputs: dA})
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			dTheta := make([]float64, len(theta))
			dA := matrix.New(9, dim)
			c.pull(dTheta, dA)
			for p := range theta {
				want := difference(func(h float64) float64 {
					th := append([]float64(nil), theta...)
					th[p] += h
					return c.f(th, a)
				})
				close(t, k.Params()[p].Name, dTheta[p], want, 2e-8)
			}
			for i := range a.Rows {
				if i == 4 && c.name == "pull-back" {
					continue // the points coincide, where some kernels have a kink
				}
				for j := range dim {
					want := difference(func(h float64) float64 {
						moved := matrix.New(9, dim)
						moved.CopyFrom(a)
						moved.Row(i)[j] += h
						return c.f(theta, moved)
					})
					close(t, "input", dA.At(i, j), want, 2e-8)
				}
			}
		})
	}

	t.Run("symmetric pull-back", func(t *testing.T) { symmetricPull(t, k, theta, rng, dim) })
}

func symmetric(t *testing.T, k kernel.Kernel, theta []float64, a matrix.Dense) {
	full := matrix.New(9, 9)
	kernel.At(k, theta).FillSymmetric(a, full)
	diag := make([]float64, 9)
	k.Diag(theta, a, diag)
	for i := range 9 {
		close(t, "diagonal", full.At(i, i), diag[i], 1e-12)
		for j := range i {
			if full.At(i, j) != full.At(j, i) {
				t.Errorf("K[%d,%d] and K[%d,%d] differ", i, j, j, i)
			}
		}
	}
	full.AddDiagonal(1e-9)
	if err := linalg.Cholesky(full); err != nil {
		t.Errorf("not positive semidefinite: %v", err)
	}
}

func symmetricPull(t *testing.T, k kernel.Kernel, theta []float64, rng *rand.Rand, dim int) {
	big := points(rng, 200, dim)
	sym := matrix.New(200, 200)
	linalg.SyrkLower(false, 1, points(rng, 200, 5), 0, sym)
	linalg.MirrorLower(sym)
	want := make([]float64, len(theta))
	got := make([]float64, len(theta))
	kernel.At(k, theta).Pull(big, big,
		kernel.Adjoint{K: sym, Gradient: kernel.Gradient{Theta: want}})
	kernel.At(k, theta).PullSymmetric(big, sym, got)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(3))
	again := make([]float64, len(theta))
	kernel.At(k, theta).PullSymmetric(big, sym, again)
	for p := range theta {
		close(t, k.Params()[p].Name, got[p], want[p], 1e-9)
		if got[p] != again[p] {
			t.Errorf("%s: %v on one number of cores, %v on another", k.Params()[p].Name,
				got[p], again[p])
		}
	}
}

func points(rng *rand.Rand, n, d int) matrix.Dense {
	m := matrix.New(n, d)
	for i := range m.Data {
		m.Data[i] = rng.NormFloat64()
	}
	return m
}

// difference returns the five-point central difference at 0, which is exact to about h⁴.
func difference(f func(h float64) float64) float64 {
	const h = 2e-4
	return (8*(f(h)-f(-h)) - (f(2*h) - f(-2*h))) / (12 * h)
}

func close(t *testing.T, what string, got, want, tol float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tol*math.Max(math.Abs(want), 1)) {
		t.Errorf("%s: got %.15g, want %.15g", what, got, want)
	}
}
