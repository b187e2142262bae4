package linalg

import (
	"math"

	"gonum.org/v1/gonum/floats"
)

// Dot returns xᵀy. The order of summation depends on the length alone.
func Dot(x, y []float64) float64 { return floats.Dot(x, y) }

// Axpy adds α x to y.
func Axpy(alpha float64, x, y []float64) { floats.AddScaled(y, alpha, x) }

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

// Sum returns Σ x_i by compensated (Neumaier) summation, so that its error
// doesn't grow with the number of rows.
func Sum(x []float64) float64 {
	var s, c float64
	for _, v := range x {
		t := s + v
		if math.Abs(s) >= math.Abs(v) {
			c += (s - t) + v
		} else {
			c += (v - t) + s
		}
		s = t
	}
	if math.IsInf(s, 0) || math.IsNaN(s) {
		return s
	}
	return s + c
}

// Mul multiplies y by x, element by element.
func Mul(y, x []float64) { floats.Mul(y, x) }

// Exp writes exp(x_i) to y, which may be x.
func Exp(y, x []float64) {
	for i, v := range x {
		y[i] = math.Exp(v)
	}
}

// Log1p writes ln(1+x_i) to y, which may be x.
func Log1p(y, x []float64) {
	for i, v := range x {
		y[i] = math.Log1p(v)
	}
}

// Sqrt writes √x_i to y, which may be x.
func Sqrt(y, x []float64) {
	for i, v := range x {
		y[i] = math.Sqrt(v)
	}
}

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
