package method

import (
	"context"
	"fmt"
	"math"

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

	// MaxRenyi rows are what an α-ELBO on all of them may have: it needs four N×N matrices.
	MaxRenyi = 10000
	// MaxEvaluated rows, and fewer, have a value that costs no more than some steps.
	MaxEvaluated = 5000
)

// Anneals lists the schedules of α by name.
var Anneals = map[string]func(share float64) float64{
	"linear": func(share float64) float64 { return annealStart * (1 - share) },
	"cosine": func(share float64) float64 { return annealStart * (1 + math.Cos(math.Pi*share)) / 2 },
	"geometric": func(share float64) float64 {
		if share == 1 {
			return 0
		}
		return annealStart * math.Pow(annealEnd/annealStart, share)
	},
}

// Renyi is the α-ELBO of the Rényi GP (Yue and Kontar): a bound of the evidence, which it is at α = 0, where there
// are no inducing inputs, and vfe's at 1.
type Renyi struct {
	Descent
	Batches  *Batches
	Alpha    float64                     // where it stays
	Schedule func(share float64) float64 // how it falls to 0 while training; nil: it doesn't
	// Evidence says that α is 0 all along, and Q that of the full GP: the evidence on batches.
	Evidence bool
}

// Bind implements Method.
func (m Renyi) Bind(t Task) Problem {
	p := &renyi{RenyiProblem: &objective.RenyiProblem{Kernel: t.Kernel, Mean: t.Mean, Rows: t.Rows, M: t.M, MinJitter: t.MinJitter, Schedule: m.Schedule, Ranks: t.Ranks, Alpha: m.Alpha},
		task: t, descent: m.Descent, evidence: m.Evidence}
	if b := m.Batches; b != nil {
		a := b.settings(t.N, t.Seed, defaultRenyiBatch, defaultRate)
		p.batches = &a
	}
	return p
}

// renyi is an α-ELBO.
type renyi struct {
	*objective.RenyiProblem
	task     Task
	descent  Descent
	batches  *train.Adam
	evidence bool
}

// Objective implements Problem.
func (p *renyi) Objective() train.Objective { return p.RenyiProblem }

// Box implements Problem.
func (p *renyi) Box(x []float64) train.Bounds { return p.task.box(x, true) }

// Start implements Problem.
func (p *renyi) Start(x []float64) ([]float64, error) { return x, nil }

// Minimize trains from x0 = [θ, β, ln σ_n², Z].
func (p *renyi) Minimize(ctx context.Context, run Run, x0 []float64) (*train.Result, error) {
	box := p.Box(x0)
	if p.batches == nil {
		return p.stages(ctx, run, box, x0)
	}
	s, err := onBatches(ctx, run, p.RenyiProblem, *p.batches, box, x0)
	if err != nil {
		return nil, err
	}
	p.SetProgress(1)
	evaluate := func(x []float64) (float64, error) { return p.Evaluate(x, nil) }
	ends := [][]float64{s.X, s.Previous, x0}
	if p.task.N > MaxEvaluated {
		evaluate, ends = func([]float64) (float64, error) { return s.Mean, nil }, ends[:1]
	}
	return lowest(s, box, ends, evaluate)
}

// stages trains with all rows in every step, α falling from stage to stage.
func (p *renyi) stages(ctx context.Context, run Run, box train.Bounds, x0 []float64) (*train.Result, error) {
	stages := 1
	if p.Schedule != nil {
		stages = annealStages
	}
	return inStages(ctx, run, p.descent, p.RenyiProblem, box, x0, stages, func(k int, _ []float64) int {
		if k == stages-1 {
			p.SetProgress(1)
			return 0
		}
		p.SetProgress(float64(k) / float64(stages-1))
		return stageEvaluations
	})
}

// Posterior returns the exact posterior where α ended at 0, p(f|U) with the optimal q*(U) where it didn't, and where
// that needs matrices that don't fit, the posterior of variational inference at the same parameters.
func (p *renyi) Posterior(x []float64) (*posterior.Posterior, []string, error) {
	if p.evidence {
		return p.task.exact(p.task.All, x)
	}
	p.SetProgress(1)
	switch {
	case p.Alpha == 0:
		all, err := p.task.Whole()
		if err != nil {
			return nil, nil, err
		}
		return p.task.exact(all, x)
	case p.task.N > MaxRenyi:
		sparse := p.task.Sparse()
		q, err := sparse.Posterior(x, 0)
		note := fmt.Sprintf("%d rows are more than the posterior of α = %g takes (%d): the model predicts by the sparse posterior of vfe at the trained parameters and inducing inputs", p.task.N, p.Alpha, MaxRenyi)
		q, notes, err := jittered(q, sparse.Jitter, err)
		return q, append([]string{note}, notes...), err
	}
	q, err := p.RenyiProblem.Posterior(x)
	return jittered(q, p.Jitter, err)
}

// EstimatedRenyi is the α-ELBO by conjugate gradients ("The Rényi Gaussian Process", Sect. 3.2): it is evaluated
// alone.
type EstimatedRenyi struct{ Alpha float64 }

// Bind implements Method.
func (m EstimatedRenyi) Bind(t Task) Problem {
	return &estimated{&objective.IterativeRenyi{Kernel: t.Kernel, Mean: t.Mean, X: t.All.X, Y: t.All.Y, M: t.M, Alpha: m.Alpha, Seed: t.Seed, Context: t.Context}, t}
}

type estimated struct {
	*objective.IterativeRenyi
	task Task
}

// Objective implements Problem.
func (p *estimated) Objective() train.Objective { return p.IterativeRenyi }

// Box implements Problem.
func (p *estimated) Box(x []float64) train.Bounds { return p.task.box(x, true) }

// Start implements Problem.
func (p *estimated) Start(x []float64) ([]float64, error) { return x, nil }

// Minimize implements Problem.
func (p *estimated) Minimize(context.Context, Run, []float64) (*train.Result, error) {
	return nil, fmt.Errorf("the α-ELBO by conjugate gradients isn't trained")
}

// Posterior implements Problem.
func (p *estimated) Posterior([]float64) (*posterior.Posterior, []string, error) {
	return nil, nil, fmt.Errorf("by conjugate gradients the α-ELBO's posterior isn't computed")
}
