package krigo

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/krigo-gp/krigo/finding"
)

// folds is the number of parts into which the rows are cut.
const folds = 3

// crossValidate returns the plan with a fixed α.
// It chooses the α with the smallest mean squared error of predictions for left-out rows, summed
// over folds. α shapes only Q, so the certificate pays nothing for the choice.
func (p *plan) crossValidate(ctx context.Context, c *checkpoints) (*plan, error) {
	n := p.n
	order := rand.New(rand.NewPCG(p.options.Run.Seed, 0x666f6c64)).Perm(n)
	best := 0.0
	least := math.Inf(1)
	for _, alpha := range p.choice.Grid() {
		var square float64
		for fold := range folds {
			rows := slices.Concat(order[:fold*n/folds], order[(fold+1)*n/folds:])
			more, err := p.without(ctx, c, alpha, fold, rows, order[fold*n/folds:(fold+1)*n/folds])
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
	chosen := p.at(best, p.share)
	chosen.findings = slices.Clone(p.findings)
	chosen.findings.Add(finding.AlphaByCV, best, folds, math.Sqrt(least/float64(n)),
		p.choice.Grid())
	return chosen, nil
}

// at returns the plan with a fixed α and perhaps with other rows.
func (p *plan) at(alpha float64, rows share) *plan {
	with := *p
	with.choice.Alpha = &alpha
	with.share = rows
	return &with
}

// without trains on the given rows with a fixed α, and returns the errors of its predictions for
// the left-out rows.
func (p *plan) without(ctx context.Context, c *checkpoints, alpha float64, fold int, rows,
	left []int) ([]float64, error) {
	part := p.at(alpha, p.choose(rows))
	f := p.families[0]
	if p.estimate {
		var err error
		if part.all, err = gather(part.rows); err != nil {
			return nil, err
		}
	}
	problem := part.problem(ctx, c, f)
	event := Event{Family: fmt.Sprintf("%s, α = %g without part %d of %d", f.name, alpha, fold+1,
		folds), Start: 1, Starts: 1}
	r, err := problem.Minimize(ctx, c.run(fmt.Sprintf("cv/%g/%d", alpha, fold+1), event),
		part.starts(f, nil)[0])
	if err != nil {
		return nil, err
	}
	q, _, err := problem.Posterior(r.X)
	if err != nil {
		return nil, err
	}
	others := p.choose(left)
	at, err := gather(others.rows)
	if err != nil {
		return nil, err
	}
	mean := make([]float64, others.n)
	q.Latent(at.X, mean, nil)
	for i, m := range mean {
		mean[i] = others.y[i] - m
	}
	return mean, nil
}
