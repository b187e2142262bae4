package method

import (
	"math"

	"github.com/krigo-gp/krigo/kernel"
	"github.com/krigo-gp/krigo/objective"
)

// weak is a wide prior density of hyperparameters. −ln of the density is added to an objective:
//
//	ln l ~ N(√2 + ½ ln d, 3),  ln σ_n² ~ N(−2, 2)
//
// for a target and d inputs that are about a standard deviation wide. d counts the inputs that l scales: all inputs,
// or one in the additive kernel. The density of lengthscales l is from Hvarfner, Hellsten and Nardi ("Vanilla Bayesian
// Optimization Performs Great in High Dimensions", 2024). The density of the noise is wider than theirs, and suits
// noisy data too. In many dimensions distances grow with √d, and only functions whose lengthscales grow so too can be
// learnt.
type weak []normal

// normal is a normal density of factor·x, where x is the parameter number at.
type normal struct {
	at                     int
	factor, mean, variance float64
}

// wide is the prior variance of a logarithm about which little is known.
const wide = 3.0

// weakFor returns the weak prior of a task's parameters [θ, β, ln σ_n²].
func weakFor(t Task) (w weak) {
	for i, p := range t.Kernel.Params() {
		if p.Kind == kernel.Lengthscale {
			w = append(w, normal{i, 0.5, math.Sqrt2 + math.Log(p.Distant(t.dims()))/2, wide}) // θ is ln l²
		}
	}
	return append(w, normal{t.prior(), 1, -2, 2})
}

// add adds −ln of the density at x to value, and the derivatives to gradient unless gradient is nil.
func (w weak) add(x, gradient []float64, value *float64) {
	for _, p := range w {
		z := p.factor*x[p.at] - p.mean
		*value += z*z/(2*p.variance) + math.Log(2*math.Pi*p.variance)/2
		if gradient != nil {
			gradient[p.at] += p.factor * z / p.variance
		}
	}
}

// mode is a full GP's objective with a weak prior.
type mode struct {
	*objective.Problem
	weak weak
}

// Evaluate implements train.Objective.
func (m mode) Evaluate(x, gradient []float64) (float64, error) {
	v, err := m.Problem.Evaluate(x, gradient)
	if err == nil {
		m.weak.add(x, gradient, &v)
	}
	return v, err
}
