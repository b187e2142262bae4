package pacbayes

import (
	"math"
	"slices"
)

// What holds at every number of rows at once. A wager against a claim about the mean loss that has expectation at most
// 1 on every further row, whatever came before, makes a product whose chance ever to reach 1/δ is at most δ (Ville,
// "Étude critique de la notion de collectif", 1939): one may look after each row, and stop when one likes (Robbins,
// "Statistical methods related to the law of the iterated logarithm", Ann. Math. Stat. 41, 1970; Howard, Ramdas,
// McAuliffe and Sekhon, "Time-uniform, nonparametric, nonasymptotic confidence sequences", Ann. Stat. 49, 2021; Shafer,
// Shen, Vereshchagin and Vovk, "Test martingales, Bayes factors and p-values", Stat. Sci. 26, 2011). Rows may depend on
// those before them: it is each row's expected loss, given those, that the claim is about.

// Anytime bounds the mean loss of a predictor that was fixed before, from both sides and at all n at once with
// probability 1−δ, by its mean loss risk on the first n rows: it lies in
//
//	{p : B(k+1, n−k+1) / (pᵏ(1−p)ⁿ⁻ᵏ) < 1/δ},   k = n·risk,
//
// where B is the beta function: the wealth of who bets against p on all q alike, ∫ (q/p)ᵏ((1−q)/(1−p))ⁿ⁻ᵏ dq (Robbins
// 1970, Sect. 2). For a loss x in [0,1] in the place of a miss (q/p)ˣ((1−q)/(1−p))¹⁻ˣ is convex in x, so that it has
// expectation at most 1 too. With the maximum likelihood taken out that is
//
//	kl(k/n ‖ p) < (ln((n+1)/δ) + ln C(n,k)(k/n)ᵏ(1−k/n)ⁿ⁻ᵏ) / n,
//
// whose ends are kl⁻¹. Both are rounded outward. They are NaN for n < 1, a risk outside [0,1] or δ outside (0,1].
func Anytime(risk float64, n int, delta float64) (least, most float64) {
	if n < 1 || !(0 <= risk && risk <= 1) || !(0 < delta && delta <= 1) {
		return math.NaN(), math.NaN()
	}
	rows := float64(n)
	eps := math.Log(rows+1) - math.Log(delta)
	if k := risk * rows; min(k, rows-k) > 1e-300 { // else the largest likelihood is 1
		eps += logBinomialMode(k, rows)
	}
	eps = (math.Max(eps, 0) + rounding) / rows
	most = math.Min(1, KLInverseUp(risk, eps)+rounding)
	least = math.Max(0, 1-KLInverseUp(1-risk, eps)-rounding)
	return least, most
}

// Evidence is what outcomes, one after the other, say against the claim that each has an expected loss of at most B,
// given those before it: an e-process. If the claim is true, the chance that E ever reaches 1/δ is at most δ.
//
// One wager is at odds c > 1 that misses are more frequent: a loss x multiplies what is at stake by
//
//	cˣ / (1 + (c−1)B),
//
// whose expectation is at most 1, since cˣ ≤ 1 + (c−1)x on [0,1]; it is the likelihood ratio of a coin of odds cB/(1−B)
// to one of B. E is what becomes of 1 that is staked in parts: on six c in shares of 1:1:2:4:2:2, one half of each
// before the first row, and a part w_s before row s = 2, 3, …, for a risk that rises later,
//
//	w_s = ½ ln 2 (1/ln s − 1/ln(s+1)),   Σ w_s = ½.
type Evidence struct {
	miss, hit [len(odds)]float64 // what a loss of 0, or of 1, multiplies a stake by
	staked    [len(odds)]float64 // what the stakes up to now have become
	rows      int
	log       float64 // of the number of the row that comes next
}

// The odds, most of them for risks of one and a half to three times the bound, and the shares staked on them.
var (
	odds   = [...]float64{1.125, 1.25, 1.5, 2, 3, 5}
	shares = [len(odds)]float64{1. / 12, 1. / 12, 2. / 12, 4. / 12, 2. / 12, 2. / 12}
)

// NewEvidence is that of no outcomes against a bound between 0 and 1; it is nil for others, against which nothing can
// be said.
func NewEvidence(bound float64) *Evidence {
	if !(0 < bound && bound < 1) {
		return nil
	}
	e := &Evidence{}
	// What is staked is taken a little low in every row, by more than rounding can add to it.
	const low = 1 - 1e-15
	for j, c := range odds {
		e.miss[j] = low / (1 + (c-1)*bound)
		e.hit[j] = c * e.miss[j]
	}
	return e
}

// Staked returns what the stakes have become, from which Resume goes on.
func (e *Evidence) Staked() []float64 { return slices.Clone(e.staked[:]) }

// Resume goes on where evidence against the same bound stood after so many rows. It says whether it can have stood
// there.
func (e *Evidence) Resume(rows int, staked []float64) bool {
	if len(staked) != len(odds) || rows < 1 {
		return false
	}
	for _, v := range staked {
		if !(0 <= v && v <= most) {
			return false
		}
	}
	copy(e.staked[:], staked)
	e.rows, e.log = rows, math.Log(float64(rows)+1)
	if rows == 1 {
		e.log = math.Ln2
	}
	return true
}

// most is what a stake may become: less than there is is evidence too.
const most = 1e300

// Add takes in the loss of the next outcome, in [0,1], and returns E.
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
	// The stakes that are still to come: Σ_{t>s} w_t = ½ ln 2 / ln(s+1).
	return total + 0.5*math.Ln2/e.log
}
