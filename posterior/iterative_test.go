package posterior_test

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/krigo-gp/krigo/internal/must"
	"github.com/krigo-gp/krigo/iterative"
	"github.com/krigo-gp/krigo/kernel"
	"github.com/krigo-gp/krigo/matrix"
	"github.com/krigo-gp/krigo/posterior"
)

// TestIterativeAgainstCholesky compares means and variances with the factored posterior's.
func TestIterativeAgainstCholesky(t *testing.T) {
	const n, d = 500, 2
	rng := rand.New(rand.NewPCG(4, 6))
	x, y, xs := matrix.New(n, d), make([]float64, n), matrix.New(40, d)
	for i := range x.Data {
		x.Data[i] = 2 * rng.NormFloat64()
	}
	x.RowRange(n-20, n).CopyFrom(x.RowRange(0, 20))
	for i := range y {
		y[i] = 1 + math.Sin(x.At(i, 0)) + 0.1*rng.NormFloat64()
	}
	for i := range xs.Data {
		xs.Data[i] = 2 * rng.NormFloat64()
	}
	for _, c := range []struct {
		kernel string
		noise  float64
	}{{"se", 0.01}, {"se", 1e-6}, {"matern32", 0.01}, {"rq+linear", 0.1}, {"matern12*periodic+white", 0.1}} {
		k := must.Get(kernel.Parse(c.kernel, d, true))(t)
		theta, mean, beta := make([]float64, len(k.Params())), kernel.LinearMean{}, []float64{0.5}
		exact := must.Get(posterior.NewExact(posterior.Given{Kernel: k, Theta: theta, Mean: mean, Beta: beta, Noise: c.noise,
			X: x, Y: y}))(t)
		o := posterior.Iterative{Tolerance: 1e-8, Rank: 300}
		if c.noise < 1e-3 {
			o.Tolerance = 1e-6
		}
		p, err := posterior.NewIterative(context.Background(), posterior.Given{Kernel: k, Theta: theta, Mean: mean,
			Beta: beta, Noise: c.noise, X: x, Y: y}, 100, o)
		if err != nil {
			t.Errorf("%s: %v", c.kernel, err)
			continue
		}
		wantMean, wantVar := make([]float64, 40), make([]float64, 40)
		gotMean, gotVar, solved := make([]float64, 40), make([]float64, 40), make([]float64, 40)
		exact.Latent(xs, wantMean, wantVar)
		p.Latent(xs, gotMean, gotVar)
		must.Do(t, p.SolvedVariance(context.Background(), xs, solved, o))
		for i, m := range wantMean {
			must.Hold(t, math.Abs(gotMean[i]-m) <= 1e-4,
				"%s, noise %g: mean %v, want %v", c.kernel, c.noise, gotMean[i], m)
			// Variances by the nearest rows are too large, never too small. Variances by solves are exact.
			if !(gotVar[i] >= wantVar[i]-1e-7) || !(math.Abs(solved[i]-wantVar[i]) <= 1e-6) {
				t.Errorf("%s, noise %g: variance %v by the nearest rows and %v by a solve, want %v", c.kernel, c.noise, gotVar[i],
					solved[i], wantVar[i])
			}
		}
		average, largest, err := p.Excess(context.Background(), xs, o)
		if err != nil || !(average >= 1-1e-4) || !(largest >= average) || !(average < 1.5) {
			t.Errorf("%s, noise %g: variances too large by factors of %v, at most %v; %v", c.kernel, c.noise, average, largest,
				err)
		}
		alone, v := make([]float64, 1), make([]float64, 1)
		p.Latent(xs.RowRange(7, 8), alone, v)
		if alone[0] != gotMean[7] || v[0] != gotVar[7] {
			t.Errorf("%s: a row alone gives %v, %v, among others %v, %v", c.kernel, alone[0], v[0], gotMean[7], gotVar[7])
		}
	}
}

// TestIterativeOfManyRows compares predictions with the factored posterior's.
func TestIterativeOfManyRows(t *testing.T) {
	if testing.Short() {
		t.Skip("factors a matrix of 2,500 rows")
	}
	ctx := context.Background()
	rng := rand.New(rand.NewPCG(14, 6))
	x, y := rowsOf(rng, 2500, 2)
	x.RowRange(2400, 2500).CopyFrom(x.RowRange(0, 100))
	xs, _ := rowsOf(rng, 100, 2)
	k, theta := kernel.Matern52(2, true), []float64{-1, -0.5, 0.3}
	exact := must.Get(posterior.NewExact(posterior.Given{Kernel: k, Theta: theta, Mean: kernel.ZeroMean{}, Noise: 0.05,
		X: x,
		Y: y}))(t)
	p := must.Get(posterior.NewIterative(ctx, posterior.Given{Kernel: k, Theta: theta, Mean: kernel.ZeroMean{},
		Noise: 0.05,
		X:     x, Y: y}, 512, posterior.Iterative{}))(t)
	wantMean, wantVar := make([]float64, 100), make([]float64, 100)
	mean, variance, solved := make([]float64, 100), make([]float64, 100), make([]float64, 100)
	exact.Latent(xs, wantMean, wantVar)
	p.Latent(xs, mean, variance)
	must.Do(t, p.SolvedVariance(ctx, xs, solved, posterior.Iterative{}))
	for i, m := range wantMean {
		if !(math.Abs(mean[i]-m) <= 1e-4) || !(math.Abs(solved[i]/wantVar[i]-1) <= 1e-5) ||
			!(variance[i] >= wantVar[i]*(1-1e-9)) || !(variance[i] <= 1.2*wantVar[i]) {
			t.Errorf("row %d: mean %v, variances %v and solved %v, by Cholesky %v, %v", i, mean[i], variance[i], solved[i], m,
				wantVar[i])
		}
	}
}

// TestSolvedVarianceIsSmall: a variance that is tiny beside the prior's is as accurate as any other variance, for every
// tolerance.
func TestSolvedVarianceIsSmall(t *testing.T) {
	ctx := context.Background()
	rng := rand.New(rand.NewPCG(3, 9))
	x, y := rowsOf(rng, 120, 2)
	xs, _ := rowsOf(rng, 12, 2)
	k, theta, noise := kernel.SE(2, true), []float64{4, 4, 7.5}, 1e-4
	exact := must.Get(posterior.NewExact(posterior.Given{Kernel: k, Theta: theta, Mean: kernel.ZeroMean{}, Noise: noise,
		X: x,
		Y: y}))(t)
	o := posterior.Iterative{Tolerance: 1e-4, Rank: 8}
	p := must.Get(posterior.NewIterative(ctx, posterior.Given{Kernel: k, Theta: theta, Mean: kernel.ZeroMean{},
		Noise: noise,
		X:     x, Y: y}, 10, o))(t)
	m, want, solved := make([]float64, 12), make([]float64, 12), make([]float64, 12)
	exact.Latent(xs, m, want)
	must.Do(t, p.SolvedVariance(ctx, xs, solved, o))
	for i, v := range want {
		if f := solved[i] / v; !(f >= 0.99 && f <= 1.06) {
			t.Errorf("row %d: variance %v, by Cholesky %v", i, solved[i], v)
		}
	}
}

func TestIterativeStalls(t *testing.T) {
	x, y := matrix.Of(3, 1, []float64{0, 1, 1}), []float64{0, 1, 2}
	_, err := posterior.NewIterative(context.Background(), posterior.Given{Kernel: kernel.SE(1, false),
		Theta: []float64{0, 0}, Mean: kernel.ZeroMean{}, Noise: 1e-15, X: x, Y: y}, 3,
		posterior.Iterative{Rank: 1, Tolerance: 1e-18})
	var stalled *iterative.Stalled
	must.Hold(t, errors.As(err, &stalled), "repeated rows without noise: %v", err)
}

// The nearest of all rows give the exact GP, and fewer rows give a larger variance.
func TestNearest(t *testing.T) {
	const n, d = 200, 3
	rng := rand.New(rand.NewPCG(4, 7))
	x, y, xs := matrix.New(n, d), make([]float64, n), matrix.New(9, d)
	for i := range x.Data {
		x.Data[i] = rng.NormFloat64()
	}
	for i := range y {
		y[i] = x.At(i, 0) + 0.1*rng.NormFloat64()
	}
	for i := range xs.Data {
		xs.Data[i] = rng.NormFloat64()
	}
	k, theta := kernel.Sum(kernel.SE(d, true), kernel.Linear{}), []float64{0, 0, 0, 0, -1}
	exact := must.Get(posterior.NewExact(posterior.Given{Kernel: k, Theta: theta, Mean: kernel.LinearMean{},
		Beta: []float64{0.3}, Noise: 0.05, X: x, Y: y}))(t)
	at := func(p *posterior.Posterior) (m, v []float64) {
		m, v = make([]float64, 9), make([]float64, 9)
		p.Latent(xs, m, v)
		return m, v
	}
	near := func(count int) (m, v []float64) {
		return at(posterior.NewNearest(posterior.Given{Kernel: k, Theta: theta, Mean: kernel.LinearMean{},
			Beta: []float64{0.3}, Noise: 0.05, X: x, Y: y}, count))
	}
	wantMean, wantVar := at(exact)
	allMean, allVar := near(n)
	someMean, someVar := near(50)
	for i := range wantMean {
		if !(math.Abs(allMean[i]-wantMean[i]) <= 1e-10) || !(math.Abs(allVar[i]-wantVar[i]) <= 1e-10) {
			t.Errorf("all rows: %v, %v, want %v, %v", allMean[i], allVar[i], wantMean[i], wantVar[i])
		}
		if !(math.Abs(someMean[i]-wantMean[i]) <= 0.2) || !(someVar[i] >= wantVar[i]) || !(someVar[i] <= 3*wantVar[i]) {
			t.Errorf("50 rows: %v, %v, all %v, %v", someMean[i], someVar[i], wantMean[i], wantVar[i])
		}
	}
	// With a stationary kernel krigo takes the nearest rows.
	p := posterior.NewNearest(posterior.Given{Kernel: kernel.SE(1, false), Theta: []float64{0, 0}, Mean: kernel.ZeroMean{},
		Noise: 0.1, X: matrix.Of(6, 1, []float64{5, 0.1, -7, 0.3, -0.2, 9}), Y: []float64{9, 1, 9, 2, 3, 9}}, 3)
	q := must.Get(posterior.NewExact(posterior.Given{Kernel: p.Kernel, Theta: p.Theta, Mean: p.Mean, Noise: 0.1,
		X: matrix.Of(3, 1, []float64{0.1, 0.3, -0.2}), Y: []float64{1, 2, 3}}))(t)
	got, want := make([]float64, 1), make([]float64, 1)
	p.Latent(matrix.New(1, 1), got, nil)
	q.Latent(matrix.New(1, 1), want, nil)
	if !(math.Abs(got[0]-want[0]) <= 1e-12) ||
		!slices.Equal([]string{p.Kind(), q.Kind()}, []string{posterior.ByNearest, posterior.ByCholesky}) {
		t.Errorf("mean %v, want %v; %s, %s", got, want, p.Kind(), q.Kind())
	}
}
