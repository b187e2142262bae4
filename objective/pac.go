package objective

import (
	"github.com/krigo-gp/krigo/internal/linalg"
	"github.com/krigo-gp/krigo/pacbayes"
)

// PAC is a training objective: a PAC-Bayes bound on the risk of the exact posterior Q (Reeb et al.
// 2018, Eq. 5 with gradient Eq. 14, or B_Pin).
// It is pacbayes.Inequality.Evaluate of the empirical risk R_S(Q) under Loss, of KL(Q‖P) and of
// Penalty.
//
// A certificate needs hyperparameters on a finite grid.
// At other hyperparameters the value is no certificate.
type PAC struct {
	Loss    pacbayes.Loss
	Bound   pacbayes.Inequality
	Penalty float64 // ln(1/p_θ) + ln(choices) + ln(2√N/δ)
	// |raw target| of each row, in the scaled units of y, for relative losses; else nil
	Scale []float64

	q    exactQ
	g, h []float64
}

var _ Exact = (*PAC)(nil)

// Evaluate implements Exact. It computes Q's predictions and KL, then the risk, then the bound.
// g and h hold the risk's derivatives by m̂_i and σ̂²_i, and after the scaling the bound's.
// It returns errRowNoise if rows differ in noise.
func (p *PAC) Evaluate(prior Moments, y []float64, noise float64, adj *Adjoints) (float64, error) {
	n := len(y)
	if noise == 0 {
		return 0, errRowNoise
	}
	if err := p.q.forward(prior.K, prior.Mean, y, noise); err != nil {
		return 0, err
	}
	if len(p.g) != n {
		p.g = make([]float64, n)
		p.h = make([]float64, n)
	}
	risk, err := pacbayes.Sample{Y: y, Mean: p.q.mean, Variance: p.q.variance,
		Scale: p.Scale}.Risk(p.Loss, p.g, p.h)
	if err != nil {
		return 0, err
	}
	value, dRisk, dKL := p.Bound.Evaluate(risk, p.q.kl, p.Penalty, n)
	if adj != nil {
		linalg.Scale(dRisk, p.g)
		linalg.Scale(dRisk, p.h)
		p.q.backward(p.g, p.h, dKL, adj)
	}
	return value, nil
}
