package posterior_test

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"github.com/krigo-gp/krigo/internal/must"
	"github.com/krigo-gp/krigo/kernel"
	"github.com/krigo-gp/krigo/matrix"
	"github.com/krigo-gp/krigo/posterior"
)

// BenchmarkNearest predicts 1,000 rows, and a single row, from 512 rows each of n. The inputs come from krigo
// generate, and the lengthscales from a fit of the same table.
func BenchmarkNearest(b *testing.B) {
	for _, n := range []int{10_000, 100_000, 1_000_000} {
		rng := rand.New(rand.NewPCG(5, 5))
		x, y := matrix.New(n, 8), make([]float64, n)
		for i := range x.Data {
			x.Data[i] = rng.NormFloat64()
		}
		theta := make([]float64, 9)
		for i, l := range []float64{2, 2.5, 3, 3.5, 4, 5, 6, 8} {
			theta[i] = 2 * math.Log(l)
		}
		q := posterior.NewNearest(posterior.Given{Kernel: kernel.Matern32(8, true), Theta: theta, Mean: kernel.ZeroMean{},
			Noise: 0.1, X: x, Y: y}, 512)
		points, mean, variance := matrix.New(1000, 8), make([]float64, 1000), make([]float64, 1000)
		for i := range points.Data {
			points.Data[i] = rng.NormFloat64()
		}
		for _, rows := range []int{1000, 1} {
			q.Latent(points.RowRange(0, 1), mean[:1], nil) // this call makes the index
			b.Run(fmt.Sprintf("%d from %d", rows, n), func(b *testing.B) {
				for b.Loop() {
					q.Latent(points.RowRange(0, rows), mean[:rows], variance[:rows])
				}
				b.ReportMetric(float64(rows*b.N)/b.Elapsed().Seconds(), "rows/s")
			})
		}
	}
}

// TestNearestOverflow: if the covariances of the rows overflow, the prediction is NaN and not some earlier number in
// memory.
func TestNearestOverflow(t *testing.T) {
	k := must.Get(kernel.Parse("linear", 1, false))(t)
	x := matrix.Of(2, 1, []float64{0.5, 1e3})
	p := posterior.NewNearest(posterior.Given{Kernel: k, Theta: []float64{709}, Mean: kernel.ZeroMean{}, Noise: 0.1, X: x,
		Y: []float64{1, 2}}, 2)
	mean, variance := make([]float64, 1), make([]float64, 1)
	p.Latent(matrix.Of(1, 1, []float64{0.5}), mean, variance)
	must.Hold(t, math.IsNaN(mean[0]), "mean %v", mean[0])
}

// TestNearestIsConditional: with copies among the rows, and rows at the same distance, each prediction is the exact
// GP's on the most correlated rows, with the first of equal rows. It has the same bits in any batch, on any number of
// cores, and with an old or a new index.
func TestNearestIsConditional(t *testing.T) {
	const n, d, m = 900, 3, 20
	rng := rand.New(rand.NewPCG(7, 7))
	x, y := matrix.New(n, d), make([]float64, n)
	for i := range x.Data {
		x.Data[i] = float64(rng.IntN(12)) / 2 // a lattice
	}
	for i := range n {
		if i%5 == 4 {
			copy(x.Row(i), x.Row(rng.IntN(i)))
		}
		y[i] = math.Sin(x.At(i, 0)) + x.At(i, 1) + 0.1*rng.NormFloat64()
	}
	at := matrix.New(70, d)
	for i := range at.Data {
		at.Data[i] = float64(rng.IntN(12)) / 2
	}
	for _, expr := range []string{"matern32", "matern32*matern12", "se+white", "linear+se"} {
		k := must.Get(kernel.Parse(expr, d, true))(t)
		theta := make([]float64, len(k.Params()))
		q := posterior.NewNearest(posterior.Given{Kernel: k, Theta: theta, Mean: kernel.LinearMean{}, Beta: []float64{0.3},
			Noise: 0.1, X: x, Y: y}, m)
		mean, variance := make([]float64, at.Rows), make([]float64, at.Rows)
		q.Latent(at, mean, variance)

		cov, all := matrix.New(at.Rows, n), make([]float64, n)
		k.Cov(theta, at, x, cov)
		k.Diag(theta, x, all)
		for i := range at.Rows {
			rows := make([]int, n)
			key := func(row int) float64 {
				if expr == "linear+se" {
					return -(cov.At(i, row) * cov.At(i, row) / all[row])
				}
				var d2 float64 // on the lattice it has no rounding, so equal distances are equal
				for j, v := range x.Row(row) {
					d2 += (v - at.At(i, j)) * (v - at.At(i, j))
				}
				return d2
			}
			for row := range rows {
				rows[row] = row
			}
			slices.SortStableFunc(rows, func(a, b int) int { return cmp.Compare(key(a), key(b)) })
			nearX, nearY := matrix.New(m, d), make([]float64, m)
			for j, row := range slices.Sorted(slices.Values(rows[:m])) {
				copy(nearX.Row(j), x.Row(row))
				nearY[j] = y[row]
			}
			exact := must.Get(posterior.NewExact(posterior.Given{Kernel: k, Theta: theta, Mean: kernel.LinearMean{},
				Beta: []float64{0.3}, Noise: 0.1, X: nearX, Y: nearY}))(t)
			wantMean, wantVariance := make([]float64, 1), make([]float64, 1)
			exact.Latent(at.RowRange(i, i+1), wantMean, wantVariance)
			if math.Abs(mean[i]-wantMean[0]) > 1e-11 || math.Abs(variance[i]-wantVariance[0]) > 1e-11 {
				t.Fatalf("%s, row %d: %v ± %v, want %v ± %v", expr, i, mean[i], variance[i], wantMean[0], wantVariance[0])
			}
		}

		same := func(what string, q *posterior.Posterior, i0, i1 int) {
			m, v := make([]float64, i1-i0), make([]float64, i1-i0)
			q.Latent(at.RowRange(i0, i1), m, v)
			if !slices.Equal(m, mean[i0:i1]) || !slices.Equal(v, variance[i0:i1]) {
				t.Errorf("%s: %s predicts otherwise", expr, what)
			}
		}
		same("a row alone", q, 11, 12)
		same("a part", q, 5, 60)
		again := must.Get(q.Refactored())(t)
		same("another index", again, 0, at.Rows)
		procs := runtime.GOMAXPROCS(5)
		same("five cores", q, 0, at.Rows)
		runtime.GOMAXPROCS(procs)
	}
}

// TestNearestOfManyRows predicts more rows than are searched for at a time.
func TestNearestOfManyRows(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 7))
	x, y := matrix.New(300, 1), make([]float64, 300)
	for i := range y {
		x.Data[i], y[i] = rng.NormFloat64(), rng.NormFloat64()
	}
	q := posterior.NewNearest(posterior.Given{Kernel: kernel.SE(1, true), Theta: make([]float64, 2),
		Mean: kernel.ZeroMean{}, Noise: 0.1, X: x, Y: y}, 3)
	at := matrix.New(1<<14+40, 1)
	for i := range at.Data {
		at.Data[i] = rng.NormFloat64()
	}
	mean, alone := make([]float64, at.Rows), make([]float64, 1)
	q.Latent(at, mean, nil)
	for _, i := range []int{0, 1<<14 - 1, 1 << 14, 1<<14 + 39} {
		if q.Latent(at.RowRange(i, i+1), alone, nil); alone[0] != mean[i] {
			t.Errorf("row %d: %v, alone %v", i, mean[i], alone[0])
		}
	}
}

// TestFewer: under a Markov kernel with hardly any noise the nearest rows say everything, so a quarter is enough. Under
// much noise all rows are needed. A small support keeps all rows.
func TestFewer(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 7))
	const most = 16
	for _, c := range []struct {
		rows, want int
		noise      float64
	}{{8000, most / 4, 1e-6}, {8000, most, 1}, {7999, most, 1e-6}} {
		x, y := matrix.New(c.rows, 1), make([]float64, c.rows)
		for i := range y {
			x.Data[i] = float64(i) / 100
			y[i] = math.Sin(x.Data[i]) + math.Sqrt(c.noise)*rng.NormFloat64()
		}
		q := posterior.NewNearest(posterior.Given{Kernel: kernel.Matern12(1, true), Theta: make([]float64, 2),
			Mean: kernel.ZeroMean{}, Noise: c.noise, X: x, Y: y}, most)
		_, got := q.Fewer().Arrays()
		must.Hold(t, got == c.want,
			"noise %v, %d rows: %d of %d nearest rows, want %d", c.noise, c.rows, got, most, c.want)
	}
}
