package krigo

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/krigo-gp/krigo/finding"
	"github.com/krigo-gp/krigo/matrix"
	"github.com/krigo-gp/krigo/model"
	"github.com/krigo-gp/krigo/train"
)

// trained holds what training found.
type trained struct {
	best     run
	all      []run
	findings finding.List
	tried    []string // expressions of the kernels that were tried, if the budget ended too early for all
}

// train minimises from every starting point of every family. The families come one after another, so that ARD can
// start where the kernel with one lengthscale ended.
func (p *plan) train(ctx context.Context, c *checkpoints) (t trained, err error) {
	found := make([]*train.Result, len(p.families)) // the best run of each family
	var failed error
	begun, tried := time.Now(), p.families
	for fi, f := range p.families {
		if t.best.result != nil && f.of != p.families[fi-1].of {
			spent, err := p.spent(time.Since(begun), fi)
			if err != nil {
				return t, err
			}
			if spent {
				tried = p.families[:fi]
				all := p.options.Kernel.expressions()
				t.tried = all[:slices.Index(all, f.of)]
				t.findings.Add(finding.BudgetSpent, p.options.Run.Budget, len(t.tried), len(all), f.of)
				break
			}
		}
		starts := p.starts(f, p.before(fi, found))
		results, errs := p.descend(ctx, c, fi, starts)
		if ctx.Err() != nil {
			return t, ctx.Err()
		}
		if err := p.rows.Err(); err != nil { // the objective of an interrupted step would be wrong
			return t, err
		}
		for si, r := range results {
			// A single start may lie outside the objective's domain, but not all starts. Any other error ends training,
			// because the result would be different without the run.
			var outside *train.StartError
			switch {
			case errs[si] == nil:
				t.all = append(t.all, run{f, r})
				if found[fi] == nil || r.Value < found[fi].Value {
					found[fi] = r
				}
				if t.best.result == nil || r.Value < t.best.result.Value {
					t.best = run{f, r}
				}
			case !errors.As(errs[si], &outside):
				return t, errs[si]
			default:
				failed = cmp.Or(failed, fmt.Errorf("training %s failed from every starting point: %w", f.name, outside.Reason))
				t.findings.Add(finding.StartOutside, si+1, f.name, outside.Reason)
			}
		}
	}
	if t.best.result == nil {
		return t, failed
	}
	by := finding.KernelByValue
	if best, ok, err := p.mostEvidence(ctx, found); err != nil {
		return t, err
	} else if ok {
		t.best, by = best, finding.KernelByEvidence
	}
	if len(tried) > 2 {
		var names []string
		for _, f := range tried {
			names = append(names, f.name)
		}
		t.findings.Add(by, t.best.family.name, names)
	}
	return t, nil
}

// spent says whether the budget has no room for another family, after the first families took elapsed. Ranks use the
// first rank's clock.
func (p *plan) spent(elapsed time.Duration, families int) (bool, error) {
	budget := p.options.Run.Budget
	if budget == 0 {
		return false, nil
	}
	over := []float64{0}
	if r := p.data.Ranks(); r.Rank() == 0 && elapsed+elapsed/time.Duration(families) > budget {
		over[0] = 1
	}
	err := p.data.Ranks().Sum(over)
	return over[0] > 0, err
}

// mostEvidence compares the families' results by the evidence with parameters integrated out, if the parameters have
// a prior density. The objective itself is the density at its mode. It falls with every parameter, whether or not the
// rows say anything about the parameter.
func (p *plan) mostEvidence(ctx context.Context, found []*train.Result) (best run, ok bool, err error) {
	var order []int // lowest objective first, which saves most second derivatives
	for i, r := range found {
		if r != nil {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(found[a].Value, found[b].Value) })
	if len(order) < 2 {
		return best, false, nil
	}
	least := math.Inf(1)
	for _, i := range order {
		marginal := p.problem(ctx, nil, p.families[i]).Diagnostics().Marginal
		if marginal == nil {
			return best, false, nil
		}
		if err := ctx.Err(); err != nil {
			return best, false, err
		}
		// a point beside the mode may lie outside the objective's domain
		if v, err := marginal(found[i].X, least); err == nil && v < least {
			best, least, ok = run{p.families[i], found[i]}, v, true
		}
	}
	return best, ok, nil
}

// before returns an earlier family's result from which this family may start, or nil. It is the result for the same
// kernel with one lengthscale. If no kernel is trained, any earlier result will do. Parameters of another kernel mean
// something else.
func (p *plan) before(family int, found []*train.Result) (best *train.Result) {
	f := p.families[family]
	for i, r := range found[:family] {
		if r != nil && (f.gridParams() == 0 || f.name == ardName(p.families[i].name)) &&
			(best == nil || r.Value < best.Value) {
			best = r
		}
	}
	return best
}

// descend minimises from all starts of a family.
func (p *plan) descend(ctx context.Context, c *checkpoints, family int, starts [][]float64) ([]*train.Result, []error) {
	f, total := p.families[family], len(p.families)*p.restarts
	if p.choice.Free() {
		total++
	}
	results, errs := make([]*train.Result, len(starts)), make([]error, len(starts))
	// Several small fits at once keep the cores busier than one fit. Large fits would only double the memory. Ranks
	// do one fit at a time, because they must meet in the same steps.
	limit := 1
	if p.data.Ranks().Size() == 1 && !p.sparse() && p.n <= 1500 && !p.trainsByCG() {
		limit = runtime.GOMAXPROCS(0)
	}
	slots := make(chan struct{}, limit)
	var done sync.WaitGroup
	for si, x0 := range starts {
		slots <- struct{}{} // in order, so that all ranks take the same start
		done.Go(func() {
			defer func() { <-slots }()
			defer matrix.Ended(&errs[si])
			event := Event{Family: f.name, Start: family*p.restarts + si + 1, Starts: total}
			if !p.sparse() && !p.choice.OnBatches() {
				event.Solver = p.choice.Solver
			}
			problem := p.problem(ctx, c, f)
			x, err := problem.Start(x0)
			if errs[si] = err; err == nil {
				results[si], errs[si] = problem.Minimize(ctx, c.run(fmt.Sprintf("%s/%d", f.name, si+1), event), x)
			}
		})
	}
	done.Wait()
	return results, errs
}

// run is the training from one starting point.
type run struct {
	family family
	result *train.Result
}

// count adds up the work of the runs, and the time since begun.
func count(t *model.Training, runs []run, begun time.Time) {
	for _, r := range runs {
		t.Starts++
		t.Iterations += r.result.Iterations
		t.Evaluations += r.result.Evaluations
	}
	t.Seconds = time.Since(begun).Seconds()
}
