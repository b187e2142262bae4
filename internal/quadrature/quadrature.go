// Package quadrature holds Gauss's rules, for integrals without a closed form.
package quadrature

import (
	"math"
	"sync"

	"gonum.org/v1/gonum/integrate/quad"
)

// Normal returns 40 nodes and weights for E g(z), z ~ N(0, 1), which are exact for polynomials of
// degree up to 79.
var Normal = sync.OnceValues(func() (z, w []float64) {
	z, w = make([]float64, 40), make([]float64, 40)
	quad.Hermite{}.FixedLocations(z, w, math.Inf(-1), math.Inf(1))
	for i := range z {
		z[i] *= math.Sqrt2
		w[i] /= math.SqrtPi
	}
	return z, w
})

var unit = sync.OnceValues(func() (x, w []float64) {
	x, w = make([]float64, 10), make([]float64, 10)
	quad.Legendre{}.FixedLocations(x, w, 0, 1)
	return x, w
})

// Panels calls visit with the nodes and weights of a ten-point rule on each interval between two
// edges, which ascend.
func Panels(edges []float64, visit func(x, w float64)) {
	x, w := unit()
	for i := range len(edges) - 1 {
		a := edges[i]
		width := edges[i+1] - edges[i]
		for k, at := range x {
			visit(a+at*width, w[k]*width)
		}
	}
}
