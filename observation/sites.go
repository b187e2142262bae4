package observation

import (
	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/internal/faults"
	"github.com/krigo-gp/krigo/objective"
)

const (
	withNoise = 6  // the version of model files with a noise that isn't Gaussian
	withSites = 13 // with a noise that takes sites
)

// noise isn't Gaussian.
var noise = part{
	field:   "noise",
	version: withNoise,
	has:     func(o *Observation) bool { return o.Noise != "" },
	goes: func(o *Observation, with Features) []error {
		if with.File { // a method may have such a noise by itself
			return []error{faults.If((with.Bound && !with.Drawn) || with.Positional,
				"the model file has the noise %q, but a posterior for Gaussian noise alone",
				o.Noise)}
		}
		return []error{faults.When(o.Noise == objective.StudentName, o.Unsited(with),
			"noise student: %w; or noise constant")}
	},
}

// classes are labels in place of numbers.
var classes = part{
	field:   "classes",
	version: withSites,
	has: func(o *Observation) bool {
		return o.Classes != nil || o.Noise == objective.ProbitName
	},
	goes: func(o *Observation, with Features) []error {
		if !with.File { // sited says it
			return nil
		}
		return []error{o.mislabelled(with)}
	},
	file: "the model file's classes don't go with its noise or its loss",
}

// mislabelled says why the classes don't go with the noise or the loss, or returns nil.
func (o *Observation) mislabelled(with Features) error {
	labels := o.Noise == objective.ProbitName
	return faults.First(
		faults.If(o.Classes != nil && !labels, "classes take noise probit"),
		faults.If((o.Classes != nil || (labels && with.File)) &&
			(len(o.Classes) != 2 || o.Classes[0] == o.Classes[1]),
			"it takes two classes"),
		faults.If(labels && !with.Labels,
			"the certificate counts wrong labels: leave out loss, epsilon and epsilon-units"),
	)
}

// sited is a noise with sites.
var sited = part{
	field:   "noise",
	version: withSites,
	has:     func(o *Observation) bool { return o.Sited() != nil || o.Classes != nil },
	goes: func(o *Observation, with Features) []error {
		if o.Sited() == nil {
			return []error{faults.If(true, "classes: they take noise probit, not %s", with.Noise)}
		}
		return []error{faults.Of(o.siteless(with), "noise %s: %w", with.Noise)}
	},
	file: "the model file's noise doesn't go with its scaling, its columns or its loss",
}

// siteless says why the noise can't have its sites, or returns nil.
func (o *Observation) siteless(with Features) error {
	labels := o.Noise == objective.ProbitName
	return faults.First(
		o.mislabelled(with),
		faults.If(labels && with.Widths,
			"labels have no widths: leave out promise, curve and calibration-fraction"),
		faults.If(labels && with.Bound && !with.Drawn,
			"%s bounds what a random draw gives: take prior grid, or posterior learnt or free",
			with.Method),
		faults.If(labels && !with.Bound && !with.Informed,
			"a prior on the grid takes kl-pac or sqrt-pac"),
		faults.If((!with.Drawn || !with.Bound) && !with.Sites,
			"its sites take the objective evidence, by solver cholesky or nearest, and "+
				"without batches"),
		faults.If(o.Scaling.Source != dataset.PriorRows,
			"its targets have no scale: take scaling prior-rows"),
		faults.If(o.Offset != "" || o.Censored != "" || (with.Several && o.Kinds == nil) ||
			with.Monotone || with.Given || o.NoiseColumn != "",
			"offset, censored, monotone, init, noise-column and several targets are for "+
				"regression"),
		faults.If(o.Noise == objective.OrdinalName && with.ZeroMean,
			"the mean says where the first threshold lies: take mean constant or linear"),
		faults.When(!with.Drawn, o.Unsited(with), "%w"),
		faults.If(with.File && (with.Drawn != with.Bound ||
			(!with.Drawn && !o.Sited().Scaled() && o.ObservationNoise != 1)),
			"its own scale isn't 1"),
	)
}

// ordinal is a target of levels.
var ordinal = part{
	field:   "ordinal",
	version: 14,
	has:     func(o *Observation) bool { return o.Ordinal != nil },
	goes:    func(*Observation, Features) []error { return nil },
}

// Unsited says why a fit can't alternate between parameters and the noise of each row, or returns
// nil.
func (o *Observation) Unsited(with Features) error {
	return faults.First(
		faults.If(!with.MeanAlone,
			"it takes a mean that is certified by its own misses: prior informed, nothing "+
				"learnt after it, and mean-bound direct"),
		faults.If(!with.Alternates,
			"it is for the objectives evidence (without batches) and nearest"),
		faults.If(o.NoiseColumn != "",
			"the standard errors of noise-column are of Gaussian noise"),
		faults.If(with.Transformed && o.Censored == "",
			"the target has either its own noise or a transform: take target-transform none"),
	)
}
