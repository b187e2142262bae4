package objective_test

import (
	"fmt"
	"math"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/krigo-gp/krigo/internal/must"
	"github.com/krigo-gp/krigo/objective"
)

func gaussian(y, f, s float64) float64 { return -math.Log(2*math.Pi*s)/2 - (y-f)*(y-f)/(2*s) }

// laplace returns the log density at y of Laplace noise about f with the variance s.
func laplace(y, f, s float64) float64 {
	b := math.Sqrt(s / 2)
	return -math.Log(2*b) - math.Abs(y-f)/b
}

func student(nu float64) objective.Noise {
	return func(y, f, s float64) float64 {
		return distuv.StudentsT{Mu: f, Sigma: math.Sqrt(s), Nu: nu}.LogProb(y)
	}
}

func score(l objective.Noise, y, mean, variance, s float64) float64 {
	z, err := l.NormalScore(y, mean, variance, s)
	if err != nil {
		panic(err)
	}
	return z
}

// TestNoisePredicts compares quadrature with closed forms: for Gaussian noise at any ratio of the two variances, and
// for heavy tails and a kink if f is known.
func TestNoisePredicts(t *testing.T) {
	const tiny = 1e-12
	type distribution interface {
		LogProb(y float64) float64
		Quantile(p float64) float64
		Variance() float64
	}
	for _, c := range []struct {
		name           string
		noise          objective.Noise
		mean, variance float64
		s              float64
		want           distribution
		tolerance      float64
	}{
		{"gaussian", gaussian, 0.3, 0.5, 0.2, distuv.Normal{Mu: 0.3, Sigma: math.Sqrt(0.7)}, 1e-8},
		{"little noise", gaussian, -2, 1, 1e-6, distuv.Normal{Mu: -2, Sigma: math.Sqrt(1 + 1e-6)}, 1e-8},
		{"f known", gaussian, 5, tiny, 0.01, distuv.Normal{Mu: 5, Sigma: 0.1}, 1e-8},
		{"student", student(4), 1, tiny, 0.3, distuv.StudentsT{Mu: 1, Sigma: math.Sqrt(0.3), Nu: 4}, 1e-7},
		{"laplace", laplace, 1, tiny, 0.5, distuv.Laplace{Mu: 1, Scale: 0.5}, 1e-7},
	} {
		got, err := c.noise.Spread(c.mean, c.variance, c.s)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		sd := math.Sqrt(c.want.Variance())
		for what, pair := range map[string][2]float64{
			"variance": {got.Variance, c.want.Variance()},
			"lower":    {got.Lower * sd, c.want.Quantile(0.025) - c.mean},
			"upper":    {got.Upper * sd, c.want.Quantile(0.975) - c.mean},
			"score":    {score(c.noise, c.want.Quantile(0.9), c.mean, c.variance, c.s), distuv.UnitNormal.Quantile(0.9)},
			"density":  {c.noise.LogPredictive(c.mean+3*sd, c.mean, c.variance, c.s), c.want.LogProb(c.mean + 3*sd)},
		} {
			must.Near(t, pair[0], pair[1], c.tolerance*max(1, math.Abs(pair[1])), fmt.Sprintf("%s: %s", c.name, what))
		}
	}
	for want, noise := range map[string]objective.Noise{
		"no finite variance": student(1),
		"integrates to 2":    func(y, f, s float64) float64 { return math.Ln2 + gaussian(y, f, s) },
		"below the scale":    func(y, f, s float64) float64 { return gaussian(y, f, s/9) },
	} {
		must.Refuse(noise.Spread(0, 0.1, 0.2))(t, want)
	}
}

func BenchmarkNoiseSpread(b *testing.B) {
	for b.Loop() {
		student(4).Spread(0, 0.1, 0.2)
	}
}
