package search

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/krigo-gp/krigo/finding"
	"github.com/krigo-gp/krigo/fitting"
	"github.com/krigo-gp/krigo/internal/fit/deal"
	"github.com/krigo-gp/krigo/internal/fit/plan"
	"github.com/krigo-gp/krigo/internal/lists"
	"github.com/krigo-gp/krigo/train"
	"gonum.org/v1/gonum/floats"
)

// Coarsen looks for the prior of the mixed p_θ with the lowest bound.
// From each family's best run it ties lengthscales and trains them together, rounds the prior's
// parameters to fewer digits, and then trains everything that shapes only Q.
// It returns the runs with these priors, and the best of these runs.
func Coarsen(ctx context.Context, p *plan.Plan, c *deal.Checkpoints, t Trained) (Trained, error) {
	lowest := math.Inf(1)
	found := t.All
	for _, f := range p.Families {
		// the family's run with the lowest bound
		var from *train.Result
		for _, r := range found {
			if r.Family.Name == f.Name && (from == nil || r.Result.Value < from.Value) {
				from = r.Result
			}
		}
		if from == nil {
			continue // no start lay in its domain
		}
		for _, k := range tries(ctx, p, c, f, from.X) {
			runs, held, err := tieAndRound(ctx, p, c, f, k, from.X)
			if err != nil {
				return t, err
			}
			t.All = append(t.All, runs...)
			if held.Result != nil && held.Result.Value < lowest {
				t.Best = held
				lowest = held.Result.Value
			}
		}
	}
	if math.IsInf(lowest, 1) {
		return t, errors.New("no grid of the mixed prior has a bound: use a single one")
	}
	if terms := t.Best.Family.Terms; terms.Tied > 0 {
		t.Findings.Add(finding.TiedDigits, plan.MixedDigits-1, terms.Grid.Digits, terms.Tied)
	} else {
		t.Findings.Add(finding.Digits, plan.MixedDigits-1, terms.Grid.Digits)
	}
	return t, nil
}

// tries lists the numbers of different lengthscales to try from x, and 0 for as many as inputs.
// For a sparse GP it lists only the number with the lowest bound before any training, because
// training all of them takes too long.
func tries(ctx context.Context, p *plan.Plan, c *deal.Checkpoints, f plan.Family,
	x []float64) []int {
	ties := []int{0}
	if d := len(f.InputLengthscales()); d > 1 {
		for k := 1; k <= min(plan.MaxTied, d-1); k++ {
			ties = append(ties, k)
		}
	}
	if !p.Sparse() {
		return ties
	}
	best := 0
	lowest := math.Inf(1)
	for _, k := range ties {
		at := slices.Clone(x)
		if k > 0 {
			t := tie(f, x, k)
			at = t.expand(t.reduce(x))
		}
		if _, v := digits(ctx, p, c, f, k, at); v < lowest {
			best = k
			lowest = v
		}
	}
	return []int{best}
}

// tieAndRound trains a family from x with k different lengthscales.
// It then rounds the prior's parameters, holds them, and trains again.
// held is the last run, unless it couldn't be evaluated.
func tieAndRound(ctx context.Context, p *plan.Plan, c *deal.Checkpoints, f plan.Family, k int,
	x []float64) (runs []Run, held Run, err error) {
	grid := f.Terms.Grid
	if k > 0 {
		r, err := goOn(ctx, p, c, f.Coarser(grid, k, false), x, tie(f, x, k))
		if err != nil || r.Result == nil {
			return nil, Run{}, err
		}
		runs = append(runs, r)
		x = r.Result.X
	}
	if grid.Digits, _ = digits(ctx, p, c, f, k, x); grid.Digits < 0 {
		return runs, Run{}, nil
	}
	x = slices.Clone(x)
	grid.RoundAll(x[:f.GridParams()], x[:f.GridParams()])
	if held, err = goOn(ctx, p, c, f.Coarser(grid, k, true), x, nil); held.Result != nil {
		runs = append(runs, held)
	}
	return runs, held, err
}

// digits rounds x to each number of digits below mixedDigits.
// It returns the number of digits at which the bound is lowest, and that bound.
// It returns −1 if no rounded x can be evaluated.
func digits(ctx context.Context, p *plan.Plan, c *deal.Checkpoints, f plan.Family, tied int,
	x []float64) (digits int, lowest float64) {
	digits = -1
	lowest = math.Inf(1)
	for d := range plan.MixedDigits {
		grid := f.Terms.Grid
		grid.Digits = d
		at := slices.Clone(x)
		grid.RoundAll(at[:f.GridParams()], at[:f.GridParams()])
		if v, err := p.Problem(ctx, c, f.Coarser(grid, tied, false)).Evaluate(at,
			nil); err == nil && v < lowest {
			digits = d
			lowest = v
		}
	}
	return digits, lowest
}

// goOn trains from x, with tied lengthscales if ties isn't nil.
// The run has no result if x lies outside the objective's domain.
func goOn(ctx context.Context, p *plan.Plan, c *deal.Checkpoints, f plan.Family, x []float64,
	ties *fewer) (Run, error) {
	key := fmt.Sprintf("%s/tied=%d/%s/held=%v", f.Name, f.Terms.Tied, f.Terms.Grid, f.Held)
	event := fitting.Event{Family: fmt.Sprintf("%s, grid %s", f.Name, f.Terms.Grid),
		Start: 1, Starts: 1}
	problem := p.Problem(ctx, c, f)
	var objective train.Objective = problem
	box := problem.Box(x)
	if ties != nil {
		ties.objective = objective
		objective = ties
		box.Lower = ties.reduce(box.Lower)
		box.Upper = ties.reduce(box.Upper)
		x = ties.reduce(x)
	}
	r, err := p.Choice.Descent().Minimize(ctx, c.Run(key, event).In(box), objective, x)
	var outside *train.StartError
	switch {
	case ctx.Err() != nil:
		return Run{}, ctx.Err()
	case errors.As(err, &outside):
		return Run{}, nil
	case err != nil:
		return Run{}, err
	}
	if ties != nil {
		r.X = ties.expand(r.X)
		r.AtBound = nil
	}
	return Run{Family: f, Result: r}, nil
}

// fewer wraps an objective and has fewer parameters.
// Each of these may set several parameters of the wrapped objective to the same value.
type fewer struct {
	objective train.Objective
	// for each parameter of objective, the index of the fewer parameter that sets it
	of       []int
	n        int // the number of the fewer parameters
	gradient []float64
}

// tie ties the lengthscales of f into k groups.
// It minimises the sum of squared distances of ln l² from the groups' means.
func tie(f plan.Family, x []float64, k int) *fewer {
	t := &fewer{of: make([]int, len(x))}
	at := f.InputLengthscales()
	group := groups(at, x, k) // each lengthscale's group
	first := lists.To(k, func(i int) int { return -1 })
	for i := range x {
		if g, tied := group[i]; !tied {
			t.of[i] = t.n
			t.n++
		} else {
			if first[g] < 0 {
				first[g] = t.n
				t.n++
			}
			t.of[i] = first[g]
		}
	}
	return t
}

// groups assigns the parameters numbered at to k groups of neighbouring values, so that the sum of
// squared distances from the groups' means is least. It returns the group of each parameter.
// Dynamic programming over the sorted values takes O(k n²) sums. cost[j] is the least cost of the
// first j values in the groups made so far.
func groups(at []int, x []float64, k int) map[int]int {
	order := slices.Clone(at)
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(x[a], x[b]) })
	n := len(order)
	scatter := func(i, j int) (s float64) {
		var mean float64
		for _, a := range order[i:j] {
			mean += x[a] / float64(j-i)
		}
		for _, a := range order[i:j] {
			s += (x[a] - mean) * (x[a] - mean)
		}
		return s
	}
	cost := make([]float64, n+1)
	for j := 1; j <= n; j++ {
		cost[j] = math.Inf(1)
	}
	cuts := make([][]int, k) // where the last group of the first j values begins
	for g := range k {
		next := make([]float64, n+1)
		cuts[g] = make([]int, n+1)
		next[0] = math.Inf(1)
		for j := 1; j <= n; j++ {
			next[j] = math.Inf(1)
			for i := range j {
				if c := cost[i] + scatter(i, j); c < next[j] {
					next[j], cuts[g][j] = c, i
				}
			}
		}
		cost = next
	}
	group := map[int]int{}
	for g, j := k-1, n; g >= 0; g-- {
		i := cuts[g][j]
		for _, a := range order[i:j] {
			group[a] = g
		}
		j = i
	}
	return group
}

// reduce returns the mean of each group.
func (t *fewer) reduce(x []float64) []float64 {
	few := make([]float64, t.n)
	count := make([]float64, t.n)
	for i, v := range x {
		few[t.of[i]] += v
		count[t.of[i]]++
	}
	floats.Div(few, count)
	return few
}

// expand returns the parameters of the objective that the fewer parameters set.
func (t *fewer) expand(few []float64) []float64 {
	return lists.Of(t.of, func(j int) float64 { return few[j] })
}

func (t *fewer) Dim() int { return t.n }

// Evaluate evaluates the objective at the expanded parameters. The derivative by a tied parameter
// is the sum of the derivatives by all that it sets.
func (t *fewer) Evaluate(few, gradient []float64) (float64, error) {
	if gradient == nil {
		return t.objective.Evaluate(t.expand(few), nil)
	}
	if len(t.gradient) != len(t.of) {
		t.gradient = make([]float64, len(t.of))
	}
	v, err := t.objective.Evaluate(t.expand(few), t.gradient)
	clear(gradient)
	for i, g := range t.gradient {
		gradient[t.of[i]] += g
	}
	return v, err
}
