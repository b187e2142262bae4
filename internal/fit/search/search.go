// Package search carries out a plan: it minimises the objective from every starting point of every
// kernel, and chooses the best run. It also chooses the transform of the target, noise that varies
// or has heavy tails, α, and the digits of a mixed grid.
package search

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/krigo-gp/krigo/finding"
	"github.com/krigo-gp/krigo/fitting"
	"github.com/krigo-gp/krigo/internal/fit/ask"
	"github.com/krigo-gp/krigo/internal/fit/deal"
	"github.com/krigo-gp/krigo/internal/fit/plan"
	"github.com/krigo-gp/krigo/internal/linalg"
	"github.com/krigo-gp/krigo/internal/lists"
	"github.com/krigo-gp/krigo/matrix"
	"github.com/krigo-gp/krigo/method"
	"github.com/krigo-gp/krigo/model"
	"github.com/krigo-gp/krigo/posterior"
	"github.com/krigo-gp/krigo/train"
)

// Trained holds what training found.
type Trained struct {
	Best     Run
	All      []Run
	Findings finding.List
	failed   error // why the first start failed that did
	plain    Run   // the best run before further kernels were tried, if its evidence is known
	compared []Run // the best run of each family that an average may have, the best first
	// expressions of the kernels that were tried, if the budget ended too early for all
	Tried   []string
	longest time.Duration // the longest training of one kernel
}

// compete minimises from every starting point of every family, and chooses the best run.
// The rough runs of a race, and of a search for the best start, go on to the end only if they may
// be the best. t has the kernels that an earlier search had time for, if its budget ended.
func compete(ctx context.Context, p *plan.Plan, c *deal.Checkpoints,
	t Trained) (_ Trained, err error) {
	found, err := search(ctx, p, c, &t)
	if err != nil || t.Best.Result == nil {
		return t, cmp.Or(err, t.failed)
	}
	// Contenders are the families that may still be the best, and by says what compares them.
	first, by, err := contenders(ctx, p, c, found)
	if err == nil && by == finding.KernelByEvidence && p.Options.Prior.Kind == "informed" {
		t.plain = found[first[0]]
		if t.Tried == nil {
			// If the kernels see one of k rows, what follows them took 1, 1.4, 4, 5, 6, 6, 6, 9 and 27
			// times as long as the longest kernel on nine tables, and k²/2 was 2.6 to 8.
			// Leaving out one of the first kernels for it saved no time on two of three tables.
			further := plan.Further(p.Options, found[first[0]].Family, p.Inputs(), p.N)
			if len(further) > 0 {
				k := float64(p.Of) / float64(p.N)
				_, err = t.stops(p, c, time.Duration((float64(len(further))+k*k/2)*
					float64(t.longest)), further[0].Of)
			}
			for i := 0; i < len(further) && err == nil && t.Tried == nil; i++ {
				f := further[i]
				if p, found, err = try(ctx, p, c, &t, found, f, p.Starts(f, nil)[0],
					*found[first[0]].nats); err != nil {
					return t, err
				}
				if first, by, err = contenders(ctx, p, c, found); err != nil {
					return t, err
				}
			}
		}
	}
	averages := by == finding.KernelByEvidence && p.Options.Averages() && p.Of == 0
	if averages {
		t.compared = candidates(ctx, p, c, found, first[0])
		first = first[:1]
	}
	if err == nil && (by == finding.KernelByRace || (enough(p) > 0 && p.Of == 0)) {
		first, err = toEnd(ctx, p, c, &t, found, first)
	}
	if err != nil {
		return t, err
	}
	t.Best = found[first[0]]
	if averages {
		t.compared[0].Result = t.Best.Result
	}
	if len(found) > 2 {
		names := lists.Of(p.Families[:len(found)], func(f plan.Family) string { return f.Name })
		if by == finding.KernelByRace {
			t.Findings.Add(by, len(names), t.Best.Family.Name, names)
		} else {
			t.Findings.Add(by, t.Best.Family.Name, names)
		}
	}
	return t, nil
}

// try adds a family to the families, and its run from x to the best runs.
// nats is −ln of the largest evidence so far.
// The kernel steps has many parameters. So its run ends after stepsTrial iterations if it has
// little chance by then.
func try(ctx context.Context, p *plan.Plan, c *deal.Checkpoints, t *Trained, found []Run,
	f plan.Family, x []float64, nats float64) (*plan.Plan, []Run, error) {
	q := *p
	q.Families = append(slices.Clone(p.Families[:len(found)]), f)
	runs, errs := descend(ctx, &q, c, len(found), [][]float64{x}, "further kernel")
	if f.Of == ask.AutoSteps && errs[0] == nil && ctx.Err() == nil {
		if peak := q.Problem(ctx, c,
			f).Diagnostics().Peak; runs[0].Result.Value-peak > nats-stepsLead*f.Doubt {
			return p, found, take(ctx, &q, t, runs, errs)
		}
		runs[0], errs[0] = polish(ctx, &q, c, runs[0], "/more", enough(&q))
	}
	return &q, append(found, runs...), take(ctx, &q, t, runs, errs)
}

// search minimises from every starting point of every family, and returns the best run of each
// family. If the budget ends, later families are left out.
// Kernels are trained side by side where cores are free.
// The families of a kernel come one after another, so that ARD can start where the kernel with one
// lengthscale ended.
func search(ctx context.Context, p *plan.Plan, c *deal.Checkpoints, t *Trained) ([]Run, error) {
	found := make([]Run, len(p.Families))
	results := make([][]Run, len(found))
	errs := make([][]error, len(found))
	var kernels [][2]int // the first family of each kernel, and the first family of the next
	for from, to := 0, 0; from < len(found); from = to {
		for to = from + 1; to < len(found) && p.Families[to].Of == p.Families[from].Of; to++ {
		}
		kernels = append(kernels, [2]int{from, to})
	}
	descend := func(k int) {
		from := kernels[k][0]
		to := kernels[k][1]
		for fi := from; fi < to && ctx.Err() == nil; fi++ {
			starts := p.Starts(p.Families[fi], before(p.Families[fi], found[from:fi]))
			results[fi], errs[fi] = descend(ctx, p, c, fi, starts, nth("kernel", fi, len(found)))
			for _, r := range results[fi] {
				found[fi] = found[fi].lower(r)
			}
		}
	}
	// With a budget, kernels come one after another, because the time that is left decides whether
	// each is tried.
	ahead := p.Options.Run.Budget == 0 && sideBySide(p)
	if ahead {
		linalg.Parallel(len(kernels), descend)
	}
	for k, families := range kernels {
		from := families[0]
		of := p.Families[families[0]].Of
		at := time.Now()
		if t.Best.Result != nil && !ahead {
			next := t.longest
			if races(ctx, p) {
				next = (1 + raceEnd) * t.longest
			}
			if stops, err := t.stops(p, c, next, of); err != nil || stops {
				return found[:from], err
			}
		}
		if !ahead {
			descend(k)
		}
		t.longest = max(t.longest, time.Since(at))
		// Results are taken in the order of families, whichever was ready first.
		for fi := from; fi < families[1]; fi++ {
			if err := take(ctx, p, t, results[fi], errs[fi]); err != nil {
				return nil, err
			}
		}
	}
	return found, nil
}

// toEnd minimises the runs of the first families to the end, and returns the best of these families
// first. It puts the ends in found and in t.All.
func toEnd(ctx context.Context, p *plan.Plan, c *deal.Checkpoints, t *Trained, found []Run,
	first []int) ([]int, error) {
	ends := make([]Run, len(found))
	errs := make([]error, len(found))
	each(len(first), sideBySide(p) && !races(ctx, p), func(k int) {
		run := found[first[k]]
		if run.event.Stage = ""; len(found) > 1 {
			run.event.Stage = "best " + cmp.Or(nth("kernel", k, len(first)), "kernel")
		}
		ends[first[k]], errs[first[k]] = polish(ctx, p, c, run, "/end", 0)
	})
	if err := cmp.Or(errs...); err != nil {
		return nil, err
	}
	for _, i := range first {
		t.All[slices.IndexFunc(t.All, func(r Run) bool {
			return r.Result == found[i].Result
		})] = ends[i]
	}
	// Runs that weren't minimised to the end become empty, and contenders ignores them.
	copy(found, ends)
	if len(first) == 1 {
		return first, nil
	}
	if races(ctx, p) {
		return first, judge(ctx, p, found, first)
	}
	first, _, err := contenders(ctx, p, c, found)
	return first, err
}

// judge sorts the families that were trained to the end of a race, the best first.
func judge(ctx context.Context, p *plan.Plan, found []Run, first []int) (err error) {
	values := make([]float64, len(found))
	for _, i := range first {
		if values[i], err = p.Problem(ctx, nil, p.Families[i]).(method.Racer).Judge(
			found[i].Result.X); err != nil {
			return err
		}
	}
	slices.SortStableFunc(first, func(a, b int) int { return cmp.Compare(values[a], values[b]) })
	return ctx.Err()
}

// take adds the runs of a family to t. A single start may lie outside the objective's domain, but
// not all starts. Any other error ends training, because the result would be different without the
// run.
func take(ctx context.Context, p *plan.Plan, t *Trained, runs []Run, errs []error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err := p.Rows.Err(); err != nil { // the objective of an interrupted step would be wrong
		return err
	}
	for si, r := range runs {
		var outside *train.StartError
		switch {
		case errs[si] == nil:
			t.All = append(t.All, r)
			t.Best = t.Best.lower(r)
		case !errors.As(errs[si], &outside):
			return errs[si]
		default:
			t.failed = cmp.Or(t.failed,
				fmt.Errorf("training %s failed from every starting point: %w", r.Family.Name,
					outside.Reason))
			t.Findings.Add(finding.StartOutside, si+1, r.Family.Name, outside.Reason)
		}
	}
	return nil
}

// races says whether the families race. Each is trained for a few steps, and only the best of them
// to the end. If users ask for several starts or a number of steps, every family is trained to the
// end.
func races(ctx context.Context, p *plan.Plan) bool {
	if !p.Choice.Kind().Local || p.Restarts > 1 || len(p.Families) < 2 {
		return false
	}
	r, can := p.Problem(ctx, nil, p.Families[0]).(method.Racer)
	return can && r.Races()
}

// raceEnd is how much longer the ends of a race take than the longest part of a kernel.
// An end was 3.4 times as long as the kernel's part for kin40k with se, and 6.7 times for bike with
// matern32*matern12. Two kernels may be alike.
const raceEnd = 10

// nearMinimum is how little, in nats, two iterations in a row may gain before the search for the
// best start leaves a start. With 0.01 the search of 18 splits of UCI sets took 2,487 evaluations,
// and 5,667 to the end. It chose another kernel in 5 splits, where the evidence of the two kernels
// differed by at most 0.2 nats.
const nearMinimum = 0.01

// enough returns nearMinimum if the search for the best start is to stop there, or 0 if all starts
// are minimised to the end.
func enough(p *plan.Plan) float64 {
	if c := p.Choice; c.Kind().Exact && c.Optimizer == "lbfgs" && c.Solver == posterior.ByCholesky {
		return nearMinimum
	}
	return 0
}

// longMemory is how many steps L-BFGS keeps if a step costs far more than keeping it does.
// With 40 instead of 10 the default fits of ten folds of six UCI sets take 8,272 evaluations
// instead of 10,037. The additive kernel, with twice as many lengthscales as inputs, takes 247
// instead of 534 on 1,000 drawn rows.
const longMemory = 40

// memory returns L-BFGS's memory for this plan, or 0 for the usual one.
func memory(p *plan.Plan) int {
	if enough(p) > 0 {
		return longMemory
	}
	return 0
}

// polish minimises on, from where the search ended: to the end, or to what is enough for a search.
// It keeps the search's own state, so that a resumed fit makes the same choice.
// A racer goes on from its own state.
func polish(ctx context.Context, p *plan.Plan, c *deal.Checkpoints, best Run, part string,
	enough float64) (Run, error) {
	search := c.Run(best.key, best.event)
	last := c.Run(best.key+part, best.event)
	last.Goes = true
	last.Enough = enough
	last.Load = func(key string) *method.State {
		return cmp.Or(search.Load(key), search.Load(search.Key))
	}
	if races(ctx, p) {
		last = search
	}
	last.Memory = memory(p)
	best.nats = nil
	best.key += part
	var err error
	if best.Result, err = p.Problem(ctx, c, best.Family).Minimize(ctx, last,
		best.Result.X); err != nil {
		return best, err
	}
	return best, cmp.Or(ctx.Err(), p.Rows.Err())
}

// stops says whether the budget has no room for what takes the given time, from the kernel `of` on.
// It then sets Tried, which decides from then on. Ranks use the first rank's clock.
func (t *Trained) stops(p *plan.Plan, c *deal.Checkpoints, next time.Duration,
	of string) (bool, error) {
	budget := p.Options.Run.Budget
	if budget == 0 || c.Begun.IsZero() {
		return t.Tried != nil && !slices.Contains(t.Tried, of), nil
	}
	over := []float64{0}
	if r := p.Data.Ranks(); r.Rank() == 0 && time.Since(c.Begun)+next > budget {
		over[0] = 1
	}
	if err := p.Data.Ranks().Sum(over); err != nil || over[0] == 0 {
		return false, err
	}
	all := ask.Expressions(p.Options.Kernel, p.Options.Auto(p.Inputs()))
	if !slices.Contains(all, of) { // a kernel that is tried after all others
		all = append(all, of)
	}
	t.Tried = all[:slices.Index(all, of)]
	t.Findings.Add(finding.BudgetSpent, budget, len(t.Tried), len(all), of)
	return true, nil
}

// tied is how near, in nats, the evidence of two kernels is if only the ends of their training tell
// which is larger.
// Up to nearMinimum the evidence was off by up to 0.2 nats, and the difference of boston's two best
// by 0.08.
const tied = 0.1

// raceTied is how near, in nats a row, two kernels are if only their ends tell which predicts
// better. On kin40k se is before rq by .0035, and behind by .006 at the end (RMSE .0797 and .0794).
// On sml the best two differ by .0015, on pol by .007, on protein by .015, and on bike, traffic,
// sarcos10k and parkinsons by .07 to .1. A product of kernels is no second best.
// Its end takes 17 CPU s on pol, where the best kernel stays the best, and 12 on protein.
const raceTied = 0.02

// After stepsTrial iterations steps must be ahead by stepsLead times its doubt, if what it learnt
// about its parameters cost nothing. What it still gains is then about what it pays for them.
const (
	stepsTrial = 15
	stepsLead  = 1.5
)

// straight returns the linear kernel alone, or all other families, if targets are labels.
// order begins with the lowest objective.
func straight(p *plan.Plan, order []int, found []Run) []int {
	at := slices.IndexFunc(order, func(i int) bool { return p.Families[i].Of == ask.AutoLinear })
	if !p.Options.Labels() || at < 0 || len(order) < 2 {
		return order
	}
	others := slices.Delete(slices.Clone(order), at, at+1)
	if found[order[at]].Result.Value+plan.LabelDoubt <= found[others[0]].Result.Value {
		return order[at : at+1]
	}
	return others
}

// contenders returns the numbers of the families with the most evidence with parameters integrated
// out, the best first, if the parameters have a prior density.
// It leaves rq out if se has as much evidence. The objective itself is the density at its mode.
// It falls with every parameter, whether or not the rows say anything about the parameter.
// Without a prior density, the family with the least objective is the only contender.
func contenders(ctx context.Context, p *plan.Plan, c *deal.Checkpoints,
	found []Run) (first []int, by finding.Kind, err error) {
	// lowest objective first, which saves most second derivatives
	order := lists.Where(len(found), func(i int) bool { return found[i].Result != nil })
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Compare(found[a].Result.Value, found[b].Result.Value)
	})
	if races(ctx, p) {
		last := found[order[0]].Result.Value + raceTied*float64(p.N)
		alike := 1
		if len(order) > 1 && found[order[1]].Result.Value <= last &&
			!strings.Contains(p.Families[order[1]].Of, "*") {
			alike = 2
		}
		return order[:min(len(order), alike)], finding.KernelByRace, nil
	}
	order = straight(p, order, found)
	if len(order) < 2 {
		return order, finding.KernelByValue, nil
	}
	least := math.Inf(1)
	values := make([]float64, len(found))
	for _, i := range order {
		marginal := p.Problem(ctx, c, p.Families[i]).Diagnostics().Marginal
		if marginal == nil {
			return order[:1], finding.KernelByValue, nil
		}
		if err := ctx.Err(); err != nil {
			return nil, by, err
		}
		// a point beside the mode may lie outside the objective's domain
		if found[i].nats == nil {
			nats, err := marginal(found[i].Result, least+tied-p.Families[i].Doubt)
			if err != nil {
				nats = math.Inf(1)
			}
			found[i].nats = &nats
		}
		values[i] = *found[i].nats + p.Families[i].Doubt
		least = min(least, values[i])
	}
	if math.IsInf(least, 1) {
		return order[:1], finding.KernelByValue, nil
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(values[a], values[b]) })
	// rq with an infinite α is se. It takes many steps to get there, 36 on 700 drawn rows.
	simpler := func(i int) bool {
		return slices.ContainsFunc(order, func(j int) bool {
			as := strings.ReplaceAll(p.Families[i].Name, "rq", "se")
			return i != j && values[j] <= values[i] && as == p.Families[j].Name
		})
	}
	first = lists.If(order, func(i int) bool { return values[i] <= least+tied && !simpler(i) })
	return first, finding.KernelByEvidence, nil
}

// candidates returns the best run of each family with −ln of its evidence and its doubt, the best
// first. best is the number of the best family.
// A family whose evidence wasn't worth computing gets an estimate: its objective, and what the best
// family pays for its parameters. With second derivatives of all families, 31 splits have 3 % more
// RMSE than with the estimates.
func candidates(ctx context.Context, p *plan.Plan, c *deal.Checkpoints, found []Run,
	best int) (all []Run) {
	unpaid := func(r Run) float64 {
		return r.Result.Value - p.Problem(ctx, c, r.Family).Diagnostics().Peak
	}
	least := *found[best].nats
	paid := least - unpaid(found[best])
	least += found[best].Family.Doubt
	for i, r := range found {
		if r.Result == nil {
			continue
		}
		nats := *r.nats
		if math.IsInf(nats, 1) {
			nats = unpaid(r) + paid
		}
		nats = math.Max(nats+r.Family.Doubt, least)
		r.nats = &nats
		if i == best { // it comes first
			all = append([]Run{r}, all...)
			continue
		}
		all = append(all, r)
	}
	slices.SortStableFunc(all, func(a, b Run) int { return cmp.Compare(*a.nats, *b.nats) })
	return all
}

// before returns the best result from which a family may start, or nil.
// earlier holds the results of the same kernel's earlier families.
// Parameters of another kernel mean something else.
// The result is for one lengthscale, or for any lengthscales if no kernel is trained.
func before(f plan.Family, earlier []Run) *train.Result {
	var best Run
	for _, r := range earlier {
		if f.GridParams() == 0 || f.Name == plan.ArdName(r.Family.Name) {
			best = best.lower(r)
		}
	}
	return best.Result
}

// sideBySide says whether several trainings run at once.
// Ranks do one at a time, because they must meet in the same steps.
func sideBySide(p *plan.Plan) bool {
	return p.Data.Ranks().Size() == 1 && !p.Sparse() && p.N <= method.FewRows && !p.TrainsByCG()
}

// each calls task(0) … task(n−1), side by side or one after another.
func each(n int, sideBySide bool, task func(i int)) {
	if sideBySide {
		linalg.Parallel(n, task)
		return
	}
	for i := range n {
		task(i)
	}
}

// nth returns a text such as "kernel 2 of 3" for k = 1 and n = 3, and "" if n is 1.
func nth(what string, k, n int) string {
	if n == 1 {
		return ""
	}
	return fmt.Sprintf("%s %d of %d", what, k+1, n)
}

// descend minimises from all starts of a family.
// If families race, it takes only the steps of the race.
// stage is the part of the training, for its events.
func descend(ctx context.Context, p *plan.Plan, c *deal.Checkpoints, family int, starts [][]float64,
	stage string) ([]Run, []error) {
	f := p.Families[family]
	total := len(p.Families) * p.Restarts
	if p.Choice.Free() {
		total++
	}
	runs := make([]Run, len(starts))
	errs := make([]error, len(starts))
	each(len(starts), sideBySide(p), func(si int) {
		defer matrix.Ended(&errs[si])
		event := fitting.Event{Family: f.Name, Start: family*p.Restarts + si + 1, Starts: total,
			Stage: strings.Trim(stage+", "+nth("start", si, len(starts)), ", ")}
		if !p.Sparse() && !p.Choice.OnBatches() {
			event.Solver = p.Choice.Solver
		}
		runs[si] = Run{Family: f, key: fmt.Sprintf("%s/%d", f.Name, si+1), event: event}
		problem := p.Problem(ctx, c, f)
		x, err := problem.Start(starts[si])
		if errs[si] = err; err == nil {
			search := c.Run(runs[si].key, event)
			search.Enough = enough(p)
			search.Memory = memory(p)
			if f.Of == ask.AutoSteps && f.Doubt > 0 {
				search.Limit = stepsTrial
			}
			if r, can := problem.(method.Racer); can && races(ctx, p) {
				runs[si].Result, errs[si] = r.Race(ctx, search, x)
			} else {
				runs[si].Result, errs[si] = problem.Minimize(ctx, search, x)
			}
		}
	})
	return runs, errs
}

// Run is the training from one starting point.
type Run struct {
	Family plan.Family
	Result *train.Result // nil if the run failed
	// −ln of the evidence, or more than the least of another family; nil: not computed
	nats  *float64
	key   string        // the key of its state in a checkpoint
	event fitting.Event // what its events have in common
}

// lower returns the run with the lower value, a in case of a tie.
func (a Run) lower(b Run) Run {
	if b.Result != nil && (a.Result == nil || b.Result.Value < a.Result.Value) {
		return b
	}
	return a
}

// Count adds up the work of the runs, and the time since begun.
func Count(t *model.Training, runs []Run, begun time.Time) {
	for _, r := range runs {
		t.Starts++
		t.Iterations += r.Result.Iterations
		t.Evaluations += r.Result.Evaluations
	}
	t.Seconds = time.Since(begun).Seconds()
}
