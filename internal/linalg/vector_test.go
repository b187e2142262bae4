package linalg

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/krigo-gp/krigo/internal/cpu"
)

// levels are those that this machine can run.
func levels() (all []cpu.Level) {
	for l := range functions {
		if functions[l].exp != nil && cpu.Level(l) <= cpu.Best() {
			all = append(all, cpu.Level(l))
		}
	}
	return all
}

// A precise function is one of the five with a reference of some 300 bits.
type precise struct {
	name   string
	at     func(elementary) func(y, x []float64)
	exact  func(x float64) *big.Float // of finite values
	ulps   [2]float64                 // the stated error: portable, others
	lo, hi float64                    // where values are drawn from, linearly
	edges  map[float64]float64        // special points, beside NaN
}

var (
	inf      = math.Inf(1)
	nan      = math.NaN()
	negZero  = math.Copysign(0, -1)
	smallest = math.SmallestNonzeroFloat64
)

var precises = []precise{
	{"Exp", func(e elementary) func(y, x []float64) { return e.exp }, bigExp64, [2]float64{2.5, 1}, -750, 712,
		map[float64]float64{0: 1, negZero: 1, inf: inf, -inf: 0, 710: inf, 1e300: inf, -746: 0, -1e300: 0, smallest: 1,
			-745.2: 0}},
	{"Log", func(e elementary) func(y, x []float64) { return e.log }, func(x float64) *big.Float { return bigLog(bf(x)) },
		[2]float64{1, 1}, 0, 10,
		map[float64]float64{0: -inf, negZero: -inf, inf: inf, -1: nan, -inf: nan, -smallest: nan, 1: 0}},
	{"Log1p", func(e elementary) func(y, x []float64) { return e.log1p }, bigLog1p, [2]float64{1, 1}, -1, 10,
		map[float64]float64{0: 0, negZero: negZero, inf: inf, -1: -inf, -2: nan, -inf: nan, smallest: smallest,
			-smallest: -smallest, 1e-300: 1e-300}},
	{"NormalTail", func(e elementary) func(y, x []float64) { return e.normalTail }, bigTail, [2]float64{6, 6}, -9, 38.6,
		map[float64]float64{0: 0.5, negZero: 0.5, inf: 0, -inf: 1, 39: 0, 1e300: 0, -1e300: 1, -40: 1}},
	{"Sqrt", func(e elementary) func(y, x []float64) { return e.sqrt },
		func(x float64) *big.Float { return new(big.Float).Sqrt(bf(x)) }, [2]float64{0.5, 0.5}, 0, 10,
		map[float64]float64{0: 0, negZero: negZero, inf: inf, -1: nan}},
}

func TestEdges(t *testing.T) {
	for _, p := range precises {
		for _, l := range levels() {
			x, want := []float64{nan}, []float64{nan}
			for in, out := range p.edges {
				x, want = append(x, in), append(want, out)
			}
			y := make([]float64, len(x))
			p.at(functions[l])(y, x)
			for i := range x {
				if math.Float64bits(y[i]) != math.Float64bits(want[i]) && !(y[i] != y[i] && want[i] != want[i]) {
					t.Errorf("%s at %s: of %v it is %v, want %v", p.name, l, x[i], y[i], want[i])
				}
			}
		}
	}
}

// points mixes values over the whole range of floats with dense ones where the
// function lives.
func (p precise) points(n int) []float64 {
	rng := rand.New(rand.NewPCG(17, 19))
	var x []float64
	for len(x) < n {
		v := p.lo + (p.hi-p.lo)*rng.Float64()
		switch len(x) % 4 {
		case 0:
			v = math.Ldexp(1+rng.Float64(), rng.IntN(2098)-1074)
			if p.lo < 0 && rng.IntN(2) == 0 {
				v = -v
			}
		case 1: // around 1 and 0, where logarithms cancel
			v = math.Ldexp(rng.Float64()-0.5, -rng.IntN(60))
			if p.lo == 0 {
				v++
			}
		}
		if v >= p.lo {
			x = append(x, v)
		}
	}
	return x
}

func TestErrorsInUlps(t *testing.T) {
	for _, p := range precises {
		n := 6000
		if testing.Short() {
			n = 1000
		}
		x := p.points(n)
		y := make([][]float64, len(functions))
		worst, where := make([]float64, len(functions)), make([]float64, len(functions))
		for _, l := range levels() {
			y[l] = make([]float64, n)
			p.at(functions[l])(y[l], x)
		}
		for i, v := range x {
			ref := p.exact(v)
			for _, l := range levels() {
				if e := ulps(y[l][i], ref); !(e <= worst[l]) {
					worst[l], where[l] = e, v
				}
			}
		}
		for _, l := range levels() {
			t.Logf("%s at %s: %.3f ulp, at %v", p.name, l, worst[l], where[l])
			if stated := p.ulps[min(l, 1)]; !(worst[l] <= stated) {
				t.Errorf("%s at %s: %.3f ulp at %v, stated are %v", p.name, l, worst[l], where[l], stated)
			}
		}
	}
}

func TestTailKeepsRelativeAccuracy(t *testing.T) {
	x := []float64{1, 5, 10, 20, 30, 35, 37, 37.5}
	for _, l := range levels() {
		y := make([]float64, len(x))
		functions[l].normalTail(y, x)
		for i, v := range x {
			r, _ := new(big.Float).Quo(bf(y[i]), bigTail(v)).Float64()
			if !(math.Abs(r-1) < 2e-15) {
				t.Errorf("%s: the tail at %v is off by %g of itself", l, v, r-1)
			}
		}
	}
}

func TestValueDoesNotDependOnPosition(t *testing.T) {
	for _, p := range precises {
		x := p.points(60)
		for _, l := range levels() {
			f := p.at(functions[l])
			want := make([]float64, len(x))
			for i := range x {
				f(want[i:i+1], x[i:i+1])
			}
			for n := range 41 {
				for offset := range 9 {
					in := slices.Clone(x[offset : offset+n])
					guarded := slices.Repeat([]float64{-77}, n+2)
					f(guarded[1:1+n], in)
					if guarded[0] != -77 || guarded[n+1] != -77 {
						t.Fatalf("%s at %s wrote outside a slice of %d", p.name, l, n)
					}
					f(in, in) // in place
					for i, v := range in {
						w := want[offset+i]
						if same := math.Float64bits(v) == math.Float64bits(w); !same ||
							math.Float64bits(guarded[1+i]) != math.Float64bits(w) {
							t.Fatalf("%s at %s: element %d of %d gives %v, alone %v", p.name, l, i, n, v, w)
						}
					}
				}
			}
		}
	}
}

// FuzzFunctionsAgree holds the levels against one another: each is within its stated
// error of the truth.
func FuzzFunctionsAgree(f *testing.F) {
	for _, v := range []float64{0, 1, -1, 0.5, 709.7, -745, 1e-310, 37.6, inf, nan, -0.7} {
		f.Add(v)
	}
	f.Fuzz(func(t *testing.T, v float64) {
		for _, p := range precises {
			want := make([]float64, 1)
			p.at(functions[cpu.Portable])(want, []float64{v})
			for _, l := range levels() {
				got := make([]float64, 1)
				p.at(functions[l])(got, []float64{v})
				if got[0] == want[0] || got[0] != got[0] && want[0] != want[0] {
					continue
				}
				bound := (p.ulps[0] + p.ulps[1]) * ulp(want[0])
				if !(math.Abs(got[0]-want[0]) <= bound) {
					t.Errorf("%s(%v): %s %v, portable %v", p.name, v, l, got[0], want[0])
				}
			}
		}
	})
}

func BenchmarkElementary(b *testing.B) {
	x, y := make([]float64, 4096), make([]float64, 4096)
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range x {
		x[i] = 10 * rng.Float64()
	}
	for _, p := range precises {
		for _, l := range levels() {
			b.Run(fmt.Sprintf("%s/%s", p.name, l), func(b *testing.B) {
				f := p.at(functions[l])
				for b.Loop() {
					f(y, x)
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(x)), "ns/element")
			})
		}
	}
}

// ulp is the distance of float64s in the binade of x.
func ulp(x float64) float64 {
	x = min(math.Abs(x), 0x1.8p1023) // the next one must exist
	return math.Nextafter(x, inf) - x
}

// ulps is |got − want| in units of the last place of the want.
func ulps(got float64, want *big.Float) float64 {
	w, _ := want.Float64()
	if math.IsInf(w, 0) || math.IsInf(got, 0) || w == 0 && got == 0 {
		if got == w {
			return 0
		}
		return inf
	}
	d := new(big.Float).Sub(bf(got), want)
	e, _ := d.Quo(d, bf(ulp(w))).Float64()
	return math.Abs(e)
}

const precision = 300

func bf(x float64) *big.Float { return new(big.Float).SetPrec(precision).SetFloat64(x) }

// bigExp is eˣ by halving the argument 40 times and the Taylor series.
func bigExp(x *big.Float) *big.Float {
	const halvings = 40
	r := new(big.Float).SetPrec(precision+60).SetMantExp(x, -halvings)
	sum, term := bf(1).SetPrec(precision+60), bf(1).SetPrec(precision+60)
	for i := 1; i < 16; i++ {
		term.Mul(term, r)
		term.Quo(term, bf(float64(i)))
		sum.Add(sum, term)
	}
	for range halvings {
		sum.Mul(sum, sum)
	}
	return sum
}

// bigExp64 stays away from exponents that only cost time.
func bigExp64(x float64) *big.Float { return bigExp(bf(max(-2000, min(x, 2000)))) }

var bigLn2 = bigLogNear(bf(0.5)).Neg(bigLogNear(bf(0.5)))

// bigLog is ln x by splitting off the power of two.
func bigLog(x *big.Float) *big.Float {
	if x.Sign() == 0 {
		return bf(-inf)
	}
	m := new(big.Float).SetPrec(precision)
	e := x.MantExp(m)
	if m.Cmp(bf(math.Sqrt2/2)) < 0 {
		m.SetMantExp(m, 1)
		e--
	}
	return new(big.Float).Add(bigLogNear(m), new(big.Float).Mul(bigLn2, bf(float64(e))))
}

func bigLog1p(x float64) *big.Float {
	if math.Abs(x) < 0x1p-120 { // x − x²/2: 1+x wouldn't fit
		return new(big.Float).Sub(bf(x), new(big.Float).Mul(bf(x), bf(x/2)))
	}
	return bigLog(new(big.Float).Add(bf(1), bf(x)))
}

// bigLogNear is 2 artanh((m−1)/(m+1)) by its series, for ½ ≤ m < 2.
func bigLogNear(m *big.Float) *big.Float {
	s := new(big.Float).Quo(new(big.Float).Sub(m, bf(1)), new(big.Float).Add(m, bf(1)))
	z, power, sum := new(big.Float).Mul(s, s), new(big.Float).Set(s), bf(0)
	for i := 1; i < 220; i += 2 {
		sum.Add(sum, new(big.Float).Quo(power, bf(float64(i))))
		power.Mul(power, z)
	}
	return sum.SetMantExp(sum, 1)
}

// bigTail is the upper tail of the normal: its continued fraction from 4 on, else
// ½ − φ(x)(x + x³/3 + x⁵/15 + …).
func bigTail(x float64) *big.Float {
	if x < 0 {
		return new(big.Float).Sub(bf(1), bigTail(-x))
	}
	if x > 40 {
		return bf(0)
	}
	X := bf(x)
	square := new(big.Float).Mul(X, X)
	phi := bigExp(new(big.Float).Mul(square, bf(-0.5)))
	phi.Quo(phi, bigRoot2Pi)
	if x < 4 {
		term, sum := bf(x), bf(x)
		for i := 3; i < 260; i += 2 {
			term.Mul(term, square)
			term.Quo(term, bf(float64(i)))
			sum.Add(sum, term)
		}
		return new(big.Float).Sub(bf(0.5), sum.Mul(sum, phi))
	}
	f := bf(x)
	for i := 400; i >= 1; i-- {
		f.Quo(bf(float64(i)), f)
		f.Add(f, X)
	}
	return phi.Quo(phi, f)
}

// bigRoot2Pi is √(2π), π by Machin's formula.
var bigRoot2Pi = func() *big.Float {
	arctan := func(inverse float64) *big.Float {
		power, sum := new(big.Float).Quo(bf(1), bf(inverse)), bf(0)
		for i := 0; i < 240; i++ {
			term := new(big.Float).Quo(power, bf(float64(2*i+1)))
			if i%2 == 1 {
				term.Neg(term)
			}
			sum.Add(sum, term)
			power.Quo(power, bf(inverse*inverse))
		}
		return sum
	}
	pi := new(big.Float).Sub(new(big.Float).Mul(bf(16), arctan(5)), new(big.Float).Mul(bf(4), arctan(239)))
	return pi.Sqrt(pi.SetMantExp(pi, 1))
}()
