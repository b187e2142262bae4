package objective

import (
	"math"
	"slices"

	"github.com/krigo-gp/krigo/internal/divergence"
	"github.com/krigo-gp/krigo/internal/linalg"
	"github.com/krigo-gp/krigo/matrix"
)

// Sandwich holds lower and upper bounds of the log evidence ln p(y), and the log evidence itself.
// All numbers are exact to rounding, and no number is an estimate.
// They are natural logarithms to be maximised, unlike the values of objectives.
// NaN means that a number wasn't computed.
//
//	Upper ≥ Evidence ≥ Optimal ≥ Alpha ≥ Jensen ≥ Variational      (0 ≤ α ≤ 1)
//
// Optimal is L_α at the q*(U) that maximises it.
// Alpha, Jensen and Variational share one q(U), which is the best for variational inference.
// They don't share q*, because there Alpha, Jensen and Optimal are the same number ("Optimize to
// Generalize in Gaussian Processes", Sect. 4.1).
type Sandwich struct {
	Upper       float64 // L_upper: Eq. 7 with tr R, as printed
	UpperNorm   float64 // L_upper with a smaller bound of R's largest eigenvalue in place of tr R
	Evidence    float64 // ln p(y)
	Optimal     float64 // L_α(q*), for α < 0 an upper bound of the evidence
	Alpha       float64 // L_α(q)
	Jensen      float64 // L_Jensen(q)
	Variational float64 // L_VI(q), the bound of VFE
}

// Sandwich returns the bounds at x, in O(N³) time and O(N²) memory.
// For α < 0 the bounds at one q aren't ordered and needn't be finite.
// Upper, UpperNorm, Alpha and Jensen are then NaN.
func (p *RenyiProblem) Sandwich(x []float64) (Sandwich, error) {
	alpha := p.Alpha
	defer func() { p.Alpha = alpha }()
	nan := math.NaN()
	b := Sandwich{nan, nan, nan, nan, nan, nan, nan}
	// L_α at q* is minus the objective: with α = 0 it is the evidence, and with α it is Optimal.
	p.Alpha = 0
	value, err := p.Evaluate(x, nil)
	if err != nil {
		return b, err
	}
	b.Evidence = -value
	p.Alpha = alpha
	if value, err = p.Evaluate(x, nil); err != nil {
		return b, err
	}
	b.Optimal = -value
	if p.M == 0 {
		b.Upper = b.Evidence
		b.UpperNorm = b.Evidence // without inducing inputs α is 0, and Ξ = K + sI
		return b, nil
	}
	p.Alpha = 1 // the bounds below need V and R for every α
	e, err := p.whole()
	if err != nil {
		return b, err
	}
	at := p.at(x)
	s := at.s
	if err := p.parts(e, at); err != nil {
		return b, err
	}
	if alpha >= 0 {
		trace, norm := e.residual()
		if b.Upper, err = e.upper(alpha, s, trace); err == nil {
			b.UpperNorm, err = e.upper(alpha, s, norm)
		}
		if err != nil {
			return b, err
		}
	}
	// Alpha, Jensen and Variational share this q, which is the best for α = 1.
	q, err := e.optimal(1, s)
	if err != nil {
		return b, err
	}
	if b.Variational, err = e.jensen(q, 0, s); err != nil || alpha < 0 {
		return b, err
	}
	if b.Jensen, err = e.jensen(q, 1-alpha, s); err == nil {
		b.Alpha, err = e.renyi(q, 1-alpha, s)
	}
	return b, err
}

// residual returns tr R, and an upper bound of R's largest eigenvalue:
// the smallest of R's Frobenius norm, R's largest absolute row sum and tr R.
func (e *renyiWork) residual() (trace, norm float64) {
	sums := make([]float64, len(e.w))
	var square float64
	for i := range len(e.w) {
		trace += e.k.At(i, i)
		for j, v := range e.k.Row(i)[:i] {
			square += 2 * v * v
			sums[i] += math.Abs(v)
			sums[j] += math.Abs(v)
		}
		square += e.k.At(i, i) * e.k.At(i, i)
		sums[i] += e.k.At(i, i)
	}
	return trace, min(math.Sqrt(square), slices.Max(sums), trace)
}

// upper returns L_upper ≥ ln p(y) (Eq. 7 of "Optimize to Generalize in Gaussian Processes", Eq. 6
// of "The Rényi Gaussian Process") for 0 ≤ α ≤ 1. τ is any upper bound of R's largest eigenvalue;
// the papers take tr R:
//
//	L_upper = −½(N ln 2π + ln|Ξ| + rᵀ(Ξ + ατI)⁻¹r)
//
// It holds because sI + K ⪰ Ξ and sI + K ⪯ Ξ + ατI.
func (e *renyiWork) upper(alpha, s, tau float64) (float64, error) {
	var logDet, quad float64
	for _, shift := range []float64{0, alpha * tau} {
		e.fillXi(alpha, s+shift)
		if err := linalg.Cholesky(e.c); err != nil {
			return 0, unfactored(ofXi, s, err)
		}
		if shift == 0 {
			logDet = linalg.LogDet(e.c)
		}
		copy(e.sums, e.w)
		linalg.Trsv(false, e.c, e.sums)
		quad = linalg.Dot(e.sums, e.sums)
	}
	return -0.5 * (float64(len(e.w))*math.Log(2*math.Pi) + logDet + quad), nil
}

// jensen returns L_Jensen at q(U) for t = 1−α, or its limit L_VI for t = 0 ("Optimize to Generalize
// in Gaussian Processes", Sect. 4.1). With S = sI + tR = sA, V = L⁻¹K_ZX and q(ν) = N(μ, B⁻¹), this
// is
//
//	(1/t) E_q ln p_α(y|U) = −½[N ln 2πs + (1/t) ln|A| + (r−Vᵀμ)ᵀS⁻¹(r−Vᵀμ) + tr(S⁻¹VᵀB⁻¹V)]
//
// minus KL[q(U)‖p(U)].
func (e *renyiWork) jensen(q whitened, t, s float64) (float64, error) {
	n := len(e.w)
	logDet, err := factorShifted(e.k, t/s, e.c, e.sums)
	if err != nil {
		return 0, err
	}
	// residual becomes A^-½(r − Vᵀμ), and h becomes A^-½VᵀL_B⁻ᵀ.
	// The squares of h's elements add up to s tr(S⁻¹VᵀB⁻¹V).
	residual := e.sums
	h := e.p
	copy(residual, e.w)
	linalg.Gemv(false, -1, e.v, q.mu, 1, residual)
	h.CopyFrom(e.v)
	linalg.Trsm(false, true, q.cholB, h)
	if t > 0 {
		linalg.Trsv(false, e.c, residual)
		linalg.Trsm(true, false, e.c, h)
	}
	fit := linalg.Dot(residual, residual)
	for i := range n {
		fit += linalg.Dot(h.Row(i), h.Row(i))
	}
	inv := matrix.New(e.v.Cols, e.v.Cols)
	linalg.CholeskyInverse(q.cholB, inv)
	return -0.5*(float64(n)*math.Log(2*math.Pi*s)+(logDet+fit)/s) - divergence.Sparse(q.cholB,
		inv, q.mu), nil
}

// renyi returns L_α at q(ν) = N(μ, B⁻¹) for t = 1−α in [0, 1] (Eq. 4 of "Optimize to Generalize in
// Gaussian Processes"). B = I + VVᵀ/s and μ come from variational inference:
//
//	(1/t) ln ∫ p_α(y|ν) q(ν)^α p(ν)^t dν
//
// The integrand is Gaussian. With Δ = VS⁻¹Vᵀ − VVᵀ/s, its exponent has the curvature Λ = B + tΔ and
// its optimum at μ + td, d = Λ⁻¹(VS⁻¹r − Bμ − Δμ).
// In terms of d, the division by t loses no digits:
//
//	L_α(q) = −½[N ln 2πs + (1/t) ln|A| + ln|B| + (1/t) ln|I + tB⁻¹Δ|
//	            + (r−Vᵀν)ᵀS⁻¹(r−Vᵀν) + νᵀν + αt dᵀBd],  ν = μ + td
func (e *renyiWork) renyi(q whitened, t, s float64) (float64, error) {
	m := e.v.Cols
	logDet, err := factorShifted(e.k, t/s, e.c, e.sums)
	if err != nil {
		return 0, err
	}
	h := e.p
	r := make([]float64, len(e.w))
	h.CopyFrom(e.v)
	copy(r, e.w)
	if t > 0 {
		linalg.Trsm(true, false, e.c, h)
		linalg.Trsv(false, e.c, r)
	}
	delta := matrix.New(m, m)
	linalg.SyrkLower(true, 1/s, h, 0, delta)
	linalg.SyrkLower(true, -1/s, e.v, 1, delta)
	linalg.MirrorLower(delta)
	// d = Λ⁻¹(VS⁻¹r − (B + Δ)μ), with B + Δ = I + VS⁻¹Vᵀ
	residual := r
	linalg.Gemv(false, -1, h, q.mu, 1, residual)
	d := make([]float64, m)
	copy(d, q.mu)
	linalg.Gemv(true, 1/s, h, residual, -1, d)
	// lambda is Λ = B + tΔ, with B = L_B L_Bᵀ.
	lambda := matrix.New(m, m)
	linalg.SyrkLower(false, 1, lowerOf(q.cholB), 0, lambda)
	for i := range m {
		linalg.Axpy(t, delta.Row(i)[:i+1], lambda.Row(i)[:i+1])
	}
	if err := linalg.Cholesky(lambda); err != nil {
		return 0, err
	}
	linalg.CholeskySolve(lambda, d)
	bd := make([]float64, m) // L_Bᵀd
	for i, v := range d {
		linalg.Axpy(v, q.cholB.Row(i)[:i+1], bd[:i+1])
	}
	// residual becomes A^-½(r − Vᵀν), and nu is νᵀν.
	linalg.Gemv(false, -t, h, d, 1, residual)
	nu := 0.0
	for i, v := range d {
		nu += (q.mu[i] + t*v) * (q.mu[i] + t*v)
	}
	// delta becomes L_B⁻¹ΔL_B⁻ᵀ, and |I + t delta| is |I + tB⁻¹Δ|.
	linalg.Trsm(true, false, q.cholB, delta)
	linalg.Trsm(false, true, q.cholB, delta)
	ratio, err := factorShifted(delta, t, matrix.New(m, m), make([]float64, m))
	if err != nil {
		return 0, err
	}
	return -0.5 * (float64(len(e.w))*math.Log(2*math.Pi*s) + logDet/s + linalg.LogDet(q.cholB) +
		ratio + linalg.Dot(residual, residual)/s + nu + (1-t)*t*linalg.Dot(bd, bd)), nil
}

// lowerOf returns a copy of l with zeros above the diagonal.
func lowerOf(l matrix.Dense) matrix.Dense {
	c := matrix.New(l.Rows, l.Cols)
	for i := range l.Rows {
		copy(c.Row(i), l.Row(i)[:i+1])
	}
	return c
}

// Bounds returns a lower and an upper bound of the log evidence at x, in O(NM²) time:
// L_VI, and L_upper at α = 1 (Titsias, "Variational inference for Gaussian and determinantal point
// processes", 2014). With c = s + tr R, A = VVᵀ/s, b = Vr/s:
//
//	L_VI = −F_VFE,  L_upper = −½(N ln 2π + N ln s + ln|I + A| + [rᵀr − (s²/c) bᵀ(I + (s/c)A)⁻¹b]/c)
func (p *SparseProblem) Bounds(x []float64) (lower, upper float64, err error) {
	vfe := *p
	vfe.Objective = VFE()
	vfe.LearnAlpha = false
	x = x[:vfe.Dim()]
	value, err := vfe.Evaluate(x, nil)
	if err != nil {
		return math.NaN(), math.NaN(), err
	}
	e := vfe.e
	if !e.each.Same() {
		return math.NaN(), math.NaN(), errRowNoise
	}
	s := e.noise
	sums := []float64{linalg.Sum(e.lambda[:e.n]), linalg.Dot(e.r[:e.n], e.r[:e.n])}
	if err := e.sum(nil, sums); err != nil {
		return math.NaN(), math.NaN(), err
	}
	// sums holds tr R and rᵀr over the rows of all ranks.
	c := s + sums[0]
	shifted := matrix.New(e.m, e.m)
	half := make([]float64, e.m)
	shifted.CopyFrom(e.a)
	for i := range e.m {
		linalg.Scale(s/c, shifted.Row(i))
	}
	shifted.AddDiagonal(1)
	if err := linalg.Cholesky(shifted); err != nil {
		return math.NaN(), math.NaN(), err
	}
	// With I + (s/c)A = L Lᵀ, half is L⁻¹b.
	copy(half, e.b)
	linalg.Trsv(false, shifted, half)
	quad := (sums[1] - s*s/c*linalg.Dot(half, half)) / c
	return -value, -0.5 * (float64(e.total)*math.Log(2*math.Pi*s) + linalg.LogDet(e.lb) + quad), nil
}
