package foreign

import (
	"math"

	"gonum.org/v1/gonum/integrate/quad"

	"github.com/krigo-gp/krigo/method"
	"github.com/krigo-gp/krigo/pacbayes"
)

// Student is Student's t noise for objective.SVGP: y = f + √s T with Nu degrees of freedom,
//
//	−ln p(y|f) = ½ ln(νπs) + ln Γ(ν/2) − ln Γ((ν+1)/2) + ((ν+1)/2) ln(1 + (y−f)²/(νs))
//
// whose expectations are by Gauss–Hermite quadrature, f = m + √v z, and whose derivatives are those of the quadrature.
type Student struct{ Nu float64 }

// It is svgp's noise in a method that options, flags and files know by its name.
func init() {
	method.Register(method.Kind{Name: "svgp-t", Help: "Student's t noise", Size: method.SparseOnly, Optimizer: "adam", Batches: true, FreeForm: true,
		New: func(c method.Choice) method.Method {
			return method.SVGP{Descent: c.Descent(), Batches: c.Stochastic(), Noise: Student{4}}
		}})
}

// hermite is the quadrature of 40 points for E g(z), z ~ N(0, 1).
var hermite = func() (r struct{ z, w [40]float64 }) {
	quad.Hermite{}.FixedLocations(r.z[:], r.w[:], math.Inf(-1), math.Inf(1))
	for i := range r.z {
		r.z[i] *= math.Sqrt2
		r.w[i] /= math.SqrtPi
	}
	return r
}()

// Expect implements pacbayes.Expectation.
func (t Student) Expect(at pacbayes.Sample, noise, weight float64, g, h []float64) (value, dNoise float64, err error) {
	half, _ := math.Lgamma((t.Nu + 1) / 2)
	whole, _ := math.Lgamma(t.Nu / 2)
	scale := t.Nu * noise
	return at.SumRows(weight, g, h, func(i int) (e, dMean, dVar, dNoise float64) {
		e, dNoise = math.Log(math.Pi*scale)/2+whole-half, 1/(2*noise)
		sd := math.Sqrt(max(at.Variance[i], 1e-30))
		for k, z := range hermite.z {
			d := at.Y[i] - at.Mean[i] - sd*z
			w, c := hermite.w[k]*(t.Nu+1)/2, scale+d*d
			e += w * math.Log1p(d*d/scale)
			dMean -= w * 2 * d / c
			dVar -= w * d / c * z / sd
			dNoise -= w * d * d / (noise * c)
		}
		return e, dMean, dVar, dNoise
	})
}
