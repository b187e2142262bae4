package krigo_test

import (
	"context"
	"math"
	"strings"
	"testing"

	"github.com/krigo-gp/krigo"
	"github.com/krigo-gp/krigo/data"
	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/internal/must"
)

// TestCompareSimple: a constant and a linear model are scored on the same test rows, whether these are rows of the
// table or of another. For a target of counts there are no such models.
func TestCompareSimple(t *testing.T) {
	table := pick(data.Boston(), every(0, 4, 120), "RM", "LSTAT", "MEDV")
	for i := range table.Rows {
		table.Values[3*i+2] = 2*table.Values[3*i] - table.Values[3*i+1]
	}
	o := krigo.Options{Data: krigo.Data{Target: "MEDV"}, Kernel: krigo.Kernel{Expression: "linear"}, Run: krigo.Run{Restarts: 1}}
	over := krigo.CompareOptions{Objectives: []string{"evidence"}, Epsilons: []float64{0.6, 0.3}, Splits: 2}
	for _, tests := range []*dataset.Table{nil, pick(table, every(0, 1, 20), "RM", "LSTAT", "MEDV")} {
		o.Data.Test = tests
		rows := must.Get(krigo.Compare(t.Context(), table, o, over))(t)
		must.Need(t, len(rows) == 4, "%d rows", len(rows))
		constant, linear := rows[2], rows[3]
		must.Be(t, constant.Objective+" "+linear.Objective, "constant linear")
		must.Hold(t, linear.Measures["mse"].Mean < 1e-9 && linear.Measures["mean_risk"].Mean == 0, "%+v", linear.Measures)
		mse := constant.Measures["mse"].Mean
		must.Hold(t, 0.3 < mse && mse < 3, "%+v", constant.Measures)
		must.Near(t, linear.Differences["mse"].Mean, linear.Measures["mse"].Mean-rows[0].Measures["mse"].Mean, 1e-9, "mse")
		must.Be(t, len(linear.Measures), 2)
	}
	for i := range table.Rows {
		table.Values[3*i+2] = float64(i % 3)
	}
	o.Data.Test = nil
	o.Kernel.Noise = "poisson"
	o.Prior.Kind = "informed"
	over.Epsilons = []float64{0.6}
	rows := must.Get(krigo.Compare(t.Context(), table, o, over))(t)
	must.Hold(t, len(rows) == 1, "%d rows", len(rows))
}

// TestCompareDifferences: differences are taken between fits of the same split and ε, so their standard error is the
// error of pairs. The first objective has no differences. Progress is called once for every fit.
func TestCompareDifferences(t *testing.T) {
	const splits = 3
	epsilons := []float64{0.5, 1}
	type fit struct {
		objective string
		epsilon   float64
		seed      uint64
	}
	told := map[fit]map[string]float64{}
	rows := must.Get(krigo.Compare(context.Background(), data.Snelson(),
		krigo.Options{
			Data:   krigo.Data{Target: "y"},
			Method: krigo.Method{Inducing: 6, Epochs: 15},
			Run:    krigo.Run{Seed: 7},
		},
		krigo.CompareOptions{Objectives: []string{"vfe", "kl-pac"}, Epsilons: epsilons, Splits: splits,
			Progress: func(c krigo.Compared) {
				told[fit{c.Objective, c.Epsilon, c.Seed}] = c.Measures
				must.Hold(t, c.Done == len(told) && c.Total == 12, "%+v is number %d", c, len(told))
			}}))(t)
	for i, r := range rows {
		if i < 2 {
			must.Hold(t, r.Objective == "vfe" && r.Differences == nil, "%+v", r)
			continue
		}
		if r.Objective != "kl-pac" { // TestCompareSimple has the simple models
			continue
		}
		for _, name := range krigo.MeasureNames() {
			var ds [splits]float64
			var mean, square float64
			for s := range ds {
				seed := uint64(7 + s)
				ds[s] = told[fit{"kl-pac", r.Epsilon, seed}][name] - told[fit{"vfe", r.Epsilon, seed}][name]
				mean += ds[s] / splits
			}
			for _, d := range ds {
				square += (d - mean) * (d - mean)
			}
			got, se := r.Differences[name], math.Sqrt(square/(splits-1)/splits)
			if math.Abs(got.Mean-mean) > 1e-12 || math.Abs(got.SE-se) > 1e-12 || name == "bound" && se == 0 {
				t.Errorf("ε = %v, %s: %+v, want %v ± %v", r.Epsilon, name, got, mean, se)
			}
		}
	}
}

// TestMeasureText: a number of any size shows at least three digits, and it has a standard error only if the measure
// has one.
func TestMeasureText(t *testing.T) {
	for _, c := range []struct {
		m      krigo.Measure
		signed bool
		want   string
	}{
		{krigo.Measure{Mean: 0.41274, SE: 0.01236, Splits: 3}, false, "0.4127 ± 0.0124"},
		{krigo.Measure{Mean: 0.4056, SE: 0.00098, Splits: 3}, false, "0.4056 ± 0.0010"},
		{krigo.Measure{Mean: 0.4056, SE: 0.00001, Splits: 3}, false, "0.4056 ± 1e-05"},
		{krigo.Measure{Mean: 0.41274, Splits: 1}, true, "+0.4127"},
		{krigo.Measure{Mean: 1.234e-5, SE: 3.21e-7, Splits: 2}, false, "1.2e-05 ± 3.2e-07"},
		{krigo.Measure{Mean: -1.234e-5, SE: 0, Splits: 2}, true, "-1.2e-05 ± 0"},
		{krigo.Measure{Mean: 0, SE: 0, Splits: 2}, true, "0 ± 0"},
		{krigo.Measure{Mean: 1234567.8, SE: 12.34567, Splits: 2}, true, "+1,234,600 ± 12.3457"},
	} {
		if got := c.m.Text(c.signed); got != c.want {
			t.Errorf("%+v: %q, want %q", c.m, got, c.want)
		}
	}
}

// TestCompareEnds: the first fit that fails ends a comparison, and the comparison returns only the error of that fit.
func TestCompareEnds(t *testing.T) {
	// Only one row has another target. If it isn't a prior row, there is no scale to train in. The first split
	// doesn't show this.
	table, told := &dataset.Table{Source: "t", Names: []string{"x", "y"}, Rows: 60}, 0
	for i := range table.Rows {
		table.Values, table.Lines = append(table.Values, float64(i), 0), append(table.Lines, i+2)
	}
	table.Values[1] = 1
	o := krigo.Options{
		Data:   krigo.Data{Target: "y"},
		Method: krigo.Method{Inducing: 4, Epochs: 3},
		Prior:  krigo.Prior{Kind: "informed"},
	}
	possible := func(seed uint64) bool {
		o.Data.TestFraction, o.Run.Seed = 0.2, seed
		o.Method.Name = "vfe"
		_, err := krigo.Decide(t.Context(), table, o)
		return err == nil
	}
	var seed uint64
	for !possible(seed) || possible(seed+1) {
		seed++
	}
	o.Run.Seed = seed
	_, err := krigo.Compare(context.Background(), table, o, krigo.CompareOptions{Objectives: []string{"vfe", "dtc"},
		Epsilons: []float64{0.5}, Splits: 200, Progress: func(krigo.Compared) { told++ }})
	if err == nil || strings.Contains(err.Error(), "\n") || !strings.Contains(err.Error(), "seed ") || told > 200 {
		t.Errorf("%d fits were told of: %v", told, err)
	}
}

// TestCompareSettings: each objective gets the settings that it has, so that full and sparse GPs stand side by side.
// A setting that no objective has is refused. Bounds that all rows scaled are called heuristic.
func TestCompareSettings(t *testing.T) {
	o := krigo.Options{Data: krigo.Data{Target: "y", Scaling: "all-rows"}, Kernel: krigo.Kernel{ARD: "off"},
		Method: krigo.Method{Inducing: 4, Alpha: new(0.5), Epochs: 5}, Run: krigo.Run{Restarts: 1}}
	over := krigo.CompareOptions{Objectives: []string{"evidence", "vfe", "renyi", "pep"}, Epsilons: []float64{0.6}, Splits: 1}
	rows := must.Get(krigo.Compare(t.Context(), data.Snelson(), o, over))(t)
	for _, r := range rows[:4] {
		_, bound := r.Measures["bound"]
		must.Hold(t, !bound && r.Measures["heuristic_bound"].Mean > 0 &&
			r.Measures["heuristic_mean_bound"].Mean > r.Measures["heuristic_bound"].Mean, "%+v", r)
	}
	over.Objectives = []string{"evidence"}
	must.Refuse(krigo.Compare(t.Context(), data.Snelson(), o, over))(t, "is a setting of", "inducing inputs of evidence")
}
