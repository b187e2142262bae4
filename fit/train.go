package fit

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"

	"github.com/krigo-gp/krigo/train"
)

// train minimises from every starting point of every family and returns the run with
// the lowest value, and all of them. The families come one after another, so that
// ARD can start from what one lengthscale for all inputs found.
func (p *prepared) train(ctx context.Context, o Options, families []family, c *checkpoints) (best run, all []run, err error) {
	if err := p.checkInit(o, families); err != nil {
		return best, nil, err
	}
	total := len(families) * o.Restarts
	if o.PosteriorFree {
		total++
		o.PosteriorFree = false // the collapsed optimum comes first
	}
	for fi, f := range families {
		starts := p.starts(o, f, best.result)
		results := make([]*train.Result, len(starts))
		errs := make([]error, len(starts))
		// Several small fits side by side keep the cores busier than one; large ones
		// would only double the memory.
		limit := 1
		if p.inducing == 0 && p.n <= 1500 && !p.trainsByCG(o) {
			limit = runtime.GOMAXPROCS(0)
		}
		slots := make(chan struct{}, limit)
		var done sync.WaitGroup
		for si, x0 := range starts {
			slots <- struct{}{} // in order: ranks have to take the same start
			done.Go(func() {
				defer func() { <-slots }()
				key := fmt.Sprintf("%s/%d", f.name, si+1)
				event := Event{Family: f.name, Start: fi*o.Restarts + si + 1, Starts: total}
				if p.inducing == 0 && !o.onBatches() {
					event.Solver = p.solver
				}
				problem := p.problem(o, f, len(families))
				x, err := problem.Start(x0)
				if errs[si] = err; err == nil {
					results[si], errs[si] = problem.Minimize(ctx, c.run(key, event), x)
				}
			})
		}
		done.Wait()
		if ctx.Err() != nil {
			return best, nil, ctx.Err()
		}
		if err := p.rows.Err(); err != nil { // a step that wasn't taken for that isn't the objective's
			return best, nil, err
		}
		for si, r := range results {
			// A start may lie outside the objective's domain; all of them may not, and no
			// other error may pass, since without the run the result would be another.
			var outside *train.StartError
			switch {
			case errs[si] == nil:
				all = append(all, run{fi, r})
				if best.result == nil || r.Value < best.result.Value {
					best = run{fi, r}
				}
			case !errors.As(errs[si], &outside):
				return best, nil, errs[si]
			case !slices.Contains(errs, nil):
				return best, nil, fmt.Errorf("training %s failed from every starting point: %w", f.name, outside.Reason)
			default:
				p.notices = append(p.notices, fmt.Sprintf("start %d of %s lies outside the objective's domain: %v", si+1, f.name, outside.Reason))
			}
		}
	}
	return best, all, nil
}
