package objective

import (
	"errors"
	"math"
	"slices"

	"github.com/krigo-gp/krigo/pacbayes"
)

// OrdinalName is the name in model files of the noise of ordered levels.
const OrdinalName = "ordinal"

func init() { likelihoods[OrdinalName] = Ordinal{} }

// Ordinal is the noise of targets that are one of a few ordered Levels, by cumulative probit (Chu and Ghahramani,
// "Gaussian Processes for Ordinal Regression", 2005): P(y ≤ Levels[j]|f) = Φ(Cuts[j] − f). The first of the Cuts is 0,
// and the mean of f says where it lies. With two levels, the noise is Probit. A number that isn't one of the Levels
// counts as the next lower level, or else as the lowest.
type Ordinal struct {
	Levels []float64 `json:"levels"`     // in ascending order
	Cuts   []float64 `json:"thresholds"` // one less than Levels, in ascending order
}

var (
	_ Sited    = Ordinal{}
	_ stepping = Ordinal{}
)

// MostLevels is the largest number of levels.
const MostLevels = 20

// Check returns an error if there are no such levels or cuts.
func (l Ordinal) Check() error {
	n, ok := len(l.Levels), true
	for i, v := range l.Levels {
		ok = ok && l.Allows(v) == nil && (i == 0 || l.Levels[i-1] < v)
	}
	if !ok || n < 2 || n > MostLevels || len(l.Cuts) != n-1 || l.Cuts[0] != 0 {
		return errors.New("levels or thresholds of an ordinal target are impossible")
	}
	for i, c := range l.Cuts[1:] {
		if !(l.Cuts[i] < c && c <= math.MaxFloat64) {
			return errors.New("thresholds of an ordinal target don't rise")
		}
	}
	return nil
}

// Steps returns the number of logarithms of the distances between one cut and the next.
func (l Ordinal) Steps() int { return max(len(l.Levels)-2, 0) }

// With returns the noise with the distances between one cut and the next whose logarithms are steps.
func (l Ordinal) With(steps []float64) Ordinal {
	l.Cuts = make([]float64, l.Steps()+1)
	for i := range l.Steps() {
		l.Cuts[i+1] = l.Cuts[i] + math.Exp(steps[i])
	}
	return l
}

func (l Ordinal) stepped(steps []float64) Sited { return l.With(steps) }

// Start returns the mean of f, and the steps, by which levels have the same shares as among the targets y, if f has the
// variance 1. A level gets half a target more.
func (l Ordinal) Start(y []float64) (mean float64, steps []float64) {
	shares, below := make([]float64, len(l.Levels)), 0.
	for _, v := range y {
		shares[l.at(v)]++
	}
	var cuts []float64
	for _, n := range shares[:len(shares)-1] {
		below += (n + 0.5) / (float64(len(y)) + 0.5*float64(len(shares)))
		cuts = append(cuts, -2*math.Erfcinv(2*below))
	}
	for i, c := range cuts[1:] {
		steps = append(steps, math.Log(c-cuts[i]))
	}
	return -cuts[0], steps
}

func (l Ordinal) pull(y []float64, tilts []Tilt) []float64 {
	by := make([]float64, len(l.Cuts)+1)
	for i, t := range tilts {
		k := l.at(y[i])
		by[k] += t.ByCuts[1] // 0 for the highest level
		if k > 0 {
			by[k-1] += t.ByCuts[0]
		}
	}
	steps, sum := make([]float64, l.Steps()), 0.
	for i := l.Steps() - 1; i >= 0; i-- {
		sum += by[i+1] // a step moves all later cuts
		steps[i] = sum * (l.Cuts[i+1] - l.Cuts[i])
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

// ends returns the cuts of the level at a place, less m and in units of sd.
func (l Ordinal) ends(at int, m, sd float64) (low, high float64) {
	low, high = math.Inf(-1), math.Inf(1)
	if at > 0 {
		low = (l.Cuts[at-1] - m) / sd
	}
	if at < len(l.Cuts) {
		high = (l.Cuts[at] - m) / sd
	}
	return low, high
}

// logBetween returns ln(Φ(high) − Φ(low)).
func logBetween(low, high float64) float64 {
	if low+high > 0 {
		low, high = -high, -low
	}
	log, _, _ := logCDF(high)
	if math.IsInf(low, -1) {
		return log
	}
	less, _, _ := logCDF(low)
	return log + math.Log(-math.Expm1(less-log))
}

// Tilted implements Sited.
func (l Ordinal) Tilted(y, m, v, s float64) (t Tilt) {
	at, sd := l.at(y), math.Sqrt(v+s)
	low, high := l.ends(at, m, sd)
	switch { // one cut
	case at == 0:
		t.Log, t.Slope, t.Curve = limitMoments(-1, l.Cuts[0], m, v, s)
		t.ByCuts[1] = -t.Slope
		return t
	case at == len(l.Cuts):
		t.Log, t.Slope, t.Curve = limitMoments(1, l.Cuts[at-1], m, v, s)
		t.ByCuts[0] = -t.Slope
		return t
	}
	t.Log = logBetween(low, high)
	density := func(z float64) float64 { return math.Exp(-z*z/2-t.Log) / math.Sqrt(2*math.Pi) }
	a, b := density(low), density(high)
	t.ByCuts = [2]float64{-a / sd, b / sd}
	t.Slope = (a - b) / sd
	t.Curve = min(max(high*b-low*a+(a-b)*(a-b), 0), 1) / (v + s)
	return t
}

// Chances returns the probability of each level.
func (l Ordinal) Chances(mean, variance float64) []float64 {
	p, sd := make([]float64, len(l.Levels)), math.Sqrt(variance+1)
	for at := range p {
		p[at] = math.Exp(logBetween(l.ends(at, mean, sd)))
	}
	return p
}

// LogPredictive implements Likelihood.
func (l Ordinal) LogPredictive(y, mean, variance, _ float64) float64 {
	return logBetween(l.ends(l.at(y), mean, math.Sqrt(variance+1)))
}

// Expect implements pacbayes.Expectation.
func (l Ordinal) Expect(at pacbayes.Sample, s, weight float64, d pacbayes.Derivatives) (value, dNoise float64,
	err error) {
	return Noise(func(y, f, s float64) float64 { return l.LogPredictive(y, f, 0, s) }).Expect(at, s, weight, d)
}

// Narrowest implements Sited: a level has a site at least as wide as the noise.
func (Ordinal) Narrowest() float64 { return 1 }

// Point returns the mean level.
func (l Ordinal) Point(mean, variance, _ float64) (point float64) {
	for at, p := range l.Chances(mean, variance) {
		point += p * l.Levels[at]
	}
	return point
}

// Allows implements Sited.
func (Ordinal) Allows(y float64) error {
	if y != math.Floor(y) || math.Abs(y) > mostCount {
		return errors.New("levels are whole numbers, such as 1 to 5")
	}
	return nil
}

// Scaled implements Sited.
func (Ordinal) Scaled() bool { return false }

// Whole implements Sited.
func (Ordinal) Whole() bool { return true }

// Spread returns an interval of levels. Its ends are just outside, so that it holds them after rounding, too.
func (l Ordinal) Spread(mean, variance, s float64) (Spread, error) {
	point, square, below := l.Point(mean, variance, s), 1e-300, 0.
	low, high := l.Levels[0], l.Levels[len(l.Levels)-1]
	for at, p := range l.Chances(mean, variance) {
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
func (l Ordinal) NormalScore(y, mean, variance, _ float64) (float64, error) {
	low, high := l.ends(l.at(y), mean, math.Sqrt(variance+1))
	p := (math.Erfc(-low/math.Sqrt2) + math.Erfc(-high/math.Sqrt2)) / 4
	return -math.Sqrt2 * math.Erfcinv(2*min(max(p, 1e-300), 1-1e-16)), nil
}
