package pacbayes

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"gonum.org/v1/gonum/integrate/quad"

	"github.com/krigo-gp/krigo/internal/must"
)

// every is one loss of each kind with a half-width of 1 at scale 1.
var every = []Loss{
	{Kind: Band, Below: 1}, {Kind: ClippedSquare, Below: 1}, {Kind: Gaussian, Below: 1},
	{Kind: Relative, Below: 1}, {Kind: Asymmetric, Below: 1, Above: 2}, {Kind: ClippedAbsolute},
	{Kind: Label, Below: 1},
}

// byQuadrature computes Expected at y = 0, mean = −d and scale 1 from its definition. It integrates the loss times a
// density between the kinks of the loss, on pieces of half a σ.
func byQuadrature(l Loss, d, s float64) (e, dMean, dVar float64) {
	const reach = 39
	cuts := []float64{-reach, reach}
	for v := -8.0; v <= 8; v++ { // pieces end at the kinks, and cover the Gaussian loss
		if z := (v + d) / s; math.Abs(z) < reach {
			cuts = append(cuts, z)
		}
	}
	for z := -reach + 0.5; z < reach; z += 0.5 {
		cuts = append(cuts, z)
	}
	slices.Sort(cuts)
	cuts = slices.Compact(cuts)
	// Subtracting the constant level from the loss doesn't change derivatives, and avoids cancellation.
	level := l.Point(0, -d, 1)
	if s > 0.3 || math.Abs(d) > 2 {
		level = 1
	}
	x, w := make([]float64, 40), make([]float64, 40)
	for i, lo := range cuts[:len(cuts)-1] {
		quad.Legendre{}.FixedLocations(x, w, lo, cuts[i+1])
		for j, z := range x {
			loss := l.Point(0, s*z-d, 1)
			f := w[j] * pdf(z)
			e += f * loss
			dMean += f * (loss - level) * z / s
			dVar += f * (loss - level) * (z*z - 1) / (2 * s * s)
		}
	}
	return e, dMean, dVar
}

func TestExpectedQuadrature(t *testing.T) {
	w := worst{}
	for _, l := range every {
		for _, s := range []float64{1e-3, 0.02, 0.1, 0.2, 0.2499, 0.2501, 0.5, 1, 3, 100, 1e4} {
			for _, d := range []float64{0, 1e-8, 0.3, 0.7, 0.999, 1.01, 1.5, 3, 7, 30, 1000} {
				for _, d := range []float64{d, -d} {
					e, dm, dv := l.Expected(0, -d, s*s, 1)
					re, rm, rv := byQuadrature(l, d, s)
					// Derivatives pass through 0 on the scale of 1/σ. If σ is small, the quadrature of the second
					// derivative has rounding errors of 1e-16/σ².
					floor := 1e-3 * min(1, 1/s)
					at := [2]float64{d, s}
					w.check(t, string(l.Kind)+" e", e, re, 1e-290, 1e-11, at)
					w.check(t, string(l.Kind)+" dMean", dm, rm, floor, 1e-11, at)
					w.check(t, string(l.Kind)+" dVar", dv, rv, 1e-6/(s*s), 1e-9, at)
				}
			}
		}
	}
	w.log(t)
}

// Far out, the loss is 1 minus 1e-200, and the derivatives still have digits.
func TestExpectedFarTail(t *testing.T) {
	w := worst{}
	for _, l := range every {
		for _, s := range []float64{0.2, 0.26, 0.4, 1, 20, 1e3} {
			for _, z := range []float64{6, 12, 20, 30} {
				if l.Kind == Gaussian {
					continue // the tail of the loss itself decides here, in closed form
				}
				d := 1 + z*s
				if l.Kind == Label { // the label's own side has no loss
					d = -d
				}
				_, dm, dv := l.Expected(0, -d, s*s, 1)
				_, rm, rv := byQuadrature(l, d, s)
				at := [2]float64{d, s}
				w.check(t, string(l.Kind)+" dMean", dm, rm, 1e-300, 1e-11, at)
				w.check(t, string(l.Kind)+" dVar", dv, rv, 1e-300, 1e-11, at)
			}
		}
	}
	w.log(t)
}

func TestExpectedDerivatives(t *testing.T) {
	for _, l := range every {
		for _, v := range []float64{0.01, 0.05, 0.2, 1, 9} {
			for _, m := range []float64{-2, -0.4, 0.3, 0.9, 1.7} {
				f := func(m, v float64) float64 { e, _, _ := l.Expected(0.25, m, v, 0.8); return e }
				_, dm, dv := l.Expected(0.25, m, v, 0.8)
				h := 1e-4 * math.Sqrt(v)
				fm := (8*(f(m+h, v)-f(m-h, v)) - (f(m+2*h, v) - f(m-2*h, v))) / (12 * h)
				k := 1e-4 * v
				fv := (8*(f(m, v+k)-f(m, v-k)) - (f(m, v+2*k) - f(m, v-2*k))) / (12 * k)
				must.Hold(t, math.Abs(fm-dm) <= 1e-10/math.Sqrt(v),
					"%s m=%v v=%v: ∂m %v, difference %v", l.Kind, m, v, dm, fm)
				must.Hold(t, math.Abs(fv-dv) <= 1e-10/v,
					"%s m=%v v=%v: ∂v %v, difference %v", l.Kind, m, v, dv, fv)
			}
		}
	}
}

func TestExpectedSymmetries(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	near := func(a, b float64) bool { return math.Abs(a-b) <= 1e-12*max(math.Abs(a), 1e-3) }
	for range 2000 {
		y, m := r.NormFloat64(), r.NormFloat64()
		v := math.Exp(4 * r.NormFloat64())
		for _, l := range every {
			e, dm, dv := l.Expected(y, m, v, 0.7)
			// Mirrored at 0, with the two tolerances exchanged, the loss is the same.
			mirror := l
			if l.Kind == Asymmetric {
				mirror.Below, mirror.Above = l.Above, l.Below
			}
			if a, b, c := mirror.Expected(-y, -m, v, 0.7); !near(a, e) || !near(b, -dm) || !near(c, dv) {
				t.Fatalf("%s mirrored: %v %v %v, want %v %v %v", l.Kind, a, b, c, e, -dm, dv)
			}
			// The loss is the same in units 4 times smaller.
			unit := l
			if l.Kind != Relative {
				unit.Below, unit.Above = 4*l.Below, 4*l.Above
			}
			if a, b, c := unit.Expected(4*y, 4*m, 16*v, 2.8); !near(a, e) || !near(4*b, dm) || !near(16*c, dv) {
				t.Fatalf("%s rescaled: %v %v %v, want %v %v %v", l.Kind, a, 4*b, 16*c, e, dm, dv)
			}
			must.Need(t, e >= 0 && e <= 1, "%s: risk %v", l.Kind, e)
		}
		// Three kinds can express the same loss.
		e, _, _ := Loss{Kind: Band, Below: 0.35}.Expected(y, m, v, 0)
		a, _, _ := Loss{Kind: Relative, Below: 0.5}.Expected(y, m, v, 0.7)
		b, _, _ := Loss{Kind: Asymmetric, Below: 0.35, Above: 0.35}.Expected(y, m, v, 0)
		must.Need(t, e == a && e == b, "band %v, relative %v, asymmetric %v", e, a, b)
	}
}

func TestExpectedLimits(t *testing.T) {
	for _, l := range every {
		for _, d := range []float64{0, 0.2, -0.5, 0.99, 1.5, -3, 1e9, -1e200} {
			point := l.Point(2, 2-d, 1)
			for _, v := range []float64{-1, 0, 1e-320, 1e-300, 1e-250, 1e-30} {
				e, dm, dv := l.Expected(2, 2-d, v, 1)
				must.Hold(t, math.Abs(e-point) <= 1e-14,
					"%s d=%v v=%v: %v, want the point loss %v", l.Kind, d, v, e, point)
				must.Hold(t, !math.IsNaN(dm) && !math.IsNaN(dv) && !math.IsInf(dm, 0) &&
					!math.IsInf(dv, 0), "%s d=%v v=%v: derivatives %v, %v", l.Kind, d, v, dm, dv)
			}
		}
		for _, v := range []float64{1e10, 1e100, 1e300} {
			want := 1.
			if l.Kind == Label { // half of the draws have the label's sign
				want = 0.5
			}
			if e, dm, dv := l.Expected(2, 1, v, 1); !(math.Abs(e-want) < 1e-4) || math.IsNaN(dm) || math.IsNaN(dv) {
				t.Errorf("%s v=%v: %v %v %v, want a loss of %v", l.Kind, v, e, dm, dv, want)
			}
		}
		nan := math.NaN()
		for _, c := range [][3]float64{{nan, 0, 1}, {0, nan, 1}, {0, 0, nan}, {nan, 0, 0}} {
			if e, _, _ := l.Expected(c[0], c[1], c[2], 1); !math.IsNaN(e) {
				t.Errorf("%s at %v: %v, want NaN", l.Kind, c, e)
			}
		}
	}
	// A row whose target is 0 has no relative error.
	for _, l := range []Loss{{Kind: Relative, Below: 0.5}, {Kind: ClippedAbsolute}} {
		if e, dm, dv := l.Expected(0.3, 0.3, 0.01, 0); e != 1 || dm != 0 || dv != 0 {
			t.Errorf("%s at scale 0: %v %v %v", l.Kind, e, dm, dv)
		}
		if a, b := l.Point(0.3, 0.3, 0), l.Point(0.3, 0.31, 0); a != 0 || b != 1 {
			t.Errorf("%s at scale 0: point losses %v, %v", l.Kind, a, b)
		}
	}
}

func TestPoint(t *testing.T) {
	for _, c := range []struct {
		loss           Loss
		y, mean, scale float64
		want           float64
	}{
		{Loss{Band, 0.5, 0}, 1, 1.5, 0, 0}, {Loss{Band, 0.5, 0}, 1, 1.75, 0, 1},
		{Loss{ClippedSquare, 0.5, 0}, 1, 1.25, 0, 0.25}, {Loss{ClippedSquare, 0.5, 0}, 1, 9, 0, 1},
		{Loss{Gaussian, 2, 0}, 1, 3, 0, 1 - math.Exp(-1)},
		{Loss{Relative, 0.25, 0}, -4, -3, 4, 0}, {Loss{Relative, 0.25, 0}, -4, -2.9, 4, 1},
		{Loss{Asymmetric, 0.5, 2}, 1, 3, 0, 0}, {Loss{Asymmetric, 0.5, 2}, 1, 0.4, 0, 1},
		{Loss{ClippedAbsolute, 0, 0}, -4, -3, 4, 0.25}, {Loss{ClippedAbsolute, 0, 0}, 4, -4, 4, 1},
		{Loss{Label, 0.5, 0}, 1, 0.51, 0, 0}, {Loss{Label, 0.5, 0}, 1, 0.5, 0, 1}, {Loss{Label, 0.5, 0}, 0, 0.5, 0, 1},
		{Loss{Label, 1, 0}, 1, 3, 0, 0}, {Loss{Label, 1, 0}, -1, 0, 0, 1}, {Loss{Label, 1, 0}, -1, 0.1, 0, 1},
	} {
		must.Near(t, c.loss.Point(c.y, c.mean, c.scale), c.want, 1e-15, fmt.Sprintf("%+v", c))
	}
}

// TestLogDensity: between its ends the loss is −ln of the normal density, but for constants that
// NegativeLog takes back. An infinitely sure prediction loses all or nothing.
func TestLogDensity(t *testing.T) {
	l := Loss{Kind: LogDensity, Below: 3}
	for _, c := range []struct{ d, scale float64 }{{0, 1}, {0.3, 0.4}, {-2, 1.5}, {1, 0.5}, {-0.1, 0.05}} {
		own := math.Log(c.scale*math.Sqrt(2*math.Pi)) + c.d*c.d/(2*c.scale*c.scale)
		must.Near(t, l.NegativeLog(l.Point(2+c.d, 2, c.scale)), own, 1e-12, c)
	}
	must.Near(t, l.NegativeLog(0.5), 0.5*math.Log(2*math.Pi)+0.5, 1e-15)
	for _, c := range []struct{ d, scale, want float64 }{{0, 1e-9, 0}, {1, 0.1, 1}, {1, 1e-300, 1},
		{0, 0, 0}, {1e-300, 0, 1}, {1, math.Inf(1), 1}, {math.Inf(1), 1, 1}} {
		must.Be(t, l.Point(c.d, 0, c.scale), c.want, c)
	}
	must.Hold(t, math.IsNaN(l.Point(math.NaN(), 0, 1)) && math.IsNaN(l.Point(1, 0, math.NaN())), "not NaN")
	e, _, _ := l.Expected(0.2, 0, 0.3, 0.8) // the square of a draw's error has the mean 0.2² + 0.3
	must.Near(t, l.NegativeLog(e), math.Log(0.8*math.Sqrt(2*math.Pi))+(0.04+0.3)/(2*0.64), 1e-4)
}

func TestLossNames(t *testing.T) {
	for _, k := range Losses() {
		if got, err := ParseLoss(string(k)); got != k || err != nil {
			t.Errorf("ParseLoss(%q) = %q, %v", k, got, err)
		}
	}
	_, err := ParseLoss("hinge")
	must.Fail(t, err, "clipped-square, gaussian", "ParseLoss(hinge)")
	for _, l := range every {
		if err := l.Validate(); err != nil {
			t.Errorf("%+v: %v", l, err)
		}
		if want := l.Kind != ClippedSquare && l.Kind != Gaussian && l.Kind != ClippedAbsolute; l.IsZeroOne() != want {
			t.Errorf("%s: IsZeroOne %v", l.Kind, !want)
		}
	}
	for _, l := range []Loss{
		{}, {Kind: "hinge", Below: 1}, {Kind: Band}, {Kind: Gaussian, Below: -1}, {Kind: Relative, Below: math.NaN()},
		{Kind: Band, Below: math.Inf(1)}, {Kind: Asymmetric, Below: 1}, {Kind: Asymmetric, Above: 1},
	} {
		must.Hold(t, l.Validate() != nil, "%+v is valid", l)
	}
}

func rows(n int) (y, mean, variance, scale []float64) {
	r := rand.New(rand.NewPCG(5, 6))
	for range n {
		y = append(y, r.NormFloat64())
		mean = append(mean, r.NormFloat64())
		variance = append(variance, math.Exp(2*r.NormFloat64()))
		scale = append(scale, r.Float64())
	}
	return y, mean, variance, scale
}

// riskOf and pointRiskOf return the risks of a sample on a single rank.
func riskOf(l Loss, y, mean, variance, scale, dMean, dVar []float64) float64 {
	risk, _ := Sample{Y: y, Mean: mean, Variance: variance, Scale: scale}.Risk(l, dMean, dVar)
	return risk
}

func pointRiskOf(l Loss, y, mean, scale []float64) float64 {
	risk, _ := Sample{Y: y, Mean: mean, Scale: scale}.PointRisk(l)
	return risk
}

func TestRisk(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for _, n := range []int{1, 1000, chunkRows, parallelRows - 1, parallelRows, 10001} {
		y, mean, variance, scale := rows(n)
		for _, l := range every {
			var want float64
			dm, dv := make([]float64, n), make([]float64, n)
			got := riskOf(l, y, mean, variance, scale, dm, dv)
			for i := range y {
				e, m, v := l.Expected(y[i], mean[i], variance[i], scale[i])
				want += e / float64(n)
				must.Need(t, dm[i] == m/float64(n) && dv[i] == v/float64(n),
					"%s n=%d: derivatives of row %d", l.Kind, n, i)
			}
			must.Hold(t, math.Abs(got-want) <= 1e-13, "%s n=%d: %v, want %v", l.Kind, n, got, want)
			for _, procs := range []int{1, 3, 8} {
				runtime.GOMAXPROCS(procs)
				if again := riskOf(l, y, mean, variance, scale, nil, nil); again != got {
					t.Errorf("%s n=%d on %d processors: %v, not %v", l.Kind, n, procs, again, got)
				}
			}
			want = 0
			for i := range y {
				want += l.Point(y[i], mean[i], scale[i]) / float64(n)
			}
			must.Near(t, pointRiskOf(l, y, mean, scale), want, 1e-13, fmt.Sprintf("%s n=%d: point risk", l.Kind, n))
		}
	}
	if r := riskOf(every[0], nil, nil, nil, nil, nil, nil); !math.IsNaN(r) {
		t.Errorf("risk of no rows: %v", r)
	}
	for what, f := range map[string]func(){
		"unequal lengths": func() { pointRiskOf(every[0], make([]float64, 3), make([]float64, 2), nil) },
		"no scale":        func() { pointRiskOf(every[3], make([]float64, 3), make([]float64, 3), nil) },
		"unknown loss":    func() { Loss{}.Expected(0, 0, 1, 0) },
	} {
		func() {
			defer func() {
				must.Hold(t, recover() != nil, "%s: no panic", what)
			}()
			f()
		}()
	}
}

func BenchmarkExpected(b *testing.B) {
	for _, l := range every {
		for name, variance := range map[string]float64{"sharp": 0.01, "wide": 1} {
			b.Run(string(l.Kind)+"/"+name, func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					l.Expected(0.3, 0.1, variance, 1)
				}
			})
		}
	}
}
