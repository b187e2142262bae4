package kernel

import (
	"math"
	"slices"

	"github.com/krigo-gp/krigo/internal/lists"
)

// Metric returns the factors that scale the inputs so that the prior's correlation of two points
// falls with their Euclidean distance alone. inverse holds the factor of each input.
// The points nearest to a point are then the points most correlated with it.
// ok is false if there is no such scaling.
//
// Stationary kernels have a metric: their inverse lengthscales.
// A sum or product has a metric if its parts have the same metric up to a factor.
// Constant and white kernels fit every metric.
// A kernel from elsewhere says so with a method of the same name:
// Metric(theta []float64) (inverse []float64, ok bool).
func Metric(k Kernel, theta []float64) (inverse []float64, ok bool) {
	if m, has := k.(interface {
		Metric(theta []float64) ([]float64, bool)
	}); has {
		return m.Metric(theta)
	}
	return nil, false
}

// Metric implements the function Metric by the inverse lengthscales.
func (s *Stationary) Metric(theta []float64) ([]float64, bool) {
	logL2, _, _ := s.unpack(theta)
	return lists.To(s.dim, func(t int) float64 {
		return math.Exp(-0.5 * logL2[min(t, len(logL2)-1)])
	}), true
}

// Metric implements the function Metric. The correlation of a constant or a white kernel doesn't
// depend on where the points are, so parts without distance parameters don't matter.
func (c composite) Metric(theta []float64) (inverse []float64, ok bool) {
	return c.metric(theta, Metric, func(inverse, part []float64) (ok bool) {
		// 0 stands for inputs that a kernel on columns doesn't see
		first := slices.Index(inverse, slices.Max(inverse))
		for t, v := range part {
			// Equal lengthscales of one expression give equal bits.
			if !(math.Abs(v*inverse[first]-inverse[t]*part[first]) <= 1e-14*math.Abs(
				v*inverse[first])) {
				return false
			}
		}
		return true
	})
}

// metric joins the metric of each further part into the metric of the first part.
func (c composite) metric(theta []float64, of func(k Kernel, theta []float64) ([]float64, bool),
	join func(inverse, part []float64) bool) (inverse []float64, ok bool) {
	ok = true
	c.each(theta, nil, func(_ int, k Kernel, th, _ []float64) {
		if _, indifferent := k.(indicator); indifferent || !ok {
			return
		}
		var part []float64
		if part, ok = of(k, th); ok && inverse == nil {
			inverse = slices.Clone(part)
		} else if ok {
			ok = join(inverse, part)
		}
	})
	return inverse, ok && inverse != nil
}

// Joint returns a metric also for a product of kernels with different metrics:
// 1/l² = Σ 1/l_p² over the parts. The correlation of two points then falls about as the correlation
// of a squared exponential does with their distance.
// It is exact for products of squared exponentials.
// For other products, one distance may have several correlations.
// Sums have no such scaling, since some of their parts may matter little.
func Joint(k Kernel, theta []float64) (inverse []float64, ok bool) {
	c, composed := k.(composite)
	if !composed || !c.product {
		return Metric(k, theta)
	}
	return c.metric(theta, Joint, func(inverse, part []float64) bool {
		for t, v := range part {
			inverse[t] = math.Hypot(inverse[t], v)
		}
		return true
	})
}
