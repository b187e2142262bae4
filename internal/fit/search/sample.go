package search

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/krigo-gp/krigo/finding"
	"github.com/krigo-gp/krigo/internal/fit/ask"
	"github.com/krigo-gp/krigo/internal/fit/deal"
	"github.com/krigo-gp/krigo/internal/fit/plan"
	"github.com/krigo-gp/krigo/internal/lists"
	"github.com/krigo-gp/krigo/method"
	"github.com/krigo-gp/krigo/train"
)

// comparedRows returns how many of n rows compare kernels.
// With 300 of 2,450 rows the RMSE is 8 % higher on protein and 6 % higher on sarcos10k.
func comparedRows(n int) int { return max(300, n/4) }

// nearEach is nearMinimum for each of many rows.
// On 34 tables of 300 to 1,100 prior rows a third of it makes no difference to errors.
// With it, SaratogaHouses takes 41 steps on all rows, and 58 with nearMinimum.
const nearEach = 1e-4

// fewSteps is the number of steps on all rows that show which finalist is better.
const fewSteps = 10

// Train finds the best kernel and its parameters.
// Of many rows, a sample compares the kernels, and all rows train the best one.
func Train(ctx context.Context, p *plan.Plan, c *deal.Checkpoints) (t Trained, err error) {
	some := sampled(p)
	if some == nil {
		return compete(ctx, p, c, t)
	}
	err = c.During(deal.Sample, func() (err error) {
		t, err = compete(ctx, some, c, t)
		return err
	})
	if err != nil {
		return t, err
	}
	t, err = onAllRows(ctx, p, c, t)
	// Few rows may lead where the covariances of all rows aren't positive definite.
	if outside := (*train.StartError)(nil); errors.Is(err, errStuck) || errors.As(err, &outside) {
		// A refit knows no budget, and tries the sample's kernels on all rows.
		c.Begun = time.Time{}
		return compete(ctx, p, c,
			Trained{Tried: t.Tried, Findings: t.Findings.Of(finding.BudgetSpent)})
	}
	return t, err
}

// errStuck says that all rows have less evidence, for each row, than the sample, by more than chance
// explains.
// On 22 of 25 tables they have .05 to 2 nats more. If they have less, training may not have left
// where the sample led it: with a column of 0 and 1 that few rows of the sample have, the RMSE was
// 35 times as high.
var errStuck = errors.New("all rows have less evidence for each row than the sample")

// perRow is the standard deviation of a row's log density under a Gaussian that fits, √½.
// A sample's mean is off by perRow/√rows by chance. Up to twice that says nothing.
// Without this allowance badhealth compared all kernels on 902 rows: 40 CPU s for 11, with the same
// RMSE.
const perRow = math.Sqrt2 / 2

// sampled returns the plan for comparedRows of the rows.
// It returns nil if kernels are compared on all rows: there aren't many more, or training isn't by
// the evidence of a full GP.
// One kernel trains so too, since a budget may leave one, and the model is made again without it.
func sampled(p *plan.Plan) *plan.Plan {
	few := comparedRows(p.N)
	if 4*p.N < 5*few || enough(p) == 0 || p.Sparse() ||
		p.Options.Prior.Kind != "informed" || p.Restarts > 1 || p.Data.Ranks().Size() > 1 {
		return nil
	}
	some := p.Some(lists.Spread(p.N, few))
	some.Of = p.N
	return some
}

// onAllRows trains the finalists of a sample on all rows: a few steps each, and the best of them
// until two steps in a row gain less than nearEach a row.
func onAllRows(ctx context.Context, p *plan.Plan, c *deal.Checkpoints, t Trained) (Trained, error) {
	finalists := t.finalists(p.Options.Labels())
	all := *p
	all.Families = lists.Of(finalists, func(r Run) plan.Family { return r.Family })
	ends := make([]Run, len(finalists))
	for i, r := range finalists {
		var err error
		r.event.Stage = cmp.Or(nth("finalist", i, len(finalists)), "best kernel") + ", all rows"
		if ends[i], err = onward(ctx, &all, c, r, fewSteps); err != nil {
			return t, err
		}
	}
	values := lists.To(len(ends), func(i int) float64 {
		// More rows say about as much more of the parameters of one kernel as of another's.
		paid := 0.
		if nats := finalists[i].nats; nats != nil {
			paid = *nats - finalists[i].Result.Value
		}
		return ends[i].Result.Value + paid + ends[i].Family.Doubt
	})
	order := lists.To(len(ends), func(i int) int { return i })
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(values[a], values[b]) })
	best := straight(&all, order, ends)[0]
	var err error
	if t.Best, err = onward(ctx, &all, c, ends[best], 0); err != nil {
		return t, err
	}
	few := float64(comparedRows(p.N))
	rows := float64(p.N)
	chance := perRow * math.Sqrt(1/few-1/rows)
	if t.Best.Result.Value/rows-finalists[best].Result.Value/few > 2*chance {
		return t, errStuck
	}
	ends[best] = t.Best
	t.All = append(t.All, ends...)
	t.Findings.Add(finding.KernelsOnSome, comparedRows(p.N), p.N, t.Best.Family.Name)
	return t, nil
}

// finalists returns the runs of a sample that go on to all rows: the best, the best of the kernels
// without a line, and for labels the linear kernel.
// A weak function that few rows don't show may leave a line alone, from which training on all rows
// doesn't come back (protein, 560 rows: the RMSE is 13 % higher without a second finalist).
func (t Trained) finalists(labels bool) []Run {
	all := []Run{t.Best}
	add := func(r Run) {
		if r.Result != nil && !slices.ContainsFunc(all, func(o Run) bool { return o.key == r.key }) {
			all = append(all, r)
		}
	}
	add(t.plain)
	for _, r := range t.All {
		if labels && r.Family.Of == ask.AutoLinear {
			add(r)
		}
	}
	return all
}

// onward trains a kernel on all rows for at most the given number of steps (0: to the end).
// It starts where training on the sample ended, with the curvature that training met there, or goes
// on from its own last step.
func onward(ctx context.Context, p *plan.Plan, c *deal.Checkpoints, r Run, steps int) (Run, error) {
	sample := c.Run(deal.Sample+r.key, r.event)
	run := c.Run("all rows/"+r.key, r.event)
	more := float64(p.N) / float64(comparedRows(p.N))
	load := run.Load
	run.Load = func(key string) *method.State {
		own := load(key)
		if s := sample.Load(sample.Key); own == nil && s != nil {
			own = &method.State{Descent: s.Descent.Onward(more)}
		}
		return own
	}
	run.Goes = true
	run.Memory = memory(p)
	run.Limit = steps
	run.Enough = nearEach * float64(p.N)
	result, err := p.Problem(ctx, c, r.Family).Minimize(ctx, run, r.Result.X)
	if err != nil {
		return r, fmt.Errorf("%s on all rows: %w", r.Family.Name, err)
	}
	r.Result = result
	return r, cmp.Or(ctx.Err(), p.Rows.Err())
}
