package linalg

import (
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/krigo-gp/krigo/internal/compensated"
	"github.com/krigo-gp/krigo/internal/cpu"
)

// Dot returns xᵀy. The order of summation depends only on the length.
func Dot(x, y []float64) float64 { return floats.Dot(x, y) }

// Axpy adds α x to y.
func Axpy(alpha float64, x, y []float64) { floats.AddScaled(y, alpha, x) }

// ScaleTo fills y with α x.
func ScaleTo(y []float64, alpha float64, x []float64) { floats.ScaleTo(y, alpha, x) }

// Scale multiplies x by α.
func Scale(alpha float64, x []float64) { floats.Scale(alpha, x) }

// scale multiplies x by β as BLAS does, so that a β of zero overwrites everything, also NaN.
func scale(beta float64, x []float64) {
	switch beta {
	case 0:
		clear(x)
	case 1:
	default:
		floats.Scale(beta, x)
	}
}

// Sum returns Σ x_i by compensated summation, so that its error doesn't grow with the number of
// rows.
func Sum(x []float64) float64 {
	var s compensated.Sum
	for _, v := range x {
		s.Add(v)
	}
	return s.Value()
}

// Mul multiplies y by x, element by element.
func Mul(y, x []float64) { floats.Mul(y, x) }

//go:generate go run -C ../../tools ./vecgen -set vec -dir ../internal/linalg

// logs are the functions ln of each level, for y and x of equal lengths.
// A level that the machine lacks is nil.
var logs = [...]func(y, x []float64){cpu.Portable: logPortable, cpu.Levels - 1: nil}

// logPortable takes logarithms by math.Log, and corrects them for denormals, for which math.Log is
// wrong on some machines.
func logPortable(y, x []float64) {
	for i, v := range x {
		if 0 < v && v < 0x1p-1022 {
			y[i] = math.Log(v*0x1p54) - 54*math.Ln2
		} else {
			y[i] = math.Log(v)
		}
	}
}

// Log writes ln x_i to y, to 1 ulp. y may be x, and is at least as long.
// A value doesn't depend on its place in the slice. Levels may differ by the error.
func Log(y, x []float64) { logs[Level](y[:len(x)], x) }

// Sincos writes sin x_i to s and cos x_i to c.
func Sincos(s, c, x []float64) {
	for i, v := range x {
		s[i], c[i] = math.Sincos(v)
	}
}

// Minus writes y − x to x.
func Minus(y, x []float64) {
	for i, v := range x {
		x[i] = y[i] - v
	}
}

// Pick copies the rows of x with these numbers to z, and returns z.
func Pick[I int | int32](z, x Matrix, rows []I) Matrix {
	for i, row := range rows {
		if x.Cols > 0 {
			copy(z.Row(i), x.Row(int(row)))
		}
	}
	return z
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
