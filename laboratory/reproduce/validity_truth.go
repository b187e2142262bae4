package main

import (
	"cmp"
	"math"
	"math/rand/v2"

	"github.com/krigo-gp/krigo"
	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/internal/linalg"
	"github.com/krigo-gp/krigo/pacbayes"
	"github.com/krigo-gp/krigo/posterior"
)

// A source draws rows. x is uniform on points of [0, 1], so every risk is a finite sum. y = f(x) plus noise, a
// mixture of two Gaussians at every x.
type source struct {
	name   string
	f      func(rng *rand.Rand) func(x float64) float64
	noise  func(x float64) [2]component
	places int     // number of values of x; 0: sourcePoints
	step   float64 // distance between values of x; 0: they fill [0, 1]
	logs   bool    // f and noise are for the target's logarithm
}

// component is a share of the noise: its mean, and the standard deviations of a row's own noise and of the noise that
// a group's rows share.
type component struct{ share, mean, sd, common float64 }

// sourcePoints is the number of values of x.
const sourcePoints = 250

// sources draw a new function for every training set.
var sources = []source{
	{name: "GP draws", f: fourier, noise: gaussian(0.3)},
	{name: "heavy tails", f: fourier, noise: func(float64) [2]component {
		return [2]component{{share: 0.85, sd: 0.2},
			{share: 0.15, sd: 1.5}}
	}},
	{name: "jumps", f: jumps, noise: gaussian(0.2)},
	{name: "heteroskedastic", f: fourier, noise: func(x float64) [2]component {
		return [2]component{{share: 1, sd: 0.05 +
			0.8*x}}
	}},
}

func gaussian(sd float64) func(float64) [2]component {
	return func(float64) [2]component { return [2]component{{share: 1, sd: sd}} }
}

// fourier draws from a Gaussian process with squared-exponential covariance of lengthscale
// 0.15, by random frequencies (Rahimi and Recht 2007).
func fourier(rng *rand.Rand) func(x float64) float64 {
	const terms = 30
	var frequency, phase [terms]float64
	for i := range terms {
		frequency[i], phase[i] = rng.NormFloat64()/0.15, 2*math.Pi*rng.Float64()
	}
	return func(x float64) (s float64) {
		for i, w := range frequency {
			s += math.Sqrt(2./terms) * math.Cos(w*x+phase[i])
		}
		return s
	}
}

// jumps is constant between five random places.
func jumps(rng *rand.Rand) func(x float64) float64 {
	var at, level [5]float64
	for i := range at {
		at[i], level[i] = rng.Float64(), rng.NormFloat64()
	}
	return func(x float64) (s float64) {
		for i, a := range at {
			if x > a {
				s += level[i]
			}
		}
		return s
	}
}

// truth is a source with its function, for which the risk of any prediction is known.
type truth struct {
	source
	f      func(x float64) float64
	shifts []float64 // equally likely shifts of the target, added to the noise; nil: no shift
	plain  bool      // tries only the default inequality, betting, and the default loss
}

func (t truth) points() int { return cmp.Or(t.places, sourcePoints) }

func (t truth) place(i int) float64 {
	if t.step > 0 {
		return float64(i) * t.step
	}
	return float64(i) / float64(t.points()-1)
}

// risk returns the expected loss of f ~ N(mean, variance), given at every place in scaled units. It is also the risk
// of a further group, since what a group's rows share is drawn once per group, whatever the number of its rows.
func (t truth) risk(l pacbayes.Loss, s dataset.Scaling, mean, variance []float64) (risk float64) {
	return t.riskScaled(l, s, mean, variance, make([]float64, len(mean)))
}

// riskScaled is risk for a loss that uses the scales of the places.
func (t truth) riskScaled(l pacbayes.Loss, s dataset.Scaling, mean, variance, scale []float64) (risk float64) {
	for i := range mean {
		risk += t.riskAt(i, l, s, mean[i], variance[i], scale[i]) / float64(t.points())
	}
	return min(risk, 1) // a risk of 1 may round to more, and bounds don't
}

// riskIn returns the risk of a mean at some of the places, or 0 without places.
func (t truth) riskIn(l pacbayes.Loss, s dataset.Scaling, mean []float64, places []int) (risk float64) {
	for _, i := range places {
		risk += t.riskAt(i, l, s, mean[i], 0, 0) / float64(len(places))
	}
	return min(risk, 1)
}

// riskAt returns the risk at one place.
func (t truth) riskAt(i int, l pacbayes.Loss, s dataset.Scaling, mean, variance, scale float64) (risk float64) {
	x, shifts := t.place(i), t.shifts
	if shifts == nil {
		shifts = []float64{0}
	}
	for _, c := range t.noise(x) {
		if c.share == 0 {
			continue
		}
		y := (t.f(x) + c.mean - s.TargetMean) / s.TargetScale
		v := math.Hypot(c.sd, c.common) / s.TargetScale
		for _, shift := range shifts {
			e, _, _ := l.Expected(y+shift/s.TargetScale, mean, v*v+variance, scale)
			risk += c.share * e / float64(len(shifts))
		}
	}
	return risk
}

// predictions of one model, in scaled units, at every place and for the certified rows.
type predictions struct {
	mean, variance []float64
	noises         []float64 // as Model.NoisesAt returns them
	certified      pacbayes.Sample
}

// predict predicts at every place, and at the certified rows.
func (t truth) predict(m *krigo.Model, q *posterior.Posterior, table *dataset.Table) (p predictions, err error) {
	p.mean, p.variance = make([]float64, t.points()), make([]float64, t.points())
	x := linalg.New(t.points(), 1)
	for i := range p.mean {
		x.Data[i] = t.place(i)
	}
	m.Scaling.Inputs(x.Data, x.Data)
	q.Latent(x, p.mean, p.variance)
	p.noises = m.NoisesAt(x, p.mean, p.variance)
	d, err := m.Labelled(table)
	if err != nil {
		return p, err
	}
	roles, err := m.RolesOf(d)
	if err != nil {
		return p, err
	}
	certified, own := d.RowsOf(roles, dataset.Certified), &p.certified
	own.Mean, own.Variance = make([]float64, len(certified)), make([]float64, len(certified))
	x = linalg.New(len(certified), 1)
	if err := d.Scaled(certified, m.Scaling).Block(0, x.Rows, x.Data, nil); err != nil {
		return p, err
	}
	q.Latent(x, own.Mean, own.Variance)
	if own.Y, err = d.Targets(certified); err != nil {
		return p, err
	}
	m.Scaling.Target(own.Y, own.Y)
	if roles.Group != nil {
		number := map[int]int{}
		for _, row := range certified {
			g := roles.Group[row]
			if _, found := number[g]; !found {
				number[g] = len(number)
			}
			own.Group = append(own.Group, number[g])
		}
		own.Groups = len(number)
	}
	return p, nil
}
