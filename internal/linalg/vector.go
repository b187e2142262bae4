package linalg

import (
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/krigo-gp/krigo/internal/compensated"
	"github.com/krigo-gp/krigo/internal/cpu"
)

// Dot returns xᵀy. The order of summation depends on the length alone.
func Dot(x, y []float64) float64 { return floats.Dot(x, y) }

// Axpy adds α x to y.
func Axpy(alpha float64, x, y []float64) { floats.AddScaled(y, alpha, x) }

// ScaleTo fills y with α x.
func ScaleTo(y []float64, alpha float64, x []float64) { floats.ScaleTo(y, alpha, x) }

// Scale multiplies x by α.
func Scale(alpha float64, x []float64) { floats.Scale(alpha, x) }

// scale is BLAS's reading of β: zero overwrites, also what isn't a number.
func scale(beta float64, x []float64) {
	switch beta {
	case 0:
		clear(x)
	case 1:
	default:
		floats.Scale(beta, x)
	}
}

// Sum returns Σ x_i by compensated summation, so that its error doesn't grow
// with the number of rows.
func Sum(x []float64) float64 {
	var s compensated.Sum
	for _, v := range x {
		s.Add(v)
	}
	return s.Value()
}

// Mul multiplies y by x, element by element.
func Mul(y, x []float64) { floats.Mul(y, x) }

//go:generate go run -C ../../tools ./vecgen -set elementary -pkg linalg -out ../internal/linalg/vec_amd64.s -stubs ../internal/linalg/vec_amd64.go

// elementary holds the functions of one level; y and x have equal lengths.
type elementary struct {
	exp, log, log1p, normalTail, sqrt func(y, x []float64)
}

// functions are those of each level; what a machine lacks stays empty.
var functions = [...]elementary{cpu.Portable: {
	each(exponential), each(logarithm), each(math.Log1p), each(normalTail), each(math.Sqrt),
}, cpu.AVX512: {}}

// vector is the chosen level's.
var vector = functions[cpu.Portable]

func each(f func(float64) float64) func(y, x []float64) {
	return func(y, x []float64) {
		for i, v := range x {
			y[i] = f(v)
		}
	}
}

// exponential is math.Exp, which on some machines overflows half a unit too early.
func exponential(x float64) float64 {
	if x > 709 {
		return math.Exp(x-1) * math.E
	}
	return math.Exp(x)
}

// logarithm is math.Log, which on some machines is wrong for denormals.
func logarithm(x float64) float64 {
	if 0 < x && x < 0x1p-1022 {
		return math.Log(x*0x1p54) - 54*math.Ln2
	}
	return math.Log(x)
}

// normalTail is ½ erfc(t), t = x/√2, with a correction: the rounding of t alone would
// cost x² ulps in the tail. With d = x − t√2, Q(x) = Q(t√2)(1 − d·φ/Q + …), and φ/Q is x
// to all the digits that matter.
func normalTail(x float64) float64 {
	const sqrt2Rest = -0x1.bdd3413b26456p-54 // √2 − math.Sqrt2
	q := 0.5 * math.Erfc(x/math.Sqrt2)
	if 1 < x && x < 40 {
		t := x / math.Sqrt2
		q *= 1 - x*(math.FMA(-t, math.Sqrt2, x)-t*sqrt2Rest)
	}
	return q
}

// The functions below write f(x_i) to y, which may be x and is at least as long as
// x. A value doesn't depend on where in the slice it stands. It may differ between
// levels, within the errors stated; the portable ones are package math's.

// Exp is eˣ, to 1 ulp (portable: 2.5).
func Exp(y, x []float64) { vector.exp(y[:len(x)], x) }

// Log is ln x, to 1 ulp.
func Log(y, x []float64) { vector.log(y[:len(x)], x) }

// Log1p is ln(1+x), to 1 ulp.
func Log1p(y, x []float64) { vector.log1p(y[:len(x)], x) }

// NormalTail is Q(x) = ½ erfc(x/√2), the upper tail of the standard normal
// distribution, to 6 ulp, down to underflow at x = 38.5.
func NormalTail(y, x []float64) { vector.normalTail(y[:len(x)], x) }

// Sqrt is √x, correctly rounded.
func Sqrt(y, x []float64) { vector.sqrt(y[:len(x)], x) }

// Sincos writes sin x_i to s and cos x_i to c.
func Sincos(s, c, x []float64) {
	for i, v := range x {
		s[i], c[i] = math.Sincos(v)
	}
}

// Finite says whether every value is a finite number.
func Finite(x []float64) bool {
	for _, v := range x {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return false
		}
	}
	return true
}
