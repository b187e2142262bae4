package posterior

import (
	"errors"

	"github.com/krigo-gp/krigo/kernel"
	"github.com/krigo-gp/krigo/matrix"
)

// Prior returns the posterior as the prior of a further Gaussian process: its mean as a mean
// function and its covariance, times a temper, as a kernel. Neither has parameters. A
// posterior that isn't factored, whose covariance is known at single points only, has none.
func (p *Posterior) Prior(temper float64) (kernel.Kernel, kernel.Mean, error) {
	if p.Chol.IsZero() {
		return nil, nil, errors.New("a posterior by conjugate gradients or nearest rows can't be a prior: its covariance " +
			"isn't factored")
	}
	k := &kernel.Conditional{Kernel: p.Kernel, Theta: p.Theta, Support: p.Support, Chol: p.Chol, CholB: p.CholB,
		Temper: temper}
	m := &kernel.ConditionalMean{Mean: p.Mean, Beta: p.Beta, Kernel: p.Kernel, Theta: p.Theta, Support: p.Support,
		Weights: p.Weights}
	return k, m, nil
}

// Unconditioned returns Q = P for the prior P of Prior: nothing more is learnt, and there is
// no support. Its Noise is that of p.
func (p *Posterior) Unconditioned(temper float64) (*Posterior, error) {
	k, m, err := p.Prior(temper)
	if err != nil {
		return nil, err
	}
	return &Posterior{Kernel: k, Mean: m, Noise: p.Noise, Support: matrix.New(0, p.Support.Cols)}, nil
}

// OfPrior returns the posterior that the prior of this one is, without its Noise, and its
// temper: nil where the prior isn't a posterior.
func (p *Posterior) OfPrior() (*Posterior, float64) {
	k, ok := p.Kernel.(*kernel.Conditional)
	if !ok {
		return nil, 0
	}
	m := p.Mean.(*kernel.ConditionalMean)
	return &Posterior{Kernel: k.Kernel, Theta: k.Theta, Mean: m.Mean, Beta: m.Beta,
		Support: k.Support, Weights: m.Weights, Chol: k.Chol, CholB: k.CholB}, k.Temper
}
