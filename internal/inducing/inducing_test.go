package inducing

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"strconv"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/combin"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/krigo-gp/krigo/internal/linalg"
	"github.com/krigo-gp/krigo/internal/must"
	"github.com/krigo-gp/krigo/iterative"
	"github.com/krigo-gp/krigo/kernel"
	"github.com/krigo-gp/krigo/matrix"
)

func source(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 0)) }

func gaussian(n, d int, seed uint64) matrix.Dense {
	rng, x := source(seed), matrix.New(n, d)
	for i := range x.Data {
		x.Data[i] = rng.NormFloat64()
	}
	return x
}

// repeated returns x with each row twice.
func repeated(x matrix.Dense) matrix.Dense {
	return matrix.Of(2*x.Rows, x.Cols, slices.Concat(x.Data, x.Data))
}

// distinct counts the different rows of z.
func distinct(z matrix.Dense) int {
	seen := map[string]bool{}
	for i := range z.Rows {
		seen[fmt.Sprint(z.Row(i))] = true
	}
	return len(seen)
}

// choosers returns all ways to choose, as functions of X, M and a seed.
func choosers(k kernel.Kernel, theta []float64) map[string]func(x matrix.Dense, m int, seed uint64) (matrix.Dense,
	error) {
	return map[string]func(x matrix.Dense, m int, seed uint64) (matrix.Dense, error){
		"random": func(x matrix.Dense, m int, seed uint64) (matrix.Dense, error) {
			s, err := Random(x, m, source(seed))
			return s.Z, err
		},
		"kmeans": func(x matrix.Dense, m int, seed uint64) (matrix.Dense, error) { return KMeans(x, m, source(seed)) },
		"greedy": func(x matrix.Dense, m int, _ uint64) (matrix.Dense, error) {
			a, err := Greedy(k, theta, x, m)
			return a.Z, err
		},
		"kdpp": func(x matrix.Dense, m int, seed uint64) (matrix.Dense, error) {
			s, err := KDPP(k, theta, x, m, source(seed))
			return s.Z, err
		},
		"chain": func(x matrix.Dense, m int, seed uint64) (matrix.Dense, error) {
			rows, err := swapped(k, theta, x, m, 1e-10, source(seed))
			return take(x, rows), err
		},
	}
}

func TestChoosers(t *testing.T) {
	k, theta := kernel.Matern52(3, false), []float64{math.Log(1), 0.3}
	for name, choose := range choosers(k, theta) {
		t.Run(name, func(t *testing.T) {
			x := gaussian(200, 3, 1)
			t.Run("same on any number of cores", func(t *testing.T) {
				long := gaussian(2500, 3, 2)
				if name == "kdpp" {
					long = x
				}
				defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
				one := must.Get(choose(long, 60, 5))(t)
				for _, cores := range []int{1, 3, 8} {
					runtime.GOMAXPROCS(cores)
					if z, err := choose(long, 60, 5); err != nil || !slices.Equal(z.Data, one.Data) {
						t.Errorf("%d cores: other inputs (%v)", cores, err)
					}
				}
			})
			t.Run("another seed", func(t *testing.T) {
				a, _ := choose(x, 20, 1)
				b, _ := choose(x, 20, 2)
				must.Be(t, slices.Equal(a.Data, b.Data), (name == "greedy"), "same inputs")
			})
			t.Run("all rows", func(t *testing.T) {
				z, err := choose(x, 200, 1)
				must.Need(t, err == nil && distinct(z) == 200, "%d inputs, %v", distinct(z), err)
				for i := range z.Rows {
					nearest := math.Inf(1)
					for j := range x.Rows {
						nearest = min(nearest, squaredDistance(z.Row(i), x.Row(j)))
					}
					must.Need(t, nearest <= 1e-28, "input %d is no row: %g away", i, nearest)
				}
			})
			t.Run("repeated rows", func(t *testing.T) {
				for m, want := range map[int]int{30: 30, 200: 200, 250: 200} {
					z := must.Get(choose(repeated(x), m, 3))(t)
					if got := distinct(z); got != want && name != "kmeans" || got < want {
						t.Errorf("M = %d: %d distinct of %d inputs, want %d", m, got, z.Rows, want)
					}
					if rows := z.Rows; rows != m && !(name == "greedy" && rows == want) {
						t.Errorf("M = %d: %d inputs", m, rows)
					}
				}
			})
			t.Run("errors", func(t *testing.T) {
				for m, want := range map[int]string{201: "201 inducing inputs from 200 rows", 0: "at least one"} {
					must.Refuse(choose(x, m, 1))(t, want, fmt.Sprintf("M = %d", m))
				}
				bad := gaussian(5, 3, 1)
				bad.Data[7] = math.NaN()
				must.Refuse(choose(bad, 2, 1))(t, "", "an input that isn't a number passed")
			})
		})
	}
}

func TestRandomRows(t *testing.T) {
	x := matrix.Of(4, 1, []float64{0, math.Copysign(0, -1), 1, 2})
	for seed := range uint64(20) {
		s, err := Random(x, 3, source(seed))
		if err != nil || distinct(take(x, s.Rows)) != 3 || slices.Contains(s.Rows, 0) && slices.Contains(s.Rows, 1) {
			t.Errorf("rows %v, %v", s.Rows, err)
		}
	}
}

func inertia(x, z matrix.Dense) float64 {
	var s float64
	for i := range x.Rows {
		d := math.Inf(1)
		for j := range z.Rows {
			d = min(d, squaredDistance(x.Row(i), z.Row(j)))
		}
		s += d
	}
	return s
}

func TestKMeansFindsClusters(t *testing.T) {
	const clusters, each = 12, 40
	centres, noise := gaussian(clusters, 4, 1), gaussian(clusters*each, 4, 2)
	linalg.Scale(0.01, noise.Data)
	mean := matrix.New(clusters, 4)
	for i := range noise.Rows {
		linalg.Axpy(1, centres.Row(i%clusters), noise.Row(i))
		linalg.Axpy(1./each, noise.Row(i), mean.Row(i%clusters))
	}
	for seed := range uint64(10) {
		z := must.Get(KMeans(noise, clusters, source(seed)))(t)
		if d := inertia(mean, z); d > 1e-24 {
			t.Errorf("seed %d: centres are off by %g", seed, math.Sqrt(d))
		}
	}
}

func TestKMeansInertia(t *testing.T) {
	data := must.Get(os.ReadFile("testdata/kmeans.json"))(t)
	var g struct {
		X       [][]float64
		Inertia map[string]float64
	}
	must.Do(t, json.Unmarshal(data, &g))
	x := matrix.Of(len(g.X), len(g.X[0]), slices.Concat(g.X...))
	for clusters, best := range g.Inertia {
		m, _ := strconv.Atoi(clusters)
		least := math.Inf(1)
		for seed := range uint64(10) {
			z := must.Get(KMeans(x, m, source(seed)))(t)
			got := inertia(x, z)
			least = min(least, got)
			if got < best*(1-1e-9) || got > 1.25*best { // scikit-learn's own single starts reach 1.22
				t.Errorf("%d clusters, seed %d: inertia %.4f, scikit-learn's best %.4f", m, seed, got, best)
			}
		}
		t.Logf("%d clusters: %.4f of the best", m, least/best)
		must.Hold(t, least <= 1.05*best,
			"%d clusters: best inertia %.4f, scikit-learn's %.4f", m, least, best)
	}
}

// TestKMeansEmptyCluster starts two centres. Only one can keep rows.
func TestKMeansEmptyCluster(t *testing.T) {
	x := matrix.Of(5, 1, []float64{0, 1, 10, 11, 50})
	z := matrix.Of(3, 1, []float64{0, 0, 10})
	lloyd(x, z)
	slices.Sort(z.Data)
	must.Hold(t, slices.Equal(z.Data, []float64{0.5, 10.5, 50}), "centres %v", z.Data)
}

func covariance(k kernel.Kernel, theta []float64, x matrix.Dense) matrix.Dense {
	c := matrix.New(x.Rows, x.Rows)
	kernel.At(k, theta).FillSymmetric(x, c)
	return c
}

// naiveGreedy computes the Schur complement anew for every chosen row.
func naiveGreedy(cov matrix.Dense, m int) (rows []int, left []float64) {
	n := cov.Rows
	s := matrix.New(n, n)
	s.CopyFrom(cov)
	for range m {
		best := 0
		for i := range n {
			if s.At(i, i) > s.At(best, best) {
				best = i
			}
		}
		p, column := s.At(best, best), slices.Clone(s.Row(best))
		linalg.Ger(-1/p, column, column, s)
		rows = append(rows, best)
		var tr float64
		for i := range n {
			tr += s.At(i, i)
		}
		left = append(left, tr)
	}
	return rows, left
}

func TestGreedy(t *testing.T) {
	x := gaussian(120, 2, 3)
	for name, k := range map[string]kernel.Kernel{
		"se": kernel.SE(2, true), "matern12": kernel.Matern12(2, true),
		"sum": kernel.Sum(kernel.SE(2, true), kernel.Linear{}),
	} {
		t.Run(name, func(t *testing.T) {
			theta := []float64{-1.5, -1, 0.7, -1}[:len(k.Params())]
			cov := covariance(k, theta, x)
			rows, left := naiveGreedy(cov, 40)
			previous := math.Inf(1)
			for m := 1; m <= 40; m++ {
				a := must.Get(Greedy(k, theta, x, m))(t)
				must.Hold(t, m != 40 || slices.Equal(a.Rows, rows),
					"rows %v, want %v", a.Rows, rows)
				if math.Abs(a.Trace-left[m-1]) > 1e-9*float64(x.Rows) || a.Trace >= previous {
					t.Errorf("M = %d: trace %g, want %g, before it %g", m, a.Trace, left[m-1], previous)
				}
				previous = a.Trace
			}

			var full mat.PivotedCholesky
			full.Factorize(mat.NewSymDense(x.Rows, cov.Data), 1e-10)
			a := must.Get(Greedy(k, theta, x, x.Rows))(t)
			must.Hold(t, a.Share <= negligible, "M = N: a share of %g is left", a.Share)
			if name == "matern12" { // the covariance matrix is well conditioned, so its determinant is known
				l := covariance(k, theta, a.Z)
				if err := linalg.Cholesky(l); err != nil || len(a.Rows) != x.Rows {
					t.Fatal(len(a.Rows), err)
				}
				c := covariance(k, theta, x)
				must.Do(t, linalg.Cholesky(c))
				if got, want := linalg.LogDet(l), linalg.LogDet(c); math.Abs(got-want) > 1e-8*math.Abs(want) {
					t.Errorf("ln det %v, want %v", got, want)
				}
			}
			if want := full.ColumnPivots(nil)[:30]; !slices.Equal(a.Rows[:30], want) {
				t.Errorf("rows %v, LAPACK's %v", a.Rows[:30], want)
			}
		})
	}
}

// TestGreedyAhead compares the search among candidates with a search that updates all rows after each choice.
func TestGreedyAhead(t *testing.T) {
	const n, m = 3000, 200
	x, k, theta := gaussian(n, 3, 13), kernel.Sum(kernel.SE(3, false), kernel.Linear{}), []float64{-0.5, 0, -2}
	diag := make([]float64, n)
	k.Diag(theta, x, diag)
	f := iterative.NewPartialCholesky(diag, m)
	var left []float64
	for range m {
		i := floats.MaxIdx(f.Left)
		f.Add(i, func(r0, r1 int, column matrix.Dense) { k.Cov(theta, x.RowRange(i, i+1), x.RowRange(r0, r1), column) })
		left = append(left, linalg.Sum(f.Left))
	}
	for _, m := range []int{1, 63, 64, 65, m} {
		a, err := Greedy(k, theta, x, m)
		if err != nil || !slices.Equal(a.Rows, f.Rows[:m]) || math.Abs(a.Trace/left[m-1]-1) > 1e-9 {
			t.Errorf("M = %d: trace %g, want %g; rows %v, want %v; %v", m, a.Trace, left[m-1], a.Rows, f.Rows[:m], err)
		}
		b, _, err := AutoSize(k, theta, x, 2*m, a.Share*(1+1e-9))
		must.Hold(t, err == nil && len(b.Rows) == m,
			"%d rows for what %d reach, %v", len(b.Rows), m, err)
	}
}

func TestGreedyOnRepeatedRows(t *testing.T) {
	for name, k := range map[string]kernel.Kernel{"matern12": kernel.Matern12(3, false),
		"white": kernel.Sum(kernel.SE(3, false), kernel.White())} {
		x := repeated(gaussian(50, 3, 4))
		a, err := Greedy(k, []float64{0, 0.5, -1}[:len(k.Params())], x, 100)
		if err != nil || len(a.Rows) != 50 || distinct(a.Z) != 50 || a.Trace != 0 {
			t.Errorf("%s: %d rows, %d of them distinct, trace %g, %v", name, len(a.Rows), distinct(a.Z), a.Trace, err)
		}
	}
}

// TestGreedyOnASubset compares Greedy's estimate of the unexplained variance with the true unexplained variance.
func TestGreedyOnASubset(t *testing.T) {
	const n, m = 4000, 60
	x, k, theta := gaussian(n, 4, 5), kernel.SE(4, false), []float64{1, 0.5}
	for rows, off := range map[int]float64{n: 1e-9, 2000: 0.1, 4 * m: 0.4} {
		a, err := greedy(k, theta, x, m, negligible, 8*m*rows)
		if err != nil || len(a.Rows) != m || !slices.Equal(take(x, a.Rows).Data, a.Z.Data) {
			t.Fatal(a.Rows, err)
		}
		all := n * math.Exp(0.5)
		left := all - explained(k, theta, x, a.Z)
		t.Logf("%d rows: %.4g left, said to be %.4g", rows, left, a.Trace)
		if math.Abs(a.Trace/left-1) > off || math.Abs(a.Share*all/a.Trace-1) > 1e-12 {
			t.Errorf("%d rows: %g left, said to be %g; share %g", rows, left, a.Trace, a.Share)
		}
	}
}

// explained returns tr Q = tr(K_XZ K_ZZ⁻¹K_ZX).
func explained(k kernel.Kernel, theta []float64, x, z matrix.Dense) float64 {
	l, v := covariance(k, theta, z), matrix.New(z.Rows, x.Rows)
	if err := linalg.Cholesky(l); err != nil {
		panic(err)
	}
	kernel.At(k, theta).Fill(z, x, v)
	linalg.Trsm(true, false, l, v)
	return linalg.Dot(v.Data, v.Data)
}

func TestAutoSize(t *testing.T) {
	x, k, theta := gaussian(500, 2, 6), kernel.SE(2, false), []float64{-1, 0}
	a, capped, err := AutoSize(k, theta, x, 400, DefaultTolerance)
	if err != nil || capped || a.Share > DefaultTolerance {
		t.Fatalf("%d rows, share %g, capped %v, %v", len(a.Rows), a.Share, capped, err)
	}
	less, err := Greedy(k, theta, x, len(a.Rows)-1)
	if err != nil || less.Share <= DefaultTolerance || !slices.Equal(less.Rows, a.Rows[:len(less.Rows)]) {
		t.Errorf("%d rows are enough: share %g, %v", len(less.Rows), less.Share, err)
	}
	if b, capped, err := AutoSize(k, theta, x, 5, DefaultTolerance); err != nil || !capped || len(b.Rows) != 5 {
		t.Errorf("%d rows, capped %v, %v", len(b.Rows), capped, err)
	}
	if b, capped, err := AutoSize(k, theta, x, 400, 0); err != nil || capped {
		t.Errorf("tolerance 0: %d rows, share %g, capped %v, %v", len(b.Rows), b.Share, capped, err)
	}
	if _, _, err := AutoSize(k, theta, x, 5, 1); err == nil {
		t.Error("a tolerance of 1 passed")
	}
}

// TestKDPPDistribution compares both samplers with the determinants of all subsets.
func TestKDPPDistribution(t *testing.T) {
	const n, draws = 6, 4000
	x, k, theta := gaussian(n, 2, 7), kernel.SE(2, false), []float64{math.Log(2), 0.4}
	cov := covariance(k, theta, x)
	for _, m := range []int{2, 3} {
		subsets := combin.Combinations(n, m)
		p, total := map[string]float64{}, 0.0
		for _, s := range subsets {
			sub := mat.NewDense(m, m, nil)
			for i, a := range s {
				for j, b := range s {
					sub.Set(i, j, cov.At(a, b))
				}
			}
			p[fmt.Sprint(s)] = mat.Det(sub)
			total += mat.Det(sub)
		}
		for name, sample := range map[string]func(rng *rand.Rand) ([]int, error){
			"exact": func(rng *rand.Rand) ([]int, error) { return decomposed(k, theta, x, m, 0, rng) },
			"chain": func(rng *rand.Rand) ([]int, error) {
				rows := []int{0, 1, 2}[:m]
				return rows, swap(k, theta, x, rows, 0, 30, rng)
			},
		} {
			rng, count := source(8), map[string]float64{}
			for range draws {
				rows := must.Get(sample(rng))(t)
				slices.Sort(rows)
				count[fmt.Sprint(rows)]++
			}
			var chi2 float64
			for s, v := range p {
				want := draws * v / total
				chi2 += (count[s] - want) * (count[s] - want) / want
			}
			if limit := (distuv.ChiSquared{K: float64(len(p) - 1)}).Quantile(0.999); chi2 > limit || len(count) > len(p) {
				t.Errorf("%s, M = %d: χ² = %.1f on %d subsets, 99.9 %% are under %.1f", name, m, chi2, len(p), limit)
			}
		}
	}
}

// TestKDPPTrace checks the theorem behind the choice of M (Belabbas & Wolfe 2009): E tr(K − Q) = (M+1)
// e_{M+1}(λ)/e_M(λ).
func TestKDPPTrace(t *testing.T) {
	const n, m, draws = 40, 5, 2000
	x, k, theta := gaussian(n, 2, 9), kernel.SE(2, false), []float64{0, 0}
	cov := covariance(k, theta, x)
	var eigen mat.EigenSym
	eigen.Factorize(mat.NewSymDense(n, slices.Clone(cov.Data)), false)
	e := [m + 2]float64{1}
	for _, l := range eigen.Values(nil) {
		for i := m + 1; i > 0; i-- {
			e[i] += l * e[i-1]
		}
	}
	want := (m + 1) * e[m+1] / e[m]
	var sum, squares float64
	rng := source(10)
	for range draws {
		rows := must.Get(decomposed(k, theta, x, m, 0, rng))(t)
		left := n - explained(k, theta, x, take(x, rows))
		sum, squares = sum+left, squares+left*left
	}
	mean := sum / draws
	if se := math.Sqrt((squares/draws - mean*mean) / draws); math.Abs(mean-want) > 4*se {
		t.Errorf("mean trace %.4f ± %.4f, want %.4f", mean, se, want)
	}
}

// TestSwapKeepsTheInverse runs a chain with a matrix that can just be factored.
func TestSwapKeepsTheInverse(t *testing.T) {
	x, k, theta := gaussian(300, 1, 11), kernel.SE(1, false), []float64{0, 0}
	rows := must.Get(swapped(k, theta, x, 30, 1e-10, source(12)))(t)
	slices.Sort(rows)
	must.Hold(t, len(slices.Compact(rows)) == 30, "rows %v", rows)
}
