package objective

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/krigo-gp/krigo/internal/quadrature"
	"github.com/krigo-gp/krigo/pacbayes"
)

// Likelihood is a noise with what it makes of predictions: the distribution ∫ p(y|f) N(f; mean, variance) df of y. s is
// the noise variance, or another positive scale.
type Likelihood interface {
	pacbayes.Expectation // of −ln p(y|f), which training minimises
	// LogPredictive returns the logarithm of the density of y.
	LogPredictive(y, mean, variance, s float64) float64
	// Spread describes the distribution of y.
	Spread(mean, variance, s float64) (Spread, error)
	// NormalScore returns the quantile of the standard normal at the probability of less than y.
	NormalScore(y, mean, variance, s float64) (float64, error)
}

var _, _ Likelihood = GaussianNoise{}, Noise(nil)

// Spread describes a distribution of y: its variance, and the ends of its central interval of 95 %, in standard
// deviations from the mean of f.
type Spread struct{ Variance, Lower, Upper float64 }

// Normal975 is the 97.5 % quantile of the standard normal.
const Normal975 = 1.959963984540054

// likelihoods are the noises by the names that model files have for them.
var likelihoods = map[string]Likelihood{"": GaussianNoise{}}

// RegisterNoise makes a noise known by a name, which models trained with it keep. A method.SVGP with that name as its
// Noise trains with it; register that method too, by method.Register, so that options can name it. Call it from an init
// function; a name that is taken panics.
func RegisterNoise(name string, noise Noise) {
	if _, taken := likelihoods[name]; taken || noise == nil {
		panic(fmt.Sprintf("objective: the noise %q is registered already, or has no name or function", name))
	}
	likelihoods[name] = noise
}

// NoiseOf returns the noise of a name; "" is Gaussian.
func NoiseOf(name string) (Likelihood, error) {
	if l, known := likelihoods[name]; known {
		return l, nil
	}
	return nil, fmt.Errorf("the noise %q isn't known to this program, which has to register it (objective.RegisterNoise)",
		name)
}

func (GaussianNoise) LogPredictive(y, mean, variance, s float64) float64 {
	noisy, d := variance+s, y-mean
	return -(0.5 * (math.Log(2*math.Pi*noisy) + d*d/noisy))
}

func (GaussianNoise) Spread(_, variance, s float64) (Spread, error) {
	return Spread{variance + s, -Normal975, Normal975}, nil
}

func (GaussianNoise) NormalScore(y, mean, variance, s float64) (float64, error) {
	return (y - mean) / math.Sqrt(variance+s), nil
}

// LogPredictive implements Likelihood. Its panels are narrow about f = y, where a noise may be steep or have a kink,
// and as wide as N(f; mean, variance) allows elsewhere.
func (l Noise) LogPredictive(y, mean, variance, s float64) float64 {
	sd := math.Sqrt(max(variance, leastVariance))
	edges := []float64{-9, -6, -4, -2, 0, 2, 4, 6, 9}
	for i := range edges {
		edges[i] = mean + sd*edges[i]
	}
	low, high := edges[0], edges[8]
	for _, side := range []float64{-1, 1} {
		for step := 0.; step < high-low; step = max(2*step, math.Sqrt(s)/2) {
			if at := y + side*step; low < at && at < high {
				edges = append(edges, at)
			}
		}
	}
	slices.Sort(edges)
	log := func(f float64) float64 {
		z := (f - mean) / sd
		return l(y, f, s) - z*z/2 - math.Log(sd) - math.Log(2*math.Pi)/2
	}
	var logs, weights []float64
	quadrature.Panels(edges, func(f, w float64) { logs, weights = append(logs, log(f)), append(weights, w) })
	most, total := slices.Max(logs), 0. // over the largest none overflows, and not all underflow
	if math.IsInf(most, -1) {
		return most
	}
	for i, v := range logs {
		total += weights[i] * math.Exp(v-most)
	}
	return most + math.Log(total)
}

const (
	spreadPanel = 1    // length of a panel in u, where y = mean + √(variance + s) sinh u
	spreadEnd   = 100  // farther out, in u, no tail is looked for
	spreadTail  = 1e-8 // share of the second moment at which a tail ends
	spreadMass  = 1e-6 // how far from 1 the integral of a density may come out
)

// distribution is that of y, by u, with the masses of panels; panel k begins at u = k·spreadPanel.
type distribution struct {
	density             func(u float64) float64
	unit                float64
	panels              map[int]float64
	low, high           int
	mass, first, second float64 // moments of sinh u
}

// predictive integrates outwards from the mean until what is left of the second moment is nothing.
func (l Noise) predictive(mean, variance, s float64) (distribution, error) {
	p := distribution{unit: math.Sqrt(variance + s), panels: map[int]float64{}}
	p.density = func(u float64) float64 {
		return math.Exp(l.LogPredictive(mean+p.unit*math.Sinh(u), mean, variance, s)) * p.unit * math.Cosh(u)
	}
	for _, step := range []int{-1, 1} {
		for k := min(step, 0); ; k += step {
			var here, tail float64
			from := float64(k) * spreadPanel
			quadrature.Panels([]float64{from, from + spreadPanel}, func(u, w float64) {
				m, d := w*p.density(u), math.Sinh(u)
				here, p.first, tail = here+m, p.first+m*d, tail+m*d*d
			})
			p.mass, p.second, p.panels[k] = p.mass+here, p.second+tail, here
			p.low, p.high = min(p.low, k), max(p.high, k)
			if tail <= spreadTail*p.second && here <= spreadTail*p.mass {
				break
			}
			if math.Abs(from) > spreadEnd {
				return p, errors.New("its predictions have no finite variance")
			}
		}
	}
	if !(math.Abs(p.mass-1) <= spreadMass) {
		return p, fmt.Errorf("its density integrates to %.6g: it isn't one of y over all numbers, in scaled units, or too "+
			"rough for quadrature", p.mass)
	}
	return p, nil
}

// below returns the probability of less than u.
func (p distribution) below(u float64) (total float64) {
	k := int(math.Floor(u / spreadPanel))
	for i := p.low; i < min(k, p.high+1); i++ {
		total += p.panels[i]
	}
	if p.low <= k && k <= p.high {
		quadrature.Panels([]float64{float64(k) * spreadPanel, u}, func(u, w float64) { total += w * p.density(u) })
	}
	return total / p.mass
}

// quantile finds the u with a share below it, by Newton's steps in a bracket.
func (p distribution) quantile(share float64) float64 {
	a, b := float64(p.low)*spreadPanel, float64(p.high+1)*spreadPanel
	at := 0.
	for range 80 {
		off, from := p.below(at)-share, at
		if off < 0 {
			a = at
		} else {
			b = at
		}
		if at -= off / p.density(at); !(a < at && at < b) {
			at = (a + b) / 2
		}
		if math.Abs(at-from) < 1e-10 {
			break
		}
	}
	return at
}

// Spread implements Likelihood. A density that doesn't integrate to 1, or has no variance, is an error, and so is a
// variance below s, which is then no measure of the noise.
func (l Noise) Spread(mean, variance, s float64) (Spread, error) {
	p, err := l.predictive(mean, variance, s)
	v := p.unit * p.unit * (p.second - p.first*p.first)
	if err == nil && !(v >= s*(1-spreadMass)) {
		err = fmt.Errorf("the variance of its predictions, %.6g, is below its scale s = %.6g: let s be no more than the "+
			"variance of y about f", v, s)
	}
	if err != nil {
		return Spread{}, err
	}
	unit := p.unit / math.Sqrt(v)
	return Spread{v, unit * math.Sinh(p.quantile(0.025)), unit * math.Sinh(p.quantile(0.975))}, nil
}

func (l Noise) NormalScore(y, mean, variance, s float64) (float64, error) {
	p, err := l.predictive(mean, variance, s)
	return -math.Sqrt2 * math.Erfcinv(2*min(p.below(math.Asinh((y-mean)/p.unit)), 1)), err
}
