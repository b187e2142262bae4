package method

import (
	"cmp"
	"context"

	"github.com/krigo-gp/krigo/finding"
	"github.com/krigo-gp/krigo/objective"
	"github.com/krigo-gp/krigo/pacbayes"
	"github.com/krigo-gp/krigo/posterior"
	"github.com/krigo-gp/krigo/train"
)

// Defaults of training a nearest-neighbour conditional density.
// RMSEs on 80 % of bike, protein and kin40k, with Matérn-3/2: 32 neighbours have .219, .552, .098.
// 64 neighbours have .216, .553, .091, but take about three times as long.
// With a third of the steps, 64 neighbours take as long as 32 and have .216, .552, .092.
// One search instead of three has .238, .556, .097, and six searches have .220, .554, and none on
// kin40k. Vecchia's form instead of leave-one-out has .235, .550, .096, and a worse NLPD on all
// three sets.
const (
	defaultNeighbours   = 64
	defaultSearches     = 3
	defaultNearestBatch = 256
	defaultNearestRate  = 0.05 // .02 is worse on bike by .004, and .1 is as good
	searchedEvaluations = 30   // most evaluations of a descent before the next search
)

// PredictiveRows is the largest number of rows on which a prediction is conditioned;
// see posterior.Posterior.Fewer.
// After training on 31,040 rows of kin40k with 32 neighbours and se, the RMSE is .089 from 256 rows
// and .074 from 1,024.
const PredictiveRows = 512

// A run on batches whose number of epochs nobody asks for has two parts.
// The first part has few neighbours, so that it costs about 1 CPU s, and several kernels can race.
// The second part has the settings' own neighbours.
// All figures are from 80 % of the sets, with CPU s of training, and held against 3,000 steps with
// 64 neighbours. 300 + 600 steps have RMSE .0842 on 1,000 rows of kin40k with se (.0845), 6 CPU s
// (16); .1658 on bike with matern32*matern12 (.1675), 11 (44);
// and 300 + 200 steps have .5053 on protein with rq (.5053), 3 (26).
// On pol, 300 steps with 16 neighbours have .1366 in 2 CPU s (.1380).
// 80 evaluations of L-BFGS on all its terms have .148 in 19.
const (
	fewNeighbours = 16
	fewSteps      = 300
	fewRate       = 0.1
	fewSearches   = 2
	ownSteps      = 600
	ownSearches   = 2
	// A step has 256 terms, so these are enough:
	// the 600 steps with 8,192 terms have RMSE .0844 on kin40k. More terms cost longer searches.
	shortTerms = 16_384
)

// The judge of a race predicts a few rows from many of their neighbours, about as the model will
// do. On bike, the density of 1,024 rows by 256 neighbours puts matern32*matern12 before rq by
// .035, and 512 rows by 512 neighbours by .039, but take 3 CPU s instead of .4.
// 64 neighbours put it before rq by .017, and behind after 100 further steps, although its RMSE is
// .167 and the RMSE of rq .177.
const (
	judgedTerms      = 1024
	judgedNeighbours = 256
)

// MaxTerms is the largest number of rows whose conditional densities are trained on.
// If there are more rows, training draws MaxTerms rows at random, and looks for their neighbours
// among all rows. The mean over these rows says as much about a few dozen parameters as the mean
// over all rows, and training takes as long for a million rows as for these.
const MaxTerms = 100_000

// costs holds the costs of predictions by name. The cost named loss is the task's loss.
var costs = map[string]pacbayes.Expectation{"density": objective.LogDensity{},
	"squared": objective.SquaredError{}, "crps": objective.CRPS{}, "loss": nil}

// Nearest is the nearest-neighbour conditional density (objective.NearestProblem), or another cost
// of its predictions, for rows in memory. Q predicts a row by the exact GP of the nearest rows.
// A prediction uses more rows than training does.
type Nearest struct {
	// nearest: in training, predict each row from this many neighbours.
	// Default: 64.
	Neighbours int `set:"neighbours" value:"M" range:"1:512"` // time grows with the cube of M
	// nearest: the cost of a prediction: density (its logarithm), squared, crps, loss (the
	// certified loss).
	Term string `set:"term" value:"T" values:"density squared crps loss" default:"density"`
	// nearest: neighbours among all other rows (loo), or among earlier rows in a random order
	// (vecchia).
	Form string `set:"form" value:"F" values:"loo vecchia" default:"loo"`
	Batched
	MAP
	Solver string `set:"solver" values:"auto nearest" default:"auto"` // auto is nearest

	// Searches is how often training searches for neighbours, each time with its current
	// lengthscales. The first search is at the start.
	// Later searches are closest together at first, when lengthscales move most.
	// 0 means 3, and 2 after a part with few neighbours.
	Searches int
	// number of rows on which Q conditions a prediction;
	// 0 means 512, or fewer if these predict as well
	Rows int
}

var _ Method = Nearest{}

// Terms returns the largest number of rows that have a term in training.
func (m Nearest) Terms() int {
	if m.short() {
		return shortTerms
	}
	return MaxTerms
}

// short says whether krigo decides how many steps Adam takes.
func (m Nearest) short() bool { return m.Optimizer == "adam" && m.Epochs == 0 }

// Bind implements Method. Without another number, rows are predicted from defaultNeighbours
// neighbours.
func (m Nearest) Bind(t Task) Problem {
	m.Neighbours = cmp.Or(m.Neighbours, defaultNeighbours)
	p := &nearest{plain: plain{t}, method: m}
	if m.Hyperprior == "weak" {
		p.weak = weakFor(t)
	}
	return p.with(m.Neighbours, MaxTerms)
}

// nearest is the problem of a nearest-neighbour conditional density.
type nearest struct {
	*objective.NearestProblem
	plain
	method Nearest
	weak   weak
}

var _ Racer = (*nearest)(nil)

// with returns the problem with other numbers of neighbours and terms.
func (p *nearest) with(neighbours, terms int) *nearest {
	t := p.task
	m := p.method
	q := *p
	term := costs[m.Term]
	if m.Term == "loss" {
		term = t.Loss
	}
	q.NearestProblem = &objective.NearestProblem{Kernel: t.Kernel, Mean: t.Mean, Rows: t.All,
		Neighbours: neighbours, Vecchia: m.Form == "vecchia", Term: term, Scale: t.Scale,
		Seed: t.Seed, Terms: terms, Ranks: t.Ranks, Apart: t.Apart, Units: t.Units}
	return &q
}

// Evaluate returns the cost of all terms, with the weak prior's −ln density if there is one.
func (p *nearest) Evaluate(x, gradient []float64) (float64, error) {
	return p.withPrior(x, gradient)(p.NearestProblem.Evaluate(x, gradient))
}

// EvaluateBatch returns the estimate of Evaluate's value from the terms of some rows.
func (p *nearest) EvaluateBatch(x, gradient []float64, rows []int) (float64, error) {
	return p.withPrior(x, gradient)(p.NearestProblem.EvaluateBatch(x, gradient, rows))
}

// withPrior returns a function that adds the weak prior's −ln density at x to a value, and its
// derivatives to gradient, which the evaluation has filled in.
func (p *nearest) withPrior(x, gradient []float64) func(v float64, err error) (float64, error) {
	return func(v float64, err error) (float64, error) {
		if err == nil {
			p.weak.add(x, gradient, &v)
		}
		return v, err
	}
}

func (p *nearest) Diagnostics() Diagnostics { return Diagnostics{} }

// Minimize trains from x = [θ, β, ln σ_n²]. Without batches, it searches the neighbours anew at the
// beginning of each of n stages. On batches, if krigo chooses the number of steps, a part with few
// neighbours comes first (see begin).
func (p *nearest) Minimize(ctx context.Context, run Run, x []float64) (*train.Result, error) {
	box := p.Box(x)
	n := cmp.Or(p.method.Searches, defaultSearches)
	if !p.method.OnBatches() {
		return inStages(ctx, run, p.method.Descent(), p, box, x, n,
			func(stage int, x []float64) int {
				p.Search(x)
				if stage == n-1 {
					return 0
				}
				return searchedEvaluations
			})
	}
	steps := defaultSteps
	before := &train.AdamState{}
	// krigo chooses the numbers of steps, searches and terms.
	if p.method.short() {
		steps = ownSteps
		n = cmp.Or(p.method.Searches, ownSearches)
		p.NearestProblem = p.with(p.Neighbours, shortTerms).NearestProblem
	}
	a := p.method.adam(p.BatchRows(), p.task.Seed, defaultNearestBatch, defaultNearestRate, steps)
	if p.Races() {
		var err error
		if before, err = p.begin(ctx, run, a.Steps, x); err != nil {
			return nil, err
		}
		x = before.X
	}
	s, err := onBatches(ctx, run.part("", before.Steps, before.Steps+a.Steps), p,
		p.searches(n), a, box, x)
	if err != nil {
		return nil, err
	}
	r, err := lowest(s, box, [][]float64{s.X, s.Previous, x},
		func(x []float64) (float64, error) { return p.Evaluate(x, nil) })
	// The figures count the part with few neighbours, too.
	if err == nil {
		r.Iterations += before.Steps
		r.Evaluations += before.Steps + before.Rejected
		r.Rejected += before.Rejected
	}
	return r, err
}

// searches returns n searches of neighbours by the lengthscales of the moment.
func (p *nearest) searches(n int) searches {
	return searches{n, func(x []float64) error { p.Search(x); return nil }}
}

// begin takes the first steps of a run, with few neighbours.
// then is the number of steps that follow, if they do.
func (p *nearest) begin(ctx context.Context, run Run, then int,
	x []float64) (*train.AdamState, error) {
	few := p.with(min(fewNeighbours, p.Neighbours), shortTerms)
	a := Batched{}.adam(few.BatchRows(), p.task.Seed, defaultNearestBatch, fewRate, fewSteps)
	run = run.part("/few", 0, a.Steps+then)
	if last := run.Load(run.Key); last != nil && last.Batches != nil && last.Batches.Stopped != "" {
		return last.Batches.Clone(), nil // the run has raced
	}
	return onBatches(ctx, run, few, few.searches(fewSearches), a, p.Box(x), x)
}

// Races implements Racer: kernels race if krigo chooses the number of steps, and nothing was
// trained before.
func (p *nearest) Races() bool { return p.method.short() && !p.task.Started }

// Race implements Racer. It takes the steps with few neighbours, and judges the last point that was
// evaluated.
func (p *nearest) Race(ctx context.Context, run Run, x []float64) (*train.Result, error) {
	s, err := p.begin(ctx, run, 0, x)
	if err != nil {
		return nil, err
	}
	r, err := lowest(s, p.Box(x), [][]float64{s.Previous}, p.Judge)
	if err != nil {
		return nil, &train.StartError{Reason: err}
	}
	return r, nil
}

// Judge implements Racer. It returns the cost with judgedNeighbours neighbours on judgedTerms rows,
// which all kernels share.
func (p *nearest) Judge(x []float64) (float64, error) {
	return p.with(judgedNeighbours, judgedTerms).Evaluate(x, nil)
}

// Posterior returns the GP that predicts each row from its nearest rows.
func (p *nearest) Posterior(x []float64) (*posterior.Posterior, finding.List, error) {
	theta, beta, noise := p.task.parameters(x)
	q := posterior.NewNearest(posterior.Given{Kernel: p.Kernel, Theta: theta, Mean: p.Mean,
		Beta: beta, Noise: noise, X: p.Rows.X, Y: p.Rows.Y, PerRow: p.Rows.PerRow},
		cmp.Or(p.method.Rows, PredictiveRows))
	if p.method.Rows == 0 && p.task.Units == nil {
		q = q.Fewer()
	}
	var found finding.List
	if _, rows := q.Arrays(); rows < p.Rows.X.Rows {
		found.Add(finding.ByNearest, rows, p.Rows.X.Rows)
	}
	switch p.method.Term {
	case "loss":
		found.Add(finding.TermLoss)
	case "squared":
		found.Add(finding.TermSquared)
	}
	return q, found, nil
}
