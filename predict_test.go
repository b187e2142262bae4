package krigo_test

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/krigo-gp/krigo"
	"github.com/krigo-gp/krigo/data"
	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/dataset/files"
	"github.com/krigo-gp/krigo/finding"
	"github.com/krigo-gp/krigo/internal/must"
	"github.com/krigo-gp/krigo/model"
)

// TestPredictRow: a row's prediction has the same bits alone and in a batch, with columns in any order, with other
// columns beside, and after the model was saved and loaded.
func TestPredictRow(t *testing.T) {
	m := fit(t, homes(), krigo.Options{
		Kernel: krigo.Kernel{Expression: "se+linear", Mean: "linear"},
		Run:    krigo.Run{Restarts: 1},
	})
	rows := append(every(0, 1, 506), every(0, 5, 506)...) // 608 rows
	names := []string{"RM", "LSTAT", "DIS"}
	want := predict(t, m, pick(data.Boston(), rows, names...))
	must.Need(t, len(want) == len(rows), "%d predictions for %d rows", len(want), len(rows))
	path := t.TempDir() + "/m.krigo"
	must.Do(t, m.Save(path))
	loaded := must.Get(krigo.Load(path))(t)
	for what, c := range map[string]struct {
		m     *krigo.Model
		table *dataset.Table
	}{
		"other order of columns": {m, pick(data.Boston(), rows, "DIS", "RM", "LSTAT")},
		"columns besides":        {m, pick(data.Boston(), rows)},
		"loaded":                 {loaded, pick(data.Boston(), rows)},
	} {
		got, err := c.m.Predict(t.Context(), c.table, krigo.PredictOptions{})
		must.Hold(t, err == nil && slices.Equal(got, want),
			"%s: the predictions differ (%v)", what, err)
	}
	for k, i := range rows {
		got, err := loaded.Predict(t.Context(), pick(data.Boston(), []int{i}, names...), krigo.PredictOptions{})
		must.Need(t, err == nil && got[0] == want[k],
			"row %d alone: %+v, in the batch %+v (%v)", k, got, want[k], err)
	}
}

func TestPredictUnits(t *testing.T) {
	m := fit(t, homes(), cheap(krigo.Options{}))
	table := homes()
	before := slices.Clone(table.Values)
	ps := predict(t, m, table)
	must.Hold(t, slices.Equal(before, table.Values), "the table was changed")
	unit := m.Scaling.TargetScale
	var miss float64
	for i, p := range ps {
		half := 1.959963984540054 * math.Sqrt(p.PredictiveVariance)
		near(t, "noise", p.PredictiveVariance-p.LatentVariance, m.ObservationNoise*unit*unit, 1e-10)
		near(t, "lower95", p.Lower95, p.Mean-half, 1e-12)
		near(t, "upper95", p.Upper95, p.Mean+half, 1e-12)
		miss += math.Abs(p.Mean-table.Values[4*i+3]) / float64(len(ps))
	}
	if miss > 5 { // MEDV lies between 5 and 50, and its mean absolute deviation is 6.5
		t.Errorf("mean absolute error %v", miss)
	}
	// Far from all data the prediction is the prior's mean and variance.
	far := &dataset.Table{Source: "far", Names: []string{"DIS", "RM", "LSTAT"}, Rows: 1, Values: []float64{1e6, 1e6, -1e6},
		Lines: []int{2}}
	ps = predict(t, m, far)
	near(t, "prior mean", ps[0].Mean, m.Scaling.TargetMean, 1e-12)
	near(t, "prior variance", ps[0].LatentVariance, unit*unit*m.Posterior.Kernel.Spec(m.Posterior.Theta).Variance, 1e-12)
}

// TestPredictExtremeUnits: in a unit whose variance overflows float64 and whose standard deviation doesn't, intervals
// are the same as in any other unit.
func TestPredictExtremeUnits(t *testing.T) {
	var m *krigo.Model
	var table *dataset.Table
	predict := func(unit float64) (ps []model.Prediction, is []krigo.Interval) {
		table = pick(data.Boston(), every(0, 4, 506), "RM", "LSTAT", "DIS", "MEDV")
		for i := 3; i < len(table.Values); i += 4 {
			table.Values[i] *= unit
		}
		// gives the same roles in any unit
		m = fit(t, table, cheap(krigo.Options{
			Data:   krigo.Data{Split: "last"},
			Method: krigo.Method{Name: "evidence"},
			Prior:  krigo.Prior{Kind: "informed"},
		}))
		m.Conformal = &model.Conformal{Level: 0.95, Rows: 20, HalfWidth: 1, Normalised: 2}
		ps, err := m.Predict(t.Context(), table, krigo.PredictOptions{})
		if err == nil {
			is, err = m.Intervals(ps, krigo.IntervalOptions{Kind: "normalised"})
		}
		must.Need(t, err == nil, "unit %g: %v", unit, err)
		return ps, is
	}
	want, wantIntervals := predict(1)
	for unit, variance := range map[float64]float64{0x1p-700: 0, 0x1p-1000: 0, 0x1p540: math.MaxFloat64,
		0x1p1000: math.MaxFloat64} {
		ps, is := predict(unit) // a power of two changes no digit
		for i, p := range ps {
			w := want[i]
			must.Need(t, p.Mean == w.Mean*unit && p.Lower95 == w.Lower95*unit &&
				p.Upper95 == w.Upper95*unit && p.LatentSD == w.LatentSD*unit &&
				p.PredictiveSD == w.PredictiveSD*unit &&
				is[i] == (krigo.Interval{Lower: wantIntervals[i].Lower * unit, Upper: wantIntervals[i].Upper * unit}),
				"unit %g, row %d: %+v, %+v; want %+v, %+v times it", unit, i, p, is[i], w,
				wantIntervals[i])
			if p.LatentVariance != variance || p.PredictiveVariance != variance {
				t.Fatalf("unit %g, row %d: variances %g, %g; want %g", unit, i, p.LatentVariance, p.PredictiveVariance, variance)
			}
		}
		found, err := m.PredictionFindings(table, ps)
		if want := (finding.List{finding.New(finding.VarianceLost, len(ps), len(ps))}); err != nil ||
			!reflect.DeepEqual(found.Of(finding.VarianceLost), want) {
			t.Errorf("unit %g: %q, %v", unit, found, err)
		}
		must.Refuse(m.Covariance(t.Context(), table))(t, "line 2: its covariances leave the range of float64", unit)
		must.Hold(t, m.Findings.Of(finding.TargetScale) != nil,
			"unit %g: the fit found %q", unit, m.Findings)
	}
	// An interval's end that overflows becomes the largest number. A row without a prediction has no interval. It is an
	// error if all predictions overflow.
	table = pick(data.Boston(), every(0, 4, 506), "RM", "LSTAT", "DIS", "MEDV")
	for i := 3; i < len(table.Values); i += 4 {
		table.Values[i] *= 0x1p1000
	}
	m = fit(t, table, cheap(krigo.Options{Promise: krigo.Promise{Calibration: 0.2}}))
	m.ObservationNoise = 1e30
	ps, err := m.Predict(t.Context(), table, krigo.PredictOptions{})
	must.Fail(t, err, "overflows", ps)
	is := must.Get(m.Intervals([]model.Prediction{{Mean: 1}, {Mean: -math.MaxFloat64}, {Mean: math.NaN()}},
		krigo.IntervalOptions{Kind: "conformal"}))(t)
	all := krigo.Interval{Lower: -math.MaxFloat64, Upper: math.MaxFloat64}
	must.Hold(t, is[0].Upper < 1e304 && is[1] == all && math.IsNaN(is[2].Lower) && math.IsNaN(is[2].Upper), "%v", is)
}

func TestPredictRefuses(t *testing.T) {
	m := fit(t, homes(), cheap(krigo.Options{Kernel: krigo.Kernel{Expression: "se+linear"}}))
	at := func(v float64) *dataset.Table {
		return &dataset.Table{Source: "new.csv", Names: []string{"RM", "LSTAT", "DIS"}, Rows: 2,
			Values: []float64{6, 10, 4, v, 10, 4}, Lines: []int{2, 5}}
	}
	one := func(v float64) *dataset.Table {
		return &dataset.Table{Source: "new.csv", Names: []string{"RM", "LSTAT", "DIS"}, Rows: 1,
			Values: []float64{v, 10, 4}, Lines: []int{5}}
	}
	for name, c := range map[string]struct {
		table *dataset.Table
		want  []string
	}{
		"columns missing":     {pick(data.Boston(), []int{0}, "RM", "CRIM"), []string{`"LSTAT"`, `"DIS"`, `"CRIM"`}},
		"all rows far off":    {one(1e200), []string{"new.csv: line 5", "overflows"}},
		"all rows far beyond": {one(1.7e308), []string{"new.csv: line 5", "overflows"}},
	} {
		ps, err := m.Predict(t.Context(), c.table, krigo.PredictOptions{})
		if err == nil {
			t.Errorf("%s: %+v", name, ps)
			continue
		}
		for _, want := range c.want {
			must.Hold(t, strings.Contains(err.Error(), want), "%s: %v; want %q", name, err, want)
		}
	}
	// A row that overflows takes no other row's prediction.
	want := must.Get(m.Predict(t.Context(), at(6), krigo.PredictOptions{}))(t)
	for _, far := range []float64{1e200, 1.7e308} {
		table := at(far)
		ps := must.Get(m.Predict(t.Context(), table, krigo.PredictOptions{}))(t)
		must.Hold(t, ps[0] == want[0] && ps[1].Lost() && ps[1].Outside == 1, "%g: %+v", far, ps)
		found := must.Get(m.PredictionFindings(table, ps))(t).Of(finding.Lost)
		must.Hold(t, len(found) == 1 && strings.HasPrefix(found[0].String(), "1 of 2 rows have no prediction, "+
			"the first in line 5: the prediction overflows"), "%v", found)
		e := must.Get(m.Explain(t.Context(), table))(t)
		must.Be(t, len(e.Contributions[0]), 3)
		var b bytes.Buffer
		must.Do(t, krigo.WritePredictions(&b, ps))
		must.Be(t, strings.Split(b.String(), "\n")[2], ",,,,,1,,")
	}
}

// TestPredictWithoutHeader: a file without a header gives its columns in order, with the target or without it.
func TestPredictWithoutHeader(t *testing.T) {
	read := func(text string) *dataset.Table {
		t.Helper()
		table := must.Get(files.CSV{From: strings.NewReader(text), Source: "bare.csv"}.Read())(t)
		return table
	}
	var text, inputs strings.Builder
	for i := range 45 {
		a, b := float64(i%7), float64(i%5)
		fmt.Fprintf(&text, "%v,%v,%v\n", a, b, a-2*b+math.Sin(float64(i)))
		fmt.Fprintf(&inputs, "%v,%v\n", a, b)
	}
	m := fit(t, read(text.String()), krigo.Options{
		Data: krigo.Data{Target: "y"},
		Run:  krigo.Run{Restarts: 1},
	})
	with := predict(t, m, read(text.String()))
	bare := read(inputs.String())
	for range 2 { // the first call doesn't change the table
		without, err := m.Predict(t.Context(), bare, krigo.PredictOptions{})
		must.Hold(t, err == nil && slices.Equal(with, without), "without the target: %v", err)
	}

	// One column fewer, with the target among them, means that a column is missing and not that the order differs.
	short := must.Get(files.CSV{From: strings.NewReader("1,2\n3,5\n2,4\n"), Source: "short.csv"}.Read())(t)
	must.Refuse(m.CertifyFresh(t.Context(), short))(t, `"x2"`, "rows without x2")
}

// TestPredictAt shows that rows whose categories are given as inputs 0 and 1 get the same predictions as rows of a
// table with these categories.
func TestPredictAt(t *testing.T) {
	table := &dataset.Table{Source: "t", Names: []string{"fuel", "size", "price"}}
	for i := range 60 {
		table.Append([]string{[]string{"gas", "oil"}[i%2], strconv.Itoa(20 + i%31), strconv.Itoa(i%31 + 10*(i%2))})
	}
	m := fit(t, table, cheap(krigo.Options{
		Data:   krigo.Data{Target: "price", Categorical: []string{"fuel"}},
		Method: krigo.Method{Name: "evidence"},
	}))
	want := predict(t, m, table)
	x := mat.NewDense(60, len(m.Inputs), nil)
	for i := range 60 {
		x.Set(i, slices.Index(m.Inputs, "fuel="+[]string{"gas", "oil"}[i%2]), 1)
		x.Set(i, slices.Index(m.Inputs, "size"), float64(20+i%31))
	}
	if ps, err := m.PredictAt(x); err != nil || !slices.Equal(ps, want) {
		t.Errorf("%v: the predictions are others", err)
	}
}

// TestCovarianceBesideFar: a row far outside changes neither covariances nor draws of other rows.
func TestCovarianceBesideFar(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 7))
	var rows [][]float64
	for range 60 {
		x := rng.NormFloat64()
		rows = append(rows, []float64{x, 3*x + 0.1*rng.NormFloat64()})
	}
	m := fit(t, must.Get(dataset.FromRows([]string{"x", "y"}, rows))(t), krigo.Options{Data: krigo.Data{Target: "y"},
		Kernel: krigo.Kernel{Expression: "se"}, Method: krigo.Method{Name: "evidence"}, Prior: krigo.Prior{Kind: "informed"}})
	cov := func(more ...float64) []float64 {
		at := [][]float64{{0.5}, {-1}}
		for _, x := range more {
			at = append(at, []float64{x})
		}
		table := must.Get(dataset.FromRows([]string{"x"}, at))(t)
		for i, p := range must.Get(m.Predict(t.Context(), table, krigo.PredictOptions{}))(t)[:2] {
			draw := must.Get(m.Sample(t.Context(), table, krigo.SampleOptions{Count: 1, Seed: 1}))(t)[i][0]
			must.Hold(t, math.Abs(draw-p.Mean) < 5*p.LatentSD, "beside %g: row %d, %g ± %g, is drawn as %g", more, i,
				p.Mean, p.LatentSD, draw)
		}
		all := must.Get(m.Covariance(t.Context(), table))(t)
		return []float64{all.At(0, 0), all.At(1, 0), all.At(1, 1)}
	}
	alone := cov()
	for _, far := range [][]float64{{1e15}, {1e15, -1e20}, {1e150, 1e200}, {1e308, -1.7e308}} {
		for i, v := range cov(far...) {
			near(t, fmt.Sprint(far, i), v, alone[i], 1e-9)
		}
	}
}
