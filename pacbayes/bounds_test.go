package pacbayes

import (
	"fmt"
	"math"
	"testing"

	"gonum.org/v1/gonum/mathext"

	"github.com/krigo-gp/krigo/internal/must"
)

func TestPenalty(t *testing.T) {
	if got, want := KLBound.Penalty(3.5, 100, 0.05), 3.5+math.Log(400); math.Abs(got-want) > 1e-14 {
		t.Errorf("got %v, want %v", got, want)
	}
	for _, delta := range []float64{0, -1, 1.5, math.NaN()} {
		if got := KLBound.Penalty(0, 10, delta); !math.IsNaN(got) {
			t.Errorf("δ=%v: %v", delta, got)
		}
	}
	if got := KLBound.Penalty(0, 0, 0.1); !math.IsNaN(got) {
		t.Errorf("n=0: %v", got)
	}
}

func TestBoundDerivatives(t *testing.T) {
	const pen, n, h = 20.0, 400, 1e-5
	for _, b := range []Inequality{KLBound, PinskerBound} {
		for _, risk := range []float64{0.01, 0.2, 0.8} {
			for _, kl := range []float64{0.5, 10, 300} {
				f := func(risk, kl float64) float64 { v, _, _ := b.Evaluate(risk, kl, pen, n); return v }
				value, dr, dk := b.Evaluate(risk, kl, pen, n)
				if sqrt, _, _ := PinskerBound.Evaluate(risk, kl, pen, n); value > sqrt {
					t.Errorf("%s %v above Pinsker's %v", b, value, sqrt)
				}
				must.Near(t, (f(risk*(1+h), kl)-f(risk*(1-h), kl))/(2*h*risk), dr, 1e-8*dr, fmt.Sprintf("%s ∂risk", b))
				must.Near(t, (f(risk, kl*(1+h))-f(risk, kl*(1-h)))/(2*h*kl), dk, 1e-7*dk, fmt.Sprintf("%s ∂KL", b))
			}
		}
	}
}

func TestBoundEdges(t *testing.T) {
	v, dr, dk := KLBound.Evaluate(0, 1, 9, 100)
	if want := -math.Expm1(-0.1); v != want || dr != 0 || math.Abs(dk-math.Exp(-0.1)/100) > 1e-17 {
		t.Errorf("risk 0: %v %v %v", v, dr, dk)
	}
	for _, risk := range []float64{-0.1, 1.1, math.NaN()} {
		if v, _, _ := KLBound.Evaluate(risk, 1, 1, 10); !math.IsNaN(v) {
			t.Errorf("risk %v: %v", risk, v)
		}
	}
	if v, _, _ := PinskerBound.Evaluate(0.9, 100, 0, 10); !(v > 1) {
		t.Errorf("sqrt bound %v is capped", v)
	}
	defer func() {
		must.Hold(t, recover() != nil, "an unknown bound does not panic")
	}()
	Inequality("hoeffding").Evaluate(0.1, 1, 1, 10)
}

// binomialTail returns P(Bin(n,p) ≤ k) from the incomplete beta function.
func binomialTail(k, n int, p float64) float64 {
	return mathext.RegIncBeta(float64(n-k), float64(k+1), 1-p)
}

func TestClopperPearson(t *testing.T) {
	for _, n := range []int{1, 2, 3, 7, 40, 1000, 30000} {
		for _, k := range []int{0, 1, 2, n / 10, n / 2, n - 2, n - 1} {
			if k < 0 || k >= n {
				continue
			}
			for _, delta := range []float64{1e-9, 0.01, 0.05, 0.5, 0.99} {
				p := ClopperPearson(k, n, delta)
				shift := 1e-11
				if n > 1000 {
					shift = 1e-9 // the reference loses digits in logarithms of Γ(n)
				}
				below, above := p*(1-shift), min(p*(1+shift), 1)
				must.Hold(t, binomialTail(k, n, below) > delta && binomialTail(k, n, above) < delta,
					"k=%d n=%d δ=%v: %v is not the quantile", k, n, delta, p)
				if b := TestBound(float64(k)/float64(n), n, delta); p > b*(1+1e-14) {
					t.Errorf("k=%d n=%d δ=%v: %v above the Chernoff bound %v", k, n, delta, p, b)
				}
			}
		}
	}
	// P(Bin(2,p) ≤ 1) = 1−p², and by hand P(Bin(3,1/2) ≤ 1) = 1/2.
	if got, want := ClopperPearson(1, 2, 0.19), 0.9; math.Abs(got-want) > 1e-15 {
		t.Errorf("got %v, want %v", got, want)
	}
	must.Near(t, ClopperPearson(1, 3, 0.5), 0.5, 2e-16)
	if a, b := ClopperPearson(5, 5, 0.1), ClopperPearson(2, 5, 1); a != 1 || b != 0 {
		t.Errorf("got %v, %v; want 1, 0", a, b)
	}
	for _, c := range []struct {
		k, n  int
		delta float64
	}{{-1, 5, 0.1}, {6, 5, 0.1}, {0, 0, 0.1}, {1, 5, 0}, {1, 5, math.NaN()}} {
		if got := ClopperPearson(c.k, c.n, c.delta); !math.IsNaN(got) {
			t.Errorf("%+v: %v", c, got)
		}
	}
}

func TestMaurerXi(t *testing.T) {
	for n, want := range map[int]float64{1: 2, 2: 2.5, 3: 2 + 24./27, 4: 2 + 2*27./64 + 0.375} {
		must.Near(t, maurerXi(n), want, 4e-16*want, fmt.Sprintf("ξ(%d) =", n))
	}
	for n := 1; n <= 2000; n++ {
		if xi := maurerXi(n); xi > 2*math.Sqrt(float64(n)) || xi < math.Sqrt(math.Pi*float64(n)/2) {
			t.Errorf("ξ(%d) = %v", n, xi)
		}
	}
	if got := maurerXi(0); !math.IsNaN(got) {
		t.Errorf("ξ(0) = %v", got)
	}
}

// TestHoldOutLimit shows that at the limit this number of misses or more has probability δ, and that the limit for a
// graded loss is the kl inverse from below.
func TestHoldOutLimit(t *testing.T) {
	const delta = 0.05
	for _, n := range []int{1, 7, 40, 300} {
		for _, k := range []int{0, 1, n / 3, n - 1, n} {
			limit := HoldOutLimit(true, float64(k)/float64(n), n, delta)
			tail := 1.0 // P(Bin(n, limit) ≥ k), a regularised incomplete beta function
			if k > 0 {
				tail = mathext.RegIncBeta(float64(k), float64(n-k)+1, limit)
			}
			must.Hold(t, (k != 0 || limit == 0) && (k <= 0 || math.Abs(tail-delta) <= 1e-9),
				"%d of %d: %v, tail %v", k, n, limit, tail)
		}
	}
	for _, risk := range []float64{0.01, 0.4, 0.99} {
		limit := HoldOutLimit(false, risk, 100, delta)
		if eps := -math.Log(delta) / 100; limit >= risk || math.Abs(KL(risk, limit)-eps) > 1e-12 {
			t.Errorf("%v: %v", risk, limit)
		}
	}
	if limit := HoldOutLimit(false, 1+1e-16, 100, delta); !(limit <= 1) {
		t.Errorf("%v", limit)
	}
}
