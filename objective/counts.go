package objective

import (
	"errors"
	"math"

	"gonum.org/v1/gonum/mathext"

	"github.com/krigo-gp/krigo/internal/faults"
	"github.com/krigo-gp/krigo/internal/quadrature"
)

// Names in model files of noises of counts and of positive targets.
const (
	PoissonName  = "poisson"
	NegativeName = "negative-binomial"
	GammaName    = "gamma"
)

// init registers the noises by their variance functions:
// μ for Poisson, μ + sμ² for the negative binomial, and sμ² for gamma.
func init() {
	likelihoods[PoissonName] = Rated{log: logPoisson, below: belowPoisson, linear: 1, whole: true}
	likelihoods[NegativeName] = Rated{log: logNegative, byScale: negativeByScale,
		below: belowNegative, linear: 1, square: 1, whole: true}
	likelihoods[GammaName] = Rated{log: logGamma, byScale: gammaByScale,
		below: belowGamma, square: 1}
}

// Rated is a noise of targets whose logarithm of the mean is f.
// With μ = e^f the variance is V = linear·μ + square·s·μ², and the derivative of ln p(y|f) by f is
// (y − μ) μ/V, as in every exponential family.
type Rated struct {
	log            func(y, f, s float64) float64    // ln p(y|f; s)
	byScale        func(y, f, s float64) float64    // its derivative by s; nil: s is 1
	below          func(y, rate, s float64) float64 // probability of values up to y
	linear, square float64
	whole          bool
}

var _ Sited = Rated{}

// logPoisson returns y f − e^f − ln y!.
func logPoisson(y, f, _ float64) float64 { return y*f - math.Exp(f) - lgamma(y+1) }

// belowPoisson returns P(Y ≤ y) for the mean rate, which is the regularised upper incomplete gamma
// function Q(y+1, rate).
func belowPoisson(y, rate, _ float64) float64 { return mathext.GammaIncRegComp(y+1, rate) }

// logNegative returns ln p(y|f) of the negative binomial distribution.
// With r = 1/s it is ln Γ(y+r) − ln Γ(r) − ln y! + y (f − ln r) − (y+r) ln(1 + μ/r).
func logNegative(y, f, s float64) float64 {
	r := 1 / s
	rise := lgamma(y+r) - lgamma(r)
	if large(r, y) { // Stirling's series
		rise = (r-0.5)*math.Log1p(y/r) + y*math.Log(r+y) - y - y/(12*r*(r+y))
	}
	return rise - lgamma(y+1) + y*(f-math.Log(r)) - (y+r)*math.Log1p(math.Exp(f)*s)
}

// large says whether functions of y + r and of r would cancel.
func large(r, y float64) bool { return r > 1e3*(y+1) }

// negativeByScale returns the derivative of logNegative by s.
// It is −r² times the derivative by r = 1/s. For large r it takes the series of logNegative.
func negativeByScale(y, f, s float64) float64 {
	r := 1 / s
	rate := math.Exp(f)
	off := (y - rate) / (r + rate)
	byR := mathext.Digamma(y+r) - mathext.Digamma(r) - math.Log1p(rate*s) - off
	if large(r, y) {
		byR = math.Log1p(off) - off + y/(2*r*(r+y))
	}
	return -byR * r * r
}

// belowNegative takes the gamma distribution for large y, where the incomplete beta function loses
// digits. The negative binomial distribution of y tends to the gamma distribution as means grow.
func belowNegative(y, rate, s float64) float64 {
	if y > 1e12 {
		return belowGamma(y, rate, s)
	}
	return mathext.RegIncBeta(1/s, y+1, 1/(1+rate*s))
}

// logGamma returns ln p(y|f) of the gamma distribution.
// With k = 1/s it is k ln k − ln Γ(k) + (k−1) ln y − k f − k y e^−f.
func logGamma(y, f, s float64) float64 {
	k := 1 / s
	return k*math.Log(k) - lgamma(k) + (k-1)*math.Log(y) - k*f - k*y*math.Exp(-f)
}

// gammaByScale returns the derivative of logGamma by s: −k² times the derivative by k = 1/s.
func gammaByScale(y, f, s float64) float64 {
	k := 1 / s
	return -k * k * (math.Log(k*y) + 1 - mathext.Digamma(k) - f - y*math.Exp(-f))
}

// belowGamma returns P(Y ≤ y) for the mean rate, which is the regularised lower incomplete gamma
// function P(k, ky/rate) with k = 1/s.
func belowGamma(y, rate, s float64) float64 { return mathext.GammaIncReg(1/s, y/(rate*s)) }

// lgamma returns ln |Γ(x)|.
func lgamma(x float64) float64 {
	v, _ := math.Lgamma(x)
	return v
}

// Narrowest implements Sited. It is a thousandth of the width of the largest count's site.
func (l Rated) Narrowest() float64 { return 1e-3 / mostCount }

// mostCount is the largest count. Its site is 1e-9 wide.
const mostCount = 1e9

// mostRate limits targets above 0 that aren't counts, and the inverse of them.
const mostRate = 1e140

func (l Rated) Scaled() bool { return l.byScale != nil }

func (l Rated) Whole() bool { return l.whole }

// Allows implements Sited. Counts are whole numbers from 0 to mostCount. Other targets are positive
// numbers whose squares, and the squares' inverses, are finite.
func (l Rated) Allows(y float64) error {
	return faults.First(
		faults.If(l.whole && !(y >= 0 && y == math.Floor(y) && y <= mostCount),
			"it is no count: 0, 1, 2 and so on, up to 1e9"),
		faults.If(!l.whole && !(y > 0), "it isn't above 0"),
		// the square of the mean would leave the range of numbers
		faults.If(!l.whole && !(y > 1/mostRate && y < mostRate),
			"it isn't between 1e-140 and 1e140: change the unit of the target"),
	)
}

// slopes returns the first two derivatives of ln p(y|f) by f.
func (l Rated) slopes(y, f, s float64) (first, second float64) {
	rate := math.Exp(f)
	over := l.linear + l.square*s*rate
	return (y - rate) / over, -rate * (l.linear + l.square*s*y) / (over * over)
}

// mode returns the mode of p(y|f) N(f; m, v), and minus the second derivative of its logarithm
// there. Newton steps stay in a bracket. The mode lies between m and ln y.
func (l Rated) mode(y, m, v, s float64) (f, curve float64) {
	first, _ := l.slopes(y, m, s)
	// The mode solves f = m + v·slope(f). Slopes fall as f grows, and for y = 0 they are negative.
	// So the mode then lies between m + v·slope(m) and m.
	low := m + v*first
	high := m
	if y == 0 && m > 20 {
		low = -v // the slope at m may overflow, and at -v it is at most 1
	}
	if y > 0 {
		low = min(m, math.Log(y))
		high = max(m, math.Log(y))
		if f = m; l.square*s*math.Exp(m) < l.linear+1 {
			f = high // the logarithm is steep on this side
		}
	} else {
		f = high
	}
	for k := range 200 {
		first, second := l.slopes(y, f, s)
		d := first - (f-m)/v
		if d > 0 {
			low = f
		} else {
			high = f
		}
		next := f + d/(1/v-second)
		// far from the mode Newton's steps have length 1
		if !(low <= next && next <= high) || k >= 60 {
			next = (low + high) / 2
		}
		if by := math.Abs(next - f); by <= 1e-13*(1+math.Abs(f)) {
			break
		}
		f = next
	}
	_, second := l.slopes(y, f, s)
	return f, 1/v - second
}

// Tilted implements Sited by quadrature in panels, which are as narrow as the product of p(y|f) and
// N(f; m, v), and end where the product is too small to matter.
func (l Rated) Tilted(y, m, v, s float64) Tilt {
	const least = -40
	mode, curve := l.mode(y, m, v, s)
	product := func(f float64) float64 { return l.log(y, f, s) - (f-m)*(f-m)/(2*v) }
	top := product(mode)
	width := min(1/math.Sqrt(curve), 1)
	low := mode
	high := mode
	// Panels reach out from the mode, as far as the product is above e^−40 of its top.
	for product(low)-top > least && low-width < low {
		low -= width
	}
	for product(high)-top > least && high+width > high {
		high += width
	}
	var edges []float64
	for k := math.Round((low - mode) / width); k <= math.Round((high-mode)/width); k++ {
		edges = append(edges, mode+k*width)
	}
	var mass, first, square, byScale float64
	quadrature.Panels(edges, func(f, w float64) {
		w *= math.Exp(product(f) - top)
		d := f - mode
		mass = mass + w
		first = first + w*d
		square = square + w*d*d
		if l.byScale != nil {
			byScale += w * l.byScale(y, f, s)
		}
	})
	// With the mean E f and variance Var f under p(y|f) N(f; m, v), the derivatives of ln Z by m
	// are (E f − m)/v, and minus (1 − Var f/v)/v.
	first /= mass
	variance := square/mass - first*first
	return Tilt{Log: top + math.Log(mass) - math.Log(2*math.Pi*v)/2, Slope: (mode + first - m) / v,
		Curve: max((1-variance/v)/v, 0), ByScale: byScale / mass}
}

// LogPredictive implements Likelihood. It is −∞ for a y that can't be a target.
func (l Rated) LogPredictive(y, mean, variance, s float64) float64 {
	if l.Allows(y) != nil {
		return math.Inf(-1)
	}
	return l.Tilted(y, mean, resolved(mean, variance), s).Log
}

// Point implements Sited. The mean of e^f is e^(mean + variance/2).
func (l Rated) Point(mean, variance, _ float64) float64 { return math.Exp(mean + variance/2) }

// resolved returns the variance of f, or the smallest one that numbers near the mean resolve.
func resolved(mean, variance float64) float64 {
	const digits = 1e-10
	return max(variance, leastVariance, digits*mean*digits*mean)
}

// upTo returns the probability of values up to y.
func (l Rated) upTo(y, mean, variance, s float64) float64 {
	if y < 0 || (y == 0 && !l.whole) {
		return 0
	}
	// around f = ln y the probability falls from 1 to 0, over the noise's relative standard
	// deviation
	step := math.Sqrt(l.linear/max(y, 1) + l.square*s)
	middle := math.Log(y)
	if l.whole {
		middle = math.Log(max(y, 0.1))
	}
	sd := math.Sqrt(resolved(mean, variance))
	total := 0.
	p := 0.
	quadrature.Panels(panelsAround(middle, min(step, 1), mean, sd), func(f, w float64) {
		z := (f - mean) / sd
		w *= math.Exp(-z * z / 2)
		total, p = total+w, p+w*l.below(y, math.Exp(f), s)
	})
	return min(p/total, 1)
}

// doublings is more than the number of doublings between the smallest and the largest number.
const doublings = 2200

// quantile returns the least y up to which there is at least this probability, by bisection, in
// relative steps if y isn't whole. The number of steps is limited, whatever the numbers are.
func (l Rated) quantile(share, mean, variance, s float64) float64 {
	enough := func(y float64) bool { return l.upTo(y, mean, variance, s) >= share }
	low := 0.
	high := l.Point(mean, variance, s)
	least := 0.
	if l.whole {
		high = math.Ceil(high)
		least = 1
	}
	// Double high until it is enough.
	for range doublings {
		if enough(high) || high >= math.MaxFloat64/4 {
			break
		}
		low = high
		high = max(2*high, least)
	}
	if l.whole {
		return wholeQuantile(enough, low, high)
	}
	// Halve the bracket in ln y until its ends differ by 1e-9 of low.
	for range doublings {
		if (low > 0 && high/low <= 1+1e-9) || high < 0x1p-1022 {
			break
		}
		at := math.Sqrt(low) * math.Sqrt(high) // the product of both may overflow, or become 0
		if low == 0 {
			at = high / 1024
		}
		if enough(at) {
			high = at
		} else {
			low = at
		}
	}
	return high
}

// wholeQuantile returns the least whole number that is enough, if high is enough and low isn't.
func wholeQuantile(enough func(float64) bool, low, high float64) float64 {
	if enough(0) {
		return 0
	}
	for high-low > 1 {
		at := math.Floor((low + high) / 2)
		switch {
		case at == low || at == high: // whole numbers above 2^53 are further apart
			return high
		case enough(at):
			high = at
		default:
			low = at
		}
	}
	return high
}

// Spread implements Likelihood. The ends of an interval of counts are just outside, so that it
// holds them after rounding, too.
func (l Rated) Spread(mean, variance, s float64) (Spread, error) {
	point := l.Point(mean, variance, s)
	// Var y = E V(μ) + Var μ for the lognormal μ = e^f.
	v := l.linear*point + point*point*(math.Expm1(variance)+l.square*s*math.Exp(variance))
	if !(0 < v && v <= math.MaxFloat64) {
		return Spread{}, errors.New("the mean of the target, or its variance, is too large or " +
			"too small a number; correct the row")
	}
	low := l.quantile(0.025, mean, variance, s)
	high := l.quantile(0.975, mean, variance, s)
	if !l.whole { // a small y would be lost beside its logarithm
		return Spread{v, (low - point) / math.Sqrt(v), (high - point) / math.Sqrt(v)}, nil
	}
	low = low - 1e-6*(1+low)
	high = high + 1e-6*(1+high)
	return Spread{v, (low - mean) / math.Sqrt(v), (high - mean) / math.Sqrt(v)}, nil
}

// NormalScore takes the middle of the probabilities of values below y, and of values up to y.
func (l Rated) NormalScore(y, mean, variance, s float64) (float64, error) {
	p := l.upTo(y, mean, variance, s)
	if l.whole {
		p = (p + l.upTo(y-1, mean, variance, s)) / 2
	}
	return -math.Sqrt2 * math.Erfcinv(2*min(max(p, 1e-300), 1-1e-16)), nil
}
