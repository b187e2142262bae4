package radial

import "math"

// Group is the number of left points that one call takes.
const Group = 4

// Lanes is the number of partial sums of each sum (see Total).
const Lanes = 8

// Total returns the sum of the lanes, in a fixed order.
func Total(lanes []float64) float64 {
	l := (*[Lanes]float64)(lanes)
	return ((l[0] + l[4]) + (l[1] + l[5])) + ((l[2] + l[6]) + (l[3] + l[7]))
}

// Profile is a covariance function of unit variance, as a function of u = c²d².
// c makes the function simple: points packed with the inverse lengthscales c/l have squared
// distances u.
type Profile int

// The profiles. a is the shape.
const (
	SE       Profile = iota // exp(−d²/2) = e^{−u}
	Matern12                // e^{−d} = e^{−√u}
	Matern32                // (1+√3d) e^{−√3d} = (1+√u) e^{−√u}
	Matern52                // (1+√5d+5d²/3) e^{−√5d} = (1+√u+u/3) e^{−√u}
	RQ                      // (1+d²/(2a))^{−a} = (1+u)^{−a}
)

// Scale returns c.
func (p Profile) Scale(shape float64) float64 {
	return [...]float64{math.Sqrt(0.5), 1, math.Sqrt(3), math.Sqrt(5), math.Sqrt(0.5 / shape)}[p]
}

// at returns k, ∂k/∂u and, for RQ, ∂k/∂ln a.
func (p Profile) at(u, a float64) (k, slope, dShape float64) {
	s := math.Sqrt(u)
	switch p {
	case SE:
		k = math.Exp(-u)
		return k, -k, 0
	case Matern12:
		k = math.Exp(-s)
		if u > 0 {
			slope = -0.5 * k / s
		}
		return k, slope, 0
	case Matern32:
		e := math.Exp(-s)
		return (1 + s) * e, -0.5 * e, 0
	case Matern52:
		e := math.Exp(-s)
		return (1 + s + u/3) * e, -1. / 6 * (1 + s) * e, 0
	}
	l := math.Log1p(u)
	k = math.Exp(-a * l)
	return k, -a * k / (1 + u), a * k * (u/(1+u) - l)
}
