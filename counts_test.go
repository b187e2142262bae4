package krigo

import (
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/internal/must"
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
	table := visits(240)
	for _, noise := range []string{"poisson", "negative-binomial"} {
		o := Options{Data: Data{Target: "count", TestFraction: 0.2}, Kernel: Kernel{Expression: "se", Noise: noise},
			Promise: Promise{Epsilon: 4, Units: "raw"}}
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
