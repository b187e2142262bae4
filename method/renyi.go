package method

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/krigo-gp/krigo/finding"
	"github.com/krigo-gp/krigo/objective"
	"github.com/krigo-gp/krigo/posterior"
	"github.com/krigo-gp/krigo/train"
)

// These constants say how the Rényi GP is trained.
// A run begins at α = 0.99, as in "Optimize to Generalize in Gaussian Processes", Algorithm 1.
// With all rows in every step α falls in stages, and each stage starts where the last stage ended.
// A dozen stages have steps of α of 0.09, which follow the path of optima, and only the last stage
// needs to converge.
//
// On batches α falls at every step, and is 0 after a fifth of the steps.
// In the paper α falls until the last step, when the learning rate has died away.
// The evidence, which makes the predictions, is then hardly optimised.
// Batches are rows next to one another, because a batch of B random rows can't resolve lengthscales
// that all rows can, and takes structure for noise.
// The table was measured with 300 steps of 256 rows, six searches for neighbours, 500 inducing
// inputs, Matérn-3/2 and 80 % of the rows. It shows RMSEs of the exact GP of the nearest 256 rows
// on bike, protein and kin40k, as means of two splits in standard deviations, and then seconds on
// one core:
//
//	α is 0 after   all of the steps  .232, .563, .118  2.5
//	               0.6               .226, .537, .102  1.7
//	               0.4               .221, .528, .098  1.3
//	               0.2               .217, .526, .096  0.8
//	               0.1               .217, .525, .097  0.7
//	α = 0 throughout                 .215, .523, .097  0.5
//	the same, 1,024 random rows      .236, .556, .113  5.0 (one split)
//
// More RMSEs, with α = 0 after 0.2 of the steps: 500 steps have .218, .525, .095.
// 1,000 steps have .221, .530, .094, because σ_n² falls below what predictions of rows further away
// need. One search has .227, .524, .099, three have .216, .525, .095, and twenty have .218, .525,
// .095. Batches of 512 rows have .215, .525, .094, and take 2.5 times as long.
const (
	annealStart      = 0.99
	annealEnd        = 0.01 // last α of the geometric schedule before 0
	annealShare      = 0.2  // default of AnnealShare
	annealStages     = 12
	stageEvaluations = 30

	defaultRenyiBatch = 1024 // random rows, as in the paper, Sect. 8.2
	defaultLocalBatch = 256  // rows next to one another
	defaultLocalRate  = 0.05
	defaultLocalSteps = 500

	// MaxRenyi is the largest number of rows for an exact α-ELBO, which needs four N×N matrices.
	// For more rows, conjugate gradients estimate the α-ELBO.
	MaxRenyi = 10000
	// MaxEvaluated is the largest number of rows for which one evaluation of the objective costs no
	// more than a few steps.
	MaxEvaluated = 5000
)

// Anneals returns the schedules of α by name.
// A schedule says what α is after a share, from 0 to 1, of the run.
func Anneals() map[string]func(share float64) float64 {
	return map[string]func(share float64) float64{
		"linear": func(share float64) float64 { return annealStart * (1 - share) },
		"cosine": func(share float64) float64 {
			return annealStart * (1 + math.Cos(math.Pi*share)) / 2
		}, "geometric": func(share float64) float64 {
			if share == 1 {
				return 0
			}
			return annealStart * math.Pow(annealEnd/annealStart, share)
		},
	}
}

// Renyi is the α-ELBO of the Rényi GP (Yue and Kontar), which bounds the evidence.
// At α = 0 it equals the evidence and has no inducing inputs. At α = 1 it is vfe's bound.
// If Alpha is nil and AlphaBy isn't cv, α falls during training, as in Algorithm 1 of "Optimize to
// Generalize in Gaussian Processes".
//
// On that paper's tables as measured here, the RMSE of a falling α was never below the evidence's,
// trained in the same way, by more than .0001, and training took five to eleven times as long.
// A fixed α, chosen by cross-validation, was level with it on one table of two with 300 rows
// (docs/behind/papers.md).
type Renyi struct {
	Sparse
	Alpha   *float64 `set:"alpha"`             // fixed: 0 is the exact GP, 1 is vfe
	AlphaBy string   `set:"alpha" values:"cv"` // cv: left-out thirds choose among Alphas
	// renyi: the α that --alpha cv chooses from by predictions for left-out thirds.
	// Default: 0,0.25,0.5,0.75,1.
	Alphas []float64 `set:"alphas" value:"LIST" values:"0 0.25 0.5 0.75 1" for:"training"`
	// renyi: how α falls from 0.99 to 0: linear, cosine, geometric; none: --alpha stays.
	// Default: linear.
	Anneal string `set:"anneal" value:"HOW" values:"linear cosine geometric none" for:"training"`
	// renyi: on batches, α is 0 after this share of the steps; 1: after the last, as in the paper.
	// Default: 0.2.
	AnnealShare float64 `set:"anneal-share" value:"SHARE" range:"0:1" for:"training"`
	Local
	Solved
	// Evidence says that this is the evidence on batches:
	// α is 0 throughout, and Q is the Q of the full GP.
	Evidence bool
	byCG     bool // conjugate gradients estimate the α-ELBO, with all rows in every step
}

var _ Method = Renyi{}

// Complete fills in how α falls.
func (m *Renyi) Complete() {
	m.Local.Complete()
	if m.Alpha == nil && m.AlphaBy != "cv" {
		m.Anneal = cmp.Or(m.Anneal, "linear")
	}
	m.Anneal = cmp.Or(m.Anneal, "none")
}

// Check reports an α, a schedule and a solver that can't be combined.
func (m Renyi) Check(use Use) []error {
	wrong := m.checkSteps(m.Optimizer, use)
	cv := m.AlphaBy == "cv"
	fixed := m.Alpha != nil || m.AlphaBy == "cv"
	wrong.If(m.Alpha != nil && cv, "alpha: give a number or cv, not both")
	wrong.If(fixed && m.Anneal != "none", "anneal %s with a fixed α: leave alpha out, or set "+
		"anneal none", m.Anneal)
	wrong.If(!fixed && m.Anneal == "none",
		"anneal none: set the fixed α with alpha (0 is the exact GP, 1 is vfe), or set alpha cv")
	wrong.If(m.AnnealShare != 0 && m.Anneal == "none", "anneal-share with a fixed α: leave one out")
	below := m.Alpha != nil && *m.Alpha < 0 && !use.Evaluating
	wrong.If(below, "alpha %v: want 0 ≤ α ≤ 1; with α < 0 the α-ELBO bounds the evidence from "+
		"above and grows without limit as the noise falls, so only krigo evaluate takes it",
		m.alpha())
	wrong.If(m.Alpha != nil && !below && !(*m.Alpha <= 1), "alpha %v: want 0 ≤ α ≤ 1", m.alpha())
	wrong.If(len(m.Alphas) > 0 && !cv, "alphas: only alpha cv chooses from them: set alpha cv, "+
		"or leave alphas out")
	each := slices.Compact(slices.Sorted(slices.Values(m.Alphas)))
	wrong.If(len(each) < len(m.Alphas) ||
		(len(each) > 0 && !(each[0] >= 0 && each[len(each)-1] <= 1)),
		"alphas %v: want numbers from 0 to 1, each once, such as 0,0.5,1", m.Alphas)
	byRows := m.Solver == posterior.ByCG || m.Solver == posterior.ByNearest
	wrong.If(byRows && !(use.Evaluating && m.Solver == posterior.ByCG) && (cv || m.alpha() != 0),
		"solver cg and nearest need the exact GP, with which renyi ends if α falls to 0: leave "+
			"alpha out")
	return wrong
}

// Estimated implements Estimable ("The Rényi Gaussian Process", Sect. 3.2).
func (m Renyi) Estimated() Method {
	m.byCG = true
	return m
}

// alpha returns the α that training uses or ends with. Unset it is 0, the exact GP.
func (m Renyi) alpha() float64 {
	if m.Alpha == nil {
		return 0
	}
	return *m.Alpha
}

// schedule returns how α falls to 0 during training, or nil if α doesn't fall.
func (m Renyi) schedule() func(share float64) float64 { return Anneals()[m.Anneal] }

// Bind implements Method. If α falls during training on batches, it reaches 0 after AnnealShare of
// the steps.
func (m Renyi) Bind(t Task) Problem {
	if m.byCG {
		return &renyiByCG{&objective.IterativeRenyi{Kernel: t.Kernel, Mean: t.Mean, X: t.All.X,
			Y: t.All.Y, M: t.M, Alpha: m.alpha(), Seed: t.Seed, Context: t.Context,
			Progress: t.Progress}, plain{t}, m}
	}
	p := &renyi{RenyiProblem: &objective.RenyiProblem{Kernel: t.Kernel, Mean: t.Mean,
		Rows: t.Rows, M: t.M, MinJitter: t.MinJitter, Schedule: m.schedule(), Ranks: t.Ranks,
		Alpha: m.alpha()}, plain: plain{t}, method: m}
	if falls := m.schedule(); m.OnBatches() && falls != nil {
		whole := cmp.Or(m.AnnealShare, annealShare)
		p.Schedule = func(share float64) float64 { return falls(min(share/whole, 1)) }
	}
	return p
}

// renyi is the problem of an α-ELBO.
type renyi struct {
	*objective.RenyiProblem
	plain
	method Renyi
}

var _ Problem = (*renyi)(nil)

// Diagnostics has the jitter of the last evaluation, and the function that bounds the evidence from
// both sides.
func (p *renyi) Diagnostics() Diagnostics {
	return Diagnostics{Jitter: p.Jitter, Bounds: p.Sandwich}
}

// Minimize trains from x0 = [θ, β, ln σ_n², Z]. On batches it is Algorithm 1 of "Optimize to
// Generalize in Gaussian Processes", where θ are all parameters and η^(t) is the learning rate:
//
//	for t = 0 : T−1                                     train.Adam.Minimize, T its Steps
//	    α^(t+1) = α^(t) − 0.99/T, or another schedule   Schedule, of Anneals
//	    sample a subset ξ^(t) of the data               random rows, or a row and its nearest rows
//	    θ^(t+1) = θ^(t) − η^(t) (−g(θ^(t); ξ^(t)))      −g is the gradient of EvaluateBatch
//
// The paper's steps are plain (sgd). By default they are Adam's.
func (p *renyi) Minimize(ctx context.Context, run Run, x0 []float64) (*train.Result, error) {
	t := p.task
	m := p.method
	box := t.box(x0, true)
	if !m.OnBatches() {
		return m.stages(ctx, run, p.RenyiProblem, box, x0, p.SetProgress)
	}
	a := m.adam(t.N, t.Seed, defaultRenyiBatch, defaultRate, defaultSteps)
	near := searches{}
	if m.Batches != "uniform" {
		a = m.adam(t.N, t.Seed, defaultLocalBatch, defaultLocalRate, defaultLocalSteps)
		a.Nearest = true
		near = searches{defaultSearches, p.Search}
	}
	s, err := onBatches(ctx, run, p.RenyiProblem, near, a, box, x0)
	if err != nil {
		return nil, err
	}
	p.SetProgress(1)
	evaluate := func(x []float64) (float64, error) { return p.Evaluate(x, nil) }
	ends := [][]float64{s.X, s.Previous, x0}
	// Evaluating all rows would take too long, so the last point is returned, with the mean of
	// batches.
	if t.N > MaxEvaluated {
		evaluate = func([]float64) (float64, error) { return s.Mean, nil }
		ends = ends[:1]
	}
	return lowest(s, box, ends, evaluate)
}

// stages trains with all rows in every step, and lowers α from stage to stage.
func (m Renyi) stages(ctx context.Context, run Run, problem train.Objective, box train.Bounds,
	x0 []float64, progress func(share float64)) (*train.Result, error) {
	stages := 1
	if m.schedule() != nil {
		stages = annealStages
	}
	return inStages(ctx, run, m.Descent(), problem, box, x0, stages, func(k int, _ []float64) int {
		if k == stages-1 {
			progress(1)
			return 0
		}
		progress(float64(k) / float64(stages-1))
		return stageEvaluations
	})
}

// Posterior returns the exact posterior if α ended at 0, else p(f|U) with the optimal q*(U).
// If the matrices for q*(U) don't fit, it returns the posterior of variational inference at the
// same parameters.
func (p *renyi) Posterior(x []float64) (*posterior.Posterior, finding.List, error) {
	if p.method.Evidence {
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
		return p.task.variational(x, finding.New(finding.VFEForRows, p.task.N, p.Alpha, MaxRenyi))
	}
	q, err := p.RenyiProblem.Posterior(x)
	return p.task.jittered(q, p.Jitter, err)
}

// variational returns the posterior of variational inference instead of q*(U), and the finding why,
// which gives the reason.
func (t Task) variational(x []float64,
	why finding.Finding) (*posterior.Posterior, finding.List, error) {
	sparse := t.Sparse()
	q, err := sparse.Posterior(x, 0)
	q, notes, err := t.jittered(q, sparse.Jitter, err)
	return q, append(finding.List{why}, notes...), err
}

// renyiByCG is the problem of an α-ELBO that conjugate gradients estimate.
type renyiByCG struct {
	*objective.IterativeRenyi
	plain
	method Renyi
}

var _ Problem = (*renyiByCG)(nil)

// Diagnostics has the jitter and the standard error of the last estimate.
func (p *renyiByCG) Diagnostics() Diagnostics {
	return Diagnostics{Jitter: p.Jitter, StandardError: &p.StandardError}
}

// Minimize trains from x0 = [θ, β, ln σ_n², Z].
func (p *renyiByCG) Minimize(ctx context.Context, run Run, x0 []float64) (*train.Result, error) {
	p.Context = ctx
	return p.method.stages(ctx, run, p.IterativeRenyi, p.Box(x0), x0, func(share float64) {
		if falls := p.method.schedule(); falls != nil {
			p.Alpha = falls(share)
		}
	})
}

// Posterior returns the exact posterior if α ended at 0, else the posterior of variational
// inference.
func (p *renyiByCG) Posterior(x []float64) (*posterior.Posterior, finding.List, error) {
	if alpha := p.method.alpha(); alpha != 0 {
		return p.task.variational(x, finding.New(finding.VFEByCG, alpha))
	}
	return p.task.exact(p.task.All, x)
}
