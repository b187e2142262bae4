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

// Sum returns Σ x_i by compensated summation, so that its error doesn't grow with the number of rows.
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

// logs are ln of each level, of y and x of equal lengths; what a machine lacks is nil.
var logs = [...]func(y, x []float64){cpu.Portable: logPortable, cpu.AVX512: nil}

// logPortable is math.Log, which on some machines is wrong for denormals.
func logPortable(y, x []float64) {
	for i, v := range x {
		if 0 < v && v < 0x1p-1022 {
			y[i] = math.Log(v*0x1p54) - 54*math.Ln2
		} else {
			y[i] = math.Log(v)
		}
	}
}

// Log writes ln x_i to y, which may be x and is at least as long, to 1 ulp. A value doesn't depend on where in the
// slice it stands. It may differ between levels by its error.
func Log(y, x []float64) { logs[Level](y[:len(x)], x) }

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
