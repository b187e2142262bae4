package iterative_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/krigo-gp/krigo/internal/linalg"
	"github.com/krigo-gp/krigo/internal/must"
	"github.com/krigo-gp/krigo/iterative"
	"github.com/krigo-gp/krigo/kernel"
	"github.com/krigo-gp/krigo/matrix"
	"github.com/krigo-gp/krigo/ranks"
)

func normal(rng *rand.Rand, n, d int) matrix.Dense {
	m := matrix.New(n, d)
	for i := range m.Data {
		m.Data[i] = rng.NormFloat64()
	}
	return m
}

// covariance returns A for n rows. If repeated, the second half of the rows repeats the first.
func covariance(t testing.TB, expr string, n int, noise float64, repeated bool) iterative.Covariance {
	k := must.Get(kernel.Parse(expr, 3, true))(t)
	theta := make([]float64, len(k.Params()))
	for i := range theta {
		theta[i] = 0.3
	}
	x := normal(rand.New(rand.NewPCG(7, 1)), n, 3)
	if repeated {
		x.RowRange(n/2, n).CopyFrom(x.RowRange(0, n-n/2))
	}
	return iterative.Covariance{Kernel: k, Theta: theta, X: x, Noise: noise}
}

// factored returns the Cholesky factor of A.
func factored(t testing.TB, c iterative.Covariance) matrix.Dense {
	l := matrix.New(c.X.Rows, c.X.Rows)
	kernel.At(c.Kernel, c.Theta).FillSymmetric(c.X, l)
	l.AddDiagonal(c.Noise)
	must.Do(t, linalg.Cholesky(l))
	return l
}

var expressions = []string{"se", "matern12", "matern32", "matern52", "rq", "linear", "periodic", "constant", "white",
	"se+linear", "matern32*periodic+white"}

func preconditioners(t testing.TB, c iterative.Covariance) map[string]*iterative.Preconditioner {
	pivoted := must.Get(iterative.PivotedCholesky(c, 140))(t)
	all := map[string]*iterative.Preconditioner{"none": nil, "diagonal": iterative.Diagonal(c),
		"pivoted Cholesky": pivoted}
	// The first half of the rows has no repeats, so K_ZZ has full rank, up to the number of the kernel's features.
	inducing := min(140, c.X.Rows/2)
	switch c.Kernel.Spec(c.Theta).Name {
	case "linear":
		inducing = c.X.Cols
	case "constant":
		inducing = 1
	}
	all["Nyström"] = must.Get(iterative.Nystrom(c, c.X.RowRange(0, inducing)))(t)
	return all
}

func TestSolveAgainstCholesky(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 3))
	for _, expr := range expressions {
		for _, hard := range []bool{false, true} {
			n, noise, tolerance := 300, 0.1, 1e-9
			if hard {
				noise, tolerance = 1e-6, 1e-6 // rounding alone leaves a few 1e-8
			}
			c := covariance(t, expr, n, noise, hard)
			l := factored(t, c)
			b := normal(rng, n, 3)
			for i := range n {
				b.Set(i, 1, 0) // one right-hand side is zero
			}
			want := matrix.New(n, 3)
			want.CopyFrom(b)
			linalg.Trsm(true, false, l, want)
			linalg.Trsm(true, true, l, want)
			for name, p := range preconditioners(t, c) {
				if hard && (name == "none" || name == "diagonal") {
					continue // it takes thousands of iterations
				}
				x, r := matrix.New(n, 3), matrix.New(n, 3)
				s, err := iterative.Solver{Times: c.Times, Preconditioner: p, Tolerance: tolerance}.Solve(context.Background(), b,
					x)
				if err != nil {
					t.Errorf("%s, noise %g, %s: %v", expr, noise, name, err)
					continue
				}
				// A residual promises only ‖x − x*‖ ≤ ‖r‖/s. Another check tests the size of r.
				c.Times(x, r)
				for j := range 3 {
					var residual, size, off, norm float64
					for i := range n {
						residual += math.Pow(b.At(i, j)-r.At(i, j), 2)
						size += math.Pow(b.At(i, j), 2)
						off += math.Pow(x.At(i, j)-want.At(i, j), 2)
						norm += math.Pow(want.At(i, j), 2)
					}
					if !(residual <= 1.0001*tolerance*tolerance*size) ||
						!(math.Sqrt(off) <= 1.1*tolerance*math.Sqrt(size)/noise+1e-7*math.Sqrt(norm)) {
						t.Errorf("%s, noise %g, %s, column %d: residual %.2g of %.2g after %d iterations, off by %.2g of %.2g",
							expr, noise, name, j, math.Sqrt(residual), math.Sqrt(size), s.Iterations, math.Sqrt(off), math.Sqrt(norm))
					}
				}
			}
		}
	}
}

func TestPreconditionersAgainstTheirMatrix(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 5))
	const n = 100
	for _, expr := range []string{"se", "matern12", "linear+white"} {
		c := covariance(t, expr, n, 0.3, true)
		for name, p := range preconditioners(t, c) {
			if p == nil {
				continue
			}
			// The inverse gives P, and draws have P as their covariance.
			eye, inverse := matrix.New(n, n), matrix.New(n, n)
			eye.AddDiagonal(1)
			p.Solve(eye, inverse)
			l := matrix.New(n, n)
			l.CopyFrom(inverse)
			must.Do(t, linalg.Cholesky(l))
			if got, want := p.LogDet(), -linalg.LogDet(l); !(math.Abs(got-want) <= 1e-9*n) {
				t.Errorf("%s, %s: ln|P| is %v, want %v", expr, name, got, want)
			}
			const draws = 4000
			z, pz := p.Probes(draws, rng), matrix.New(n, draws)
			p.Solve(z, pz)
			var mean float64
			for i := range n {
				mean += linalg.Dot(z.Row(i), pz.Row(i)) / draws
			}
			if !(math.Abs(mean-n) <= 5*math.Sqrt(2*n/float64(draws))) {
				t.Errorf("%s, %s: zᵀP⁻¹z is %v on average, want %v", expr, name, mean, float64(n))
			}
		}
	}
}

// If nothing is left after the pivots, P is A.
func TestPivotedCholeskyOfFullRank(t *testing.T) {
	c := covariance(t, "se+linear", 60, 0.2, true)
	p := must.Get(iterative.PivotedCholesky(c, 60))(t)
	z := p.Probes(3, rand.New(rand.NewPCG(1, 8)))
	s, err := iterative.Solver{Times: c.Times, Preconditioner: p, Tolerance: 1e-8, Probes: 3}.Solve(context.Background(),
		z, matrix.New(60, 3))
	must.Hold(t, err == nil && s.Iterations <= 3, "%+v, %v", s, err)
	want := linalg.LogDet(factored(t, c))
	if q := iterative.LogDet(p, s.Lanczos, false); p.Rank() > 30 || !(math.Abs(p.LogDet()-want) <= 1e-7) ||
		!(math.Abs(q.Value-want) <= 1e-7) || !(q.StandardError <= 1e-7) {
		t.Errorf("rank %d, ln|P| = %v, ln|A| ≈ %v ± %.2g, want %v", p.Rank(), p.LogDet(), q.Value, q.StandardError, want)
	}
}

func TestLogDetAgainstCholesky(t *testing.T) {
	for _, expr := range expressions {
		for _, noise := range []float64{1, 0.01} {
			const n, probes = 150, 8
			c := covariance(t, expr, n, noise, true)
			p := must.Get(iterative.PivotedCholesky(c, 30))(t)
			z := p.Probes(probes, rand.New(rand.NewPCG(1, 8)))
			s := must.Get(iterative.Solver{Times: c.Times, Preconditioner: p, Tolerance: 1e-8,
				Probes: probes}.Solve(context.Background(), z, matrix.New(n, probes)))(t)
			q := iterative.LogDet(p, s.Lanczos, true)
			l := factored(t, c)
			if want := linalg.LogDet(l); !(math.Abs(q.Value-want) <= 3*q.StandardError+1e-9*math.Abs(want)) {
				t.Errorf("%s, noise %g: ln|A| ≈ %v ± %.2g, want %v", expr, noise, q.Value, q.StandardError, want)
			}

			if expr != "matern32" && expr != "se+linear" && testing.Short() {
				continue
			}
			// The adjoint is the derivative of the estimate at fixed P and probes.
			gradient := make([]float64, len(c.Theta)+1)
			w := make([]float64, q.Adjoint.Cols)
			for i := range w {
				w[i] = 1
			}
			kernel.At(c.Kernel, c.Theta).PullOuter(c.X, q.Adjoint, w, gradient[:len(c.Theta)])
			for i := range n {
				gradient[len(c.Theta)] += linalg.Dot(q.Adjoint.Row(i), q.Adjoint.Row(i))
			}
			value := func(i int, h float64) float64 {
				moved := c
				moved.Theta = append([]float64{}, c.Theta...)
				if i < len(c.Theta) {
					moved.Theta[i] += h
				} else {
					moved.Noise += h
				}
				s := must.Get(iterative.Solver{Times: moved.Times, Preconditioner: p, Tolerance: 1e-8,
					Probes: probes}.Solve(context.Background(), z, matrix.New(n, probes)))(t)
				return iterative.LogDet(p, s.Lanczos, false).Value
			}
			for i, g := range gradient {
				h := 1e-4
				if i == len(c.Theta) {
					h *= noise
				}
				want := (value(i, h) - value(i, -h)) / (2 * h)
				if !(math.Abs(g-want) <= 1e-5*math.Abs(want)+1e-5*n) {
					t.Errorf("%s, noise %g: derivative %d is %v, differences give %v", expr, noise, i, g, want)
				}
			}
		}
	}
}

// TestManyRowsAgainstCholesky checks solutions, also with float32 products, and log-determinants.
func TestManyRowsAgainstCholesky(t *testing.T) {
	if testing.Short() {
		t.Skip("factors matrices of 2,100 rows")
	}
	const n, probes, tolerance = 2100, 8, 1e-8 // three blocks of rows
	for _, k := range []struct {
		expr  string
		noise float64
	}{{"se", 0.01}, {"matern12", 0.1}, {"periodic+linear", 0.01}} {
		c := covariance(t, k.expr, n, k.noise, true)
		p := must.Get(iterative.PivotedCholesky(c, 300))(t)
		rng := rand.New(rand.NewPCG(12, 3))
		b := matrix.New(n, 1+probes)
		for i := range n {
			b.Set(i, 0, rng.NormFloat64())
		}
		b.View(0, n, 1, 1+probes).CopyFrom(p.Probes(probes, rng))
		x, refined := matrix.New(n, 1+probes), matrix.New(n, 1)
		s := iterative.Solver{Times: c.Times, Preconditioner: p, Tolerance: tolerance, Probes: probes}
		solution, err := s.Solve(context.Background(), b, x)
		if err != nil {
			t.Errorf("%s: %v", k.expr, err)
			continue
		}
		s.Rough, s.Probes = c.Rough(ranks.Alone{}, nil), 0
		if _, err := s.Solve(context.Background(), b.View(0, n, 0, 1), refined); err != nil {
			t.Errorf("%s, refined: %v", k.expr, err)
			continue
		}
		l := factored(t, c)
		want := make([]float64, n)
		for i := range want {
			want[i] = b.At(i, 0)
		}
		linalg.Trsv(false, l, want)
		linalg.Trsv(true, l, want)
		var off, refinedOff, size float64
		for i, w := range want {
			off += math.Pow(x.At(i, 0)-w, 2)
			refinedOff += math.Pow(refined.At(i, 0)-w, 2)
			size += w * w
		}
		// ‖x − x*‖ ≤ ‖r‖/s, and ‖r‖ ≤ tolerance·‖b‖ with ‖b‖ ≈ √n.
		if most := 1.1 * tolerance * math.Sqrt(n) / k.noise; !(math.Sqrt(off) <= most) || !(math.Sqrt(refinedOff) <= most) {
			t.Errorf("%s: off by %.2g and, with float32 products, %.2g of %.2g", k.expr, math.Sqrt(off), math.Sqrt(refinedOff),
				math.Sqrt(size))
		}
		q := iterative.LogDet(p, solution.Lanczos, false)
		if exact := linalg.LogDet(l); !(math.Abs(q.Value-exact) <= 3*q.StandardError+1e-9*n) || !(q.StandardError < 0.01*n) {
			t.Errorf("%s: ln|A| ≈ %v ± %.2g, want %v", k.expr, q.Value, q.StandardError, exact)
		}
	}
}

func TestTheSameOnAnyNumberOfCores(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	c := covariance(t, "matern32", 1500, 0.1, false)
	var first []float64
	for _, cores := range []int{1, 3} {
		runtime.GOMAXPROCS(cores)
		p := must.Get(iterative.PivotedCholesky(c, 40))(t)
		z := p.Probes(4, rand.New(rand.NewPCG(1, 2)))
		x := matrix.New(1500, 4)
		s := must.Get(iterative.Solver{Times: c.Times, Preconditioner: p, Probes: 4}.Solve(context.Background(), z, x))(t)
		got := append([]float64{iterative.LogDet(p, s.Lanczos, true).Value}, x.Data...)
		if first == nil {
			first = got
		}
		for i, v := range got {
			must.Need(t, v == first[i],
				"value %d: %v on %d cores, %v on one", i, v, cores, first[i])
		}
	}
}

func TestErrors(t *testing.T) {
	c := covariance(t, "se", 200, 1e-6, true)
	b := normal(rand.New(rand.NewPCG(3, 3)), 200, 1)
	last := 0
	s := iterative.Solver{Times: c.Times, Tolerance: 1e-9, MaxIterations: 5,
		Progress: func(p iterative.Progress) { last = p.Iteration }}
	solution, err := s.Solve(context.Background(), b, matrix.New(200, 1))
	var stalled *iterative.Stalled
	if !errors.As(err, &stalled) || stalled.Iterations != 5 || last != 5 || stalled.Residual != solution.Residual ||
		!(stalled.Residual > 1e-9) {
		t.Errorf("a solve cut short: %v, progress up to %d", err, last)
	}
	// If rounding doesn't allow a tolerance, Solve says so and doesn't loop.
	s = iterative.Solver{Times: c.Times, Tolerance: 1e-17}
	if _, err := s.Solve(context.Background(), b, matrix.New(200, 1)); !errors.As(err, &stalled) {
		t.Errorf("a tolerance under rounding: %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	s = iterative.Solver{Times: c.Times, Progress: func(iterative.Progress) { cancel() }}
	if _, err := s.Solve(ctx, b, matrix.New(200, 1)); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	negative := func(v, out matrix.Dense) {
		for i, x := range v.Data {
			out.Data[i] = -x
		}
	}
	if _, err := (iterative.Solver{Times: negative}).Solve(context.Background(), b, matrix.New(200, 1)); !errors.As(err,
		&stalled) {
		t.Errorf("an indefinite matrix: %v", err)
	}
}

// A rough product loses no accuracy.
func TestRefinement(t *testing.T) {
	c := covariance(t, "matern52", 400, 0.05, false)
	rough := func(v, out matrix.Dense) {
		c.Times(v, out)
		for i, x := range out.Data {
			out.Data[i] = float64(float32(x))
		}
	}
	b, x := normal(rand.New(rand.NewPCG(3, 3)), 400, 2), matrix.New(400, 2)
	p := must.Get(iterative.PivotedCholesky(c, 50))(t)
	s, err := iterative.Solver{Times: c.Times, Rough: rough, Preconditioner: p,
		Tolerance: 1e-11}.Solve(context.Background(), b, x)
	must.Hold(t, err == nil && s.Residual <= 1e-11, "residual %v, %v", s, err)
}

// Solve gives up a rough product that is too bad.
func TestRefinementGivenUp(t *testing.T) {
	c := covariance(t, "matern52", 200, 0.05, false)
	nonsense := func(v, out matrix.Dense) {
		for i, x := range v.Data {
			out.Data[i] = 3 * x
		}
	}
	b := normal(rand.New(rand.NewPCG(3, 3)), 200, 2)
	s, err := iterative.Solver{Times: c.Times, Rough: nonsense}.Solve(context.Background(), b, matrix.New(200, 2))
	must.Hold(t, err == nil && s.Residual <= 1e-6, "%+v, %v", s, err)
	if tiny := covariance(t, "se", 200, 1e-9, false); tiny.Rough(ranks.Alone{}, nil) != nil {
		t.Error("float32 with a noise variance of 1e-9")
	}
}

func BenchmarkSolve(b *testing.B) {
	c := covariance(b, "se", 4000, 0.05, false)
	rhs := normal(rand.New(rand.NewPCG(3, 3)), 4000, 8)
	for _, rank := range []int{0, 50, 200} {
		b.Run(fmt.Sprintf("rank=%d", rank), func(b *testing.B) {
			for b.Loop() {
				p, _ := iterative.PivotedCholesky(c, rank)
				must.Get((iterative.Solver{Times: c.Times, Preconditioner: p}).Solve(context.Background(), rhs,
					matrix.New(4000, 8)))(b)
			}
		})
	}
}
