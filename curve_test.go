package krigo_test

import (
	"bytes"
	"context"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/krigo-gp/krigo"
	"github.com/krigo-gp/krigo/data"
	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/internal/must"
	"github.com/krigo-gp/krigo/model"
	"github.com/krigo-gp/krigo/pacbayes"
)

// everyWidth returns options for certificates with more than one statement.
func everyWidth(change func(o *krigo.Options)) krigo.Options {
	o := cheap(krigo.Options{
		Data:   krigo.Data{Target: "MEDV", TestFraction: 0.2},
		Method: krigo.Method{Name: "evidence"},
		Prior:  krigo.Prior{Kind: "informed"},
	})
	change(&o)
	return o
}

// TestCurveOfModel: what a curve says is true of the model's certified rows, in the target's units. A file keeps the
// curve, and with a curve another ε still has a certificate.
func TestCurveOfModel(t *testing.T) {
	must.Long(t)
	table := pick(data.Boston(), every(0, 2, 506))
	for _, loss := range []string{"band", "scaled", "relative"} {
		epsilon := map[string]float64{"band": 0.6, "scaled": 2, "relative": 0.2}[loss]
		m := fit(t, table, everyWidth(func(o *krigo.Options) {
			o.Promise = krigo.Promise{Curve: true, Share: 0.8, Loss: loss, Epsilon: epsilon}
		}))
		var file bytes.Buffer
		must.Do(t, m.Write(&file))
		read := must.Get(krigo.Read(&file))(t)
		reproduced(t, read, table, loss)
		c := m.Certificate
		ps := predict(t, m, table)
		rows := rowsOf(t, m, table, dataset.Certified)
		misses := func(width float64) (n int) {
			for _, i := range rows {
				y := table.Values[14*i+13]
				unit := map[string]float64{"band": 1, "scaled": ps[i].PredictiveSD, "relative": math.Abs(y)}[loss]
				if math.Abs(y-ps[i].Mean) > width*unit*(1+1e-9) {
					n++
				}
			}
			return n
		}
		for _, p := range c.Curve.Points {
			if n := misses(p.HalfWidthRaw); n > p.Misses {
				t.Errorf("%s: %d certified rows miss by more than %v, and the curve says %d", loss, n, p.HalfWidthRaw,
					p.Misses)
			}
			must.Hold(t, p.Bound > float64(p.Misses)/float64(len(rows)),
				"%s: %+v is no bound", loss, p)
		}
		if p := c.Promise; p.HalfWidth == 0 || c.Curve.At(p.HalfWidth) > 0.2 || p.Scaled != (loss == "scaled") ||
			p.Relative != (loss == "relative") {
			t.Errorf("%s: %+v", loss, p)
		}
		bands := must.Get(m.Intervals(ps, krigo.IntervalOptions{Kind: "band"}))(t)
		inside := 0
		for _, i := range rows {
			if y := table.Values[14*i+13]; bands[i].Lower <= y && y <= bands[i].Upper {
				inside++
			}
		}
		if want := len(rows) - misses(c.Promise.HalfWidthRaw); math.Abs(float64(inside-want)) > 0 {
			t.Errorf("%s: %d certified rows lie in the bands, want %d", loss, inside, want)
		}
		r, err := m.Certify(t.Context(), table, krigo.CertifyOptions{Epsilon: 1.5 * epsilon})
		if err != nil || !r.Certificate.Valid || r.Certificate.MeanBound != c.Curve.At(1.5*epsilon) ||
			r.Certificate.Promise == nil || strings.Contains(strings.Join(r.Certificate.Conditions, ""), "NOT MET") {
			t.Errorf("%s: at another ε: %+v, %v", loss, r, err)
		}
		said := m.Sentence(c)
		for _, want := range []string{"all of these hold together for predictions on further rows from the same source", ":\n  at least ",
			"\n  at least 80 % lie within ±", "\n  their mean absolute error is at most ", ", with each error capped at ",
			map[string]string{"band": "of MEDV", "scaled": "own standard deviations", "relative": "times MEDV"}[loss]} {
			must.Hold(t, strings.Contains(said, want),
				"%s: nothing says %q in %s", loss, want, said)
		}
		m.Certificate.Curve.Points[2].HalfWidth *= 0.9
		if r, err := certify(m, table); err != nil || r.Matches {
			t.Errorf("%s: a narrower curve: %+v, %v", loss, r, err)
		}
	}
}

// TestSlices: the rows of a slice are the rows that its name says, and its bound uses only these rows. Slices with a
// bound share half of δ, and slices of few rows have no bound. An older file keeps the rules of its time: each slice
// has a part of δ, and a curve doesn't end.
func TestSlices(t *testing.T) {
	must.Long(t)
	table := data.Boston()
	m := fit(t, table, everyWidth(func(o *krigo.Options) {
		o.Promise = krigo.Promise{Slices: []string{"sd", "CHAS", "RM"}, Epsilon: 0.6}
	}))
	reproduced(t, m, table)
	c := m.Certificate
	rows := rowsOf(t, m, table, dataset.Certified)
	ps := predict(t, m, table)
	missed := func(i int) bool { return math.Abs(table.Values[14*i+13]-ps[i].Mean) > c.EpsilonRaw }
	all := 0
	for _, i := range rows {
		if missed(i) {
			all++
		}
	}
	if want := pacbayes.ClopperPearson(all, len(rows), 0.005); math.Abs(c.MeanBound-want) > 1e-11 {
		t.Errorf("of all rows %v, want %v", c.MeanBound, want)
	}
	must.Need(t, len(c.Slices) == 8, "%+v", c.Slices)
	for _, s := range c.Slices {
		n, k := 0, 0
		for _, i := range rows {
			v := ps[i].PredictiveSD
			if s.By != "sd" {
				v = table.Values[14*i+slices.Index(table.Names, s.By)]
			}
			if s.Has(v) {
				n++
				if missed(i) {
					k++
				}
			}
		}
		want := 1.
		if n >= 20 {
			want = pacbayes.ClopperPearson(k, n, 0.005/7)
		}
		if s.Rows != n || math.Abs(s.MeanBound-want) > 1e-11 || (s.Reason != "") != (n < 20) {
			t.Errorf("%+v: %d rows, %d misses, bound %v", s, n, k, want)
		}
	}
	said := m.Sentence(c)
	for _, want := range []string{"at most this share of each kind's predictions lies outside ±", "sd surest, < ", "CHAS = 1: no bound, ",
		"are too few, of 20"} {
		must.Hold(t, strings.Contains(said, want), "nothing says %q in %s", want, said)
	}
	old := fit(t, table, everyWidth(func(o *krigo.Options) {
		o.Promise = krigo.Promise{Slices: []string{"sd", "CHAS", "RM"}, Epsilon: 0.6, Curve: true}
	}))
	level := old.Certificate.Curve.Level
	old.Terms.Rules, old.Context = 0, nil
	d, err := old.Labelled(table)
	if err == nil {
		old.Certificate, err = old.Model.Certify(d)
	}
	if err != nil || old.Certificate.Curve.Level > level/2 || old.Certificate.Slices[0].MeanBound <= c.Slices[0].MeanBound {
		t.Errorf("by the rules of before: %+v, %v", old.Certificate, err)
	}
	reproduced(t, old, table, "by the rules of before")
	few := everyWidth(func(o *krigo.Options) { o.Promise.Slices, o.Prior.Share = []string{"sd"}, 0.92 })
	must.Fail(t, attempt(table, few), "certify at least 60 rows", "too few rows for a slice")
	few.Promise.Slices = []string{"sd", "RM"}
	must.Fail(t, attempt(table, few), "slices sd,RM: of ", "too few rows for any slice")
	few.Promise.Slices = []string{"CHAS"} // most rows have CHAS = 0
	fit(t, table, few)
	c.Slices[0].MeanBound /= 2
	if r, err := certify(m, table); err != nil || r.Matches {
		t.Errorf("a lower bound: %+v, %v", r, err)
	}
	categories := fit(t, sided(table), everyWidth(func(o *krigo.Options) {
		o.Data.Categorical, o.Data.Missing, o.Promise.Slices = []string{"side"}, "mean", []string{"side"}
	}))
	if s := categories.Certificate.Slices; len(s) != 4 || s[0].Name != "= 7" || s[3].Name != "= other" || s[3].Rows == 0 ||
		s[0].Rows == 0 {
		t.Errorf("%+v", s)
	}
}

// sided also has a column of categories.
func sided(t *dataset.Table) *dataset.Table {
	with := &dataset.Table{Source: t.Source, Names: append([]string{"side"}, t.Names...)}
	for i := range t.Rows {
		row := []string{[]string{"left", "right", "", "7"}[i%4]}
		for _, v := range t.Values[i*len(t.Names) : (i+1)*len(t.Names)] {
			row = append(row, strconv.FormatFloat(v, 'g', -1, 64))
		}
		with.Append(row)
	}
	return with
}

// TestRefusesManyStatements: curves, slices and scaled widths need a mean that was fixed before the certified rows
// were seen.
func TestRefusesManyStatements(t *testing.T) {
	for want, change := range map[string]func(o *krigo.Options){
		"curve: the mean must be fixed": func(o *krigo.Options) {
			o.Promise.Curve, o.Prior.Learn = true, true
		},
		"curve: it bounds the misses of every width, by the loss band": func(o *krigo.Options) {
			o.Promise.Curve, o.Promise.Loss = true, "clipped-square"
		},
		"curve: its bounds are exact and binomial": func(o *krigo.Options) {
			o.Promise.Curve, o.Promise.Bound = true, pacbayes.BettingBound
		},
		"curve: groups": func(o *krigo.Options) {
			o.Promise.Curve, o.Data.Group = true, "RAD"
		},
		"slices: groups have no slices": func(o *krigo.Options) { // although no row is left to certify
			o.Promise.Slices, o.Data.Group, o.Prior.Kind, o.Prior.Share = []string{"RM"}, "RAD", "informed", 1
		},
		"a backtest promises nothing of any width": func(o *krigo.Options) {
			o.Promise.Curve, o.Data.Split, o.Data.TestFraction = true, "last", 0
		},
		"loss scaled: the predictor": func(o *krigo.Options) {
			o.Promise.Loss, o.Promise.MeanBound = "scaled", "twice"
		},
		"loss scaled: it counts the standard deviations": func(o *krigo.Options) {
			o.Promise.Loss, o.Method.Name = "scaled", "kl-pac"
		},
		`slices: "MEDV" is neither sd, nor distance, nor an input`: func(o *krigo.Options) { o.Promise.Slices = []string{"MEDV"} },
		`slices: "RM" is listed twice`: func(o *krigo.Options) {
			o.Promise.Slices = []string{"RM", "RM"}
		},
		"slices: the mean must be fixed before": func(o *krigo.Options) {
			o.Promise.Slices, o.Prior.Kind = []string{"RM"}, "grid"
		},
		"slices: groups": func(o *krigo.Options) {
			o.Promise.Slices, o.Data.Group = []string{"RM"}, "RAD"
		},
		"mean-bound direct": func(o *krigo.Options) {
			o.Promise.Slices, o.Promise.Loss = []string{"RM"}, "gaussian"
		},
	} {
		must.Fail(t, attempt(data.Boston(), everyWidth(change)), want)
	}
}

// TestForgedStatements: a forger can't add statements that δ doesn't cover. Slices use the declared ε. Another ε has a
// certificate by the curve only if the model is genuine. Read refuses a file whose words have control characters.
// certify refuses misses in standard deviations that were learnt on the certified rows.
func TestForgedStatements(t *testing.T) {
	must.Long(t)
	table := pick(data.Boston(), every(0, 2, 506))
	of := func(change func(o *krigo.Options)) *krigo.Model { return fit(t, table, everyWidth(change)) }
	many := of(func(o *krigo.Options) { o.Promise.Curve, o.Promise.Slices = true, []string{"sd"} })
	r, err := many.Certify(t.Context(), table, krigo.CertifyOptions{Epsilon: 1.2})
	must.Hold(t, err == nil && r.Certificate.Valid && r.Certificate.Slices == nil &&
		!strings.Contains(strings.Join(r.Certificate.Conditions, ""), "slices"),
		"slices at another ε: %+v, %v", r, err)
	for what, c := range map[string]struct {
		change  func(o *krigo.Options)
		edit    func(m *krigo.Model)
		epsilon float64
	}{
		"δ, at another ε": {func(o *krigo.Options) { o.Promise.Curve = true },
			func(m *krigo.Model) { m.Terms.Delta = 1e-6; m.Certificate.Delta = 1e-6 }, 1.1},
		"a curve": {func(o *krigo.Options) { o.Promise.Epsilon = 0.6 }, func(m *krigo.Model) { m.Terms.Curve = true }, 1.1},
		"a curve's point": {func(o *krigo.Options) { o.Promise.Curve = true },
			func(m *krigo.Model) { m.Certificate.Curve.Points[3].Bound /= 2 }, 1.1},
		"a declaration": {func(o *krigo.Options) {},
			func(m *krigo.Model) { m.Terms.Declaration = "00. Verified as true" }, 0},
		"no options": {func(o *krigo.Options) {}, func(m *krigo.Model) { m.Fitted = nil }, 0},
		"a slice of nothing": {func(o *krigo.Options) { o.Promise.Slices = []string{"sd"} },
			func(m *krigo.Model) { m.Terms.Slices = []string{"nosuch"} }, 0},
		"scales of the bound": {func(o *krigo.Options) { o.Method.Name = "kl-pac" }, func(m *krigo.Model) {
			m.Fitted, m.Terms.Loss.Kind, m.Terms.EpsilonRaw = nil, "scaled", m.Terms.Loss.Below
		}, 0},
	} {
		m := of(c.change)
		c.edit(m)
		if r, err := m.Certify(t.Context(), table, krigo.CertifyOptions{Epsilon: c.epsilon}); err == nil && (r.Matches ||
			c.epsilon > 0) {
			t.Errorf("%s: %+v", what, r)
		}
	}
	m := of(func(o *krigo.Options) {})
	m.CertificateReason = "\x1b[2J"
	var file bytes.Buffer
	must.Do(t, m.Write(&file))
	must.Refuse(krigo.Read(&file))(t, "control characters", "words that a terminal obeys")
	ps := []model.Prediction{{Mean: 20}}
	if is, err := m.Intervals(ps, krigo.IntervalOptions{Kind: "conformal", Level: 1e-12}); err != nil || is[0].Upper < 20 {
		t.Errorf("hardly any level: %v, %v", is, err)
	}
	for _, kind := range krigo.FewRowKinds() {
		if _, err := m.IntervalsOfFew(t.Context(), table, table, krigo.IntervalOptions{Kind: kind, Level: 1e-12,
			By: "CHAS"}); err != nil {
			t.Errorf("hardly any level, %s: %v", kind, err)
		}
	}
	all := must.Get(m.Deliver(context.Background(), table, krigo.Options{}))(t)
	must.Refuse(all.IntervalsOfFew(t.Context(), table, table, krigo.IntervalOptions{Kind: "full",
		Level: 0.9}))(t, "trained on all rows", "of a sibling")
	svgp := of(func(o *krigo.Options) {
		o.Method = krigo.Method{Name: "svgp", Inducing: 10, Batch: 50, Epochs: 2}
	})
	if _, err := svgp.Deliver(context.Background(), table, krigo.Options{}); err != nil {
		t.Errorf("svgp's sibling: %v", err)
	}
}
