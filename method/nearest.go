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

// Defaults of training a nearest-neighbour conditional density. RMSEs on 80 % of bike, protein and kin40k, with
// Matérn-3/2: 32 neighbours have .219, .552, .098. 64 neighbours have .216, .553, .091, but take about three times as
// long. With a third of the steps, 64 neighbours take as long as 32 and have .216, .552, .092. One search instead of
// three has .238, .556, .097, and six searches have .220, .554, and none on kin40k. Vecchia's form instead of
// leave-one-out has .235, .550, .096, and a worse NLPD on all three sets.
const (
	defaultNeighbours   = 64
	defaultSearches     = 3
	defaultNearestBatch = 256
	defaultNearestRate  = 0.05 // .02 is worse on bike by .004, and .1 is as good
	searchedEvaluations = 30   // most evaluations of a descent before the next search
)

// PredictiveRows is the largest number of rows on which a prediction is conditioned; see posterior.Posterior.Fewer.
// After training on 31,040 rows of kin40k with 32 neighbours and se, the RMSE is .089 from 256 rows and .074 from
// 1,024.
const PredictiveRows = 512

// MaxTerms is the largest number of rows whose conditional densities are trained on. If there are more rows, training
// draws MaxTerms rows at random, and looks for their neighbours among all rows. The mean over these rows says as much
// about a few dozen parameters as the mean over all rows, and training takes as long for a million rows as for these.
const MaxTerms = 100_000

// terms holds the costs of predictions by name. The cost named loss is the task's loss.
var terms = map[string]pacbayes.Expectation{"density": objective.LogDensity{}, "squared": objective.SquaredError{},
	"crps": objective.CRPS{}, "loss": nil}

// Nearest is the nearest-neighbour conditional density (objective.NearestProblem), or another cost of its predictions,
// for rows in memory. Q predicts a row by the exact GP of the nearest rows. A prediction uses more rows than training
// does.
type Nearest struct {
	_          struct{} `help:"nearest: in training, predict each row from this many neighbours"`
	Neighbours int      `set:"neighbours" value:"M" range:"1:512" rule:"64"` // time grows with the cube of M
	_          struct{} `help:"nearest: the cost of a prediction: density (its logarithm), squared, crps, loss"`
	_          struct{} `help:"(the certified loss)"`
	Term       string   `set:"term" value:"T" values:"density squared crps loss" default:"density"`
	_          struct{} `help:"nearest: neighbours among all other rows (loo), or among earlier rows in a random order"`
	_          struct{} `help:"(vecchia)"`
	Form       string   `set:"form" value:"F" values:"loo vecchia" default:"loo"`
	Batched
	MAP
	Solver string `set:"solver" values:"auto nearest" default:"auto"`

	// Searches is how often training searches for neighbours, each time with its current lengthscales. The first search
	// is at the start. Later searches are closest together at first, when lengthscales move most. 0 means 3.
	Searches int
	Rows     int // number of rows on which Q conditions a prediction; 0 means 512, or fewer if these predict as well
}

var _ Method = Nearest{}

// Bind implements Method.
func (m Nearest) Bind(t Task) Problem {
	m.Neighbours = cmp.Or(m.Neighbours, defaultNeighbours)
	m.Searches = cmp.Or(m.Searches, defaultSearches)
	term := terms[m.Term]
	if m.Term == "loss" {
		term = t.Loss
	}
	p := &nearest{NearestProblem: &objective.NearestProblem{Kernel: t.Kernel, Mean: t.Mean, Rows: t.All,
		Neighbours: m.Neighbours, Vecchia: m.Form == "vecchia", Term: term, Scale: t.Scale, Seed: t.Seed, Terms: MaxTerms,
		Ranks: t.Ranks}, plain: plain{t}, method: m}
	if m.Hyperprior == "weak" {
		p.weak = weakFor(t)
	}
	return p
}

// nearest is the problem of a nearest-neighbour conditional density.
type nearest struct {
	*objective.NearestProblem
	plain
	method Nearest
	weak   weak
}

var _ Problem = (*nearest)(nil)

// Evaluate implements train.Objective.
func (p *nearest) Evaluate(x, gradient []float64) (float64, error) {
	return p.withPrior(x, gradient)(p.NearestProblem.Evaluate(x, gradient))
}

// EvaluateBatch implements train.Stochastic.
func (p *nearest) EvaluateBatch(x, gradient []float64, rows []int) (float64, error) {
	return p.withPrior(x, gradient)(p.NearestProblem.EvaluateBatch(x, gradient, rows))
}

func (p *nearest) withPrior(x, gradient []float64) func(v float64, err error) (float64, error) {
	return func(v float64, err error) (float64, error) {
		if err == nil {
			p.weak.add(x, gradient, &v)
		}
		return v, err
	}
}

// Diagnostics implements Problem.
func (p *nearest) Diagnostics() Diagnostics { return Diagnostics{} }

// Minimize trains from x = [θ, β, ln σ_n²].
func (p *nearest) Minimize(ctx context.Context, run Run, x []float64) (*train.Result, error) {
	box := p.Box(x)
	batches := p.method.batches(false)
	if batches == nil {
		return inStages(ctx, run, p.method.Descent(), p, box, x, p.method.Searches, func(stage int, x []float64) int {
			p.Search(x)
			if stage == p.method.Searches-1 {
				return 0
			}
			return searchedEvaluations
		})
	}
	a := batches.settings(p.BatchRows(), p.task.Seed, defaultNearestBatch, defaultNearestRate, defaultSteps)
	near := searches{p.method.Searches, func(x []float64) error { p.Search(x); return nil }}
	s, err := onBatches(ctx, run, p, near, a, box, x)
	if err != nil {
		return nil, err
	}
	return lowest(s, box, [][]float64{s.X, s.Previous, x},
		func(x []float64) (float64, error) { return p.Evaluate(x, nil) })
}

// Posterior returns the GP that predicts each row from its nearest rows.
func (p *nearest) Posterior(x []float64) (*posterior.Posterior, finding.List, error) {
	theta, beta, noise := p.task.parameters(x)
	q := posterior.NewNearest(posterior.Given{Kernel: p.Kernel, Theta: theta, Mean: p.Mean, Beta: beta, Noise: noise,
		X: p.Rows.X, Y: p.Rows.Y}, cmp.Or(p.method.Rows, PredictiveRows))
	if p.method.Rows == 0 && !p.task.Grouped {
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
