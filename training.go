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

// problem is what is minimised: a full or a sparse GP with an objective.
type problem interface {
	train.Objective
	Names() []string
}

// newProblem returns the training problem; choices families are chosen among.
func (p *prepared) newProblem(o Options, f family, choices int) problem {
	bound := pacbayes.KLBound
	if o.Objective == "sqrt-pac" {
		bound = pacbayes.PinskerBound
	}
	penalty := p.terms(o, f, choices).Penalty(p.n)
	if o.estimatesRenyi() {
		return &objective.IterativeRenyi{Kernel: f.kernel, Mean: f.mean, X: p.all.X, Y: p.all.Y, M: p.inducing, Alpha: p.alpha, Seed: o.Seed, Context: p.ctx}
	}
	if o.Objective == "renyi" || o.Objective == "evidence" && o.onBatches() {
		return p.renyi(o, f)
	}
	if o.freeForm() {
		free := p.freeForm(f)
		if o.PosteriorFree {
			free.Objective = &objective.FreePAC{Loss: p.loss, Bound: bound, Scale: p.scale, Penalty: penalty}
		}
		return free
	}
	if p.inducing == 0 {
		if p.trainsByCG(o) {
			return &objective.IterativeEvidence{Kernel: f.kernel, Mean: f.mean, X: p.all.X, Y: p.all.Y, Ranks: p.data.Ranks(), Seed: o.Seed, Context: p.ctx, Progress: p.progress}
		}
		full := &objective.Problem{Kernel: f.kernel, Mean: f.mean, X: p.all.X, Y: p.all.Y, Objective: &objective.Evidence{}}
		if o.Objective != "evidence" {
			full.Objective = &objective.PAC{Loss: p.loss, Bound: bound, Scale: p.scale, Penalty: penalty}
		}
		return full
	}
	sparse := p.sparse(f)
	switch o.Objective {
	case "vfe":
		sparse.Objective = objective.VFE()
	case "dtc":
		sparse.Objective = objective.DTC()
	case "fitc", "pep":
		sparse.Objective = objective.PEP(p.alpha)
	default:
		sparse.LearnAlpha = o.LearnAlpha
		sparse.Objective = &objective.SparsePAC{Alpha: p.alpha, Loss: p.loss, Bound: bound, Scale: p.scale, Penalty: penalty}
	}
	return sparse
}

// keepBytes of V = L⁻¹K_ZX may stay in memory between the passes of an evaluation.
const keepBytes = 1 << 30

// sparse returns a sparse problem over the certified rows, its objective still open.
func (p *prepared) sparse(f family) *objective.SparseProblem {
	return &objective.SparseProblem{Kernel: f.kernel, Mean: f.mean, Rows: p.rows, M: p.inducing, Keep: keepBytes, Ranks: p.data.Ranks()}
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
				problem := p.newProblem(o, f, len(families))
				switch problem := problem.(type) {
				case *objective.FreeFormProblem:
					results[si], errs[si] = p.minimizeFree(ctx, o, f, problem, c, key, event, x0)
				case *objective.IterativeEvidence:
					results[si], errs[si] = p.minimizeIterative(ctx, o, f, problem, c, key, event, x0)
				case *objective.RenyiProblem:
					results[si], errs[si] = p.minimizeRenyi(ctx, o, problem, c, key, event, p.box(o, f, x0), x0)
				default:
					results[si], errs[si] = c.minimize(ctx, o.Optimizer, key, event, problem, p.box(o, f, x0), x0, o.evaluations())
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
		states: &Checkpoint{Version: checkpointVersion, Fingerprint: p.print, Runs: map[string]*train.State{}, Anchors: map[string][]float64{}, Curves: map[string]*model.Curve{}, Batches: map[string]*train.AdamState{}, MMA: map[string]*train.MMAState{}}}
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
	maps.Copy(c.states.Anchors, o.Resume.Anchors)
	maps.Copy(c.states.Batches, o.Resume.Batches)
	maps.Copy(c.states.MMA, o.Resume.MMA)
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

// minimize minimises from x0 with all rows in every step, or goes on from the run's last
// state, in at most so many evaluations (0: its default).
func (c *checkpoints) minimize(ctx context.Context, optimizer, key string, event Event, problem train.Objective, box train.Bounds, x0 []float64, evaluations int) (*train.Result, error) {
	before := event.Iteration
	if optimizer == "mma" {
		from := resume(c, c.states.MMA, key, train.StartMMA(x0))
		return train.MMA{MaxEvaluations: evaluations}.Minimize(ctx, problem, box, from, func(s *train.MMAState) error {
			event.Iteration, event.Value, event.Stopped = before+s.Iterations, s.Value, s.Stopped
			return c.tell(event, func() { c.states.MMA[key] = s.Clone() })
		})
	}
	from := resume(c, c.states.Runs, key, train.Start(x0))
	return train.LBFGS{MaxEvaluations: evaluations, MaxIterations: evaluations}.Minimize(ctx, problem, box, from, func(s *train.State) error {
		event.Iteration, event.Value, event.Stopped = before+s.Iterations, s.Value, s.Stopped
		return c.tell(event, func() { c.states.Runs[key] = s.Clone() })
	})
}

// adam minimises from x0 on batches, or goes on from the run's last state.
func (c *checkpoints) adam(ctx context.Context, key string, event Event, problem train.Stochastic, settings train.Adam, box train.Bounds, x0 []float64) (*train.AdamState, error) {
	from := resume(c, c.states.Batches, key, train.StartAdam(x0))
	return settings.Minimize(ctx, problem, box, from, func(s *train.AdamState) error {
		event.Iteration, event.Value, event.Stopped = s.Steps, s.Mean, s.Stopped
		return c.tell(event, func() { c.states.Batches[key] = s.Clone() })
	})
}

// resume returns a run's last state, or the fresh one where there is none.
func resume[S interface{ Clone() S }](c *checkpoints, states map[string]S, key string, fresh S) S {
	c.mu.Lock()
	defer c.mu.Unlock()
	if s, ok := states[key]; ok {
		return s.Clone()
	}
	return fresh
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

// box bounds the parameters: the prior's by the grid, inducing inputs not at all, or to
// where x0 has them if they are fixed.
func (p *prepared) box(o Options, f family, x0 []float64) train.Bounds {
	n := f.gridParams()
	b := train.Bounds{Lower: slices.Repeat([]float64{math.Inf(-1)}, len(x0)), Upper: slices.Repeat([]float64{math.Inf(1)}, len(x0))}
	for i := range n {
		b.Lower[i], b.Upper[i] = -o.Grid.L, o.Grid.L
	}
	if p.held {
		copy(b.Lower[:n], x0[:n])
		copy(b.Upper[:n], x0[:n])
	}
	z := n
	if !o.PosteriorFree {
		b.Lower[n], b.Upper[n] = minLogNoise, maxLogNoise
		z++
	}
	if o.FixInducing {
		end := z + len(p.z.Data)
		copy(b.Lower[z:end], x0[z:end])
		copy(b.Upper[z:end], x0[z:end])
	}
	if o.LearnAlpha && !o.PosteriorFree && p.inducing > 0 {
		b.Lower[len(x0)-1], b.Upper[len(x0)-1] = 0, 1
	}
	if o.freeForm() && len(x0) > z+len(p.z.Data) {
		free := p.newProblem(o, f, 1).(*objective.FreeFormProblem)
		for j := range p.inducing {
			i := free.DiagonalIndex(j)
			b.Lower[i], b.Upper[i] = -maxLogChol, maxLogChol
		}
	}
	return b
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
