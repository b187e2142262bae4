package objective

import "math"

// Sides of limits of detection.
const (
	Measured = 0
	Under    = -1 // y is below the limit
	Over     = 1  // y is above the limit
)

// Limited updates the sites of rows whose target y is known to lie on a side of a limit c, by
// expectation propagation (Minka 2001; Groot & Lucas 2012 for limits).
// f_i has the cavity N(m, v) without its own site.
// With z = side (m − c) / √(v+s), r = φ(z)/Φ(z), g = side r/√(v+s) and δ = r (z + r)/(v+s)
//
//	Z = P(y on its side) = Φ(z),  ln Z' = g,  −ln Z'' = δ  (derivatives by m)
//
// the site is a measured target ỹ = m + g/δ of the noise variance 1/δ − v.
// This variance is at least s. The derivative of ln Z by s, −rz/(2(v+s)) = ½(g² − δ), is also the
// derivative of ln N(ỹ; m, v + s + V) for V = 1/δ − v − s.
// So the evidence of measured targets ỹ with the noise variances s + V has the right derivatives by
// all parameters.
type Limited struct {
	Side  []float64
	Limit []float64 // limits, or targets of measured rows
}

// Sites are measured targets Y, with the noise variances s + Known.
type Sites struct{ Y, Known []float64 }

// Update returns new sites, given the moments of f with the old sites.
// Measured rows keep their targets.
func (l Limited) Update(at Sites, mean, variance []float64, s float64) Sites {
	y := at.Y
	newY := make([]float64, len(y))
	newKnown := make([]float64, len(y))
	for i, side := range l.Side {
		if side == Measured {
			newY[i] = y[i]
			continue
		}
		// The cavity is the marginal of f, divided by the site N(y_i; f, d).
		d := s + at.Known[i]
		v := 1 / max(1/variance[i]-1/d, 1e-12)
		m := v * (mean[i]/variance[i] - y[i]/d)
		_, g, delta := limitMoments(side, l.Limit[i], m, v, s)
		// The site's variance 1/δ − v is s + Known.
		newKnown[i] = min(max(1/delta-v-s, 0), mostSite)
		newY[i] = m + g*(newKnown[i]+s+v)
	}
	return Sites{newY, newKnown}
}

// mostSite limits the noise variance of a site.
// A site this wide says nothing about a target in standard deviations.
const mostSite = 1e6

// limitMoments returns ln Z and its first two derivatives by m, the second with the other sign.
func limitMoments(side, limit, m, v, s float64) (logZ, g, delta float64) {
	root := math.Sqrt(v + s)
	z := side * (m - limit) / root
	logZ, r, over := logCDF(z)
	return logZ, side * r / root, r * over / (v + s)
}

// logCDF returns the logarithm log of Φ(z), and what its derivatives by z need:
// the first derivative is r = φ(z)/Φ(z), and the second is −r·over with over = r + z.
// Far below 0, r is nearly −z. over keeps its digits there, because it isn't computed as that sum.
func logCDF(z float64) (log, r, over float64) {
	if z > -5 {
		p := math.Erfc(-z/math.Sqrt2) / 2
		r = math.Exp(-z*z/2) / math.Sqrt(2*math.Pi) / p
		return math.Log(p), r, r + z
	}
	// Laplace's continued fraction: 1/r = 1/(x + 1/(x + 2/(x + 3/(x + …)))) for x = −z
	x := -z
	tail := 0.
	for k := 60.; k >= 1; k-- {
		tail = k / (x + tail)
	}
	r = x + tail
	return -z*z/2 - math.Log(2*math.Pi)/2 - math.Log(r), r, tail
}
