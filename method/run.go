package method

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/krigo-gp/krigo/internal/lists"
	"github.com/krigo-gp/krigo/train"
)

// State is where a run stands: the state of its optimiser.
type State struct {
	Descent *train.State     `json:"descent,omitempty"`
	MMA     *train.MMAState  `json:"mma,omitempty"`
	Batches *train.AdamState `json:"batches,omitempty"`
	// the point where a run by conjugate gradients took its probes, or where a run on neighbours
	// searched for them
	Anchor []float64 `json:"anchor,omitempty"`
}

// Check returns an error if the state isn't of exactly one optimiser, for example in a damaged
// checkpoint. That optimiser checks the rest when it resumes.
func (s *State) Check() error {
	if s == nil || ((s.Descent != nil) == (s.MMA != nil) && (s.MMA != nil) == (s.Batches != nil)) ||
		(s.Descent != nil && s.MMA != nil) || (s.MMA != nil && s.Batches != nil) {
		return errors.New("it isn't the state of one optimiser")
	}
	return nil
}

// Run says where a training run keeps its state, and to whom it tells its progress.
type Run struct {
	Key string
	// returns the state of the run with this key; nil: the run hasn't begun
	Load func(key string) *State
	Tell func(key string, s *State, iteration int, value float64, stopped string) error
	// gets the number of iterations, if it is known before the run; may be nil
	Of  func(iterations int)
	Box train.Bounds // see In

	Limit  int     // largest number of iterations of L-BFGS; 0: the optimiser's default
	Enough float64 // see train.LBFGS
	Memory int     // see train.LBFGS
	Goes   bool    // the run goes on from where a search ended
}

// In returns the same run, whose parameters must stay in b.
func (r Run) In(b train.Bounds) Run {
	r.Box = b
	return r
}

// part returns the run of a part of the training, whose iterations come after the iterations
// before. all is the number of iterations of all parts.
func (r Run) part(name string, before, all int) Run {
	tell := r.Tell
	of := r.Of
	r.Key += name
	r.Tell = func(key string, s *State, iteration int, value float64, stopped string) error {
		if stopped == train.StepLimit && before+iteration < all {
			stopped = ""
		}
		return tell(key, s, before+iteration, value, stopped)
	}
	if of != nil {
		r.Of = func(int) { of(all) }
	}
	return r
}

// Descent trains with all rows in every step.
type Descent struct {
	MMA         bool // minimise by moving asymptotes instead of L-BFGS
	Evaluations int  // largest number of evaluations; 0: the optimiser's default
}

// minimize minimises from x, or goes on from the run's last state.
// before is the number of earlier iterations.
func (d Descent) minimize(ctx context.Context, run Run, key string, before int,
	problem train.Objective, box train.Bounds, x []float64) (*train.Result, error) {
	if e, ok := problem.(anchored); ok {
		return d.fromAnchors(ctx, run, key, before, e, box, x)
	}
	last := run.Load(key)
	if d.MMA {
		from := train.StartMMA(x)
		if last != nil && last.MMA != nil {
			from = last.MMA.Clone()
		}
		return train.MMA{MaxEvaluations: d.Evaluations}.In(box).Minimize(ctx, problem, from,
			func(s *train.MMAState) error {
				return run.Tell(key, &State{MMA: s.Clone()}, before+s.Iterations,
					s.Value, s.Stopped)
			})
	}
	from := train.Start(x)
	if last != nil && last.Descent != nil {
		from = last.Descent.Clone()
	}
	minimizer := train.LBFGS{Memory: run.Memory, MaxEvaluations: d.Evaluations,
		MaxIterations: cmp.Or(run.Limit, d.Evaluations), Enough: run.Enough}
	return minimizer.In(box).Minimize(ctx, problem, from,
		func(s *train.State) error {
			return run.Tell(key, &State{Descent: s.Clone()}, before+s.Iterations,
				s.Value, s.Stopped)
		})
}

// damaged returns an error if a run to resume has a point or an anchor that doesn't have n
// parameters.
func damaged(key string, n int, x, anchor []float64) error {
	if len(x) != n || len(anchor) != n {
		return fmt.Errorf("the checkpoint is damaged: its run %q has %d parameters and an anchor "+
			"of %d, but the problem has %d", key, len(x), len(anchor), n)
	}
	return nil
}

// far is how far a parameter may move before the preconditioner and the probes' covariance are
// renewed. A factor of two in σ_n² doubles the part of the matrix that the probes' covariance
// misses.
const far = math.Ln2

// farthest is how far a parameter may move from an anchor at all.
// Without this limit a line search tried a point at which a solve took 249 iterations instead of 41
// (4,000 rows of kin40k, se; σ_n² fell from .053 to .008).
const farthest = 1.25 * far

// around returns the part of the box that an anchor's function serves.
func around(anchor []float64, box train.Bounds) train.Bounds {
	b := train.Bounds{Lower: make([]float64, len(anchor)), Upper: make([]float64, len(anchor))}
	for i, v := range anchor {
		b.Lower[i], b.Upper[i] = v-farthest, v+farthest
		if box.Lower != nil {
			b.Lower[i] = max(b.Lower[i], box.Lower[i])
		}
		if box.Upper != nil {
			b.Upper[i] = min(b.Upper[i], box.Upper[i])
		}
	}
	return b
}

// anchored is an objective that conjugate gradients estimate.
// They use a preconditioner and probes made at one point, the anchor.
type anchored interface {
	train.Objective
	Anchor(x []float64) error
}

// fromAnchors minimises by L-BFGS from anchor to anchor. With one anchor the function is smooth.
func (d Descent) fromAnchors(ctx context.Context, run Run, key string, before int, e anchored,
	box train.Bounds, x0 []float64) (*train.Result, error) {
	from := train.Start(x0)
	anchor := x0
	if s := run.Load(key); s != nil && s.Descent != nil {
		from = s.Descent.Clone()
		anchor = s.Anchor
	}
	if err := damaged(key, len(x0), from.X, anchor); err != nil {
		return nil, err
	}
	// The value is accurate to a few digits of a nat, so that smaller gains are noise.
	minimizer := train.LBFGS{ValueTolerance: 1e-6, GradientTolerance: 1e-3,
		MaxEvaluations: d.Evaluations, MaxIterations: d.Evaluations}
	moved := errors.New("far from the anchor")
	isFar := func(x []float64) bool {
		return lists.Where(len(x), func(i int) bool {
			return math.Abs(x[i]-anchor[i]) > far
		}) != nil
	}
	for {
		renew := isFar(from.X)
		if renew {
			anchor = slices.Clone(from.X)
		}
		if err := e.Anchor(anchor); err != nil {
			return nil, &train.StartError{Reason: err}
		}
		if renew {
			// The point is the same on the new function, and the optimiser keeps what it knows of
			// the curvature.
			value, err := e.Evaluate(from.X, from.Gradient)
			if err != nil {
				return nil, err
			}
			from.Value = value
			from.Decrease = 1
			from.Stopped = ""
			from.Evaluations++
		}
		r, err := minimizer.In(around(anchor, box)).Minimize(ctx, e, from,
			func(s *train.State) error {
				from = s.Clone()
				renew := isFar(s.X) && s.Stopped != train.IterationLimit &&
					s.Stopped != train.EvaluationLimit
				if renew {
					from.Stopped = "" // it may have stopped at the end of the anchor's box
				}
				err := run.Tell(key, &State{Descent: from.Clone(), Anchor: anchor},
					before+s.Iterations, s.Value, from.Stopped)
				if err == nil && renew {
					return moved
				}
				return err
			})
		if !errors.Is(err, moved) {
			if r != nil {
				// the anchor's box isn't the run's
				r.AtBound = slices.DeleteFunc(r.AtBound, func(i int) bool {
					return r.X[i] == anchor[i]-farthest || r.X[i] == anchor[i]+farthest
				})
			}
			return r, err
		}
	}
}

// Minimize minimises any objective from x, in the run's box.
func (d Descent) Minimize(ctx context.Context, run Run, problem train.Objective,
	x []float64) (*train.Result, error) {
	return d.minimize(ctx, run, run.Key, 0, problem, run.Box, x)
}

// inStages minimises an objective that changes from stage to stage.
// Each stage goes on from where the last stage ended.
// begin sets the objective to a stage that begins at x, and returns the most evaluations of the
// stage (0: the optimiser's default). If d limits all evaluations, each stage gets an equal part of
// them instead.
func inStages(ctx context.Context, run Run, d Descent, problem train.Objective, box train.Bounds,
	x []float64, stages int, begin func(stage int, x []float64) int) (*train.Result, error) {
	var sum train.Result
	for k := range stages {
		part := d
		part.Evaluations = begin(k, x)
		if d.Evaluations > 0 {
			part.Evaluations = max(d.Evaluations/stages, 1)
		}
		r, err := part.minimize(ctx, run, fmt.Sprintf("%s/%d", run.Key, k+1), sum.Iterations,
			problem, box, x)
		if err != nil {
			return nil, err
		}
		r.Iterations += sum.Iterations
		r.Evaluations += sum.Evaluations
		r.Rejected += sum.Rejected
		sum = *r
		x = r.X
	}
	return &sum, nil
}

// These constants are for training on batches.
// 3,000 steps of 1,000 rows bring a few hundred log-parameters and inducing inputs from their start
// to where the learning rate has died away.
const (
	defaultSteps   = 3000
	defaultSGDRate = 0.1 // the objective is a mean per row, and its gradient is of order one
)

// searches says when a run on batches searches for neighbours, each time with its current
// lengthscales. There are n searches, the k-th at (k/n)² of the steps.
// Searches are closest together at first, when lengthscales move most.
type searches struct {
	n      int
	search func(x []float64) error
}

// before says whether a run of all steps searches for neighbours right after the given number of
// steps.
func (s searches) before(steps, all int) bool {
	return lists.Where(s.n, func(k int) bool { return steps == k*k*all/(s.n*s.n) }) != nil
}

// errSearch ends a part of a run on batches, so that onBatches searches for neighbours.
var errSearch = errors.New("the next search")

// onBatches minimises from x on batches, or goes on from the run's last state, and searches when
// near says so. A run's neighbours follow from its anchor, the point of the last search.
func onBatches(ctx context.Context, run Run, problem train.Stochastic, near searches, a train.Adam,
	box train.Bounds, x []float64) (*train.AdamState, error) {
	a.Box = box
	from := train.StartAdam(x)
	anchor := []float64(nil)
	if last := run.Load(run.Key); last != nil && last.Batches != nil {
		from = last.Batches.Clone()
		anchor = last.Anchor
	}
	// tells how many steps there will be
	if run.Of != nil {
		run.Of(a.Steps)
	}
	for {
		if near.n > 0 {
			if anchor == nil || near.before(from.Steps, a.Steps) {
				anchor = slices.Clone(from.X)
			}
			if err := damaged(run.Key, len(x), from.X, anchor); err != nil {
				return nil, err
			}
			if err := near.search(anchor); err != nil {
				return nil, err
			}
		}
		s, err := a.Minimize(ctx, problem, from, func(s *train.AdamState) error {
			if err := run.Tell(run.Key, &State{Batches: s.Clone(), Anchor: anchor}, s.Steps, s.Mean,
				s.Stopped); err != nil {
				return err
			}
			// errSearch ends the inner run, so that the next one starts with new neighbours.
			if s.Stopped == "" && near.before(s.Steps, a.Steps) {
				return errSearch
			}
			return nil
		})
		if !errors.Is(err, errSearch) {
			return s, err
		}
		from = s
	}
}

// lowest moves the points in ends into the box, and returns the point with the least value on all
// rows. The last point of a run on batches was never evaluated, and may be worse than the first
// point. evaluate may move its argument.
func lowest(s *train.AdamState, box train.Bounds, ends [][]float64,
	evaluate func(x []float64) (float64, error)) (*train.Result, error) {
	r := &train.Result{Iterations: s.Steps, Evaluations: s.Steps + s.Rejected, Rejected: s.Rejected,
		Rejection: s.Rejection, Stopped: s.Stopped}
	var failure error
	for _, x := range ends {
		x = slices.Clone(x)
		for i := range x {
			x[i] = min(max(x[i], box.Lower[i]), box.Upper[i])
		}
		value, err := evaluate(x)
		r.Evaluations++
		// A point that can't be evaluated is left out, as long as another one can.
		if err != nil {
			failure = err
		} else if r.X == nil || value < r.Value {
			r.X = x
			r.Value = value
		}
	}
	if r.X == nil {
		return nil, fmt.Errorf("the objective can't be evaluated on all rows after training on "+
			"batches: %w", failure)
	}
	r.AtBound = box.Ends(r.X)
	return r, nil
}
