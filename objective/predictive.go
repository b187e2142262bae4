package objective

import (
	"math"

	"github.com/krigo-gp/krigo/pacbayes"
)

// LogDensity, SquaredError and CRPS are costs of a Gaussian prediction N(m, v + s) of y, for f ~
// N(m, v) with noise s.
// They serve as the Term of a NearestProblem, whose default is LogDensity.
// A pacbayes.Loss and GaussianNoise may be a Term too.
// Like any other pacbayes.Expectation, they are means over f ~ N(m, v) without noise:
// a Loss is the risk of a draw of f.

// LogDensity is −ln N(y; m, v+s) = ½ ln 2π(v+s) + (y−m)²/(2(v+s)).
type LogDensity struct{}

var _ pacbayes.Expectation = LogDensity{}

func (LogDensity) Expect(at pacbayes.Sample, noise, weight float64, d pacbayes.Derivatives) (
	value, dNoise float64, err error) {
	return predictive(at, noise, weight, d, func(d, v float64) (e, dMean, dVar float64) {
		return (math.Log(2*math.Pi*v) + d*d/v) / 2, -d / v, (1 - d*d/v) / (2 * v)
	})
}

// SquaredError is (y − m)², which doesn't depend on the variance.
type SquaredError struct{}

var _ pacbayes.Expectation = SquaredError{}

func (SquaredError) Expect(at pacbayes.Sample, noise, weight float64, d pacbayes.Derivatives) (
	value, dNoise float64, err error) {
	return predictive(at, noise, weight, d, func(d, _ float64) (e, dMean, dVar float64) {
		return d * d, -2 * d, 0
	})
}

// CRPS is the continuous ranked probability score of N(m, v+s), ∫ (F(t) − 1{t ≥ y})² dt (Gneiting
// and Raftery 2007, Eq. 21): with σ² = v+s, z = (y−m)/σ
//
//	σ [z (2Φ(z) − 1) + 2φ(z) − 1/√π]
//
// in the units of y. Its derivatives are 1 − 2Φ(z) by m, and (2φ(z) − 1/√π)/(2σ) by σ².
type CRPS struct{}

var _ pacbayes.Expectation = CRPS{}

func (CRPS) Expect(at pacbayes.Sample, noise, weight float64, d pacbayes.Derivatives) (
	value, dNoise float64, err error) {
	return predictive(at, noise, weight, d, func(d, v float64) (e, dMean, dVar float64) {
		sigma := math.Sqrt(v)
		z := d / sigma
		inside := math.Erf(z / math.Sqrt2) // 2Φ(z) − 1
		spread := 2*math.Exp(-z*z/2)/math.Sqrt(2*math.Pi) - 1/math.Sqrt(math.Pi)
		return sigma * (z*inside + spread), -inside, spread / (2 * sigma)
	})
}

// predictive implements Expect for a cost function of, whose d is y − m and whose v is the variance
// of the prediction of y.
func predictive(at pacbayes.Sample, noise, weight float64, d pacbayes.Derivatives,
	of func(d, v float64) (e, dMean, dVar float64)) (value, dNoise float64, err error) {
	return at.SumRows(weight, d.Mean, d.Variance, func(i int) (e, dMean, dVar, dNoise float64) {
		e, dMean, dVar = of(at.Y[i]-at.Mean[i], at.Variance[i]+noise)
		return e, dMean, dVar, dVar
	})
}
