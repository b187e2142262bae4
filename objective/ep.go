package objective

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/krigo-gp/krigo/internal/linalg"
	"github.com/krigo-gp/krigo/matrix"
)

// Sited is a noise whose ln p(y|f; s) is concave in f, so that expectation propagation gives every row a site.
type Sited interface {
	Likelihood
	// Tilted integrates Z = ∫ p(y|f; s) N(f; m, v) df.
	Tilted(y, m, v, s float64) Tilt
	// Narrowest returns a positive number below which no site's noise variance falls.
	Narrowest() float64
	// Point returns the mean of y for f of N(mean, variance).
	Point(mean, variance, s float64) float64
	// Allows returns an error if y can't be a target.
	Allows(y float64) error
	// Scaled says whether the noise has a scale s to train. Otherwise s is 1.
	Scaled() bool
	// Whole says whether targets are whole numbers.
	Whole() bool
}

// Tilt holds ln Z, its first two derivatives by m, the second with the other sign, and its derivatives by s, and by the
// cuts below and above an ordinal target.
type Tilt struct {
	Log, Slope, Curve, ByScale float64
	ByCuts                     [2]float64
}

// stepping is a noise with parameters beside the scale.
type stepping interface {
	stepped(steps []float64) Sited
	pull(y []float64, tilts []Tilt) []float64 // derivatives of −Σ ln Z by the steps
}

// SitedOf returns the noise with this name, or nil if it needs no sites.
func SitedOf(name string) Sited {
	noise, _ := likelihoods[name].(Sited)
	return noise
}

// EPEvidence is −ln Z of targets by expectation propagation (Rasmussen & Williams 2006, Sect. 3.6), for f of N(m, K).
// The sites are measured targets ỹ with noise variances D. In row i, f has the cavity N(μ, v) without its own site, and
// y the probability Z_i. Then Eq. 3.65 is
//
//	ln Z = ln N(ỹ; m, K + diag D) + Σ_i [ln Z_i − ln N(ỹ_i; μ, v + D_i)]
//
// For converged sites, ln Z doesn't change with the sites, so that only the first term depends on K and m, and only the
// Z_i depend on the noise's scale.
type EPEvidence struct {
	Noise Sited
	Shift []float64 // each row's target depends on f + Shift; nil: on f

	evidence Evidence
	c        matrix.Dense
	bySteps  []float64 // derivatives of −ln Z by the steps of an ordinal noise
}

var _ Exact = (*EPEvidence)(nil)

// Evaluate implements Exact. noise is the noise's scale.
func (e *EPEvidence) Evaluate(prior Moments, y []float64, noise float64, adj *Adjoints) (float64, error) {
	at, logs, byScale, err := e.Sites(prior, y, noise)
	if err != nil {
		return 0, err
	}
	for i, d := range at.Known {
		prior.K.Row(i)[i] += d
	}
	value, err := e.evidence.Evaluate(prior, at.Y, 0, adj)
	if adj != nil {
		adj.Noise = -byScale
		adj.Steps = e.bySteps
	}
	return value - logs, err
}

const (
	mostSweeps = 200
	// sweepTolerance ends the sweeps when no site changes by more, in units of its marginal. The error of ln Z is of
	// its square, and the error of derivatives of it.
	sweepTolerance = 1e-7
	plainSweeps    = 3   // a step of the secant method needs steps before it
	sweepStep      = 0.6 // a shorter step ends oscillations of sites that see one another
	widestSite     = 1e8 // noise variance of a site that says nothing
)

// Sites returns the sites of the targets y, in the form of measured targets with the noise variances Known, the sum in
// the formula of EPEvidence, and its derivative by the noise's scale. All sites are updated at once (parallel EP), and
// a secant step (Anderson's mixing of depth 1) joins two updates. On Pima, biopsy, synth and two_class_dat it takes 8
// to 30 sweeps, and damping alone 11 to 60.
func (e *EPEvidence) Sites(prior Moments, y []float64, scale float64) (at Sites, logs, byScale float64, err error) {
	n := len(y)
	if !e.Noise.Scaled() {
		scale = 1
	}
	if e.c.IsZero() {
		e.c = prior.K.Like(n, n)
	}
	noise := e.Noise
	if o, is := noise.(stepping); is {
		noise = o.stepped(prior.Steps)
	}
	// x holds the sites' precisions τ and then precision times target τỹ, f how an update changes x
	x, f, lastX, lastF := make([]float64, 2*n), make([]float64, 2*n), make([]float64, 2*n), make([]float64, 2*n)
	mean, variance, tilts, changes := make([]float64, n), make([]float64, n), make([]Tilt, n), make([]float64, n)
	if e.Shift != nil { // sites are of f + Shift
		prior.Mean = slices.Clone(prior.Mean)
		floats.Add(prior.Mean, e.Shift)
	}
	for i := range n {
		mean[i], variance[i] = prior.Mean[i], prior.K.At(i, i)
	}
	for sweep := range mostSweeps {
		if sweep > 0 {
			if err := e.moments(prior, x, mean, variance); err != nil {
				return at, 0, 0, err
			}
		}
		inChunks(n, func(_, i0, i1 int) {
			for i := i0; i < i1; i++ {
				own := site{x[i], x[n+i]}
				var next site
				next, tilts[i], changes[i] = own.update(noise, y[i], scale, mean[i], variance[i])
				f[i], f[n+i] = next.precision-own.precision, next.shift-own.shift
			}
		})
		change := 0.
		for _, by := range changes {
			change = max(change, by)
		}
		if change < sweepTolerance && sweep > 0 {
			at = Sites{make([]float64, n), make([]float64, n)}
			for i, t := range tilts {
				at.Y[i], at.Known[i] = x[n+i]/x[i], 1/x[i]
				logs, byScale = logs+t.Log, byScale+t.ByScale
			}
			if o, is := noise.(stepping); is {
				e.bySteps = o.pull(y, tilts)
			}
			if e.Shift != nil {
				floats.Sub(at.Y, e.Shift)
			}
			return at, logs, byScale, nil
		}
		if !(change < math.Inf(1)) {
			break
		}
		mix(x, f, lastX, lastF, sweep, change)
		for i := range n {
			x[i] = min(max(x[i], 1/widestSite), 1/e.Noise.Narrowest())
		}
	}
	return at, 0, 0, fmt.Errorf("expectation propagation doesn't converge in %d sweeps", mostSweeps)
}

// site is a measured target, by its precision and its precision times the target.
type site struct{ precision, shift float64 }

// update returns the next site of a row whose f has these moments with the present site. The Log of the returned Tilt
// is the row's term of ln Z. change is the larger change of the site, in units of the marginal of f.
func (s site) update(noise Sited, y, scale, mean, variance float64) (next site, t Tilt, change float64) {
	v := 1 / max(1/variance-s.precision, 1e-12)
	m := v * (mean/variance - s.shift)
	t = noise.Tilted(y, m, v, scale)
	width := min(max(1/t.Curve-v, noise.Narrowest()), widestSite)
	next = site{1 / width, (m + t.Slope*(width+v)) / width}
	if s.precision > 0 {
		whole, d := v+1/s.precision, s.shift/s.precision-m
		t.Log += 0.5 * (math.Log(2*math.Pi*whole) + d*d/whole)
	}
	return next, t, max(math.Abs(next.precision-s.precision)*variance, math.Abs(next.shift-s.shift)*math.Sqrt(variance))
}

// Observed holds rows with targets Y, the moments of f there, the posterior's Weights C⁻¹(ỹ − m), the noise variances
// of the rows' sites, and the noise with its scale.
type Observed struct {
	Y, Mean, Variance, Weights, Noises []float64
	Noise                              Sited
	Scale                              float64
}

// Unsettled returns the largest change that an update makes to a site, in units of its marginal.
func (o Observed) Unsettled() (most float64) {
	for i, d := range o.Noises {
		own := site{1 / d, o.Weights[i] + o.Mean[i]/d}
		_, _, change := own.update(o.Noise, o.Y[i], o.Scale, o.Mean[i], o.Variance[i])
		if most = max(most, change); change != change {
			return change
		}
	}
	return most
}

// mix moves x along f, and remembers both.
func mix(x, f, lastX, lastF []float64, sweep int, change float64) {
	var along, square float64
	for i, v := range f {
		d := v - lastF[i]
		along, square = along+d*v, square+d*d
	}
	step, back := sweepStep, 0.
	if sweep < 2 {
		step = 1
	} else if sweep >= plainSweeps && change < 2 && square > 0 {
		step, back = 1, along/square
	}
	for i, v := range f {
		was := x[i]
		x[i] += step*v - back*(was-lastX[i]+v-lastF[i])
		lastX[i], lastF[i] = was, v
	}
}

// moments returns the mean and variance of f in each row, given the sites: with C = K + D, w = C⁻¹(ỹ − m), they are ỹ −
// D w and D − D² diag C⁻¹.
func (e *EPEvidence) moments(prior Moments, x, mean, variance []float64) error {
	n := len(mean)
	e.c.CopyFrom(prior.K)
	for i := range n {
		e.c.Row(i)[i] += 1 / x[i]
		mean[i] = x[n+i] / x[i]
	}
	w, _, err := solve(e.c, prior.Mean, mean, 0, &e.evidence.w)
	if err != nil {
		return err
	}
	linalg.TriangularInverse(e.c)
	clear(variance)
	for i := range n {
		for j, v := range e.c.Row(i)[:i+1] {
			variance[j] += v * v // diag C⁻¹ = diag L⁻ᵀL⁻¹
		}
	}
	for i := range n {
		d := 1 / x[i]
		mean[i] -= d * w[i]
		variance[i] = max(d-d*d*variance[i], 1e-12)
	}
	return nil
}

// Sites returns the sites at the parameters x, if the objective is EPEvidence.
func (p *Problem) Sites(x []float64) (Sites, error) {
	e := p.Objective.(*EPEvidence)
	theta, beta, logNoise := p.Split(x)
	n := p.X.Rows
	prior := Moments{p.X.Like(n, n), make([]float64, n), x[len(x)-p.Steps:]}
	p.fill(theta, beta, prior)
	at, _, _, err := e.Sites(prior, p.Y, math.Exp(logNoise))
	return at, err
}
