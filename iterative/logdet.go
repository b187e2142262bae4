package iterative

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/krigo-gp/krigo/internal/linalg"
	"github.com/krigo-gp/krigo/matrix"
)

// Quadrature is stochastic Lanczos quadrature of ln|A| (Ubaru, Chen & Saad 2017) with the
// preconditioner's exact part split off: for probes z ~ N(0, P) and their Lanczos processes,
//
//	ln|A| ≈ ln|P| + N · mean over z of e₁ᵀ ln(T_z) e₁,
//
// without bias for any P that doesn't depend on the probes, since P^-½z/‖P^-½z‖ is uniform on the
// sphere. At fixed P and probes the estimate is a smooth function of A, as fits a line search.
type Quadrature struct {
	Value, StandardError float64 // estimate of ln|A|, and its standard error

	// Adjoint is H with ∂ln|A| = Σ_ij (H Hᵀ)_ij ∂A_ij.
	// It is an unbiased estimate of tr A⁻¹∂A, and the derivative of Value.
	// It uses ∂ln M = ∫ (M+τ)⁻¹ ∂M (M+τ)⁻¹ dτ and the same Lanczos process for every shift τ.
	Adjoint matrix.Dense
}

// LogDet estimates ln|A| in nats from the Lanczos processes of probes drawn from N(0, P): ln|P|
// plus n times the mean of the probes' quadratures. The standard error is that mean's. If adjoint
// is set, it also computes the n-row matrix Adjoint for the derivatives.
func LogDet(p *Preconditioner, probes []*Lanczos, adjoint bool) Quadrature {
	n := len(p.d)
	m := float64(len(probes))
	each := make([]float64, len(probes))
	factors := make([]matrix.Dense, len(probes))
	linalg.Parallel(len(probes),
		func(i int) { each[i], factors[i] = probes[i].quadrature(adjoint) })
	var q Quadrature
	mean := linalg.Sum(each) / m
	for _, v := range each {
		q.StandardError += (v - mean) * (v - mean)
	}
	// √(variance over probes / number of probes), for n times a mean
	q.StandardError = float64(n) * math.Sqrt(q.StandardError/max(m-1, 1)/m)
	q.Value = p.LogDet() + float64(n)*mean
	if !adjoint {
		return q
	}
	cols := 0
	for _, f := range factors {
		cols += f.Cols
	}
	// Each probe adds columns: its Lanczos basis times the factor of its quadrature.
	q.Adjoint = matrix.New(n, cols)
	at := 0
	for i, f := range factors {
		linalg.Scale(math.Sqrt(float64(n)/m), f.Data)
		h := q.Adjoint.View(0, n, at, at+f.Cols)
		at += f.Cols
		basis := probes[i].Basis
		linalg.Each(n, columnRows, func(r int) {
			row := h.Row(r)
			for k, v := range basis {
				linalg.Axpy(v[r], f.Row(k), row)
			}
		})
	}
	return q
}

// quadrature returns e₁ᵀ ln(T) e₁ and a factor F with few columns of its derivative
// G = F Fᵀ with respect to T: with T = S Λ Sᵀ and s = Sᵀe₁,
//
//	G = S [s_i s_j ψ_ij] Sᵀ,  ψ_ij = (ln λ_i − ln λ_j)/(λ_i − λ_j).
func (l *Lanczos) quadrature(derivative bool) (value float64, f matrix.Dense) {
	k := len(l.Diagonal)
	t := mat.NewSymDense(k, nil)
	for i, d := range l.Diagonal {
		t.SetSym(i, i, d)
		if i > 0 {
			t.SetSym(i, i-1, l.OffDiagonal[i-1])
		}
	}
	lambda, vectors := symmetricEigen(t)
	for i, v := range lambda {
		s := vectors.At(0, i)
		value += s * s * math.Log(v)
	}
	if !derivative {
		return value, f
	}
	g := mat.NewSymDense(k, nil)
	for i, a := range lambda {
		for j, b := range lambda[:i+1] {
			psi := 1 / a
			if a != b {
				psi = math.Log1p((a-b)/b) / (a - b)
			}
			g.SetSym(i, j, psi*vectors.At(0, i)*vectors.At(0, j))
		}
	}
	weight, u := symmetricEigen(g)
	// The eigenvalues of G are in ascending order, and most are negligible.
	first := 0
	for first < k-1 && weight[first] < 1e-12*weight[k-1] {
		first++
	}
	var product mat.Dense
	product.Mul(vectors, u.Slice(0, k, first, k))
	f = matrix.New(k, k-first)
	for i := range k {
		for j := range f.Cols {
			f.Set(i, j, product.At(i, j)*math.Sqrt(weight[first+j]))
		}
	}
	return value, f
}

// symmetricEigen returns eigenvalues in ascending order, and eigenvectors as columns.
func symmetricEigen(a *mat.SymDense) ([]float64, *mat.Dense) {
	var e mat.EigenSym
	if !e.Factorize(a, true) {
		panic("iterative: the eigenvalues of a symmetric matrix weren't found")
	}
	var v mat.Dense
	e.VectorsTo(&v)
	return e.Values(nil), &v
}
