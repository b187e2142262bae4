package pacbayes

import (
	"math"
	"slices"
)

// The bounds of this file hold at every number of rows at once.
// A wager against a claim about the mean loss multiplies its stake by a factor on every row.
// If the claim is true, this factor has expectation at most 1, given all earlier rows.
// Then the product of all factors ever reaches 1/δ with probability at most δ (Ville, "Étude
// critique de la notion de collectif", 1939).
// So one may look after each row, and stop at will (Robbins, "Statistical methods related to the
// law of the iterated logarithm", Ann. Math. Stat. 41, 1970;
// Howard, Ramdas, McAuliffe and Sekhon, "Time-uniform, nonparametric, nonasymptotic confidence
// sequences", Ann. Stat. 49, 2021; Shafer, Shen, Vereshchagin and Vovk, "Test martingales, Bayes
// factors and p-values", Stat. Sci. 26, 2011).
// Rows may depend on earlier rows, since the claim is about the expected loss of each row given the
// earlier rows.

// Anytime returns limits of the mean loss of a predictor that was fixed before the rows were seen.
// With probability 1−δ they hold at all n at once. risk is the mean loss on the first n rows.
// The limits are the ends of
//
//	{p : B(k+1, n−k+1) / (pᵏ(1−p)ⁿ⁻ᵏ) < 1/δ},   k = n·risk,
//
// where B is the beta function. The quotient is the wealth ∫ (q/p)ᵏ((1−q)/(1−p))ⁿ⁻ᵏ dq of a gambler
// who bets against p on all q alike (Robbins 1970, Sect. 2).
// (q/p)ˣ((1−q)/(1−p))¹⁻ˣ is convex in x, so that a loss x in [0,1] in the place of a miss gives an
// expectation of at most 1 too. Taking out the maximum likelihood gives
//
//	kl(k/n ‖ p) < (ln((n+1)/δ) + ln C(n,k)(k/n)ᵏ(1−k/n)ⁿ⁻ᵏ) / n,
//
// whose ends are inverses kl⁻¹, rounded outward.
// They are NaN for n < 1, a risk outside [0,1] or δ outside (0,1].
func Anytime(risk float64, n int, delta float64) (least, most float64) {
	if n < 1 || !(0 <= risk && risk <= 1) || !(0 < delta && delta <= 1) {
		return math.NaN(), math.NaN()
	}
	rows := float64(n)
	eps := math.Log(rows+1) - math.Log(delta)
	if k := risk * rows; min(k, rows-k) > 1e-300 { // else the maximum likelihood is 1
		eps += logBinomialMode(k, rows)
	}
	eps = (math.Max(eps, 0) + rounding) / rows
	most = math.Min(1, KLInverseUp(risk, eps)+rounding)
	least = math.Max(0, 1-KLInverseUp(1-risk, eps)-rounding)
	return least, most
}

// Evidence measures what outcomes, one after another, say against the claim that each outcome has
// an expected loss of at most B, given the earlier outcomes. It is an e-process:
// if the claim is true, E ever reaches 1/δ with probability at most δ.
//
// A wager at odds c > 1 bets that misses are more frequent.
// A loss x multiplies the wager's stake by
//
//	cˣ / (1 + (c−1)B).
//
// The expectation of this factor is at most 1, since cˣ ≤ 1 + (c−1)x on [0,1].
// For a loss of 0 or 1 it is the likelihood ratio of a coin of odds cB/(1−B) to a coin of
// probability B. E is the value of a stake of 1, which is divided among six odds c in shares of
// 1:1:2:4:2:2. One half of each share is staked before the first row.
// A part w_s is staked before row s = 2, 3, …, for a risk that rises later,
//
//	w_s = ½ ln 2 (1/ln s − 1/ln(s+1)),   Σ w_s = ½.
type Evidence struct {
	miss, hit [len(odds)]float64 // the factors of a stake after a loss of 0, and of 1
	staked    [len(odds)]float64 // what the stakes up to now are worth
	rows      int
	log       float64 // ln of the next row's number
}

// odds are the odds of the wagers. Most wagers are for risks of 1.5 to 3 times the bound.
// shares are the stakes on the wagers.
var (
	odds   = [...]float64{1.125, 1.25, 1.5, 2, 3, 5}
	shares = [len(odds)]float64{1. / 12, 1. / 12, 2. / 12, 4. / 12, 2. / 12, 2. / 12}
)

// NewEvidence returns the evidence of no outcomes against a bound between 0 and 1.
// Against the bound 1 the evidence stays below 1. NewEvidence returns nil for other bounds.
func NewEvidence(bound float64) *Evidence {
	if !(0 < bound && bound <= 1) {
		return nil
	}
	e := &Evidence{}
	// Each row takes a little off the stakes, more than rounding can add to the stakes.
	const low = 1 - 1e-15
	for j, c := range odds {
		e.miss[j] = low / (1 + (c-1)*bound)
		e.hit[j] = c * e.miss[j]
	}
	return e
}

// Staked returns what the stakes are worth. Resume goes on from these numbers.
func (e *Evidence) Staked() []float64 { return slices.Clone(e.staked[:]) }

// Resume puts e in the state that Staked returned after this number of rows, against the same
// bound. It returns false if evidence can't have been in this state.
func (e *Evidence) Resume(rows int, staked []float64) bool {
	if len(staked) != len(odds) || rows < 1 ||
		slices.ContainsFunc(staked, func(v float64) bool { return !(0 <= v && v <= most) }) {
		return false
	}
	copy(e.staked[:], staked)
	e.rows = rows
	e.log = math.Log(float64(rows) + 1)
	if rows == 1 {
		e.log = math.Ln2
	}
	return true
}

// most is the largest value of a stake. Cutting a stake off there can only lower the evidence.
const most = 1e300

// Add takes the loss of the next outcome, in [0,1], and returns E.
func (e *Evidence) Add(loss float64) float64 {
	e.rows++
	stake := 0.5
	if s := float64(e.rows); e.rows > 1 {
		next := math.Log(s + 1)
		stake *= math.Ln2 * math.Log1p(1/s) / (e.log * next)
		e.log = next
	} else {
		e.log = math.Ln2
	}
	factor := &e.miss
	switch {
	case loss == 1:
		factor = &e.hit
	case loss != 0:
		var graded [len(odds)]float64
		for j, c := range odds {
			graded[j] = math.Pow(c, loss) * e.miss[j] * (1 - 1e-15)
		}
		factor = &graded
	}
	var total float64
	for j := range e.staked {
		e.staked[j] = min((e.staked[j]+stake*shares[j])*factor[j], most)
		total += e.staked[j]
	}
	// E includes the stakes of later rows: Σ_{t>s} w_t = ½ ln 2 / ln(s+1).
	return total + 0.5*math.Ln2/e.log
}
