package inducing

import (
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/krigo-gp/krigo/internal/must"
	"github.com/krigo-gp/krigo/kernel"
	"github.com/krigo-gp/krigo/matrix"
)

// TestSESpectrum: the eigenvalues equal those of the kernel matrix of many Gaussian rows, divided by N, and sum to
// the variance.
func TestSESpectrum(t *testing.T) {
	const n = 800
	x := gaussian(n, 2, 3)
	ls, sd := []float64{1.5, 0.8}, []float64{1, 1}
	k := matrix.New(n, n)
	kernel.At(kernel.SE(2, true), []float64{2 * math.Log(ls[0]), 2 * math.Log(ls[1]), math.Log(2)}).FillSymmetric(x, k)
	var eigen mat.EigenSym
	must.Need(t, eigen.Factorize(mat.NewSymDense(n, k.Data), false), "no eigenvalues")
	values := eigen.Values(nil)
	slices.Reverse(values)
	s := must.Get(NewSESpectrum(2, ls, sd))(t)
	sum, last := 0.0, math.Inf(1)
	for m := range 400 {
		v, tail := s.Next()
		sum += v
		if v > last*(1+1e-12) || math.Abs(sum+tail-2) > 1e-12 {
			t.Fatalf("eigenvalue %d: %v after %v, sum %v, rest %v", m+1, v, last, sum, tail)
		}
		last = v
		must.Hold(t, m >= 4 || math.Abs(values[m]/n-v) <= 0.1*v,
			"eigenvalue %d: %v, of %d rows %v", m+1, v, n, values[m]/n)
	}
	// With one input, everything is known in closed form.
	s = must.Get(NewSESpectrum(2, ls[:1], sd[:1]))(t)
	a, b := 0.25, 1/(2*1.5*1.5)
	c := math.Sqrt(a*a + 2*a*b)
	ratio := b / (a + b + c)
	for m := range 60 {
		v, tail := s.Next()
		want := 2 * math.Sqrt(2*a/(a+b+c)) * math.Pow(ratio, float64(m))
		if math.Abs(v-want) > 1e-12*want || math.Abs(tail-want*ratio/(1-ratio)) > 1e-11*tail {
			t.Fatalf("eigenvalue %d: %v and %v after it, want %v and %v", m+1, v, tail, want, want*ratio/(1-ratio))
		}
	}
	must.Refuse(NewSESpectrum(1, []float64{0}, []float64{1}))(t, "", "a lengthscale 0 was accepted")
}

// TestTheory: the theorem's bound grows in α, up to its limit at α = 1. Enough finds the first M under the target.
func TestTheory(t *testing.T) {
	th := Theory{Rows: 5000, Alpha: 0.5, Noise: 0.1, Variance: 1.3, Delta: 0.1}
	tailOf := func(m int) (tail float64) {
		s := must.Get(NewSESpectrum(1.3, []float64{0.7}, []float64{1.1}))(t)
		for range m {
			_, tail = s.Next()
		}
		return tail
	}
	last := 0.0
	for _, alpha := range []float64{0, 0.1, 0.9, 1 - 1e-9, 1} {
		th.Alpha = alpha
		v := th.Theorem2(20, 1e-6, 6000)
		must.Hold(t, v >= last && (alpha == 0) == (v == 0), "α = %v: %v after %v", alpha, v, last)
		must.Hold(t, alpha != 1 || math.Abs(v-last) <= 1e-7*v, "α = 1: %v, near it %v", v, last)
		last = v
	}
	s, _ := NewSESpectrum(1.3, []float64{0.7}, []float64{1.1})
	got, value, err := th.Enough(s, 6000, 1, 1000)
	if err != nil || !(value <= 1) || th.Theorem2(got-1, tailOf(got-1), 6000) <= 1 {
		t.Errorf("enough: %v with %v (%v)", got, value, err)
	}
	s, _ = NewSESpectrum(1.3, []float64{0.7}, []float64{1.1})
	if got, value, err = th.Enough(s, 6000, 1, 5); got != 5 || !(value > 1) || err != nil {
		t.Errorf("with a limit of 5: %v with %v (%v)", got, value, err)
	}
	must.Be(t, MaternExponent(2, 0.5), 0.625, "Matérn 5/2: N^")
}
