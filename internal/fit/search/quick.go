package search

import (
	"context"
	"math"

	"github.com/krigo-gp/krigo/internal/fit/plan"
	"github.com/krigo-gp/krigo/internal/linalg"
	"github.com/krigo-gp/krigo/internal/lists"
	"github.com/krigo-gp/krigo/kernel"
	"github.com/krigo-gp/krigo/matrix"
	"github.com/krigo-gp/krigo/method"
	"github.com/krigo-gp/krigo/objective"
	"github.com/krigo-gp/krigo/posterior"
	"github.com/krigo-gp/krigo/train"
)

const (
	quickRows  = 400 // rows from which a quick fit takes its parameters
	quickSteps = 60
	briefRows  = 200 // the same of a brief fit
	briefSteps = 20
)

// Quickly returns what conditions a full GP on all rows: the kernel Matérn 3/2, a constant mean,
// their parameters and the noise variance. The parameters maximise the evidence of at most
// quickRows rows, with a weak prior density, within quickSteps evaluations.
func Quickly(ctx context.Context, x matrix.Dense, y []float64) (g posterior.Given, err error) {
	return quickly(ctx, x, y, quickRows, quickSteps)
}

// Briefly does the same with fewer rows and steps, for a look that is advice alone.
func Briefly(ctx context.Context, x matrix.Dense, y []float64) (g posterior.Given, err error) {
	return quickly(ctx, x, y, briefRows, briefSteps)
}

// quickly returns what Quickly returns, from at most `most` rows and within some steps.
func quickly(ctx context.Context, x matrix.Dense, y []float64, most,
	steps int) (g posterior.Given, err error) {
	k, err := kernel.Parse("matern32", x.Cols, true)
	if err != nil {
		return g, err
	}
	mean := kernel.LinearMean{}
	rows := lists.Spread(x.Rows, most)
	some := objective.Memory{X: linalg.New(len(rows), x.Cols).Until(ctx),
		Y: make([]float64, len(rows))}
	if err := (objective.Memory{X: x, Y: y}).Pick(rows, some.X.Data, some.Y); err != nil {
		return g, err
	}
	problem := method.Evidence{MAP: method.MAP{Hyperprior: "weak"}}.Bind(method.Task{Kernel: k,
		Mean: mean, Rows: some, N: len(rows), All: some, Limit: plan.FarLimit, Context: ctx})
	start := make([]float64, len(k.Params())+2)
	for i, p := range k.Params() {
		if p.Kind == kernel.Lengthscale {
			start[i] = math.Log(float64(x.Cols)) // ln l²
		}
	}
	start[len(start)-1] = math.Log(plan.StartNoise)
	r, err := train.LBFGS{MaxEvaluations: steps}.In(problem.Box(start)).Minimize(ctx, problem,
		train.Start(start), nil)
	if err != nil {
		return g, err
	}
	n := len(k.Params())
	return posterior.Given{Kernel: k, Theta: r.X[:n], Mean: mean, Beta: r.X[n : n+1], X: x, Y: y,
		Noise: math.Exp(r.X[n+1])}, nil
}
