package pacbayes

import (
	"math"
	"slices"

	"github.com/krigo-gp/krigo/internal/compensated"
	"github.com/krigo-gp/krigo/internal/lists"
)

// A bound for a predictor that was fixed before the n rows were seen has no KL and no union over
// posteriors: it pays only ln(1/δ). TestBound is the kl form, and ClopperPearson the exact form for
// 0/1 losses. The bounds in this file use more of a loss's distribution than the mean, and are
// tighter if a loss varies less than a coin of the same mean.

// rounding is more than rounding can have taken off R_S and KL.
const rounding = 1e-12

// splitAt is the b that cuts a loss x ∈ [0,1] into min(x, b) and max(x−b, 0).
// It is a constant, because a bound would have to pay for a b that is chosen on the rows.
// Most values of a clipped square lie near 0, so b < 1/2 makes both parts useful.
const splitAt = 0.25

// splitKL returns b·kl⁻¹(low, ε) + (1−b)·kl⁻¹(high, ε), rounded up, for b = splitAt.
// low is the mean of min(x,b)/b, and high the mean of max(x−b,0)/(1−b).
// This is the split-kl inequality, whose ε pays for two bounds (Wu and Seldin, "Split-kl and
// PAC-Bayes-split-kl inequalities for ternary random variables", NeurIPS 2022, Theorems 4 and 5,
// with the ends 0 and 1 of the loss). Their lower bound below b is the upper bound on its
// complement.
func splitKL(low, high, eps float64) float64 {
	return math.Min(1, splitAt*KLInverseUp(low, eps)+(1-splitAt)*KLInverseUp(high, eps)+rounding)
}

// lowRisk returns the Gibbs risk of min(ℓ, b)/b for b = splitAt.
// This loss is of the same kind as ℓ, with a narrower width or a smaller scale.
func (s Sample) lowRisk(l Loss) (float64, error) {
	if l.Kind == ClippedSquare {
		l.Below *= math.Sqrt(splitAt)
		return s.Risk(l, nil, nil)
	}
	narrow := lists.Of(s.Scale, func(v float64) float64 { return splitAt * v })
	s.Scale = narrow
	return s.Risk(l, nil, nil)
}

// splitBound bounds the expected loss of a predictor that was fixed before the rows were seen, with
// probability 1−δ.
// It uses the split-kl inequality with δ/2 for each part.
// losses holds the losses, in [0,1], of this rank's units of s.
// If every loss is 0 or 1, ClopperPearson is tighter.
// The result is NaN if there are no losses, a loss lies outside [0,1], or δ outside (0,1].
func (s Sample) splitBound(losses []float64, delta float64) (float64, error) {
	if valid, err := s.validLosses(losses, delta); !valid {
		return math.NaN(), err
	}
	var low, high compensated.Sum
	for _, x := range losses {
		low.Add(math.Min(x, splitAt) / splitAt)
		high.Add(math.Max(x-splitAt, 0) / (1 - splitAt))
	}
	means := [2]float64{}
	for i, part := range []compensated.Sum{low, high} {
		mean, err := s.mean(part.Value())
		if err != nil {
			return math.NaN(), err
		}
		means[i] = math.Min(mean, 1)
	}
	return splitKL(means[0], means[1], math.Log(2/delta)/float64(s.units())), nil
}

// bettors is the number of gamblers of bettingBound.
const bettors = 64

// tunedRules are the Terms.Rules by which the number of units decides the shares that gamblers
// stake.
const tunedRules = 2

// stakes are the shares of his wealth that each gambler stakes on every unit.
type stakes [bettors]float64

// gamblers returns c_1, …, c_K for n units. They were fixed before the units were seen, because
// they depend on n, δ and the rules alone:
//
//	c_k = (√a + (1−√a) sin((k−½)π/2K))²,   a = min(¾, √(ln(1/δ)/n)),   K = 64.
//
// If losses have the mean μ and the variance v, the bound m lies about √(2v ln(1/δ)/n) above μ, and
// the best share against m is about (1−m)(m−μ)/v, or (1−μ)√(2 ln(1/δ)/(nv)).
// It is below a only if v is above 2(1−μ)². By rules 0, in older files, a is 0.
func gamblers(rules, n int, delta float64) (c stakes) {
	least := 0.
	if rules >= tunedRules {
		least = math.Sqrt(math.Min(0.75, math.Sqrt(-math.Log(delta)/float64(n))))
	}
	for k := range c {
		root := least + (1-least)*math.Sin((float64(k)+0.5)*math.Pi/(2*bettors))
		c[k] = root * root
	}
	return c
}

// bettingBound bounds the expected loss of a predictor that was fixed before the rows were seen,
// with probability 1−δ. losses holds the losses x_i ∈ [0,1] of this rank's units of s.
// The bound is the smallest m ≥ x̄ with
//
//	W(m) = (1/K) Σ_k Π_i (1 − c_k + c_k (1−x_i)/(1−m)) ≥ 1/δ.
//
// W is the mean wealth of the K gamblers of c.
// Gambler k stakes the share c_k of his wealth on every row, against the claim that the mean loss
// is m. At the true mean every factor has expectation 1, so that W ≥ 1/δ has probability at most δ
// (Markov). W grows with m. So if W < 1/δ at the true mean, this mean lies below the returned m.
// The bound assumes nothing about the variance of the losses, and a small variance makes it tight
// (Waudby-Smith and Ramdas, "Estimating means of bounded random variables by betting", JRSS B 86,
// 2024). The mixture over constant shares is the universal portfolio of Orabona and Jun ("Tight
// concentrations and confidence sequences from the regret of universal portfolio", IEEE Trans. Inf.
// Theory 70, 2024). The bound doesn't depend on the order of the rows.
// For losses of 0 and 1 it is a little above TestBound.
// The result is NaN if there are no losses, a loss lies outside [0,1], or δ outside (0,1].
func (s Sample) bettingBound(losses []float64, delta float64, c stakes) (float64, error) {
	if valid, err := s.validLosses(losses, delta); !valid {
		return math.NaN(), err
	}
	mean, err := s.meanOf(losses)
	bound := leastMean(mean, delta, s.units(), func(m float64) float64 {
		var w float64
		if err == nil {
			w, err = s.logWealth(losses, m, c)
		}
		if err != nil {
			return math.Inf(1)
		}
		return w
	})
	return bound, err
}

// leastMean returns the smallest m ≥ mean, rounded up, at which the gamblers of bettingBound have
// the wealth 1/δ.
// logWealth(m) is the logarithm of their wealth after n rows.
func leastMean(mean, delta float64, n int, logWealth func(m float64) float64) float64 {
	low := math.Min(mean, 1)
	// Each of the n factors has a rounding error of 1e-16.
	need := -math.Log(delta) + 1e-15*float64(n+bettors)
	// The points m = 1 − (1−x̄)2^−s halve the distance to 1 until m is an upper end.
	// Then the bracket is halved.
	high := low
	for logWealth(high) < need {
		low = high
		high = high + (1-high)/2
		if 1-high < 1e-12 {
			return 1
		}
	}
	for range 60 {
		mid := low + (high-low)/2
		if !(low < mid && mid < high) || high-low < 1e-13*high {
			break
		}
		if logWealth(mid) < need {
			low = mid
		} else {
			high = mid
		}
	}
	return math.Min(1, high+rounding)
}

// betweenBets returns the least and the largest bettingBound of n losses with this mean.
// ln W is concave in the losses, as each factor is linear in a loss.
// So W is largest if all losses are equal, and smallest if all but one are 0 or 1.
func betweenBets(mean float64, n int, delta float64, c stakes) (least, most float64) {
	bound := func(ones, others int, other float64) float64 {
		return leastMean(mean, delta, n, func(m float64) float64 {
			if m >= 1 {
				return math.Inf(1)
			}
			var logs [bettors]float64
			for k := range logs {
				logs[k] = float64(ones)*logBet([]float64{1}, c[k], m) +
					float64(others)*logBet([]float64{other}, c[k], m) +
					float64(n-ones-others)*logBet([]float64{0}, c[k], m)
			}
			return meanWealth(logs[:])
		})
	}
	ones := int(mean * float64(n))
	return bound(0, n, mean), bound(ones, min(n-ones, 1), mean*float64(n)-float64(ones))
}

// logWealth returns ln W(m) of bettingBound for m < 1.
func (s Sample) logWealth(losses []float64, m float64, c stakes) (float64, error) {
	if m >= 1 {
		return math.Inf(1), nil
	}
	var logs [bettors]float64
	for k := range logs {
		logs[k] = logBet(losses, c[k], m)
	}
	if s.Sum != nil {
		if err := s.Sum(logs[:]); err != nil {
			return math.NaN(), err
		}
	}
	return meanWealth(logs[:]), nil
}

// logBet returns the logarithm of a gambler's wealth after these losses, if he bets the share c
// against the mean m < 1.
func logBet(losses []float64, c, m float64) (total float64) {
	kept := 1 - c
	won := c / (1 - m)
	// Factors lie between 1−c > 1e-5 and 1e12, so that a product of 16 factors neither overflows
	// nor underflows.
	const run = 16
	for part := range slices.Chunk(losses, run) {
		product := 1.0
		for _, x := range part {
			product *= kept + won*(1-x)
		}
		total += math.Log(product)
	}
	return total
}

// meanWealth returns the logarithm of the gamblers' mean wealth, given the logarithms of their
// wealths.
func meanWealth(logs []float64) float64 {
	most := slices.Max(logs)
	wealth := lists.Sum(logs, func(l float64) float64 { return math.Exp(l - most) })
	return most + math.Log(wealth/bettors)
}

// validLosses says whether bounds can be computed from the losses: all of them, on all ranks, lie
// in [0, 1], there is a unit, and δ lies in (0, 1]. Its error is an error of Sum.
func (s Sample) validLosses(losses []float64, delta float64) (bool, error) {
	wrong := []float64{0}
	for _, x := range losses {
		if !(0 <= x && x <= 1) {
			wrong[0]++
		}
	}
	var err error
	if s.Sum != nil {
		err = s.Sum(wrong)
	}
	return err == nil && wrong[0] == 0 && s.units() > 0 && 0 < delta && delta <= 1, err
}
