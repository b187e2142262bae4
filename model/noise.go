package model

import (
	"math"

	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/ranks"
)

// EstimateNoise returns the variance of y about f. The evidence trains this variance.
// A PAC-Bayes objective's σ_n² only shapes Q, so EstimateNoise maximises the likelihood of the
// residuals on prior rows, which Q hasn't seen.
// If there are no prior rows, or if the prior was learnt on these rows, it takes leave-one-out
// residuals of the rows that Q was learnt on.
// For a sparse GP it takes the residuals of these rows with none left out.
// If nothing was learnt after an informed prior, it takes the residuals on all certified rows,
// which Q hasn't seen.
func (m *Model) EstimateNoise(d *dataset.Data, roles dataset.Roles) (float64, error) {
	q := m.Posterior
	if !m.TrainsForBound() || q.Joint() != nil {
		return q.Noise, nil
	}
	role := dataset.Certified
	if (m.Counts[dataset.Prior] > 0 && !m.Terms.Informed) || m.Counts[dataset.Certified] == 0 {
		role = dataset.Prior
	}
	rows := d.RowsOf(roles, role)
	y, err := m.targets(d, rows)
	if err != nil {
		return 0, err
	}
	if role == dataset.Certified || m.Terms.Informed {
		if mean, variance, ok := q.LeaveOneOut(y); ok {
			// The leave-one-out variance has the noise that shaped Q, and noiseOf adds its own.
			for i := range variance {
				variance[i] = max(variance[i]-q.Noise, 0)
			}
			return noiseOf(d.Ranks(), y, mean, variance)
		}
	}
	mean, variance, err := latent(q, d.Scaled(rows, m.Scaling))
	if err != nil {
		return 0, err
	}
	return noiseOf(d.Ranks(), y, mean, variance)
}

// LeastNoise and MostNoise bound every noise variance that is trained or estimated.
const (
	LeastNoise = 1e-8
	MostNoise  = 1e6
)

var minLogNoise, maxLogNoise = math.Log(LeastNoise), math.Log(MostNoise)

// noiseOf returns the noise variance s, in scaled units squared, that maximises Σ ln N(y_i; mean_i,
// variance_i + s) for the rows of all ranks. It takes the best of a grid of half octaves from 1e-8,
// and refines it by golden section.
func noiseOf(r ranks.Ranks, y, mean, variance []float64) (noise float64, err error) {
	cost := func(logS float64) float64 {
		s := math.Exp(logS)
		var c float64
		for i, v := range y {
			d := v - mean[i]
			c += math.Log(variance[i]+s) + d*d/(variance[i]+s)
		}
		sum := []float64{c}
		if err == nil {
			err = r.Sum(sum)
		}
		return sum[0]
	}
	const step = 0.35
	// The likelihood may have several maxima, so a grid finds the best one's neighbourhood.
	best := minLogNoise
	for l := minLogNoise; l < maxLogNoise; l += step {
		if cost(l) < cost(best) {
			best = l
		}
	}
	a := best - step
	b := best + step
	for range 60 {
		g := (math.Sqrt(5) - 1) / 2 * (b - a)
		if cost(b-g) < cost(a+g) {
			b = a + g
		} else {
			a = b - g
		}
	}
	return math.Exp((a + b) / 2), err
}
