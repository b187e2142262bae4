package main

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mathext/prng"

	"github.com/krigo-gp/krigo/internal/linalg"
)

// legacyNormals returns numpy.random.RandomState(seed).standard_normal: Marsaglia's polar
// method on 53-bit uniforms of the Mersenne twister.
func legacyNormals(seed uint32) func() float64 {
	mt := prng.NewMT19937()
	mt.Seed(uint64(seed))
	uniform := func() float64 {
		a, b := mt.Uint32()>>5, mt.Uint32()>>6
		return (float64(a)*(1<<26) + float64(b)) / (1 << 53)
	}
	var second float64
	var kept bool
	return func() float64 {
		if kept {
			kept = false
			return second
		}
		for {
			x, y := 2*uniform()-1, 2*uniform()-1
			if r := x*x + y*y; r < 1 && r != 0 {
				f := math.Sqrt(-2 * math.Log(r) / r)
				second, kept = f*x, true
				return f * y
			}
		}
	}
}

// kmeans2 returns what scipy.cluster.vq.kmeans2(x, m) returns after numpy.random.seed(seed), which gives the inducing
// inputs in the code of Reeb et al. 2018. It draws m centres from N(mean, cov) of the rows, and runs ten of Lloyd's
// iterations, in which a cluster without rows keeps its centre. It needs more rows than columns, and a covariance of
// full rank.
func kmeans2(x linalg.Matrix, m int, seed uint32) (linalg.Matrix, error) {
	n, d := x.Rows, x.Cols
	mean, cov := make([]float64, d), linalg.New(d, d)
	for i := range n {
		linalg.Axpy(1, x.Row(i), mean)
	}
	linalg.Scale(1/float64(n), mean)
	for i := range n {
		r := append([]float64(nil), x.Row(i)...)
		linalg.Axpy(-1, mean, r)
		linalg.Ger(1/float64(n-1), r, r, cov)
	}
	if err := linalg.Cholesky(cov); err != nil {
		return linalg.Matrix{}, fmt.Errorf("k-means from normal draws of the inputs: %w", err)
	}
	normal, z, e := legacyNormals(seed), linalg.New(m, d), make([]float64, d)
	for j := range m {
		for i := range e {
			e[i] = normal()
		}
		for i, c := range mean {
			z.Set(j, i, c+linalg.Dot(cov.Row(i)[:i+1], e[:i+1]))
		}
	}
	sums, count := linalg.New(m, d), make([]float64, m)
	for range 10 {
		sums.Zero()
		clear(count)
		for i := range n {
			best, least := 0, math.Inf(1)
			for j := range m {
				var s float64
				for t, v := range x.Row(i) {
					v -= z.At(j, t)
					s += v * v
				}
				if s < least {
					best, least = j, s
				}
			}
			linalg.Axpy(1, x.Row(i), sums.Row(best))
			count[best]++
		}
		for j, c := range count {
			if c > 0 {
				linalg.Scale(1/c, sums.Row(j))
				copy(z.Row(j), sums.Row(j))
			}
		}
	}
	return z, nil
}
