package pacbayes

import "github.com/krigo-gp/krigo/internal/lists"

// Expectation is the mean of a function φ(y, f) of a row's target y and a random f ~ N(m, v).
// φ is a loss (Loss) or −ln p(y|f), the negative log density of the noise (objective.SVGP).
// Training needs nothing else of φ.
type Expectation interface {
	// Expect returns weight·Σ_i E φ(y_i, f_i), f_i ~ N(mean_i, variance_i), over the sample's rows
	// on all ranks. It also returns the derivative by noise:
	// the noise variance, or another scale of φ that all rows share.
	// dNoise is 0 if φ has no such scale. Expect fills the slices of d with the derivatives, unless
	// they are nil.
	Expect(s Sample, noise, weight float64, d Derivatives) (value, dNoise float64, err error)
}

// Derivatives holds an expectation's derivatives by mean_i and variance_i, for the rows on this
// rank.
type Derivatives struct{ Mean, Variance []float64 }

var _ Expectation = Loss{}

// SumRows does the work of Expect from a function of single rows:
// row(i) returns E φ(y_i, f_i) and its derivatives.
// The sum is compensated and has a fixed order, so the result doesn't depend on the number of
// processors.
func (s Sample) SumRows(weight float64, g, h []float64,
	row func(i int) (e, dMean, dVar, dNoise float64)) (value, dNoise float64, err error) {
	n := len(s.Y)
	if len(s.Mean) != n || len(s.Variance) != n || (g != nil && len(g) != n) ||
		(h != nil && len(h) != n) {
		panic("pacbayes: slices of unequal length")
	}
	total := sumChunks(n, func(lo, hi int) (part sums) {
		for i := lo; i < hi; i++ {
			e, dMean, dVar, dNoise := row(i)
			part[0].Add(e)
			part[1].Add(dNoise)
			if g != nil {
				g[i] = weight * dMean
			}
			if h != nil {
				h[i] = weight * dVar
			}
		}
		return part
	})
	v := []float64{total[0].Value(), total[1].Value()}
	if s.Sum != nil {
		err = s.Sum(v)
	}
	return weight * v[0], weight * v[1], err
}

// Expect implements Expectation. dNoise is 0, since a loss has no noise.
func (l Loss) Expect(s Sample, _, weight float64,
	d Derivatives) (value, dNoise float64, err error) {
	l.checkRows(len(s.Y), s.Mean, s.Scale)
	return s.SumRows(weight, d.Mean, d.Variance, func(i int) (e, dMean, dVar, dNoise float64) {
		e, dMean, dVar = l.Expected(s.Y[i], s.Mean[i], s.Variance[i], lists.At(s.Scale, i, 0))
		return e, dMean, dVar, 0
	})
}
