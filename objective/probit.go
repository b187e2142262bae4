package objective

import (
	"errors"
	"math"

	"github.com/krigo-gp/krigo/pacbayes"
)

// ProbitName is the name in model files of the noise of labels.
const ProbitName = "probit"

// Probit is the noise of labels y, which are 0 or 1: P(y = 1|f) = Φ(f/√s). With f of N(m, v) it is P(y = 1) = Φ(m/√(v +
// s)).
type Probit struct{}

var _ Sited = Probit{}

func init() { likelihoods[ProbitName] = Probit{} }

// sideOf returns 1 for the label 1, and −1 for 0.
func sideOf(y float64) float64 {
	if y > 0.5 {
		return 1
	}
	return -1
}

// Expect implements pacbayes.Expectation.
func (Probit) Expect(at pacbayes.Sample, s, weight float64, d pacbayes.Derivatives) (value, dNoise float64, err error) {
	return Noise(func(y, f, s float64) float64 { return Probit{}.LogPredictive(y, f, 0, s) }).Expect(at, s, weight, d)
}

func (Probit) LogPredictive(y, mean, variance, s float64) float64 {
	log, _, _ := logCDF(sideOf(y) * mean / math.Sqrt(variance+s))
	return log
}

// Tilted implements Sited.
func (Probit) Tilted(y, m, v, s float64) Tilt {
	log, slope, curve := limitMoments(sideOf(y), 0, m, v, s)
	return Tilt{Log: log, Slope: slope, Curve: curve}
}

// Narrowest implements Sited: the second derivative of ln Φ lies between −1 and 0.
func (Probit) Narrowest() float64 { return 1 }

// Point returns the probability of the label 1.
func (l Probit) Point(mean, variance, s float64) float64 {
	_, one := l.Chances(mean, variance, s)
	return one
}

// Allows implements Sited.
func (Probit) Allows(y float64) error {
	if y != 0 && y != 1 {
		return errors.New("a label is 0 or 1")
	}
	return nil
}

// Scaled implements Sited.
func (Probit) Scaled() bool { return false }

// Whole implements Sited.
func (Probit) Whole() bool { return true }

// Chances returns the probabilities of the labels 0 and 1. Neither loses digits if it is small.
func (Probit) Chances(mean, variance, s float64) (zero, one float64) {
	z := mean / math.Sqrt(2*(variance+s))
	return math.Erfc(z) / 2, math.Erfc(-z) / 2
}

// Spread returns an interval of labels. An end is just outside its label, so that the interval holds the label after
// rounding, too.
func (l Probit) Spread(mean, variance, s float64) (Spread, error) {
	zero, one := l.Chances(mean, variance, s)
	v := max(zero*one, 1e-300)
	low, high := 0., 1.
	if zero < 0.025 {
		low = 1
	} else if one < 0.025 {
		high = 0
	}
	const outside = 1e-6
	return Spread{v, (low - outside - mean) / math.Sqrt(v), (high + outside - mean) / math.Sqrt(v)}, nil
}

// NormalScore takes the middle of the probabilities of values below y, and of values up to y.
func (l Probit) NormalScore(y, mean, variance, s float64) (float64, error) {
	zero, one := l.Chances(mean, variance, s)
	if sideOf(y) > 0 {
		return math.Sqrt2 * math.Erfcinv(one), nil
	}
	return -math.Sqrt2 * math.Erfcinv(zero), nil
}
