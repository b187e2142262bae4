package krigo

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/inducing"
	"github.com/krigo-gp/krigo/internal/linalg"
	"github.com/krigo-gp/krigo/objective"
	"github.com/krigo-gp/krigo/posterior"
	"github.com/krigo-gp/krigo/train"
)

// How the Rényi GP is trained. A run begins at α = 0.99, as in "Optimize to Generalize in
// Gaussian Processes", Algorithm 1; on batches α falls at every step. With all rows in every
// step it falls in stages, each from where the last ended: a dozen of them follow a path that
// steps of α of 0.09 don't leave, and only the last needs to converge.
const (
	annealStart      = 0.99
	annealEnd        = 0.01 // of the geometric schedule, before 0
	annealStages     = 12
	stageEvaluations = 30

	defaultRenyiBatch = 1024 // the paper's, Sect. 8.2
	defaultSGDRate    = 0.1  // of the mean per row, whose gradient is of order one

	// An α-ELBO on all rows needs four N×N matrices.
	maxRenyi = 10000
	// Up to this many rows a value on all of them costs no more than some steps.
	maxEvaluated = 5000
)

// anneals lists the schedules of α by name.
var anneals = map[string]func(share float64) float64{
	"linear": func(share float64) float64 { return annealStart * (1 - share) },
	"cosine": func(share float64) float64 { return annealStart * (1 + math.Cos(math.Pi*share)) / 2 },
	"geometric": func(share float64) float64 {
		if share == 1 {
			return 0
		}
		return annealStart * math.Pow(annealEnd/annealStart, share)
	},
}

// anneal returns the schedule of α, nil where it is fixed.
func (o Options) anneal() func(share float64) float64 {
	if o.Objective != "renyi" || o.Alpha != nil {
		return nil
	}
	return anneals[o.Anneal]
}

// onBatches says whether training takes a batch of rows in a step.
func (o Options) onBatches() bool { return o.Optimizer == "adam" || o.Optimizer == "sgd" }

// renyi returns the Rényi GP's problem over the certified rows; for the objective evidence that
// of α = 0.
func (p *prepared) renyi(o Options, f family) *objective.RenyiProblem {
	r := &objective.RenyiProblem{Kernel: f.kernel, Mean: f.mean, Rows: p.rows, M: p.inducing, Schedule: o.anneal(), Ranks: p.data.Ranks()}
	if o.Objective == "renyi" {
		r.Alpha = p.alpha
	}
	return r
}

// minimizeRenyi trains from x0 = [θ, β, ln σ_n², Z].
func (p *prepared) minimizeRenyi(ctx context.Context, o Options, problem *objective.RenyiProblem, c *checkpoints, key string, event Event, box train.Bounds, x0 []float64) (*train.Result, error) {
	if !o.onBatches() {
		return p.minimizeStages(ctx, o, problem, c, key, event, box, x0)
	}
	s, err := c.adam(ctx, key, event, problem, p.adam(o), box, x0)
	if err != nil {
		return nil, err
	}
	problem.SetProgress(1)
	evaluate := func(x []float64) (float64, error) { return problem.Evaluate(x, nil) }
	ends := [][]float64{s.X, s.Previous, x0}
	if p.n > maxEvaluated {
		evaluate, ends = func([]float64) (float64, error) { return s.Mean, nil }, ends[:1]
	}
	return lowest(s, box, ends, evaluate)
}

// minimizeStages trains with all rows in every step, α falling from stage to stage.
func (p *prepared) minimizeStages(ctx context.Context, o Options, problem *objective.RenyiProblem, c *checkpoints, key string, event Event, box train.Bounds, x0 []float64) (*train.Result, error) {
	stages := 1
	if problem.Schedule != nil {
		stages = annealStages
	}
	var sum train.Result
	for k := range stages {
		limit := stageEvaluations
		stage := fmt.Sprintf("%s/%d", key, k+1)
		event := event
		event.Iteration = sum.Iterations
		if k == stages-1 {
			problem.SetProgress(1)
			limit = 0
		} else {
			problem.SetProgress(float64(k) / float64(stages-1))
		}
		if o.Epochs > 0 {
			limit = max(o.Epochs/stages, 1)
		}
		r, err := c.minimize(ctx, o.Optimizer, stage, event, problem, box, x0, limit)
		if err != nil {
			return nil, err
		}
		r.Iterations += sum.Iterations
		r.Evaluations += sum.Evaluations
		r.Rejected += sum.Rejected
		sum, x0 = *r, r.X
	}
	return &sum, nil
}

// renyiPosterior returns Q at x: the exact posterior where α ended at 0, p(f|U) with the optimal
// q*(U) where it didn't, and where that needs matrices that don't fit, the posterior of
// variational inference at the same parameters.
func (p *prepared) renyiPosterior(o Options, f family, x []float64) (q *posterior.Posterior, err error) {
	problem, n := p.renyi(o, f), p.n
	problem.SetProgress(1)
	switch {
	case problem.Alpha == 0:
		if p.all, err = gather(p.rows); err != nil {
			return nil, err
		}
		return p.exactPosterior(f, x)
	case n > maxRenyi:
		sparse := p.sparse(f)
		q, err = sparse.Posterior(x, 0)
		p.notices = append(p.notices, fmt.Sprintf("%d rows are more than the posterior of α = %g takes (%d): the model predicts by the sparse posterior of vfe at the trained parameters and inducing inputs", n, problem.Alpha, maxRenyi))
		return p.noteJitter(q, sparse.Jitter, err)
	}
	q, err = problem.Posterior(x)
	return p.noteJitter(q, problem.Jitter, err)
}

// What --inducing theory asks of Theorem 2: D ≤ 1 nat with probability 0.9 at α = 1, where the bound
// is largest, for the kernel that training starts from.
const (
	theoryTarget = 1
	theoryDelta  = 0.1
	startNoise   = 0.3
)

// theoryInducing sets the number of inducing inputs to what the theory asks for, up to the limit
// that stands there: the least M that Theorem 2 needs with the SE kernel's eigenvalues, for inputs
// taken to be Gaussian and independent, or for one input and a Matérn kernel N^{1/r}, with which
// the bound doesn't grow in N. x are rows to take the inputs' spread from.
func (p *prepared) theoryInducing(o Options, x linalg.Matrix) error {
	n, limit := p.n, p.inducing
	if o.Kernel != "se" {
		if p.data.Cols > 1 {
			return usage("inducing theory: for %s it is known for one input, not for %d: choose the kernel se", o.Kernel, p.data.Cols)
		}
		r := map[string]int{"matern32": 1, "matern52": 2}[o.Kernel]
		rate := inducing.MaternExponent(r, 0)
		p.inducing = min(limit, int(math.Ceil(math.Pow(float64(n), rate))))
		p.notices = append(p.notices, fmt.Sprintf("%d inducing inputs: theory asks for N^%g = %.4g (at most %d are taken), but for constants that aren't known", p.inducing, rate, math.Pow(float64(n), rate), limit))
		return nil
	}
	var square float64
	for _, y := range p.y {
		square += y * y
	}
	sum := []float64{square}
	if err := p.data.Ranks().Sum(sum); err != nil {
		return err
	}
	square = sum[0]
	lengths, spread := slices.Repeat([]float64{math.Sqrt(float64(x.Cols))}, x.Cols), make([]float64, x.Cols)
	for j := range x.Cols {
		var mean float64
		for i := range x.Rows {
			mean += x.At(i, j) / float64(x.Rows)
		}
		for i := range x.Rows {
			spread[j] += (x.At(i, j) - mean) * (x.At(i, j) - mean) / float64(x.Rows)
		}
		spread[j] = max(math.Sqrt(spread[j]), 1e-6) // a constant column has nothing to approximate
	}
	spectrum, err := inducing.NewSESpectrum(1, lengths, spread)
	if err != nil {
		return err
	}
	theory := inducing.Theory{Rows: n, Alpha: 1, Noise: startNoise, Variance: 1, Delta: theoryDelta}
	m, bound, err := theory.Enough(spectrum, square, theoryTarget, limit)
	if err != nil {
		return err
	}
	p.inducing = m
	note := fmt.Sprintf("%d inducing inputs: drawn by a k-DPP and kept (inducing-init kdpp, fix-inducing), they leave the bound at most %.3g nats under the evidence with probability %g at the starting kernel, if inputs are Gaussian and independent", m, bound, 1-theoryDelta)
	if bound > theoryTarget {
		note += fmt.Sprintf("; %d nat would take more than the %d that are taken at most", theoryTarget, limit)
	}
	p.notices = append(p.notices, note)
	return nil
}

// crossValidated are the values of α that cross-validation chooses from, folds the number of
// parts the rows are cut into.
var crossValidated = []float64{0, 0.25, 0.5, 0.75, 1}

const folds = 3

// crossValidate chooses a fixed α: that with the smallest mean squared error of predictions for
// the rows left out, summed over folds. α shapes Q alone, so that nothing is paid for the choice.
func (p *prepared) crossValidate(ctx context.Context, o Options, f family, c *checkpoints) (float64, error) {
	n := p.n
	order := rand.New(rand.NewPCG(o.Seed, 0x666f6c64)).Perm(n)
	best, least := 0.0, math.Inf(1)
	for _, alpha := range crossValidated {
		o.Alpha = &alpha
		var square float64
		for fold := range folds {
			part := *p
			part.notices, part.alpha = nil, alpha
			rows := slices.Concat(order[:fold*n/folds], order[(fold+1)*n/folds:])
			left := order[fold*n/folds : (fold+1)*n/folds]
			part.rows, part.y = p.choose(rows)
			part.n = len(rows)
			problem := part.renyi(o, f)
			x0 := part.starts(o, f, nil)[0]
			event := Event{Family: fmt.Sprintf("%s, α = %g without part %d of %d", f.name, alpha, fold+1, folds), Start: 1, Starts: 1}
			r, err := part.minimizeRenyi(ctx, o, problem, c, fmt.Sprintf("cv/%g/%d", alpha, fold+1), event, part.box(o, f, x0), x0)
			if err != nil {
				return 0, err
			}
			q, err := part.renyiPosterior(o, f, r.X)
			if err != nil {
				return 0, err
			}
			others, y := p.choose(left)
			at, err := gather(others)
			if err != nil {
				return 0, err
			}
			mean := make([]float64, len(y))
			q.Latent(at.X, mean, nil)
			for i, m := range mean {
				square += (y[i] - m) * (y[i] - m)
			}
		}
		if square < least {
			best, least = alpha, square
		}
	}
	p.notices = append(p.notices, fmt.Sprintf("α = %g by cross-validation over %v in %d parts (root mean squared error %.4g, scaled)", best, crossValidated, folds, math.Sqrt(least/float64(n))))
	return best, nil
}

// choose returns those of the rows to train on, and their scaled targets.
func (p *prepared) choose(rows []int) (*dataset.Scaled, []float64) {
	numbers, y := make([]int, len(rows)), make([]float64, len(rows))
	for i, row := range slices.Sorted(slices.Values(rows)) {
		numbers[i], y[i] = p.rows.Numbers[row], p.y[row]
	}
	return p.data.Scaled(numbers, p.scaling), y
}
