package neighbours_test

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"github.com/krigo-gp/krigo/internal/must"
	"github.com/krigo-gp/krigo/internal/neighbours"
	"github.com/krigo-gp/krigo/kernel"
	"github.com/krigo-gp/krigo/matrix"
)

// table returns rows on a coarse lattice, so that some distances coincide, and copies of rows.
func table(n, d int, seed uint64) matrix.Dense {
	rng := rand.New(rand.NewPCG(seed, 1))
	x := matrix.New(n, d)
	for i := range n {
		for j := range d {
			x.Row(i)[j] = rng.NormFloat64()
			if i%3 > 0 {
				x.Row(i)[j] = float64(rng.IntN(4))
			}
		}
		if i%7 == 6 {
			copy(x.Row(i), x.Row(rng.IntN(i)))
		}
	}
	return x
}

// numbers returns lo to hi − 1.
func numbers(lo, hi int) (n []int) {
	for i := lo; i < hi; i++ {
		n = append(n, i)
	}
	return n
}

// brute looks at all admitted rows and returns the m nearest to a point, nearest first.
func brute(x matrix.Dense, inverse, point []float64, m int, admit func(row int) bool) []int32 {
	dist := make([]float64, x.Rows)
	nearer := func(a, b int32) int { return cmp.Or(cmp.Compare(dist[a], dist[b]), cmp.Compare(a, b)) }
	var rows []int32
	for i := range x.Rows {
		for j, v := range x.Row(i) {
			dist[i] += (v - point[j]) * inverse[j] * (v - point[j]) * inverse[j]
		}
		row := int32(i)
		if !admit(i) || (len(rows) == m && nearer(rows[m-1], row) < 0) {
			continue
		}
		at, _ := slices.BinarySearchFunc(rows, row, nearer)
		rows = slices.Insert(rows, at, row)
		rows = rows[:min(m, len(rows))]
	}
	for len(rows) < m {
		rows = append(rows, neighbours.None)
	}
	return rows
}

// TestExact compares searches with looking at all rows. Lengthscales are powers of two, so distances on the lattice have
// no rounding, and some coincide.
func TestExact(t *testing.T) {
	for _, c := range []struct{ n, d, m int }{{1, 1, 1}, {2, 3, 5}, {63, 2, 7}, {64, 2, 64}, {65, 5, 8}, {1000, 1, 10},
		{1500, 3, 20}, {700, 12, 33}} {
		t.Run(fmt.Sprint(c), func(t *testing.T) {
			x, q := table(c.n, c.d, 3), table(50, c.d, 4)
			k := kernel.Matern32(c.d, true)
			theta := make([]float64, c.d+1)
			ix := neighbours.New(k, theta, x)
			inverse, _ := kernel.Metric(k, theta)
			must.Need(t, ix.Metric(), "no metric")
			place := make([]int32, c.n)
			for i, p := range rand.New(rand.NewPCG(5, 5)).Perm(c.n) {
				place[i] = int32(p)
			}
			nearest, others, earlier := make([]int32, q.Rows*c.m), make([]int32, c.n*c.m), make([]int32, c.n*c.m)
			ix.Nearest(q, c.m, nearest, nil)
			ix.Others(numbers(0, c.n), c.m, others)
			ix.Earlier(place, numbers(0, c.n), c.m, earlier)
			check := func(what string, i int, got, want []int32) {
				if !slices.Equal(got[i*c.m:(i+1)*c.m], want) {
					t.Fatalf("%s of row %d: %v, want %v", what, i, got[i*c.m:(i+1)*c.m], want)
				}
			}
			for i := range q.Rows {
				check("nearest", i, nearest, brute(x, inverse, q.Row(i), c.m, func(int) bool { return true }))
			}
			for i := range c.n {
				check("others", i, others, brute(x, inverse, x.Row(i), c.m, func(row int) bool { return row != i }))
				check("earlier", i, earlier, brute(x, inverse, x.Row(i), c.m, func(row int) bool { return place[row] < place[i] }))
			}

			defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(5))
			again := make([]int32, len(others))
			ix.Others(numbers(0, c.n), c.m, again)
			must.Hold(t, slices.Equal(again, others), "other neighbours on five cores")
			half := make([]int32, (c.n-c.n/2)*c.m)
			ix.Others(numbers(c.n/2, c.n), c.m, half)
			must.Hold(t, slices.Equal(half, others[c.n/2*c.m:]),
				"other neighbours in other company")
		})
	}
}

// plain hides all methods of a kernel except those of Kernel.
type plain struct{ kernel.Kernel }

// TestCorrelation: without a metric, the search uses the kernel's covariances. For a kernel with a metric they give
// the same neighbours.
func TestCorrelation(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 8))
	x := matrix.New(400, 3)
	for i := range x.Data {
		x.Data[i] = rng.NormFloat64()
	}
	k := kernel.Sum(kernel.Product(kernel.SE(3, true), kernel.ConstantKernel()), kernel.White())
	theta := []float64{0.3, -0.2, 1, 0.1, -0.4, -3}
	byDistance, byCovariance := neighbours.New(k, theta, x), neighbours.New(plain{k}, theta, x)
	must.Need(t, byDistance.Metric() && !byCovariance.Metric(), "metric?")
	a, b := make([]int32, 400*9), make([]int32, 400*9)
	byDistance.Others(numbers(0, 400), 9, a)
	byCovariance.Others(numbers(0, 400), 9, b)
	must.Hold(t, slices.Equal(a, b), "distances and covariances find different neighbours")

	// With a linear kernel the rows with the greatest |cos| are nearest.
	lin := neighbours.New(kernel.Linear{}, []float64{0}, x)
	lin.Others(numbers(0, 1), 9, a)
	best := make([]float64, x.Rows)
	cos := func(i, j int) float64 {
		var xy, xx, yy float64
		for t, v := range x.Row(i) {
			w := x.Row(j)[t]
			xy, xx, yy = xy+v*w, xx+v*v, yy+w*w
		}
		return xy * xy / (xx * yy)
	}
	var rows []int32
	for j := range best {
		best[j] = cos(0, j)
		if j > 0 {
			rows = append(rows, int32(j))
		}
	}
	slices.SortFunc(rows, func(i, j int32) int { return cmp.Compare(best[j], best[i]) })
	must.Hold(t, slices.Equal(a[:9], rows[:9]), "linear: %v, want %v", a[:9], rows[:9])
}

// TestBoxes: for a product of kernels with different metrics, the search by boxes finds the rows that a scan of all
// covariances finds, ties and copies included. They don't depend on the number of cores or on the rows in company.
func TestBoxes(t *testing.T) {
	for _, c := range []struct {
		expr    string
		n, d, m int
	}{{"matern32*matern12", 900, 1, 20}, {"se*(rq*constant)", 1000, 3, 64}, {"matern52*(se+white)", 700, 3, 7},
		{"matern32*matern12", 600, 30, 129}, {"se*se", 140, 2, 200}} {
		t.Run(fmt.Sprint(c), func(t *testing.T) {
			x, q := table(c.n, c.d, 3), table(50, c.d, 4)
			k := must.Get(kernel.Parse(c.expr, c.d, true))(t)
			theta := make([]float64, len(k.Params()))
			for i := range theta {
				theta[i] = 2 * rand.New(rand.NewPCG(5, uint64(i))).NormFloat64()
			}
			if c.d > 1 { // with one input, every product has a metric, and the keys are distances
				q.Row(7)[0] = 1e9 // all covariances with this row are 0
			}
			copy(q.Row(8), x.Row(8))
			boxes, scan := neighbours.New(k, theta, x), neighbours.New(plain{k}, theta, x)
			unit := make([]int, c.n)
			for i := range unit {
				unit[i] = i % 5
			}
			of := numbers(0, c.n)
			got, want := make([]int32, c.n*c.m), make([]int32, c.n*c.m)
			keys, wantKeys := make([]float64, c.n*c.m), make([]float64, c.n*c.m)
			boxes.Nearest(q, c.m, got, keys)
			scan.Nearest(q, c.m, want, wantKeys)
			must.Hold(t, slices.Equal(got, want), "nearest")
			must.Hold(t, boxes.Metric() == (c.d == 1) && (c.d <= 1 || slices.Equal(keys, wantKeys)),
				"keys")
			scan.Outside(unit, of, c.m, want)
			boxes.Outside(unit, of, c.m, got)
			must.Hold(t, slices.Equal(got, want), "outside")
			scan.Others(of, c.m, want)
			defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(5))
			boxes.Others(of, c.m, got)
			must.Hold(t, slices.Equal(got, want), "others")
			boxes.Others(of[c.n/2:], c.m, got)
			must.Hold(t, slices.Equal(got[:(c.n-c.n/2)*c.m], want[c.n/2*c.m:]),
				"others, in other company")
		})
	}
}

// TestMetric: a kernel has a metric if all its parts have the same metric.
func TestMetric(t *testing.T) {
	for expr, want := range map[string]bool{"se": true, "rq": true, "se+white": true, "matern12*constant": true,
		"linear":   false,
		"periodic": false, "se+linear": false, "white": false, "se*matern32": false} {
		k := must.Get(kernel.Parse(expr, 2, true))(t)
		theta := make([]float64, len(k.Params()))
		for i := range theta {
			theta[i] = float64(i * i)
		}
		if _, ok := kernel.Metric(k, theta); ok != want {
			t.Errorf("%s: %v", expr, ok)
		}
	}
	one, _ := kernel.Parse("se+matern32", 2, false)
	if _, ok := kernel.Metric(one, []float64{1, 2, 3, 4}); !ok {
		t.Error("one lengthscale each: they agree but for a factor")
	}
}

func BenchmarkOthers(b *testing.B) {
	for _, d := range []int{3, 8, 26} {
		b.Run(fmt.Sprint(d), func(b *testing.B) {
			rng := rand.New(rand.NewPCG(8, 8))
			x := matrix.New(40000, d)
			for i := range x.Data {
				x.Data[i] = rng.NormFloat64()
			}
			rows := make([]int32, x.Rows*32)
			theta := make([]float64, d+1)
			for b.Loop() {
				neighbours.New(kernel.SE(d, true), theta, x).Others(numbers(0, x.Rows), 32, rows)
			}
		})
	}
}

// TestJoint: with more than CorrelatedRows rows, a product's neighbours come from its joint metric. Most of them are
// the most correlated rows. With CorrelatedRows rows, the search uses correlations.
func TestJoint(t *testing.T) {
	const d, q = 4, 32
	rng := rand.New(rand.NewPCG(9, 9))
	x := matrix.New(neighbours.CorrelatedRows+1, d)
	for i := range x.Data {
		x.Data[i] = rng.NormFloat64()
	}
	for expr, floor := range map[string]float64{"se*se": 1, "matern32*matern12": 0.85} {
		k := must.Get(kernel.Parse(expr, d, true))(t)
		theta := make([]float64, len(k.Params()))
		for i := range theta {
			theta[i] = 2 * rng.NormFloat64()
		}
		joint := neighbours.New(k, theta, x)
		if !joint.Metric() || neighbours.New(k, theta, x.RowRange(0, neighbours.CorrelatedRows)).Metric() {
			t.Fatal("metric?")
		}
		cov := matrix.New(q, x.Rows)
		k.Cov(theta, x.RowRange(0, q), x, cov)
		for _, m := range []int{64, 512} {
			near, found := make([]int32, q*m), 0
			joint.Nearest(x.RowRange(0, q), m, near, nil)
			for i := range q {
				row := slices.Clone(cov.Row(i))
				slices.Sort(row)
				for _, other := range near[i*m : (i+1)*m] {
					if cov.At(i, int(other)) >= row[len(row)-m] {
						found++
					}
				}
			}
			if recall := float64(found) / (q * float64(m)); recall < floor {
				t.Errorf("%s: %.3f of the %d neighbours that are correlated most were found, %.2f are expected", expr, recall, m,
					floor)
			}
		}
	}
}

// TestSome: up to MostRows rows, Some finds the nearest rows. Of more rows it finds rows that are hardly farther, and
// the same rows on any number of cores.
func TestSome(t *testing.T) {
	const n, d, m = 2 * neighbours.MostRows, 16, 16
	rng := rand.New(rand.NewPCG(3, 1))
	all := matrix.New(n, d)
	for i := range all.Data {
		all.Data[i] = rng.NormFloat64()
	}
	k := must.Get(kernel.Parse("se", d, false))(t)
	of := numbers(0, 100)
	for rows, most := range map[int]float64{neighbours.MostRows: 1, n: 1.2} {
		ix := neighbours.New(k, []float64{0, 0}, all.RowRange(0, rows))
		exact, some, again := make([]int32, len(of)*m), make([]int32, len(of)*m), make([]int32, len(of)*m)
		ix.Others(of, m, exact)
		ix.Some().Others(of, m, some)
		old := runtime.GOMAXPROCS(5)
		ix.Some().Others(of, m, again)
		runtime.GOMAXPROCS(old)
		must.Hold(t, slices.Equal(some, again), "%d rows: other neighbours on other cores", rows)
		must.Be(t, slices.Equal(some, exact), most == 1, rows)
		farthest := func(near []int32) (sum float64) {
			for i := range of {
				for j, v := range all.Row(i) {
					off := v - all.At(int(near[i*m+m-1]), j)
					sum += off * off
				}
			}
			return sum
		}
		must.Hold(t, farthest(some) <= most*farthest(exact),
			"%d rows: %v times as far", rows, farthest(some)/farthest(exact))
	}
}
