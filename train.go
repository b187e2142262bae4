package krigo

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
	"github.com/krigo-gp/krigo/internal/linalg"
	"github.com/krigo-gp/krigo/internal/lists"
	"github.com/krigo-gp/krigo/matrix"
	"github.com/krigo-gp/krigo/method"
	"github.com/krigo-gp/krigo/model"
	"github.com/krigo-gp/krigo/posterior"
	"github.com/krigo-gp/krigo/train"
)

// trained holds what training found.
type trained struct {
	best     run
	all      []run
	findings finding.List
	failed   error // why the first start failed that did
	// expressions of the kernels that were tried, if the budget ended too early for all
	tried []string
}

// train minimises from every starting point of every family, and chooses the best run.
// The rough runs of a race, and of a search for the best start, go on to the end only if they may
// be the best.
func (p *plan) train(ctx context.Context, c *checkpoints) (t trained, err error) {
	found, err := p.search(ctx, c, &t)
	if err != nil || t.best.result == nil {
		return t, cmp.Or(err, t.failed)
	}
	first, by, err := p.contenders(ctx, c, found)
	if err == nil && by == finding.KernelByEvidence && p.options.Prior.Kind == "informed" {
		if p, found, err = p.tryAlike(ctx, c, &t, found, first[0]); err == nil {
			first, by, err = p.contenders(ctx, c, found)
		}
		if err == nil && t.tried == nil {
			for _, f := range p.options.further(found[first[0]].family, p.inputs(), p.n) {
				if p, found, err = p.try(ctx, c, &t, found, f, p.starts(f, nil)[0],
					*found[first[0]].nats); err != nil {
					return t, err
				}
				if first, by, err = p.contenders(ctx, c, found); err != nil {
					return t, err
				}
			}
		}
	}
	if err == nil && (by == finding.KernelByRace || p.enough() > 0) {
		first, err = p.toEnd(ctx, c, &t, found, first)
	}
	if err != nil {
		return t, err
	}
	t.best = found[first[0]]
	if len(found) > 2 {
		names := lists.Of(p.families[:len(found)], func(f family) string { return f.name })
		if by == finding.KernelByRace {
			t.findings.Add(by, len(names), t.best.family.name, names)
		} else {
			t.findings.Add(by, t.best.family.name, names)
		}
	}
	return t, nil
}

// tryAlike adds the best kernel with lengthscales that are alike a priori to the families and to
// the best runs, where this changes the prior density.
//
// On ten folds, they take 25 % off the RMSE and .49 off the NLPD on concreteslump, 8 % and .04 on
// machine, and nothing or next to nothing on autos, servo, breastcancer, autompg and fertility.
// Tried with every kernel they do the same.
func (p *plan) tryAlike(ctx context.Context, c *checkpoints, t *trained, found []run,
	best int) (*plan, []run, error) {
	f := found[best].family
	f.name = f.name + ", alike lengthscales"
	f.alike = true
	if !p.problem(ctx, c, f).Diagnostics().Alike {
		return p, found, nil
	}
	return p.try(ctx, c, t, found, f, found[best].result.X, math.Inf(1))
}

// try adds a family to the families, and its run from x to the best runs.
// nats is −ln of the largest evidence so far.
// The kernel steps has many parameters. So its run ends after stepsTrial iterations if it has
// little chance by then.
func (p *plan) try(ctx context.Context, c *checkpoints, t *trained, found []run, f family,
	x []float64, nats float64) (*plan, []run, error) {
	q := *p
	q.families = append(slices.Clone(p.families[:len(found)]), f)
	runs, errs := q.descend(ctx, c, len(found), [][]float64{x}, "further kernel")
	if f.of == autoSteps && errs[0] == nil && ctx.Err() == nil {
		if peak := q.problem(ctx, c,
			f).Diagnostics().Peak; runs[0].result.Value-peak > nats-stepsLead*f.doubt {
			return p, found, q.take(ctx, t, runs, errs)
		}
		runs[0], errs[0] = q.polish(ctx, c, runs[0], "/more", q.enough())
	}
	return &q, append(found, runs...), q.take(ctx, t, runs, errs)
}

// search minimises from every starting point of every family, and returns the best run of each
// family. If the budget ends, later families are left out.
// Kernels are trained side by side where cores are free.
// The families of a kernel come one after another, so that ARD can start where the kernel with one
// lengthscale ended.
func (p *plan) search(ctx context.Context, c *checkpoints, t *trained) ([]run, error) {
	found := make([]run, len(p.families))
	results := make([][]run, len(found))
	errs := make([][]error, len(found))
	var kernels [][2]int // the first family of each kernel, and the first family of the next
	for from, to := 0, 0; from < len(found); from = to {
		for to = from + 1; to < len(found) && p.families[to].of == p.families[from].of; to++ {
		}
		kernels = append(kernels, [2]int{from, to})
	}
	descend := func(k int) {
		from := kernels[k][0]
		to := kernels[k][1]
		for fi := from; fi < to && ctx.Err() == nil; fi++ {
			starts := p.starts(p.families[fi], before(p.families[fi], found[from:fi]))
			results[fi], errs[fi] = p.descend(ctx, c, fi, starts, nth("kernel", fi, len(found)))
			for _, r := range results[fi] {
				found[fi] = found[fi].lower(r)
			}
		}
	}
	begun := time.Now()
	longest := time.Duration(0)
	ahead := p.options.Run.Budget == 0 && p.sideBySide()
	if ahead {
		linalg.Parallel(len(kernels), descend)
	}
	for k, families := range kernels {
		from := families[0]
		of := p.families[families[0]].of
		at := time.Now()
		if t.best.result != nil && !ahead {
			next := at.Sub(begun) / time.Duration(from)
			if p.races(ctx) {
				next = (1 + raceEnd) * longest
			}
			spent, err := p.spent(at.Sub(begun) + next)
			if err != nil {
				return nil, err
			}
			if spent {
				all := p.options.Kernel.expressions(p.options.auto(p.data.Cols))
				t.tried = all[:slices.Index(all, of)]
				t.findings.Add(finding.BudgetSpent, p.options.Run.Budget, len(t.tried),
					len(all), of)
				return found[:from], nil
			}
		}
		if !ahead {
			descend(k)
		}
		longest = max(longest, time.Since(at))
		for fi := from; fi < families[1]; fi++ {
			if err := p.take(ctx, t, results[fi], errs[fi]); err != nil {
				return nil, err
			}
		}
	}
	return found, nil
}

// toEnd minimises the runs of the first families to the end, and returns the best of these families
// first. It puts the ends in found and in t.all.
func (p *plan) toEnd(ctx context.Context, c *checkpoints, t *trained, found []run,
	first []int) ([]int, error) {
	ends := make([]run, len(found))
	errs := make([]error, len(found))
	each(len(first), p.sideBySide() && !p.races(ctx), func(k int) {
		best := found[first[k]]
		if best.event.Stage = ""; len(found) > 1 {
			best.event.Stage = "best " + cmp.Or(nth("kernel", k, len(first)), "kernel")
		}
		ends[first[k]], errs[first[k]] = p.polish(ctx, c, best, "/end", 0)
	})
	if err := cmp.Or(errs...); err != nil {
		return nil, err
	}
	for _, i := range first {
		t.all[slices.IndexFunc(t.all, func(r run) bool {
			return r.result == found[i].result
		})] = ends[i]
	}
	copy(found, ends)
	if len(first) == 1 {
		return first, nil
	}
	if p.races(ctx) {
		return first, p.judge(ctx, found, first)
	}
	first, _, err := p.contenders(ctx, c, found)
	return first, err
}

// judge sorts the families that were trained to the end of a race, the best first.
func (p *plan) judge(ctx context.Context, found []run, first []int) (err error) {
	values := make([]float64, len(found))
	for _, i := range first {
		if values[i], err = p.problem(ctx, nil, p.families[i]).(method.Racer).Judge(
			found[i].result.X); err != nil {
			return err
		}
	}
	slices.SortStableFunc(first, func(a, b int) int { return cmp.Compare(values[a], values[b]) })
	return ctx.Err()
}

// take adds the runs of a family to t. A single start may lie outside the objective's domain, but
// not all starts. Any other error ends training, because the result would be different without the
// run.
func (p *plan) take(ctx context.Context, t *trained, runs []run, errs []error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err := p.rows.Err(); err != nil { // the objective of an interrupted step would be wrong
		return err
	}
	for si, r := range runs {
		var outside *train.StartError
		switch {
		case errs[si] == nil:
			t.all = append(t.all, r)
			t.best = t.best.lower(r)
		case !errors.As(errs[si], &outside):
			return errs[si]
		default:
			t.failed = cmp.Or(t.failed,
				fmt.Errorf("training %s failed from every starting point: %w", r.family.name,
					outside.Reason))
			t.findings.Add(finding.StartOutside, si+1, r.family.name, outside.Reason)
		}
	}
	return nil
}

// races says whether the families race. Each is trained for a few steps, and only the best of them
// to the end. If users ask for several starts or a number of steps, every family is trained to the
// end.
func (p *plan) races(ctx context.Context) bool {
	if !p.choice.Kind().Local || p.restarts > 1 || len(p.families) < 2 {
		return false
	}
	r, can := p.problem(ctx, nil, p.families[0]).(method.Racer)
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
func (p *plan) enough() float64 {
	if c := p.choice; c.Kind().Exact && c.Optimizer == "lbfgs" && c.Solver == posterior.ByCholesky {
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
func (p *plan) memory() int {
	if p.enough() > 0 {
		return longMemory
	}
	return 0
}

// polish minimises on, from where the search ended: to the end, or to what is enough for a search.
// It keeps the search's own state, so that a resumed fit makes the same choice.
// A racer goes on from its own state.
func (p *plan) polish(ctx context.Context, c *checkpoints, best run, part string,
	enough float64) (run, error) {
	search := c.run(best.key, best.event)
	last := c.run(best.key+part, best.event)
	last.Goes = true
	last.Enough = enough
	last.Load = func(key string) *method.State {
		return cmp.Or(search.Load(key), search.Load(search.Key))
	}
	if p.races(ctx) {
		last = search
	}
	last.Memory = p.memory()
	best.nats = nil
	best.key += part
	var err error
	if best.result, err = p.problem(ctx, c, best.family).Minimize(ctx, last,
		best.result.X); err != nil {
		return best, err
	}
	return best, cmp.Or(ctx.Err(), p.rows.Err())
}

// spent says whether the budget has no room for another family, with which training would take the
// given time. Ranks use the first rank's clock.
func (p *plan) spent(whole time.Duration) (bool, error) {
	budget := p.options.Run.Budget
	if budget == 0 {
		return false, nil
	}
	over := []float64{0}
	if r := p.data.Ranks(); r.Rank() == 0 && whole > budget {
		over[0] = 1
	}
	err := p.data.Ranks().Sum(over)
	return over[0] > 0, err
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
func (p *plan) straight(order []int, found []run) []int {
	at := slices.IndexFunc(order, func(i int) bool { return p.families[i].of == autoLinear })
	if !p.options.labels() || at < 0 || len(order) < 2 {
		return order
	}
	others := slices.Delete(slices.Clone(order), at, at+1)
	if found[order[at]].result.Value+labelDoubt <= found[others[0]].result.Value {
		return order[at : at+1]
	}
	return others
}

// contenders returns the numbers of the families with the most evidence with parameters integrated
// out, the best first, if the parameters have a prior density.
// It leaves rq out if se has as much evidence. The objective itself is the density at its mode.
// It falls with every parameter, whether or not the rows say anything about the parameter.
// Without a prior density, the family with the least objective is the only contender.
func (p *plan) contenders(ctx context.Context, c *checkpoints,
	found []run) (first []int, by finding.Kind, err error) {
	// lowest objective first, which saves most second derivatives
	order := lists.Where(len(found), func(i int) bool { return found[i].result != nil })
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Compare(found[a].result.Value, found[b].result.Value)
	})
	if p.races(ctx) {
		last := found[order[0]].result.Value + raceTied*float64(p.n)
		alike := 1
		if len(order) > 1 && found[order[1]].result.Value <= last &&
			!strings.Contains(p.families[order[1]].of, "*") {
			alike = 2
		}
		return order[:min(len(order), alike)], finding.KernelByRace, nil
	}
	order = p.straight(order, found)
	if len(order) < 2 {
		return order, finding.KernelByValue, nil
	}
	least := math.Inf(1)
	values := make([]float64, len(found))
	for _, i := range order {
		marginal := p.problem(ctx, c, p.families[i]).Diagnostics().Marginal
		if marginal == nil {
			return order[:1], finding.KernelByValue, nil
		}
		if err := ctx.Err(); err != nil {
			return nil, by, err
		}
		// a point beside the mode may lie outside the objective's domain
		if found[i].nats == nil {
			nats, err := marginal(found[i].result, least+tied-p.families[i].doubt)
			if err != nil {
				nats = math.Inf(1)
			}
			found[i].nats = &nats
		}
		values[i] = *found[i].nats + p.families[i].doubt
		least = min(least, values[i])
	}
	if math.IsInf(least, 1) {
		return order[:1], finding.KernelByValue, nil
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(values[a], values[b]) })
	// rq with an infinite α is se. It takes many steps to get there, 36 on 700 drawn rows.
	simpler := func(i int) bool {
		return slices.ContainsFunc(order, func(j int) bool {
			as := strings.ReplaceAll(p.families[i].name, "rq", "se")
			return i != j && values[j] <= values[i] && as == p.families[j].name
		})
	}
	first = lists.If(order, func(i int) bool { return values[i] <= least+tied && !simpler(i) })
	return first, finding.KernelByEvidence, nil
}

// before returns the best result from which a family may start, or nil.
// earlier holds the results of the same kernel's earlier families.
// Parameters of another kernel mean something else.
// The result is for one lengthscale, or for any lengthscales if no kernel is trained.
func before(f family, earlier []run) *train.Result {
	var best run
	for _, r := range earlier {
		if f.gridParams() == 0 || f.name == ardName(r.family.name) {
			best = best.lower(r)
		}
	}
	return best.result
}

// sideBySide says whether several trainings run at once.
// Ranks do one at a time, because they must meet in the same steps.
func (p *plan) sideBySide() bool {
	return p.data.Ranks().Size() == 1 && !p.sparse() && p.n <= method.FewRows && !p.trainsByCG()
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
func (p *plan) descend(ctx context.Context, c *checkpoints, family int, starts [][]float64,
	stage string) ([]run, []error) {
	f := p.families[family]
	total := len(p.families) * p.restarts
	if p.choice.Free() {
		total++
	}
	runs := make([]run, len(starts))
	errs := make([]error, len(starts))
	each(len(starts), p.sideBySide(), func(si int) {
		defer matrix.Ended(&errs[si])
		event := Event{Family: f.name, Start: family*p.restarts + si + 1, Starts: total,
			Stage: strings.Trim(stage+", "+nth("start", si, len(starts)), ", ")}
		if !p.sparse() && !p.choice.OnBatches() {
			event.Solver = p.choice.Solver
		}
		runs[si] = run{family: f, key: fmt.Sprintf("%s/%d", f.name, si+1), event: event}
		problem := p.problem(ctx, c, f)
		x, err := problem.Start(starts[si])
		if errs[si] = err; err == nil {
			search := c.run(runs[si].key, event)
			search.Enough, search.Memory = p.enough(), p.memory()
			if f.of == autoSteps && f.doubt > 0 {
				search.Limit = stepsTrial
			}
			if r, can := problem.(method.Racer); can && p.races(ctx) {
				runs[si].result, errs[si] = r.Race(ctx, search, x)
			} else {
				runs[si].result, errs[si] = problem.Minimize(ctx, search, x)
			}
		}
	})
	return runs, errs
}

// run is the training from one starting point.
type run struct {
	family family
	result *train.Result // nil if the run failed
	// −ln of the evidence, or more than the least of another family; nil: not computed
	nats  *float64
	key   string // the key of its state in a checkpoint
	event Event  // what its events have in common
}

// lower returns the run with the lower value, a in case of a tie.
func (a run) lower(b run) run {
	if b.result != nil && (a.result == nil || b.result.Value < a.result.Value) {
		return b
	}
	return a
}

// count adds up the work of the runs, and the time since begun.
func count(t *model.Training, runs []run, begun time.Time) {
	for _, r := range runs {
		if !r.family.alike { // it starts where another run ended
			t.Starts++
		}
		t.Iterations += r.result.Iterations
		t.Evaluations += r.result.Evaluations
	}
	t.Seconds = time.Since(begun).Seconds()
}
