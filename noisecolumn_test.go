package krigo_test

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/krigo-gp/krigo"
	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/internal/must"
)

// measured returns rows y = sin(3x) + se·e with a standard error of each row, which is 0.02 or 1.
func measured(n int) *dataset.Table {
	rng := rand.New(rand.NewPCG(5, 8))
	t := &dataset.Table{Source: "drawn", Names: []string{"x", "se", "truth", "y"}, Rows: n}
	for range n {
		x, se := 2*rng.Float64()-1, 0.02
		if rng.IntN(2) == 0 {
			se = 1
		}
		t.Values = append(t.Values, x, se, math.Sin(3*x), math.Sin(3*x)+se*rng.NormFloat64())
	}
	return t
}

// noisyBy returns options of a fit of y to x, whose standard errors are in a column, or unknown.
func noisyBy(column string, m krigo.Method) krigo.Options {
	return cheap(krigo.Options{
		Data:   krigo.Data{Target: "y", Inputs: []string{"x"}, Columns: krigo.Columns{NoiseColumn: column}},
		Method: m,
		Prior:  krigo.Prior{Kind: "informed"},
	})
}

// TestNoiseColumn: rows of known noise are weighted by it, for every method that takes it. Predictions have the rows'
// own noise, the scaled promise counts them by it, and the file says so again after it was read and fitted again.
func TestNoiseColumn(t *testing.T) {
	table, further := measured(240), measured(540)
	further.Values, further.Rows = further.Values[240*4:], 300
	rmse := map[string]float64{}
	nlpd := map[string]float64{}
	for _, column := range []string{"", "se"} {
		for options, c := range map[string]struct {
			method  krigo.Method
			promise krigo.Promise
		}{
			"evidence": {krigo.Method{Name: "evidence"}, krigo.Promise{}},
			"nearest":  {krigo.Method{Name: "nearest"}, krigo.Promise{}},
			"fitc":     {krigo.Method{Name: "fitc", Inducing: 12}, krigo.Promise{}},
			"vfe":      {krigo.Method{Name: "vfe", Inducing: 12}, krigo.Promise{}},
			"scaled": {
				krigo.Method{Name: "evidence"},
				krigo.Promise{Loss: "scaled", Epsilon: 2},
			},
		} {
			o := noisyBy(column, c.method)
			o.Promise = c.promise
			o.Data.Test = further
			m := fit(t, table, o)
			m = must.Get(krigo.Read(strings.NewReader(file(t, m))))(t)
			ps := predict(t, m, further)
			for i, p := range ps {
				rmse[column+options] = math.Hypot(rmse[column+options], p.Mean-further.Values[4*i+2])
				if column != "" {
					own := further.Values[4*i+1]
					must.Near(t, p.PredictiveVariance,
						p.LatentVariance+m.ObservationNoise*m.Scaling.TargetScale*m.Scaling.TargetScale+
							own*own, 1e-9, options)
				}
			}
			nlpd[column+options] = m.Test.NLPD
			d := must.Get(m.Labelled(table))(t)
			must.Be(t, must.Get(m.Verify(d))(t).Differs, "", options)
			if column == "" {
				continue
			}
			must.Need(t, rmse["se"+options] < 0.8*rmse[options] &&
				nlpd["se"+options] < nlpd[options]-0.3, "%s: RMSE %v NLPD %v", options, rmse, nlpd)
			at := must.Get(m.PredictAt(mat.NewDense(1, 2, further.Values[:2])))(t)[0]
			must.Need(t, at.Mean == ps[0].Mean && at.PredictiveSD == ps[0].PredictiveSD,
				"%v %v", at, ps[0])
			must.Refuse(m.PredictAt(mat.NewDense(1, 2, []float64{0, -1})))(t, "no standard error is")
			must.Refuse(m.PredictAt(mat.NewDense(1, 2, []float64{0, 1e300})))(t, `the standard error in column "se" is`)
			lacking := &dataset.Table{Names: []string{"x"}, Values: []float64{0.5}, Rows: 1}
			must.Refuse(m.Predict(t.Context(), lacking, krigo.PredictOptions{}))(t,
				`no column "se" for the standard errors`)
			if c := m.Certificate; m.Terms.Loss.Kind == "scaled" {
				misses, n := 0., 0.
				ps := predict(t, m, table)
				for _, i := range must.Get(m.RolesOf(d))(t).Rows(dataset.Certified) {
					if n++; math.Abs(table.Values[4*i+3]-ps[i].Mean) > m.Terms.Loss.Below*ps[i].PredictiveSD {
						misses++
					}
				}
				must.Near(t, c.EmpiricalRisk, misses/n, 1e-12, "scaled")
			}
			again := m.Model
			again.NoiseColumn = "truth"
			must.Refuse(again.Labelled(table))(t, "is below 0")
		}
	}
}

// TestEqualErrors: standard errors that are all the same c are a part c² of one noise variance. If one is missing or
// negative, or what was asked for has no place for them, an error says where, or what to do instead.
func TestEqualErrors(t *testing.T) {
	const c = 0.03
	table := measured(150)
	for i := range table.Rows {
		table.Values[4*i+1], table.Values[4*i+3] = c, table.Values[4*i+2]+0.1*table.Values[4*i+3]
	}
	o := noisyBy("", krigo.Method{Name: "evidence"})
	o.Data.Transform = "none"
	o.Data.Split = "last" // so that the same rows train both
	without := fit(t, table, o)
	o.Data.NoiseColumn = "se"
	with := fit(t, table, o)
	must.Near(t, with.Training.ObjectiveValue/without.Training.ObjectiveValue, 1, 1e-9, "evidence")
	scaled := c / with.Scaling.TargetScale
	must.Near(t, with.ObservationNoise+scaled*scaled, without.ObservationNoise, 1e-6, "noise")
	evidence := krigo.Method{Name: "evidence"}
	for _, c := range []struct {
		change func(o *krigo.Options)
		want   string
	}{
		{func(o *krigo.Options) { o.Method.Name = "kl-pac" }, "one noise variance"},
		{func(o *krigo.Options) { o.Method.Name = "svgp" }, "one noise variance"},
		{func(o *krigo.Options) { o.Method.Name = "renyi" }, "one noise variance"},
		{func(o *krigo.Options) { o.Prior.Kind = "grid" }, "it takes prior informed"},
		{func(o *krigo.Options) { o.Kernel.Noise = "gp" }, "take noise constant"},
		{func(o *krigo.Options) { o.Data.Transform = "log" }, "standard errors of noise-column"},
		{func(o *krigo.Options) { o.Data.Offset = "se" }, "is the target or has another part"},
		{
			func(o *krigo.Options) { o.Data.Beside = []string{"y", "truth"} },
			"several targets: the noise-column",
		},
		{func(o *krigo.Options) { o.Data.Categorical = []string{"se"} }, "holds categories"},
		{func(o *krigo.Options) { o.Prior.Learn = true }, "nothing learnt after it"},
	} {
		o := noisyBy("se", evidence)
		c.change(&o)
		must.Refuse(krigo.Fit(t.Context(), table, o))(t, c.want)
	}
	for v, want := range map[float64]string{-0.1: `row 8, column 2 ("se"): -0.1 is below 0`, math.NaN(): "the value is missing",
		1e9: "standard deviations of the target"} {
		table.Values[4*7+1] = v
		must.Refuse(krigo.Fit(t.Context(), table, noisyBy("se", evidence)))(t, want)
	}
}
