package observation

import (
	"slices"

	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/internal/faults"
	"github.com/krigo-gp/krigo/method"
)

// noiseColumn has the target's standard errors.
var noiseColumn = part{
	field:   "noise_column",
	version: 10,
	alone:   "noise-column",
	column:  func(c *Columns) string { return c.NoiseColumn },
	holds:   "standard errors",
	reads: dataset.Further{What: "standard errors of the target",
		Since: "no standard error is", Error: cell},
	goes: func(o *Observation, with Features) []error {
		rows := []error{
			faults.If(with.Several && o.Kinds == nil,
				"several targets: the noise-column %q is of one target: fit each target alone",
				o.NoiseColumn),
			faults.If(o.Noise != "" || o.Varying != nil,
				"noise-column: it is added to a noise that is the same for all rows: take noise "+
					"constant, or leave the column out"),
		}
		if o.Varying != nil { // its part has the other rows
			return rows
		}
		return append(rows, differs("noise-column", with)...)
	},
	file: "the model file has a column of standard errors, but a posterior or a noise that " +
		"doesn't go with it",
}

// varying is a noise that depends on the inputs.
var varying = part{
	field:   "noise_of_inputs",
	version: 8,
	alone:   "a noise that depends on the inputs",
	has:     func(o *Observation) bool { return o.Varying != nil },
	goes: func(_ *Observation, with Features) []error {
		return differs("noise "+with.Noise, with)
	},
	file: "the model file has a noise that depends on inputs, but a posterior for one noise " +
		"variance",
}

// differs has the rows of a noise whose variance isn't the same for all rows.
func differs(what string, with Features) []error {
	return []error{
		faults.If(!with.MeanAlone,
			"%s: the prior rows teach the noise, so that it takes prior informed, nothing "+
				"learnt after it, and mean-bound direct", what),
		faults.If(!slices.Contains([]string{"", method.EvidenceName, method.NearestName,
			method.VFEName, method.FITCName, method.DTCName, method.PEPName}, with.Method),
			"%s: %s has one noise variance for all rows: take evidence, nearest, vfe, fitc, "+
				"dtc or pep", what, with.Method),
	}
}
