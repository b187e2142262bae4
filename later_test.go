package krigo_test

import (
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/krigo-gp/krigo"
	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/finding"
	"github.com/krigo-gp/krigo/internal/must"
)

// TestLater: the target wanders with time. Rows before predict the latest fifth of the prior rows much worse than all
// others do, and a fit with a column of dates says so. Without one it says nothing.
func TestLater(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	rows := make([][]float64, 300)
	level := 0.
	for i := range rows {
		level += rng.NormFloat64()
		rows[i] = []float64{float64(i), level + 0.1*rng.NormFloat64()}
	}
	o := krigo.Options{Data: krigo.Data{Target: "y"}, Kernel: krigo.Kernel{Expression: "matern32"},
		Promise: krigo.Promise{Population: "same"}}
	table := must.Get(dataset.FromRows([]string{"day", "y"}, rows))(t)
	m := trained(t, table, o)
	must.Hold(t, len(m.Findings.Of(finding.Later)) == 0, "%q", m.Findings)
	must.Do(t, dataset.Reading{Dates: []dataset.Dates{{Column: "day"}}}.Apply(table))
	told := trained(t, table, o).Findings.Of(finding.Later)
	must.Need(t, len(told) == 1 && len(told[0].Subject) == 4, "%q", told)
	after := must.Get(strconv.ParseFloat(told[0].Subject[2], 64))(t)
	others := must.Get(strconv.ParseFloat(told[0].Subject[3], 64))(t)
	must.Hold(t, after > 2*others, "%q", told)
}
