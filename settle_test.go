package krigo_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/krigo-gp/krigo"
	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/dataset/files"
	"github.com/krigo-gp/krigo/finding"
	"github.com/krigo-gp/krigo/internal/must"
)

// stranger returns a table as nobody prepared it. Its targets are times scale.
func stranger(t *testing.T, scale float64) *dataset.Table {
	t.Helper()
	rng := rand.New(rand.NewPCG(1, 2))
	text := "rownames,who,kind,when,a,b,y\n"
	for i := range 160 {
		a, b := rng.NormFloat64(), rng.NormFloat64()
		cell := fmt.Sprintf("%.4f", a)
		switch {
		case i%8 == 0:
			cell = ""
		case i%9 == 0:
			cell = "unknown"
		}
		y := scale * (math.Sin(2*b) + float64(i%3) + 0.1*rng.NormFloat64())
		text += fmt.Sprintf("%d,Mr. %d,%s,2024-%02d-%02d,%s,%.4f,%.4f\n", i+1, i, []string{"p", "q", "r"}[i%3], 1+i/28, 1+i%28,
			cell, b, y)
	}
	return must.Get(files.CSV{From: strings.NewReader(text), Source: "s.csv"}.Read())(t)
}

// TestSettle: a table settles what options leave open, the model keeps it, further tables are read in the same way, and
// the same fit comes of options that say all that.
func TestSettle(t *testing.T) {
	asked := krigo.Options{Data: krigo.Data{Target: "y"}, Kernel: krigo.Kernel{Expression: "se"}}
	table := stranger(t, 1)
	read, o, err := asked.Settle(table)
	must.Need(t, err == nil, "%v", err)
	d := o.Data
	must.Be(t, fmt.Sprint(d.Ignore, d.Categorical, d.Reading.Dates[0].Column, d.Reading.Missing, d.Missing),
		"[rownames who] [kind]when[a=unknown]indicator")
	must.Hold(t, asked.Data.Ignore == nil && table.Texts(4) != nil, "the table or the options changed")
	kinds := map[finding.Kind]int{}
	for _, f := range d.Settled {
		kinds[f.Kind]++
	}
	must.Hold(t, kinds[finding.LeftOut] == 2 && kinds[finding.ReadAs] == 2 && kinds[finding.ReadAsGap] == 1 &&
		kinds[finding.GapsFilled] == 1, "%q", d.Settled.Words())
	for _, want := range []string{"rownames is left out: counts up row by row, as numbers of rows do (160 rows from line 2); " +
		"--inputs '*' keeps it", "a misses 20 of 160 cells (the first in line 2)", "a: unknown stands for a missing value (15 rows"} {
		must.Hold(t, strings.Contains(strings.Join(d.Settled.Words(), "\n"), want), "%q doesn't say %s", d.Settled.Words(), want)
	}

	m := must.Get(krigo.Fit(context.Background(), read, o))(t)
	must.Be(t, fmt.Sprint(m.Inputs), "[kind=p kind=q kind=r kind=other when a a=missing b]")
	must.Hold(t, len(m.Findings.Of(finding.LeftOut)) == 2, "%v", m.Findings)
	again, differs, err := m.Refit(context.Background(), read, nil)
	must.Hold(t, err == nil && differs == "" && again != nil, "%s, %v", differs, err)
	further := must.Get(files.CSV{From: strings.NewReader("a,kind,b,when\nunknown,p,1,2024-02-03\n,p,1,2024-02-03\n0.1,p,1,2024-02-03\n"),
		Source: "f.csv", As: m.Reading}.Read())(t)
	ps := must.Get(m.Predict(context.Background(), further, krigo.PredictOptions{}))(t)
	must.Hold(t, ps[0].Mean == ps[1].Mean && ps[1].Mean != ps[2].Mean, "%v", ps)

	said := asked
	said.Data.Ignore, said.Data.Categorical, said.Data.Missing = d.Ignore, d.Categorical, d.Missing
	whole := must.Get(table.Further(d.Reading.Missing, d.Reading.Dates))(t)
	other := must.Get(krigo.Fit(context.Background(), whole, said))(t)
	must.Hold(t, reflect.DeepEqual(m.Certificate, other.Certificate) && slices.Equal(m.Rows, other.Rows), "other options")

	_, err = krigo.Fit(context.Background(), table, asked)
	must.Hold(t, err != nil && strings.Contains(err.Error(), "is no column of numbers") ||
		strings.Contains(fmt.Sprint(err), "are no columns of numbers"), "%v", err)
}

// TestSettleNoTarget: no decision depends on the targets, so that no certificate has to pay for one.
func TestSettleNoTarget(t *testing.T) {
	o := krigo.Options{Data: krigo.Data{Target: "y"}}
	_, a, err := o.Settle(stranger(t, 1))
	must.Do(t, err)
	_, b, err := o.Settle(stranger(t, -1e9))
	must.Do(t, err)
	must.Hold(t, reflect.DeepEqual(a.Data, b.Data), "%+v\n%+v", a.Data, b.Data)

	// the last row holds the sum of an input, and perhaps of the target
	sums := func(last float64) krigo.Data {
		text := "a,b,y\n"
		for i := range 120 {
			text += fmt.Sprintf("%g,%g,1%g\n", 0.05*float64(i%20), math.Sin(float64(i)), float64(i%3))
		}
		table := must.Get(files.CSV{From: strings.NewReader(fmt.Sprintf("%s57,0.1,%g\n", text, last)), Source: "s.csv"}.Read())(t)
		_, o, err := o.Settle(table)
		must.Do(t, err)
		return o.Data
	}
	must.Hold(t, reflect.DeepEqual(sums(1320), sums(11)), "%+v\n%+v", sums(1320), sums(11))
}

// TestSettleSaid: what the user says isn't decided again.
func TestSettleSaid(t *testing.T) {
	table := stranger(t, 1)
	for _, c := range []struct {
		say  func(d *krigo.Data)
		want string
	}{
		{func(d *krigo.Data) { d.Inputs = []string{"*"} }, "[] [kind]indicator"},
		{func(d *krigo.Data) { d.Ignore = []string{"k*", "when"} }, "[k* when rownames who] []indicator"},
		{func(d *krigo.Data) { d.Categorical = []string{"who"} }, "[rownames] [who kind]indicator"},
		{func(d *krigo.Data) { d.Missing = dataset.FillMean }, "[rownames who] [kind]mean"},
		{func(d *krigo.Data) { d.Missing = dataset.Refuse }, "[rownames who] [kind]refuse"},
		{func(d *krigo.Data) { d.Group = "kind" }, "[rownames who] []indicator"},
	} {
		o := krigo.Options{Data: krigo.Data{Target: "y"}}
		c.say(&o.Data)
		_, got, err := o.Settle(table)
		must.Hold(t, err == nil, "%v", err)
		must.Be(t, fmt.Sprint(got.Data.Ignore, got.Data.Categorical, got.Data.Missing), c.want)
	}
	_, o, err := krigo.Options{Data: krigo.Data{Target: "b", Ignore: []string{"r*", "w*", "kind", "a"}}}.Settle(table)
	must.Hold(t, err == nil && o.Data.Settled == nil && o.Data.Missing == "" && o.Data.Categorical == nil, "%+v", o.Data)
	_, _, err = krigo.Options{Data: krigo.Data{Target: "z"}}.Settle(table)
	must.Hold(t, err != nil && strings.Contains(err.Error(), `"z"`), "%v", err)
}

// TestSettleSlips: the certificate holds on further rows of a source that makes slips, which are other numbers each time.
func TestSettleSlips(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	read := func(rows int, as dataset.Reading) (*dataset.Table, []float64) {
		text := "a,b,y\n"
		ys := make([]float64, rows)
		for i := range ys {
			a, b := rng.Float64(), rng.NormFloat64()
			if i%110 == 7 {
				a = 1e6 * (1 + a)
			}
			ys[i] = 2*b + 0.1*rng.NormFloat64()
			text += fmt.Sprintf("%.4f,%.4f,%.6f\n", a, b, ys[i])
		}
		return must.Get(files.CSV{From: strings.NewReader(text), Source: "s.csv", As: as}.Read())(t), ys
	}
	table, _ := read(1000, dataset.Reading{})
	table, o, err := krigo.Options{Data: krigo.Data{Target: "y", Transform: "none"},
		Kernel:  krigo.Kernel{Expression: "se", ARD: "on", Noise: "constant"},
		Prior:   krigo.Prior{Kind: "informed", Share: 0.1},
		Promise: krigo.Promise{Epsilon: 0.5, Units: "raw", Delta: 0.05}, Run: krigo.Run{Restarts: 1}}.Settle(table)
	must.Hold(t, err == nil, "%v", err)
	m := must.Get(krigo.Fit(context.Background(), table, o))(t)
	further, ys := read(1100, m.Reading)
	misses := 0.
	for i, p := range must.Get(m.Predict(context.Background(), further, krigo.PredictOptions{}))(t) {
		if math.Abs(p.Mean-ys[i]) > 0.5 {
			misses++
		}
	}
	must.Hold(t, misses/1100 <= m.Certificate.MeanBound, "%g of 1100 rows miss, more than %g", misses, m.Certificate.MeanBound)
}
