package method

import (
	"context"

	"github.com/krigo-gp/krigo/finding"
	"github.com/krigo-gp/krigo/objective"
	"github.com/krigo-gp/krigo/posterior"
	"github.com/krigo-gp/krigo/train"
)

// byCG is the problem of an evidence that conjugate gradients estimate.
type byCG struct {
	*objective.IterativeEvidence
	plain
	descent Descent
}

var _ Problem = (*byCG)(nil)

func (p *byCG) Diagnostics() Diagnostics {
	return Diagnostics{StandardError: &p.StandardError, GradientErrors: p.GradientErrors}
}

func (p *byCG) Posterior(x []float64) (*posterior.Posterior, finding.List, error) {
	return p.task.exact(p.task.All, x)
}

func (p *byCG) Minimize(ctx context.Context, run Run, x0 []float64) (*train.Result, error) {
	p.Context, p.Progress = ctx, p.task.Progress
	return p.descent.Minimize(ctx, run.In(p.Box(x0)), p.IterativeEvidence, x0)
}
