package krigo

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/internal/must"
)

// outcomesOf draws rows of an input, an exposure and targets of every kind.
func outcomesOf(n int) *dataset.Table {
	rng := rand.New(rand.NewPCG(5, 6))
	t := dataset.Reading{}.New("outcomes")
	t.Names = []string{"x", "months", "number", "label", "bird", "count", "size", "grade"}
	for range n {
		x := rng.NormFloat64()
		y := x + 0.5*rng.NormFloat64()
		label := "no"
		if y > 0 {
			label = "yes"
		}
		grade := min(max(math.Round(y)+3, 1), 5)
		cells := []string{fmt.Sprint(x), fmt.Sprint(1 + rng.Float64()), fmt.Sprint(y), label,
			[]string{"jay", "kea", "owl"}[min(max(int(math.Round(y))+1, 0), 2)], fmt.Sprint(int(math.Exp(1 + y/2))),
			fmt.Sprint(math.Exp(y)), fmt.Sprint(grade)}
		if err := t.Append(cells); err != nil {
			panic(err)
		}
	}
	return t
}

// extremes are inputs, and exposures, at and beyond the range of numbers that can be predicted.
var extremes = [][2]float64{{0, 1}, {1e154, 1}, {-1e154, 1}, {1e308, 1}, {-1e308, 1}, {5e-324, 1}, {1e-310, 1}, {1e200, 1},
	{0, 1e200}, {0, 1e-200}, {1e5, 1e-200}, {-1e5, 1e200}, {1e3, 1e-300}}

// TestExtremeInputs: models of every kind answer rows with extreme inputs with finite numbers, or with an error that
// names the row. They never panic, and they come to an end.
func TestExtremeInputs(t *testing.T) {
	table := outcomesOf(120)
	for _, kind := range []struct{ target, noise, exposure string }{{"number", "", ""}, {"number", "student", ""},
		{"label", "", ""}, {"bird", "", ""}, {"count", "poisson", ""}, {"count", "negative-binomial", "months"},
		{"count", "poisson", "months"}, {"size", "gamma", ""}, {"size", "gamma", "months"}, {"grade", "ordinal", ""}} {
		name := strings.TrimSpace(fmt.Sprint(kind.target, " ", kind.noise, " ", kind.exposure))
		t.Run(name, func(t *testing.T) {
			o := Options{Data: Data{Target: kind.target, Inputs: []string{"x"}, Exposure: kind.exposure},
				Kernel: Kernel{Expression: "linear", Noise: kind.noise}, Run: Run{Restarts: 1}}
			all := fitAny(t, table, o)
			for _, at := range extremes {
				row := dataset.Reading{}.New("row")
				row.Names = []string{"x", "months"}
				must.Do(t, row.Append([]string{fmt.Sprint(at[0]), fmt.Sprint(at[1])}))
				for i := range all.Models {
					checkFinite(t, all.Model(i), row)
				}
			}
		})
	}
}

// fitAny fits a target of any kind.
func fitAny(t *testing.T, table *dataset.Table, o Options) *Targets {
	t.Helper()
	spread, o, err := o.Kinds(table)
	must.Do(t, err)
	if o.Data.Beside != nil {
		return must.Get(FitTargets(t.Context(), table, o.Data.Beside, o))(t)
	}
	m := must.Get(Fit(t.Context(), spread, o))(t)
	all := &Targets{}
	all.Models = append(all.Models, &m.Model)
	return all
}

// checkFinite predicts a row, and wants finite numbers or an error that names the row.
func checkFinite(t *testing.T, m *Model, row *dataset.Table) {
	t.Helper()
	ps, err := m.Predict(t.Context(), row, PredictOptions{})
	if err != nil {
		if !strings.Contains(err.Error(), "row 1") && !strings.Contains(err.Error(), "line") {
			t.Errorf("%v: the error names no row: %v", row.Values, err)
		}
		return
	}
	for _, p := range ps {
		for _, v := range []float64{p.Mean, p.Lower95, p.Upper95, p.LatentSD, p.PredictiveSD} {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				t.Errorf("%v: %+v", row.Values, p)
			}
		}
	}
}
