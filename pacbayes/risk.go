package pacbayes

import "github.com/krigo-gp/krigo/internal/lists"

// Risk returns the empirical Gibbs risk (Reeb et al. 2018, Eq 24),
//
//	R_S = (1/N) Σ_i E_{v ~ N(mean_i, variance_i)} ℓ(y_i, v),
//
// over the sample's N rows, or NaN if there are no rows.
// Risk fills dMean and dVar, unless they are nil, with ∂R_S/∂mean_i and ∂R_S/∂variance_i.
// A sample with groups gets no derivatives. Units are as for Expected.
// The sum is compensated and has a fixed order, so the result doesn't depend on the number of
// processors. Risk panics if slices have unequal lengths. Its error is an error of Sum.
func (s Sample) Risk(l Loss, dMean, dVar []float64) (float64, error) {
	if s.Group != nil || s.Lost != nil {
		return s.meanOf(s.drawLosses(l))
	}
	n := float64(s.units())
	total, _, err := l.Expect(s, 0, 1, Derivatives{Mean: dMean, Variance: dVar})
	for _, d := range [][]float64{dMean, dVar} {
		for i := range d {
			d[i] /= n
		}
	}
	return total / n, err
}

// PointRisk returns (1/N) Σ_i ℓ(y_i, mean_i), the empirical risk of a deterministic predictor (the
// Bayes risk of Reeb et al. 2018, Sect. 2.1, on the sample). Its error is an error of Sum.
func (s Sample) PointRisk(l Loss) (float64, error) { return s.meanOf(s.pointLosses(l)) }

// MeanOf returns the mean of losses over the N units, given the losses of this rank's rows.
func (s Sample) MeanOf(losses []float64) (float64, error) { return s.meanOf(s.perUnit(losses)) }

// zeroOne says whether the loss of a unit is 0 or 1, so that the exact binomial bound applies.
func (s Sample) zeroOne(l Loss) bool { return l.IsZeroOne() && s.Group == nil }

// pointLosses returns the loss of the mean for each unit on this rank, drawLosses the expected loss
// of a random draw.
func (s Sample) pointLosses(l Loss) []float64 {
	l.checkRows(len(s.Y), s.Mean, s.Scale)
	return s.perUnit(lists.To(len(s.Y), func(i int) float64 {
		return l.Point(s.Y[i], s.Mean[i], lists.At(s.Scale, i, 0))
	}))
}

// drawLosses returns, for each unit on this rank, the expected loss of a random draw, E_{v ~
// N(mean_i, variance_i)} ℓ(y_i, v).
func (s Sample) drawLosses(l Loss) []float64 {
	l.checkRows(len(s.Y), s.Mean, s.Scale)
	losses := make([]float64, len(s.Y))
	for i, y := range s.Y {
		losses[i], _, _ = l.Expected(y, s.Mean[i], s.Variance[i], lists.At(s.Scale, i, 0))
	}
	return s.perUnit(losses)
}
