package kernel

import (
	"math"

	"github.com/krigo-gp/krigo/internal/linalg"
	"github.com/krigo-gp/krigo/internal/radial"
)

// eachPair calls f for every pair of points j ≤ i, with their coordinates, all sets side by side.
func eachPair(x linalg.Bundle, f func(i, j int, a, b []float64)) {
	for i := range x.Rows {
		for j := range i + 1 {
			f(i, j, x.Row(i), x.Row(j))
		}
	}
}

// products fills dst with the inner products of two points of each set.
func products(a, b []float64, dst *[linalg.Abreast]float64) {
	clear(dst[:])
	for t := 0; t < len(a); t += linalg.Abreast {
		p, q := (*[linalg.Abreast]float64)(a[t:]), (*[linalg.Abreast]float64)(b[t:])
		for l := range dst {
			dst[l] += p[l] * q[l]
		}
	}
}

func (Linear) fillBundle(theta []float64, x, dst linalg.Bundle) {
	v := math.Exp(theta[0])
	eachPair(x, func(i, j int, a, b []float64) {
		k := (*[linalg.Abreast]float64)(dst.At(i, j))
		products(a, b, k)
		for l := range k {
			k[l] *= v
		}
	})
}

func (Linear) pullBundle(theta []float64, x, bar linalg.Bundle, dTheta []float64) {
	var k, sums [linalg.Abreast]float64
	eachPair(x, func(i, j int, a, b []float64) {
		products(a, b, &k)
		for l, g := range bar.At(i, j) {
			sums[l] += g * k[l]
		}
	})
	dTheta[0] += math.Exp(theta[0]) * radial.Total(sums[:])
}

// same fills dst with 1 where the condition on two points of a set holds, else 0.
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
	v := math.Exp(theta[0])
	eachPair(x, func(i, j int, a, b []float64) {
		k := (*[linalg.Abreast]float64)(dst.At(i, j))
		c.same(a, b, k)
		for l := range k {
			k[l] *= v
		}
	})
}

func (c indicator) pullBundle(theta []float64, x, bar linalg.Bundle, dTheta []float64) {
	var k, sums [linalg.Abreast]float64
	eachPair(x, func(i, j int, a, b []float64) {
		c.same(a, b, &k)
		for l, g := range bar.At(i, j) {
			sums[l] += g * k[l]
		}
	})
	dTheta[0] += math.Exp(theta[0]) * radial.Total(sums[:])
}
