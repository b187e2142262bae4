package pacbayes

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/krigo-gp/krigo/internal/must"
)

// pairs holds arguments q, p over the whole range of the inverse.
func pairs() (qs, epss []float64) {
	qs = []float64{0, 5e-324, 1e-310, 1e-300, 1e-100, 1e-20, 1e-9, 1e-3, 0.1, 0.3, 0.5, 0.7, 0.9, 0.999, 1 - 1e-9,
		1 - 0x1p-53, 1}
	epss = []float64{0, 5e-324, 1e-300, 1e-100, 1e-25, 1e-16, 1e-9, 1e-4, 0.01, 0.1, 0.5, 1, 3, 30, 500, 1e4, 1e300,
		math.MaxFloat64, math.Inf(1)}
	return qs, epss
}

func TestKLKnown(t *testing.T) {
	inf := math.Inf(1)
	for _, c := range []struct{ q, p, want float64 }{
		{0, 0, 0}, {1, 1, 0}, {0.3, 0.3, 0}, {0, 1, inf}, {1, 0, inf}, {0.5, 1, inf}, {0.5, 0, inf},
		{0, 0.5, math.Ln2}, {1, 0.5, math.Ln2}, {1, 0.25, 2 * math.Ln2},
		{0.5, 0.25, math.Log(2 / math.Sqrt(3))},
		{0.25, 0.5, math.Ln2 - 0.5623351446188083},
		{0.5, 0.5 + 0x1p-30, 0x1p-59 * (1 + 0x1p-59)}, // −½ln(1−4δ²), which plain logarithms round to 0
		{1e-300, 1e-10, 1.0000000000500000e-10},
	} {
		if got := KL(c.q, c.p); got != c.want && !(math.Abs(got-c.want) <= 1e-15*c.want) {
			t.Errorf("KL(%v, %v) = %v, want %v", c.q, c.p, got, c.want)
		}
		if got := KL(1-c.q, 1-c.p); c.q > 1e-9 && got != c.want && !(math.Abs(got-c.want) <= 1e-15*c.want) {
			t.Errorf("KL(%v, %v) = %v, want %v", 1-c.q, 1-c.p, got, c.want)
		}
	}
	for _, c := range [][2]float64{{-1, 0.5}, {0.5, 2}, {math.NaN(), 0.5}, {0.5, math.NaN()}} {
		if got := KL(c[0], c[1]); !math.IsNaN(got) {
			t.Errorf("KL(%v, %v) = %v, want NaN", c[0], c[1], got)
		}
	}
}

// checkInverse checks everything that is true at any q ∈ [0,1] and any ε.
func checkInverse(t *testing.T, q, eps float64) {
	t.Helper()
	p, om, dq, de := KLInverseGrad(q, eps)
	up := KLInverseUp(q, eps)
	pinsker := q + math.Sqrt(max(eps, 0))/math.Sqrt2
	switch {
	case !(q <= p && p <= 1) || !(0 <= om && om <= 1):
		t.Fatalf("q=%v ε=%v: p=%v 1-p=%v outside [q,1]", q, eps, p, om)
	case math.Abs(p+om-1) > 4e-16:
		t.Fatalf("q=%v ε=%v: p=%v and 1-p=%v don't add to 1", q, eps, p, om)
	case !(dq >= 0) || !(de >= 0):
		t.Fatalf("q=%v ε=%v: derivatives %v, %v", q, eps, dq, de)
	case p > pinsker*(1+4e-16)+5e-324:
		t.Fatalf("q=%v ε=%v: p=%v above Pinsker's %v", q, eps, p, pinsker)
	case !(p <= up && up <= 1) || eps > 1e-290 && up > p*(1+1e-14):
		t.Fatalf("q=%v ε=%v: p=%v rounded up to %v", q, eps, p, up)
	case KL(q, up) < eps && up < 1:
		t.Fatalf("q=%v ε=%v: kl at the rounded-up %v is %v", q, eps, up, KL(q, up))
	}
}

func TestKLInverseRange(t *testing.T) {
	qs, epss := pairs()
	for _, q := range qs {
		for _, eps := range epss {
			checkInverse(t, q, eps)
		}
	}
	r := rand.New(rand.NewPCG(1, 2))
	for range 20000 {
		q := math.Exp(-50 * r.Float64() * r.Float64())
		if r.IntN(2) == 0 {
			q = 1 - q
		}
		eps := math.Exp(6 - 60*r.Float64())
		checkInverse(t, q, eps)
		p := KLInverse(q, eps)
		// Rounding p by an ulp moves kl by about ∂kl/∂p = (p−q)/(p(1−p)) ulps.
		slack := 2e-15*eps + 3e-16*p*(p-q)/(p*(1-p))
		if got := KL(q, p); p < 1-1e-3 && math.Abs(got-eps) > slack {
			t.Errorf("kl(%v‖kl⁻¹(·,%v)) = %v", q, eps, got)
		}
	}
}

func TestKLInverseSpecial(t *testing.T) {
	inf := math.Inf(1)
	for _, c := range []struct{ q, eps, p, om, dq, de float64 }{
		{0, 0, 0, 1, 1, 1}, {0, -1, 0, 1, 1, 1}, {1, 0, 1, 0, 1, 0}, {0.25, 0, 0.25, 0.75, 1, inf},
		{0.25, -3, 0.25, 0.75, 1, inf}, {1, 1, 1, 0, 0, 0}, {0.25, inf, 1, 0, 0, 0}, {0, inf, 1, 0, 0, 0},
		{0, math.Ln2, 0.5, 0.5, inf, 0.5}, {0.5, 1e6, 1, 0, 0, 0},
	} {
		p, om, dq, de := KLInverseGrad(c.q, c.eps)
		must.Hold(t, p == c.p && om == c.om && dq == c.dq && de == c.de,
			"q=%v ε=%v: got %v %v %v %v", c.q, c.eps, p, om, dq, de)
	}
	for _, c := range [][2]float64{{-1e-300, 1}, {1 + 1e-15, 1}, {math.NaN(), 1}, {0.5, math.NaN()}} {
		p, om, dq, de := KLInverseGrad(c[0], c[1])
		for _, x := range []float64{p, om, dq, de, KLInverse(c[0], c[1]), KLInverseUp(c[0], c[1])} {
			must.Hold(t, math.IsNaN(x), "q=%v ε=%v: got %v, want NaN", c[0], c[1], x)
		}
	}
}

func TestKLInverseMonotone(t *testing.T) {
	qs, epss := pairs()
	for i, q := range qs {
		for j, eps := range epss {
			p := KLInverse(q, eps)
			must.Hold(t, (i <= 0 || p >= KLInverse(qs[i-1], eps)) &&
				(j <= 0 || p >= KLInverse(q, epss[j-1])), "not increasing at q=%v ε=%v", q, eps)
		}
	}
}

func TestKLInverseDerivatives(t *testing.T) {
	for _, q := range []float64{0.001, 0.1, 0.5, 0.9} {
		for _, eps := range []float64{1e-3, 0.05, 0.5, 2} {
			_, _, dq, de := KLInverseGrad(q, eps)
			hq, he := 1e-5*q, 1e-5*eps
			if fd := (KLInverse(q+hq, eps) - KLInverse(q-hq, eps)) / (2 * hq); math.Abs(fd-dq) > 1e-7*dq+2e-16/hq {
				t.Errorf("q=%v ε=%v: ∂q %v, difference %v", q, eps, dq, fd)
			}
			if fd := (KLInverse(q, eps+he) - KLInverse(q, eps-he)) / (2 * he); math.Abs(fd-de) > 1e-7*de+2e-16/he {
				t.Errorf("q=%v ε=%v: ∂ε %v, difference %v", q, eps, de, fd)
			}
		}
	}
}

func FuzzKLInverse(f *testing.F) {
	f.Add(0.1, 0.01)
	f.Add(0.0, 700.0)
	f.Add(1e-308, 5e-324)
	f.Add(1-0x1p-53, 1e300)
	f.Fuzz(func(t *testing.T, q, eps float64) {
		if !(0 <= q && q <= 1) || math.IsNaN(eps) {
			if p := KLInverse(q, eps); !math.IsNaN(p) {
				t.Fatalf("KLInverse(%v, %v) = %v, want NaN", q, eps, p)
			}
			return
		}
		checkInverse(t, q, eps)
	})
}

func BenchmarkKLInverseGrad(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		KLInverseGrad(0.1, 0.02)
	}
}
