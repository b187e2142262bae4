package linalg

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/krigo-gp/krigo/internal/must"
)

// measure runs a benchmark for each n, and reports multiplications and additions per second: n³ times flopsPerN3 for
// each run.
func measure(b *testing.B, ns []int, flopsPerN3 float64, prepare func(n int) func()) {
	for _, n := range ns {
		f := prepare(n)
		b.Run(fmt.Sprintf("n=%d", n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				f()
			}
			report(b, flopsPerN3*float64(n)*float64(n)*float64(n))
		})
	}
}

func report(b *testing.B, flops float64) {
	b.ReportMetric(flops*float64(b.N)/b.Elapsed().Seconds()/1e9, "GFLOPS")
}

var benchmarkSizes = []int{8, 16, 24, 32, 48, 64, 96, 128, 200, 256, 300, 400, 514, 1024, 2048}

func BenchmarkGemm(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 1))
	for _, k := range []int{8, 64} {
		x, y, c := random(rng, 64, k), random(rng, 500, k), New(64, 500)
		b.Run(fmt.Sprintf("64x%dx500", k), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				Gemm(false, true, -2, x, y, 0, c)
			}
			report(b, float64(2*64*500*k))
		})
	}
	measure(b, benchmarkSizes, 2, func(n int) func() {
		x, y, c := random(rng, n, n), random(rng, n, n), New(n, n)
		return func() { Gemm(false, false, 1, x, y, 0, c) }
	})
}

func BenchmarkSyrkLower(b *testing.B) {
	measure(b, benchmarkSizes, 1, func(n int) func() {
		x, c := random(rand.New(rand.NewPCG(1, 1)), n, n), New(n, n)
		return func() { SyrkLower(false, 1, x, 0, c) }
	})
}

func BenchmarkTrsm(bench *testing.B) {
	measure(bench, benchmarkSizes, 1, func(n int) func() {
		rng := rand.New(rand.NewPCG(1, 1))
		l, x, b := spd(rng, n), New(n, n), random(rng, n, n)
		must.Do(bench, Cholesky(l))
		return func() {
			x.CopyFrom(b)
			Trsm(false, true, l, x)
		}
	})
}

func BenchmarkCholesky(b *testing.B) {
	measure(b, benchmarkSizes, 1./3, func(n int) func() {
		a, l := spd(rand.New(rand.NewPCG(1, 1)), n), New(n, n)
		return func() {
			l.CopyFrom(a)
			must.Do(b, Cholesky(l))
		}
	})
}

func BenchmarkCholeskyInverse(b *testing.B) {
	measure(b, benchmarkSizes, 2./3, func(n int) func() {
		l, c := spd(rand.New(rand.NewPCG(1, 1)), n), New(n, n)
		must.Do(b, Cholesky(l))
		return func() { CholeskyInverse(l, c) }
	})
}

func BenchmarkCholeskyBundle(b *testing.B) {
	for _, n := range []int{16, 32, 64, 128, 256} {
		a, l := BorrowBundle(n+2, n+1), BorrowBundle(n+2, n+1)
		rng := rand.New(rand.NewPCG(1, 1))
		for i := range a.Data {
			a.Data[i] = rng.Float64()
		}
		for i := range n {
			for l := range a.At(i, i) {
				a.At(i, i)[l] += float64(n)
			}
		}
		b.Run(fmt.Sprintf("n=%d", n), func(b *testing.B) {
			for b.Loop() {
				copy(l.Data, a.Data)
				must.Do(b, CholeskyBundle(l, n))
			}
			report(b, Abreast/3.*float64(n)*float64(n)*float64(n))
		})
		b.Run(fmt.Sprintf("substitute n=%d", n), func(b *testing.B) {
			copy(l.Data, a.Data)
			must.Do(b, CholeskyBundle(l, n))
			x := append([]float64(nil), l.Data[n*l.Cols*Abreast:]...)
			for b.Loop() {
				copy(l.Data[n*l.Cols*Abreast:], x)
				SubstituteBundle(l, n)
			}
			report(b, Abreast*4*float64(n)*float64(n)/2)
		})
	}
}
