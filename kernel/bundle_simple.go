package kernel

import (
	"math"

	"github.com/krigo-gp/krigo/internal/linalg"
	"github.com/krigo-gp/krigo/internal/radial"
)

// fillPairs fills dst with σ² times of(x_i, x_j) for every pair of points j ≤ i, all sets side by
// side.
func fillPairs(theta []float64, x, dst linalg.Bundle,
	of func(a, b []float64, dst *[linalg.Abreast]float64)) {
	v := math.Exp(theta[0])
	for i := range x.Rows {
		for j := range i + 1 {
			k := (*[linalg.Abreast]float64)(dst.At(i, j))
			of(x.Row(i), x.Row(j), k)
			for l := range k {
				k[l] *= v
			}
		}
	}
}

// pullPairs does the pull-back of fillPairs.
func pullPairs(theta []float64, x, bar linalg.Bundle, dTheta []float64,
	of func(a, b []float64, dst *[linalg.Abreast]float64)) {
	var k, sums [linalg.Abreast]float64
	for i := range x.Rows {
		for j := range i + 1 {
			of(x.Row(i), x.Row(j), &k)
			for l, g := range bar.At(i, j) {
				sums[l] += g * k[l]
			}
		}
	}
	dTheta[0] += math.Exp(theta[0]) * radial.Total(sums[:])
}

// products fills dst with the inner product of two points of each set.
func products(a, b []float64, dst *[linalg.Abreast]float64) {
	clear(dst[:])
	for t := 0; t < len(a); t += linalg.Abreast {
		p := (*[linalg.Abreast]float64)(a[t:])
		q := (*[linalg.Abreast]float64)(b[t:])
		for l := range dst {
			dst[l] += p[l] * q[l]
		}
	}
}

func (Linear) fillBundle(theta []float64, x, dst linalg.Bundle) {
	fillPairs(theta, x,
		dst, products)
}

func (Linear) pullBundle(theta []float64, x, bar linalg.Bundle, dTheta []float64) {
	pullPairs(theta, x, bar, dTheta, products)
}

// same fills dst with 1 for each set whose two points meet the condition, else with 0.
func (c indicator) same(a, b []float64, dst *[linalg.Abreast]float64) {
	for l := range dst {
		dst[l] = 1
	}
	if !c.white {
		return
	}
	for t, v := range a {
		if v != b[t] {
			dst[t%linalg.Abreast] = 0
		}
	}
}

func (c indicator) fillBundle(theta []float64, x, dst linalg.Bundle) {
	fillPairs(theta, x, dst, c.same)
}

func (c indicator) pullBundle(theta []float64, x, bar linalg.Bundle, dTheta []float64) {
	pullPairs(theta, x, bar, dTheta, c.same)
}
