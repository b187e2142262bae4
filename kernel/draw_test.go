package kernel_test

import (
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"github.com/krigo-gp/krigo/internal/must"
	"github.com/krigo-gp/krigo/kernel"
	"github.com/krigo-gp/krigo/matrix"
)

// TestDrawCovariance: draws have the mean 0 and the covariance k, within five standard errors.
func TestDrawCovariance(t *testing.T) {
	const n, d, draws, features = 6, 2, 4000, 16
	rng := rand.New(rand.NewPCG(31, 1))
	x := matrix.New(n, d)
	for i := range x.Data {
		x.Data[i] = rng.NormFloat64()
	}
	copy(x.Row(n-1), x.Row(0)) // the white kernel too has the same value at the same place
	for _, expr := range []string{"se", "matern12", "matern32", "matern52", "rq", "periodic", "linear", "constant",
		"white",
		"se+linear", "(matern32+white)*periodic", "linear*constant+rq"} {
		k := must.Get(kernel.Parse(expr, d, true))(t)
		theta := make([]float64, len(k.Params()))
		for i := range theta {
			theta[i] = 0.4 - 0.3*float64(i%3)
		}
		want := matrix.New(n, n)
		kernel.At(k, theta).FillSymmetric(x, want)
		f := make([]float64, n)
		sum, products, squares := make([]float64, n), matrix.New(n, n), matrix.New(n, n)
		for range draws {
			g := must.Get(kernel.At(k, theta).Draw(d, features, rng))(t)
			g.At(x, f)
			for i, a := range f {
				sum[i] += a
				for j, b := range f {
					products.Row(i)[j] += a * b
					squares.Row(i)[j] += a * a * b * b
				}
			}
			must.Need(t, f[0] == f[n-1], "%s: at the same place %v and %v", expr, f[0], f[n-1])
		}
		for i := range n {
			must.Hold(t, math.Abs(sum[i]/draws) <= 5*math.Sqrt(want.At(i, i)/draws),
				"%s: the mean of row %d is %v", expr, i, sum[i]/draws)
			for j := range n {
				got := products.At(i, j) / draws
				se := math.Sqrt((squares.At(i, j)/draws - got*got) / draws)
				must.Hold(t, math.Abs(got-want.At(i, j)) <= 5*se,
					"%s: covariance %d, %d is %v ± %.2g, want %v", expr, i, j, got, se,
					want.At(i, j))
			}
		}
	}
}

// TestDrawSeeded: a seed gives one function, whichever rows it is evaluated on and on any number of cores.
func TestDrawSeeded(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	k := must.Get(kernel.Parse("se*periodic+white", 3, true))(t)
	x := matrix.New(300, 3)
	for i := range x.Data {
		x.Data[i] = math.Sin(float64(i))
	}
	var first []float64
	for _, cores := range []int{1, 3} {
		runtime.GOMAXPROCS(cores)
		f := must.Get(kernel.At(k, make([]float64, len(k.Params()))).Draw(3, 100, rand.New(rand.NewPCG(5, 5))))(t)
		out, some := make([]float64, 300), make([]float64, 10)
		f.At(x, out)
		f.At(x.RowRange(37, 47), some)
		for i, v := range some {
			must.Hold(t, math.Abs(v-out[37+i]) <= 1e-12,
				"row %d: %v among others %v", i, v, out[37+i])
		}
		if first == nil {
			first = out
		}
		must.Hold(t, slices.Equal(out, first), "another function on %d cores", cores)
	}
	var posterior kernel.Kernel = &kernel.Conditional{Kernel: k, Theta: make([]float64, len(k.Params()))}
	must.Refuse(kernel.At(kernel.Sum(kernel.Linear{}, posterior), []float64{0}).Draw(3, 9,
		rand.New(rand.NewPCG(5, 5))))(t, "", "random features of a posterior's covariance")
}
