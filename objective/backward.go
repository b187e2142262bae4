package objective

import (
	"slices"

	"github.com/krigo-gp/krigo/internal/linalg"
	"github.com/krigo-gp/krigo/matrix"
)

// predictionSeeds holds the adjoints g_i of m̂_i and h_i of σ̂²_i, and gStat = Σ g_i V_i, hStat = Σ
// h_i V_i V_iᵀ.
type predictionSeeds struct {
	g, h  []float64
	gStat []float64
	hStat matrix.Dense
}

// newPredictionSeeds returns seeds with room for n rows and m inducing inputs.
func newPredictionSeeds(m, n int) predictionSeeds {
	return predictionSeeds{g: make([]float64, n), h: make([]float64, n), gStat: make([]float64, m),
		hStat: matrix.New(m, m)}
}

// addUp computes gStat and hStat from g and h, over the rows of all ranks.
func (s *predictionSeeds) addUp(e *sparseEngine) error {
	clear(s.gStat)
	s.hStat.Zero()
	err := s.addHere(e, s.gStat, s.hStat)
	if err == nil {
		err = e.sum([]matrix.Dense{s.hStat}, s.gStat)
	}
	linalg.MirrorLower(s.hStat)
	return err
}

// addHere adds Σ g_i V_i and the lower triangle of Σ h_i V_i V_iᵀ over this rank's rows to b and a.
func (s *predictionSeeds) addHere(e *sparseEngine, b []float64, a matrix.Dense) error {
	return e.eachV(func(i0, i1 int, v matrix.Dense) error {
		addRows(v, s.g[i0:i1], b)
		linalg.SyrkScaled(v, s.h[i0:i1], 1, a)
		return nil
	})
}

// fill sets row i of bar to the predictions' part of V̄_i:
// μ g_i + 2h_i S V_i, with S the whitened covariance of q.
func (s *predictionSeeds) fill(i0 int, v, covariance matrix.Dense, mu []float64, bar matrix.Dense) {
	linalg.Gemm(false, false, 1, v, covariance, 0, bar)
	linalg.Each(v.Rows, chunkRows, func(r int) {
		linalg.Scale(2*s.h[i0+r], bar.Row(r))
		linalg.Axpy(s.g[i0+r], mu, bar.Row(r))
	})
}

// addG adds to g the part of G = Σ V̄_i V_iᵀ that comes from predictions, without the term −2λ̄_i
// V_i of V̄_i.
func (s *predictionSeeds) addG(covariance matrix.Dense, mu []float64, g matrix.Dense) {
	linalg.Gemm(false, false, 2, covariance, s.hStat, 1, g)
	linalg.Ger(1, mu, s.gStat, g)
}

// sparseSeeds holds the adjoints of a value with respect to B, b, the rows' D_i, λ_i, r_i and
// m(x_i), and s and α. A direct part leaves out what reaches the value through another of these
// quantities.
type sparseSeeds struct {
	B      matrix.Dense // symmetric, both triangles
	b      []float64
	d      []float64 // D̄_i, direct part
	lambda []float64 // λ̄_i, direct part
	r      []float64 // r̄_i, direct part
	mean   []float64 // direct part of m̄_i: of the mean that is added to V_iᵀμ
	noise  float64   // direct part
	alpha  float64   // ᾱ, which backward completes

	predictions predictionSeeds // adjoints of m̂_i = m(x_i) + V_iᵀμ and σ̂²_i = λ_i + ‖L_B⁻¹V_i‖²
	predicted   bool            // whether the value depends on predictions

	uniform bool    // whether α = 0 and λ̄_i is the same for all rows
	shared  float64 // λ̄_i if uniform
}

// newSparseSeeds returns seeds with room for n rows and m inducing inputs.
func newSparseSeeds(m, n int) *sparseSeeds {
	vec := func() []float64 { return make([]float64, n) }
	return &sparseSeeds{B: matrix.New(m, m), b: make([]float64, m), d: vec(), lambda: vec(),
		r: vec(), mean: vec(), predictions: newPredictionSeeds(m, n)}
}

// reset clears the seeds to which an evaluation adds. Evaluations overwrite the remaining seeds.
func (s *sparseSeeds) reset() *sparseSeeds {
	*s = sparseSeeds{B: s.B, b: s.b, d: s.d, lambda: s.lambda, r: s.r, mean: s.mean,
		predictions: s.predictions}
	for _, v := range [][]float64{s.b, s.d, s.lambda, s.r, s.mean} {
		clear(v)
	}
	return s
}

// sparseAdjoints holds the adjoints of θ, β and Z, to which passes add.
type sparseAdjoints struct {
	theta, beta []float64
	z           matrix.Dense
}

// eachRow is the last pass. It pulls the rows' adjoints back through the kernel and the mean
// function. fill gets a block of V, and writes Ū = L⁻ᵀV̄ (M×n), λ̄_i and m̄_i.
func (e *sparseEngine) eachRow(to sparseAdjoints, fill func(i0 int, v, u matrix.Dense, lambda,
	mean []float64)) error {
	n := min(blockRows, e.n)
	memory := linalg.Borrow(e.m, n)
	rows := linalg.Borrow(2, n)
	defer linalg.Return(memory, rows)
	return e.eachV(func(i0, i1 int, v matrix.Dense) error {
		k := i1 - i0
		u := matrix.Of(e.m, k, memory.Data[:e.m*k])
		lambda := rows.Row(0)[:k]
		mean := rows.Row(1)[:k]
		fill(i0, v, u, lambda, mean)
		x, err := e.read(i0, i1)
		if err != nil {
			return err
		}
		e.pullRows(x, u, lambda, to.theta, to.z)
		e.prior.Pull(e.beta, x, mean, to.beta)
		return nil
	})
}

// backward turns the seeds into the rows' adjoints.
// With d_i and l_i, the direct parts of D̄_i and λ̄_i, these are
//
//	D̄_i = d_i − (V_iᵀb̄) r_i/D_i² − V_iᵀB̄V_i/D_i²,  λ̄_i = l_i + αD̄_i
//	V̄_i = b̄ r_i/D_i + 2B̄V_i/D_i + μ g_i + 2h_i B⁻¹V_i − 2λ̄_i V_i
//	Ū = L⁻ᵀV̄,  K̄_ZZ = −½ L⁻ᵀ(Σ V̄_i V_iᵀ)L⁻¹,  k̄ = λ̄
//
// It pulls them back through the kernel block by block.
// It returns d/dln s, and completes the adjoint of α in s.
func (e *sparseEngine) backward(s *sparseSeeds, to sparseAdjoints) (float64, error) {
	if s.uniform {
		return e.backwardUniform(s, to)
	}
	n := min(blockRows, e.n)
	vbs := linalg.Borrow(n, e.m)
	bars := linalg.Matrix{}
	defer linalg.Return(vbs)
	if s.predicted {
		bars = linalg.Borrow(n, e.m)
		defer linalg.Return(bars)
	}
	lambdaStat := matrix.New(e.m, e.m) // Σ λ̄_i V_i V_iᵀ
	dBar := make([]float64, e.n)
	err := e.eachRow(to, func(i0 int, v, u matrix.Dense, lambdas, means []float64) {
		bar := vbs.RowRange(0, v.Rows) // V B̄, and then V̄
		linalg.Gemm(false, false, 1, v, s.B, 0, bar)
		if s.predicted {
			linalg.Gemm(false, false, 1, v, e.binv, 0, bars.RowRange(0, v.Rows))
		}
		linalg.Each(v.Rows, chunkRows, func(row int) {
			i := i0 + row
			vi := v.Row(row)
			bi := bar.Row(row)
			d := e.dd[i]
			r := e.r[i]
			vb := linalg.Dot(vi, s.b)
			dBar[i] = s.d[i] - (vb*r+linalg.Dot(vi, bi))/(d*d)
			means[row] = s.mean[i] - s.r[i] - vb/d
			lambda := s.lambda[i] + e.alpha*dBar[i]
			linalg.Scale(2/d, bi)
			linalg.Axpy(r/d, s.b, bi)
			linalg.Axpy(-2*lambda, vi, bi)
			if s.predicted {
				linalg.Axpy(2*s.predictions.h[i], bars.Row(row), bi)
				linalg.Axpy(s.predictions.g[i], e.mu, bi)
			}
			lambdas[row] = lambda
		})
		linalg.SyrkScaled(v, lambdas, 1, lambdaStat)
		e.unwhiten(bar, u)
	})
	if err != nil {
		return 0, err
	}
	// D_i = αλ_i + s_i gives ᾱ = Σ D̄_i λ_i. After that dBar holds the rows' terms of s̄.
	for i, v := range e.lambda[:e.n] {
		s.alpha += dBar[i] * v
		dBar[i] *= e.each.Slope(i)
	}
	scalars := []float64{linalg.Sum(dBar), s.noise, s.alpha}
	if err := e.sum([]matrix.Dense{lambdaStat}, to.theta, to.beta, to.z.Data, scalars); err != nil {
		return 0, err
	}
	s.noise = scalars[1]
	s.alpha = scalars[2]
	// G = Σ V̄_i V_iᵀ. The last pass has summed Σ λ̄_i V_i V_iᵀ;
	// A, b, gStat and hStat give the rest.
	g := linalg.Borrow(e.m, e.m)
	defer linalg.Return(g)
	linalg.MirrorLower(lambdaStat)
	linalg.Gemm(false, false, 2, s.B, e.a, 0, g)
	linalg.Ger(1, s.b, e.b, g)
	if s.predicted {
		s.predictions.addG(e.binv, e.mu, g)
	}
	for i := range e.m {
		linalg.Axpy(-2, lambdaStat.Row(i), g.Row(i))
	}
	e.pullZZ(g, to.theta, to.z)
	return e.noise * (s.noise + scalars[0]), nil
}

// backwardUniform is backward if D_i = s and λ̄_i = λ̄ for all rows and the value doesn't depend on
// predictions. A and b then give all sums over rows.
// With C = (2/s)B̄ − 2λ̄I, V̄ = CV + b̄rᵀ/s, and Ū = (L⁻ᵀC)V + L⁻ᵀb̄rᵀ/s takes one product a block.
func (e *sparseEngine) backwardUniform(s *sparseSeeds, to sparseAdjoints) (float64, error) {
	noise := e.noise
	c := linalg.Borrow(e.m, e.m)
	g := linalg.Borrow(e.m, e.m)
	defer linalg.Return(c, g)
	for i := range e.m {
		linalg.ScaleTo(c.Row(i), 2/noise, s.B.Row(i))
		c.Row(i)[i] -= 2 * s.shared
	}
	// G = Σ V̄_i V_iᵀ = s CA + b̄bᵀ
	linalg.Gemm(false, false, noise, c, e.a, 0, g)
	linalg.Ger(1, s.b, e.b, g)
	linalg.Trsm(true, true, e.l, c)
	lb := slices.Clone(s.b)
	linalg.Trsv(true, e.l, lb)

	rPerNoise := make([]float64, min(blockRows, e.n))
	err := e.eachRow(to, func(i0 int, v, u matrix.Dense, lambdas, means []float64) {
		copy(lambdas, s.lambda[i0:])
		linalg.Gemv(false, -1/noise, v, s.b, 0, means)
		for r := range means {
			means[r] += s.mean[i0+r] - s.r[i0+r]
			rPerNoise[r] = e.r[i0+r] / noise
		}
		linalg.Gemm(false, true, 1, c, v, 0, u)
		linalg.Parallel(e.m, func(j int) { linalg.Axpy(lb[j], rPerNoise[:v.Rows], u.Row(j)) })
	})
	if err != nil {
		return 0, err
	}
	scalars := []float64{linalg.Sum(s.d), s.noise}
	if err := e.sum(nil, to.theta, to.beta, to.z.Data, scalars); err != nil {
		return 0, err
	}
	e.pullZZ(g, to.theta, to.z)
	// Σ D̄_i = Σ d_i − (b̄ᵀb + Σ_jk B̄_jk A_jk)/s, because b = Vr/s and A = VVᵀ/s.
	dBar := scalars[0] - (linalg.Dot(s.b, e.b)+linalg.Dot(s.B.Data, e.a.Data))/noise
	return noise * (scalars[1] + dBar), nil
}

// backwardFree is the last pass for a free-form q with whitened mean μ and covariance S.
// The value depends on predictions and on q alone, so V̄_i = μ g_i + 2h_i SV_i − 2h_i V_i and λ̄_i
// = h_i. The value depends on L not only through VᵀV, because q's coordinates depend on L too.
// So G = Σ V̄_i V_iᵀ isn't symmetric. V = L⁻¹K_ZX gives L̄ = −L⁻ᵀG and K̄_ZZ = L⁻ᵀ sym(Φ(LᵀL̄))
// L⁻¹, where Φ takes the lower triangle and half the diagonal. pullZZ computes this K̄_ZZ once G's
// lower triangle has replaced G's upper triangle.
func (e *sparseEngine) backwardFree(s *predictionSeeds, covariance matrix.Dense,
	to sparseAdjoints) error {
	bars := linalg.Borrow(min(blockRows, e.n), e.m)
	defer linalg.Return(bars)
	err := e.eachRow(to, func(i0 int, v, u matrix.Dense, lambdas, means []float64) {
		bar := bars.RowRange(0, v.Rows)
		// fill leaves out the term −2h_i V_i of V̄_i, which the loop below subtracts.
		s.fill(i0, v, covariance, e.mu, bar)
		copy(lambdas, s.h[i0:])
		copy(means, s.g[i0:])
		linalg.Each(v.Rows, chunkRows, func(r int) {
			linalg.Axpy(-2*s.h[i0+r], v.Row(r), bar.Row(r))
		})
		e.unwhiten(bar, u)
	})
	if err == nil {
		err = e.sum(nil, to.theta, to.beta, to.z.Data)
	}
	if err != nil {
		return err
	}
	g := linalg.Borrow(e.m, e.m)
	defer linalg.Return(g)
	g.Zero()
	// addG leaves out the term −2 Σ h_i V_i V_iᵀ of G, which the loop below subtracts.
	s.addG(covariance, e.mu, g)
	for i := range e.m {
		linalg.Axpy(-2, s.hStat.Row(i), g.Row(i))
	}
	linalg.MirrorLower(g)
	e.pullZZ(g, to.theta, to.z)
	return nil
}
