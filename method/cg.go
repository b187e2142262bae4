package method

import (
	"context"
	"errors"
	"math"
	"slices"

	"github.com/krigo-gp/krigo/objective"
	"github.com/krigo-gp/krigo/posterior"
	"github.com/krigo-gp/krigo/train"
)

// byCG is an evidence by conjugate gradients.
type byCG struct {
	*objective.IterativeEvidence
	task    Task
	descent Descent
}

// Objective implements Problem.
func (p *byCG) Objective() train.Objective { return p.IterativeEvidence }

// Box implements Problem.
func (p *byCG) Box(x []float64) train.Bounds { return p.task.box(x, true) }

// Start implements Problem.
func (p *byCG) Start(x []float64) ([]float64, error) { return x, nil }

// Posterior implements Problem.
func (p *byCG) Posterior(x []float64) (*posterior.Posterior, []string, error) {
	return p.task.exact(p.task.All, x)
}

// far is how far a parameter may move before the preconditioner and the probes' covariance
// are renewed: a factor of two in σ_n² doubles what the probes' covariance misses of the matrix.
const far = math.Ln2

// Minimize minimises each stretch of the way from an anchor of its own. Between anchors it is the minimisation of
// a smooth function.
func (p *byCG) Minimize(ctx context.Context, run Run, x0 []float64) (*train.Result, error) {
	e := p.IterativeEvidence
	from, anchor := train.Start(x0), x0
	if s := run.Load(run.Key); s != nil && s.Descent != nil {
		from, anchor = s.Descent.Clone(), s.Anchor
	}
	if len(anchor) != len(x0) {
		return nil, errors.New("the checkpoint lacks the anchor of its run: it is damaged")
	}
	e.Context, e.Progress = ctx, p.task.Progress
	// The value is good to a few digits of a nat: steps that gain less are noise.
	minimizer := train.LBFGS{ValueTolerance: 1e-6, GradientTolerance: 1e-3, MaxEvaluations: p.descent.Evaluations, MaxIterations: p.descent.Evaluations}
	moved := errors.New("far from the anchor")
	isFar := func(x []float64) bool {
		for i, v := range x {
			if math.Abs(v-anchor[i]) > far {
				return true
			}
		}
		return false
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
			// The same point on the new function: what is known of the curvature stays.
			value, err := e.Evaluate(from.X, from.Gradient)
			if err != nil {
				return nil, err
			}
			from.Value, from.Decrease, from.Stopped = value, 1, ""
			from.Evaluations++
		}
		r, err := minimizer.Minimize(ctx, e, p.Box(x0), from, func(s *train.State) error {
			from = s.Clone()
			err := run.Tell(run.Key, &State{Descent: s.Clone(), Anchor: anchor}, s.Iterations, s.Value, s.Stopped)
			if err == nil && s.Stopped == "" && isFar(s.X) {
				return moved
			}
			return err
		})
		if !errors.Is(err, moved) {
			return r, err
		}
	}
}
