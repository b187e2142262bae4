package krigo

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/krigo-gp/krigo/objective"
	"github.com/krigo-gp/krigo/posterior"
	"github.com/krigo-gp/krigo/train"
)

// Training on batches: 3,000 steps of 1,000 rows bring a few hundred log-parameters and
// inducing inputs from their start to where the learning rate has died away. An optimum
// is left by small steps only.
const (
	defaultBatch    = 1000
	defaultSteps    = 3000
	defaultRate     = 0.02
	defaultFreeRate = 0.001
)

// maxLogChol boxes ln L'_jj of a free-form q: variances of e^±40 in whitened coordinates,
// in which the prior's is 1.
const maxLogChol = 20

// freeForm returns a free-form problem over the certified rows. Its objective is SVGP.
func (p *prepared) freeForm(f family) *objective.FreeFormProblem {
	return &objective.FreeFormProblem{Kernel: f.kernel, Mean: f.mean, Rows: p.rows, M: p.inducing, Keep: keepBytes,
		Objective: &objective.SVGP{}, Noise: p.freeNoise, Ranks: p.data.Ranks()}
}

// adam returns the settings of training on batches.
func (p *prepared) adam(o Options) train.Adam {
	n := p.n
	a := train.Adam{Batch: o.Batch, LearningRate: o.LearningRate, Seed: o.Seed, Plain: o.Optimizer == "sgd", Nearest: o.Batches == "nearest"}
	if a.Batch == 0 {
		a.Batch = defaultBatch
		if o.Objective != "svgp" && !o.PosteriorFree {
			a.Batch = defaultRenyiBatch
		}
	}
	if a.LearningRate == 0 {
		switch {
		case a.Plain:
			a.LearningRate = defaultSGDRate
		case o.PosteriorFree:
			a.LearningRate = defaultFreeRate
		default:
			a.LearningRate = defaultRate
		}
	}
	batches := a.Batches(n)
	epochs := o.Epochs
	if epochs == 0 {
		epochs = (defaultSteps + batches - 1) / batches
	}
	a.Steps = epochs * batches
	if o.Objective == "svgp" {
		// q averages over about 1/ρ batches: ten, or fewer where those are all rows.
		a.NaturalStep = max(0.1, 1/float64(batches))
	}
	return a
}

// minimizeFree trains a free-form problem from collapsed parameters [θ, β, ln σ_n², Z],
// at which q begins as the posterior of Eq. 11.
func (p *prepared) minimizeFree(ctx context.Context, o Options, f family, free *objective.FreeFormProblem, c *checkpoints, key string, event Event, collapsed []float64) (*train.Result, error) {
	alpha := p.alpha
	if o.LearnAlpha {
		alpha = p.alphaAt(o, collapsed)
	}
	x0, err := free.StartFrom(collapsed, alpha)
	if err != nil {
		return nil, &train.StartError{Reason: err}
	}
	box := p.box(o, f, x0)
	if !o.onBatches() {
		return c.minimize(ctx, o.Optimizer, key, event, free, box, x0, o.evaluations())
	}
	s, err := c.adam(ctx, key, event, free, p.adam(o), box, x0)
	if err != nil {
		return nil, err
	}
	return lowest(s, box, [][]float64{s.X, s.Previous, x0}, func(x []float64) (float64, error) {
		if o.Objective == "svgp" {
			return free.Optimise(x)
		}
		return free.Evaluate(x, nil)
	})
}

// lowest returns the best of the points where a run on batches may be said to have ended, moved
// into the box, by their value on all rows: the last step hasn't been evaluated at all, and a
// run on batches may end above where it began. evaluate may move its argument.
func lowest(s *train.AdamState, box train.Bounds, ends [][]float64, evaluate func(x []float64) (float64, error)) (*train.Result, error) {
	r := &train.Result{Iterations: s.Steps, Evaluations: s.Steps + s.Rejected, Rejected: s.Rejected, Rejection: s.Rejection, Stopped: s.Stopped}
	var failure error
	for _, x := range ends {
		x = slices.Clone(x)
		for i := range x {
			x[i] = min(max(x[i], box.Lower[i]), box.Upper[i])
		}
		value, err := evaluate(x)
		r.Evaluations++
		if err != nil {
			failure = err
		} else if r.X == nil || value < r.Value {
			r.X, r.Value = x, value
		}
	}
	if r.X == nil {
		return nil, fmt.Errorf("the objective can't be evaluated on all rows where training on batches ended: %w", failure)
	}
	for i, v := range r.X {
		if v == box.Lower[i] || v == box.Upper[i] {
			r.AtBound = append(r.AtBound, i)
		}
	}
	return r, nil
}

// freeUp goes on from the optimum of a collapsed bound with a free-form posterior, and
// returns the model whose certificate is lower. The choice is free: the bound holds for
// all posteriors together.
func (p *prepared) freeUp(ctx context.Context, o Options, families []family, best run, c *checkpoints) (*Model, run, error) {
	f := families[best.family]
	collapsed, notices := o, slices.Clone(p.notices)
	collapsed.PosteriorFree = false
	m, err := p.finish(collapsed, f, best, len(families))
	if err != nil {
		return nil, run{}, err
	}
	p.freeNoise = math.Exp(best.result.X[f.gridParams()])
	event := Event{Family: f.name + ", free-form", Start: len(families)*o.Restarts + 1, Starts: len(families)*o.Restarts + 1}
	problem := p.newProblem(o, f, len(families)).(*objective.FreeFormProblem)
	r, err := p.minimizeFree(ctx, o, f, problem, c, f.name+"/free", event, best.result.X)
	if err != nil {
		return nil, run{}, err
	}
	if ctx.Err() != nil {
		return nil, run{}, ctx.Err()
	}
	if err := p.rows.Err(); err != nil {
		return nil, run{}, err
	}
	free := run{best.family, r}
	kept := p.notices
	p.notices = notices
	other, err := p.finish(o, f, free, len(families))
	if err != nil {
		return nil, run{}, err
	}
	if m.Certificate == nil || other.Certificate == nil {
		return other, free, nil
	}
	if other.Certificate.Bound > m.Certificate.Bound {
		m.Notices = append(kept, fmt.Sprintf("the free-form posterior's bound %.4f is no lower than the objective's own: that one is kept", RoundUp(other.Certificate.Bound, 4)))
		return m, free, nil
	}
	other.Notices = append(other.Notices, fmt.Sprintf("the posterior is free-form: bound %.4f, of the objective's own %.4f", RoundUp(other.Certificate.Bound, 4), RoundUp(m.Certificate.Bound, 4)))
	return other, free, nil
}

// freePosterior returns Q at the parameters of a free-form problem. Svgp's q is moved to
// its optimum for the other parameters, which were rounded since it was trained.
func (p *prepared) freePosterior(o Options, f family, x []float64) (*posterior.Posterior, error) {
	free := p.newProblem(o, f, 1).(*objective.FreeFormProblem)
	if o.Objective == "svgp" {
		x = slices.Clone(x)
		if _, err := free.Optimise(x); err != nil {
			return nil, err
		}
	}
	q, err := free.Posterior(x)
	return p.noteJitter(q, free.Jitter, err)
}

// noteJitter passes a posterior on, with a notice of the jitter it needed.
func (p *prepared) noteJitter(q *posterior.Posterior, jitter float64, err error) (*posterior.Posterior, error) {
	if err == nil && jitter > 0 {
		p.notices = append(p.notices, fmt.Sprintf("%.1e was added to the diagonal of the inducing inputs' covariance matrix", jitter))
	}
	return q, err
}
