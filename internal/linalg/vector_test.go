package linalg

import (
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/krigo-gp/krigo/internal/cpu"
	"github.com/krigo-gp/krigo/internal/must"
)

// levels returns the levels that this machine can run.
func levels() (all []cpu.Level) {
	for _, l := range cpu.Available() {
		if logs[l] != nil {
			all = append(all, l)
		}
	}
	return all
}

var (
	inf = math.Inf(1)
	nan = math.NaN()
)

// TestLog: special points are right to the bit. Other points are right to 1 ulp of a 300-bit logarithm, and the
// neighbouring points make no difference. Log writes nothing else.
func TestLog(t *testing.T) {
	const smallest = math.SmallestNonzeroFloat64
	rng := rand.New(rand.NewPCG(17, 19))
	x := []float64{0, math.Copysign(0, -1), inf, -1, -inf, -smallest, 1, nan, smallest, 0x1.fp-1023}
	want := []float64{-inf, -inf, inf, nan, nan, nan, 0, nan}
	for i := range 1000 { // over the whole range, near 1, and small numbers
		x = append(x, []float64{math.Ldexp(1+rng.Float64(), rng.IntN(2098)-1074),
			1 + math.Ldexp(rng.Float64()-0.5, -rng.IntN(60)), 10 * rng.Float64()}[i%3])
	}
	for _, l := range levels() {
		y := make([]float64, len(x))
		logs[l](y, x)
		for i, v := range x {
			if i < len(want) {
				if math.Float64bits(y[i]) != math.Float64bits(want[i]) && !(y[i] != y[i] && want[i] != want[i]) {
					t.Errorf("%s: ln %v is %v, want %v", l, v, y[i], want[i])
				}
			} else if e := ulps(y[i], bigLog(bf(v))); !(e <= 1) {
				t.Errorf("%s: ln %v is off by %.3f ulp", l, v, e)
			}
		}
		for n := range 41 {
			in, guarded := slices.Clone(x[n:2*n]), slices.Repeat([]float64{-77}, n+2)
			logs[l](guarded[1:1+n], in)
			must.Need(t, guarded[0] == -77 && guarded[n+1] == -77,
				"%s wrote outside a slice of %d", l, n)
			logs[l](in, in)
			for i, v := range in {
				if a, b := math.Float64bits(v), math.Float64bits(guarded[1+i]); a != b ||
					a != math.Float64bits(y[n+i]) && y[n+i] == y[n+i] {
					t.Fatalf("%s: element %d of %d gives %v and %v, among others %v", l, i, n, v, guarded[1+i], y[n+i])
				}
			}
		}
	}
}

// ulp returns the distance between float64s in the binade of x.
func ulp(x float64) float64 {
	x = min(math.Abs(x), 0x1.8p1023) // the next float64 must exist
	return math.Nextafter(x, inf) - x
}

// ulps returns |got − want| in units of want's last place.
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

var bigLn2 = bigLogNear(bf(0.5)).Neg(bigLogNear(bf(0.5)))

// bigLog returns ln x, after splitting off the power of two.
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

// bigLogNear returns ln m = 2 artanh((m−1)/(m+1)) by its series, for ½ ≤ m < 2.
func bigLogNear(m *big.Float) *big.Float {
	s := new(big.Float).Quo(new(big.Float).Sub(m, bf(1)), new(big.Float).Add(m, bf(1)))
	z, power, sum := new(big.Float).Mul(s, s), new(big.Float).Set(s), bf(0)
	for i := 1; i < 220; i += 2 {
		sum.Add(sum, new(big.Float).Quo(power, bf(float64(i))))
		power.Mul(power, z)
	}
	return sum.SetMantExp(sum, 1)
}
