package method

import (
	"errors"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
)

// marginal is the problem of the evidence with a weak prior.
type marginal struct {
	Problem
	mode mode
}

// Diagnostics implements Problem.
func (m *marginal) Diagnostics() Diagnostics { return Diagnostics{Marginal: m.marginal} }

// marginal is Diagnostics.Marginal by Laplace's approximation (MacKay 2003, Chs. 27 and 28),
//
//	−ln p(y | x) + ½ Σ P_i (x_i − μ_i)² + ½ ln |P^−½ H P^−½|
//
// Here P holds the precisions of the prior density, and H the second derivatives of −ln p(y | x) p(x), as differences
// of gradients. A parameter without a weak prior has a normal density about the mode, as wide as a lengthscale's. An
// eigenvalue of P^−½ H P^−½ below 1 counts as 1. So no direction counts as less certain than before the rows were seen,
// and the last term isn't negative. Through the last term, a kernel pays for what it learns about its parameters from
// the rows.
func (m *marginal) marginal(x []float64, below float64) (float64, error) {
	value, err := m.mode.Problem.Evaluate(x, nil)
	if err != nil {
		return 0, err
	}
	n := len(x)
	added := slices.Repeat([]float64{1 / wide}, n) // numbers to add to the diagonal of H
	precision := slices.Clone(added)
	for _, p := range m.mode.weak {
		z := p.factor*x[p.at] - p.mean
		value += z * z / (2 * p.variance)
		precision[p.at], added[p.at] = p.factor*p.factor/p.variance, 0
	}
	if value >= below {
		return math.Inf(1), nil
	}
	const step = 1e-3 // step for a logarithm, or for a mean in standard deviations
	at, gradient, moved := slices.Clone(x), make([]float64, n), make([]float64, n)
	if _, err := m.mode.Evaluate(x, gradient); err != nil {
		return 0, err
	}
	rows := mat.NewDense(n, n, nil)
	for i := range n {
		at[i] += step
		if _, err := m.mode.Evaluate(at, moved); err != nil {
			return 0, err
		}
		at[i] = x[i]
		for j := range n {
			rows.Set(i, j, (moved[j]-gradient[j])/(step*math.Sqrt(precision[i]*precision[j])))
		}
	}
	h := mat.NewSymDense(n, nil)
	for i := range n {
		for j := range i + 1 {
			h.SetSym(i, j, (rows.At(i, j)+rows.At(j, i))/2)
		}
		h.SetSym(i, i, h.At(i, i)+added[i]/precision[i])
	}
	var eigen mat.EigenSym
	if !eigen.Factorize(h, false) {
		return 0, errors.New("the second derivatives at the mode have no eigenvalues")
	}
	for _, v := range eigen.Values(nil) {
		value += math.Log(max(v, 1)) / 2
	}
	return value, nil
}
