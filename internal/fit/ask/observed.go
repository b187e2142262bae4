package ask

import (
	"slices"

	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/method"
	"github.com/krigo-gp/krigo/objective"
	"github.com/krigo-gp/krigo/observation"
	"github.com/krigo-gp/krigo/pacbayes"
	"github.com/krigo-gp/krigo/posterior"
)

// Values of Data.Transform other than names of transforms.
const (
	NoTransform   = "none"
	AutoTransform = "auto"
)

// Observed says how a target is seen, as far as the options say it.
func (o Asked) Observed() *observation.Observation {
	d := o.Data
	of := &observation.Observation{Columns: d.Columns, Classes: d.Classes, Kinds: d.Kinds}
	of.Scaling.Source = d.Scaling
	if slices.Contains(dataset.Transforms(), d.Transform) {
		of.Scaling.Transform = &dataset.Transform{Name: d.Transform, Estimate: d.Estimate}
	}
	if o.Kernel.Noise == objective.StudentName || o.Sited() != nil {
		of.Noise = o.Kernel.Noise
	}
	if o.Varies() {
		of.Varying = &observation.Varying{}
	}
	return of
}

// certifiesMean says whether the prior rows alone train the mean, whose own misses are certified.
func (o Asked) certifiesMean() bool {
	return o.Informed() && !o.Learns() && o.Promise.MeanBound == pacbayes.Direct
}

// features returns what the target is combined with.
func (o Asked) features() observation.Features {
	d := o.Data
	p := o.Promise
	k := o.Method.Kind()
	with := observation.Features{Target: d.Target,
		Own:      append([]string{d.Target, d.Group}, d.Categorical...),
		Limits:   d.Reading.Below + d.Reading.Above,
		Informed: o.Informed(), MeanAlone: o.certifiesMean(), Drawn: o.Drawn(),
		Labels: p.Loss == string(pacbayes.Label) && p.Epsilon == 0.5 && p.Units == "raw",
		Widths: p.Share > 0 || p.Curve || p.Calibration > 0,
		Aside:  p.Calibration > 0 || d.TestFraction > 0,
		Method: o.Method.Name, Noise: o.Kernel.Noise, Bound: k.Bound != "",
		Term:       o.Method.Term == "loss",
		Alternates: (k.Exact || k.Local) && !(k.Exact && o.Method.OnBatches()),
		Gradients:  o.Method.Solver == posterior.ByCG, Given: o.Run.Init != nil,
		ZeroMean:    o.Kernel.Mean == "zero",
		Transformed: d.Transform != "" && d.Transform != NoTransform,
		Monotone:    o.Kernel.Monotone != nil, Several: len(d.Beside) > 0}
	with.Sites = o.Method.Name == method.EvidenceName && !o.Method.OnBatches() && !with.Gradients
	if _, known := method.Find(o.Method.Name); known {
		with.Likelihood = o.Method.Likelihood()
	}
	return with
}

// Untransformed says why the target can't have a transform, or returns nil.
func (o Asked) Untransformed() error { return o.Observed().Untransformed(o.features()) }

// Unsited says why a fit can't alternate between parameters and the noise of each row, or returns
// nil.
func (o Asked) Unsited() error { return o.Observed().Unsited(o.features()) }
