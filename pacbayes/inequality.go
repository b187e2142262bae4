package pacbayes

import (
	"fmt"
	"math"
	"slices"

	"github.com/krigo-gp/krigo/internal/faults"
)

// Inequality names the theorem on which a certificate rests.
// It is declared before the certified rows are seen.
//
// An inequality bounds the risk of all posteriors Q at once.
// If Q was fixed before the rows were seen, it bounds the risk of this Q or of its mean, which
// costs neither KL nor ln 2√N:
//
//	           any Q (learnt on the rows)             a fixed Q, or its mean
//	kl         kl⁻¹(R_S, (KL + ln 2√N/δ)/N)           kl⁻¹(R_S, ln(1/δ)/N) (Chernoff)
//	maurer     the same with ξ(N) for 2√N             the same as kl
//	pinsker    R_S + √((KL + ln 2√N/δ)/2N)            R_S + √(ln(1/δ)/2N) (Hoeffding)
//	split-kl   b kl⁻¹(R_<, ε) + (1−b) kl⁻¹(R_>, ε)    the same with ε = ln(2/δ)/N
//	betting    no form of it here                     the least m ≥ R_S with W(m) ≥ 1/δ (see gamblers)
//
// Here R_< and R_> are the risks of min(ℓ, b)/b and max(ℓ−b, 0)/(1−b) with b = 1/4, and ε = (KL +
// ln 2ξ(N)/δ)/N pays for both. W(m) = (1/K) Σ_k Π_i (1 − c_k + c_k (1−ℓ_i)/(1−m)), K = 64, is the
// mean wealth of K gamblers. Gambler k stakes the share c_k, which N and δ decide, against the
// claim that the mean loss is m.
//
// A 0/1 loss of the mean always gets the exact binomial bound, since no other bound is tighter.
type Inequality string

// The inequalities.
const (
	KLBound      Inequality = "kl"       // Seeger 2002 with Maurer's 2√N; Reeb et al. 2018, Eq. 5
	MaurerBound  Inequality = "maurer"   // Maurer 2004, Theorem 5, with its exact constant ξ(N)
	PinskerBound Inequality = "pinsker"  // Reeb et al. 2018, Sect. 2.2
	SplitBound   Inequality = "split-kl" // Wu and Seldin 2022
	BettingBound Inequality = "betting"  // Waudby-Smith and Ramdas 2024
)

// Inequalities lists all inequalities.
func Inequalities() []Inequality {
	return []Inequality{KLBound, MaurerBound, PinskerBound, SplitBound, BettingBound}
}

// Check returns an error if the inequality can't bound the risk of a random draw from Q under the
// loss l. learnt says that Q was learnt on the certified rows. Else Q was fixed before.
func (q Inequality) Check(l Loss, learnt bool) error {
	return faults.First(
		faults.If(!slices.Contains(Inequalities(), q),
			"bound %q: want one of %v", q, Inequalities()),
		faults.If(q == BettingBound && learnt,
			"bound betting: it needs a posterior that was fixed before the certified rows "+
				"were seen, and this posterior is learnt on them"),
		faults.If(q == SplitBound && learnt && l.Kind != ClippedSquare &&
			l.Kind != ClippedAbsolute,
			"bound split-kl: a posterior that is learnt on the certified rows needs the loss "+
				"clipped-square or clipped-absolute, whose parts have closed forms, not %s",
			l.Kind),
	)
}

// Penalty returns what a bound that holds for all Q pays besides KL, in nats,
//
//	ln(1/p_θ) + ln E + ln(2√n/δ)
//
// (Reeb et al. 2018, Eq 5), with the constant of the inequality in the place of 2√n.
// choices is the sum of the first two terms: ln(1/p_θ) of the prior on the grid (see
// Grid.LogInverseP), and ln E of E alternatives that were open when the rows were seen.
// n ≥ 1 is the number of certified rows, or groups. The bound fails with probability δ, 0 < δ ≤ 1.
// The result is NaN for another n or δ.
func (q Inequality) Penalty(choices float64, n int, delta float64) float64 {
	if n < 1 || !(0 < delta && delta <= 1) {
		return math.NaN()
	}
	return choices + q.logConstant(n) - math.Log(delta)
}

// logConstant returns ln 2√n, or for maurer and split-kl ln ξ(n).
func (q Inequality) logConstant(n int) float64 {
	if q == MaurerBound || q == SplitBound {
		return math.Log(maurerXi(n))
	}
	return math.Log(2 * math.Sqrt(float64(n)))
}

// Evaluate returns the bound on the risk of any Q at the empirical risk R_S = risk ∈ [0,1], with ε
// = (kl + penalty)/n. It also returns the derivatives of the bound with respect to risk and kl
// (Reeb et al. 2018, Eqs 12–14, all taken at the full ε; the paper's Eq 14 omits part of it):
//
//	kl, maurer:  ∂R_S as Eq 12,  ∂KL = (Eq 13)/n
//	pinsker:     ∂R_S = 1,       ∂KL = 1/(4n√(ε/2))
//
// The derivative in the risk diverges like ln(1/risk) as the risk falls to 0.
// A risk that is exactly 0 has underflowed, and its own gradient underflows much faster.
// dRisk is then 0, so that its product with this gradient is 0 and never 0·Inf.
// dKL is +Inf at ε = 0 (0 < risk < 1), which no valid penalty gives.
// The value is rounded to nearest, and pinsker's may exceed 1.
// A certificate uses KLInverseUp instead. The results are NaN for n < 1 and for a risk outside
// [0,1]. Other inequalities panic.
func (q Inequality) Evaluate(risk, kl, penalty float64, n int) (value, dRisk, dKL float64) {
	if n < 1 || !(0 <= risk && risk <= 1) {
		return math.NaN(), math.NaN(), math.NaN()
	}
	eps := (kl + penalty) / float64(n)
	switch q {
	case KLBound, MaurerBound:
		value, _, dRisk, dKL = KLInverseGrad(risk, eps)
		if risk == 0 {
			dRisk = 0
		}
		return value, dRisk, dKL / float64(n)
	case PinskerBound:
		root := math.Sqrt(max(eps, 0) / 2)
		return risk + root, 1, 1 / (4 * float64(n) * root)
	}
	panic(fmt.Sprintf("pacbayes: no training minimises the bound %q", q))
}

// anyQ bounds the Gibbs risk of a Q that was learnt on the n rows.
// eps = (KL + penalty)/n includes the inequality's constant.
// low is the result of lowRisk, and only split-kl uses it. The two parts of split-kl share δ.
func (q Inequality) anyQ(risk, low, eps float64, n int) float64 {
	switch q {
	case PinskerBound:
		return math.Min(1, risk+math.Sqrt(eps/2)+rounding)
	case SplitBound:
		high := math.Max(0, (risk-splitAt*low)/(1-splitAt))
		return splitKL(low, high, eps+math.Ln2/float64(n))
	}
	return math.Min(1, KLInverseUp(risk, eps)+rounding)
}

// byMean says whether the bound of a predictor that was fixed before needs nothing of the losses
// but their mean.
func (q Inequality) byMean(zeroOne bool) bool {
	return zeroOne || (q != SplitBound && q != BettingBound)
}

// ofMean bounds the expected loss of such a predictor, whose losses on n units have the mean risk ≤
// 1.
func (q Inequality) ofMean(risk float64, n int, zeroOne bool, delta float64) float64 {
	b := risk + math.Sqrt(-math.Log(delta)/(2*float64(n)))
	if zeroOne || q != PinskerBound {
		b = HoldOutBound(zeroOne, risk, n, delta)
	}
	return math.Min(1, b+rounding)
}
