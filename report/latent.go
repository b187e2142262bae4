package report

import (
	"errors"

	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/internal/linalg"
	"github.com/krigo-gp/krigo/internal/lists"
	"github.com/krigo-gp/krigo/matrix"
)

var errFar = errors.New("a row is too far from the training data to be predicted")

// latent returns the posterior mean of f at raw rows x (n×d, row by row), in the target's scaled
// units. With variances it also returns the variance of f in these units squared, which takes
// longer. It fails with errFar if a row or its mean overflows.
func (r *maker) latent(x []float64, variances bool) (mean, variance []float64, err error) {
	at, err := r.scaled(x)
	if err != nil {
		return nil, nil, err
	}
	mean = make([]float64, at.Rows)
	if variances {
		variance = make([]float64, at.Rows)
	}
	r.m.Posterior.Latent(at, mean, variance)
	if !linalg.Finite(lists.Of(mean, r.m.Scaling.Raw)) {
		return nil, nil, errFar
	}
	return mean, variance, nil
}

// noises returns the noise variances of y at raw rows, given the mean and variance of f there, in
// scaled units.
func (r *maker) noises(x, mean, variance []float64) []float64 {
	at, _ := r.scaled(x) // latent found it finite
	return r.m.NoisesAt(at, mean, variance)
}

// scaled returns raw rows as a matrix of rows in the model's scaled units, or errFar if a number
// overflows.
func (r *maker) scaled(x []float64) (matrix.Dense, error) {
	d := len(r.m.Inputs)
	at := linalg.New(len(x)/d, d).Until(r.ctx)
	if r.m.Scaling.Inputs(at.Data, x); !linalg.Finite(at.Data) {
		return at, errFar
	}
	return at, nil
}

// means returns the posterior mean of f at raw rows, in the target's scaled units.
func (r *maker) means(x []float64) ([]float64, error) {
	mean, _, err := r.latent(x, false)
	return mean, err
}

// predict returns the predictions at rows, in the target's own units.
func (r *maker) predict(x []float64) ([]float64, error) {
	mean, variance, err := r.latent(x, r.byMoments())
	if err != nil {
		return nil, err
	}
	return r.raw(mean, variance)
}

// byMoments says whether a prediction is the mean of a noise that takes sites, or of a transformed
// target. Then it takes the variance of f too.
func (r *maker) byMoments() bool {
	t := r.m.Scaling.Transform
	return r.m.Sited() != nil || (t != nil && t.Estimate == dataset.Mean)
}

// raw returns the predictions for means and variances of f, in the target's own units.
func (r *maker) raw(mean, variance []float64) ([]float64, error) {
	s := r.m.Scaling
	if !r.byMoments() {
		return lists.Of(mean, s.Raw), nil
	}
	point, _, err := r.m.Points(mean, variance, nil) // the noise doesn't change the prediction
	return lists.Of(point, func(v float64) float64 { return v*s.TargetScale + s.TargetMean }), err
}

// latentName names what a model sees whose noise takes sites.
const latentName = "the latent function"

// seen returns the unit and the name of the target as the model sees it.
func (r *maker) seen() (unit float64, name string) {
	if r.m.Sited() != nil {
		return 1, latentName
	}
	if t := r.m.Scaling.Transform; t != nil {
		return t.Scale, t.Name + " of " + r.target
	}
	return r.m.Scaling.TargetScale, r.target
}
