package krigo_test

import (
	"strings"
	"testing"

	"github.com/krigo-gp/krigo"
	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/internal/must"
)

// TestCertifyRefusesOtherOptions: a model with altered terms or options is refused, even if its certificate was
// computed again for the altered terms or options, because the model no longer fits the options of its fit.
func TestCertifyRefusesOtherOptions(t *testing.T) {
	table := homes()
	of := copies(t, table)
	plain := krigo.Options{
		Kernel: krigo.Kernel{ARD: "auto"},
		Method: krigo.Method{Name: "kl-pac"},
		Run:    krigo.Run{Restarts: 1},
	}
	narrow := plain
	narrow.Data.Inputs = []string{"RM", "LSTAT"}
	says := func(old, other string) func(*krigo.Model) {
		return func(m *krigo.Model) {
			text := strings.Replace(string(m.Fitted), old, other, 1)
			if m.Fitted = []byte(text); !strings.Contains(text, other) || strings.Contains(text, old) &&
				!strings.Contains(other, old) {
				t.Fatalf("%s: no %s", text, old)
			}
		}
	}
	tempered := cheap(krigo.Options{
		Method:  krigo.Method{Name: "vfe", Inducing: 5},
		Prior:   krigo.Prior{Kind: "informed", Temper: []float64{1, 0.3}},
		Promise: krigo.Promise{MeanBound: "twice"},
	})
	fixed := cheap(krigo.Options{
		Method:  krigo.Method{Name: "evidence"},
		Prior:   krigo.Prior{Kind: "informed"},
		Promise: krigo.Promise{Epsilon: 1, Share: 0.5},
	})
	for what, c := range map[string]struct {
		o    krigo.Options
		edit func(m *krigo.Model)
	}{
		"Choices":    {plain, func(m *krigo.Model) { m.Terms.Choices = 1 }},
		"Choices of": {tempered, func(m *krigo.Model) { m.Terms.Choices = 1 }},
		"Delta":      {plain, func(m *krigo.Model) { m.Terms.Delta = 0.1 }},
		"Loss":       {plain, func(m *krigo.Model) { m.Terms.Loss.Below *= 2; m.Terms.EpsilonRaw *= 2 }},
		"Inequality": {fixed, func(m *krigo.Model) { m.Terms.Inequality = "maurer" }},
		"Route":      {fixed, func(m *krigo.Model) { m.Terms.Route = "both" }},
		"Promise":    {fixed, func(m *krigo.Model) { m.Terms.Promise = 0.3 }},
		"Scaling": {plain, func(m *krigo.Model) {
			m.Scaling.Source, m.Terms.Scaling = dataset.Declared, dataset.Declared
		}},
		"the objective": {plain, func(m *krigo.Model) { m.Objective = "sqrt-pac" }},
		"the inputs: the model doesn't predict from the column \"DIS\"": {narrow, says(`"inputs":["RM","LSTAT"],`, "")},
		"the inputs: the model predicts from the column \"DIS\"": {plain,
			says(`"target":"MEDV",`, `"target":"MEDV","ignore":["D?S"],`)},
		"the inputs: missing values":      {plain, says(`"missing":"refuse"`, `"missing":"mean"`)},
		"the kernel or its mean: it is":   {plain, says(`"expression":"se"`, `"expression":"matern32"`)},
		"the kernel or its mean":          {plain, says(`"mean":"zero"`, `"mean":"constant"`)},
		"the options that it says it was": {plain, says(`"seed":5`, `"seed":6`)},
	} {
		c.o.Run.Seed = 5
		m := of(c.o)
		reproduced(t, m, table, what)
		c.edit(m)
		d := must.Get(m.Labelled(table))(t)
		m.Certificate = must.Get(m.Model.Certify(d))(t)
		r, err := certify(m, table)
		must.Hold(t, err != nil &&
			(strings.Contains(err.Error(), "disagree about "+strings.TrimSuffix(what, " of")) || strings.Contains(err.Error(), what)),
			"%s: %+v, %v", what, r, err)
	}
	m := fit(t, table, plain)
	m.Fitted = []byte(`{"data":{"target":"MEDV"},"method":{"name":"of another program"}}`)
	must.Refuse(certify(m, table))(t, `"of another program", a method that this program doesn't have`)
	m.Fitted = []byte(`{"data":{"target":"MEDV","colour":"red"}}`)
	must.Refuse(certify(m, table))(t, "newer krigo", "an unknown option")
}
