package inducing

import (
	"errors"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"github.com/krigo-gp/krigo/internal/linalg"
	"github.com/krigo-gp/krigo/iterative"
	"github.com/krigo-gp/krigo/kernel"
	"github.com/krigo-gp/krigo/matrix"
)

const (
	// exactRows is the largest N for which K(X, X) is decomposed.
	exactRows = 1500
	// ChainSteps is the number of swaps that KDPP proposes on longer tables.
	// Mixing is proved within O(N M ln(1/(ε P(start)))) steps (Anari et al. 2016), which takes too
	// long there. The chain starts from Greedy's rows instead, whose determinant is already great.
	// It runs as long as the chain of Burt et al. 2020.
	ChainSteps = 10000
)

// KDPP draws m rows with probability proportional to det(K_ZZ + jI), a k-DPP.
// j = 1e-10·tr K/N is the first jitter that the objectives add to K_ZZ.
// With this jitter there is a distribution for every m ≤ N.
// Sets with two nearly equal rows have almost no probability.
//
// Up to 1,500 rows the draw is exact (Kulesza & Taskar 2011), in time O(N³).
// The expected tr(K − Q) is then at most (M+1) Σ_{m>M} λ_m(K), the premise of the theory's choice
// of M. On longer tables the draw is the state of a Markov chain after ChainSteps proposals, in
// time O(NM²) for its start and O(M²) per step. It is close to a k-DPP, without a guarantee.
func KDPP(k kernel.Kernel, theta []float64, x matrix.Dense, m int, rng *rand.Rand) (Set, error) {
	if err := check(x, m); err != nil {
		return Set{}, err
	}
	sample := swapped
	if x.Rows <= exactRows {
		sample = decomposed
	}
	t, err := trace(k, theta, x)
	if err != nil {
		return Set{}, err
	}
	rows, err := sample(k, theta, x, m, negligible*t/float64(x.Rows), rng)
	return setOf(x, rows), err
}

// decomposed draws from the k-DPP of L = K + jI = Σ λ_i u_i u_iᵀ by Algorithm 8 of Kulesza & Taskar
// 2012. It first draws M eigenvectors with probability ∝ Π λ_i.
// It then draws rows from the projection A = Σ u_i u_iᵀ onto their span.
// Each row has a probability ∝ its variance given the rows before it, with A as the covariance.
func decomposed(k kernel.Kernel, theta []float64, x matrix.Dense, m int, jitter float64,
	rng *rand.Rand) ([]int, error) {
	n := x.Rows
	cov := x.Like(n, n)
	kernel.At(k, theta).FillSymmetric(x, cov)
	var eigen mat.EigenSym
	if !eigen.Factorize(mat.NewSymDense(n, cov.Data), true) {
		return nil, errors.New("inducing inputs: the eigenvalues of K(X, X) weren't found")
	}
	lambda := eigen.Values(nil)
	for i, l := range lambda {
		lambda[i] = math.Log(max(l, 0) + jitter)
	}
	var vectors mat.Dense
	eigen.VectorsTo(&vectors)

	chosen := eigenvectors(lambda, m, rng)
	// The columns of u are the drawn eigenvectors, so A = u uᵀ.
	u := matrix.New(n, m)
	diag := make([]float64, n)
	for i := range n {
		row := u.Row(i)
		for c, j := range chosen {
			row[c] = vectors.At(i, j)
		}
		diag[i] = linalg.Dot(row, row)
	}
	// f.Left holds the variances of the rows under A, given the rows drawn before.
	f := iterative.NewPartialCholesky(diag, m)
	for range m {
		x.Check()
		i := draw(f.Left, rng)
		f.Add(i, func(r0, r1 int, column matrix.Dense) {
			linalg.Gemv(false, 1, u.RowRange(r0, r1), u.Row(i), 0, column.Data)
		})
	}
	return f.Rows, nil
}

// eigenvectors draws m of n indices with probability ∝ Π λ_i, from ln λ.
// It uses the elementary symmetric polynomials e_l(λ_1 … λ_i) = e_l(λ_1 … λ_{i−1}) + λ_i
// e_{l−1}(λ_1 … λ_{i−1}). These soon overflow, so it keeps their logarithms.
func eigenvectors(logLambda []float64, m int, rng *rand.Rand) []int {
	n := len(logLambda)
	e := matrix.New(n+1, m+1)
	for l := 1; l <= m; l++ {
		e.Set(0, l, math.Inf(-1))
	}
	for i, v := range logLambda {
		for l := 1; l <= m; l++ {
			e.Set(i+1, l, logAdd(e.At(i, l), v+e.At(i, l-1)))
		}
	}
	var chosen []int
	// If l of the first i eigenvectors are still to be drawn, number i is one of them with
	// probability λ_i e_{l−1}(λ_1 … λ_{i−1}) / e_l(λ_1 … λ_i).
	for i, l := n, m; l > 0; i-- {
		if math.Log(rng.Float64()) < logLambda[i-1]+e.At(i-1, l-1)-e.At(i, l) {
			chosen = append(chosen, i-1)
			l--
		}
	}
	return chosen
}

// logAdd returns ln(eᵃ + eᵇ).
func logAdd(a, b float64) float64 {
	if a < b {
		a, b = b, a
	}
	if math.IsInf(a, -1) {
		return a
	}
	return a + math.Log1p(math.Exp(b-a))
}

// swapped runs the chain, starting from Greedy's rows.
func swapped(k kernel.Kernel, theta []float64, x matrix.Dense, m int, jitter float64,
	rng *rand.Rand) ([]int, error) {
	start, err := Greedy(k, theta, x, m)
	if err != nil {
		return nil, err
	}
	rows := start.Rows
	in := make([]bool, x.Rows)
	for _, r := range rows {
		in[r] = true
	}
	for len(rows) < m {
		if r := rng.IntN(x.Rows); !in[r] {
			rows = append(rows, r)
			in[r] = true
		}
	}
	return rows, swap(k, theta, x, rows, jitter, ChainSteps, rng)
}

// swap makes steps proposals: it picks one of rows uniformly, picks a replacement outside them, and
// accepts with probability min(1, ratio of the determinants).
//
// With S = rows, W = (K_SS + jI)⁻¹, b = K_S,r and u = W b, row r has the variance s = k_rr + j −
// bᵀu given S. Without the i-th row, row r and the i-th row have the variances s + u_i²/W_ii and
// 1/W_ii. Their quotient is the ratio.
func swap(k kernel.Kernel, theta []float64, x matrix.Dense, rows []int, jitter float64, steps int,
	rng *rand.Rand) error {
	n := x.Rows
	m := len(rows)
	if m == n {
		return nil
	}
	diag := make([]float64, n)
	in := make([]bool, n)
	k.Diag(theta, x, diag)
	for _, r := range rows {
		in[r] = true
	}
	z := take(x, rows)
	l := x.Like(m, m)
	w := x.Like(m, m)
	b := matrix.New(1, m)
	u := make([]float64, m)
	wi := make([]float64, m)
	for step, swaps := 0, 0; step < steps; step++ {
		x.Check()
		if swaps%m == 0 { // drops the rounding that W has collected
			kernel.At(k, theta).FillSymmetric(z, l)
			l.AddDiagonal(jitter)
			if err := linalg.Cholesky(l); err != nil {
				return err
			}
			linalg.CholeskyInverse(l, w)
			swaps++
		}
		i := rng.IntN(m)
		r := rng.IntN(n)
		for in[r] {
			r = rng.IntN(n)
		}
		k.Cov(theta, x.RowRange(r, r+1), z, b)
		linalg.Gemv(false, 1, w, b.Data, 0, u)
		s := diag[r] + jitter - linalg.Dot(b.Data, u)
		ui := u[i]
		wii := w.At(i, i)
		if !(rng.Float64() < s*wii+ui*ui) {
			continue
		}
		in[rows[i]], in[r] = false, true
		rows[i] = r
		copy(z.Row(i), x.Row(r))
		// Without i, the inverse is W − w_i w_iᵀ/W_ii.
		// Putting r in its place adds g gᵀ/(s + u_i²/W_ii).
		// Here g is u − w_i u_i/W_ii, except that g_i = −1.
		copy(wi, w.Row(i))
		linalg.Ger(-1/wii, wi, wi, w)
		linalg.Axpy(-ui/wii, wi, u)
		u[i] = -1
		for j := range m {
			w.Set(i, j, 0)
			w.Set(j, i, 0)
		}
		linalg.Ger(1/(s+ui*ui/wii), u, u, w)
		swaps++
	}
	return nil
}
