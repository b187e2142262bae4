package observation

import (
	"math"

	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/internal/faults"
)

// offset is a prediction of the target that the model's prediction is added to.
var offset = part{
	field:   "offset",
	version: 9,
	column:  func(c *Columns) string { return c.Offset },
	holds:   "predictions",
	reads: dataset.Further{What: "offset", Least: math.Inf(-1),
		Unit: func(cell float64) dataset.RowUnit { return dataset.RowUnit{Zero: cell, Factor: 1} }},
	words: words{
		target: "%[2]s − %[1]s",
		simple: "%[1]s plus %[2]s",
		share:  "of what %s misses",
		caution: "Predictions are the sum of %[1]s and what this model adds. The bound holds " +
			"only if the certified rows had no part in what made %[1]s.",
	},
	vouched: "that the certified rows had no part in what made the offset",
	goes: func(o *Observation, with Features) []error {
		return []error{
			faults.If(with.Several && o.Kinds == nil,
				"several targets: the offset %q is a prediction of one target: fit each target "+
					"alone", o.Offset),
			faults.If(with.Monotone,
				"monotone: the sum of the predictions and the offset needn't be monotone: make "+
					"the offset an input in its place"),
		}
	},
	file: "the model file's offset doesn't go with its targets, its columns or its mean",
}
