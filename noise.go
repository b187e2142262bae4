package krigo

import (
	"math"
	"slices"

	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/model"
	"github.com/krigo-gp/krigo/posterior"
)

// observationNoise is the variance of y about f. Evidence trains it; the σ_n² of a
// PAC-Bayes objective only shapes Q, so that it is estimated anew, by maximum
// likelihood: from the residuals on prior rows, which Q hasn't seen, or, where there
// are none or the prior was learnt on them, from the leave-one-out residuals (a sparse GP:
// the training residuals; a prior that nothing was learnt after: those of all certified rows).
func (p *prepared) observationNoise(o Options, q *posterior.Posterior) (float64, error) {
	if o.Objective != "kl-pac" && o.Objective != "sqrt-pac" {
		return q.Noise, nil
	}
	rows, y := p.rows, p.y
	if slices.Contains(p.roles, dataset.Prior) && o.Prior != "informed" {
		prior := p.data.RowsOf(p.roles, dataset.Prior)
		var err error
		if y, err = p.data.Targets(prior); err != nil {
			return 0, err
		}
		p.scaling.Target(y, y)
		rows = p.data.Scaled(prior, p.scaling)
	} else if !q.Sparse() && q.Support.Rows > 0 {
		mean, variance := make([]float64, len(y)), make([]float64, len(y))
		q.LeaveOneOut(y, mean, variance)
		for i := range variance {
			variance[i] = max(variance[i]-q.Noise, 0)
		}
		return p.noiseOf(y, mean, variance)
	}
	mean, variance, err := model.Latent(q, rows)
	if err != nil {
		return 0, err
	}
	return p.noiseOf(y, mean, variance)
}

// noiseOf maximises Σ ln N(y_i; mean_i, variance_i + s) over s, for the rows of all ranks: the best
// of a grid of half octaves from 1e-8, refined by golden section.
func (p *prepared) noiseOf(y, mean, variance []float64) (noise float64, err error) {
	cost := func(logS float64) float64 {
		s := math.Exp(logS)
		var c float64
		for i, v := range y {
			d := v - mean[i]
			c += math.Log(variance[i]+s) + d*d/(variance[i]+s)
		}
		sum := []float64{c}
		if err == nil {
			err = p.data.Ranks().Sum(sum)
		}
		return sum[0]
	}
	const step = 0.35
	best := minLogNoise
	for l := minLogNoise; l < maxLogNoise; l += step {
		if cost(l) < cost(best) {
			best = l
		}
	}
	a, b := best-step, best+step
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
