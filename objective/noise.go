package objective

import (
	"math"

	"github.com/krigo-gp/krigo/internal/quadrature"
	"github.com/krigo-gp/krigo/pacbayes"
)

// Noise is a noise model for SVGP, given by one function that returns ln p(y|f).
// s is the noise variance, or another positive scale that all rows share.
// y, f and s are in scaled units. Expect integrates over f by Gauss–Hermite quadrature, and takes
// derivatives of the function by central differences.
type Noise func(y, f, s float64) float64

var _ pacbayes.Expectation = Noise(nil)

// leastVariance is the least variance of f in a quadrature.
// It keeps derivatives finite if f is known exactly.
const leastVariance = 1e-30

// Expect implements pacbayes.Expectation. Each row's value is E[−ln p(y|f)] for f ~ N(m, v).
// With the nodes z and f = m + √v z, its derivatives are E[ℓ'] by m and E[ℓ' z/(2√v)] by v, where
// ℓ' is the derivative of −ln p(y|f) by f.
func (l Noise) Expect(at pacbayes.Sample, s, weight float64, d pacbayes.Derivatives) (
	value, dNoise float64, err error) {
	const step = 6e-6 // the cube root of float64's relative precision
	nodes, weights := quadrature.Normal()
	return at.SumRows(weight, d.Mean, d.Variance, func(i int) (e, dMean, dVar, dNoise float64) {
		y := at.Y[i]
		sd := math.Sqrt(max(at.Variance[i], leastVariance))
		for k, z := range nodes {
			f := at.Mean[i] + sd*z
			w := weights[k]
			e -= w * l(y, f, s)
			df := step * math.Sqrt(s)
			slope := w * (l(y, f+df, s) - l(y, f-df, s)) / (2 * df)
			dMean -= slope
			dVar -= slope * z / (2 * sd)
			dNoise -= w * (l(y, f, s*(1+step)) - l(y, f, s*(1-step))) / (2 * step * s)
		}
		return e, dMean, dVar, dNoise
	})
}
