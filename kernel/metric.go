package kernel

import (
	"math"
	"slices"
)

// Metric returns what each input is divided by, the inverse of it, so that the prior's correlation of two points
// falls with their Euclidean distance alone; ok is false where there is no such scaling. Then the rows that are
// correlated most with a point are those nearest to it.
//
// Stationary kernels have one, their lengthscales. So have sums and products of kernels that agree about it, but
// for a factor; constants and white noise agree with all. A kernel from elsewhere says so by a method of the same
// name: Metric(theta []float64) (inverse []float64, ok bool).
func Metric(k Kernel, theta []float64) (inverse []float64, ok bool) {
	if m, has := k.(interface {
		Metric(theta []float64) ([]float64, bool)
	}); has {
		return m.Metric(theta)
	}
	return nil, false
}

// Metric is that of the function of the same name.
func (s *Stationary) Metric(theta []float64) ([]float64, bool) {
	logL2, _, _ := s.unpack(theta)
	inverse := make([]float64, s.dim)
	for t := range inverse {
		inverse[t] = math.Exp(-0.5 * logL2[min(t, len(logL2)-1)])
	}
	return inverse, true
}

// Metric is that of the function of the same name. Neither correlation nor its absence depends on where two
// points are, so that parts without parameters of distance don't matter.
func (c composite) Metric(theta []float64) (inverse []float64, ok bool) {
	return c.metric(theta, Metric, func(inverse, part []float64) (ok bool) {
		ok = true
		for t, v := range part {
			// The same expression of the same lengthscales gives the same bits.
			ok = ok && math.Abs(v*inverse[0]-inverse[t]*part[0]) <= 1e-14*math.Abs(v*inverse[0])
		}
		return ok
	})
}

// metric is that of the parts, joined one by one into the first.
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

// Joint is Metric also of a product of kernels with metrics that don't agree: with 1/l² = Σ 1/l_p² over its parts, in
// which the correlation of two points falls with their distance about as that of a squared exponential does. Of
// products of these it is exact; of others the same distance may be one correlation or another. Parts of sums matter
// more or less, so that there is no such scaling.
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
