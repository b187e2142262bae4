package foreign

import (
	"math"

	"github.com/krigo-gp/krigo/method"
	"github.com/krigo-gp/krigo/objective"
)

// Student returns Student's t noise for objective.SVGP. The model is y = f + √s T, where T has nu degrees of freedom:
//
//	ln p(y|f) = ln Γ((ν+1)/2) − ln Γ(ν/2) − ½ ln(νπs) − ((ν+1)/2) ln(1 + (y−f)²/(νs))
func Student(nu float64) objective.Noise {
	half, _ := math.Lgamma((nu + 1) / 2)
	whole, _ := math.Lgamma(nu / 2)
	return func(y, f, s float64) float64 {
		return half - whole - math.Log(nu*math.Pi*s)/2 - (nu+1)/2*math.Log1p((y-f)*(y-f)/(nu*s))
	}
}

// The method "svgp-t" is svgp with this noise. Options and flags know the method's name, and models store the noise's
// name.
func init() {
	objective.RegisterNoise("student-4", Student(4))
	method.Register(method.Kind{Name: "svgp-t", Help: "Student's t noise", Size: method.SparseOnly, FreeForm: true,
		Method: method.SVGP{Batched: method.Batched{Optimizer: "adam"}, Noise: "student-4"}})
}
