package search

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/finding"
	"github.com/krigo-gp/krigo/internal/fit/ask"
	"github.com/krigo-gp/krigo/internal/fit/deal"
	"github.com/krigo-gp/krigo/internal/fit/plan"
	"github.com/krigo-gp/krigo/internal/lists"
	"github.com/krigo-gp/krigo/kernel"
	"github.com/krigo-gp/krigo/matrix"
	"github.com/krigo-gp/krigo/method"
	"github.com/krigo-gp/krigo/objective"
	"github.com/krigo-gp/krigo/posterior"
	"github.com/krigo-gp/krigo/train"
)

// transformed returns the same rows with a transform, and its gain if krigo chose it.
// x has parameters of a rough GP without a transform, if they are known.
func transformed(ctx context.Context, d *deal.Dealt) (_ *deal.Dealt, gain float64, x []float64,
	err error) {
	o := d.Options.Data
	with := *d
	name := o.Transform
	switch auto := name == ask.AutoTransform || (name == "" && !d.Options.Kept); {
	case auto:
		if name, gain, x, err = chooseTransform(ctx, d); err != nil {
			return nil, 0, nil, err
		}
		with.Options.Data.Transform = ""
		if name != "" {
			with.Options.Data.Transform = ask.AutoTransform
			with.Findings = slices.Clone(d.Findings)
			with.Findings.Add(finding.TargetTransform, name, gain)
		}
		if with.Text, err = with.Options.Text(); err != nil || name == "" {
			return &with, 0, x, err
		}
	case name == "" || name == ask.NoTransform:
		return d, 0, nil, nil
	default:
		if err := dataset.CheckDomain(name, d.Data, d.Data.All()); err != nil {
			return nil, 0, nil, err
		}
	}
	if with.Scaling, err = d.Scaling.Transformed(name, cmp.Or(o.Estimate, dataset.Mean), d.Data,
		d.Data.RowsOf(d.Roles, dataset.Prior)); err != nil {
		return nil, 0, nil, fmt.Errorf("%s: %w", d.Data.Source, err)
	}
	return &with, gain, x, nil
}

const (
	transformRows  = 200 // prior rows whose evidence proposes transforms
	transformSteps = 30  // evaluations of the evidence of the untransformed target
	transformGain  = 0.1 // least gain of evidence for which a transform is chosen, in nats a row
	transformNats  = 10  // the same, in nats for all these rows

	// leftOutRows is the largest number of prior rows whose left-out errors a transform must not
	// raise. With 1,000 rows log1p raises the RMSE on pol by 66 % ± 36 (by 57 on test rows) and
	// sqrt by −2 ± 3 (1), boxcox on protein by 3.1 ± .9 (3.9) and sqrt by .7 ± .3 (1.3), and boxcox
	// on bike by −5 ± 2. With 200 rows sqrt raises it on protein by .5 ± .7.
	// With 2,000 rows sqrt raises it on pol by 5 ± 3, with parameters that were trained on 200
	// rows.
	leftOutRows = 1000
)

// seen is how a model of a few prior rows sees the target:
// the scaling, and parameters that were trained with it.
type seen struct {
	scaling dataset.Scaling
	x       []float64
	gain    float64 // of evidence, in nats a row
}

// chooseTransform returns a transform and its gain of evidence over the untransformed target, on
// some prior rows. It takes the transform with the most evidence that predicts left-out prior rows
// no worse than the untransformed target does, as far as its standard error tells.
// x has the parameters of a rough GP of the untransformed target, if one was trained.
// chooseTransform returns "" if no transform is clearly better, or if none is allowed.
// A certificate doesn't pay for a choice by prior rows.
// Each transform gets a kernel trained for it in few steps.
func chooseTransform(ctx context.Context, d *deal.Dealt) (chosen string, gain float64, x []float64,
	err error) {
	if d.Options.Untransformed() != nil || d.Options.Kernel.Noise == objective.StudentName ||
		d.Options.Sited() != nil || d.Options.Data.Censored != "" {
		return "", 0, x, nil
	}
	rows, n := somePrior(d, transformRows)
	if n == 0 {
		return "", 0, x, nil
	}
	var plain float64
	plain, x, err = transformEvidence(ctx, d, rows, d.Scaling, nil)
	if err != nil || math.IsInf(plain, -1) {
		return "", 0, nil, err
	}
	var tried []seen
	for _, name := range dataset.Transforms() {
		if dataset.CheckDomain(name, d.Data, rows) != nil {
			continue
		}
		if s, err := d.Scaling.Transformed(name, dataset.Mean, d.Data, rows); err == nil {
			// otherwise the transform leaves nothing to learn
			tried = append(tried, seen{scaling: s})
		}
	}
	errs := make([]error, len(tried))
	each(len(tried), d.Data.Ranks().Size() == 1, func(i int) {
		defer matrix.Ended(&errs[i])
		tried[i].gain, tried[i].x, errs[i] = transformEvidence(ctx, d, rows, tried[i].scaling, x)
		tried[i].gain -= plain
	})
	if err := cmp.Or(errs...); err != nil {
		return "", 0, x, err
	}
	least := max(transformGain, transformNats/float64(n))
	better := slices.DeleteFunc(tried, func(s seen) bool { return !(s.gain > least) })
	if len(better) == 0 {
		return "", 0, x, nil
	}
	slices.SortStableFunc(better, func(a, b seen) int { return cmp.Compare(b.gain, a.gain) })
	rows, _ = somePrior(d, leftOutRows)
	without, err := leftOut(ctx, d, rows, seen{scaling: d.Scaling, x: x})
	for _, b := range better {
		var with []float64
		if err == nil {
			with, err = leftOut(ctx, d, rows, b)
		}
		if err != nil {
			return "", 0, x, err
		}
		if with == nil || without == nil {
			continue
		}
		var sum, squares float64
		for i, v := range with {
			more := v*v - without[i]*without[i]
			sum = sum + more
			squares = squares + more*more
		}
		if n := float64(len(with)); sum <= math.Sqrt(squares-sum*sum/n) {
			return b.scaling.Transform.Name, math.Round(1e3*b.gain) / 1e3, x, nil
		}
	}
	return "", 0, x, nil
}

// somePrior returns this rank's share of at most the given number of prior rows, and how many all
// ranks have.
func somePrior(d *deal.Dealt, most int) (rows []int, n int) {
	prior := d.Roles.Rows(dataset.Prior)
	n = min(len(prior), most)
	rows = lists.To(n, func(i int) int { return prior[i*len(prior)/n] })
	slices.Sort(rows) // in the order of the ranks
	return d.Data.Own(rows), n
}

// transformProblem returns the evidence of rows, as a function of a kernel's parameters.
func transformProblem(ctx context.Context, d *deal.Dealt, rows []int,
	s dataset.Scaling) (p method.Problem, all objective.Memory, err error) {
	if all, err = deal.Gather(d.Data.Scaled(rows, s)); err != nil {
		return nil, all, err
	}
	return roughProblem(ctx, d, all), all, nil
}

// roughProblem returns the evidence of a few rows for a kernel that suits most tables.
func roughProblem(ctx context.Context, d *deal.Dealt, all objective.Memory) method.Problem {
	choice := method.Choice{Name: method.EvidenceName, Hyperprior: "weak",
		Epochs: transformSteps}.WithDefaults()
	return choice.Method().Bind(method.Task{Kernel: roughKernel(d.Data.Cols),
		Mean: kernel.LinearMean{}, Rows: all, N: all.X.Rows, Ranks: d.Data.Ranks(), All: all,
		Limit: plan.FarLimit, Solver: posterior.ByCholesky, Context: ctx})
}

// roughKernel returns the kernel Matérn 3/2 with a lengthscale for each of dim inputs.
func roughKernel(dim int) kernel.Kernel {
	k, _ := kernel.Parse("matern32", dim, true) // no error, since the kernel is known
	return k
}

// leftOut returns the errors of predicted targets, in standard deviations, if all other rows
// predict each row. It returns nil if the rows' covariances, with parameters of fewer rows, aren't
// positive definite.
func leftOut(ctx context.Context, d *deal.Dealt, rows []int, by seen) ([]float64, error) {
	problem, all, err := transformProblem(ctx, d, rows, by.scaling)
	if err != nil {
		return nil, err
	}
	q, _, err := problem.Posterior(by.x)
	if err != nil {
		return nil, ctx.Err()
	}
	errs, _, _ := q.LeaveOneOut(all.Y)
	for i, mean := range errs {
		mean, _ = by.scaling.Moments(mean, q.Noise) // as predictions of a model are made
		errs[i] = (mean - by.scaling.Raw(all.Y[i])) / by.scaling.TargetScale
	}
	return errs, ctx.Err()
}

// transformEvidence returns the log evidence per row, for targets in standard deviations, after a
// short training that starts at x. If x is nil, it starts where training starts.
// It also returns the trained parameters.
func transformEvidence(ctx context.Context, d *deal.Dealt, rows []int, s dataset.Scaling,
	x []float64) (float64, []float64, error) {
	problem, all, err := transformProblem(ctx, d, rows, s)
	if err != nil {
		return 0, nil, err
	}
	value, x, err := roughly(ctx, d, problem, x)
	if err != nil || math.IsInf(value, 1) {
		return -value, x, err
	}
	y, err := d.Data.Targets(rows)
	slopes := []float64{0}
	for _, v := range y {
		slopes[0] += s.LogSlope(v)
	}
	if err = d.Data.Ranks().Agree(err); err == nil {
		err = d.Data.Ranks().Sum(slopes)
	}
	return (slopes[0] - value) / float64(all.X.Rows), x, err
}

// roughly minimises a rough problem in a few steps, from x or from where training starts.
// It returns +∞ if the start lies outside the problem's domain.
func roughly(ctx context.Context, d *deal.Dealt, problem method.Problem,
	x []float64) (float64, []float64, error) {
	if x == nil {
		x = make([]float64, problem.Dim())
		for i, name := range problem.Names() {
			if strings.HasPrefix(name, "log_"+Lengthscale) {
				x[i] = math.Log(float64(d.Data.Cols))
			}
		}
		x[len(x)-1] = math.Log(0.3)
	}
	r, err := problem.Minimize(ctx, method.Run{Load: func(string) *method.State { return nil },
		Tell: func(string, *method.State, int, float64, string) error { return nil }}, x)
	if err = cmp.Or(err, ctx.Err()); err != nil {
		var outside *train.StartError
		if errors.As(err, &outside) {
			return math.Inf(1), x, nil
		}
		return 0, nil, err
	}
	return r.Value, r.X, nil
}

const Lengthscale = string(kernel.Lengthscale)
