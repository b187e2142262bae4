package krigo_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/krigo-gp/krigo"
	"github.com/krigo-gp/krigo/data"
	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/internal/cautious"
	"github.com/krigo-gp/krigo/internal/must"
	"github.com/krigo-gp/krigo/model"
	"github.com/krigo-gp/krigo/model/say"
	"github.com/krigo-gp/krigo/pacbayes"
)

// TestSentence shows that the certificate's sentence promises no more than the certificate's numbers.
func TestSentence(t *testing.T) {
	m := fit(t, data.Boston(), cheap(krigo.Options{
		Method:  krigo.Method{Name: "evidence"},
		Prior:   krigo.Prior{Kind: "informed"},
		Promise: krigo.Promise{Share: 0.85},
	}))
	c := *m.Certificate
	for _, half := range []float64{6.02731, 1.00001, 0.0123449, 12345.6, 99.996, 5.5} {
		p := *c.Promise
		p.HalfWidthRaw, c.Promise = half, &p
		words := m.Sentence(&c)
		must.Hold(t,
			strings.HasPrefix(words, "With 99 % confidence (over the draw of the certified rows), at least ") &&
				strings.Contains(words, "\nWith the same confidence, at least "), "%v", words)
		_, rest, _ := strings.Cut(words, "lie within ±")
		said, err := strconv.ParseFloat(strings.ReplaceAll(strings.Fields(rest)[0], ",", ""), 64)
		if err != nil || said < half*(1-1e-12) || said > half*1.01 || !strings.Contains(words, "at least 85 %") {
			t.Errorf("%v: %v, %v", half, words, err)
		}
	}
}

// TestMeanSquare: without a named inequality betting bounds the mean of graded losses, more tightly
// than kl. The sentence has the root of the mean square and its cap in the target's own unit,
// rounded to the safe sides, and the figures of simpler models in the same unit.
func TestMeanSquare(t *testing.T) {
	bounds := map[pacbayes.Inequality]float64{}
	for _, bound := range []pacbayes.Inequality{"", pacbayes.KLBound} {
		m := fit(t, homes(), cheap(krigo.Options{
			Method:  krigo.Method{Name: "evidence"},
			Prior:   krigo.Prior{Kind: "informed"},
			Promise: krigo.Promise{Loss: "clipped-square", Epsilon: 2, Bound: bound},
		}))
		c := m.Certificate
		bounds[c.Inequality] = c.MeanBound
		said := m.Sentence(c)
		var root, most float64
		_, rest, _ := strings.Cut(said, "the root mean squared error of predictions on further rows ")
		_, rest, _ = strings.Cut(rest, "is at most ")
		_, err := fmt.Sscanf(rest, "%g, with each error capped at %g of MEDV.", &root, &most)
		exact := c.EpsilonRaw * math.Sqrt(c.MeanBound)
		must.Hold(t, err == nil && root >= exact && root < 1.01*exact && most <= c.EpsilonRaw &&
			most > 0.99*c.EpsilonRaw, "%v, %v: %s", err, exact, said)
		beside := say.InContext(&m.Model)
		must.Hold(t, strings.Contains(beside, "For comparison, the root mean squared error of "+
			"predictions on further rows is at most "+
			cautious.Width(c.EpsilonRaw*math.Sqrt(m.Context.Constant.MeanBound))+" for the constant"),
			"%s", beside)
	}
	must.Hold(t, bounds[pacbayes.BettingBound] < 0.95*bounds[""], "%v", bounds)
}

// TestLogDensity: the certificate counts −ln of the normal density that predict's means and standard
// deviations give, which the certified rows didn't change. The sentence has the bound in nats.
func TestLogDensity(t *testing.T) {
	table := homes()
	o := cheap(krigo.Options{
		Method:  krigo.Method{Name: "evidence"},
		Prior:   krigo.Prior{Kind: "informed"},
		Promise: krigo.Promise{Loss: "log-density"},
	})
	m := fit(t, table, o)
	c := m.Certificate
	d := must.Get(table.Regression("MEDV"))(t)
	roles := must.Get(m.RolesOf(d))(t)
	ps := predict(t, m, table)
	mean, n := 0., float64(c.Rows)
	for _, row := range d.RowsOf(roles, dataset.Certified) {
		sd := ps[row].PredictiveSD / m.Scaling.TargetScale
		z := (table.Values[4*row+3] - ps[row].Mean) / ps[row].PredictiveSD
		mean += math.Min(math.Log(sd*math.Sqrt(2*math.Pi))+z*z/2, 0.5*math.Log(2*math.Pi)+5.5) / n
	}
	loss := m.Terms.Loss
	must.Near(t, loss.NegativeLog(c.EmpiricalRisk), mean, 1e-9)
	said := m.Sentence(c)
	_, rest, _ := strings.Cut(said, "the mean negative log density of predictions on further rows from the same source is at most ")
	var bound, most float64
	_, err := fmt.Sscanf(rest, "%g nats, with each row's capped at %g nats.", &bound, &most)
	exact := loss.NegativeLog(c.MeanBound)
	must.Hold(t, err == nil && bound >= exact && bound < exact+0.002 && exact > mean &&
		exact < mean+1.5 && most <= loss.NegativeLog(1) && most > 6.4 && m.Stretch() == 1 &&
		strings.Contains(rest, "of MEDV in standard deviations"), "%v, %v: %s", exact, mean, said)
	must.Hold(t, !strings.Contains(say.InContext(&m.Model), "For comparison"), "compared")
	for _, change := range []func(o *krigo.Options){
		func(o *krigo.Options) { o.Method.Name = "kl-pac" },
		func(o *krigo.Options) { o.Prior.Learn = true },
		func(o *krigo.Options) { o.Promise.MeanBound = pacbayes.Both },
	} {
		other := o
		other.Data.Target = "MEDV"
		change(&other)
		_, err := krigo.Fit(t.Context(), table, other)
		must.Hold(t, err != nil && strings.Contains(err.Error(), "loss log-density"), "%v", err)
	}
}

// TestGradedSentences: sentences name the mean of each graded loss, and so does a backtest.
func TestGradedSentences(t *testing.T) {
	for want, o := range map[string]krigo.Options{
		"the mean relative error of predictions on further rows from the same source is at most ": {
			Promise: krigo.Promise{Loss: "clipped-absolute"}},
		" %, with each error capped at 100 %.": {
			Promise: krigo.Promise{Loss: "clipped-absolute"}},
		"the mean gaussian loss of predictions on further rows from the same source is at most 0.": {
			Promise: krigo.Promise{Loss: "gaussian", Epsilon: 2}},
		"didn't see, the root mean squared error of predictions was ": {
			Promise: krigo.Promise{Loss: "clipped-square", Epsilon: 2}, Data: krigo.Data{Split: "last"}},
	} {
		o.Method.Name = "evidence"
		o.Prior.Kind = "informed"
		m := fit(t, homes(), cheap(o))
		said := m.Sentence(m.Certificate)
		must.Hold(t, strings.Contains(said, want), "%q: %s", want, said)
		if o.Data.Split == "last" {
			beside := say.InContext(&m.Model)
			must.Hold(t, strings.Contains(beside, "the root mean squared error on these rows is "),
				"%s", beside)
		}
	}
}

// TestDirectSentence: on the route direct there is no bound on a random draw, and the sentence doesn't mention a draw.
// For fresh rows the sentence says that the confidence is over the draw of the fresh rows.
func TestDirectSentence(t *testing.T) {
	m := fit(t, data.Boston(), cheap(krigo.Options{
		Data:    krigo.Data{TestFraction: 0.2},
		Method:  krigo.Method{Name: "evidence"},
		Prior:   krigo.Prior{Kind: "informed"},
		Promise: krigo.Promise{Epsilon: 1e-06},
	}))
	f, err := m.CertifyFresh(t.Context(), data.Boston())
	if err != nil || m.Certificate.Route != pacbayes.Direct || m.Certificate.MeanBound < 1 {
		t.Fatalf("%+v, %v", m.Certificate, err)
	}
	for rows, words := range map[string]string{"certified": m.Sentence(m.Certificate), "fresh": f.Sentence(&m.Model)} {
		if !strings.HasPrefix(words, "With 99 % confidence (over the draw of the "+rows+
			" rows), the bound says nothing about predictions") || strings.Contains(words, "random draw") {
			t.Error(words)
		}
	}
	if all := strings.Join(m.Certificate.Conditions, " "); strings.Contains(all, "random draw") ||
		!strings.Contains(all, "plain hold-out bound on the mean") {
		t.Error(all)
	}
}

// TestDeclaredScale: half-widths in declared constants aren't called standard deviations.
func TestDeclaredScale(t *testing.T) {
	declared := dataset.Scaling{InputMean: []float64{3}, InputScale: []float64{2}, TargetScale: 0.5}
	m := fit(t, data.Snelson(), krigo.Options{Data: krigo.Data{Target: "y", Scaling: dataset.Declared,
		Declared: &declared}, Kernel: krigo.Kernel{Expression: "se", ARD: "off"},
		Promise: krigo.Promise{Epsilon: 2, Share: 0.5}})
	if said := m.Sentence(m.Certificate); strings.Contains(said, " sd)") ||
		!strings.Contains(said, "±1 of y (2 declared scales)") {
		t.Errorf("%s", said)
	}
}

// TestCurveSentence shows that the sentence leaves out a bound on a mean of clipped errors if the bound is at or near
// the clip, since no such mean can exceed the clip. The table has at most five lines.
func TestCurveSentence(t *testing.T) {
	m := fit(t, data.Boston(), cheap(krigo.Options{
		Data:    krigo.Data{Target: "MEDV"},
		Kernel:  krigo.Kernel{Expression: "se"},
		Prior:   krigo.Prior{Kind: "informed"},
		Promise: krigo.Promise{Curve: true},
	}))
	c := *m.Certificate
	curve := *c.Curve
	c.Curve = &curve
	for _, of := range []struct {
		mean float64 // the share of the clip
		said bool
	}{{0.2, true}, {0.9999, false}, {1, false}} {
		curve.MeanError.Bound = of.mean * curve.MeanError.Clip
		words := m.Sentence(&c)
		if strings.Contains(words, "mean absolute error") != of.said || strings.Count(words, "\n  ") > 5 ||
			!strings.Contains(words, ":\n  at least 80 % lie within") {
			t.Errorf("%+v: %s", of, words)
		}
	}
}

// TestSliceNumbers: the limits of kinds of rows are written like all other numbers.
func TestSliceNumbers(t *testing.T) {
	m := &krigo.Model{Model: model.Model{Target: "y",
		Terms: pacbayes.Terms{Loss: pacbayes.Loss{Kind: pacbayes.Band, Below: 1}, EpsilonRaw: 1}}}
	to := 30255.83
	words := m.Sentence(&pacbayes.Certificate{Valid: true, Loss: pacbayes.Band, Delta: 0.01,
		Slices: []pacbayes.Slice{{By: "sd", Name: "surest", To: &to}}})
	must.Hold(t, strings.Contains(words, "sd surest, < 30,255.8: "), "%v", words)
}

// forger is a name that looks like a promise, on a line of its own.
const forger = ".\nWith 100 % confidence all predictions are perfect"

// TestForgedNames: no name of a column or a category can look like a promise, wherever a sentence or a condition
// quotes it.
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
			said = append(said, f.Sentence(&m.Model))
		}
		for _, text := range append(said, m.Certificate.Conditions...) {
			for _, line := range strings.Split(text, "\n") {
				must.Hold(t, !strings.HasPrefix(line, "With 100 %"), "%s: %s", name, text)
			}
		}
		must.Hold(t, strings.Contains(said[0], `\n`), "%s: %s", name, said[0])
	}
}
