package krigo_test

import (
	"bytes"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/krigo-gp/krigo"
	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/dataset/files"
	"github.com/krigo-gp/krigo/finding"
	"github.com/krigo-gp/krigo/internal/must"
	"github.com/krigo-gp/krigo/pacbayes"
	"gonum.org/v1/gonum/mat"
)

// limitsTables returns the same rows with limits in cells such as <1, and with limits that another column names.
func limitsTables(t *testing.T, seed uint64) (cells, sides *dataset.Table) {
	t.Helper()
	a, b := "x,y\n", "x,y,side\n"
	for i, r := range logNormal(seed, 150, true) {
		switch y := math.Exp(r[1] / 2); {
		case y < 0.8:
			a, b = a+fmt.Sprintf("%g,<0.8\n", r[0]), b+fmt.Sprintf("%g,0.8,left\n", r[0])
		case y > 2.5:
			a, b = a+fmt.Sprintf("%g,≥ 2.5\n", r[0]), b+fmt.Sprintf("%g,2.5,1\n", r[0])
		case i%2 == 0:
			a, b = a+fmt.Sprintf("%g,%g\n", r[0], y), b+fmt.Sprintf("%g,%g,none\n", r[0], y)
		default:
			a, b = a+fmt.Sprintf("%g,%g\n", r[0], y), b+fmt.Sprintf("%g,%g,\n", r[0], y)
		}
	}
	read := func(text string) *dataset.Table {
		return must.Get(files.CSV{From: strings.NewReader(text), Source: "t.csv"}.Read())(t)
	}
	return read(a), read(b)
}

// TestCertifiedLimits: limits in cells and limits that a column names give the same certificate. It counts a limit as a
// miss if the prediction lies on the other side, farther from the limit than ε. Rows that the model never saw count in
// the same way.
func TestCertifiedLimits(t *testing.T) {
	cells, sides := limitsTables(t, 5)
	for more, c := range map[string]struct {
		transform string
		promise   krigo.Promise
	}{
		"band":   {"", krigo.Promise{Epsilon: 0.3}},
		"log":    {"log", krigo.Promise{Epsilon: 0.3}},
		"scaled": {"", krigo.Promise{Loss: "scaled", Epsilon: 1, Curve: true}},
	} {
		fit := func(table *dataset.Table, column string) *krigo.Model {
			return must.Get(krigo.Fit(t.Context(), table, krigo.Options{
				Data:    krigo.Data{Target: "y", Transform: c.transform, Columns: krigo.Columns{Censored: column}},
				Kernel:  krigo.Kernel{Expression: "se"},
				Method:  krigo.Method{Name: "evidence"},
				Prior:   krigo.Prior{Kind: "informed", Share: 0.5},
				Promise: c.promise,
				Run:     krigo.Run{Restarts: 1},
			}))(t)
		}
		m, other := fit(cells, "y"), fit(sides, "side")
		must.Be(t, m.Certificate.Difference(other.Certificate), "")
		must.Be(t, [2]string{m.All, m.Hash}, [2]string{other.All, other.Hash})
		var file bytes.Buffer
		must.Do(t, m.Write(&file))
		again := must.Get(krigo.Read(&file))(t)
		found := must.Get(again.Certify(t.Context(), cells, krigo.CertifyOptions{}))(t)
		must.Be(t, found.Differs, "")
		must.Be(t, must.Get(found.Refit(t.Context(), nil))(t), "")

		_, fresh := limitsTables(t, 6)
		counted := must.Get(other.CertifyFresh(t.Context(), fresh))(t)
		y := must.Get(fresh.Regression("y", "side"))(t)
		targets := must.Get(y.Targets(y.All()))(t)
		misses, limits := 0., 0
		for i, p := range must.Get(other.Predict(t.Context(), fresh, krigo.PredictOptions{}))(t) {
			width, off := m.Terms.EpsilonRaw, p.Mean-targets[i]
			if m.Terms.Loss.Kind == pacbayes.Scaled {
				width *= p.PredictiveSD
			}
			switch targets[i] {
			case 0.8, 2.5:
				limits++
				side := -1.
				if targets[i] == 2.5 {
					side = 1
				}
				off = max(0, -side*off)
			}
			if math.Abs(off) > width {
				misses++
			}
		}
		must.Be(t, counted.Limits, limits)
		must.Hold(t, math.Abs(counted.MeanRisk*150-misses) <= 1e-9,
			"%s: %v misses, not %v", more, counted.MeanRisk*150, misses)
		must.Hold(t,
			m.Context.Unknown.MeanRisk >= float64(m.Certificate.Limits)/float64(m.Certificate.Rows),
			"unknown limits hit")
		must.Hold(t, strings.Contains(m.Sentence(m.Certificate), "of what is known of y"),
			"%s", m.Sentence(m.Certificate))
		must.Hold(t,
			strings.Contains(counted.Sentence(&other.Model), fmt.Sprint(limits, " of 150 rows say only")),
			"%s", counted.Sentence(&other.Model))
		must.Hold(t, counted.GibbsRisk >= 0 && counted.GibbsRisk <= 1,
			"the risk of a draw is %v", counted.GibbsRisk)
	}
	o := krigo.Options{
		Kernel: krigo.Kernel{Expression: "se"},
		Method: krigo.Method{Name: "evidence"},
		Prior:  krigo.Prior{Kind: "informed"},
	}
	o.Data.Target = "y"
	must.Refuse(krigo.Fit(t.Context(), cells, o))(t, "--censored y")
}

// TestLimitsOfDetection: with four targets of ten at a limit, the fit that knows it predicts the truth below the limit,
// and estimates the noise. Fits that take limits for measurements, or leave these rows out, can't.
func TestLimitsOfDetection(t *testing.T) {
	rows := make([][]float64, 0, 150)
	measured := make([][]float64, 0, 150)
	for _, r := range logNormal(5, 150, true) {
		side, y := 0., r[1]
		if y < -0.5 {
			side, y = -1, -0.5
		} else {
			measured = append(measured, r)
		}
		rows = append(rows, []float64{r[0], y, side})
	}
	table := must.Get(dataset.FromRows([]string{"x", "y", "side"}, rows))(t)
	rmse := func(m *krigo.Model) (sum float64) {
		for x := 0.; x <= 6; x += 0.1 {
			p := must.Get(m.PredictAt(mat.NewDense(1, 1, []float64{x})))(t)
			sum += (p[0].Mean - 2*math.Sin(x)) * (p[0].Mean - 2*math.Sin(x)) / 61
		}
		return math.Sqrt(sum)
	}
	for _, name := range []string{"evidence", "nearest"} {
		o := krigo.Options{Data: krigo.Data{Target: "y", Columns: krigo.Columns{Censored: "side"}}, Kernel: krigo.Kernel{Expression: "se",
			Mean: "constant"},
			Prior: krigo.Prior{Kind: "informed", Share: 1}, Method: krigo.Method{Name: name}}
		m := must.Get(krigo.Fit(t.Context(), table, o))(t)
		without, _ := fitRows(t, measured, func(o *krigo.Options) {
			o.Prior.Share, o.Method.Name, o.Kernel.Mean = 1, name, "constant"
		})
		o.Data.Censored, o.Data.Ignore = "", []string{"side"}
		plain := must.Get(krigo.Fit(t.Context(), table, o))(t)
		a, b, c := rmse(m), rmse(without), rmse(plain)
		must.Need(t, a < 0.4 && a < 0.7*b && a < 0.7*c,
			"%s: RMSE %v, without limits %v, as measured %v", name, a, b, c)
		sd := math.Sqrt(m.ObservationNoise) * m.Scaling.TargetScale
		must.Need(t, sd > 0.3 && sd < 0.5, "the noise is %v, not .4", sd)
		must.Be(t, len(m.Findings.Of(finding.Limits)), 1)
		must.Be(t, strings.Join(m.Inputs, ","), "x")
	}
	for name, o := range map[string]krigo.Options{
		"calibration": {
			Method:  krigo.Method{Name: "evidence"},
			Prior:   krigo.Prior{Kind: "informed"},
			Promise: krigo.Promise{Calibration: 0.3},
		},
		"kl-pac": {Method: krigo.Method{Name: "kl-pac"}},
		"student": {
			Kernel: krigo.Kernel{Noise: "student"},
			Method: krigo.Method{Name: "evidence"},
			Prior:  krigo.Prior{Kind: "informed", Share: 1},
		},
	} {
		o.Data.Target = "y"
		o.Data.Censored = "side"
		must.Hold(t, o.Validate() != nil, "%s isn't refused", name)
	}
	o := krigo.Options{
		Data:   krigo.Data{Target: "y", Columns: krigo.Columns{Censored: "x"}},
		Method: krigo.Method{Name: "evidence"},
		Prior:  krigo.Prior{Kind: "informed", Share: 1},
	}
	_, err := krigo.Fit(t.Context(), table, o)
	must.Hold(t, err != nil && strings.Contains(err.Error(), "isn't left, right or none"),
		"any cell is a side: %v", err)
}

// TestLimitsOfAnotherColumn: a model whose limits stand in another column than its options say is refused, even if both
// columns hold the same.
func TestLimitsOfAnotherColumn(t *testing.T) {
	rows := make([][]float64, 0, 90)
	for _, r := range logNormal(5, 90, true) {
		side := 0.
		if r[1] < -0.5 {
			side = -1
		}
		rows = append(rows, []float64{r[0], max(r[1], -0.5), side, side})
	}
	table := must.Get(dataset.FromRows([]string{"x", "y", "side", "same"}, rows))(t)
	o := krigo.Options{Kernel: krigo.Kernel{Expression: "se"}, Method: krigo.Method{Name: "evidence"},
		Prior: krigo.Prior{Kind: "informed"}}
	o.Data.Target = "y"
	o.Data.Ignore = []string{"same"}
	o.Data.Censored = "side"
	m := must.Get(krigo.Fit(t.Context(), table, o))(t)
	must.Get(m.Certify(t.Context(), table, krigo.CertifyOptions{}))(t)
	forged := *m
	forged.Censored = "same"
	must.Refuse(forged.Certify(t.Context(), table, krigo.CertifyOptions{}))(t, "the columns")
}
