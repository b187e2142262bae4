package krigo

import (
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/internal/lists"
	"github.com/krigo-gp/krigo/internal/must"
	"github.com/krigo-gp/krigo/model"
	"github.com/krigo-gp/krigo/objective"
)

// visits draws counts whose mean is e^(1 + sin 2x), and an input that doesn't matter.
func visits(n int) *dataset.Table {
	rng := rand.New(rand.NewPCG(3, 4))
	t := dataset.Reading{}.New("visits")
	t.Names = []string{"x", "z", "count"}
	for range n {
		x, limit, count := rng.NormFloat64(), 1., -1
		for limit > math.Exp(-math.Exp(1+math.Sin(2*x))) { // Knuth's draw
			limit *= rng.Float64()
			count++
		}
		if err := t.Append([]string{fmt.Sprint(x), fmt.Sprint(rng.NormFloat64()), fmt.Sprint(count)}); err != nil {
			panic(err)
		}
	}
	return t
}

// TestCounts fits counts, certifies them in their own unit, and goes through a file.
func TestCounts(t *testing.T) {
	must.Long(t)
	table := visits(240)
	for _, noise := range []string{"poisson", "negative-binomial"} {
		o := Options{Data: Data{Target: "count", TestFraction: 0.2}, Kernel: Kernel{Expression: "se", Noise: noise},
			Promise: Promise{Epsilon: 4, Units: "raw"}, Run: Run{Restarts: 1}}
		m := must.Get(Fit(t.Context(), table, o))(t)
		if c := m.Certificate; c.MeanBound > 0.4 || !strings.Contains(m.Sentence(c), "±4 of count") {
			t.Errorf("%s: bound %g: %s", noise, c.MeanBound, m.Sentence(c))
		}
		if m.Test.NLPD > 2.3 || m.Test.NLPD < 1.7 || m.Test.Coverage95 < 0.9 {
			t.Errorf("%s: test %+v", noise, m.Test)
		}
		path := filepath.Join(t.TempDir(), "m.krigo")
		must.Do(t, m.Save(path))
		again := must.Get(Load(path))(t)
		r := must.Get(again.Certify(t.Context(), table, CertifyOptions{}))(t)
		if differs := must.Get(r.Refit(t.Context(), nil))(t); !r.Matches || !r.Refitted {
			t.Errorf("%s: certified again: %+v, %s", noise, r, differs)
		}
		for i, p := range must.Get(again.Predict(t.Context(), table, PredictOptions{}))(t) {
			if x := table.Values[3*i]; math.Abs(x) < 1.5 && math.Abs(math.Log(p.Mean)-1-math.Sin(2*x)) > 0.6 ||
				p.Lower95 != math.Floor(p.Lower95) || p.Lower95 < 0 || p.Upper95 < p.Mean {
				t.Errorf("%s at %g: %+v", noise, x, p)
			}
		}
		other := *table
		other.Values = append([]float64(nil), table.Values...)
		other.Values[2]++
		again.Hash, again.All, again.Targets = "", "", ""
		if _, err := again.Certify(t.Context(), &other, CertifyOptions{}); err == nil {
			t.Errorf("%s: certified with another count", noise)
		}
	}
}

// exposed gives every row of visits an exposure, and counts that grow with it.
func exposed(n int) *dataset.Table {
	rng, t := rand.New(rand.NewPCG(8, 9)), dataset.Reading{}.New("exposed")
	t.Names = []string{"x", "years", "count"}
	for range n {
		x, years := rng.NormFloat64(), math.Exp(rng.NormFloat64())
		at, count := rng.ExpFloat64(), 0
		for ; at < years*math.Exp(1+math.Sin(2*x)); at += rng.ExpFloat64() {
			count++
		}
		if err := t.Append([]string{fmt.Sprint(x), fmt.Sprint(years), fmt.Sprint(count)}); err != nil {
			panic(err)
		}
	}
	return t
}

// TestExposure shows that the mean is proportional to the exposure, which is no input, and that the certificate counts
// predictions with each row's exposure. An exposure of 1 changes nothing. A table without the column is an error that
// names the column.
func TestExposure(t *testing.T) {
	must.Long(t)
	table := exposed(240)
	for _, noise := range []string{"poisson", "negative-binomial"} {
		o := Options{Data: Data{Target: "count", TestFraction: 0.2, Columns: Columns{Exposure: "years"}},
			Kernel: Kernel{Expression: "se", Noise: noise}, Promise: Promise{Epsilon: 5, Units: "raw"},
			Run: Run{Restarts: 1}}
		m := must.Get(Fit(t.Context(), table, o))(t)
		must.Be(t, fmt.Sprint(m.Inputs, m.Further()), "[x] [years]")
		path := filepath.Join(t.TempDir(), "m.krigo")
		must.Do(t, m.Save(path))
		again := must.Get(Load(path))(t)
		r := must.Get(again.Certify(t.Context(), table, CertifyOptions{}))(t)
		if differs := must.Get(r.Refit(t.Context(), nil))(t); !r.Matches || !r.Refitted {
			t.Errorf("%s: certified again: %+v, %s", noise, r, differs)
		}
		ps, off := must.Get(again.Predict(t.Context(), table, PredictOptions{}))(t), 0.
		for i, p := range ps {
			x, years := table.Values[3*i], table.Values[3*i+1]
			if math.Abs(x) < 1.5 {
				off = max(off, math.Abs(math.Log(p.Mean/years)-1-math.Sin(2*x)))
			}
			at := must.Get(m.PredictAt(mat.NewDense(1, 2, []float64{x, years})))(t)[0]
			twice := must.Get(m.PredictAt(mat.NewDense(1, 2, []float64{x, 2 * years})))(t)[0]
			if at != p || math.Abs(twice.Mean/p.Mean-2) > 1e-12 || twice.LatentVariance != p.LatentVariance {
				t.Errorf("%s: %+v, by PredictAt %+v, with twice the exposure %+v", noise, p, at, twice)
			}
		}
		d := must.Get(m.Labelled(table))(t)
		misses, n := 0., 0.
		for _, i := range must.Get(m.RolesOf(d))(t).Rows(dataset.Certified) {
			if n++; math.Abs(table.Values[3*i+2]-ps[i].Mean) > 5 {
				misses++
			}
		}
		must.Near(t, m.Certificate.EmpiricalRisk, misses/n, 1e-12, noise)
		if c := m.Context; off > 0.6 || c.Constant.RMSE < 2*c.RMSE || c.LinearReason == "" {
			t.Errorf("%s: rates are off by a factor of e^%.2g, context %+v", noise, off, c)
		}
		o.Data.Exposure, o.Data.Ignore = "", []string{"years"}
		if b := must.Get(Fit(t.Context(), table, o))(t); b.Test.NLPD < m.Test.NLPD+0.1 {
			t.Errorf("%s: NLPD %g without the exposure, and %g with it", noise, b.Test.NLPD, m.Test.NLPD)
		}
		drawn := must.Get(m.Sample(t.Context(), table, SampleOptions{Count: 1}))(t)
		if z := math.Log(drawn[0][0]/ps[0].Mean) / ps[0].LatentSD; math.Abs(z) > 6 {
			t.Errorf("%s: draw %g, mean %g", noise, drawn[0][0], ps[0].Mean)
		}
		if _, err := m.Covariance(t.Context(), table); err == nil || !strings.Contains(err.Error(), "isn't Gaussian") {
			t.Errorf("covariance: %v", err)
		}
		for _, wrong := range []float64{0, -1} {
			_, err := m.PredictAt(mat.NewDense(1, 2, []float64{0, wrong}))
			must.Hold(t, err != nil && strings.Contains(err.Error(), "isn't above 0"), "%v", err)
		}
	}
	ones := exposed(100)
	for i := range ones.Rows {
		ones.Values[3*i+1] = 1
	}
	o := Options{Data: Data{Target: "count", Columns: Columns{Exposure: "years"}}, Kernel: Kernel{Expression: "se", Noise: "poisson"},
		Run: Run{Restarts: 1}}
	one := must.Get(Fit(t.Context(), ones, o))(t)
	o.Data.Exposure, o.Data.Ignore = "", []string{"years"}
	none := must.Get(Fit(t.Context(), ones, o))(t)
	a, b := must.Get(one.Predict(t.Context(), ones, PredictOptions{}))(t), must.Get(none.Predict(t.Context(), ones,
		PredictOptions{}))(t)
	must.Near(t, a[0].Mean, b[0].Mean, 1e-12, "exposure 1")
}

// TestExposureRefuse shows that a cell that can't be an exposure is an error that names its row, and that a noise
// without a logarithm is an error that names the noise.
func TestExposureRefuse(t *testing.T) {
	for what, change := range map[string]func(*Options, *dataset.Table){
		"row 8":                   func(_ *Options, t *dataset.Table) { t.Values[3*7+1] = 0 },
		"isn't above 0":           func(_ *Options, t *dataset.Table) { t.Values[1] = -1 },
		`column 2 ("years")`:      func(_ *Options, t *dataset.Table) { t.Values[1] = math.NaN() },
		"take noise neg":          func(o *Options, _ *dataset.Table) { o.Kernel.Noise = "constant" },
		"offset, censored":        func(o *Options, _ *dataset.Table) { o.Data.Offset = "x" },
		"that column is the targ": func(o *Options, _ *dataset.Table) { o.Data.Exposure = "count" },
		`no column "area"`:        func(o *Options, _ *dataset.Table) { o.Data.Exposure = "area" },
	} {
		table := exposed(60)
		o := Options{Data: Data{Target: "count", Columns: Columns{Exposure: "years"}}, Kernel: Kernel{Expression: "se", Noise: "poisson"}}
		change(&o, table)
		if _, err := Fit(t.Context(), table, o); err == nil || !strings.Contains(err.Error(), what) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// TestCountsRefuse: what a noise can't have is an error that names the row.
func TestCountsRefuse(t *testing.T) {
	for what, change := range map[string]func(*Options, *dataset.Table){
		"row 8":          func(_ *Options, t *dataset.Table) { t.Values[3*7+2] = 1.5 },
		"is no count":    func(_ *Options, t *dataset.Table) { t.Values[2] = -1 },
		"isn't above 0":  func(o *Options, t *dataset.Table) { o.Kernel.Noise, t.Values[2] = "gamma", 0 },
		"objective evid": func(o *Options, _ *dataset.Table) { o.Method.Name = "vfe" },
		"transform":      func(o *Options, _ *dataset.Table) { o.Data.Transform = "log1p" },
	} {
		table := visits(60)
		o := Options{Data: Data{Target: "count"}, Kernel: Kernel{Expression: "se", Noise: "poisson"}}
		change(&o, table)
		if _, err := Fit(t.Context(), table, o); err == nil || !strings.Contains(err.Error(), what) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// answers draws levels −2 to 2 that rise with sin 2x.
func answers(n int) *dataset.Table {
	rng, t := rand.New(rand.NewPCG(6, 1)), dataset.Reading{}.New("answers")
	t.Names = []string{"x", "z", "answer"}
	for range n {
		x := rng.NormFloat64()
		f := 2*math.Sin(2*x) + rng.NormFloat64()
		if err := t.Append([]string{fmt.Sprint(x), fmt.Sprint(rng.NormFloat64()),
			fmt.Sprint(min(max(math.Floor(0.5+f), -2), 2))}); err != nil {
			panic(err)
		}
	}
	return t
}

// TestOrdinal fits levels, certifies them in their own unit, and goes through a file.
func TestOrdinal(t *testing.T) {
	table := answers(300)
	o := Options{Data: Data{Target: "answer", TestFraction: 0.2}, Kernel: Kernel{Expression: "se", Noise: "ordinal"},
		Promise: Promise{Epsilon: 0.5, Units: "raw"}}
	m := must.Get(Fit(t.Context(), table, o))(t)
	if c := m.Certificate; c.MeanBound > 0.8 || !strings.Contains(m.Sentence(c), "±0.5 of answer") {
		t.Errorf("bound %g: %s", c.MeanBound, m.Sentence(c))
	}
	if m.Test.NLPD > 1.3 || m.Test.Coverage95 < 0.9 || fmt.Sprint(m.Ordinal.Levels) != "[-2 -1 0 1 2]" {
		t.Errorf("test %+v of %+v", m.Test, m.Ordinal)
	}
	for i, c := range m.Ordinal.Cuts {
		if math.Abs(c-float64(i)) > 0.6 {
			t.Errorf("cuts %v, want about 0, 1, 2, 3", m.Ordinal.Cuts)
		}
	}
	path := filepath.Join(t.TempDir(), "m.krigo")
	must.Do(t, m.Save(path))
	again := must.Get(Load(path))(t)
	r := must.Get(again.Certify(t.Context(), table, CertifyOptions{}))(t)
	if differs := must.Get(r.Refit(t.Context(), nil))(t); !r.Matches || !r.Refitted {
		t.Errorf("certified again: %+v, %s", r, differs)
	}
	truth := objective.Ordinal{Levels: m.Ordinal.Levels}.With(make([]float64, 3))
	right, square := 0., 0.
	for i, p := range must.Get(again.Predict(t.Context(), table, PredictOptions{}))(t) {
		x := table.Values[3*i]
		chances := lists.Of(again.Chances([]model.Prediction{p}), func(c model.Chance) float64 { return c.Probabilities[0] })
		d := p.Mean - truth.Point(1.5+2*math.Sin(2*x), 0, 1)
		square += d * d / float64(table.Rows)
		if p.Label != fmt.Sprint(model.Likeliest(chances)-2) ||
			!(-2 <= p.Lower95 && p.Lower95 <= p.Mean && p.Mean <= p.Upper95 && p.Upper95 <= 2) {
			t.Errorf("at %g: %+v, chances %v", x, p, chances)
		}
		if p.Label == fmt.Sprint(table.Values[3*i+2]) {
			right += 1 / float64(table.Rows)
		}
	}
	must.Hold(t, right >= 0.4 && math.Sqrt(square) <= 0.4,
		"%.2g of the most probable levels are right, means are off by %.2g", right,
		math.Sqrt(square))
	drawn := must.Get(again.Sample(t.Context(), table, SampleOptions{Count: 1}))(t)
	must.Hold(t, math.Abs(drawn[0][0]) <= 2, "draw %v", drawn[0])
	again.Ordinal.Cuts[2] = 0.5
	must.Do(t, again.Save(path))
	_, err := Load(path)
	must.Hold(t, err != nil && strings.Contains(err.Error(), "levels and thresholds"), "%v", err)
	for what, change := range map[string]func(*Options, *dataset.Table){
		"whole numbers": func(_ *Options, t *dataset.Table) { t.Values[2] = 1.5 },
		"2 to 20 levels": func(_ *Options, t *dataset.Table) {
			for i := range t.Rows {
				t.Values[3*i+2] = float64(i)
			}
		},
		"mean constant":  func(o *Options, _ *dataset.Table) { o.Kernel.Mean = "zero" },
		"take noise neg": func(o *Options, _ *dataset.Table) { o.Data.Exposure = "x" },
	} {
		table := answers(60)
		o := Options{Data: Data{Target: "answer"}, Kernel: Kernel{Expression: "se", Noise: "ordinal"}}
		change(&o, table)
		if _, err := Fit(t.Context(), table, o); err == nil || !strings.Contains(err.Error(), what) {
			t.Errorf("%s: %v", what, err)
		}
	}
}
