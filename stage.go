package krigo

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/method"
	"github.com/krigo-gp/krigo/model"
	"github.com/krigo-gp/krigo/pacbayes"
)

// stage is a share of the rows and how it is trained on. A fit with a prior on the grid is one stage. An informed fit
// is one that learns the prior, and perhaps a second one that learns the posterior. A sibling is one more, on other
// rows.
type stage struct {
	share
	choice   method.Choice
	families []family // the priors that are tried, each with the terms of its certificate
	init     *Params  // where training starts; nil: at points of its own
	given    bool     // nothing is trained: the parameters of init are the result
	restarts int      // starting points of each family; 0: by the method
}

// gridStage is a fit with a prior on the grid: P is chosen and Q is learnt on the certified rows.
func (d *dealt) gridStage(certified share) stage {
	o := d.options
	return stage{certified, o.Method, priced(o.Kernel.families(d.data.Cols), d.terms), o.Run.Init, o.Run.FixParameters,
		o.Run.Restarts}
}

// priorStage learns an informed fit's prior on the prior rows. A method that trains for a bound does so as if these
// rows were certified with a prior on the grid.
func (d *dealt) priorStage() (stage, error) {
	rows, err := d.take(dataset.Prior)
	o := d.options
	return stage{share: rows, choice: priorMethod(o.Method), families: priced(o.Kernel.families(d.data.Cols), d.gridTerms),
		restarts: o.Run.Restarts}, err
}

// posteriorStage learns Q on the certified rows, from the priors that an informed fit chooses among. The prior has m
// inducing inputs.
func (d *dealt) posteriorStage(certified share, priors []family, m int) stage {
	return stage{share: certified, choice: posteriorMethod(d.options.Method, m), families: priced(priors, d.terms),
		restarts: d.options.Run.Restarts}
}

// siblingStage trains a model's sibling on d's prior rows: the evidence of all rows anew, other methods with the
// model's kernel from where its training ended.
func (d *dealt) siblingStage(m *model.Model) (stage, error) {
	s, err := d.priorStage()
	if err != nil || !s.choice.OnBatches() && s.choice.Kind().Exact {
		return s, err
	}
	at := m.Trained()
	s.init, s.restarts = &Params{Kernel: at.Kernel.Spec(at.Theta), NoiseVariance: at.Noise}, 1
	if b := at.Beta; len(b) > 0 {
		s.init.Mean = &MeanParams{Constant: b[0], Linear: b[1:]}
	}
	i := slices.IndexFunc(s.families, func(f family) bool { return sameShape(f.spec(), s.init.Kernel) })
	if i < 0 {
		return s, fmt.Errorf("the model's kernel, %s, is none of those that it says were tried", s.init.Kernel)
	}
	s.families = priced(s.families[i:i+1], d.gridTerms)
	return s, nil
}

// priced returns families with the terms of their certificates, one of which is chosen.
func priced(families []family, terms func(f family, choices int) pacbayes.Terms) []family {
	for i, f := range families {
		families[i].terms = terms(f, len(families))
	}
	return families
}

// priorMethod is how a method trains an informed prior: no free-form posterior follows, and α is learnt by bounds
// alone.
func priorMethod(c method.Choice) method.Choice {
	if c.Free() {
		c.Posterior = "objective"
	}
	if c.Kind().Bound == "" && c.Learns() {
		c.AlphaBy = ""
	}
	return c
}

// posteriorMethod is how a posterior is learnt after an informed prior with m inducing inputs: by the prior's method if
// that trains for a bound, else by kl-pac.
func posteriorMethod(c method.Choice, m int) method.Choice {
	if c.Kind().Bound == "" {
		kl := method.Choice{Name: method.KLPACName, Inducing: c.Inducing, InducingBy: c.InducingBy,
			InducingInit: c.InducingInit, FixInducing: c.FixInducing, Posterior: c.Posterior, Epochs: c.Epochs,
			Optimizer: "lbfgs"}
		if c.Learns() {
			kl.AlphaBy = c.AlphaBy
		}
		c = kl.WithDefaults()
	}
	c.Inducing = cmp.Or(c.Inducing, m)
	if c.Inducing == 0 && !c.Free() {
		c.InducingBy = "none"
	} else if c.Full() {
		c.InducingBy = ""
	}
	return c
}
