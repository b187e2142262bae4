package pacbayes

import (
	"math"

	"github.com/krigo-gp/krigo/internal/compensated"
)

// TestBound bounds the risk of a predictor that was fixed before the n test rows were seen, with probability 1−δ:
// kl⁻¹(risk, ln(1/δ)/n), rounded up (the Chernoff bound; any loss in [0,1], the Gibbs risk included). risk is the mean
// loss over the test rows. The result is NaN for n < 1, or a risk or δ outside [0,1], or δ = 0.
func TestBound(risk float64, n int, delta float64) float64 {
	if n < 1 || !(0 < delta && delta <= 1) {
		return math.NaN()
	}
	return KLInverseUp(risk, -math.Log(delta)/float64(n))
}

// HoldOutBound bounds the mean loss of a predictor that was fixed before the n rows were seen, from its mean loss risk
// on them, with probability 1−δ: by ClopperPearson where every loss is 0 or 1, else by TestBound.
func HoldOutBound(zeroOne bool, risk float64, n int, delta float64) float64 {
	if zeroOne {
		return ClopperPearson(int(math.Round(risk*float64(n))), n, delta)
	}
	return TestBound(risk, n, delta)
}

// HoldOutLimit is the same from below: the mean loss is at least so much, with probability 1−δ. 1 − loss is a loss too.
func HoldOutLimit(zeroOne bool, risk float64, n int, delta float64) float64 {
	return 1 - HoldOutBound(zeroOne, math.Max(1-risk, 0), n, delta)
}

// ClopperPearson is the exact form of TestBound for a 0/1 loss and a deterministic predictor that errs on k of n test
// rows: the p with P(Bin(n,p) ≤ k) = δ, which is the 1−δ quantile of Beta(k+1, n−k), and 1 for k = n. The result is NaN
// for n < 1, k outside 0…n or δ outside (0,1].
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
	// ln P is concave and falls in p, and the Chernoff bound is an upper end: Newton's
	// steps fall monotonically to the root.
	p := TestBound(float64(k)/float64(n), n, delta)
	const maxSteps = 200
	for range maxSteps {
		if p >= 1 {
			return 1 // within rounding of the root
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

// logBinomialTail is ln P(Bin(n,p) ≤ k) and minus its derivative in p, for 0 < k < n and 0 < p < 1. The tail is the
// probability of k, in saddle-point form (Loader 2000: no large logarithms to cancel), times a sum of positive terms.
func logBinomialTail(k, n int, p float64) (logP, slope float64) {
	total, term := 1.0, 1.0
	for j := k; j > 0 && term > total*1e-18; j-- {
		term *= float64(j) / float64(n-j+1) * ((1 - p) / p)
		total += term
	}
	logP = logBinomialMode(float64(k), float64(n)) - float64(n)*KL(float64(k)/float64(n), p) + math.Log(total)
	return logP, float64(n-k) / ((1 - p) * total)
}

// logBinomialMode is ln C(n,k)(k/n)^k(1−k/n)^(n−k), 0 < k < n, of whole numbers or by the gamma function.
func logBinomialMode(k, n float64) float64 {
	return stirling(n) - stirling(k) - stirling(n-k) - 0.5*math.Log(2*math.Pi*k*((n-k)/n))
}

// stirling is ln x! − ln(√(2πx)(x/e)^x), x > 0: its asymptotic series from 16 on,
// where the next term is 1e-16, and reached from below by x! = (x+1)!/(x+1).
func stirling(x float64) float64 {
	shift := 0.0
	for ; x < 16; x++ {
		shift += (x+0.5)*math.Log1p(1/x) - 1
	}
	x2 := x * x
	return shift + (1./12-(1./360-(1./1260-(1./1680-1./1188/x2)/x2)/x2)/x2)/x
}

// maurerXi is the exact constant of which 2√n in Penalty is an upper bound,
//
//	ξ(n) = Σ_{k=0..n} C(n,k) (k/n)^k (1−k/n)^(n−k) ≤ 2√n
//
// (Maurer 2004; equality at n = 1, and ξ(n) → √(πn/2)). ln ξ(n) may replace ln 2√n in
// a certificate; it gains at most 0.47 nats. The cost is O(n). NaN for n < 1.
func maurerXi(n int) float64 {
	if n < 1 {
		return math.NaN()
	}
	var total compensated.Sum
	total.Add(2) // k = 0 and k = n
	for k := 1; 2*k <= n; k++ {
		term := math.Exp(logBinomialMode(float64(k), float64(n)))
		total.Add(term)
		if 2*k < n {
			total.Add(term) // n−k
		}
	}
	return total.Value()
}
