package observation

import (
	"slices"

	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/internal/faults"
	"github.com/krigo-gp/krigo/objective"
)

// Valid returns an error if a model file of this many inputs says what no target is.
// drawn says that its certificate is about the label that a random draw of f gives.
func (o *Observation) Valid(inputs int, drawn bool) error {
	s := o.Scaling
	_, unknown := objective.NoiseOf(o.Noise)
	sources := []string{dataset.PriorRows, dataset.Declared, dataset.AllRows}
	middle, half := LabelScale(drawn)
	return faults.First(
		faults.If(!slices.Contains(sources, s.Source),
			"the model file's scaling is %.40q: want %s, %s or %s", s.Source, dataset.PriorRows,
			dataset.Declared, dataset.AllRows),
		faults.Of(s.Validate(), "the model file's scaling: %w"),
		faults.Of(unknown, "the model file: %w"),
		faults.If((o.Ordinal != nil) != (o.Noise == objective.OrdinalName) ||
			(o.Ordinal != nil && !o.Ordinal.Valid()),
			"the model file's levels and thresholds don't go with its noise"),
		faults.If(s.AsIs != (o.Sited() != nil && o.Classes == nil) ||
			(o.Classes != nil && (s.TargetMean != middle || s.TargetScale != half)),
			"the model file's scaling doesn't go with its noise"),
		o.Varying.check(inputs),
	)
}
