package search

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/krigo-gp/krigo/finding"
	"github.com/krigo-gp/krigo/internal/fit/ask"
	"github.com/krigo-gp/krigo/internal/fit/deal"
	"github.com/krigo-gp/krigo/internal/fit/plan"
	"github.com/krigo-gp/krigo/internal/lists"
	"github.com/krigo-gp/krigo/kernel"
	"github.com/krigo-gp/krigo/matrix"
	"github.com/krigo-gp/krigo/objective"
	"github.com/krigo-gp/krigo/posterior"
)

// A noise that isn't Gaussian becomes a Gaussian noise with its own variance in each row.
// For given variances, krigo trains the parameters.
// For given parameters, the posterior's moments give the variances.

const (
	// mostRounds limits the trainings after the first one. Each starts where the last one ended.
	mostRounds = 8
	// settledFactor ends the rounds when no row's noise variance changes by a larger factor.
	settledFactor = 1.05
	// updatesPerRound is how often the variances follow the moments before parameters are trained
	// again.
	updatesPerRound = 4
	// grossFactor is the noise variance, in units of s, above which a row counts as a gross error.
	// A row 7 standard deviations off has this factor.
	grossFactor = 10
	// siteNeighbours is the number of nearest rows that give the moments in a row if there are too
	// many for a full GP.
	siteNeighbours = 64
	// tailNats and noiseNats are the least gain in nats a row, and for all of at most 200 prior
	// rows, for which left-out errors have heavy tails.
	// With gross errors of 3 to 10 standard deviations in 5 % of the targets the gain is .26 to .8
	// on fertility, concreteslump, autos, servo, machine, autompg, breastcancer, stock and
	// pendulum.
	// Without gross errors it is .2 on servo, where Student's t noise takes .4 off the NLPD and
	// adds 4 % to the RMSE.
	// It is at most .07 on autompg and pendulum, and less on the other sets.
	tailNats  = 0.22
	noiseNats = 5
	// equalSpread is the least standard deviation, in units of the target's, of the middle half of
	// the targets.
	equalSpread = 1e-3
)

// sites make a Gaussian noise of another likelihood, in each row:
// Student's t noise, or targets that are limits.
type sites struct{ limited objective.Limited }

// first returns rows with the sites that training starts with:
// targets as distant from their median as they are, or limits as if they were measured.
func (s sites) first(rows objective.Memory) objective.Memory {
	n := len(rows.Y)
	if s.limited.Side != nil {
		rows.PerRow.Known = make([]float64, n)
		return rows
	}
	middle, spread := middleOf(rows.Y)
	rows.PerRow.Factor = objective.Student{}.Factors(rows.Y, slices.Repeat([]float64{middle}, n),
		make([]float64, n), spread*spread)
	return rows
}

// next returns rows with the sites of the given moments of f, and how much a site changed:
// a factor of its variance.
func (s sites) next(rows objective.Memory, mean, variance []float64,
	noise float64) (objective.Memory, float64) {
	was := rows
	change := 1.
	if s.limited.Side != nil {
		next := s.limited.Update(objective.Sites{Y: rows.Y, Known: rows.PerRow.Known}, mean,
			variance, noise)
		rows.Y = next.Y
		rows.PerRow.Known = next.Known
		for i, y := range rows.Y { // a wide site matters little
			wide := max(variance[i], noise) / (noise + min(rows.PerRow.Known[i],
				was.PerRow.Known[i]))
			change = max(change, 1+wide*math.Abs(y-was.Y[i])/math.Sqrt(noise+was.PerRow.Known[i]))
		}
		return rows, change
	}
	rows.PerRow.Factor = objective.Student{}.Factors(rows.Y, mean, variance, noise)
	for i, a := range rows.PerRow.Factor {
		change = max(change, a/was.PerRow.Factor[i], was.PerRow.Factor[i]/a)
	}
	return rows, change
}

// settle updates the sites of rows a number of times, for a GP of given parameters.
// change compares the first sites with the sites after the first update, and those with all others.
func (s sites) settle(ctx context.Context, g posterior.Given,
	rows objective.Memory) (_ objective.Memory, change float64,
	err error) {
	defer matrix.Ended(&err)
	n := rows.X.Rows
	mean := make([]float64, n)
	variance := make([]float64, n)
	change = 1
	for range updatesPerRound {
		g.X = rows.X
		g.Y = rows.Y
		g.PerRow = rows.PerRow
		var q *posterior.Posterior
		if n <= ask.DefaultFull {
			if q, err = posterior.NewExact(g); err != nil {
				return rows, 0, err
			}
		} else {
			q = posterior.NewNearest(g, siteNeighbours)
		}
		q.Latent(g.X, mean, variance)
		var by float64
		rows, by = s.next(rows, mean, variance, g.Noise)
		change *= by
		if err := ctx.Err(); err != nil {
			return rows, 0, err
		}
	}
	return rows, change, nil
}

// Alternate trains parameters and sites in turns, for Student's t noise or limits of detection,
// until the sites change by no more than settledFactor or after mostRounds rounds. It returns the
// plan with the last sites, and the runs.
func Alternate(ctx context.Context, p *plan.Plan,
	c *deal.Checkpoints) (_ *plan.Plan, t Trained, err error) {
	q := *p
	var s sites
	if s.limited.Side, err = p.Data.Sides(p.Rows.Numbers); err != nil {
		return nil, t, err
	}
	s.limited.Limit = p.All.Y
	if q.All, err = firstSites(ctx, p, s); err != nil {
		return nil, t, err
	}
	if t, err = Train(ctx, &q, c); err != nil {
		return nil, t, err
	}
	for round := 1; ; round++ {
		f := t.Best.Family
		next := q
		var change float64
		if next.All, change, err = s.settle(ctx, gpAt(f.Kernel, f.Mean, t.Best.Result.X),
			q.All); err != nil {
			return nil, t, err
		}
		if change <= settledFactor {
			break
		}
		if round > mostRounds {
			t.Findings.Add(finding.NoiseUnsettled, round, change)
			break
		}
		best := t.Best
		best.event.Stage = fmt.Sprintf("noise, round %d", round)
		run := c.Run(fmt.Sprintf("%s/noise%d", best.key, round), best.event)
		if best.Result, err = next.Problem(ctx, c, f).Minimize(ctx, run,
			best.Result.X); err != nil {
			return nil, t, err
		}
		if err := ctx.Err(); err != nil {
			return nil, t, err
		}
		t.All = append(t.All, best)
		t.Best = best
		q = next
	}
	count := func(is func(i int) bool) int { return len(lists.Where(p.N, is)) }
	if side := s.limited.Side; side != nil {
		t.Findings.Add(finding.Limits, count(func(i int) bool {
			return side[i] == objective.Under
		}), count(func(i int) bool { return side[i] == objective.Over }), p.N)
	} else if gross := count(func(i int) bool {
		return q.All.PerRow.Factor[i] > grossFactor
	}); gross > 0 {
		t.Findings.Add(finding.GrossErrors, gross, p.N)
	}
	return &q, t, nil
}

// Seeing returns the same rows with the transform through which the model sees the target, if there
// is one, and with the noise that the model has.
func Seeing(ctx context.Context, d *deal.Dealt) (*deal.Dealt, error) {
	with, gain, x, err := transformed(ctx, d)
	if err != nil {
		return nil, err
	}
	return heavyTailed(ctx, d, with, gain, x)
}

// heavyTailed returns seen, these rows with a transform of the target, or these rows with Student's
// t noise if prior rows choose it, and if it gains more than the transform.
// x has parameters of a rough GP of Gaussian noise, if they are known.
func heavyTailed(ctx context.Context, d *deal.Dealt, seen *deal.Dealt, gain float64,
	x []float64) (*deal.Dealt, error) {
	o := d.Options
	with := *seen
	if auto := o.Kernel.Noise == "" && !o.Kept; !auto {
		return seen, nil
	}
	if o.Data.Transform == ask.AutoTransform {
		o.Data.Transform = ""
	}
	var more float64
	var err error
	if o.Unsited() == nil && o.Data.Censored == "" {
		if more, err = heavyTails(ctx, d, x); err != nil {
			return nil, err
		}
	}
	if with.Options.Kernel.Noise = ""; more > gain {
		with = *d
		with.Options.Data.Transform = o.Data.Transform
		with.Options.Kernel.Noise = objective.StudentName
		with.Findings = slices.Clone(d.Findings)
		with.Findings.Add(finding.StudentChosen, more)
	}
	with.Text, err = with.Options.Text()
	return &with, err
}

// heavyTails returns how much more log density Student's t noise gives to left-out prior rows than
// Gaussian noise, in nats a row, or 0 if Gaussian noise is about as good.
// Student's t noise must predict these rows about as well, too.
// It is tried only if errors of left-out rows have heavy tails by themselves, so that most fits pay
// for one factorisation.
func heavyTails(ctx context.Context, d *deal.Dealt, x []float64) (gain float64, err error) {
	defer matrix.Ended(&err)
	rows, n := somePrior(d, transformRows)
	if n == 0 {
		return 0, nil
	}
	problem, few, err := transformProblem(ctx, d, rows, d.Scaling)
	if err == nil && x == nil {
		var value float64
		if value, x, err = roughly(ctx, d, problem, nil); math.IsInf(value, 1) {
			return 0, err
		}
	}
	if err != nil {
		return 0, err
	}
	if _, spread := middleOf(few.Y); spread <= equalSpread {
		// half of the targets are equal, and a density of heavy tails has no bound there
		return 0, nil
	}
	q, _, err := problem.Posterior(x)
	if err != nil {
		return 0, ctx.Err()
	}
	mean, variance, _ := q.LeaveOneOut(few.Y)
	z := make([]float64, n)
	r2 := make([]float64, n)
	own := make([]float64, n)
	squares := 0.
	for i, y := range few.Y {
		z[i] = (y - mean[i]) / math.Sqrt(variance[i])
		squares += z[i] * z[i] / float64(n)
		r2[i] = (y - mean[i]) * (y - mean[i])
		own[i] = max(variance[i]-q.Noise, 0)
	}
	most := math.Inf(-1)
	for scale := squares; scale > squares/1000; scale /= 1.3 {
		most = max(most, lists.Sum(z, func(v float64) float64 {
			return objective.Student{}.LogPredictive(v, 0, 0,
				scale) - objective.GaussianNoise{}.LogPredictive(v, 0, 0, squares)
		}))
	}
	if most < max(noiseNats, tailNats*float64(n)) {
		return 0, nil
	}
	g, err := rough(ctx, d, sites{}, few)
	if err != nil || g.Kernel == nil {
		return 0, err
	}
	if q, err = posterior.NewExact(g); err != nil {
		return 0, ctx.Err()
	}
	robust, wide, _ := q.LeaveOneOut(few.Y)
	var worse, spread float64
	for i, y := range few.Y {
		v := max(wide[i]-q.Noises[i], 0)
		gain += objective.Student{}.LogPredictive(y, robust[i], v, g.Noise) -
			objective.GaussianNoise{}.LogPredictive(y, mean[i], 0, variance[i])
		more := (y-robust[i])*(y-robust[i]) - (y-mean[i])*(y-mean[i])
		worse = worse + more
		spread = spread + more*more
	}
	// A noise that varies makes such tails, too.
	if d.Options.LooksAtNoise() && evenness(few.X, mean, r2, own, q.Noise) < noiseChance {
		_, _, varies, err := learnNoise(ctx, ask.NoiseAuto, few.X, r2, own, d.Options.Run.Seed)
		if err != nil || gain < varies {
			return 0, err
		}
	}
	if gain < noiseNats || !(worse <= math.Sqrt(spread-worse*worse/float64(n))) {
		return 0, nil
	}
	return math.Round(1e3*gain/float64(n)) / 1e3, nil
}

// gpAt returns the GP of parameters x = [θ, β, ln s].
func gpAt(k kernel.Kernel, m kernel.Mean, x []float64) posterior.Given {
	n := len(k.Params())
	return posterior.Given{Kernel: k, Theta: x[:n], Mean: m, Beta: x[n : len(x)-1],
		Noise: math.Exp(x[len(x)-1])}
}

// rough returns a rough GP of a few rows with sites.
// The GP has no kernel if the start lies outside the problem's domain.
func rough(ctx context.Context, d *deal.Dealt, s sites,
	few objective.Memory) (g posterior.Given, err error) {
	few = s.first(few)
	var x []float64
	for range 3 {
		value := 0.
		if value, x, err = roughly(ctx, d, roughProblem(ctx, d, few), x); err != nil ||
			math.IsInf(value, 1) {
			return posterior.Given{}, err
		}
		g = gpAt(roughKernel(d.Data.Cols), kernel.LinearMean{}, x)
		if few, _, err = s.settle(ctx, g, few); err != nil {
			return g, err
		}
	}
	g.X = few.X
	g.Y = few.Y
	g.PerRow = few.PerRow
	return g, nil
}

// firstSites returns all rows with sites to start from, by a rough GP of some of them.
func firstSites(ctx context.Context, p *plan.Plan, s sites) (objective.Memory, error) {
	n := min(p.N, transformRows)
	few := objective.Memory{X: p.All.X.Like(n, p.All.X.Cols), Y: make([]float64, n)}
	of := s
	of.limited = objective.Limited{}
	for i := range n {
		row := i * p.N / n
		copy(few.X.Row(i), p.All.X.Row(row))
		few.Y[i] = p.All.Y[row]
		if s.limited.Side != nil {
			of.limited.Side = append(of.limited.Side, s.limited.Side[row])
			of.limited.Limit = few.Y
		}
	}
	// The first sites follow from the mean and variance of a rough GP at each row.
	g, err := rough(ctx, p.Dealt, of, few)
	all := s.first(p.All)
	if err != nil || g.Kernel == nil { // no rough GP: begin with Gaussian noise
		all.PerRow.Factor = nil
		if s.limited.Side == nil {
			all.PerRow.Factor = slices.Repeat([]float64{1}, p.N)
		}
		return all, err
	}
	q, err := posterior.NewExact(g)
	if err != nil {
		return all, err
	}
	mean := make([]float64, p.N)
	variance := make([]float64, p.N)
	q.Latent(all.X, mean, variance)
	if s.limited.Side == nil {
		all, _ = s.next(all, mean, variance, g.Noise)
	}
	all, _, err = s.settle(ctx, g, all)
	return all, err
}

// middleOf returns the median, and the standard deviation of a normal distribution with the same
// median distance from the median. It is at least equalSpread.
func middleOf(y []float64) (middle, sd float64) {
	median := func(v []float64) float64 {
		v = slices.Sorted(slices.Values(v))
		return (v[len(v)/2] + v[(len(v)-1)/2]) / 2
	}
	middle = median(y)
	off := lists.Of(y, func(v float64) float64 { return math.Abs(v - middle) })
	return middle, max(1.4826*median(off), equalSpread)
}
