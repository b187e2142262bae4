package objective

import (
	"fmt"
	"math"

	"github.com/krigo-gp/krigo/internal/linalg"
	"github.com/krigo-gp/krigo/matrix"
	"github.com/krigo-gp/krigo/pacbayes"
)

// ProbitName is the name in model files of the noise of labels.
const ProbitName = "probit"

// Probit is the noise of labels y, which are 0 or 1: P(y = 1|f) = Φ(f/√s). With f of N(m, v) it is P(y = 1) = Φ(m/√(v +
// s)).
type Probit struct{}

var _ Likelihood = Probit{}

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

// LabelEvidence is −ln Z of labels by expectation propagation (Rasmussen & Williams 2006, Sect. 3.6), for labels 0 and
// 1, probit noise of scale 1, and f of N(m, K). The sites of the labels are measured targets ỹ with noise variances D.
// In row i, f has the cavity N(μ, v) without its own site, and y the probability Z_i = Φ(z). Then Eq. 3.65 is
//
//	ln Z = ln N(ỹ; m, K + diag D) + Σ_i [ln Z_i − ln N(ỹ_i; μ, v + D_i)]
//
// For converged sites, ln Z doesn't change with the sites, so that only the first term depends on K and m.
type LabelEvidence struct {
	evidence   Evidence
	c, inverse matrix.Dense
}

var _ Exact = (*LabelEvidence)(nil)

// Evaluate implements Exact. The scale of the noise is 1, and has no derivative.
func (e *LabelEvidence) Evaluate(prior Moments, y []float64, _ float64, adj *Adjoints) (float64, error) {
	at, logs, err := e.Sites(prior, y)
	if err != nil {
		return 0, err
	}
	for i, d := range at.Known {
		prior.K.Row(i)[i] += 1 + d
	}
	value, err := e.evidence.Evaluate(prior, at.Y, 0, adj)
	if adj != nil {
		adj.Noise = 0
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

// Sites returns the sites of the labels y, in the form of measured targets with the noise variances 1 + Known, and the
// sum in the formula of LabelEvidence. All sites are updated at once (parallel EP), and a secant step (Anderson's
// mixing of depth 1) joins two updates. On Pima, biopsy, synth and two_class_dat it takes 8 to 30 sweeps, and damping
// alone 11 to 60.
func (e *LabelEvidence) Sites(prior Moments, y []float64) (at Sites, logs float64, err error) {
	n := len(y)
	if e.c.IsZero() {
		e.c, e.inverse = prior.K.Like(n, n), prior.K.Like(n, n)
	}
	// x holds the sites' precisions τ and then precision times target τỹ, f how an update changes x
	x, f, lastX, lastF := make([]float64, 2*n), make([]float64, 2*n), make([]float64, 2*n), make([]float64, 2*n)
	mean, variance := make([]float64, n), make([]float64, n)
	for i := range n {
		mean[i], variance[i] = prior.Mean[i], prior.K.At(i, i)
	}
	for sweep := range mostSweeps {
		if sweep > 0 {
			if err := e.moments(prior, x, mean, variance); err != nil {
				return at, 0, err
			}
		}
		change := 0.
		logs = 0
		for i := range n {
			var log, by float64
			f[i], f[n+i], log, by = labelSite(y[i], mean[i], variance[i], x[i], x[n+i])
			logs, change = logs+log, max(change, by)
		}
		if change < sweepTolerance && sweep > 0 {
			at = Sites{make([]float64, n), make([]float64, n)}
			for i := range n {
				at.Y[i], at.Known[i] = x[n+i]/x[i], 1/x[i]-1
			}
			return at, logs, nil
		}
		if !(change < math.Inf(1)) {
			break
		}
		mix(x, f, lastX, lastF, sweep, change)
	}
	return at, 0, fmt.Errorf("expectation propagation doesn't converge in %d sweeps", mostSweeps)
}

// labelSite returns how the update of a site changes its precision and its precision times target, given the moments of
// f with the site. log is the site's term of ln Z, and change the larger change in units of the marginal.
func labelSite(y, mean, variance, precision, shift float64) (by, shifted, log, change float64) {
	v := 1 / max(1/variance-precision, 1e-12)
	m := v * (mean/variance - shift)
	logZ, g, delta := limitMoments(sideOf(y), 0, m, v, 1)
	if precision > 0 {
		whole, d := v+1/precision, shift/precision-m
		log = logZ + 0.5*(math.Log(2*math.Pi*whole)+d*d/whole)
	}
	site := min(max(1/delta-v, 1), widestSite)
	by, shifted = 1/site-precision, (m+g*(site+v))/site-shift
	return by, shifted, log, max(math.Abs(by)*variance, math.Abs(shifted)*math.Sqrt(variance))
}

// Labelled holds rows with labels Y, the moments of f there, the posterior's Weights C⁻¹(ỹ − m), and the noise
// variances of the rows' sites.
type Labelled struct{ Y, Mean, Variance, Weights, Noises []float64 }

// Unsettled returns the largest change that an update makes to a site, in units of its marginal.
func (l Labelled) Unsettled() (most float64) {
	for i, d := range l.Noises {
		_, _, _, change := labelSite(l.Y[i], l.Mean[i], l.Variance[i], 1/d, l.Weights[i]+l.Mean[i]/d)
		if most = max(most, change); change != change {
			return change
		}
	}
	return most
}

// mix moves x along f, and remembers both. Precisions stay positive.
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
		if i < len(x)/2 {
			x[i] = min(max(x[i], 1/widestSite), 1)
		}
		lastX[i], lastF[i] = was, v
	}
}

// moments returns the mean and variance of f in each row, given the sites: with C = K + D, w = C⁻¹(ỹ − m), they are ỹ −
// D w and D − D² diag C⁻¹.
func (e *LabelEvidence) moments(prior Moments, x, mean, variance []float64) error {
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
	linalg.CholeskyInverseLower(e.c, e.inverse)
	for i := range n {
		d := 1 / x[i]
		mean[i] -= d * w[i]
		variance[i] = max(d-d*d*e.inverse.At(i, i), 1e-12)
	}
	return nil
}

// Sites returns the sites at the parameters x, if the objective is LabelEvidence.
func (p *Problem) Sites(x []float64) (Sites, error) {
	e := p.Objective.(*LabelEvidence)
	theta, beta, _ := p.Split(x)
	n := p.X.Rows
	prior := Moments{p.X.Like(n, n), make([]float64, n)}
	p.fill(theta, beta, prior)
	at, _, err := e.Sites(prior, p.Y)
	return at, err
}
