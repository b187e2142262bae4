package krigo_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/krigo-gp/krigo"
	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/dataset/files"
	"github.com/krigo-gp/krigo/internal/must"
)

// TestTakenForCopies: where equal rows are left out, or made groups, certificates say that they hold for copies alone:
// on draws that come out alike, most of which miss here, the bound is far off. A model that doesn't say so has none.
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
		o := asked("target=y expression=se ard=off restarts=1")
		if !distinct {
			o.Data.Group = dataset.EqualRows
		}
		m := trained(t, read(made), o)
		if says := func(c string) bool {
			return strings.HasPrefix(c, "Rows that equal one another are copies")
		}; !slices.ContainsFunc(m.Certificate.Conditions, says) {
			t.Errorf("conditions: %q", m.Certificate.Conditions)
		}
		const only = "This holds only if rows that equal one another are copies"
		if said := m.Sentence(m.Certificate); !strings.Contains(said, only) {
			t.Error(said)
		}
		table := read(more)
		f := must.Get(m.CertifyFresh(t.Context(), table))(t)
		if said := f.Sentence(m); !strings.Contains(said, only) || f.Dropped != table.Found.Dropped ||
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
