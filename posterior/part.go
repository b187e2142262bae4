package posterior

import (
	"github.com/krigo-gp/krigo/internal/linalg"
	"github.com/krigo-gp/krigo/kernel"
	"github.com/krigo-gp/krigo/matrix"
)

// Part returns the posterior of one of the independent functions that a prior sums, for Latent:
// the mean k_u(x,S)w, and the variance k_u(x,x) minus what conditioning on the sum explains.
// It returns nil unless p is factored.
func (p *Posterior) Part(of kernel.Part) *Posterior {
	q := *p
	q.Kernel = of.Kernel
	q.Theta = of.Theta
	q.Mean = kernel.ZeroMean{}
	q.Beta = nil
	switch s := p.Solution.(type) {
	case *Exact:
		q.Solution = newExact(s.W, s.Chol)
	case *Inducing:
		q.Solution = newInducing(s.W, s.Chol, s.CholB)
	default:
		return nil
	}
	return &q
}

// Explain subtracts what conditioning explains from the prior covariances of linear functions of f,
// for a factored posterior. Row i of u, which Explain overwrites, has the prior covariances of
// function i with f at the support.
func (p *Posterior) Explain(u, cov matrix.Dense) {
	p.explain(u, cov)
	linalg.MirrorLower(cov)
}
