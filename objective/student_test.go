package objective

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/krigo-gp/krigo/internal/linalg"
	"github.com/krigo-gp/krigo/internal/quadrature"
	"github.com/krigo-gp/krigo/kernel"
	"github.com/krigo-gp/krigo/posterior"
)

// TestStudent compares the mixture's formulas with the quadrature that any registered density gets.
func TestStudent(t *testing.T) {
	plain := Noise(logStudent)
	for _, at := range [][3]float64{{0.3, 0.5, 0.2}, {-1, 2, 0.01}, {0, 1e-3, 1}, {5, 1, 1}} {
		mean, variance, s := at[0], at[1], at[2]
		for _, y := range []float64{mean, 0.7, -3, 40} {
			got, want := Student{}.LogPredictive(y, mean, variance, s), plain.LogPredictive(y, mean, variance, s)
			if math.Abs(got-want) > 1e-7*math.Max(1, math.Abs(want)) {
				t.Errorf("%v: density at %v: %v, quadrature %v", at, y, got, want)
			}
			z, _ := Student{}.NormalScore(y, mean, variance, s)
			if other, err := plain.NormalScore(y, mean, variance, s); err == nil && math.Abs(z) < 3 &&
				math.Abs(z-other) > 1e-5 {
				t.Errorf("%v: score of %v: %v, quadrature %v", at, y, z, other)
			}
		}
		got, _ := Student{}.Spread(mean, variance, s)
		want, err := plain.Spread(mean, variance, s)
		if err != nil {
			t.Fatal(err)
		}
		if math.Abs(got.Variance-want.Variance) > 1e-4*want.Variance ||
			math.Abs(got.Upper*math.Sqrt(got.Variance)-want.Upper*math.Sqrt(want.Variance)) > 1e-5 ||
			got.Lower != -got.Upper {
			t.Errorf("%v: spread %v, quadrature %v", at, got, want)
		}
	}
	// far in the tail and without a variance of f, the density is Student's own
	for _, y := range []float64{1, 1e3, 1e9} {
		if got, want := (Student{}).LogPredictive(y, 0, 1e-30, 0.5), logStudent(y, 0, 0.5); math.Abs(got-want) > 1e-9 {
			t.Errorf("density at %v: %v, not %v", y, got, want)
		}
	}
}

// bound returns the lower bound F and the moments of f, for given factors a of which each q(w_i) is made.
func studentBound(t *testing.T, g posterior.Given, s float64, a []float64) (f float64, mean, variance []float64) {
	n := len(g.Y)
	g.Noise, g.PerRow = s, posterior.RowNoise{Factor: a}
	p := &Problem{Kernel: g.Kernel, Mean: g.Mean, X: g.X, Y: g.Y, PerRow: g.PerRow, Objective: &Evidence{}}
	value, err := p.Evaluate(append(append([]float64{}, g.Theta...), math.Log(s)), nil)
	if err != nil {
		t.Fatal(err)
	}
	f = -value
	for _, ai := range a {
		// q(w) = Gamma(α, β) with ⟨w⟩ = α/β = 1/a; KL of two gamma densities
		alpha, nu2 := (StudentNu+1)/2., StudentNu/2.
		beta := alpha * ai
		la, _ := math.Lgamma(alpha)
		lp, _ := math.Lgamma(nu2)
		digamma := digammaOf(alpha)
		kl := (alpha-nu2)*digamma - la + lp + nu2*(math.Log(beta)-math.Log(nu2)) + alpha*(nu2-beta)/beta
		f += math.Log(ai)/2 + (digamma-math.Log(beta))/2 - kl
	}
	q, err := posterior.NewExact(g)
	if err != nil {
		t.Fatal(err)
	}
	mean, variance = make([]float64, n), make([]float64, n)
	q.Latent(g.X, mean, variance)
	return f, mean, variance
}

func digammaOf(x float64) float64 {
	const h = 1e-5
	up, _ := math.Lgamma(x + h)
	down, _ := math.Lgamma(x - h)
	return (up - down) / (2 * h)
}

// TestStudentBound checks that updates of the factors never lower the bound, and that the bound lies below the evidence
// by quadrature: close below if the noise hides little.
func TestStudentBound(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 2))
	n := 12
	x, y := linalg.New(n, 1), make([]float64, n)
	for i := range n {
		x.Set(i, 0, float64(i)/3)
		y[i] = math.Sin(float64(i)/3) + 0.1*rng.NormFloat64()
	}
	y[4] += 5
	g := posterior.Given{Kernel: kernel.SE(1, false), Theta: []float64{0, 0}, Mean: kernel.ZeroMean{}, X: x, Y: y}
	const s = 0.02
	a := make([]float64, n)
	for i := range a {
		a[i] = 1
	}
	last := math.Inf(-1)
	for range 30 {
		f, mean, variance := studentBound(t, g, s, a)
		if f < last-1e-9 {
			t.Fatalf("the bound fell from %v to %v", last, f)
		}
		last, a = f, Student{}.Factors(y, mean, variance, s)
	}
	if a[4] < 20 || a[5] > 2 {
		t.Errorf("factors %v don't single out the gross error", a)
	}
	// two rows, by quadrature over f
	g.X, g.Y = x.RowRange(0, 2), []float64{0.1, 3}
	a = []float64{1, 1}
	for range 200 {
		f, mean, variance := studentBound(t, g, s, a)
		last, a = f, Student{}.Factors(g.Y, mean, variance, s)
	}
	k := linalg.New(2, 2)
	g.Kernel.Cov(g.Theta, g.X, g.X, k)
	det := k.At(0, 0)*k.At(1, 1) - k.At(0, 1)*k.At(0, 1)
	var edges []float64
	for e := -8.; e <= 8; e += 0.05 {
		edges = append(edges, e)
	}
	var total float64
	quadrature.Panels(edges, func(f0, w0 float64) {
		m := k.At(0, 1) / k.At(0, 0) * f0
		total += w0 * math.Exp(logStudent(0.1, f0, s)-f0*f0/(2*k.At(0, 0))) / math.Sqrt(2*math.Pi*k.At(0, 0)) *
			math.Exp(plainPredictive(3, m, det/k.At(0, 0), s))
	})
	if exact := math.Log(total); !(last < exact && last > exact-1) {
		t.Errorf("the bound %v isn't close below the evidence %v", last, exact)
	}
}

func plainPredictive(y, mean, variance, s float64) float64 {
	return Noise(logStudent).LogPredictive(y, mean, variance, s)
}
