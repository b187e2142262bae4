package objective

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/krigo-gp/krigo/internal/quadrature"
)

// Likelihood is a noise model that gives the distribution of y for a prediction N(mean, variance)
// of f, which is ∫ p(y|f) N(f; mean, variance) df.
// s is the noise variance, or another positive scale.
type Likelihood interface {
	// LogPredictive returns the logarithm of this distribution's density at y.
	LogPredictive(y, mean, variance, s float64) float64
	// Spread returns the variance and the central interval of this distribution.
	Spread(mean, variance, s float64) (Spread, error)
	// NormalScore returns the quantile of the standard normal at the probability that this
	// distribution gives to values below y.
	NormalScore(y, mean, variance, s float64) (float64, error)
}

var _, _ Likelihood = GaussianNoise{}, Noise(nil)

// Spread holds the variance of a distribution of y, and the ends of its central 95 % interval. The
// ends are distances from the mean of f, in standard deviations of y.
// For a noise of positive numbers they are distances from the mean of y.
type Spread struct{ Variance, Lower, Upper float64 }

// Normal975 is the 97.5 % quantile of the standard normal.
const Normal975 = 1.959963984540054

// likelihoods maps the names of noise models in model files to the noise models.
var likelihoods = map[string]Likelihood{"": GaussianNoise{}}

// RegisterNoise registers a noise model under a name, which model files keep. A method.SVGP whose
// Noise is this name trains with the noise model.
// Register that method too, with method.Register, so that options can name it.
// Call RegisterNoise from an init function. It panics if the name is taken or noise is nil.
func RegisterNoise(name string, noise Noise) {
	if _, taken := likelihoods[name]; taken || noise == nil {
		panic(fmt.Sprintf("objective: the name %q of a noise is empty or registered already, or "+
			"its function is nil", name))
	}
	likelihoods[name] = noise
}

// NoiseOf returns the noise model with this name, or an error if no such noise model is registered.
// "" is Gaussian noise.
func NoiseOf(name string) (Likelihood, error) {
	if l, known := likelihoods[name]; known {
		return l, nil
	}
	return nil, fmt.Errorf("this program doesn't know the noise %q: register it with "+
		"objective.RegisterNoise", name)
}

// LogPredictive returns ln N(y; mean, variance + s).
func (GaussianNoise) LogPredictive(y, mean, variance, s float64) float64 {
	noisy := variance + s
	d := y - mean
	return -(0.5 * (math.Log(2*math.Pi*noisy) + d*d/noisy))
}

// Spread returns the variance of y, variance + s, and the ends ±Normal975: y has the mean of f.
func (GaussianNoise) Spread(_, variance, s float64) (Spread, error) {
	return Spread{variance + s, -Normal975, Normal975}, nil
}

// NormalScore returns the standardised residual (y − mean)/√(variance + s).
func (GaussianNoise) NormalScore(y, mean, variance, s float64) (float64, error) {
	return (y - mean) / math.Sqrt(variance+s), nil
}

// LogPredictive implements Likelihood by quadrature over f, in panels.
// Panels are narrow near f = y, because a noise may be steep or have a kink there.
// Elsewhere panels are as wide as N(f; mean, variance) allows.
func (l Noise) LogPredictive(y, mean, variance, s float64) float64 {
	sd := math.Sqrt(max(variance, leastVariance))
	edges := panelsAround(y, math.Sqrt(s)/2, mean, sd)
	log := func(f float64) float64 {
		z := (f - mean) / sd
		return l(y, f, s) - z*z/2 - math.Log(sd) - math.Log(2*math.Pi)/2
	}
	var logs, weights []float64
	quadrature.Panels(edges, func(f, w float64) {
		logs = append(logs, log(f))
		weights = append(weights, w)
	})
	most := slices.Max(logs)
	total := 0. // relative to the largest, no term overflows and not all underflow
	if math.IsInf(most, -1) {
		return most
	}
	for i, v := range logs {
		total += weights[i] * math.Exp(v-most)
	}
	return most + math.Log(total)
}

// leastPanel is the smallest width of a panel, as a share of the integral's range.
// It limits the number of panels.
const leastPanel = 1e-12

// panelsAround returns edges of panels for integrals over N(mean, sd²), whose width near the centre
// is step.
func panelsAround(centre, step, mean, sd float64) []float64 {
	edges := []float64{-9, -6, -4, -2, 0, 2, 4, 6, 9}
	for i := range edges {
		edges[i] = mean + sd*edges[i]
	}
	low := edges[0]
	high := edges[8]
	step = max(step, leastPanel*(high-low))
	for _, side := range []float64{-1, 1} {
		for away := 0.; away < high-low; away = max(2*away, step) {
			if at := centre + side*away; low < at && at < high {
				edges = append(edges, at)
			}
		}
	}
	slices.Sort(edges)
	return edges
}

const (
	spreadPanel = 1    // length of a panel in u, where y = mean + √(variance + s) sinh u
	spreadEnd   = 100  // a tail that hasn't ended at this |u| is an error
	spreadTail  = 1e-8 // a tail ends at a panel with at most this share of mass and second moment
	spreadMass  = 1e-6 // allowed error of a density's integral, and of the limit s of the variance
)

// distribution is a distribution of y, as a function of u with y = mean + unit·sinh u.
// density is the density of u. panels maps k to the mass of the panel from u = k·spreadPanel.
type distribution struct {
	density             func(u float64) float64
	unit                float64
	panels              map[int]float64
	low, high           int
	mass, first, second float64 // moments of sinh u
}

// predictive integrates the distribution of y panel by panel, outwards from the mean, until both
// tails have ended.
func (l Noise) predictive(mean, variance, s float64) (distribution, error) {
	p := distribution{unit: math.Sqrt(variance + s), panels: map[int]float64{}}
	p.density = func(u float64) float64 {
		return math.Exp(l.LogPredictive(mean+p.unit*math.Sinh(u), mean, variance,
			s)) * p.unit * math.Cosh(u)
	}
	// Go left from panel −1, and then right from panel 0.
	for _, step := range []int{-1, 1} {
		for k := min(step, 0); ; k += step {
			var here, tail float64
			from := float64(k) * spreadPanel
			quadrature.Panels([]float64{from, from + spreadPanel}, func(u, w float64) {
				m := w * p.density(u)
				d := math.Sinh(u)
				here = here + m
				p.first = p.first + m*d
				tail = tail + m*d*d
			})
			p.mass = p.mass + here
			p.second = p.second + tail
			p.panels[k] = here
			p.low = min(p.low, k)
			p.high = max(p.high, k)
			// A tail ends at a panel that adds next to nothing to mass and second moment.
			if tail <= spreadTail*p.second && here <= spreadTail*p.mass {
				break
			}
			if math.Abs(from) > spreadEnd {
				return p, errors.New("the predictions have no finite variance")
			}
		}
	}
	if !(math.Abs(p.mass-1) <= spreadMass) {
		return p, fmt.Errorf("the density integrates to %.6g: it must be a density of y over all "+
			"numbers, in scaled units, and smooth enough for quadrature", p.mass)
	}
	return p, nil
}

// below returns the probability of values below u.
func (p distribution) below(u float64) (total float64) {
	k := int(math.Floor(u / spreadPanel))
	for i := p.low; i < min(k, p.high+1); i++ {
		total += p.panels[i]
	}
	if p.low <= k && k <= p.high {
		quadrature.Panels([]float64{float64(k) * spreadPanel, u},
			func(u, w float64) { total += w * p.density(u) })
	}
	return total / p.mass
}

// quantile returns the u with the probability share below u. It takes Newton steps in a bracket.
func (p distribution) quantile(share float64) float64 {
	a := float64(p.low) * spreadPanel
	b := float64(p.high+1) * spreadPanel
	at := 0.
	for range 80 {
		off := p.below(at) - share
		from := at
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

// Spread implements Likelihood. It returns an error if the density doesn't integrate to 1, if the
// variance isn't finite, or if the variance is below s, because s then doesn't measure the noise.
func (l Noise) Spread(mean, variance, s float64) (Spread, error) {
	p, err := l.predictive(mean, variance, s)
	v := p.unit * p.unit * (p.second - p.first*p.first)
	if err == nil && !(v >= s*(1-spreadMass)) {
		err = fmt.Errorf("the variance of the predictions, %.6g, is below the scale s = %.6g: s "+
			"must be no more than the variance of y about f", v, s)
	}
	if err != nil {
		return Spread{}, err
	}
	unit := p.unit / math.Sqrt(v)
	return Spread{v, unit * math.Sinh(p.quantile(0.025)), unit * math.Sinh(p.quantile(0.975))}, nil
}

// NormalScore implements Likelihood. u = asinh((y − mean)/unit) is the place of y in distribution.
// Distributions are stored over u because panels of equal width in u then reach far into heavy
// tails: the panels up to |u| = 100 cover distances up to e^100/2 units.
func (l Noise) NormalScore(y, mean, variance, s float64) (float64, error) {
	p, err := l.predictive(mean, variance, s)
	return -math.Sqrt2 * math.Erfcinv(2*min(p.below(math.Asinh((y-mean)/p.unit)), 1)), err
}
