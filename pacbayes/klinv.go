package pacbayes

import "math"

// KL returns the relative entropy of two coins, in nats,
//
//	kl(q‖p) = q ln(q/p) + (1−q) ln((1−q)/(1−p)),
//
// with 0 ln 0 = 0 (Reeb et al. 2018, Sect. 2.1).
// KL is 0 at p = q, and +Inf if p is 0 or 1 and differs from q.
// It is accurate to a few ulps however close p is to q.
// The result is NaN if q or p is NaN or outside [0,1].
func KL(q, p float64) float64 {
	if !(0 <= q && q <= 1 && 0 <= p && p <= 1) {
		return math.NaN()
	}
	// Near p = q the two logarithms cancel to second order.
	// With δ = p−q, adding δ to one half and −δ to the other makes each half a sum that is never
	// negative.
	return klTerm(q, p, p-q) + klTerm(1-q, 1-p, q-p)
}

// klTerm returns q ln(q/p) + d for d = p−q, which is q·phi(d/q), without cancellation.
func klTerm(q, p, d float64) float64 {
	if q == 0 {
		return d
	}
	if x := d / q; math.Abs(x) < phiSeries {
		return q * phi(x)
	}
	return d - q*logRatio(q, p, d)
}

// logRatio returns ln(p/q) for d = p−q. If p and q are close it starts from d, so that the rounding
// of p doesn't matter. If p/q overflows it subtracts two logarithms.
func logRatio(q, p, d float64) float64 {
	x := d / q
	switch {
	case x > math.MaxFloat64:
		return math.Log(p) - math.Log(q)
	case x < -0.5:
		return math.Log(p / q)
	}
	return math.Log1p(x)
}

// phiSeries is the |x| from which on x − log1p(x) replaces the series of phi.
// At 0.3 this difference has lost three bits, and the series still needs at most ten terms.
const phiSeries = 0.3

// phi returns x − ln(1+x) ≥ 0 for |x| < phiSeries.
// With v = x/(2+x), ln(1+x) = 2 artanh v and x − 2v = vx.
func phi(x float64) float64 {
	v := x / (2 + x)
	v2 := v * v
	sum := 0.0
	for k, t := 3.0, 1.0; k < 40; k += 2 { // 1/3 + v²/5 + v⁴/7 + …
		next := sum + t/k
		if next == sum {
			break
		}
		sum = next
		t = t * v2
	}
	return v * (x - 2*v2*sum)
}

// KLInverse returns the upper inverse of the binary relative entropy,
//
//	kl⁻¹(q, ε) = max{p ∈ [0,1] : kl(q‖p) ≤ ε} ∈ [q, 1]
//
// (Reeb et al. 2018, Eq 3), rounded to nearest.
// A certificate needs KLInverseUp. KLInverse is q for ε ≤ 0, 1 for q = 1 or ε = +Inf, and
// −expm1(−ε) for q = 0. The result is NaN if ε is NaN, or if q is NaN or outside [0,1].
func KLInverse(q, eps float64) (p float64) {
	p, _, _, _ = KLInverseGrad(q, eps)
	return p
}

// KLInverseGrad returns p = kl⁻¹(q, ε), 1−p, which keeps its own digits if p rounds to 1, and the
// derivatives (Reeb et al. 2018, Eqs 12 and 13)
//
//	∂p/∂ε = p(1−p)/δ,   ∂p/∂q = (u + ln(p/q)) p(1−p)/δ,
//	δ = p−q,   u = ln((1−q)/(1−p)).
//
// These are the paper's formulas, rewritten without differences of near-equal fractions.
// Their limits are:
//
//	ε ≤ 0:                ∂q = 1, ∂ε = +Inf (but 1 at q = 0 and 0 at q = 1)
//	q = 0 < ε:            ∂q = +Inf (it grows like ln 1/q), ∂ε = e^−ε
//	q = 1 or ε = +Inf:    both 0
//
// All four results are NaN if ε is NaN, or if q is NaN or outside [0,1].
func KLInverseGrad(q, eps float64) (p, oneMinusP, dq, deps float64) {
	switch {
	case !(0 <= q && q <= 1) || math.IsNaN(eps):
		nan := math.NaN()
		return nan, nan, nan, nan
	case eps <= 0 && q == 0:
		return 0, 1, 1, 1
	case eps <= 0 && q == 1:
		return 1, 0, 1, 0
	case eps <= 0:
		return q, 1 - q, 1, math.Inf(1)
	case q == 1 || math.IsInf(eps, 1):
		return 1, 0, 0, 0
	case q == 0:
		e := math.Exp(-eps)
		return -math.Expm1(-eps), e, math.Inf(1), e
	}
	u := klSolve(q, eps)
	d := -(1 - q) * math.Expm1(-u)
	p = min(q+d, 1)
	oneMinusP = (1 - q) * math.Exp(-u)
	if oneMinusP == 0 { // u may have overflowed; both derivatives fall to 0 with 1−p
		return p, 0, 0, 0
	}
	deps = p * oneMinusP / d
	dq = (u + logRatio(q, p, d)) * deps
	return p, oneMinusP, dq, deps
}

// klSolve returns u = ln((1−q)/(1−p)) for kl(q‖p) = ε, with 0 < q < 1 and ε > 0.
//
// With δ = −(1−q)expm1(−u), kl as a function of u is q φ(δ/q) + (1−q)(u + expm1(−u)), which is
// convex and increases with slope δ/p. So Newton's steps from an upper end fall monotonically to
// the root, and stop when rounding stops the fall.
// Solving for u instead of p gives p and 1−p, each with full relative accuracy.
func klSolve(q, eps float64) float64 {
	// One upper end follows from kl = ε without the term −q ln p ≥ 0.
	// Pinsker's inequality gives another upper end.
	u := (eps - q*math.Log(q)) / (1 - q)
	if d := math.Sqrt(eps) / math.Sqrt2; d < 1-q {
		u = min(u, -math.Log1p(-d/(1-q)))
	}
	const maxSteps = 200 // fewer than 30 were ever needed; this only rules out an endless cycle
	for range maxSteps {
		y := math.Expm1(-u)
		d := -(1 - q) * y
		psi := u + y
		if y > -phiSeries {
			psi = phi(y) // the same number, since u = −ln(1+y)
		}
		g := klTerm(q, q+d, d) + (1-q)*psi - eps
		next := max(u-g/(d/(q+d)), u/2) // no step below u/2, so that rounding can't make u negative
		if !(0 < next && next < u) {
			break
		}
		u = next
	}
	return u
}

// KLInverseUp returns kl⁻¹(q, ε) rounded up by a few ulps, for use in a certificate.
// The returned p has kl(q‖p) ≥ ε in exact arithmetic, so that p isn't below the true inverse.
// It is at most 1, and it is q for ε ≤ 0. The result is NaN if that of KLInverse is.
func KLInverseUp(q, eps float64) float64 {
	p := KLInverse(q, eps)
	if !(eps > 0) || p >= 1 {
		return p
	}
	// KL has a relative error of at most 2e-15 (checked against 50 digits).
	// An ε that is larger by a share of 4e-15 raises p by at most 4e-15 (p−q), since kl is convex
	// in p.
	need := eps * (1 + 4e-15)
	for step := math.Nextafter(p, 2) - p; p < 1 && !(KL(q, p) >= need); step *= 2 {
		p = min(p+step, 1)
	}
	return p
}
