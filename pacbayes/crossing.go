package pacbayes

import (
	"cmp"
	"math"
	"sort"

	"github.com/krigo-gp/krigo/internal/lists"
)

// A curve bounds the misses of a fixed predictor at all widths w at once.
// Let k(w) of n rows miss by more than w, and let b(k) be the ClopperPearson bound of level δ′ for
// k misses in n rows. The curve says P(|y − ŷ| > w) ≤ b(k(w)) for all w.
// Take the share t = P(|y − ŷ| > w) at the error w of each of the n rows.
// These n shares are uniform order statistics, or larger if there are ties.
// The curve fails only if, for some t, j of the shares are below t and t > b(j).
// krigo computes the probability of this event instead of bounding it.
// This is the one-sided band of Berk and Jones ("Goodness-of-fit test statistics that dominate the
// Kolmogorov statistics", Z. Wahrscheinlichkeitstheorie 47, 1979), by the recursion of Moscovich
// and Nadler ("Fast calculation of boundary crossing probabilities for Poisson processes", Stat.
// Probab. Lett. 123, 2017).

// curveMisses lists the numbers of misses, among n rows, at which a curve has a bound of its own.
// They are all numbers up to 100, and then numbers in ratios of about 1.02, up to the share end of
// the rows. Between two listed numbers the bound of the larger number holds.
// The list is short for any n.
func curveMisses(n int, end float64) (misses []int) {
	for k := 0; k < n && float64(k) <= end*float64(n); k = max(k+1, k*51/50) {
		misses = append(misses, k)
	}
	return misses
}

// crossing returns the probability that, for any i, misses[i] or fewer of n independent uniform
// variables lie below bounds[i]. misses and bounds ascend, and bounds lie below 1.
// The result is rounded up.
//
// If a Poisson process of rate n on [0, 1] has n points, the points are n independent uniform
// variables. p(m) is the probability that the process has m points up to bounds[i], and had more
// than misses[j] points up to every earlier bounds[j].
// States and steps of tiny probability, such as 1e-20, are left out, which can only make the result
// larger.
func crossing(n int, misses []int, bounds []float64) float64 {
	const spread = 10 // how many standard deviations of a Poisson variable are kept
	rate := float64(n)
	at := 0.
	w := walk{0, []float64{1}} // the points up to at
	for i, b := range bounds {
		from, steps := poisson(rate*(b-at), spread)
		mean := rate * b
		at = b
		w = w.step(from, steps, misses[i]+1, min(n, int(mean+spread*math.Sqrt(mean)+60)))
		if len(w.p) == 0 {
			return 1
		}
	}
	var held float64
	for j, q := range w.p {
		held += q * poissonAt(n-w.first-j, rate*(1-at))
	}
	held /= poissonAt(n, rate)
	return math.Min(1, math.Max(0, 1-held)+crossingRounding)
}

// walk is the law of a number: p[j] is the probability of first+j.
type walk struct {
	first int
	p     []float64
}

// step adds from+s with the probability steps[s], and leaves out numbers below least or above most.
func (w walk) step(from int, steps []float64, least, most int) walk {
	first := w.first + from
	lo := max(first, least)
	hi := min(first+len(w.p)+len(steps)-2, most)
	next := make([]float64, max(hi-lo+1, 0))
	for j, q := range w.p {
		for s := max(0, lo-first-j); s < len(steps) && first+j+s <= hi; s++ {
			next[first+j+s-lo] += q * steps[s]
		}
	}
	return walk{lo, next}
}

// crossingRounding is more than rounding takes off the probability not to cross.
// This probability takes some hundred steps of sums of positive terms, and each step is accurate to
// 1e-15.
const crossingRounding = 1e-11

// poissonAt returns the probability of k under the Poisson law of this mean, in saddle-point form
// (Loader 2000).
func poissonAt(k int, mean float64) float64 {
	switch {
	case k < 0:
		return 0
	case k == 0:
		return math.Exp(-mean)
	case mean == 0:
		return 0
	}
	x := float64(k)
	return math.Exp(-stirling(x)-klTerm(x, mean, mean-x)) / math.Sqrt(2*math.Pi*x)
}

// poisson lists the probabilities of from, from+1, … under a Poisson law, within spread standard
// deviations of mean.
func poisson(mean, spread float64) (from int, p []float64) {
	from = max(0, int(mean-spread*math.Sqrt(mean)-10))
	most := int(mean + spread*math.Sqrt(mean) + 30)
	p = make([]float64, most-from+1)
	mode := max(int(mean), from)
	p[mode-from] = poissonAt(mode, mean)
	for k := mode; k < most; k++ {
		p[k+1-from] = p[k-from] * mean / float64(k+1)
	}
	for k := mode; k > from; k-- {
		p[k-1-from] = p[k-from] * float64(k) / mean
	}
	return from, p
}

// others is the part of δ′ that a curve gives to a bound at which nobody reads it.
const others = 0.2

// curveBounds returns the bounds of a curve of n rows at the listed numbers of misses.
// People read a curve at the shares in read. For each of these shares, the largest bound that is at
// most the share has the level δ′, and all other bounds have others·δ′.
// A guess of δ/δ′ says which bounds these are. It depends on n, δ and read alone, and on no row.
// If read is nil, all bounds have the level. A bound is never above the bound of more misses.
func curveBounds(misses []int, n int, level, delta float64, read []float64) []float64 {
	at := func(level float64) []float64 {
		return lists.Of(misses, func(k int) float64 { return ClopperPearson(k, n, level) })
	}
	whole := at(level)
	if read == nil {
		return whole
	}
	bounds := at(others * level)
	guessed := at(delta / float64(4+min(n/300, 2)))
	few := 1
	for _, share := range read {
		// If no bound reaches the share, the one before is the tightest that is read.
		few = cmp.Or(sort.SearchFloat64s(guessed, math.Nextafter(share, 1)), few)
		bounds[few-1] = whole[few-1]
	}
	for i := len(bounds) - 2; i >= 0; i-- {
		bounds[i] = math.Min(bounds[i], bounds[i+1])
	}
	return bounds
}

// curveLevel returns the largest level δ′, to a thousandth, at which all bounds of a curve of n
// rows hold together with probability 1−δ. The curve goes up to the share end of misses.
// read are the shares at which bounds have the whole δ′, or nil if all have it.
// misses and bounds are its points.
func curveLevel(n int, delta, end float64, read []float64) (level float64, misses []int,
	bounds []float64) {
	misses = curveMisses(n, end)
	at := func(level float64) []float64 { return curveBounds(misses, n, level, delta, read) }
	// Each bound fails with probability δ′, so all of them fail with at most len(misses) times δ′.
	// From there each round raises the level by the factor that is left of δ.
	// The bounds overlap more and more, so that the probability that they fail together grows less
	// than in proportion.
	level = delta / float64(len(misses))
	bounds = at(delta / float64(len(misses)))
	for next := level; next > 0; {
		tried := at(next)
		together := crossing(n, misses, tried)
		if together > delta {
			break
		}
		level = next
		bounds = tried
		if next *= delta / together; next < level*1.001 {
			break
		}
	}
	return level, misses, bounds
}
