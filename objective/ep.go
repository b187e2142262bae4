package objective

import (
	"fmt"
	"math"
	"slices"

	"github.com/krigo-gp/krigo/internal/linalg"
	"github.com/krigo-gp/krigo/internal/lists"
	"github.com/krigo-gp/krigo/matrix"
	"github.com/krigo-gp/krigo/posterior"
)

// Sited is a noise whose ln p(y|f; s) is concave in f, so that expectation propagation gives every
// row a site.
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

// Tilt holds ln Z, its first two derivatives by m, the second with the other sign, and its
// derivatives by s, and by the cuts below and above an ordinal target.
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

// EPEvidence is −ln Z of targets by expectation propagation (Rasmussen & Williams 2006, Sect.
// 3.6), for f of N(m, K).
// The sites are measured targets ỹ with noise variances D.
// In row i, f has the cavity N(μ, v) without its own site, and y the probability Z_i.
// Then Eq. 3.65 is
//
//	ln Z = ln N(ỹ; m, K + diag D) + Σ_i [ln Z_i − ln N(ỹ_i; μ, v + D_i)]
//
// For converged sites, ln Z doesn't change with the sites, so that only the first term depends on K
// and m, and only the Z_i depend on the noise's scale.
type EPEvidence struct {
	Noise Sited
	Shift []float64 // each row's target depends on f + Shift; nil: on f

	evidence Evidence
	c        matrix.Dense
	bySteps  []float64 // derivatives of −ln Z by the steps of an ordinal noise
}

var _ Exact = (*EPEvidence)(nil)

// Evaluate implements Exact. noise is the noise's scale.
func (e *EPEvidence) Evaluate(prior Moments, y []float64, noise float64,
	adj *Adjoints) (float64, error) {
	at, logs, byScale, err := e.Sites(prior, y, noise)
	if err != nil {
		return 0, err
	}
	// The first term of Eq. 3.65 is the evidence of the targets ỹ with the noise variances D.
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
	// sweepTolerance ends the sweeps when no site changes by more, in units of its marginal. The
	// error of ln Z is of its square, and the error of derivatives of it.
	sweepTolerance = 1e-7
	plainSweeps    = 3   // a step of the secant method needs steps before it
	sweepStep      = 0.6 // a shorter step ends oscillations of sites that see one another
	widestSite     = 1e8 // noise variance of a site that says nothing
)

// Sites returns the sites of the targets y, the sum in the formula of EPEvidence, and its
// derivative by the noise's scale.
func (e *EPEvidence) Sites(prior Moments, y []float64,
	scale float64) (at Sites, logs, byScale float64, err error) {
	n := len(y)
	if e.c.IsZero() {
		e.c = prior.K.Like(n, n)
	}
	o := Observed{Y: y, Mean: slices.Clone(prior.Mean), Variance: make([]float64, n),
		Shift: e.Shift, Noise: Stepped(e.Noise, prior.Steps), Scale: scale}
	for i := range n {
		o.Variance[i] = prior.K.At(i, i)
	}
	tilts, err := o.settle(sweepTolerance, func() error { return e.moments(prior, o) })
	for _, t := range tilts {
		logs = logs + t.Log
		byScale = byScale + t.ByScale
	}
	if noise, is := o.Noise.(stepping); is && err == nil {
		e.bySteps = noise.pull(y, tilts)
	}
	return o.Sites, logs, byScale, err
}

// Stepped returns the noise with these parameters beside its scale, if it has such.
func Stepped(noise Sited, steps []float64) Sited {
	if o, is := noise.(stepping); is {
		return o.stepped(steps)
	}
	return noise
}

// settle finds the sites of the targets Y, in the form of measured targets with the noise variances
// Known. It returns the rows' integrals, whose Log is the row's term of ln Z.
// The caller sets Mean and Variance to the moments of f without sites.
// moments then sets them to the moments with the present sites.
//
// All sites are updated at once (parallel EP).
// A secant step (Anderson's mixing of depth 1) joins two updates.
// On Pima, biopsy, synth and two_class_dat settle takes 8 to 30 sweeps.
// With damping alone it took 11 to 60.
func (o *Observed) settle(tolerance float64, moments func() error) (tilts []Tilt, err error) {
	n := len(o.Y)
	if !o.Noise.Scaled() {
		o.Scale = 1
	}
	o.Sites = Sites{make([]float64, n), make([]float64, n)}
	// x holds the sites' precisions τ and then precision times target τỹ, f how an update changes x
	x := make([]float64, 2*n)
	f := make([]float64, 2*n)
	lastX := make([]float64, 2*n)
	lastF := make([]float64, 2*n)
	tilts = make([]Tilt, n)
	changes := make([]float64, n)
	for sweep := range mostSweeps {
		if sweep > 0 {
			for i := range n {
				o.Sites.Y[i], o.Sites.Known[i] = x[n+i]/x[i], 1/x[i]
			}
			if err := moments(); err != nil {
				return nil, err
			}
		}
		// An update of all sites at once would change x by f.
		linalg.Each(n, chunkRows, func(i int) {
			own := site{x[i], x[n+i]}
			var next site
			next, tilts[i], changes[i] = o.update(i, own)
			f[i], f[n+i] = next.precision-own.precision, next.shift-own.shift
		})
		change := slices.Max(changes)
		if change < tolerance && sweep > 0 {
			return tilts, nil
		}
		if !(change < math.Inf(1)) {
			break
		}
		mix(x, f, lastX, lastF, sweep, change)
		for i := range n {
			// Precisions stay between those of the widest and the narrowest site.
			x[i] = min(max(x[i], 1/widestSite), 1/o.Noise.Narrowest())
		}
	}
	return nil, fmt.Errorf("expectation propagation doesn't converge in %d sweeps", mostSweeps)
}

// site is a measured target, by its precision and its precision times the target.
type site struct{ precision, shift float64 }

// cavity returns the mean and variance of f without the site, given the moments with the site.
func (s site) cavity(mean, variance float64) (m, v float64) {
	v = 1 / max(1/variance-s.precision, 1e-12)
	return v * (mean/variance - s.shift), v
}

// update returns the next site of a row whose f has these moments with the present site.
// The Log of the returned Tilt is the row's term of ln Z.
// change is the larger change of the site, in units of the marginal of f.
func (s site) update(noise Sited, y, scale, mean,
	variance float64) (next site, t Tilt, change float64) {
	m, v := s.cavity(mean, variance)
	t = noise.Tilted(y, m, v, scale)
	// The new site gives f the mean and variance of the tilted distribution: its variance is
	// 1/Curve − v, and its target m + Slope/Curve.
	width := min(max(1/t.Curve-v, noise.Narrowest()), widestSite)
	next = site{1 / width, (m + t.Slope*(width+v)) / width}
	// The row's term of ln Z is ln Z_i − ln N(ỹ_i; m, v + D_i), for the present site.
	if s.precision > 0 {
		whole := v + 1/s.precision
		d := s.shift/s.precision - m
		t.Log += 0.5 * (math.Log(2*math.Pi*whole) + d*d/whole)
	}
	return next, t, max(math.Abs(next.precision-s.precision)*variance,
		math.Abs(next.shift-s.shift)*math.Sqrt(variance))
}

// Observed holds rows with targets Y, their sites, the moments of f there, and the noise with its
// scale.
type Observed struct {
	Y, Mean, Variance []float64
	Shift             []float64 // each row's target depends on f + Shift; nil: on f
	Sites             Sites
	Noise             Sited
	Scale             float64
}

// site returns the site of row i, in natural parameters.
func (o Observed) site(i int) site {
	return site{1 / o.Sites.Known[i], o.Sites.Y[i] / o.Sites.Known[i]}
}

// shift returns the known number that is added to f in row i, or 0.
func (o Observed) shift(i int) float64 {
	return lists.At(o.Shift, i, 0)
}

// update updates the site of row i, which is of f.
func (o Observed) update(i int, own site) (next site, t Tilt, change float64) {
	by := o.shift(i)
	own.shift += own.precision * by
	next, t, change = own.update(o.Noise, o.Y[i], o.Scale, o.Mean[i]+by, o.Variance[i])
	next.shift -= next.precision * by
	return next, t, change
}

// Unsettled returns the largest change that an update makes to a site, in units of its marginal.
func (o Observed) Unsettled() (most float64) {
	for i := range o.Y {
		_, _, change := o.update(i, o.site(i))
		if most = max(most, change); change != change {
			return change
		}
	}
	return most
}

// LeftOut returns −ln p(y) of row i, given the sites of all other rows.
func (o Observed) LeftOut(i int) float64 {
	m, v := o.site(i).cavity(o.Mean[i], o.Variance[i])
	return o.Missed(i, m, v)
}

// Missed returns −ln p(y) of row i for f of N(mean, variance).
func (o Observed) Missed(i int, mean, variance float64) float64 {
	return -o.Noise.LogPredictive(o.Y[i], mean+o.shift(i), variance, o.Scale)
}

// Sited returns the rows x with their sites as measured targets.
func (o Observed) Sited(x matrix.Dense) Memory {
	return Memory{X: x, Y: o.Sites.Y,
		PerRow: posterior.RowNoise{Factor: make([]float64, x.Rows), Known: o.Sites.Known}}
}

// mix moves x along f, and remembers x and f in lastX and lastF.
// From sweep plainSweeps on, and unless change is large, it takes a step of Anderson's mixing of
// depth 1: x + f − θ(Δx + Δf) with θ = Δfᵀf/‖Δf‖², where Δ is the difference from the last sweep.
// This θ makes ‖f − θΔf‖ least.
func mix(x, f, lastX, lastF []float64, sweep int, change float64) {
	var along, square float64
	for i, v := range f {
		d := v - lastF[i]
		along = along + d*v
		square = square + d*d
	}
	step := sweepStep
	back := 0.
	if sweep < 2 {
		step = 1
	} else if sweep >= plainSweeps && change < 2 && square > 0 {
		step = 1
		back = along / square
	}
	for i, v := range f {
		was := x[i]
		x[i] += step*v - back*(was-lastX[i]+v-lastF[i])
		lastX[i], lastF[i] = was, v
	}
}

// moments sets the mean and variance of f in each row, given the sites:
// with C = K + D, w = C⁻¹(ỹ − m), they are ỹ − D w and D − D² diag C⁻¹.
func (e *EPEvidence) moments(prior Moments, o Observed) error {
	e.c.CopyFrom(prior.K)
	for i, d := range o.Sites.Known {
		e.c.Row(i)[i] += d
	}
	w, _, err := solve(e.c, prior.Mean, o.Sites.Y, 0, &e.evidence.w)
	if err != nil {
		return err
	}
	linalg.TriangularInverse(e.c)
	clear(o.Variance)
	for i := range e.c.Rows {
		for j, v := range e.c.Row(i)[:i+1] {
			o.Variance[j] += v * v // diag C⁻¹ = diag L⁻ᵀL⁻¹
		}
	}
	for i, d := range o.Sites.Known {
		o.Mean[i] = o.Sites.Y[i] - d*w[i]
		o.Variance[i] = max(d-d*d*o.Variance[i], 1e-12)
	}
	return nil
}

// Sites returns the sites at the parameters x, if the objective is EPEvidence.
func (p *Problem) Sites(x []float64) (Sites, error) {
	e := p.Objective.(*EPEvidence)
	theta, beta, logNoise := p.Split(x)
	n := p.X.Rows
	prior := Moments{p.X.Like(n, n), make([]float64, n), x[len(x)-len(p.More):]}
	p.fill(theta, beta, prior)
	at, _, _, err := e.Sites(prior, p.Y, math.Exp(logNoise))
	return at, err
}

// SiteNeighbours is the number of nearest rows from which NearestSites computes the moments of f in
// a row.
const SiteNeighbours = 64

// NearestSites returns the rows of g with their sites, if f in a row depends on its nearest rows
// alone. g.Noise is the noise's scale, and each target depends on f + shift.
func NearestSites(noise Sited, g posterior.Given, shift []float64) (o Observed, err error) {
	n := len(g.Y)
	o = Observed{Y: g.Y, Mean: make([]float64, n), Variance: make([]float64, n), Shift: shift,
		Noise: noise, Scale: g.Noise}
	g.Mean.At(g.Beta, g.X, o.Mean)
	g.Kernel.Diag(g.Theta, g.X, o.Variance)
	moments := posterior.Own(g, SiteNeighbours)
	_, err = o.settle(sweepTolerance, func() error {
		moments(o.Sites.Y, o.Sites.Known, o.Mean, o.Variance)
		return nil
	})
	return o, err
}

// sparseTolerance is sweepTolerance for sites that no derivative depends on.
const sparseTolerance = 1e-4

// Sites returns the rows with their sites at the parameters x, whatever the objective is, if f in a
// row depends on other rows through inducing outputs alone (generalised FITC:
// Naish-Guzman & Holden 2007).
func (p *SparseProblem) Sites(noise Sited, rows Memory, x []float64) (o Observed, err error) {
	theta, beta, logNoise, _ := p.Split(x)
	n := len(rows.Y)
	q := *p
	o = Observed{Y: rows.Y, Mean: make([]float64, n), Variance: make([]float64, n),
		Shift: rows.Shift, Noise: noise, Scale: math.Exp(logNoise)}
	p.Mean.At(beta, rows.X, o.Mean)
	p.Kernel.Diag(theta, rows.X, o.Variance)
	_, err = o.settle(sparseTolerance, func() error {
		q.Rows = o.Sited(rows.X)
		e, err := q.begin(x, 1)
		if err == nil {
			err = e.predict(e.byB)
		}
		if err != nil {
			return err
		}
		for i, d := range o.Sites.Known {
			y := o.Sites.Y[i]
			l := e.lambda[i]
			// without the row's site, whose noise is d+λ for V_iᵀu, then with f_i = V_iᵀu + N(0,
			// λ), then with the site
			over := d + l - (e.sHat[i] - l)
			m := ((d+l)*e.mHat[i] - (e.sHat[i]-l)*y) / over
			v := (e.sHat[i]-l)*(d+l)/over + l
			o.Mean[i], o.Variance[i] = (m*d+y*v)/(v+d), max(v*d/(v+d), 1e-12)
		}
		return nil
	})
	return o, err
}
