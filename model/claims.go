package model

import (
	"cmp"
	"slices"

	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/internal/spelling"
	"github.com/krigo-gp/krigo/observation"
)

// Claim is one of the statements that a model makes.
type Claim struct {
	What   string   `json:"what"`
	Fields []string `json:"fields,omitempty"` // header fields and [arrays] that make the statement
	// how krigo checked the statement, or why only the fitter vouches for it
	By string `json:"by"`

	// Rests says that the certificate's numbers depend on the claim.
	Rests bool `json:"bound_rests_on_it,omitempty"`

	// Beforehand says that the claim is about the time before the fit, which no program can check.
	Beforehand bool `json:"-"`
}

// Known holds what a caller found out about a verified model, in addition to the checks of Verify.
type Known struct {
	Ties bool // what ties rows together was measured again
	// a sparse prior's weights follow in closed form from its parameters, inducing inputs and rows
	Derived  bool
	Refitted bool   // fitting again gave the same bits
	Refit    string // why Refitted is false
	Differs  bool   // fitting again was tried, and failed or gave another model
	Declared bool   // the caller has the declaration by which the model was fitted
}

// basis says how a claim can be checked.
type basis int

const (
	byData  basis = iota // data and file
	byRefit              // fitting again
	byNone               // krigo checked nothing: only the fitter vouches for the statement
)

// Claims lists what a model that passed Verify states.
// checked are the claims that krigo checked, and word the claims that only the fitter vouches for.
// Every field of the file is in exactly one claim.
// If another claim lists a longer path, such as training.seconds, that part of the field is in the
// other claim.
func (m *Model) Claims(k Known) (checked, word []Claim) {
	add := func(b basis, rests bool, what, by string, fields ...string) {
		c := Claim{What: what, Fields: fields, By: by, Rests: rests}
		switch {
		case b == byRefit && k.Refitted:
			c.By = "fitting again gave the same to the last bit"
			b = byData
		case b == byRefit:
			c.By = cmp.Or(by, k.Refit)
		}
		if b == byData {
			checked = append(checked, c)
		} else {
			word = append(word, c)
		}
	}
	prior, _ := m.Posterior.OfPrior()

	dealt := map[Split]string{ByContent: "dealt anew by the seed and the rows' content",
		ByLast:     "the last rows of the table are certified",
		ByPosition: "dealt anew by the seed and the order of the rows in the file"}
	add(byData, true, "the rows and their roles", dealt[m.Split],
		slices.Concat([]string{"inputs", "target"}, observation.Fields(), []string{"seed", "split",
			"group", "rows_by_role", "groups_by_role", "targets", "units_by_role", "rows_sha256",
			"hash_order", "targets_sha256", "certified_rows_sha256", "[roles]", "[rows]",
			"[groups]"})...)
	learnt := "categories of inputs, and what fills gaps" + spelling.If(m.Posterior.Monotone != nil,
		", and the ends of the inputs with which predictions rise or fall")
	add(byData, true, learnt, "learnt again from the prior rows, if there are any",
		"encoding", "monotone")
	if m.Scaling.Source == dataset.Declared {
		add(byNone, true, "the scaling's constants", "they were declared: fitting again takes "+
			"the same", "scaling")
	} else {
		add(byData, true, "the scaling's constants", "computed again from the rows that they "+
			"are of", "scaling")
	}
	add(byData, true, "the certificate", "computed again from the predictor and the certified rows",
		"certificate")
	if m.Fitted == nil {
		add(byNone, true, "the terms (loss, ε, δ, how much was chosen)",
			"a file of this version keeps no options to compare them with", "terms")
	} else {
		add(byData, true, "the terms (loss, ε, δ, how much was chosen)",
			"compared with the model and with the options that it was fitted with", "terms")
	}
	m.claimPredictor(add, prior != nil && m.Posterior.Support.Rows > 0, k.Derived)
	beside := "noise of the observations, conformal intervals, range of the inputs and distances" +
		spelling.If(m.Context != nil, ", errors on certified rows beside those of others")
	add(byData, false, beside, "computed again from the rows", "observation_noise", "noise",
		"context", "conformal", "label_scores", "input_range", "[misses]", "[deviations]")
	if m.Test != nil && m.Counts[dataset.Test] == 0 {
		add(byNone, false, "test figures", "they are of a table of their own", "test")
	} else {
		add(byData, false, "test figures", "computed again from the test rows, if there are any",
			"test")
	}
	add(byRefit, k.Differs, "how it was trained (options, objective, course)", "", "fitted",
		"objective", "training", "curves")
	ties := byRefit
	again := ""
	if k.Ties {
		ties = byData
		again = "measured again with the prior rows"
	}
	add(ties, m.Terms.Informed, "which rows the promise is about (what ties rows together)",
		again, "ties")
	add(byNone, false, "words (source, findings, how long training took)",
		"nothing is computed from them", "source", "notices", "findings", "certificate_reason",
		"training.seconds")
	by := "no program can see it"
	if m.Terms.Declaration != "" {
		by = "the declaration wasn't at hand (--declaration FILE)"
		if k.Declared {
			by = "the model is the one declared; somebody else has to vouch for the time. Others " +
				"may have been tried before it was declared"
		}
	}
	reading := "how cells are read"
	if said := m.Reading.Said(); said != "" {
		reading += " (" + said + ")"
	}
	for _, what := range m.Vouched() {
		word = append(word, Claim{What: what, By: "no program can see it", Rests: true})
	}
	return checked, append(word,
		Claim{What: "that all options (inputs, kernel, loss, ε, δ, seed) and " + reading +
			" were chosen before the certified rows were seen, and that nothing else was tried",
			Fields: []string{"reading"}, By: by, Rests: true, Beforehand: true})
}

// claimPredictor adds the claims about the predictor.
// The flag after says that the model learnt a prior on the prior rows, and then a posterior on the
// certified rows.
func (m *Model) claimPredictor(add func(b basis, rests bool, what, by string, fields ...string),
	after, derived bool) {
	q := m.Posterior
	at := m.Trained()
	const anyQ = "the bound holds for every posterior: this one's divergence from the prior is " +
		"computed again and paid for"
	if !m.Terms.Informed {
		add(byData, true, "the prior's kernel and mean, with their parameters",
			"on the grid that is paid for", "kernel", "mean", "prior", "solver", "nearest",
			"noise_of_inputs", "ordinal", "[theta]", "[beta]")
		if q.Inducing() > 0 {
			add(byData, true, "the posterior (inducing inputs, weights, covariance)", anyQ,
				"[support]", "[weights]", "[cholesky]", "[cholesky_b]", "[targets]")
			add(byRefit, false, "the noise variance, which only shaped the posterior", "",
				"noise_variance")
		} else {
			add(byData, true, "the posterior (support, weights, noise variance)",
				"conditioned again on the certified rows", "noise_variance", "[support]",
				"[weights]", "[cholesky]", "[targets]")
		}
		return
	}
	for _, what := range m.Learnt() {
		add(byRefit, true, what, "")
	}
	p := spelling.Either(q.Joint() == nil, "[prior_", "[")
	of := spelling.If(m.Varying != nil, ", and how the noise depends on the inputs")
	add(byRefit, true, "the kernel and mean, with their parameters"+of+
		", as of the prior rows alone", "",
		"kernel", "mean", "prior", "solver", "nearest", "noise_variance", "noise_of_inputs",
		"ordinal", p+"theta]", p+"beta]")
	if after {
		prior, _ := q.OfPrior()
		at = prior
	}
	switch {
	case q.Joint() != nil:
		add(byData, true, "the rows that predict, and their weights",
			"compared with the prior rows, and with the equations that these make", "[support]",
			"[weights]", "[targets]", "[noises]")
		return
	case at.Inducing() == 0:
		add(byData, true, "the prior's rows and weights", "conditioned again on the prior rows",
			"[prior_support]", "[prior_noises]", "[prior_weights]", "[prior_cholesky]")
	case derived:
		add(byRefit, true, "the inducing inputs, as of the prior rows alone", "", "[prior_support]")
		add(byData, true, "the prior's weights and covariance",
			"computed again from its parameters, inducing inputs and prior rows", "[prior_weights]",
			"[prior_cholesky]", "[prior_cholesky_b]")
	default:
		add(byRefit, true, "the inducing inputs, weights and covariance, as of the prior "+
			"rows alone", "", "[prior_support]", "[prior_weights]", "[prior_cholesky]",
			"[prior_cholesky_b]")
	}
	if after {
		add(byData, true, "the posterior", anyQ, "[theta]", "[beta]", "[support]", "[weights]",
			"[cholesky]", "[cholesky_b]")
	} else {
		add(byData, true, "the posterior", "it is the prior", "[theta]", "[beta]", "[support]",
			"[weights]", "[cholesky]", "[cholesky_b]")
	}
}
