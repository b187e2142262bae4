// Package observation says how a target is seen, given the function f of a Gaussian process:
// in which unit and by which transform, with which noise, as a number, a class or a limit, and with
// which columns beside the inputs.
//
// This program says which columns rows need beside the inputs, for a target that is what another
// model misses:
//
//	package main
//
//	import (
//		"fmt"
//
//		"github.com/krigo-gp/krigo/observation"
//	)
//
//	func main() {
//		target := observation.Observation{Columns: observation.Columns{Offset: "forecast"}}
//		fmt.Println(target.Further()) // [forecast]
//		fmt.Println(target.Goes(observation.Features{Monotone: true}))
//	}
//
// An [Observation] reads the target of a row, predicts it, and knows what it can be combined with.
// A property of the target is a part in a file of this package, and a line in the list of parts.
// Packages above ask the Observation, and don't know which parts it has.
package observation

import (
	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/objective"
)

// Observation says how a target is seen.
// Its fields are fields of a model file.
type Observation struct {
	// Scaling has the unit of the target and its transform, and the units of the inputs.
	Scaling dataset.Scaling `json:"scaling"`

	// variance of y about f; not the σ_n² of PAC-Bayes
	ObservationNoise float64 `json:"observation_noise"`
	// registered noise of this scale; "": Gaussian
	Noise string `json:"noise,omitempty"`
	// Ordinal has the levels of an ordinal target, and the thresholds that training found; nil:
	// it isn't ordinal
	Ordinal *objective.Ordinal `json:"ordinal,omitempty"`
	// how the noise depends on inputs; nil: it doesn't
	Varying *Varying `json:"noise_of_inputs,omitempty"`

	// labels of the target, by their places; nil: the target is a number
	Classes []string `json:"classes,omitempty"`
	// column of more than two classes, one of which is the target
	Kinds *dataset.Kinds `json:"kinds,omitempty"`

	Columns
}

// Columns are columns beside the inputs that say how the target was observed; "": none.
type Columns struct {
	// Column that says which targets are limits: left (below it) or -1, right or 1, none or 0; or
	// the target, with cells such as <0.1 and >50.
	//
	// See dataset.Table.Limited.
	Censored string `json:"censored,omitzero" set:"censored" value:"COL" for:"training"`

	// Known standard errors of the target (in its units, not variances); predictions need them too.
	//
	// The square of the standard error is added to the trained noise variance, which is the same
	// for all rows.
	NoiseColumn string `json:"noise_column,omitzero" set:"noise-column" value:"COL" for:"training"`

	// Another model's predictions of the target, for rows that it wasn't made from: the model
	// learns what they miss, and its predictions are the sum.
	//
	// Offset is a fixed function of the row, so the certificate of the sum is the certificate of
	// the GP for y − Offset.
	Offset string `json:"offset,omitzero" set:"offset" value:"COL" for:"training"`

	// Exposure of a count or positive target, such as person-years: the mean is proportional to it,
	// and predictions need it too.
	//
	// Exposure multiplies the mean e^f of a row's target.
	Exposure string `json:"exposure,omitzero" set:"exposure" value:"COL" for:"training"`
}

// Sited returns the noise if it takes sites, or nil.
func (o *Observation) Sited() objective.Sited {
	if o.Ordinal != nil {
		return *o.Ordinal
	}
	return objective.SitedOf(o.Noise)
}

// Likelihood returns the noise.
func (o *Observation) Likelihood() (objective.Likelihood, error) {
	if o.Ordinal != nil {
		return *o.Ordinal, nil
	}
	return objective.NoiseOf(o.Noise)
}

// LabelScale returns the middle and the unit of labels, whose numbers are 0 and 1.
// A model whose drawn labels are certified sees ±1, so that f has its label's sign.
func LabelScale(drawn bool) (mean, scale float64) {
	if drawn {
		return 0.5, 0.5
	}
	return 0, 1
}
