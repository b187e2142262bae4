package search

import (
	"cmp"
	"context"
	"os"
	"slices"
	"strconv"

	"github.com/krigo-gp/krigo/finding"
	"github.com/krigo-gp/krigo/internal/fit/ask"
	"github.com/krigo-gp/krigo/internal/fit/deal"
	"github.com/krigo-gp/krigo/internal/fit/plan"
	"github.com/krigo-gp/krigo/internal/lists"
	"github.com/krigo-gp/krigo/method"
)

// comparedRows is the most rows on which kernels are compared.
var comparedRows = env("KRIGO_SCREEN", 300)

func env(name string, value int) int {
	if v, err := strconv.Atoi(os.Getenv(name)); err == nil {
		return v
	}
	return value
}

// sampled returns the plan for comparedRows of the rows, or nil if kernels are compared on all
// rows: there are few rows, one kernel, or training isn't by the evidence of a full GP.
func sampled(p *plan.Plan) *plan.Plan {
	if p.N < comparedRows*5/4 || enough(p) == 0 || len(p.Families) < 2 || !sideBySide(p) ||
		p.Options.Prior.Kind != "informed" || p.Restarts > 1 {
		return nil
	}
	rows := Spread(p.N, comparedRows)
	some := *p
	some.Share = p.Choose(rows)
	some.All = p.All.Some(rows)
	some.Sampled = true
	return &some
}

// onAllRows trains the kernel that was the best on a sample of the rows, from where its training
// on the sample ended.
func onAllRows(ctx context.Context, p *plan.Plan, c *deal.Checkpoints, t Trained) (Trained, error) {
	all := *p
	best := t.Best
	all.Families = []plan.Family{best.Family}
	t.Findings.Add(finding.KernelsOnSome, comparedRows, p.N)
	finalists := []Run{best}
	if p.Options.Labels() {
		for _, r := range t.All {
			if r.Family.Of == ask.AutoLinear && best.Family.Of != ask.AutoLinear {
				finalists = append(finalists, r)
			}
		}
	}
	found := make([]Run, len(finalists))
	all.Families = lists.Of(finalists, func(r Run) plan.Family { return r.Family })
	for i, r := range finalists {
		event := r.event
		event.Stage = "best kernel on all rows"
		run := c.Run(r.key+"/all", event)
		load := run.Load
		run.Load = func(key string) *method.State {
			if own := load(key); own != nil {
				return own
			}
			found := load(c.Stage + deal.Sample + r.key)
			if found == nil || found.Descent == nil || env("KRIGO_ONWARD", 1) == 0 {
				return nil
			}
			more := float64(p.N) / float64(comparedRows)
			return &method.State{Descent: found.Descent.Onward(more)}
		}
		run.Goes = true
		run.Memory = memory(p)
		run.Enough = nearMinimum * float64(p.N) / float64(comparedRows)
		var err error
		if r.Result, err = all.Problem(ctx, c, r.Family).Minimize(ctx, run, r.Result.X); err != nil {
			return t, err
		}
		found[i] = r
		t.All = append(t.All, r)
	}
	order := []int{0, 1}[:len(found)]
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(found[a].Result.Value, found[b].Result.Value) })
	best = found[straight(&all, order, found)[0]]
	t.Best = best
	return t, cmp.Or(ctx.Err(), p.Rows.Err())
}
