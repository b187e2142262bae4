package krigo

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/krigo-gp/krigo/finding"
	"github.com/krigo-gp/krigo/kernel"
	"github.com/krigo-gp/krigo/matrix"
	"github.com/krigo-gp/krigo/objective"
	"github.com/krigo-gp/krigo/posterior"
)

// A noise that isn't Gaussian becomes a Gaussian noise with its own variance in each row. For given variances, krigo
// trains the parameters. For given parameters, the posterior's moments give the variances.

const (
	// mostRounds limits the trainings after the first one. Each starts where the last one ended.
	mostRounds = 8
	// settledFactor ends the rounds when no row's noise variance changes by a larger factor.
	settledFactor = 1.05
	// updatesPerRound is how often the variances follow the moments before parameters are trained again.
	updatesPerRound = 4
	// grossFactor is the noise variance, in units of s, above which a row counts as a gross error. A row 7 standard
	// deviations off has this factor.
	grossFactor = 10
	// siteNeighbours is the number of nearest rows that give the moments in a row if there are too many for a full GP.
	siteNeighbours = 64
)

// alternate trains parameters and row noises in turns, until both settle.
func (p *plan) alternate(ctx context.Context, c *checkpoints) (_ *plan, t trained, err error) {
	q := *p
	if q.all.PerRow.Factor, err = p.firstFactors(ctx); err != nil {
		return nil, t, err
	}
	if t, err = q.train(ctx, c); err != nil {
		return nil, t, err
	}
	for round := 1; ; round++ {
		f := t.best.family
		factors, err := q.factors(ctx, gpAt(f.kernel, f.mean, t.best.result.X), q.all, updatesPerRound)
		if err != nil {
			return nil, t, err
		}
		change := 1.
		for i, a := range factors {
			change = max(change, a/q.all.PerRow.Factor[i], q.all.PerRow.Factor[i]/a)
		}
		if change <= settledFactor {
			break
		}
		if round > mostRounds {
			t.findings.Add(finding.NoiseUnsettled, round, change)
			break
		}
		next := q
		next.all.PerRow.Factor = factors
		best := t.best
		run := c.run(fmt.Sprintf("%s/noise%d", best.key, round), best.event)
		if best.result, err = next.problem(ctx, c, f).Minimize(ctx, run, best.result.X); err != nil {
			return nil, t, err
		}
		if err := ctx.Err(); err != nil {
			return nil, t, err
		}
		t.all, t.best, q = append(t.all, best), best, next
	}
	gross := 0
	for _, a := range q.all.PerRow.Factor {
		if a > grossFactor {
			gross++
		}
	}
	if gross > 0 {
		t.findings.Add(finding.GrossErrors, gross, p.n)
	}
	return &q, t, nil
}

// gpAt returns the GP of parameters x = [θ, β, ln s].
func gpAt(k kernel.Kernel, m kernel.Mean, x []float64) posterior.Given {
	n := len(k.Params())
	return posterior.Given{Kernel: k, Theta: x[:n], Mean: m, Beta: x[n : len(x)-1], Noise: math.Exp(x[len(x)-1])}
}

// factors updates the rows' factors a number of times, and starts from the factors that the rows have.
func (p *plan) factors(ctx context.Context, g posterior.Given, rows objective.Memory, times int) (a []float64,
	err error) {
	defer matrix.Ended(&err)
	n := rows.X.Rows
	g.X, g.Y, a = rows.X, rows.Y, rows.PerRow.Factor
	mean, variance := make([]float64, n), make([]float64, n)
	for range times {
		g.PerRow.Factor = a
		var q *posterior.Posterior
		if n <= defaultFull {
			if q, err = posterior.NewExact(g); err != nil {
				return nil, err
			}
		} else {
			q = posterior.NewNearest(g, siteNeighbours)
		}
		q.Latent(g.X, mean, variance)
		a = objective.Student{}.Factors(g.Y, mean, variance, g.Noise)
		if err := ctx.Err(); err != nil {
			return nil, err
		}
	}
	return a, nil
}

// firstFactors returns factors to start from. A rough GP of a few rows begins with the distance of targets from their
// median, so that gross errors don't shape it. Then all rows get factors by the rough GP's parameters.
func (p *plan) firstFactors(ctx context.Context) ([]float64, error) {
	rows, _ := p.somePrior(transformRows)
	few, err := gather(p.data.Scaled(rows, p.scaling))
	if err != nil {
		return nil, err
	}
	middle, spread := middleOf(few.Y)
	from := make([]float64, len(few.Y))
	for i := range from {
		from[i] = middle
	}
	student, none := objective.Student{}, make([]float64, len(few.Y))
	few.PerRow.Factor = student.Factors(few.Y, from, none, spread*spread)
	var x []float64
	var g posterior.Given
	for range 3 {
		value := 0.
		if value, x, err = p.roughly(ctx, p.roughProblem(ctx, few), x); err != nil || math.IsInf(value, 1) {
			break
		}
		g = gpAt(roughKernel(p.data.Cols), kernel.LinearMean{}, x)
		if few.PerRow.Factor, err = p.factors(ctx, g, few, updatesPerRound); err != nil {
			break
		}
	}
	if err != nil {
		return nil, err
	}
	all := p.all
	if g.Kernel == nil { // no rough GP: begin with Gaussian noise
		return slices.Repeat([]float64{1}, p.n), nil
	}
	g.X, g.Y, g.PerRow.Factor = few.X, few.Y, few.PerRow.Factor
	q, err := posterior.NewExact(g)
	if err != nil {
		return nil, err
	}
	mean, variance := make([]float64, p.n), make([]float64, p.n)
	q.Latent(all.X, mean, variance)
	all.PerRow.Factor = student.Factors(all.Y, mean, variance, g.Noise)
	return p.factors(ctx, g, all, updatesPerRound)
}

// middleOf returns the median, and the standard deviation of a normal distribution with the same median distance from
// the median. The least standard deviation is positive.
func middleOf(y []float64) (middle, sd float64) {
	median := func(v []float64) float64 {
		v = slices.Sorted(slices.Values(v))
		return (v[len(v)/2] + v[(len(v)-1)/2]) / 2
	}
	middle = median(y)
	off := make([]float64, len(y))
	for i, v := range y {
		off[i] = math.Abs(v - middle)
	}
	return middle, max(1.4826*median(off), 1e-3)
}
