package pacbayes

import "math"

// KL is the relative entropy of two coins, in nats,
//
//	kl(q‖p) = q ln(q/p) + (1−q) ln((1−q)/(1−p)),
//
// with 0 ln 0 = 0 (Reeb et al. 2018, Sect. 2.1). It is 0 at p = q, and +Inf where p is 0 or 1 and q is not. It is
// accurate to a few ulps however close p is to q. The result is NaN if q or p is NaN or outside [0,1].
func KL(q, p float64) float64 {
	if !(0 <= q && q <= 1 && 0 <= p && p <= 1) {
		return math.NaN()
	}
	// The two logarithms cancel to second order at p = q. Adding δ to one and
	// −δ to the other, δ = p−q, makes each half a sum that is never negative.
	return klTerm(q, p, p-q) + klTerm(1-q, 1-p, q-p)
}

// klTerm is q ln(q/p) + d for d = p−q, that is q·phi(d/q), without cancellation.
func klTerm(q, p, d float64) float64 {
	if q == 0 {
		return d
	}
	if x := d / q; math.Abs(x) < phiSeries {
		return q * phi(x)
	}
	return d - q*logRatio(q, p, d)
}

// logRatio is ln(p/q) for d = p−q: from d where p and q are close, so that the
// rounding of p does not matter, and from two logarithms where p/q overflows.
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

// phiSeries is where phi gives way to x − log1p(x): at 0.3 that difference has lost
// three bits, and the series still needs no more than ten terms.
const phiSeries = 0.3

// phi is x − ln(1+x) ≥ 0 for |x| < phiSeries. With v = x/(2+x), ln(1+x) = 2 artanh v and x − 2v = vx.
func phi(x float64) float64 {
	v := x / (2 + x)
	v2 := v * v
	sum := 0.0
	for k, t := 3.0, 1.0; k < 40; k += 2 { // 1/3 + v²/5 + v⁴/7 + …
		next := sum + t/k
		if next == sum {
			break
		}
		sum, t = next, t*v2
	}
	return v * (x - 2*v2*sum)
}

// KLInverse is the upper inverse of the binary relative entropy,
//
//	kl⁻¹(q, ε) = max{p ∈ [0,1] : kl(q‖p) ≤ ε} ∈ [q, 1]
//
// (Reeb et al. 2018, Eq 3), to nearest; for a number that is to be a bound see KLInverseUp. It is q for ε ≤ 0, 1 for q
// = 1 or ε = +Inf, and −expm1(−ε) for q = 0. The result is NaN if ε is NaN or q is NaN or outside [0,1].
func KLInverse(q, eps float64) (p float64) {
	p, _, _, _ = KLInverseGrad(q, eps)
	return p
}

// KLInverseGrad is p = kl⁻¹(q, ε) with 1−p, which keeps its own digits where p
// rounds to 1, and the derivatives (Reeb et al. 2018, Eqs 12 and 13)
//
//	∂p/∂ε = p(1−p)/δ,   ∂p/∂q = (u + ln(p/q)) p(1−p)/δ,
//	δ = p−q,   u = ln((1−q)/(1−p)),
//
// which are the paper's with the differences of near-equal fractions resolved. The limits are: ε ≤ 0: ∂q = 1, ∂ε = +Inf
// (but 1 at q = 0 and 0 at q = 1); q = 0 < ε: ∂q = +Inf (it grows like ln 1/q), ∂ε = e^−ε; q = 1 or ε = +Inf: both 0.
// All four are NaN if ε is NaN or q is NaN or outside [0,1].
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
	if oneMinusP == 0 { // u may have overflowed; both derivatives fall with 1−p
		return p, 0, 0, 0
	}
	deps = p * oneMinusP / d
	dq = (u + logRatio(q, p, d)) * deps
	return p, oneMinusP, dq, deps
}

// klSolve returns u = ln((1−q)/(1−p)) for kl(q‖p) = ε, with 0 < q < 1 and ε > 0.
//
// In u, with δ = −(1−q)expm1(−u), the entropy is q φ(δ/q) + (1−q)(u + expm1(−u)): convex and increasing with slope δ/p.
// So Newton's steps from an upper end fall monotonically to the root, and stop where rounding stops the fall. Solving
// for u and not for p gives p and 1−p their full relative accuracy alike.
func klSolve(q, eps float64) float64 {
	// Two upper ends: drop −q ln p ≥ 0 from kl = ε, or use Pinsker's inequality.
	u := (eps - q*math.Log(q)) / (1 - q)
	if d := math.Sqrt(eps) / math.Sqrt2; d < 1-q {
		u = min(u, -math.Log1p(-d/(1-q)))
	}
	const maxSteps = 200 // fewer than 30 are ever seen; this only rules out a cycle
	for range maxSteps {
		y := math.Expm1(-u)
		d := -(1 - q) * y
		psi := u + y
		if y > -phiSeries {
			psi = phi(y) // the same number: u = −ln(1+y)
		}
		g := klTerm(q, q+d, d) + (1-q)*psi - eps
		next := max(u-g/(d/(q+d)), u/2)
		if !(0 < next && next < u) {
			break
		}
		u = next
	}
	return u
}

// KLInverseUp is kl⁻¹(q, ε) rounded up by a few ulps, for use in a certificate: kl(q‖p) ≥ ε holds for the p returned in
// exact arithmetic, so p is not below the true inverse. It is at most 1, and q itself for ε ≤ 0. NaN as for KLInverse.
func KLInverseUp(q, eps float64) float64 {
	p := KLInverse(q, eps)
	if !(eps > 0) || p >= 1 {
		return p
	}
	// KL is good to 2e-15, relative (checked against 50 digits). Asking for 4e-15
	// more raises p by at most 4e-15 (p−q), since kl is convex in p.
	need := eps * (1 + 4e-15)
	for step := math.Nextafter(p, 2) - p; p < 1 && !(KL(q, p) >= need); step *= 2 {
		p = min(p+step, 1)
	}
	return p
}
