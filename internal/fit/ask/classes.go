package ask

import (
	"cmp"

	"github.com/krigo-gp/krigo/internal/faults"

	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/internal/spelling"
	"github.com/krigo-gp/krigo/objective"
	"github.com/krigo-gp/krigo/pacbayes"
)

// Classification: the target is 0 or 1, by the places of its labels in Data.Classes.
// A GP with probit noise predicts the probability of 1, and a certificate counts wrong labels.

// classed returns the options with the target's classes, if it has classes by its look:
// a text with two kinds, or two numbers if the options ask for probit noise.
func (o Asked) classed(table *dataset.Table) (Asked, error) {
	text := table.IsText(o.Data.Target)
	if o.Kept || o.Data.Classes != nil || o.Data.Censored != "" || (!o.Labels() && !text) {
		return o, nil
	}
	classes, err := table.Classes(o.Data.Target)
	switch {
	case err != nil:
		return o, err
	case len(classes) == 2 && o.Kernel.Noise != "" && !o.Labels():
		return o, faults.Usage("noise %s: it is for numbers, and %q has the labels %s: leave "+
			"noise out, or take probit", o.Kernel.Noise, o.Data.Target, spelling.Quoted(classes, 2))
	case len(classes) == 2:
		o.Data.Classes = classes
		o.Kernel.Noise = objective.ProbitName
	case o.Labels():
		return o, faults.Usage("noise probit: it is for targets of classes, and %q hasn't two: "+
			"krigo fit and Options.Kinds take up to 100", o.Data.Target)
	}
	return o, nil
}

// forSited fills in the options that follow from a noise with sites.
func (o Asked) forSited() Asked {
	if o.Labels() {
		p := &o.Promise
		// flags have the default loss
		if (p.Loss == "" || p.Loss == string(pacbayes.Band)) && p.Epsilon == 0 {
			p.Loss = string(pacbayes.Label)
			p.Epsilon = 0.5
			p.Units = "raw"
		}
	}
	if o.Sited() != nil {
		o.Data.Transform = cmp.Or(o.Data.Transform, NoTransform)
		if !o.Labels() { // f is in the target's own unit, or begins at the first threshold
			o.Kernel.Mean = cmp.Or(o.Kernel.Mean, "constant")
		}
	}
	return o
}
