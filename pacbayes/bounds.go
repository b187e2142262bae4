package pacbayes

import (
	"math"

	"github.com/krigo-gp/krigo/internal/compensated"
)

// TestBound returns an upper bound on the risk of a predictor that was fixed before the n test rows
// were seen. The bound holds with probability 1−δ. It is kl⁻¹(risk, ln(1/δ)/n), rounded up:
// the Chernoff bound, for any loss in [0,1], and for the Gibbs risk too.
// risk is the mean loss over the test rows. The result is NaN for n < 1, a risk outside [0,1] or δ
// outside (0,1].
func TestBound(risk float64, n int, delta float64) float64 {
	if n < 1 || !(0 < delta && delta <= 1) {
		return math.NaN()
	}
	return KLInverseUp(risk, -math.Log(delta)/float64(n))
}

// HoldOutBound returns an upper bound on the expected loss of a predictor that was fixed before the
// n rows were seen.
// The bound holds with probability 1−δ. risk is the mean loss on these rows.
// HoldOutBound uses ClopperPearson if every loss is 0 or 1 (zeroOne), else TestBound.
func HoldOutBound(zeroOne bool, risk float64, n int, delta float64) float64 {
	if zeroOne {
		return ClopperPearson(int(math.Round(risk*float64(n))), n, delta)
	}
	return TestBound(risk, n, delta)
}

// HoldOutLimit returns a lower limit of the same expected loss, with probability 1−δ.
// 1 − loss is a loss too.
func HoldOutLimit(zeroOne bool, risk float64, n int, delta float64) float64 {
	return 1 - HoldOutBound(zeroOne, math.Max(1-risk, 0), n, delta)
}

// ClopperPearson returns the exact form of TestBound for a 0/1 loss and a deterministic predictor
// that errs on k of n test rows. It is the p with P(Bin(n,p) ≤ k) = δ, which is the 1−δ quantile of
// Beta(k+1, n−k). For k = n it is 1.
// The result is NaN for n < 1, k outside 0…n or δ outside (0,1].
func ClopperPearson(k, n int, delta float64) float64 {
	switch {
	case n < 1 || k < 0 || k > n || !(0 < delta && delta <= 1):
		return math.NaN()
	case k == n:
		return 1
	case delta == 1:
		return 0
	case k == 0:
		return -math.Expm1(math.Log(delta) / float64(n))
	case k == n-1:
		return math.Exp(math.Log1p(-delta) / float64(n))
	}
	// ln P is concave and falls in p, and the Chernoff bound is an upper end.
	// So Newton's steps from there fall monotonically to the root.
	p := TestBound(float64(k)/float64(n), n, delta)
	const maxSteps = 200
	for range maxSteps {
		if p >= 1 {
			return 1 // 1 is within rounding of the root
		}
		logP, slope := logBinomialTail(k, n, p)
		next := p + (logP-math.Log(delta))/slope
		if !(next < p) {
			break
		}
		p = next
	}
	return p
}

// logBinomialTail returns ln P(Bin(n,p) ≤ k) and minus its derivative in p, for 0 < k < n and 0 < p
// < 1. The tail is the probability of k times a sum of positive terms.
// The saddle-point form of this probability (Loader 2000) has no large logarithms to cancel.
func logBinomialTail(k, n int, p float64) (logP, slope float64) {
	total := 1.0
	term := 1.0
	for j := k; j > 0 && term > total*1e-18; j-- {
		term *= float64(j) / float64(n-j+1) * ((1 - p) / p)
		total += term
	}
	logP = logBinomialMode(float64(k), float64(n)) - float64(n)*KL(float64(k)/float64(n), p) +
		math.Log(total)
	return logP, float64(n-k) / ((1 - p) * total)
}

// logBinomialMode returns ln C(n,k)(k/n)^k(1−k/n)^(n−k) for 0 < k < n. k may be a fraction:
// C uses gamma functions.
func logBinomialMode(k, n float64) float64 {
	return stirling(n) - stirling(k) - stirling(n-k) - 0.5*math.Log(2*math.Pi*k*((n-k)/n))
}

// stirling returns ln x! − ln(√(2πx)(x/e)^x) for x > 0.
// From x = 16 on it sums the asymptotic series, whose next term is 1e-16 there.
// It reduces a smaller x to x+1, since x! = (x+1)!/(x+1).
func stirling(x float64) float64 {
	shift := 0.0
	for ; x < 16; x++ {
		shift += (x+0.5)*math.Log1p(1/x) - 1
	}
	x2 := x * x
	return shift + (1./12-(1./360-(1./1260-(1./1680-1./1188/x2)/x2)/x2)/x2)/x
}

// maurerXi returns Maurer's exact constant (Maurer 2004),
//
//	ξ(n) = Σ_{k=0..n} C(n,k) (k/n)^k (1−k/n)^(n−k) ≤ 2√n
//
// with equality at n = 1, and ξ(n) → √(πn/2).
// A certificate may use ln ξ(n) in place of the ln 2√n in Penalty.
// This gains at most 0.47 nats. The cost is O(n). The result is NaN for n < 1.
func maurerXi(n int) float64 {
	if n < 1 {
		return math.NaN()
	}
	var total compensated.Sum
	total.Add(2) // the terms of k = 0 and k = n
	for k := 1; 2*k <= n; k++ {
		term := math.Exp(logBinomialMode(float64(k), float64(n)))
		total.Add(term)
		if 2*k < n {
			total.Add(term) // the equal term of n−k
		}
	}
	return total.Value()
}

// reproducible is how much two kinds of processor may differ in the same number.
// For honest sparse models they differed by up to 2e-7.
// A stored number may differ by as much from the recomputed number, which krigo prints.
const reproducible = 1e-6

// same says whether a computed number agrees with the stored number, to within reproducible.
func same(computed, stored float64) bool {
	return math.Abs(computed-stored) <= reproducible*math.Max(1, math.Abs(stored))
}
