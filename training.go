package krigo

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"

	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/inducing"
	"github.com/krigo-gp/krigo/kernel"
	"github.com/krigo-gp/krigo/method"
	"github.com/krigo-gp/krigo/model"
	"github.com/krigo-gp/krigo/objective"
	"github.com/krigo-gp/krigo/pacbayes"
	"github.com/krigo-gp/krigo/train"
)

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

// method is the way to train that the options ask for.
func (p *prepared) method(o Options) method.Method {
	inequality := pacbayes.KLBound
	if o.Objective == "sqrt-pac" {
		inequality = pacbayes.PinskerBound
	}
	descent := method.Descent{MMA: o.Optimizer == "mma", Evaluations: o.evaluations()}
	var batches *method.Batches
	if o.onBatches() {
		batches = &method.Batches{Plain: o.Optimizer == "sgd", Rows: o.Batch, Rate: o.LearningRate, Epochs: o.Epochs, Nearest: o.Batches == "nearest"}
	}
	switch {
	case o.estimatesRenyi():
		return method.EstimatedRenyi{Alpha: p.alpha}
	case o.Objective == "renyi":
		m := method.Renyi{Descent: method.Descent{MMA: o.Optimizer == "mma", Evaluations: o.Epochs}, Batches: batches, Alpha: p.alpha}
		if o.Alpha == nil {
			m.Schedule = method.Anneals[o.Anneal]
		}
		return m
	case o.Objective == "evidence" && o.onBatches():
		return method.Renyi{Batches: batches, Evidence: true}
	case o.PosteriorFree:
		return method.Free{Descent: descent, Batches: batches, Inequality: inequality, Noise: p.freeNoise, Alpha: p.alpha, LearnAlpha: o.LearnAlpha}
	case o.Objective == "svgp":
		return method.SVGP{Descent: descent, Batches: batches}
	case o.Objective == "evidence":
		return method.Evidence{Descent: descent, ByCG: p.trainsByCG(o)}
	case o.Objective == "vfe":
		return method.Collapsed{Descent: descent, Objective: objective.VFE(), FITC: o.PosteriorFITC}
	case o.Objective == "dtc":
		return method.Collapsed{Descent: descent, Objective: objective.DTC(), FITC: o.PosteriorFITC}
	case o.Objective == "fitc" || o.Objective == "pep":
		return method.Collapsed{Descent: descent, Objective: objective.PEP(p.alpha), Alpha: p.alpha, FITC: o.PosteriorFITC}
	}
	return method.PAC{Descent: descent, Inequality: inequality, Alpha: p.alpha, LearnAlpha: o.LearnAlpha, FITC: o.PosteriorFITC}
}

// problem binds the options' method to a family; choices families are chosen among.
func (p *prepared) problem(o Options, f family, choices int) method.Problem {
	return p.method(o).Bind(p.task(o, f, choices))
}

// task is what a method is bound to.
func (p *prepared) task(o Options, f family, choices int) method.Task {
	return method.Task{
		Kernel: f.kernel, Mean: f.mean, Rows: p.rows, N: p.n, Ranks: p.data.Ranks(), Seed: o.Seed, M: p.inducing, All: p.all,
		Whole: func() (objective.Memory, error) { return gather(p.rows) },
		Loss:  p.loss, Scale: p.scale, Penalty: p.terms(o, f, choices).Penalty(p.n),
		Limit: o.Grid.L, Held: p.held, FixInducing: o.FixInducing,
		Solver: p.solver, Unseen: p.unseen, Context: p.ctx, Progress: p.progress,
	}
}

// run is the training from one starting point.
type run struct {
	family int
	result *train.Result
}

// train minimises from every starting point of every family and returns the run with
// the lowest value, and all of them. The families come one after another, so that
// ARD can start from what one lengthscale for all inputs found.
func (p *prepared) train(ctx context.Context, o Options, families []family, c *checkpoints) (best run, all []run, err error) {
	if err := p.checkInit(o, families); err != nil {
		return best, nil, err
	}
	total := len(families) * o.Restarts
	if o.PosteriorFree {
		total++
		o.PosteriorFree = false // the collapsed optimum comes first
	}
	for fi, f := range families {
		starts := p.starts(o, f, best.result)
		results := make([]*train.Result, len(starts))
		errs := make([]error, len(starts))
		// Several small fits side by side keep the cores busier than one; large ones
		// would only double the memory.
		limit := 1
		if p.inducing == 0 && p.n <= 1500 && !p.trainsByCG(o) {
			limit = runtime.GOMAXPROCS(0)
		}
		slots := make(chan struct{}, limit)
		var done sync.WaitGroup
		for si, x0 := range starts {
			slots <- struct{}{} // in order: ranks have to take the same start
			done.Go(func() {
				defer func() { <-slots }()
				key := fmt.Sprintf("%s/%d", f.name, si+1)
				event := Event{Family: f.name, Start: fi*o.Restarts + si + 1, Starts: total}
				if p.inducing == 0 && !o.onBatches() {
					event.Solver = p.solver
				}
				problem := p.problem(o, f, len(families))
				x, err := problem.Start(x0)
				if errs[si] = err; err == nil {
					results[si], errs[si] = problem.Minimize(ctx, c.run(key, event), x)
				}
			})
		}
		done.Wait()
		if ctx.Err() != nil {
			return best, nil, ctx.Err()
		}
		if err := p.rows.Err(); err != nil { // a step that wasn't taken for that isn't the objective's
			return best, nil, err
		}
		for si, r := range results {
			// A start may lie outside the objective's domain; all of them may not, and no
			// other error may pass, since without the run the result would be another.
			var outside *train.StartError
			switch {
			case errs[si] == nil:
				all = append(all, run{fi, r})
				if best.result == nil || r.Value < best.result.Value {
					best = run{fi, r}
				}
			case !errors.As(errs[si], &outside):
				return best, nil, errs[si]
			case !slices.Contains(errs, nil):
				return best, nil, fmt.Errorf("training %s failed from every starting point: %w", f.name, outside.Reason)
			default:
				p.notices = append(p.notices, fmt.Sprintf("start %d of %s lies outside the objective's domain: %v", si+1, f.name, outside.Reason))
			}
		}
	}
	return best, all, nil
}

// checkpoints keeps the states of all runs, and tells the callbacks.
type checkpoints struct {
	mu       sync.Mutex // guards the states and the callbacks
	states   *Checkpoint
	progress func(Event)
	save     func(*Checkpoint) error
}

// checkpointVersion is that of what a Checkpoint holds. Version 1 didn't know all rows and options.
const checkpointVersion = 2

// checkpoints begins with the states to resume from, if there are any.
func (p *prepared) checkpoints(o Options) (*checkpoints, error) {
	c := &checkpoints{progress: o.Progress, save: o.Save,
		states: &Checkpoint{Version: checkpointVersion, Fingerprint: p.print, Runs: map[string]*method.State{}, Curves: map[string]*model.Curve{}}}
	if o.Resume == nil {
		return c, nil
	}
	if o.Resume.Version != checkpointVersion || o.Resume.Fingerprint != c.states.Fingerprint {
		return nil, ErrOtherCheckpoint
	}
	maps.Copy(c.states.Runs, o.Resume.Runs)
	for key, curve := range o.Resume.Curves {
		c.states.Curves[key] = curve.Clone()
	}
	return c, nil
}

// curves returns those of all runs, in the order of their starting points.
func (c *checkpoints) curves() []*model.Curve {
	return slices.SortedFunc(maps.Values(c.states.Curves), func(a, b *model.Curve) int {
		return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(a.Family, b.Family))
	})
}

// tell records a state and hands it on.
func (c *checkpoints) tell(event Event, record func()) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	record()
	key := fmt.Sprintf("%s/%d", event.Family, event.Start)
	if c.states.Curves[key] == nil {
		c.states.Curves[key] = &model.Curve{Family: event.Family, Start: event.Start}
	}
	c.states.Curves[key].Add(event.Iteration, event.Value)
	if c.progress != nil {
		c.progress(event)
	}
	if c.save != nil {
		return c.save(c.states)
	}
	return nil
}

// run is where the training run of a key stands, and tells of it as of the event.
func (c *checkpoints) run(key string, event Event) method.Run {
	return method.Run{Key: key, Load: func(key string) *method.State {
		c.mu.Lock()
		defer c.mu.Unlock()
		return c.states.Runs[key]
	}, Tell: func(key string, s *method.State, iteration int, value float64, stopped string) error {
		event := event
		event.Iteration, event.Value, event.Stopped = iteration, value, stopped
		return c.tell(event, func() { c.states.Runs[key] = s })
	}}
}

// starts returns the points [θ, β, ln σ_n², Z] to train a family from.
func (p *prepared) starts(o Options, f family, earlier *train.Result) [][]float64 {
	params := f.kernel.Params()
	g := f.gridParams()
	at := func(logL2, logNoise float64) []float64 {
		x := make([]float64, g+1, g+1+len(p.z.Data))
		for i, q := range params {
			if q.Kind == kernel.Lengthscale {
				x[i] = logL2
			}
		}
		x[g] = logNoise
		x = append(x, p.z.Data...)
		if o.LearnAlpha && p.inducing > 0 {
			x = append(x, p.alpha)
		}
		return x
	}
	var starts [][]float64
	if o.Init != nil {
		if x, _ := p.fromInit(o, f); x != nil { // errors were met by checkInit
			full := at(0, 0)
			copy(full, x)
			starts = append(starts, full)
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
func (p *prepared) fromInit(o Options, f family) ([]float64, error) {
	if _, _, _, err := o.Init.vector(o.Mean, p.data.Cols); err != nil {
		return nil, err
	}
	like := f.kernel.Spec(make([]float64, len(f.kernel.Params())))
	init := *o.Init
	init.Kernel = expand(o.Init.Kernel, like)
	if !sameShape(init.Kernel, like) {
		return nil, nil
	}
	_, _, x, err := init.vector(o.Mean, p.data.Cols)
	switch given := len(o.Init.Inducing); {
	case err != nil || given == p.inducing:
		return x, err
	case given == 0:
		return append(x, p.z.Data...), nil
	}
	return nil, usage("init: it has %d inducing inputs, the fit %d", len(o.Init.Inducing), p.inducing)
}

// checkInit makes sure that the initial parameters serve at least one family.
func (p *prepared) checkInit(o Options, families []family) error {
	if o.Init == nil {
		return nil
	}
	for _, f := range families {
		if x, err := p.fromInit(o, f); x != nil || err != nil {
			return err
		}
	}
	return usage("init: its kernel isn't %s with ard %s: give that kernel, with one lengthscale or one an input", o.Kernel, o.ARD)
}

func sameShape(a, b kernel.Spec) bool {
	return a.Name == b.Name && len(a.Lengthscales) == len(b.Lengthscales) && len(a.Parameters) == len(b.Parameters) && slices.EqualFunc(a.Parts, b.Parts, sameShape)
}

// chooseInducing sets the inducing inputs that training starts from. Where the choice
// needs a kernel, it is the family's at the second starting point.
func (p *prepared) chooseInducing(o Options, f family) error {
	rng := rand.New(rand.NewPCG(o.Seed, 0x696e6475))
	theta := make([]float64, len(f.kernel.Params()))
	for i, q := range f.kernel.Params() {
		if q.Kind == kernel.Lengthscale {
			theta[i] = math.Log(float64(p.data.Cols))
		}
	}
	at, err := gather(p.sample(o.Seed))
	if err != nil {
		return err
	}
	x := at.X
	var set inducing.Set
	if o.AutoInducing {
		a, capped, err := inducing.AutoSize(f.kernel, theta, x, p.inducing, inducing.DefaultTolerance)
		if err != nil {
			return err
		}
		p.inducing = len(a.Rows)
		note := fmt.Sprintf("%d inducing inputs leave %.3g of the prior variance at the start", p.inducing, a.Share)
		if capped {
			note += fmt.Sprintf(", more than the %g aimed at: no more are taken", inducing.DefaultTolerance)
		}
		p.notices = append(p.notices, note)
	}
	if o.TheoryInducing {
		if err := p.theoryInducing(o, x); err != nil {
			return err
		}
	}
	switch o.InducingInit {
	case "random":
		set, err = inducing.Random(x, p.inducing, rng)
	case "greedy":
		var a inducing.Approximation
		a, err = inducing.Greedy(f.kernel, theta, x, p.inducing)
		set = a.Set
		p.notices = append(p.notices, fmt.Sprintf("%d inducing inputs by conditional variance leave %.3g of the prior variance at the start", len(set.Rows), a.Share))
	case "kdpp":
		set, err = inducing.KDPP(f.kernel, theta, x, p.inducing, rng)
	default:
		set.Z, err = inducing.KMeans(x, p.inducing, rng)
	}
	if err != nil {
		return err
	}
	p.z, p.inducing = set.Z, set.Z.Rows
	return nil
}

// sampleRows is how many rows inducing inputs are chosen from at most. Their inputs are in
// memory at once; with 25 rows for each of 2,000 inducing inputs they're still many.
const sampleRows = 50000

// sample views the rows to train on, or sampleRows of them drawn at random, in their order
// (Knuth's Algorithm S).
func (p *prepared) sample(seed uint64) *dataset.Scaled {
	if p.n <= sampleRows {
		return p.rows
	}
	p.notices = append(p.notices, fmt.Sprintf("the inducing inputs start from a choice among %d of the %d rows to train on, drawn at random", sampleRows, p.n))
	rng := rand.New(rand.NewPCG(seed, 0x73616d706c65))
	drawn := p.data.Scaled(nil, p.scaling)
	own, count := 0, 0
	for i := range p.n {
		here := own < len(p.rows.Numbers) && p.rows.Place(own) == i
		if rng.IntN(p.n-i) < sampleRows-count {
			if here {
				drawn.Numbers = append(drawn.Numbers, p.rows.Numbers[own])
				if p.rows.Places != nil {
					drawn.Places = append(drawn.Places, count)
				}
			}
			count++
		}
		if here {
			own++
		}
	}
	return drawn
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

// fingerprint identifies the rows, those for testing too, and the options that a checkpoint belongs
// to: all of them, but that more evaluations of L-BFGS and MMA only go on.
func (p *prepared) fingerprint(o Options) (string, error) {
	if !o.onBatches() && o.Objective != "renyi" {
		o.Epochs = 0
	}
	asked, err := o.text()
	if err != nil {
		return "", err
	}
	of := fmt.Sprintf("rows=%s inputs=%q options=%s", p.units.Hash, p.data.Inputs, asked)
	if p.test != nil {
		units, err := p.test.Units()
		if err != nil {
			return "", err
		}
		of += " test=" + units.Hash
	}
	return of, nil
}
