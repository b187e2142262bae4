package observation

import (
	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/internal/faults"
)

// transform is a function of the target that is Gaussian.
var transform = part{
	field:   "target_transform",
	version: 7,
	has:     func(o *Observation) bool { return o.Scaling.Transform != nil },
	goes: func(o *Observation, with Features) []error {
		return []error{faults.Of(o.Untransformed(with),
			"target-transform %s: %w; or target-transform none", o.Scaling.Transform.Name)}
	},
	file: "the model file's scaling has a transform of the target, which needs a mean that is " +
		"certified by its own misses, Gaussian noise, and constants from the prior rows alone",
}

// Untransformed says why the target can't have a transform, or returns nil.
// A target can have a transform only if the certificate is for a mean alone, and counts this mean's
// misses. Such a mean is a fixed function of the inputs, in the target's units.
func (o *Observation) Untransformed(with Features) error {
	return faults.First(
		faults.If(o.Offset != "",
			"the offset is in the target's own units, and is added to predictions in these "+
				"units"),
		faults.If(o.NoiseColumn != "",
			"the standard errors of noise-column are in the target's own units, and a "+
				"transform would change them"),
		faults.If(!with.MeanAlone,
			"a random draw of the model isn't Gaussian in the target's units, so that it "+
				"takes a mean that is certified by its own misses: prior informed, nothing "+
				"learnt after it, and mean-bound direct"),
		faults.If(o.Scaling.Source != dataset.PriorRows,
			"its constants come from the prior rows, and the scaling with them: leave that "+
				"at prior-rows"),
		faults.If(with.Bound || with.Term,
			"%s trains for a loss of the target itself: take an objective such as evidence "+
				"or nearest", with.Method),
		faults.If(with.Likelihood != "",
			"the noise of %s isn't Gaussian, and it would take both: take evidence, nearest "+
				"or svgp", with.Method),
	)
}
