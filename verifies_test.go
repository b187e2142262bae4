package krigo_test

import (
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/krigo-gp/krigo"
	"github.com/krigo-gp/krigo/data"
	"github.com/krigo-gp/krigo/internal/must"
	"github.com/krigo-gp/krigo/model"
)

// TestCertifyComputesFigures: certify computes every figure beside a certificate anew, and names a figure that differs.
func TestCertifyComputesFigures(t *testing.T) {
	must.Long(t)
	of, o := copies(t, data.Boston()), krigo.Options{
		Data:    krigo.Data{TestFraction: 0.2},
		Promise: krigo.Promise{Calibration: 0.25},
		Run:     krigo.Run{Restarts: 1},
	}
	grid := cheap(krigo.Options{Method: krigo.Method{Name: "kl-pac"}})
	informed := cheap(krigo.Options{
		Method: krigo.Method{Name: "evidence"},
		Prior:  krigo.Prior{Kind: "informed"},
	})
	honest := map[string]bool{} // the options whose model was certified before an edit
	for want, c := range map[string]struct {
		o    krigo.Options
		edit func(m *krigo.Model)
	}{
		"conformal intervals computed from 127 rows":     {o, func(m *krigo.Model) { m.Conformal.HalfWidth /= 10 }},
		"conformal intervals computed from 127 rows are": {o, func(m *krigo.Model) { m.Conformal.Normalised *= 0.9 }},
		"conformal intervals computed from 151 rows":     {informed, func(m *krigo.Model) { m.Conformal.HalfWidth /= 10 }},
		"position 120 of 151":                            {informed, func(m *krigo.Model) { m.Conformal.Misses[119] *= 0.99 }},
		"position 150 of 151":                            {informed, func(m *krigo.Model) { m.Conformal.Deviations[149] *= 0.99 }},
		"conformal intervals are stored without": {grid,
			func(m *krigo.Model) { m.Conformal = of(o).Conformal }},
		"test's mse": {o, func(m *krigo.Model) { m.Test.MSE /= 2 }},
		"test figures": {o,
			func(m *krigo.Model) { m.Test.Coverage95 = 0.95; m.Test.Coverage[3].Share = 0.95 }},
		"observation noise is": {grid, func(m *krigo.Model) { m.ObservationNoise /= 2 }},
		"range":                {grid, func(m *krigo.Model) { m.Range.Max[0] *= 2 }},
	} {
		m := of(c.o)
		if text := string(must.Get(json.Marshal(c.o))(t)); !honest[text] {
			honest[text] = true
			reproduced(t, m, data.Boston(), want)
		}
		c.edit(m)
		if r, err := certify(m, data.Boston()); err != nil || r.Matches || !strings.Contains(r.Differs, want) {
			t.Errorf("%+v, %v, want %s", r, err, want)
		}
	}
	m := trained(t, homes(), krigo.Options{Run: krigo.Run{Restarts: 1}, Prior: krigo.Prior{Kind: "informed"},
		Kernel: krigo.Kernel{ARD: "off"}, Data: krigo.Data{Test: pick(homes(), every(0, 1, 9)), Scaling: "declared",
			Declared: identity(3)}})
	r, err := certify(m, homes())
	onWord := func(field string) bool {
		return slices.ContainsFunc(r.OnWord, func(c model.Claim) bool { return slices.Contains(c.Fields, field) })
	}
	if err != nil || !onWord("test") || !onWord("scaling") || r.IndependentlyChecked {
		t.Errorf("what can't be told from the data: %+v, %v", r, err)
	}
}

// TestCertifyChecksEncoding: without the categories and fills of the prior rows there is no certificate.
func TestCertifyChecksEncoding(t *testing.T) {
	table := sites(60)
	for i := range table.Rows {
		table.Values[3*i] = math.Mod(table.Values[3*i], 5)
		if i%9 == 0 {
			table.Values[3*i+1] = math.NaN()
		}
	}
	o := cheap(krigo.Options{
		Data: krigo.Data{Target: "y", Categorical: []string{"site"}, Missing: "mean"},
	})
	for name, edit := range map[string]func(m *krigo.Model){
		"a fill":            func(m *krigo.Model) { *m.Encoding.Columns[1].Mean += 0.1 },
		"a category's name": func(m *krigo.Model) { m.Encoding.Columns[0].Categories[1] = "elsewhere" },
	} {
		m := trained(t, table, o)
		reproduced(t, m, table)
		edit(m)
		must.Refuse(certify(m, table))(t, "don't come from the prior rows", name)
	}
}
