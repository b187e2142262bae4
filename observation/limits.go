package observation

import (
	"slices"

	"github.com/krigo-gp/krigo/internal/faults"
	"github.com/krigo-gp/krigo/objective"
)

// limits are targets that lie beyond a known number.
var limits = part{
	field:   "censored",
	version: 12,
	column:  func(c *Columns) string { return c.Censored },
	learnt:  "how much rows whose targets are limits weigh among the prior rows",
	goes: func(o *Observation, with Features) []error {
		return []error{
			faults.Of(o.Unsited(with), "censored: %w; or leave rows with limits out"),
			faults.If(with.Aside,
				"censored: a limit has no error, so that calibration and test rows can't be set "+
					"aside at random: leave calibration-fraction and test-fraction out"),
			faults.If(with.Several || o.Censored == o.Offset ||
				(o.Censored != with.Target && slices.Contains(with.Own, o.Censored)),
				"censored %q: it takes the target, or a column of its own, and one target",
				o.Censored),
			faults.If(o.Censored == with.Target && with.Limits != "",
				"censored %q: below and above read limits as numbers in every column, this one too: "+
					"write numbers in place of the inputs' limits, or leave censored out",
				o.Censored),
			faults.If(with.Gradients,
				"censored: take the solver cholesky, or the objective nearest"),
			faults.If(o.Noise == objective.StudentName || o.Varying != nil,
				"censored: it takes noise constant, not %s", with.Noise),
		}
	},
	file: "the model file has targets that are limits, but a posterior, a noise, intervals or a " +
		"certificate that doesn't go with them",
}
