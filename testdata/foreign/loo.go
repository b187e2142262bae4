package foreign

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/krigo-gp/krigo/method"
	"github.com/krigo-gp/krigo/objective"
)

// LeaveOneOut is the negative log density of each target under the GP of all other rows (Rasmussen & Williams 2006,
// Eqs. 5.10–5.13). With C = K + sI, A = C⁻¹, w = A(y − m) and c_i = A_ii,
//
//	f = Σ_i ½[ln 2π − ln c_i + w_i²/c_i]
//
// With g_i = w_i/c_i and h_i = ½(1/c_i + w_i²/c_i²), the adjoints are
//
//	C̄ = A diag(h) A − sym(A g wᵀ),  s̄ = tr C̄,  m̄ = −A g
type LeaveOneOut struct{}

// Evaluate implements objective.Exact.
func (LeaveOneOut) Evaluate(prior objective.Moments, y []float64, noise float64, adj *objective.Adjoints) (float64,
	error) {
	k, mean := prior.K, prior.Mean
	n := len(y)
	c, r := mat.NewSymDense(n, nil), mat.NewVecDense(n, nil)
	for i := range n {
		for j := range i + 1 {
			c.SetSym(i, j, k.At(i, j))
		}
		c.SetSym(i, i, k.At(i, i)+noise)
		r.SetVec(i, y[i]-mean[i])
	}
	var factor mat.Cholesky
	var a mat.SymDense
	if !factor.Factorize(c) || factor.InverseTo(&a) != nil {
		return 0, fmt.Errorf("the matrix K + σ_n² I can't be factored with noise variance %.3g", noise)
	}
	var w mat.VecDense
	w.MulVec(&a, r)
	g, scaled := mat.NewVecDense(n, nil), mat.NewDense(n, n, nil) // scaled is diag(√h) A
	value := float64(n) * math.Log(2*math.Pi) / 2
	for i := range n {
		ci, wi := a.At(i, i), w.AtVec(i)
		value += (wi*wi/ci - math.Log(ci)) / 2
		g.SetVec(i, wi/ci)
		h := (1 + wi*wi/ci) / (2 * ci)
		for j := range n {
			scaled.Set(i, j, math.Sqrt(h)*a.At(i, j))
		}
	}
	if adj == nil {
		return value, nil
	}
	var square mat.SymDense
	square.SymOuterK(1, scaled.T())
	var ag mat.VecDense
	ag.MulVec(&a, g)
	adj.Noise = 0
	for i := range n {
		for j := range i + 1 {
			adj.K.Set(i, j, square.At(i, j)-(ag.AtVec(i)*w.AtVec(j)+ag.AtVec(j)*w.AtVec(i))/2)
		}
		adj.Noise += adj.K.At(i, i)
		adj.Mean[i] = -ag.AtVec(i)
	}
	return value, nil
}

// ByLeaveOneOut trains a full GP by LeaveOneOut, as method.Evidence trains one by the evidence.
type ByLeaveOneOut struct{ method.Steps }

// Bind implements method.Method.
func (m ByLeaveOneOut) Bind(t method.Task) method.Problem {
	return t.FullGP(LeaveOneOut{}, m.Descent())
}

// Register makes the method known to options, flags and files, under the name "loo".
func init() {
	method.Register(method.Kind{Name: "loo", Help: "leave-one-out", Size: method.FullOnly,
		Method: ByLeaveOneOut{}})
}
