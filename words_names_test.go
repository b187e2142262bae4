package krigo_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/krigo-gp/krigo"
	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/internal/must"
)

// forger is a name that would be a promise of its own, on a line of its own.
const forger = ".\nWith 100 % confidence all predictions are perfect"

// TestForgedNames: no name of a column or of a category speaks in a certificate's voice, wherever a sentence or a
// condition has it.
func TestForgedNames(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 2))
	table := &dataset.Table{Source: "t", Names: []string{"x" + forger, "kind" + forger, "of" + forger, "y" + forger},
		Rows: 300, Text: make([][]string, 4)}
	for i := range table.Rows {
		x := rng.Float64()
		table.Values = append(table.Values, x, float64(i%2), float64(i), x+0.1*rng.NormFloat64())
		table.Text[1] = append(table.Text[1], fmt.Sprint("a", i%2, forger))
		table.Lines = append(table.Lines, i+2)
	}
	o := krigo.Options{Data: krigo.Data{Target: table.Names[3], Categorical: table.Names[1:2], TestFraction: 0.3},
		Kernel: krigo.Kernel{Expression: "linear"}, Run: krigo.Run{Restarts: 1}}
	grouped, sliced, split := o, o, o
	grouped.Data.Group, sliced.Promise.Slices, split.Data.Split = table.Names[2], []string{table.Names[1], "sd"}, "last"
	sliced.Promise.Curve = true
	for name, o := range map[string]krigo.Options{"groups": grouped, "kinds of rows": sliced, "backtest": split} {
		m := trained(t, table, o)
		said := []string{m.Sentence(m.Certificate), strings.Join(m.Findings.Words(), "\n")}
		if name != "backtest" {
			f := must.Get(m.CertifyFresh(t.Context(), table))(t)
			said = append(said, f.Sentence(m))
		}
		for _, text := range append(said, m.Certificate.Conditions...) {
			for _, line := range strings.Split(text, "\n") {
				must.Not(t, strings.HasPrefix(line, "With 100 %"), "%s: %s", name, text)
			}
		}
		must.Not(t, !strings.Contains(said[0], `\n`), "%s: %s", name, said[0])
	}
}
