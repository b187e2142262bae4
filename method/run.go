package method

import (
	"context"
	"fmt"
	"slices"

	"github.com/krigo-gp/krigo/train"
)

// State is where a run stands: that of the optimiser which it is by.
type State struct {
	Descent *train.State     `json:"descent,omitempty"`
	MMA     *train.MMAState  `json:"mma,omitempty"`
	Batches *train.AdamState `json:"batches,omitempty"`
	Anchor  []float64        `json:"anchor,omitempty"` // the point where a run by conjugate gradients took its probes, one on neighbours looked for them
}

// Run is where a training run keeps its state and tells how it goes.
type Run struct {
	Key  string
	Load func(key string) *State // where the run of that key stands; nil: at its start
	Tell func(key string, s *State, iteration int, value float64, stopped string) error
	Of   func(iterations int) // is told how many there will be, where that is known; may be nil
}

// takes tells how many iterations there will be.
func (r Run) takes(iterations int) {
	if r.Of != nil {
		r.Of(iterations)
	}
}

// Descent is training with all rows in every step.
type Descent struct {
	MMA         bool // moving asymptotes in the place of L-BFGS
	Evaluations int  // at most; 0: the optimiser's default
}

// minimize minimises from x, or goes on from the run's last state; before is the number of iterations that
// came before it.
func (d Descent) minimize(ctx context.Context, run Run, key string, before int, problem train.Objective, box train.Bounds, x []float64) (*train.Result, error) {
	last := run.Load(key)
	if d.MMA {
		from := train.StartMMA(x)
		if last != nil && last.MMA != nil {
			from = last.MMA.Clone()
		}
		return train.MMA{MaxEvaluations: d.Evaluations}.Minimize(ctx, problem, box, from, func(s *train.MMAState) error {
			return run.Tell(key, &State{MMA: s.Clone()}, before+s.Iterations, s.Value, s.Stopped)
		})
	}
	from := train.Start(x)
	if last != nil && last.Descent != nil {
		from = last.Descent.Clone()
	}
	return train.LBFGS{MaxEvaluations: d.Evaluations, MaxIterations: d.Evaluations}.Minimize(ctx, problem, box, from, func(s *train.State) error {
		return run.Tell(key, &State{Descent: s.Clone()}, before+s.Iterations, s.Value, s.Stopped)
	})
}

// Minimize minimises any objective from x.
func (d Descent) Minimize(ctx context.Context, run Run, problem train.Objective, box train.Bounds, x []float64) (*train.Result, error) {
	return d.minimize(ctx, run, run.Key, 0, problem, box, x)
}

// inStages minimises an objective that changes from stage to stage, each from where the last ended. begin sets it
// to a stage that begins at x, and returns the evaluations that the stage has at most, 0 being the optimiser's default;
// where d says how many there are in all, each has its part of them.
func inStages(ctx context.Context, run Run, d Descent, problem train.Objective, box train.Bounds, x []float64, stages int, begin func(stage int, x []float64) int) (*train.Result, error) {
	var sum train.Result
	for k := range stages {
		part := d
		part.Evaluations = begin(k, x)
		if d.Evaluations > 0 {
			part.Evaluations = max(d.Evaluations/stages, 1)
		}
		r, err := part.minimize(ctx, run, fmt.Sprintf("%s/%d", run.Key, k+1), sum.Iterations, problem, box, x)
		if err != nil {
			return nil, err
		}
		r.Iterations += sum.Iterations
		r.Evaluations += sum.Evaluations
		r.Rejected += sum.Rejected
		sum, x = *r, r.X
	}
	return &sum, nil
}

// Training on batches: 3,000 steps of 1,000 rows bring a few hundred log-parameters and
// inducing inputs from their start to where the learning rate has died away.
const (
	defaultSteps   = 3000
	defaultSGDRate = 0.1 // of the mean per row, whose gradient is of order one
)

// Batches is training with a batch of rows in every step: Adam's, or of plain stochastic gradient descent.
type Batches struct {
	Plain   bool    // stochastic gradient descent
	Rows    int     // of a batch; 0: the method's default
	Rate    float64 // of the first step; 0: the method's default
	Epochs  int     // passes over the rows; 0: as many as 3,000 steps take
	Nearest bool    // a row and those nearest to it, in the place of rows at random
}

// settings are Adam's for n rows, with a method's defaults.
func (b Batches) settings(n int, seed uint64, rows int, rate float64) train.Adam {
	a := train.Adam{Batch: b.Rows, LearningRate: b.Rate, Seed: seed, Plain: b.Plain, Nearest: b.Nearest}
	if a.Batch == 0 {
		a.Batch = rows
	}
	if a.LearningRate == 0 {
		if a.LearningRate = rate; a.Plain {
			a.LearningRate = defaultSGDRate
		}
	}
	batches := a.Batches(n)
	epochs := b.Epochs
	if epochs == 0 {
		epochs = (defaultSteps + batches - 1) / batches
	}
	a.Steps = epochs * batches
	return a
}

// onBatches minimises from x on batches, or goes on from the run's last state.
func onBatches(ctx context.Context, run Run, problem train.Stochastic, a train.Adam, box train.Bounds, x []float64) (*train.AdamState, error) {
	from := train.StartAdam(x)
	if last := run.Load(run.Key); last != nil && last.Batches != nil {
		from = last.Batches.Clone()
	}
	run.takes(a.Steps)
	return a.Minimize(ctx, problem, box, from, func(s *train.AdamState) error {
		return run.Tell(run.Key, &State{Batches: s.Clone()}, s.Steps, s.Mean, s.Stopped)
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
