package objective

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/krigo-gp/krigo/internal/linalg"
	"github.com/krigo-gp/krigo/internal/lists"
	"github.com/krigo-gp/krigo/iterative"
	"github.com/krigo-gp/krigo/kernel"
	"github.com/krigo-gp/krigo/matrix"
	"github.com/krigo-gp/krigo/posterior"
)

// IterativeRenyi estimates RenyiProblem for more rows than can be factored, at a fixed 0 ≤ α < 1.
// It computes w by conjugate gradients, and the two log-determinants by stochastic Lanczos
// quadrature ("The Rényi Gaussian Process", Sect. 3.2).
// The paper gets ln|A| from ln|Ξ| by the determinant lemma, and misprints the formula.
// The right formula, ln|A| = −N ln s + ln|Ξ| + ln|K_ZZ − K_ZXΞ⁻¹K_XZ| − ln|K_ZZ|, loses digits if s
// is small. Here S = sA has a quadrature of its own, with products as cheap as Ξ's:
//
//	Ξv = sv + tKv + αVᵀ(Vv),  Sv = sv + t(Kv − Vᵀ(Vv)),  V = L⁻¹K_ZX
//
// With ∂ln|Ξ| = Σ (HHᵀ)∘∂Ξ and ∂ln|S| = Σ (JJᵀ)∘∂S, where H and J have few columns,
//
//	K̄_XX = (t/2)(HHᵀ − wwᵀ) + (α/2)JJᵀ,  Q̄ = (α/2)(HHᵀ − wwᵀ − JJᵀ)
//	s̄ = ½ tr(HHᵀ − wwᵀ) + (α/(2t))(tr JJᵀ − N/s)
//
// The other adjoints follow from Q̄ as in RenyiProblem.
// As in IterativeEvidence, an anchor fixes preconditioners and probes.
// The value is an estimate with a standard error, and not a bound.
type IterativeRenyi struct {
	Kernel kernel.Kernel
	Mean   kernel.Mean
	X      matrix.Dense
	Y      []float64
	M      int // number of inducing inputs
	Alpha  float64

	Context context.Context // ends a long evaluation; nil means never
	Seed    uint64          // seed of the probes
	// number of probes for each of the two determinants; 0 means DefaultProbes
	Probes    int
	Tolerance float64 // largest relative residual of a solve; 0 means 1e-4
	Progress  func(iterative.Progress)

	// StandardError, Iterations and Jitter describe the last evaluation.
	StandardError float64 // standard error of the value
	Iterations    int     // iterations of both solves together
	Jitter        float64 // added to the diagonal of K_ZZ

	xi, s             *iterative.Preconditioner
	xiProbes, sProbes matrix.Dense
}

// like returns a RenyiProblem with the same parameter vector. It serves for Dim, Names and Split.
func (p *IterativeRenyi) like() *RenyiProblem {
	return &RenyiProblem{Kernel: p.Kernel, Mean: p.Mean, Rows: Memory{X: p.X, Y: p.Y}, M: p.M}
}

// Dim returns the number of parameters.
func (p *IterativeRenyi) Dim() int { return p.like().Dim() }

// Names returns the name of every parameter.
func (p *IterativeRenyi) Names() []string { return p.like().Names() }

// covariance returns K + noise·I, which is only multiplied with and never stored.
func (p *IterativeRenyi) covariance(theta []float64, noise float64) iterative.Covariance {
	return iterative.Covariance{Kernel: p.Kernel, Theta: theta, X: p.X, Noise: noise}
}

// Anchor makes the preconditioners at x, Q + sI for Ξ and a multiple of I for S, and draws the
// probes with them.
func (p *IterativeRenyi) Anchor(x []float64) error {
	theta, _, logNoise, z := p.like().Split(slices.Clone(x))
	c := p.covariance(theta, math.Exp(logNoise))
	probes := cmp.Or(p.Probes, DefaultProbes)
	var err error
	if p.xi, err = iterative.Nystrom(c, z); err != nil { // some inducing inputs coincide
		p.xi, err = iterative.PivotedCholesky(c, iterative.Rank(p.X.Rows))
	}
	if err != nil {
		return unfactored("preconditioner", c.Noise, err)
	}
	p.s = iterative.Diagonal(c)
	rng := rand.New(rand.NewPCG(p.Seed, 0x72656e7969))
	p.xiProbes, p.sProbes = p.xi.Probes(probes, rng), p.s.Probes(probes, rng)
	return nil
}

// Evaluate returns the estimate of −L_α at x and, unless gradient is nil, fills gradient.
// The first evaluation calls Anchor, unless the caller did.
// Errors are Anchor's, a solve's (*iterative.Stalled) or the context's.
func (p *IterativeRenyi) Evaluate(x, gradient []float64) (float64, error) {
	if !(p.Alpha >= 0 && p.Alpha < 1) {
		return math.NaN(), fmt.Errorf("α is %v, but conjugate gradients need 0 ≤ α < 1; for α = "+
			"1 train with VFE", p.Alpha)
	}
	if p.xi == nil {
		if err := p.Anchor(x); err != nil {
			return math.NaN(), err
		}
	}
	theta, beta, logNoise, z := p.like().Split(x)
	n := p.X.Rows
	alpha := p.Alpha
	t := 1 - p.Alpha
	s := math.Exp(logNoise)
	// The rows of v are V_i = L⁻¹k(Z, x_i).
	l := matrix.New(p.M, p.M)
	v := matrix.New(n, p.M)
	var err error
	if p.Jitter, err = posterior.FactorInducing(kernel.At(p.Kernel, theta), z, 0, l); err != nil {
		return math.NaN(), err
	}
	kernel.At(p.Kernel, theta).Fill(p.X, z, v)
	linalg.Trsm(false, true, l, v)

	// times returns the product with sI + tK + shareQ·Q.
	c := p.covariance(theta, s/t)
	times := func(shareQ float64) func(b, out matrix.Dense) {
		return func(b, out matrix.Dense) {
			c.Times(b, out)
			low := linalg.Borrow(p.M, b.Cols)
			linalg.Gemm(true, false, 1, v, b, 0, low)
			linalg.Gemm(false, false, shareQ, v, low, t, out)
			linalg.Return(low)
		}
	}
	r := make([]float64, n)
	w := make([]float64, n)
	p.Mean.At(beta, p.X, r)
	linalg.Minus(p.Y, r)
	// One solve gives ln|Ξ| and w. As in IterativeEvidence, rᵀΞ⁻¹r is wᵀ(r + residual).
	xi, solved, residuals, err := p.quadrature(times(alpha), p.xi, p.xiProbes, r, gradient != nil)
	if err != nil {
		return math.NaN(), err
	}
	quad := 0.0
	for i := range w {
		w[i] = solved.At(i, 0)
		quad += w[i] * (r[i] + residuals.At(i, 0))
	}
	value := 0.5 * (float64(n)*math.Log(2*math.Pi) + xi.Value + quad)
	p.StandardError = xi.StandardError / 2
	var sq iterative.Quadrature
	if alpha > 0 {
		// ln|A| = ln|S| − N ln s, with S = sI + tK − tQ. The probes of both determinants are
		// independent, so the squares of the standard errors add up.
		before := p.Iterations
		if sq, _, _, err = p.quadrature(times(-t), p.s, p.sProbes, nil,
			gradient != nil); err != nil {
			return math.NaN(), err
		}
		p.Iterations += before
		value += alpha / (2 * t) * (sq.Value - float64(n)*logNoise)
		p.StandardError = math.Hypot(p.StandardError, alpha/(2*t)*sq.StandardError)
	}
	if err := finite(value, nil, s); err != nil || gradient == nil {
		return value, err
	}
	clear(gradient)
	p.pull(gradient, theta, beta, z, l, v, xi.Adjoint, sq.Adjoint, w, s)
	return value, finite(value, gradient, s)
}

// quadrature solves for the probes and, unless r is nil, for r.
// It returns the log-determinant with the solution.
func (p *IterativeRenyi) quadrature(times func(v, out matrix.Dense), pre *iterative.Preconditioner,
	probes matrix.Dense, r []float64, adjoint bool) (q iterative.Quadrature, solved,
	residuals matrix.Dense, err error) {
	own := 0
	if r != nil {
		own = 1
	}
	b := matrix.New(probes.Rows, own+probes.Cols)
	for i := range b.Rows {
		copy(b.Row(i)[own:], probes.Row(i))
		if r != nil {
			b.Set(i, 0, r[i])
		}
	}
	solved = matrix.New(b.Rows, b.Cols)
	solver := iterative.Solver{Times: times, Preconditioner: pre,
		Tolerance: cmp.Or(p.Tolerance, 1e-4), MaxIterations: maxIterations,
		Probes: probes.Cols, Progress: p.Progress}
	solution, err := solver.Solve(cmp.Or(p.Context, context.Background()), b, solved)
	if err != nil {
		return q, solved, residuals, err
	}
	p.Iterations = solution.Iterations
	return iterative.LogDet(pre, solution.Lanczos, adjoint), solved, solution.Residuals, nil
}

// pull adds the gradient to gradient, from H, J and w.
func (p *IterativeRenyi) pull(gradient, theta, beta []float64, z, l, v, h, j matrix.Dense,
	w []float64, s float64) {
	dTheta, dBeta, _, dZ := p.like().Split(gradient)
	n := p.X.Rows
	alpha := p.Alpha
	t := 1 - p.Alpha
	// b holds the columns of H, w and J. ofK and ofQ are the weights of the columns in K̄_XX and in
	// Q̄.
	cols := h.Cols + 1 + j.Cols
	b := matrix.New(n, cols)
	ofK := make([]float64, cols)
	ofQ := make([]float64, cols)
	for i := range cols {
		switch {
		case i < h.Cols:
			ofK[i], ofQ[i] = t/2, alpha/2
		case i == h.Cols:
			ofK[i], ofQ[i] = -t/2, -alpha/2
		default:
			ofK[i], ofQ[i] = alpha/2, -alpha/2
		}
	}
	sums := make([]float64, n)
	for i := range n {
		row := b.Row(i)
		copy(row, h.Row(i))
		row[h.Cols] = w[i]
		sums[i] = linalg.Dot(row[:h.Cols], row[:h.Cols]) - w[i]*w[i]
		if j.Cols > 0 {
			copy(row[h.Cols+1:], j.Row(i))
			sums[i] += alpha / t * (linalg.Dot(j.Row(i), j.Row(i)) - 1/s)
		}
	}
	gradient[len(theta)+len(beta)] = s * linalg.Sum(sums) / 2
	kernel.At(p.Kernel, theta).PullOuter(p.X, b, ofK, dTheta)
	linalg.ScaleTo(sums, -1, w)
	p.Mean.Pull(beta, p.X, sums, dBeta)
	if alpha == 0 {
		return
	}
	// With C = L⁻ᵀVᵀB and W = diag(ofQ), K̄_ZX = 2CWBᵀ, computed block by block, and K̄_ZZ = −CWCᵀ.
	low := matrix.New(p.M, cols)
	weighted := matrix.New(p.M, cols)
	zz := matrix.New(p.M, p.M)
	linalg.Gemm(true, false, 1, v, b, 0, low)
	linalg.Trsm(true, true, l, low)
	for i := range p.M {
		copy(weighted.Row(i), low.Row(i))
		linalg.Mul(weighted.Row(i), ofQ)
	}
	linalg.GemmLower(false, true, -1, weighted, low, 0, zz)
	linalg.MirrorLower(zz)
	pullSelf(kernel.At(p.Kernel, theta), z, zz, dTheta, dZ)
	for i0, i1 := range lists.Blocks(n, blockRows) {
		bar := matrix.New(p.M, i1-i0)
		linalg.Gemm(false, true, 2, weighted, b.RowRange(i0, i1), 0, bar)
		kernel.At(p.Kernel, theta).Pull(z, p.X.RowRange(i0, i1), kernel.Adjoint{K: bar,
			Gradient: kernel.Gradient{Theta: dTheta, Inputs: dZ}})
	}
}
