package krigo

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/finding"
	"github.com/krigo-gp/krigo/kernel"
	"github.com/krigo-gp/krigo/method"
	"github.com/krigo-gp/krigo/posterior"
	"github.com/krigo-gp/krigo/train"
)

// seeing returns the same rows with the transform through which the model sees the target, if there is one.
func (d *dealt) seeing(ctx context.Context) (_ *dealt, err error) {
	o, with := d.options.Data, *d
	name := o.Transform
	switch auto := name == autoTransform || name == "" && !d.options.kept; {
	case auto:
		var gain float64
		if name, gain, err = d.chooseTransform(ctx); err != nil {
			return nil, err
		}
		with.options.Data.Transform = ""
		if name != "" {
			with.options.Data.Transform, with.findings = autoTransform, slices.Clone(d.findings)
			with.findings.Add(finding.TargetTransform, name, gain)
		}
		if with.text, err = with.options.text(); err != nil || name == "" {
			return &with, err
		}
	case name == "" || name == noTransform:
		return d, nil
	default:
		if err := dataset.CheckDomain(name, d.data, d.data.All()); err != nil {
			return nil, err
		}
	}
	if with.scaling, err = d.scaling.Transformed(name, cmp.Or(o.Estimate, dataset.Mean), d.data,
		d.data.RowsOf(d.roles, dataset.Prior)); err != nil {
		return nil, fmt.Errorf("%s: %w", d.data.Source, err)
	}
	return &with, nil
}

const (
	transformRows  = 200 // prior rows that choose a transform
	transformSteps = 30  // evaluations of the evidence of the untransformed target
	transformGain  = 0.1 // least gain of evidence for which a transform is chosen, in nats a row
	transformNats  = 10  // the same, in nats for all these rows
)

// chooseTransform returns the transform with the most evidence on some prior rows, and its gain over the untransformed
// target. It returns "" if no transform is clearly better, or if none is allowed. A certificate doesn't pay for a
// choice by prior rows. Each transform gets a kernel trained for it in few steps.
func (d *dealt) chooseTransform(ctx context.Context) (chosen string, gain float64, err error) {
	prior := d.roles.Rows(dataset.Prior)
	n := min(len(prior), transformRows)
	if d.options.untransformed() != nil || n == 0 {
		return "", 0, nil
	}
	rows := make([]int, n)
	for i := range rows {
		rows[i] = prior[i*len(prior)/n]
	}
	slices.Sort(rows) // in the order of the ranks
	rows = d.data.Own(rows)
	plain, x, err := d.transformEvidence(ctx, rows, d.scaling, nil)
	if err != nil || math.IsInf(plain, -1) {
		return "", 0, err
	}
	gain = max(transformGain, transformNats/float64(n))
	for _, name := range dataset.Transforms() {
		if dataset.CheckDomain(name, d.data, rows) != nil {
			continue
		}
		s, err := d.scaling.Transformed(name, dataset.Mean, d.data, rows)
		if err != nil {
			continue // the transform leaves nothing to learn
		}
		v, _, err := d.transformEvidence(ctx, rows, s, x)
		if err != nil {
			return "", 0, err
		}
		if v-plain > gain {
			chosen, gain = name, v-plain
		}
	}
	return chosen, math.Round(1e3*gain) / 1e3, nil
}

// transformEvidence returns the log evidence per row, for targets in standard deviations, after a short training that
// starts at x. If x is nil, it starts where training starts. It also returns the trained parameters.
func (d *dealt) transformEvidence(ctx context.Context, rows []int, s dataset.Scaling, x []float64) (float64, []float64,
	error) {
	all, err := gather(d.data.Scaled(rows, s))
	if err != nil {
		return 0, nil, err
	}
	n, dims := all.X.Rows, d.data.Cols
	k, err := kernel.Parse("matern32", dims, true)
	if err != nil {
		return 0, nil, err
	}
	choice := method.Choice{Name: method.EvidenceName, Hyperprior: "weak", Epochs: transformSteps}.WithDefaults()
	problem := choice.Method().Bind(method.Task{Kernel: k, Mean: kernel.LinearMean{}, Rows: d.data.Scaled(rows, s), N: n,
		Ranks: d.data.Ranks(), All: all, Limit: farLimit, Solver: posterior.ByCholesky, Context: ctx})
	if x == nil {
		x = make([]float64, len(k.Params())+2)
		for i, p := range k.Params() {
			if p.Kind == kernel.Lengthscale {
				x[i] = math.Log(float64(dims))
			}
		}
		x[len(x)-1] = math.Log(0.3)
	}
	r, err := problem.Minimize(ctx, method.Run{Load: func(string) *method.State { return nil },
		Tell: func(string, *method.State, int, float64, string) error { return nil }}, x)
	if err = cmp.Or(err, ctx.Err()); err != nil {
		var outside *train.StartError
		if errors.As(err, &outside) {
			return math.Inf(-1), x, nil
		}
		return 0, nil, err
	}
	y, err := d.data.Targets(rows)
	slopes := []float64{0}
	for _, v := range y {
		slopes[0] += s.LogSlope(v)
	}
	if err = d.data.Ranks().Agree(err); err == nil {
		err = d.data.Ranks().Sum(slopes)
	}
	return (slopes[0] - r.Value) / float64(n), r.X, err
}
