package kernel_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/krigo-gp/krigo/internal/cpu"
	"github.com/krigo-gp/krigo/internal/linalg"
	"github.com/krigo-gp/krigo/internal/must"
	"github.com/krigo-gp/krigo/kernel"
	"github.com/krigo-gp/krigo/matrix"
)

func normal(rng *rand.Rand, n, d int) matrix.Dense {
	m := matrix.New(n, d)
	for i := range m.Data {
		m.Data[i] = rng.NormFloat64()
	}
	return m
}

func TestTimesAgainstTheMatrix(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	rng := rand.New(rand.NewPCG(3, 9))
	for _, expr := range []string{"se", "matern32*periodic+white", "linear+rq"} {
		k := must.Get(kernel.Parse(expr, 3, true))(t)
		theta := make([]float64, len(k.Params()))
		for _, n := range []int{1, 5, 64, 513, 1100, 1600} {
			for _, cols := range []int{1, 16, 21} {
				a, b := normal(rng, n, 3), normal(rng, 300, 3)
				block, full := matrix.New(n, 300), matrix.New(n, n)
				kernel.At(k, theta).Fill(a, b, block)
				kernel.At(k, theta).FillSymmetric(a, full)
				for _, c := range []struct {
					name  string
					m     matrix.Dense
					times func(v, out matrix.Dense)
				}{
					{"Times", block, func(v, out matrix.Dense) { kernel.At(k, theta).Times(a, b, v, out) }},
					{"TimesSymmetric", full, func(v, out matrix.Dense) { kernel.At(k, theta).TimesSymmetric(a, v, out) }},
				} {
					v, want := normal(rng, c.m.Cols, cols), matrix.New(n, cols)
					linalg.Gemm(false, false, 1, c.m, v, 0, want)
					var first matrix.Dense
					for _, cores := range []int{1, 3} {
						runtime.GOMAXPROCS(cores)
						got := normal(rng, n, cols)
						c.times(v, got)
						if cores == 1 {
							first = got
						}
						for i, w := range want.Data {
							if g := got.Data[i]; !(math.Abs(g-w) <= 1e-11*float64(n)) || g != first.Data[i] {
								t.Fatalf("%s %s, n=%d, %d columns, %d cores: element %d is %v, want %v", c.name, expr, n, cols, cores, i, g, w)
							}
						}
					}
				}
			}
		}
	}
}

func TestTimesSingle(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	rng := rand.New(rand.NewPCG(3, 9))
	for _, expr := range []string{"se", "matern12", "matern32", "matern52", "rq", "se+se"} {
		for _, d := range []int{1, 5, 8} {
			k := must.Get(kernel.Parse(expr, d, true))(t)
			if !kernel.HasSingle(k) {
				must.Hold(t, linalg.Level == cpu.Portable || expr == "rq" || expr == "se+se",
					"%s has no products in float32", expr)
				continue
			}
			theta := make([]float64, len(k.Params()))
			theta[d] = 0.5
			for _, n := range []int{1, 5, 64, 513, 1100, 1600} {
				for _, cols := range []int{1, 3, 16, 40} {
					a, v := normal(rng, n, d), normal(rng, n, cols)
					want, magnitude := matrix.New(n, cols), matrix.New(n, cols)
					kernel.At(k, theta).TimesSymmetric(a, v, want)
					size := matrix.New(n, cols)
					for i, x := range v.Data {
						size.Data[i] = math.Abs(x)
					}
					kernel.At(k, theta).TimesSymmetric(a, size, magnitude)
					var first matrix.Dense
					for _, cores := range []int{1, 3} {
						runtime.GOMAXPROCS(cores)
						got := normal(rng, n, cols)
						kernel.At(k, theta).TimesSingle(a, v, got)
						if cores == 1 {
							first = got
						}
						for i, w := range want.Data {
							if g := got.Data[i]; !(math.Abs(g-w) <= 5e-6*magnitude.Data[i]) || g != first.Data[i] {
								t.Fatalf("%s, d=%d, n=%d, %d columns, %d cores: element %d is %v, want %v", expr, d, n, cols, cores, i, g, w)
							}
						}
					}
				}
			}
		}
	}
}

func BenchmarkTimes(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 1))
	const n, d = 8000, 8
	x := normal(rng, n, d)
	for _, name := range []string{"se", "matern52"} {
		k, _ := kernel.Parse(name, d, true)
		theta := make([]float64, len(k.Params()))
		for _, cols := range []int{1, 16} {
			v, out := normal(rng, n, cols), matrix.New(n, cols)
			for what, times := range map[string]func(){
				"block":     func() { kernel.At(k, theta).Times(x, x, v, out) },
				"symmetric": func() { kernel.At(k, theta).TimesSymmetric(x, v, out) },
				"single":    func() { kernel.At(k, theta).TimesSingle(x, v, out) },
			} {
				b.Run(fmt.Sprintf("%s/%s/t=%d", name, what, cols), func(b *testing.B) {
					b.ReportAllocs()
					for b.Loop() {
						times()
					}
				})
			}
		}
	}
}

func TestPullOuterAgainstTheMatrix(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 2))
	for _, expr := range []string{"matern52", "se*periodic+linear"} {
		k := must.Get(kernel.Parse(expr, 3, true))(t)
		theta := make([]float64, len(k.Params()))
		for _, n := range []int{1, 64, 600} {
			a, h, w := normal(rng, n, 3), normal(rng, n, 7), normal(rng, 1, 7).Data
			bar, weighted := matrix.New(n, n), matrix.New(n, 7)
			weighted.CopyFrom(h)
			for i := range n {
				linalg.Mul(weighted.Row(i), w)
			}
			linalg.Gemm(false, true, 1, weighted, h, 0, bar)
			want, got := make([]float64, len(theta)), make([]float64, len(theta))
			kernel.At(k, theta).PullSymmetric(a, bar, want)
			kernel.At(k, theta).PullOuter(a, h, w, got)
			for i, v := range want {
				must.Hold(t, math.Abs(got[i]-v) <= 1e-11*float64(n*n),
					"%s, n=%d: derivative %d is %v, want %v", expr, n, i, got[i], v)
			}
		}
	}
}
