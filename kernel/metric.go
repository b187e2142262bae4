package kernel

import (
	"math"

	"github.com/krigo-gp/krigo/matrix"
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
	ok = true
	c.each(theta, nil, func(_ int, k Kernel, th, _ []float64) {
		if _, indifferent := k.(indicator); indifferent || !ok {
			return
		}
		var part []float64
		if part, ok = Metric(k, th); !ok {
			return
		}
		if inverse == nil {
			inverse = part
			return
		}
		for t, v := range part {
			// The same expression of the same lengthscales gives the same bits.
			ok = ok && math.Abs(v*inverse[0]-inverse[t]*part[0]) <= 1e-14*math.Abs(v*inverse[0])
		}
	})
	return inverse, ok && inverse != nil
}

// Joint is Metric of a kernel whose parts have metrics that needn't agree: with 1/l² the sum of a product's parts' 1/l_p²,
// and the mean of a sum's, weighted by their variances, the correlation falls about as that of a squared exponential with l.
// It falls with the distance in this scaling alone only if all parts are squared exponentials, in a product.
func Joint(k Kernel, theta []float64) (inverse []float64, ok bool) {
	c, composed := k.(composite)
	if !composed {
		return Metric(k, theta)
	}
	ok = true
	var whole float64
	c.each(theta, nil, func(_ int, k Kernel, th, _ []float64) {
		if _, indifferent := k.(indicator); indifferent || !ok {
			return
		}
		var part []float64
		if part, ok = Joint(k, th); !ok {
			return
		}
		if inverse == nil {
			inverse = make([]float64, len(part))
		}
		weight := []float64{1}
		if !c.product {
			k.Diag(th, matrix.New(1, len(part)), weight)
		}
		whole += weight[0]
		for t, v := range part {
			inverse[t] += weight[0] * v * v
		}
	})
	if c.product {
		whole = 1
	}
	for t, v := range inverse {
		inverse[t] = math.Sqrt(v / whole)
	}
	return inverse, ok && inverse != nil
}
