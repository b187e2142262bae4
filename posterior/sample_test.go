package posterior_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/krigo-gp/krigo/internal/linalg"
	"github.com/krigo-gp/krigo/internal/must"
	"github.com/krigo-gp/krigo/iterative"
	"github.com/krigo-gp/krigo/kernel"
	"github.com/krigo-gp/krigo/matrix"
	"github.com/krigo-gp/krigo/posterior"
)

// moments checks that the mean and the covariance of draws are within five standard errors of the expected mean and
// covariance.
func moments(t *testing.T, what string, draws matrix.Dense, mean []float64, cov func(i, j int) float64) {
	t.Helper()
	k := float64(draws.Cols)
	for i, m := range mean {
		a := draws.Row(i)
		must.Near(t, linalg.Sum(a)/k, m, 5*math.Sqrt(cov(i, i)/k)+1e-7, fmt.Sprintf("%s: the mean of row %d", what, i))
		for j := range i + 1 {
			var sum, squares float64
			for d, b := range draws.Row(j) {
				v := (a[d] - m) * (b - mean[j])
				sum += v
				squares += v * v
			}
			got, se := sum/k, math.Sqrt((squares/k-sum*sum/(k*k))/k)
			if !(math.Abs(got-cov(i, j)) <= 5*se+1e-9) {
				t.Errorf("%s: the covariance of rows %d and %d is %v ± %.2g, want %v", what, i, j, got, se, cov(i, j))
			}
		}
	}
}

// sampled returns rows to draw at: new places, one of them twice, and a row of the support.
func sampled(p problem) matrix.Dense {
	x := points(7, 3)
	copy(x.Row(5), x.Row(2))
	copy(x.Row(6), p.x.Row(3))
	return x
}

// TestSampleMoments: draws by every method have the posterior's mean and covariance.
func TestSampleMoments(t *testing.T) {
	const draws = 400
	ctx := context.Background()
	for _, p := range problems(t) {
		x := sampled(p)
		mean, cov := p.naive(t, x)
		q, out := p.fit(t), matrix.New(x.Rows, draws)
		must.Do(t, q.Sample(ctx, x, out, posterior.Draws{Seed: 1, Solve: posterior.Iterative{}}))
		moments(t, p.name+", joint", out, mean, cov.At)

		none := make([]float64, x.Rows)
		must.Do(t, posterior.SamplePathwise(q, ctx, x, out, 2, posterior.Iterative{}))
		moments(t, p.name+", pathwise", out, none, cov.At)

		cg := must.Get(posterior.NewIterative(ctx, posterior.Given{Kernel: p.k, Theta: p.theta, Mean: p.mean, Beta: p.beta,
			Noise: p.noise, X: p.x, Y: p.y}, 5, posterior.Iterative{}))(t)
		must.Do(t, cg.Sample(ctx, x, out, posterior.Draws{Seed: 3, Solve: posterior.Iterative{}}))
		moments(t, p.name+", cg", out, mean, cov.At)
	}
}

// chains returns posteriors whose prior is a posterior, or whose prior's prior is, under names that say how they were
// made.
func chains(t *testing.T) map[string]*posterior.Posterior {
	t.Helper()
	must := func(p *posterior.Posterior, err error) *posterior.Posterior {
		if err != nil {
			t.Helper()
			t.Fatal(err)
		}
		return p
	}
	after := func(p *posterior.Posterior, seed uint64) *posterior.Posterior {
		k, m, err := p.Prior(0.7)
		must(nil, err)
		x, y := rowsOf(rand.New(rand.NewPCG(seed, 7)), 9, 2)
		return must(posterior.NewExact(posterior.Given{Kernel: k, Mean: m, Noise: 0.2, X: x, Y: y}))
	}
	_, ps := priors(t)
	k, err := kernel.Parse("(se*periodic+white)*linear+matern32*matern12*constant", 2, false)
	must(nil, err)
	x, y := rowsOf(rand.New(rand.NewPCG(3, 7)), 12, 2)
	product := must(posterior.NewExact(posterior.Given{Kernel: k, Theta: make([]float64, len(k.Params())),
		Mean: kernel.ZeroMean{}, Noise: 0.3, X: x, Y: y}))
	return map[string]*posterior.Posterior{
		"exact prior":             must(ps["exact"].Unconditioned(0.3)),
		"sparse prior":            must(ps["sparse"].Unconditioned(0.3)),
		"exact after exact":       after(ps["exact"], 6),
		"products":                product,
		"three times conditioned": after(after(ps["exact"], 6), 8),
	}
}

// TestSampleMomentsOfPriors: draws of sparse posteriors, and of posteriors whose prior is a posterior, have the right
// mean and covariance.
func TestSampleMomentsOfPriors(t *testing.T) {
	const draws = 200
	ctx := context.Background()
	k, ps := priors(t)
	x, _ := rowsOf(rand.New(rand.NewPCG(8, 8)), 6, 2)
	none, out := make([]float64, 6), matrix.New(6, draws)
	of := chains(t)
	of["sparse"] = ps["sparse"]
	of["no support"] = &posterior.Posterior{Kernel: k, Theta: ps["sparse"].Theta, Mean: kernel.ZeroMean{},
		Support: matrix.New(0, 2), Solution: posterior.Untouched{}}
	for what, q := range of {
		// The covariance as a kernel has tests of its own.
		joint, mean, err := q.Prior(1)
		if q.Support.Rows == 0 {
			joint, mean, err = q.Kernel, q.Mean, nil
		}
		must.Do(t, err)
		m, cov := make([]float64, 6), matrix.New(6, 6)
		mean.At(q.Beta, x, m)
		kernel.At(joint, q.Theta).FillSymmetric(x, cov)
		must.Do(t, q.Sample(ctx, x, out, posterior.Draws{Seed: 4, Solve: posterior.Iterative{}}))
		moments(t, what+", joint", out, m, cov.At)
		must.Do(t, posterior.SamplePathwise(q, ctx, x, out, 5, posterior.Iterative{}))
		moments(t, what+", pathwise", out, none, cov.At)
	}
}

// TestSampleJointly: a draw at more than 1,000 rows is one function. At some of these rows alone it has the same
// values.
func TestSampleJointly(t *testing.T) {
	ctx := context.Background()
	x, _ := rowsOf(rand.New(rand.NewPCG(9, 8)), 1030, 2)
	some := []int{0, 63, 64, 600, 1029}
	few := matrix.New(len(some), 2)
	for i, row := range some {
		copy(few.Row(i), x.Row(row))
	}
	for what, q := range chains(t) {
		all, again := matrix.New(x.Rows, 2), matrix.New(few.Rows, 2)
		must.Do(t, q.Sample(ctx, x, all, posterior.Draws{Seed: 6, Solve: posterior.Iterative{}}))
		must.Do(t, posterior.SamplePathwise(q, ctx, few, again, 6, posterior.Iterative{}))
		mean := make([]float64, few.Rows)
		q.Latent(few, mean, nil)
		for i, row := range some {
			for j, v := range again.Row(i) {
				if v += mean[i]; !(math.Abs(v-all.At(row, j)) <= 1e-9) {
					t.Errorf("%s: row %d of draw %d is %v among 1,030 rows and %v among five", what, row, j, all.At(row, j), v)
				}
			}
		}
	}
}

// TestSampleManyRows: above 1,000 rows krigo draws with another method, and draws stay as close to the data.
func TestSampleManyRows(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	ctx := context.Background()
	_, ps := priors(t)
	q := ps["exact"]
	x, _ := rowsOf(rand.New(rand.NewPCG(9, 8)), 1001, 2)
	x.RowRange(0, 30).CopyFrom(q.Support)
	mean, variance := make([]float64, 1001), make([]float64, 1001)
	q.Latent(x, mean, variance)
	var first []float64
	for _, cores := range []int{1, 3} {
		runtime.GOMAXPROCS(cores)
		out := matrix.New(1001, 3)
		must.Do(t, q.Sample(ctx, x, out, posterior.Draws{Seed: 6, Solve: posterior.Iterative{}}))
		// The rows are correlated, so this isn't a sum of 1,001 independent squares.
		var z float64
		for i := range mean {
			for _, v := range out.Row(i) {
				z += (v - mean[i]) * (v - mean[i]) / variance[i] / 3003
			}
		}
		must.Hold(t, z > 0.5 && z < 2, "squared standardised draws are %v on average", z)
		if first == nil {
			first = out.Data
		}
		must.Hold(t, slices.Equal(out.Data, first), "other draws on %d cores", cores)
	}
	fewer := matrix.New(1001, 2)
	must.Do(t, q.Sample(ctx, x, fewer, posterior.Draws{Seed: 6, Solve: posterior.Iterative{}}))
	for i := range mean {
		if !(math.Abs(fewer.At(i, 1)-first[3*i+1]) <= 1e-9) {
			t.Fatalf("row %d of the second draw is %v, of three %v", i, fewer.At(i, 1), first[3*i+1])
		}
	}
}

func TestSampleErrors(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	_, ps := priors(t)
	x, y := rowsOf(rand.New(rand.NewPCG(9, 8)), 1001, 2)
	out := matrix.New(1001, 1)
	near := posterior.NewNearest(posterior.Given{Kernel: kernel.SE(2, false), Theta: []float64{0, 0},
		Mean: kernel.ZeroMean{}, Noise: 0.1, X: x, Y: y}, 20)
	if err := near.Sample(ctx, x, out, posterior.Draws{Seed: 0, Solve: posterior.Iterative{}}); err == nil ||
		!strings.Contains(err.Error(), "nearest rows") {
		t.Errorf("draws from a posterior of the nearest rows: %v", err)
	}
	prior, _, err := ps["sparse"].Prior(1)
	must.Do(t, err)
	// A sum that contains a posterior has no known features.
	of := &posterior.Posterior{Kernel: kernel.Sum(kernel.Linear{}, prior), Theta: []float64{0}, Mean: kernel.ZeroMean{},
		Support: matrix.New(0, 2), Solution: posterior.Untouched{}}
	if err := of.Sample(ctx, x, out, posterior.Draws{Seed: 0, Solve: posterior.Iterative{}}); err == nil ||
		!strings.Contains(err.Error(), `kernel "posterior": ask for at most 1000 rows`) {
		t.Errorf("random features of a posterior: %v", err)
	}
	if err := of.Sample(ctx, x.RowRange(0, 9), out.RowRange(0, 9),
		posterior.Draws{Seed: 0, Solve: posterior.Iterative{}}); err != nil {
		t.Error(err)
	}
	cg := must.Get(posterior.NewIterative(ctx, posterior.Given{Kernel: near.Kernel, Theta: near.Theta, Mean: near.Mean,
		Noise: 0.1, X: x, Y: y}, 20, posterior.Iterative{}))(t)
	var stalled *iterative.Stalled
	if err := cg.Sample(ctx, x, out,
		posterior.Draws{Seed: 0, Solve: posterior.Iterative{Tolerance: 1e-30}}); !errors.As(err, &stalled) {
		t.Errorf("a tolerance under rounding: %v", err)
	}
	cancel()
	err = cg.Sample(ctx, x, out, posterior.Draws{Seed: 0, Solve: posterior.Iterative{}})
	must.Hold(t, errors.Is(err, context.Canceled), "cancelled: %v", err)
}
