package objective

import (
	"github.com/krigo-gp/krigo/internal/divergence"
	"github.com/krigo-gp/krigo/internal/linalg"
	"github.com/krigo-gp/krigo/pacbayes"
)

// SparsePAC is a training objective: a PAC-Bayes bound on the risk of the sparse posterior (Reeb et
// al. 2018, Eqs.
// 9–11):
//
//	m̂_i = m(x_i) + V_iᵀμ,  σ̂²_i = λ_i + ‖L_B⁻¹V_i‖²,  KL = ½[tr B⁻¹ + μᵀμ − M + ln|B|]  (10)
//
// With the adjoints g, h, κ of m̂, σ̂², KL, the other adjoints are μ̄ = Vg + κμ, b̄ = B⁻¹μ̄ and B̄
// = −sym(b̄μᵀ) + (κ/2)(B⁻¹ − B⁻²) − B⁻¹(V diag(h) Vᵀ)B⁻¹.
//
// As with PAC, the value at hyperparameters off the grid is no certificate.
type SparsePAC struct {
	Alpha   float64 // α in D = αλ + s; 1 is the paper's FITC parametrisation
	Loss    pacbayes.Loss
	Bound   pacbayes.Inequality
	Penalty float64
	// |raw target| of each row, in the scaled units of y, for relative losses; else nil
	Scale []float64
}

func (p *SparsePAC) alpha() float64 { return p.Alpha }

// evaluate implements Sparse: the predictions and KL, the risk of all ranks' rows, and the bound.
// Unless s is nil, it then fills s with the adjoints in the comment of SparsePAC.
func (p *SparsePAC) evaluate(e *sparseEngine, s *sparseSeeds) (float64, error) {
	if err := e.predict(e.byB); err != nil {
		return 0, err
	}
	linalg.CholeskyInverse(e.lb, e.binv)
	kl := divergence.Sparse(e.lb, e.binv, e.mu)
	var g, h []float64
	if s != nil {
		g = s.predictions.g
		h = s.predictions.h
	}
	risk, err := e.sample(p.Scale).Risk(p.Loss, g, h)
	if err != nil {
		return 0, err
	}
	value, dRisk, kappa := p.Bound.Evaluate(risk, kl, p.Penalty, e.total)
	if s == nil {
		return value, nil
	}
	linalg.Scale(dRisk, g)
	linalg.Scale(dRisk, h)
	s.predicted = true
	if err := s.predictions.addUp(e); err != nil {
		return 0, err
	}
	copy(s.lambda, h)
	copy(s.mean, g)

	// b̄ = B⁻¹(Vg + κμ)
	copy(s.b, s.predictions.gStat)
	linalg.Axpy(kappa, e.mu, s.b)
	linalg.CholeskySolve(e.lb, s.b)
	// B̄ needs B⁻¹ on both sides of two terms, since (κ/2)(B⁻¹ − B⁻²) = (κ/2) B⁻¹ A B⁻¹.
	// middle is the sum of both.
	middle := linalg.Borrow(e.m, e.m)
	right := linalg.Borrow(e.m, e.m)
	defer linalg.Return(middle, right)
	for i := range e.m {
		row := middle.Row(i)
		copy(row, e.a.Row(i))
		linalg.Scale(kappa/2, row)
		linalg.Axpy(-1, s.predictions.hStat.Row(i), row)
	}
	linalg.Gemm(false, false, 1, middle, e.binv, 0, right)
	linalg.GemmLower(false, false, 1, e.binv, right, 0, s.B)
	for i := range e.m {
		linalg.Axpy(-0.5*s.b[i], e.mu[:i+1], s.B.Row(i)[:i+1])
		linalg.Axpy(-0.5*e.mu[i], s.b[:i+1], s.B.Row(i)[:i+1])
	}
	linalg.MirrorLower(s.B)
	return value, nil
}
