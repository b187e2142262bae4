package observation

import (
	"math"

	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/internal/faults"
	"github.com/krigo-gp/krigo/objective"
)

// exposure multiplies the mean of a noise whose f is a logarithm.
var exposure = part{
	field:   "exposure",
	version: 14,
	alone:   "exposure",
	column:  func(c *Columns) string { return c.Exposure },
	holds:   "exposures",
	reads: dataset.Further{What: "exposures of the target",
		Least: math.SmallestNonzeroFloat64, Since: "an exposure is", Shift: math.Log, Usual: 1},
	goes: func(o *Observation, _ Features) []error {
		_, rated := o.Sited().(objective.Rated)
		return []error{faults.If(!rated,
			"exposure %q: it multiplies the mean of a count or a positive number: take noise "+
				"negative-binomial, poisson or gamma", o.Exposure)}
	},
	file: "the model file's noise doesn't go with its scaling, its columns or its loss",
}
