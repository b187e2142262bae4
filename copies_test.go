package krigo_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/krigo-gp/krigo"
	"github.com/krigo-gp/krigo/data"
	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/dataset/files"
	"github.com/krigo-gp/krigo/finding"
	"github.com/krigo-gp/krigo/internal/must"
	"github.com/krigo-gp/krigo/pacbayes"
)

// TestCopies: the certificate, its conditions and the lines beside its sentence count repeated rows. CertifyFresh
// counts repeated fresh rows. A finding counts test rows that the model was also made from.
func TestCopies(t *testing.T) {
	table := pick(data.Boston(), append(every(0, 1, 100), every(0, 1, 50)...))
	m := fit(t, table, krigo.Options{Kernel: krigo.Kernel{ARD: "off"}, Run: krigo.Run{Restarts: 1},
		Data: krigo.Data{Test: pick(data.Boston(), every(90, 1, 110))}})
	c := m.Certificate
	must.Hold(t, c.Repeats == 100 &&
		strings.Contains(strings.Join(c.Conditions, " "), "100 of the rows") &&
		strings.Contains(m.Sentence(c), "\n100 rows equal another row. The bound holds only if "),
		"%d repeats, %q, %s", c.Repeats, c.Conditions, m.Sentence(c))
	if seen := m.Findings.Of(finding.SeenTests); len(seen) != 1 || !slices.Equal(seen[0].Numbers, []float64{10, 20}) {
		t.Errorf("%q", m.Findings)
	}
	reproduced(t, m, table)
	f, err := m.CertifyFresh(t.Context(), pick(data.Boston(), append(every(200, 1, 230), 200, 200)))
	if err != nil || f.Repeats != 3 || f.Seen != 0 || !strings.Contains(f.Sentence(&m.Model), "\n3 of these 32 rows equal another row. ") {
		t.Errorf("%+v, %v", f, err)
	}
	m = fit(t, data.Boston(), cheap(krigo.Options{Method: krigo.Method{Epochs: 5}}))
	must.Hold(t, m.Certificate.Repeats == 0 &&
		!strings.Contains(m.Sentence(m.Certificate), "copies"),
		"%+v", m.Certificate)
}

// TestCopiesOfGroups: equal rows of two groups may be copies, and equal rows in one group aren't. krigo reports fresh
// groups that the model knows, and also their rows under other names.
func TestCopiesOfGroups(t *testing.T) {
	table := sites(60)
	o := krigo.Options{
		Data:    krigo.Data{Target: "y", Group: "site"},
		Prior:   krigo.Prior{Kind: "informed"},
		Promise: krigo.Promise{Epsilon: 1.5},
		Run:     krigo.Run{Restarts: 1},
	}
	twice := sites(60) // every row of the first ten sites once more, in its own group
	for i := range 30 {
		twice.Values = append(twice.Values, twice.Values[3*i:3*i+3]...)
		twice.Rows++
	}
	if m := trained(t, twice, o); m.Certificate.Repeats != 0 {
		t.Errorf("%d rows that repeat within their groups", m.Certificate.Repeats)
	}
	relabelled := func() *dataset.Table {
		other := sites(60)
		for i, text := range other.Text[0] {
			other.Text[0][i] = "copy of " + text
		}
		return other
	}
	both := sites(60)
	for i, copies := 0, relabelled(); i < copies.Rows; i++ {
		both.Append([]string{copies.Text[0][int(copies.Values[3*i])], fmt.Sprint(copies.Values[3*i+1]),
			fmt.Sprint(copies.Values[3*i+2])})
	}
	m := trained(t, both, o)
	if c := m.Certificate; c.Repeats != both.Rows ||
		!strings.Contains(m.Sentence(c), fmt.Sprintf("\n%d rows equal a row of another group. ", both.Rows)) {
		t.Errorf("%+v of %d rows", c, both.Rows)
	}
	m = trained(t, table, o)
	again := sites(60)
	again.Rows, again.Values = 60, again.Values[:180]
	again.Values[2]++ // changes a row of a known site
	f, err := m.CertifyFresh(t.Context(), again)
	must.Hold(t, err == nil && f.SeenGroups == f.Groups && f.Seen == 59 &&
		strings.Contains(f.Sentence(&m.Model), "Rows of known groups say nothing about further groups"),
		"%+v, %v", f, err)
	// At any time only complete groups count. These are all groups of the model's own table, and groups that are
	// followed by another group.
	fresh := func(rows []int) *krigo.Fresh {
		of, next := relabelled(), &dataset.Table{Source: "next.csv", Names: table.Names}
		for _, i := range rows {
			next.Append([]string{of.Text[0][int(of.Values[3*i])], fmt.Sprint(of.Values[3*i+1]), fmt.Sprint(of.Values[3*i+2])})
		}
		f := must.Get(m.CertifyFresh(t.Context(), next))(t)
		return f
	}
	n := table.Rows
	all, whole := fresh(every(0, 1, n)), fresh(every(0, 1, n-5)) // the last group has five rows
	err = all.AtAnyTime()
	least, most := pacbayes.Anytime(whole.MeanRisk, 59, all.Delta)
	if err != nil || *all.Anytime != (krigo.Anytime{Groups: 59, AtLeast: least, AtMost: most}) ||
		!strings.Contains(all.Sentence(&m.Model), "by these 59 complete groups, the expected loss") {
		t.Errorf("%+v, %v, want %v to %v: %s", all.Anytime, err, least, most, all.Sentence(&m.Model))
	}
	for want, rows := range map[string][]int{"its group goes on after another one began": {1, 2, n - 1, 2},
		"isn't known to be complete": {0}} {
		must.Fail(t, fresh(rows).AtAnyTime(), want)
	}
	if f, err := m.CertifyFresh(t.Context(), relabelled()); err != nil || f.SeenGroups != 0 || f.Seen != f.Rows {
		t.Errorf("%+v, %v", f, err)
	}
	o.Data.Test = relabelled()
	m = trained(t, table, o)
	if seen := m.Findings.Of(finding.SeenTests); m.Test.Groups != 60 || len(seen) != 1 ||
		seen[0].Numbers[0] != float64(table.Rows) || seen[0].Numbers[1] != float64(table.Rows) {
		t.Errorf("%+v, %q", m.Test, m.Findings)
	}
}

// TestTakenForCopies: if equal rows are left out, or made groups, certificates say that they hold only if equal rows
// are copies. If equal rows are separate draws and the model misses most of these draws, the bound is far off. A model
// that doesn't say this has no certificate.
func TestTakenForCopies(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 0))
	draw := func() string {
		text := "x,y\n"
		for range 300 {
			if rng.Float64() < 0.6 {
				text += fmt.Sprintf("5,%d\n", 6*rng.IntN(2)-3)
				continue
			}
			x := 6*rng.Float64() - 3
			text += fmt.Sprintf("%.6f,%.6f\n", x, math.Sin(x)+0.05*rng.NormFloat64())
		}
		return text
	}
	made, more := draw(), draw()
	for _, distinct := range []bool{true, false} {
		of := dataset.Reading{Distinct: distinct}
		read := func(text string) *dataset.Table {
			table := must.Get(files.CSV{From: strings.NewReader(text), Source: "rows.csv", As: of}.Read())(t)
			return table
		}
		o := cheap(krigo.Options{
			Data:   krigo.Data{Target: "y"},
			Kernel: krigo.Kernel{Expression: "se"},
		})
		if !distinct {
			o.Data.Group = dataset.EqualRows
		}
		m := trained(t, read(made), o)
		if says := func(c string) bool {
			return strings.HasPrefix(c, "Rows that equal one another are copies")
		}; !slices.ContainsFunc(m.Certificate.Conditions, says) {
			t.Errorf("conditions: %q", m.Certificate.Conditions)
		}
		const only = "Rows that equal one another were taken for copies. The bound holds only if they are copies"
		if said := m.Sentence(m.Certificate); !strings.Contains(said, only) {
			t.Error(said)
		}
		table := read(more)
		f := must.Get(m.CertifyFresh(t.Context(), table))(t)
		if said := f.Sentence(&m.Model); !strings.Contains(said, only) || f.Dropped != table.Found.Dropped ||
			distinct != (f.Dropped > 100) {
			t.Errorf("%d left out of %d: %s", f.Dropped, f.Rows, said)
		}
		again, err := certify(m, read(made))
		if err != nil || !again.Matches {
			t.Fatal(err, again)
		}
		m.Terms.Copies = false
		must.Refuse(certify(m, read(made)))(t, "no certificate", "certified without its condition")
	}
	table := must.Get(files.CSV{From: strings.NewReader(made), Source: "rows.csv"}.Read())(t)
	if _, err := krigo.CertifyPredictions(t.Context(), table, "x", krigo.Options{Data: krigo.Data{Target: "y",
		Group: dataset.EqualRows}, Promise: krigo.Promise{Epsilon: 1, Units: "raw"}}); err == nil {
		t.Error("predictions grouped by what they are")
	}
}
