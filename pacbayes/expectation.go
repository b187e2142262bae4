package pacbayes

// Expectation is the mean of a function φ of a row's target and of f there, over f ~ N(m, v): of a loss
// (Loss), or of −ln p(y|f), the noise of a likelihood (objective.SVGP). It is all that training asks of either.
type Expectation interface {
	// Expect returns weight·Σ_i E φ(y_i, f_i), f_i ~ N(mean_i, variance_i), over the rows of a sample, those of all
	// ranks together, and its derivative by the noise variance, or whatever scale φ has that is one for all rows; 0 if
	// it has none. It fills d unless that is zero.
	Expect(s Sample, noise, weight float64, d Derivatives) (value, dNoise float64, err error)
}

// Derivatives are those of an expectation by mean_i and variance_i of the rows at hand.
type Derivatives struct{ Mean, Variance []float64 }

var _ Expectation = Loss{}

// SumRows is Expect for an expectation that is known row by row: row(i) is E φ(y_i, f_i) with its derivatives. The
// sum is compensated and taken in a fixed order, so the result does not depend on the number of processors.
func (s Sample) SumRows(weight float64, g, h []float64, row func(i int) (e, dMean, dVar, dNoise float64)) (value,
	dNoise float64, err error) {
	n := len(s.Y)
	if len(s.Mean) != n || len(s.Variance) != n || g != nil && len(g) != n || h != nil && len(h) != n {
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

// Expect implements Expectation: a loss has no noise.
func (l Loss) Expect(s Sample, _, weight float64, d Derivatives) (value, dNoise float64, err error) {
	g, h := d.Mean, d.Variance
	l.checkRows(len(s.Y), s.Mean, s.Scale)
	return s.SumRows(weight, g, h, func(i int) (e, dMean, dVar, dNoise float64) {
		e, dMean, dVar = l.Expected(s.Y[i], s.Mean[i], s.Variance[i], at(s.Scale, i))
		return e, dMean, dVar, 0
	})
}
