package krigo_test

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/krigo-gp/krigo"
	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/internal/lists"
	"github.com/krigo-gp/krigo/internal/must"
)

// patients returns rows of patients, several of each. levels holds each patient's own level. If it is nil, no patient
// has a level.
func patients(t *testing.T, n, each int, level float64) *dataset.Table {
	t.Helper()
	rng := rand.New(rand.NewPCG(29, 1))
	var rows [][]float64
	for p := range n {
		own := level * rng.NormFloat64()
		for range each {
			x := rng.Float64()
			rows = append(rows, []float64{float64(p + 1), x, math.Sin(6*x) + own + 0.1*rng.NormFloat64()})
		}
	}
	rng.Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
	return must.Get(dataset.FromRows([]string{"patient", "x", "y"}, rows))(t)
}

// TestTiesOfPatients: if the rows of a patient predict one another, nothing is promised until the options say for whom the
// promise is: for the same patients (by a population) or for new patients (by groups). If patients have no level of
// their own, krigo finds no tie.
func TestTiesOfPatients(t *testing.T) {
	table := patients(t, 40, 6, 1)
	o := krigo.Options{
		Data:   krigo.Data{Target: "y"},
		Kernel: krigo.Kernel{Expression: "matern32"},
		Method: krigo.Method{Name: "evidence"},
		Prior:  krigo.Prior{Kind: "informed"},
		Run:    krigo.Run{Restarts: 1},
	}
	m := fit(t, table, o)
	p := m.Population()
	if m.Certificate != nil || m.Conformal != nil || p.Of != "rows" || len(p.Ties) != 1 || p.Ties[0].Columns[0] != "patient" {
		t.Fatalf("certificate %v, population %+v", m.Certificate, p)
	}
	for _, words := range []string{"--group patient", "--population same", "for a new patient"} {
		if !strings.Contains(m.CertificateReason, words) {
			t.Errorf("%q lacks %q", m.CertificateReason, words)
		}
	}
	tie := p.Ties[0]
	if !(tie.Alike > 0.8 && tie.Apart > 3 && *tie.Known > *tie.New+0.3) {
		t.Errorf("alike %g, apart %g, known %g, new %g", tie.Alike, tie.Apart, *tie.Known, *tie.New)
	}

	var none *krigo.NoCertificate
	if _, err := m.Certify(t.Context(), table, krigo.CertifyOptions{Epsilon: 2}); !errors.As(err, &none) {
		t.Errorf("another ε: %v", err)
	}
	copies := o
	copies.Data.Group = dataset.EqualRows // groups of equal rows say nothing about patients
	if p := fit(t, table, copies).Population(); len(p.Ties) != 1 || !strings.Contains(p.Says, "whose patient occurred") {
		t.Errorf("groups of copies: %+v", p)
	}

	o.Promise.Population = "same"
	same := fit(t, table, o)
	if said := same.Sentence(same.Certificate); !strings.Contains(said, "whose patient occurred in the fitted table") ||
		!strings.Contains(said, "predictions for a new patient miss more often") {
		t.Error(said)
	}
	equal := *same
	equal.Ties = slices.Clone(same.Ties)
	equal.Ties[0].New = equal.Ties[0].Known
	must.Hold(t, strings.Contains(equal.Told()[0], "predictions for a new patient may miss more often"), "%q", equal.Told())
	r := must.Get(same.Certify(t.Context(), table, krigo.CertifyOptions{}))(t)
	wider := *same
	wider.Ties = nil // then the promise would be about new patients too
	_, err := wider.Certify(t.Context(), table, krigo.CertifyOptions{})
	must.Fail(t, err, "prior rows show patient")
	shares := slices.Clone(same.Ties)
	likely := 0.99
	shares[0].New = &likely
	wider.Ties = shares
	_, err = wider.Certify(t.Context(), table, krigo.CertifyOptions{})
	must.Fail(t, err, "other figures")
	must.Get(r.Refit(t.Context(), nil))(t)
	if !r.Refitted || !r.Valid {
		t.Errorf("refitted %t, valid %t: %s", r.Refitted, r.Valid, r.Differs)
	}

	forged := *same
	forged.Fitted = bytes.Replace(same.Fitted, []byte(`,"population":"same"`), nil, 1)
	if _, err := forged.Certify(t.Context(), table, krigo.CertifyOptions{}); err == nil ||
		!strings.Contains(err.Error(), "the rows that the promise is for") {
		t.Errorf("a model that doesn't say for which rows: %v", err)
	}

	o.Promise.Population, o.Data.Group = "", "patient"
	grouped := fit(t, table, o)
	if p := grouped.Population(); p.Of != "groups" || p.By != "patient" || len(p.Ties) > 0 {
		t.Errorf("population %+v", p)
	}
	if c := grouped.Certificate; c == nil || c.MeanBound <= same.Certificate.MeanBound {
		t.Errorf("certified for new patients: %+v (%s)", c, grouped.CertificateReason)
	}

	o.Promise.Population = "same"
	if err := o.Validate(); err == nil || !strings.Contains(err.Error(), "leave one of them out") {
		t.Errorf("of known patients and of new ones: %v", err)
	}
	o.Promise.Population, o.Data.Group = "", ""
	if p := fit(t, patients(t, 40, 6, 0), o).Population(); p.Ties != nil {
		t.Errorf("found of independent rows: %+v", p.Ties)
	}
}

// TestTiesOfFew: advice to group rows says so if there are too few groups to certify.
func TestTiesOfFew(t *testing.T) {
	for _, of := range []struct {
		patients, takes int
		asked, delta    float64
		advice          string
	}{
		{110, 0, 0, 0, "With --group patient, the promise is about a new patient"},
		{58, 42, 0, 0.01, "With --group patient --prior informed, the promise is about a new patient"},
		{58, 62, 0.001, 0.02, "With --group patient --prior informed --delta 0.02, the promise is about a new patient"},
		{25, 42, 0, 0, "A certificate about a new patient takes 42 of them, and the training rows have 25. " +
			"With --group patient, the fit only estimates"},
	} {
		table := patients(t, of.patients, 6, 1)
		o := krigo.Options{Data: krigo.Data{Target: "y", Categorical: []string{"patient"}},
			Kernel: krigo.Kernel{Expression: "matern32"}, Promise: krigo.Promise{Delta: of.asked},
			Run: krigo.Run{Restarts: 1}}
		m := trained(t, table, o)
		ties := m.Population().Ties
		must.Hold(t, len(ties) == 1 && ties[0].Takes == of.takes && ties[0].Delta == of.delta &&
			strings.Contains(m.CertificateReason, of.advice), "%d patients: %+v, %q", of.patients, ties, m.CertificateReason)
		same := o
		same.Promise.Population = "same"
		m = trained(t, table, same)
		r := must.Get(m.Certify(t.Context(), table, krigo.CertifyOptions{}))(t)
		must.Be(t, must.Get(r.Refit(t.Context(), nil))(t), "")
		o.Data.Categorical = nil
		o.Data.Group = "patient" // what the advice says
		if of.delta > 0 {
			o.Prior.Kind = "informed"
			o.Promise.Delta = of.delta
		}
		m = trained(t, table, o)
		must.Hold(t, (m.Certificate == nil) == (of.patients == 25), "%d patients: %s", of.patients, m.CertificateReason)
	}
}

// settings returns rows of 60 settings, four of each. A setting has a level of its own. near is the standard deviation by
// which inputs of a setting's rows differ.
func settings(t *testing.T, level, near float64, names []string, of func(rng *rand.Rand) []string,
	own func(k int, rng *rand.Rand) []string) (fitted, further *dataset.Table) {
	t.Helper()
	rng := rand.New(rand.NewPCG(30, 2))
	tables := []*dataset.Table{{Source: "fitted", Names: names}, {Source: "new", Names: names}}
	for u := range 120 {
		shared, b := of(rng), level*rng.NormFloat64()
		for k := range 4 {
			var row []string
			var sum float64
			for _, cell := range slices.Concat(shared, own(k, rng)) {
				if x, err := strconv.ParseFloat(cell, 64); err == nil {
					x += near * rng.NormFloat64()
					sum += x
					cell = fmt.Sprint(x)
				}
				row = append(row, cell)
			}
			row = append(row, fmt.Sprint(math.Sin(2*sum)+b+0.2*rng.NormFloat64()))
			must.Do(t, tables[u/60].Append(row))
		}
	}
	return tables[0], tables[1]
}

// uniform returns numbers between 0 and 1.
func uniform(n int) func(rng *rand.Rand) []string {
	return func(rng *rand.Rand) []string {
		return lists.To(n, func(int) string { return fmt.Sprint(rng.Float64()) })
	}
}

// TestTiesOfSettings: rows that a setting ties are found though no column names the setting. If a setting's level is 0, they
// aren't.
func TestTiesOfSettings(t *testing.T) {
	none := func(int, *rand.Rand) []string { return nil }
	words := func(rng *rand.Rand) []string {
		return lists.To(3, func(j int) string { return fmt.Sprintf("%c%d", 'a'+j, rng.IntN(6)) })
	}
	more := func(n int) func(int, *rand.Rand) []string {
		return func(_ int, rng *rand.Rand) []string { return uniform(n)(rng) }
	}
	hours := func(k int, _ *rand.Rand) []string { return []string{fmt.Sprint(k)} }
	for what, c := range map[string]struct {
		near  float64
		names string
		of    func(rng *rand.Rand) []string
		own   func(k int, rng *rand.Rand) []string
		unit  string
	}{
		// Each of the columns tells the settings of equal inputs by itself.
		"equal inputs":            {0, "a b y", uniform(2), none, "setting of "},
		"equal inputs but one":    {0, "a b hour y", uniform(2), hours, "setting of a, b"},
		"nearly equal inputs":     {1e-3, "a b y", uniform(2), none, "setting of a, b"},
		"three texts":             {0, "a b c x y", words, more(1), "setting of a, b, c"},
		"covariates and measures": {0, "a b x z y", uniform(2), more(2), "setting of a, b"},
	} {
		for level, want := range map[float64]int{0.8: 1, 0: 0} {
			table, _ := settings(t, level, c.near, strings.Fields(c.names), c.of, c.own)
			o := krigo.Options{Data: krigo.Data{Target: "y"}}
			if what == "three texts" {
				o.Data.Categorical = []string{"a", "b", "c"}
			}
			found := must.Get(krigo.Ties(t.Context(), table, o))(t)
			if len(found) != want || want > 0 && (!strings.HasPrefix(found[0].Unit(), c.unit) || found[0].Group() != "") {
				t.Errorf("%s, level %g: %+v", what, level, found)
			}
		}
	}
}

// TestPromiseAboutKnownSettings: a fit asks which settings its promise is about. A promise about known settings says so, and rows of
// new settings are outside.
func TestPromiseAboutKnownSettings(t *testing.T) {
	none := func(int, *rand.Rand) []string { return nil }
	for _, near := range []float64{0, 1e-3} {
		table, further := settings(t, 1, near, []string{"a", "b", "y"}, uniform(2), none)
		o := krigo.Options{
			Data:   krigo.Data{Target: "y"},
			Kernel: krigo.Kernel{Expression: "matern32"},
			Method: krigo.Method{Name: "evidence"},
			Prior:  krigo.Prior{Kind: "informed"},
			Run:    krigo.Run{Restarts: 1},
		}
		m := fit(t, table, o)
		for _, words := range []string{"number them in a column, and name it by --group", "--population same",
			"for a new setting of a, b"} {
			if m.Certificate != nil || !strings.Contains(m.CertificateReason, words) {
				t.Errorf("near %g: %q lacks %q", near, m.CertificateReason, words)
			}
		}
		o.Promise.Population = "same"
		same := fit(t, table, o)
		if said := same.Sentence(same.Certificate); !strings.Contains(said, "whose setting of a, b occurred in the fitted table") {
			t.Error(said)
		}
		out := func(table *dataset.Table) (n int) {
			for _, p := range predict(t, same, table) {
				n += min(p.Outside, 1)
			}
			return n
		}
		if known, other := out(table), out(further); known > 40 || other < 230 {
			t.Errorf("near %g: %d of 240 rows of known settings are outside, %d of new ones", near, known, other)
		}
		r := must.Get(same.Certify(t.Context(), table, krigo.CertifyOptions{}))(t)
		must.Get(r.Refit(t.Context(), nil))(t)
		if !r.Refitted || !r.Valid {
			t.Errorf("near %g: refitted %t, valid %t: %s", near, r.Refitted, r.Valid, r.Differs)
		}
	}
}

// TestInspectFindsTies: a quick look finds what the fit finds.
func TestInspectFindsTies(t *testing.T) {
	for level, want := range map[float64]int{0: 0, 1: 1} {
		found := must.Get(krigo.Ties(t.Context(), patients(t, 60, 20, level), krigo.Options{
			Data: krigo.Data{Target: "y"},
		}))(t)
		if len(found) != want || want > 0 && found[0].Group() != "patient" {
			t.Errorf("level %g: %+v", level, found)
		}
	}
}

// TestFewGroups: if groups are too few, krigo names the least δ at which these groups would certify, if there is such a
// δ.
func TestFewGroups(t *testing.T) {
	for groups, delta := range map[int]float64{30: 0, 44: 0.02} {
		o := krigo.Options{
			Data:   krigo.Data{Target: "y", Group: "patient"},
			Kernel: krigo.Kernel{Expression: "matern32"},
			Method: krigo.Method{Name: "evidence"},
			Prior:  krigo.Prior{Kind: "informed", Share: 1},
			Run:    krigo.Run{Restarts: 1},
		}
		o.Promise.Share = 0.9
		m := fit(t, patients(t, groups, 5, 1), o)
		few := krigo.FewGroups(&m.Model)
		if few == nil || few.Groups != groups || few.Takes != 48 || few.Delta != delta {
			t.Errorf("%d groups: %+v, %s", groups, few, m.CertificateReason)
		}
		if tie := m.Population().Ties; len(tie) != 1 || !(*tie[0].Low <= *tie[0].New && *tie[0].New <= *tie[0].High) {
			t.Errorf("%d groups: %+v", groups, tie)
		}
		for _, words := range map[float64][]string{0: {"too few at any --delta up to 0.2", "in half of the groups between"},
			0.02: {"--prior informed --delta 0.02"}}[delta] {
			if !strings.Contains(m.CertificateReason, words) {
				t.Errorf("%q lacks %q", m.CertificateReason, words)
			}
		}
	}
}

// TestGridsAreNoTies: where inputs repeat on a grid, a bend or a step of the function looks like effects of settings. New
// settings are predicted as well as known ones, so that nothing ties rows together.
func TestGridsAreNoTies(t *testing.T) {
	for seed := range uint64(4) {
		rng := rand.New(rand.NewPCG(seed, 99))
		for name, bend := range map[string]func(a float64) float64{"sine": math.Sin,
			"step": func(a float64) float64 { return 1.5 * math.Round(a/12) }} {
			var rows [][]float64
			for range 240 {
				a := float64(1 + rng.IntN(12))
				b := float64(1 + rng.IntN(4))
				rows = append(rows, []float64{a, b, 6*b + bend(a) + 0.5*rng.NormFloat64()})
			}
			table := must.Get(dataset.FromRows([]string{"a", "b", "y"}, rows))(t)
			found := must.Get(krigo.Ties(t.Context(), table, krigo.Options{
				Data: krigo.Data{Target: "y"},
			}))(t)
			must.Hold(t, found == nil, "%s %d: %+v", name, seed, found)
		}
	}
}
