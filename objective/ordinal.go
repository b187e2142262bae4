package objective

import (
	"errors"
	"math"
	"slices"

	"github.com/krigo-gp/krigo/internal/lists"
)

// Names in model files of the noises of labels and of ordered levels, and the largest number of
// levels.
const (
	ProbitName  = "probit"
	OrdinalName = "ordinal"
	MostLevels  = 20
)

func init() { likelihoods[ProbitName], likelihoods[OrdinalName] = Probit(), Ordinal{} }

// Probit returns the noise of labels, which are 0 or 1: P(y = 1|f) = Φ(f/√s).
func Probit() Ordinal { return Ordinal{Levels: []float64{0, 1}}.With(nil) }

// Ordinal is the noise of targets that are one of a few ordered Levels, by cumulative probit (Chu
// and Ghahramani, "Gaussian Processes for Ordinal Regression", 2005):
// P(y ≤ Levels[j]|f) = Φ((Cuts[j] − f)/√s), where s is 1 except in draws of labels.
// The first of the Cuts is 0, and the mean of f says where it lies.
// A number that isn't one of the Levels counts as the next lower level, or else as the lowest.
type Ordinal struct {
	Levels []float64 `json:"levels"`     // in ascending order
	Cuts   []float64 `json:"thresholds"` // one less than Levels, in ascending order
}

var _, _ = Sited(Ordinal{}), stepping(Ordinal{})

// Valid says whether there may be such levels and cuts.
func (l Ordinal) Valid() bool {
	n := len(l.Levels)
	ok := 2 <= n && n <= MostLevels && len(l.Cuts) == n-1 && l.Cuts[0] == 0
	for i := 1; ok && i < n; i++ {
		ok = l.Levels[i-1] < l.Levels[i] && (i == n-1 || l.Cuts[i-1] < l.Cuts[i])
	}
	return ok
}

// Steps returns the number of logarithms of the distances between one cut and the next.
func (l Ordinal) Steps() int { return max(len(l.Levels)-2, 0) }

// With returns the noise with the distances between one cut and the next whose logarithms are
// steps.
func (l Ordinal) With(steps []float64) Ordinal {
	l.Cuts = make([]float64, len(steps)+1)
	for i, step := range steps {
		l.Cuts[i+1] = l.Cuts[i] + math.Exp(step)
	}
	return l
}

func (l Ordinal) stepped(steps []float64) Sited { return l.With(steps) }

// Start returns the mean of f, and the steps, by which levels have the same shares as among the
// targets y, if f has the variance 1. A level gets half a target more.
func (l Ordinal) Start(y []float64) (mean float64, steps []float64) {
	shares := make([]float64, len(l.Levels))
	below := 0.
	last := 0.
	for _, v := range y {
		shares[l.at(v)]++
	}
	for at, n := range shares[:len(l.Levels)-1] {
		below += (n + 0.5) / (float64(len(y)) + 0.5*float64(len(shares)))
		// f plus noise has the standard deviation √2, so the cut at the probability p is √2 Φ⁻¹(p),
		// which is −2 erfc⁻¹(2p).
		cut := -2 * math.Erfcinv(2*below)
		if at == 0 {
			mean = -cut
		} else {
			steps = append(steps, math.Log(cut-last))
		}
		last = cut
	}
	return mean, steps
}

// pull implements stepping. by[j] collects the derivatives of Σ ln Z by Cuts[j], which bounds the
// levels j and j+1. The gap between Cuts[i] and Cuts[i+1] is e^steps[i].
func (l Ordinal) pull(y []float64, tilts []Tilt) []float64 {
	by := make([]float64, len(l.Levels))
	steps := make([]float64, l.Steps())
	sum := 0.
	for i, t := range tilts {
		k := l.at(y[i])
		by[k] += t.ByCuts[1] // 0 for the highest level
		by[max(k-1, 0)] += t.ByCuts[0]
	}
	for i := l.Steps() - 1; i >= 0; i-- {
		sum += by[i+1] // a step moves all later cuts
		steps[i] = -sum * (l.Cuts[i+1] - l.Cuts[i])
	}
	return steps
}

// at returns the place of a target's level.
func (l Ordinal) at(y float64) int {
	at, is := slices.BinarySearch(l.Levels, y)
	if !is {
		at = max(at-1, 0)
	}
	return at
}

// ends returns the cuts around the level at a place, minus m and in units of sd.
// The lowest level begins at −∞, and the highest ends at +∞.
// If the level's middle lies above m, ends mirrors it: low is then minus the upper end, high is
// minus the lower end, and flipped is true. This leaves Φ(high) − Φ(low) as it is.
// The upper end is then at most as far from 0 as the lower end, so the difference loses no digits.
func (l Ordinal) ends(at int, m, sd float64) (low, high float64, flipped bool) {
	low = math.Inf(-1)
	high = math.Inf(1)
	if at > 0 {
		low = (l.Cuts[at-1] - m) / sd
	}
	if at < len(l.Cuts) {
		high = (l.Cuts[at] - m) / sd
	}
	if low+high > 0 {
		return -high, -low, true
	}
	return low, high, false
}

// Tilted implements Sited in closed form: Z = P(y) = Φ(high) − Φ(low), with ends in units of
// √(v+s).
// With a = φ(low)/Z and b = φ(high)/Z (not flipped), the derivatives of ln Z are
//
//	Slope = (a − b)/√(v+s),  Curve = [high b − low a + (a − b)²]/(v+s)
//	ByCuts = −a/√(v+s) by the lower cut, b/√(v+s) by the upper cut
//
// For the lowest level a is 0, and for the highest level b is 0. s isn't trained, so ByScale is 0.
func (l Ordinal) Tilted(y, m, v, s float64) (t Tilt) {
	sd := math.Sqrt(v + s)
	low, high, flipped := l.ends(l.at(y), m, sd)
	var b, over, a float64 // densities over Z at both ends, and b + high
	// At first Z = Φ(high), as for a level without a lower end.
	t.Log, b, over = logCDF(high)
	t.Curve = b * over / (v + s)
	if low > math.Inf(-1) {
		less, _, _ := logCDF(low)
		// ln(Φ(high) − Φ(low)) = ln Φ(high) + ln(1 − Φ(low)/Φ(high)).
		t.Log += math.Log(-math.Expm1(less - t.Log))
		density := func(z float64) float64 { return math.Exp(-z*z/2-t.Log) / math.Sqrt(2*math.Pi) }
		a = density(low)
		b = density(high)
		t.Curve = min(max(high*b-low*a+(a-b)*(a-b), 0), 1) / (v + s)
	}
	t.ByCuts = [2]float64{-a / sd, b / sd}
	if flipped {
		t.ByCuts = [2]float64{-b / sd, a / sd}
	}
	t.Slope = -t.ByCuts[0] - t.ByCuts[1]
	return t
}

// LogPredictive returns ln P(y), for y's level.
func (l Ordinal) LogPredictive(y, mean, variance, s float64) float64 {
	return l.Tilted(y, mean, variance, s).Log
}

// Chances returns the probability of each level. None of them loses digits if it is small.
func (l Ordinal) Chances(mean, variance, s float64) []float64 {
	return lists.To(len(l.Levels), func(at int) float64 {
		// Φ(z) = erfc(−z/√2)/2, so the ends are in units of √2 standard deviations.
		low, high, _ := l.ends(at, mean, math.Sqrt(2*(variance+s)))
		return (math.Erfc(-high) - math.Erfc(-low)) / 2
	})
}

// Narrowest implements Sited: the second derivative of ln p(y|f) lies between −1 and 0.
func (Ordinal) Narrowest() float64 { return 1 }

// Point returns the mean level, which is the probability of the label 1.
func (l Ordinal) Point(mean, variance, s float64) (point float64) {
	for at, p := range l.Chances(mean, variance, s) {
		point += p * l.Levels[at]
	}
	return point
}

// Allows implements Sited. Levels are whole numbers between −1e9 and 1e9.
func (Ordinal) Allows(y float64) error {
	if y != math.Floor(y) || math.Abs(y) > 1e9 {
		return errors.New("levels are whole numbers, such as 1 to 5")
	}
	return nil
}

func (Ordinal) Scaled() bool { return false }

func (Ordinal) Whole() bool { return true }

// Spread implements Likelihood. Variance is the variance of the level y about Point.
// The interval ends at two levels: low is the highest level with P(y < low) under 2.5 %, and high
// the highest level with P(y < high) under 97.5 %.
// Both ends lie 1e-6 outside these levels, so that the interval still holds them after rounding.
// As the type Spread says, they are distances from mean in standard deviations of y.
func (l Ordinal) Spread(mean, variance, s float64) (Spread, error) {
	point := l.Point(mean, variance, s)
	// A variance of 0 would divide by 0 below.
	square := 1e-300
	below := 0.
	low := l.Levels[0]
	high := l.Levels[0]
	for at, p := range l.Chances(mean, variance, s) {
		y := l.Levels[at]
		square += p * (y - point) * (y - point)
		if below < 0.025 {
			low = y
		}
		if below < 0.975 {
			high = y
		}
		below += p
	}
	const outside = 1e-6
	sd := math.Sqrt(square)
	return Spread{square, (low - outside - mean) / sd, (high + outside - mean) / sd}, nil
}

// NormalScore takes the middle of the probabilities of values below y, and of values up to y.
func (l Ordinal) NormalScore(y, mean, variance, s float64) (float64, error) {
	low, high, flipped := l.ends(l.at(y), mean, math.Sqrt(2*(variance+s)))
	score := -math.Sqrt2 * math.Erfcinv(max((math.Erfc(-low)+math.Erfc(-high))/2, 1e-300))
	if flipped {
		score = -score
	}
	return score, nil
}
