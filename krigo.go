// Package krigo trains Gaussian processes that generalise, and certifies that they
// do: with confidence 1−δ, the posterior's risk on further rows is at most a bound B
// computed from the rows it was trained on (Reeb, Doerr, Gerwinn, Rakitsch, "Learning
// Gaussian Processes by Minimizing PAC-Bayesian Generalization Bounds", NeurIPS 2018).
//
// Fit takes a table and gives a Model with its Certificate; Load reads one that was
// saved. The packages below hold the parts: kernel, objective, pacbayes, posterior,
// train, model, dataset.
package krigo

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/internal/linalg"
	"github.com/krigo-gp/krigo/kernel"
	"github.com/krigo-gp/krigo/model"
	"github.com/krigo-gp/krigo/objective"
	"github.com/krigo-gp/krigo/pacbayes"
	"github.com/krigo-gp/krigo/posterior"
	"github.com/krigo-gp/krigo/train"
)

// Model is a trained Gaussian process; see package model.
type Model = model.Model

// Certificate is a bound on a model's risk; see package pacbayes.
type Certificate = pacbayes.Certificate

// Load reads a model file written by Model.Save.
func Load(path string) (*Model, error) { return model.Load(path) }

// Event tells how training goes.
type Event struct {
	Family    string // kernel family, as in "se" or "se (ARD)"
	Start     int    // which starting point, from 1
	Starts    int    // of how many, over all families
	Iteration int
	Value     float64 // of the objective
	Stopped   string  // why the run from this start ended; empty while it goes on
}

// Checkpoint is a fit in the middle: the state of the run from every starting point.
// A fit resumes only with the same data and options.
type Checkpoint struct {
	Version     int                     `json:"version"`
	Fingerprint string                  `json:"fingerprint"` // of data and options
	Runs        map[string]*train.State `json:"runs"`
}

// A full GP is trained on at most maxFull rows, where its three matrices take 10 GB;
// above defaultFull, where a step takes seconds, only if asked for.
const (
	maxFull     = 20000
	defaultFull = 2000
)

// The box of ln σ_n², which isn't on the grid: it shapes Q alone.
var minLogNoise, maxLogNoise = math.Log(1e-8), math.Log(1e6)

// Fit trains a model on a table: it deals the rows their roles, scales, minimises the
// objective from several starting points, rounds the prior's parameters to the grid,
// and certifies the posterior of the rounded parameters on all certified rows.
//
// With options that make no sense it returns a UsageError; if ctx ends, ctx's error,
// having offered the last state to Options.Save.
func Fit(ctx context.Context, table *dataset.Table, o Options) (*Model, error) {
	o, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	begin := time.Now()
	p, err := prepare(table, o)
	if err != nil {
		return nil, err
	}
	switch n := len(p.y); {
	case n > maxFull:
		return nil, fmt.Errorf("%s: %d rows to train on: a full GP takes up to %d, and sparse GPs aren't in this version yet; use fewer rows, or raise the test fraction",
			table.Source, n, maxFull)
	case n > defaultFull && !o.Full && o.Objective != "evidence":
		return nil, fmt.Errorf("%s: %d rows to train on: above %d the default is a sparse GP, which isn't in this version yet; ask for the full GP (--inducing 0) if you can wait for steps of O(N³)",
			table.Source, n, defaultFull)
	}
	families := p.families(o)
	best, runs, err := p.train(ctx, o, families)
	if err != nil {
		return nil, err
	}
	m, err := p.finish(o, families[best.family], best, len(families))
	if err != nil {
		return nil, err
	}
	for _, r := range runs {
		m.Training.Starts++
		m.Training.Iterations += r.result.Iterations
		m.Training.Evaluations += r.result.Evaluations
	}
	m.Training.Seconds = time.Since(begin).Seconds()
	return m, nil
}

// prepared is a data set dealt, scaled and ready to train on.
type prepared struct {
	data      *dataset.Data
	roles     []dataset.Role
	certified []int
	scaling   dataset.Scaling
	loss      pacbayes.Loss // half-widths in scaled units
	epsRaw    float64
	x         linalg.Matrix // certified rows, scaled
	y, scale  []float64
	notices   []string
	priorRows int
}

func prepare(table *dataset.Table, o Options) (*prepared, error) {
	d, err := table.Regression(o.Target)
	if err != nil {
		return nil, err
	}
	p := &prepared{data: d, notices: d.Notices()}
	test := int(math.Ceil(o.TestFraction * float64(d.Rows)))
	if o.Scaling == dataset.PriorRows {
		p.priorRows = dataset.DefaultPriorRows(d.Rows - test)
	}
	if left := d.Rows - test - p.priorRows; left < 2 {
		return nil, fmt.Errorf("%s: %d rows less %d for testing and %d for the scaling leave %d to train on: use more rows, or declare the scaling's constants",
			d.Source, d.Rows, test, p.priorRows, max(left, 0))
	}
	if p.roles, err = dataset.Deal(d.Rows, o.Seed, test, 0, p.priorRows); err != nil {
		return nil, err
	}
	p.certified = dataset.RowsOf(p.roles, dataset.Certified)
	switch o.Scaling {
	case dataset.PriorRows:
		p.scaling, err = dataset.ScalingOf(d, dataset.RowsOf(p.roles, dataset.Prior), o.Scaling)
	case dataset.AllRows:
		p.scaling, err = dataset.ScalingOf(d, p.certified, o.Scaling)
	default:
		p.scaling = *o.Declared
		if len(p.scaling.InputScale) != d.Cols {
			err = usage("scaling: constants for %d inputs declared, %s has %d", len(p.scaling.InputScale), d.Source, d.Cols)
		}
	}
	if err != nil {
		return nil, err
	}
	p.setLoss(o)

	x, y := d.Select(p.certified)
	p.scale = model.TargetScale(p.loss, p.scaling, y)
	p.scaling.Inputs(x, x)
	p.scaling.Target(y, y)
	p.x, p.y = matrixOf(x, d.Cols), y
	for i, row := range p.certified {
		if !linalg.Finite(p.x.Row(i)) || !linalg.Finite(y[i:i+1]) {
			return nil, fmt.Errorf("%s: line %d: a value is so far from the others that its scaled form overflows: mend or remove the row",
				d.Source, d.Lines[row])
		}
	}
	return p, nil
}

// setLoss turns the half-widths of the options into scaled units.
func (p *prepared) setLoss(o Options) {
	p.loss = o.loss(pacbayes.Kind(o.Loss))
	p.epsRaw = p.loss.Below
	if p.loss.Kind == pacbayes.Relative || p.loss.Kind == pacbayes.ClippedAbsolute {
		return // no unit
	}
	if s := p.scaling.TargetScale; o.EpsilonUnits == "raw" {
		p.loss.Below /= s
		p.loss.Above /= s
	} else {
		p.epsRaw *= s
	}
}

// family is a kernel and mean function whose parameters are trained.
type family struct {
	name   string
	kernel kernel.Kernel
	mean   kernel.Mean
}

func (f family) gridParams() int { return len(f.kernel.Params()) + len(f.mean.Params()) }

func (p *prepared) families(o Options) []family {
	d := p.data.Cols
	mean, _ := model.MeanOf(o.Mean, d)
	var fs []family
	for _, ard := range []bool{false, true} {
		if ard && o.ARD == "off" || !ard && o.ARD == "on" {
			continue
		}
		k, _ := kernel.Parse(o.Kernel, d, ard) // checked with the options
		if o.ARD == "auto" && ard && (d == 1 || !kernel.HasLengthscales(k)) {
			continue // nothing to choose
		}
		name := o.Kernel
		if ard {
			name += " (ARD)"
		}
		fs = append(fs, family{name, k, mean})
	}
	return fs
}

// newObjective returns the training objective; choices families are chosen among.
func (p *prepared) newObjective(o Options, f family, choices int) objective.Exact {
	if o.Objective == "evidence" {
		return &objective.Evidence{}
	}
	bound := pacbayes.KLBound
	if o.Objective == "sqrt-pac" {
		bound = pacbayes.SqrtBound
	}
	return &objective.PAC{Loss: p.loss, Bound: bound, Scale: p.scale,
		Penalty: pacbayes.Penalty(o.Grid.LogInverseP(f.gridParams()), math.Log(float64(choices)), len(p.y), o.Delta)}
}

// run is the training from one starting point.
type run struct {
	family int
	result *train.Result
}

// train minimises from every starting point of every family and returns the run with
// the lowest value, and all of them. The families come one after another, so that
// ARD can start from what one lengthscale for all inputs found.
func (p *prepared) train(ctx context.Context, o Options, families []family) (best run, all []run, err error) {
	fingerprint := p.fingerprint(o)
	states := &Checkpoint{Version: 1, Fingerprint: fingerprint, Runs: map[string]*train.State{}}
	if o.Resume != nil {
		if o.Resume.Version != 1 || o.Resume.Fingerprint != fingerprint {
			return best, nil, errors.New("the checkpoint belongs to other data or other options: resume with those it was written with")
		}
		for key, s := range o.Resume.Runs {
			states.Runs[key] = s
		}
	}
	var mu sync.Mutex // guards states and the callbacks
	total := len(families) * o.Restarts
	for fi, f := range families {
		starts := p.starts(o, f, best.result)
		results := make([]*train.Result, len(starts))
		errs := make([]error, len(starts))
		// Several small fits side by side keep the cores busier than one; large ones
		// would only double the memory.
		limit := 1
		if len(p.y) <= 1500 {
			limit = runtime.GOMAXPROCS(0)
		}
		slots := make(chan struct{}, limit)
		var done sync.WaitGroup
		for si, x0 := range starts {
			done.Go(func() {
				slots <- struct{}{}
				defer func() { <-slots }()
				key := fmt.Sprintf("%s/%d", f.name, si+1)
				mu.Lock()
				from := train.Start(x0)
				if s := states.Runs[key]; s != nil {
					from = s.Clone()
				}
				mu.Unlock()
				problem := &objective.Problem{Kernel: f.kernel, Mean: f.mean, X: p.x, Y: p.y, Objective: p.newObjective(o, f, len(families))}
				event := Event{Family: f.name, Start: fi*o.Restarts + si + 1, Starts: total}
				step := func(s *train.State) error {
					mu.Lock()
					defer mu.Unlock()
					states.Runs[key] = s.Clone()
					event.Iteration, event.Value, event.Stopped = s.Iterations, s.Value, s.Stopped
					if o.Progress != nil {
						o.Progress(event)
					}
					if o.Save != nil {
						return o.Save(states)
					}
					return nil
				}
				results[si], errs[si] = train.LBFGS{}.Minimize(ctx, problem, p.box(o, f), from, step)
			})
		}
		done.Wait()
		for si, r := range results {
			if errs[si] == nil {
				all = append(all, run{fi, r})
				if best.result == nil || r.Value < best.result.Value {
					best = run{fi, r}
				}
			}
		}
		if ctx.Err() != nil {
			return best, nil, ctx.Err()
		}
		// A start may lie outside the objective's domain; all of them may not.
		if !slices.Contains(errs, nil) {
			return best, nil, fmt.Errorf("training %s failed from every starting point: %w", f.name, errs[0])
		}
	}
	return best, all, nil
}

// starts returns the points [θ, β, ln σ_n²] to train a family from.
func (p *prepared) starts(o Options, f family, earlier *train.Result) [][]float64 {
	params := f.kernel.Params()
	at := func(logL2, logNoise float64) []float64 {
		x := make([]float64, len(params)+len(f.mean.Params())+1)
		for i, q := range params {
			if q.Kind == kernel.Lengthscale {
				x[i] = logL2
			}
		}
		x[len(x)-1] = logNoise
		return x
	}
	var starts [][]float64
	if o.Init != nil {
		if x := p.fromInit(o, f); x != nil {
			starts = append(starts, x)
		}
	}
	if earlier != nil {
		// One lengthscale for all inputs, repeated for each.
		x := at(0, 0)
		j := 0
		for i, q := range params {
			x[i] = earlier.X[j]
			if q.Kind != kernel.Lengthscale || q.Dim == p.data.Cols-1 {
				j++
			}
		}
		copy(x[len(params):], earlier.X[j:])
		starts = append(starts, x)
	}
	// All ones is where Reeb et al. start; standardised inputs lie about √(2d) apart,
	// for which l² = d is the natural length.
	spread := math.Log(float64(p.data.Cols))
	starts = append(starts, at(spread, math.Log(0.3)), at(0, 0))
	rng := rand.New(rand.NewPCG(o.Seed, 0x6b7269676f)) // a stream apart from the shuffle's
	for len(starts) < o.Restarts {
		x := at(0, math.Log(0.01)*rng.Float64())
		for i := range params {
			x[i] += rng.NormFloat64() + x[i]
			if params[i].Kind == kernel.Lengthscale {
				x[i] += spread * rng.Float64()
			}
		}
		starts = append(starts, x)
	}
	return starts[:o.Restarts]
}

// fromInit returns the initial parameters in the shape of a family, or nil where
// they don't have it: one lengthscale is repeated for ARD, several don't fit without.
func (p *prepared) fromInit(o Options, f family) []float64 {
	spec := expand(o.Init.Kernel, f.kernel.Spec(make([]float64, len(f.kernel.Params()))))
	init := *o.Init
	init.Kernel = spec
	k, _, x, err := init.vector(o.Mean, p.data.Cols)
	if err != nil || len(k.Params()) != len(f.kernel.Params()) {
		return nil
	}
	return x
}

// expand repeats single lengthscales of s as often as like has them.
func expand(s, like kernel.Spec) kernel.Spec {
	if len(s.Lengthscales) == 1 && len(like.Lengthscales) > 1 {
		s.Lengthscales = slices.Repeat(s.Lengthscales, len(like.Lengthscales))
	}
	if len(s.Parts) == len(like.Parts) {
		s.Parts = slices.Clone(s.Parts)
		for i := range s.Parts {
			s.Parts[i] = expand(s.Parts[i], like.Parts[i])
		}
	}
	return s
}

func (p *prepared) box(o Options, f family) train.Bounds {
	n := f.gridParams()
	lower, upper := slices.Repeat([]float64{-o.Grid.L}, n+1), slices.Repeat([]float64{o.Grid.L}, n+1)
	lower[n], upper[n] = minLogNoise, maxLogNoise
	return train.Bounds{Lower: lower, Upper: upper}
}

// fingerprint identifies data and options that a checkpoint belongs to.
func (p *prepared) fingerprint(o Options) string {
	init, _ := json.Marshal(o.Init) // parameters of a kernel: nothing in them can fail
	return fmt.Sprintf("%s seed=%d objective=%s kernel=%s ard=%s mean=%s loss=%+v delta=%v grid=%s restarts=%d init=%s scaling=%+v",
		dataset.Hash(p.data.X, p.data.Y, p.certified, p.data.Cols), o.Seed, o.Objective, o.Kernel, o.ARD, o.Mean, p.loss, o.Delta, o.Grid,
		o.Restarts, init, p.scaling)
}

// finish rounds the best run's parameters to the grid and makes the model from them.
func (p *prepared) finish(o Options, f family, best run, choices int) (*Model, error) {
	problem := &objective.Problem{Kernel: f.kernel, Mean: f.mean}
	x := slices.Clone(best.result.X)
	names := problem.Names()
	box := p.box(o, f)
	for _, i := range best.result.AtBound {
		p.notices = append(p.notices, fmt.Sprintf("%s ended on the edge of its range [%.4g, %.4g], at %.4g", names[i], box.Lower[i], box.Upper[i], x[i]))
	}
	if r := best.result; r.Rejected > 0 {
		p.notices = append(p.notices, fmt.Sprintf("%d of %d training steps left the objective's domain and were shortened (the last: %s)", r.Rejected, r.Evaluations, r.Rejection))
	}
	theta, beta, logNoise := problem.Split(x)
	for _, part := range [][]float64{theta, beta} {
		for _, i := range o.Grid.RoundAll(part, part) {
			p.notices = append(p.notices, fmt.Sprintf("parameter %d lay outside the grid and was moved to its end", i+1))
		}
	}
	m, err := p.model(o, f, x[:len(theta)], x[len(theta):len(theta)+len(beta)], math.Exp(logNoise), choices)
	if err != nil {
		return nil, err
	}
	m.Training = model.Training{ObjectiveValue: best.result.Value, Stopped: best.result.Stopped}
	if o.Test != nil {
		d, err := regressionOf(m, o.Test)
		if err != nil {
			return nil, err
		}
		m.Test = m.Score(matrixOf(d.X, d.Cols), d.Y)
	} else if rows := dataset.RowsOf(p.roles, dataset.Test); len(rows) > 0 {
		xt, yt := p.data.Select(rows)
		m.Test = m.Score(matrixOf(xt, p.data.Cols), yt)
	}
	return m, nil
}

// model makes a certified model from parameters on the grid.
func (p *prepared) model(o Options, f family, theta, beta []float64, noise float64, choices int) (*Model, error) {
	q, err := posterior.NewExact(f.kernel, theta, f.mean, beta, p.x, p.y, noise)
	if err != nil {
		return nil, err
	}
	m := &Model{
		Objective: o.Objective, Inputs: p.data.Inputs, Target: p.data.Target, Scaling: p.scaling, Posterior: q,
		Terms: pacbayes.Terms{Loss: p.loss, EpsilonRaw: p.epsRaw, Delta: o.Delta, Grid: o.Grid, Params: f.gridParams(),
			Choices: choices, PriorRows: p.priorRows, Scaling: o.Scaling},
		Source: p.data.Source, Seed: o.Seed, Roles: p.roles,
		Hash:    dataset.Hash(p.data.X, p.data.Y, p.certified, p.data.Cols),
		Notices: p.notices,
	}
	m.ObservationNoise = p.observationNoise(o, q)
	m.Certificate, err = m.Certify(p.data)
	if err != nil {
		m.CertificateReason = err.Error()
		if !errors.Is(err, pacbayes.ErrTooFewRows) {
			return nil, err
		}
	}
	return m, nil
}

// observationNoise is the variance of y about f. Evidence trains it; the σ_n² of a
// PAC-Bayes objective only shapes Q, so that it is estimated anew, by maximum
// likelihood: from the residuals on prior rows, which Q hasn't seen, or, where there
// are none, from the leave-one-out residuals.
func (p *prepared) observationNoise(o Options, q *posterior.Posterior) float64 {
	if o.Objective == "evidence" {
		return q.Noise
	}
	rows := dataset.RowsOf(p.roles, dataset.Prior)
	n := len(rows)
	y, mean, variance := p.y, make([]float64, len(p.y)), make([]float64, len(p.y))
	if n > 0 {
		var x []float64
		x, y = p.data.Select(rows)
		p.scaling.Inputs(x, x)
		p.scaling.Target(y, y)
		mean, variance = make([]float64, n), make([]float64, n)
		q.Latent(matrixOf(x, p.data.Cols), mean, variance)
	} else {
		q.LeaveOneOut(y, mean, variance)
		for i := range variance {
			variance[i] = max(variance[i]-q.Noise, 0)
		}
	}
	return noiseOf(y, mean, variance)
}

// noiseOf maximises Σ ln N(y_i; mean_i, variance_i + s) over s: the best of a grid of
// half octaves from 1e-8, refined by golden section.
func noiseOf(y, mean, variance []float64) float64 {
	cost := func(logS float64) float64 {
		s := math.Exp(logS)
		var c float64
		for i, v := range y {
			d := v - mean[i]
			c += math.Log(variance[i]+s) + d*d/(variance[i]+s)
		}
		return c
	}
	const step = 0.35
	best := minLogNoise
	for l := minLogNoise; l < maxLogNoise; l += step {
		if cost(l) < cost(best) {
			best = l
		}
	}
	a, b := best-step, best+step
	for range 60 {
		g := (math.Sqrt(5) - 1) / 2 * (b - a)
		if cost(b-g) < cost(a+g) {
			b = a + g
		} else {
			a = b - g
		}
	}
	return math.Exp((a + b) / 2)
}
