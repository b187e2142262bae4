package search

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/krigo-gp/krigo/finding"
	"github.com/krigo-gp/krigo/fitting"
	"github.com/krigo-gp/krigo/internal/fit/deal"
	"github.com/krigo-gp/krigo/internal/fit/plan"
	"github.com/krigo-gp/krigo/internal/linalg"
)

// folds is the number of parts into which the rows are cut.
const folds = 3

// CrossValidate returns the plan with a fixed α.
// It chooses the α with the smallest mean squared error of predictions for left-out rows, summed
// over folds. α shapes only Q, so the certificate pays nothing for the choice.
func CrossValidate(ctx context.Context, p *plan.Plan, c *deal.Checkpoints) (*plan.Plan, error) {
	order := rand.New(rand.NewPCG(p.Options.Run.Seed, 0x666f6c64)).Perm(p.N)
	best := 0.0
	least := math.Inf(1)
	for _, alpha := range p.Choice.Grid() {
		var square float64
		// Each α trains once without each fold.
		for fold := range folds {
			rows := slices.Concat(order[:fold*p.N/folds], order[(fold+1)*p.N/folds:])
			more, err := without(ctx, p, c, alpha, fold, rows,
				order[fold*p.N/folds:(fold+1)*p.N/folds])
			if err != nil {
				return nil, err
			}
			for _, e := range more {
				square += e * e
			}
		}
		if square < least {
			best = alpha
			least = square
		}
	}
	chosen := at(p, best, p.Share)
	chosen.Findings = slices.Clone(p.Findings)
	chosen.Findings.Add(finding.AlphaByCV, best, folds, math.Sqrt(least/float64(p.N)),
		p.Choice.Grid())
	return chosen, nil
}

// at returns the plan with a fixed α and perhaps with other rows.
func at(p *plan.Plan, alpha float64, rows deal.Share) *plan.Plan {
	with := *p
	with.Choice.Alpha = &alpha
	with.Share = rows
	return &with
}

// without trains on the given rows with a fixed α, and returns the errors of its predictions for
// the left-out rows.
func without(ctx context.Context, p *plan.Plan, c *deal.Checkpoints, alpha float64, fold int, rows,
	left []int) ([]float64, error) {
	part := at(p, alpha, p.Choose(rows))
	f := p.Families[0]
	if p.Estimate {
		var err error
		if part.All, err = deal.Gather(part.Rows); err != nil {
			return nil, err
		}
	}
	problem := part.Problem(ctx, c, f)
	event := fitting.Event{Family: fmt.Sprintf("%s, α = %g without part %d of %d", f.Name,
		alpha, fold+1, folds), Start: 1, Starts: 1}
	r, err := problem.Minimize(ctx, c.Run(fmt.Sprintf("cv/%g/%d", alpha, fold+1), event),
		part.Starts(f, nil)[0])
	if err != nil {
		return nil, err
	}
	q, _, err := problem.Posterior(r.X)
	if err != nil {
		return nil, err
	}
	others := p.Choose(left)
	at, err := deal.Gather(others.Rows)
	if err != nil {
		return nil, err
	}
	mean := make([]float64, others.N)
	q.Latent(at.X, mean, nil)
	linalg.Minus(others.Y, mean)
	return mean, nil
}
