package krigo_test

import (
	"bytes"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/krigo-gp/krigo"
	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/finding"
	"github.com/krigo-gp/krigo/internal/must"
	"github.com/krigo-gp/krigo/model"
	"github.com/krigo-gp/krigo/pacbayes"
)

// logNormal draws rows. The target's logarithm is a sine plus Gaussian noise. If plain, the target itself is.
func logNormal(seed uint64, n int, plain bool) [][]float64 {
	rng := rand.New(rand.NewPCG(seed, 5))
	rows := make([][]float64, n)
	for i := range rows {
		x := 6 * rng.Float64()
		y := 2*math.Sin(x) + 0.4*rng.NormFloat64()
		if !plain {
			y = math.Exp(1 + y)
		}
		rows[i] = []float64{x, y}
	}
	return rows
}

func fitRows(t *testing.T, rows [][]float64, change func(o *krigo.Options)) (*krigo.Model, *dataset.Table) {
	t.Helper()
	table := must.Get(dataset.FromRows([]string{"x", "y"}, rows))(t)
	o := krigo.Options{Data: krigo.Data{Target: "y"}, Kernel: krigo.Kernel{Expression: "se"}, Prior: krigo.Prior{
		Kind: "informed"}, Method: krigo.Method{Name: "evidence"}}
	change(&o)
	return must.Get(krigo.Fit(t.Context(), table, o))(t), table
}

// TestTransformChosen: auto, the default, chooses the logarithm or nearly that for a log-normal target. For a
// Gaussian target it chooses none, and the model's file equals the file of a fit without a transform.
func TestTransformChosen(t *testing.T) {
	m, table := fitRows(t, logNormal(1, 200, false), func(*krigo.Options) {})
	seen := m.Scaling.Transform
	must.Need(t, seen != nil && seen.Lambda <= 0.1, "the transform is %+v", seen)
	must.Be(t, seen.Estimate, dataset.Mean)
	must.Be(t, len(m.Findings.Of(finding.TargetTransform)), 1)
	var file bytes.Buffer
	must.Do(t, m.Write(&file))
	must.Be(t, file.Bytes()[8], 17)
	again := must.Get(krigo.Read(&file))(t)
	a, b := must.Get(m.Predict(t.Context(), table, krigo.PredictOptions{}))(t),
		must.Get(again.Predict(t.Context(), table, krigo.PredictOptions{}))(t)
	must.Hold(t, slices.Equal(a, b), "a model that was read predicts otherwise")
	found := must.Get(again.Certify(t.Context(), table, krigo.CertifyOptions{}))(t)
	must.Hold(t, found.Matches, "not reproduced: %s", found.Differs)
	must.Be(t, must.Get(found.Refit(t.Context(), nil))(t), "")

	var files [2]bytes.Buffer
	for i, name := range []string{"", "none"} {
		m, _ := fitRows(t, logNormal(1, 200, true), func(o *krigo.Options) { o.Data.Transform = name })
		m.Training.Seconds = 0
		m.Fitted = bytes.Replace(m.Fitted, []byte(`"target_transform":"none",`), nil, 1)
		must.Do(t, m.Write(&files[i]))
	}
	must.Hold(t, bytes.Equal(files[0].Bytes(), files[1].Bytes()),
		"the Gaussian target's model isn't that without a transform")
}

// TestTransformCosts: log1p has more evidence for these targets, because it stretches the surroundings of the many that
// are 0. But with it, left-out rows are predicted worse, so that auto chooses none.
func TestTransformCosts(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 6))
	rows := make([][]float64, 600)
	for i := range rows {
		a, b := 2*rng.Float64(), 2*rng.Float64()
		y := max(0, 100*math.Sin(3*a)*math.Cos(2*b)+3*rng.NormFloat64())
		rows[i] = []float64{a, b, 10 * math.Round(y/10)}
	}
	table := must.Get(dataset.FromRows([]string{"a", "b", "y"}, rows))(t)
	p := must.Get(krigo.Decide(t.Context(), table, krigo.Options{Data: krigo.Data{Target: "y"}}))(t)
	must.Be(t, len(p.Findings.Of(finding.TargetTransform)), 0)
}

// TestTransformCertificate: the certificate bounds |y − ŷ| > ε in the target's units. Its misses equal a count of
// predictions, and its bound is the binomial bound. Conformal widths and test figures count in the same units.
func TestTransformCertificate(t *testing.T) {
	for _, name := range append(dataset.Transforms(), "median") {
		m, table := fitRows(t, logNormal(2, 260, false), func(o *krigo.Options) {
			o.Data.Transform, o.Data.TestFraction = name, 0.2
			if name == "median" {
				o.Data.Transform, o.Data.Estimate = "log", name
			}
			o.Promise.Epsilon, o.Promise.Units = 1.5, "raw"
		})
		d := must.Get(m.Labelled(table))(t)
		roles := must.Get(m.RolesOf(d))(t)
		ps := must.Get(m.Predict(t.Context(), table, krigo.PredictOptions{}))(t)
		conformal := must.Get(m.Intervals(ps, krigo.IntervalOptions{Kind: "conformal"}))(t)
		normalised := must.Get(m.Intervals(ps, krigo.IntervalOptions{Kind: "normalised"}))(t)
		band := must.Get(m.Intervals(ps, krigo.IntervalOptions{Kind: "band"}))(t)
		count := func(rows []int, holds func(y float64, i int) bool) (n int) {
			y := must.Get(d.Targets(rows))(t)
			for k, i := range rows {
				if holds(y[k], i) {
					n++
				}
			}
			return n
		}
		certified, test := d.RowsOf(roles, dataset.Certified), d.RowsOf(roles, dataset.Test)
		n := len(certified)
		in := func(of []krigo.Interval) func(y float64, i int) bool {
			return func(y float64, i int) bool { return of[i].Lower <= y && y <= of[i].Upper }
		}
		misses := n - count(certified, func(y float64, i int) bool { return math.Abs(y-ps[i].Mean) <= 1.5 })
		c := m.Certificate
		must.Near(t, c.EmpiricalRisk*float64(n), float64(misses), 1e-9, name)
		must.Near(t, c.MeanBound, pacbayes.ClopperPearson(misses, n, c.Delta), 1e-9, name)
		must.Be(t, n-count(certified, in(band)), misses, name)
		least := int(math.Ceil(0.95 * float64(n+1)))
		must.Be(t, count(certified, in(conformal)), least, name)
		must.Be(t, count(certified, in(normalised)), least, name)
		own := func(y float64, i int) bool { return ps[i].Lower95 <= y && y <= ps[i].Upper95 }
		must.Near(t, m.Test.Coverage95, float64(count(test, own))/float64(len(test)), 1e-9, name)
		var square, density float64
		for k, y := range must.Get(d.Targets(test))(t) {
			p := ps[test[k]]
			square += (y - p.Mean) * (y - p.Mean)
			low, high := math.Log(p.Lower95), math.Log(p.Upper95)
			sd := (high - low) / (2 * 1.959963984540054)
			z := (math.Log(y) - (low+high)/2) / sd
			density -= -z*z/2 - math.Log(sd*math.Sqrt(2*math.Pi)) - math.Log(y) + math.Log(m.Scaling.TargetScale)
		}
		must.Near(t, m.Test.RMSERaw, math.Sqrt(square/float64(len(test))), 1e-9, name)
		if name == "log" || name == "median" { // the log-normal density, in standard deviations of the target
			must.Near(t, m.Test.NLPD, density/float64(len(test)), 1e-6, name)
		}
		drawn := must.Get(m.Sample(t.Context(), table, krigo.SampleOptions{Count: 4000}))(t)
		var sum, squares float64
		for _, v := range drawn[test[0]] {
			sum, squares = sum+v/4000, squares+v*v/4000
		}
		sd := ps[test[0]].LatentSD
		must.Near(t, math.Sqrt(squares-sum*sum), sd, 0.1*sd, name)
	}
}

// TestTransformEstimate: if the model sees ln y as N(μ, …), the median of y is e^μ. Its mean is about e^(μ+s/2), where
// s is the noise variance, also where the model is unsure. Its standard deviation is the log-normal's.
func TestTransformEstimate(t *testing.T) {
	var ps [2]model.Prediction
	var noise float64
	for i, estimate := range []string{dataset.Median, dataset.Mean} {
		m, _ := fitRows(t, logNormal(3, 150, false), func(o *krigo.Options) {
			o.Data.Transform, o.Data.Estimate = "log", estimate
		})
		ps[i] = must.Get(m.PredictAt(mat.NewDense(1, 1, []float64{7.5})))(t)[0]
		noise = m.ObservationNoise * m.Scaling.Transform.Scale * m.Scaling.Transform.Scale
	}
	low, high := math.Log(ps[0].Lower95), math.Log(ps[0].Upper95)
	mean, sd := (low+high)/2, (high-low)/(2*1.959963984540054)
	must.Near(t, ps[0].Mean, math.Exp(mean), 1e-9*ps[0].Mean)
	must.Near(t, ps[1].Mean, math.Exp(mean+noise/2), 1e-6*ps[1].Mean)
	for _, p := range ps {
		must.Near(t, p.PredictiveVariance, math.Expm1(sd*sd)*math.Exp(2*mean+sd*sd), 1e-4*p.PredictiveVariance)
		must.Near(t, p.PredictiveSD*p.PredictiveSD, p.PredictiveVariance, 1e-9*p.PredictiveVariance)
	}
}

// TestTransformFull: full conformal intervals with ends mapped back hold about their share of further targets. A
// target that isn't positive lies in none.
func TestTransformFull(t *testing.T) {
	const sets, each = 6, 200
	held := 0
	for seed := range uint64(sets) {
		m, table := fitRows(t, logNormal(40+seed, 90, false), func(o *krigo.Options) { o.Data.Transform = "log" })
		further := logNormal(400+seed, each, false)
		at := must.Get(dataset.FromRows([]string{"x", "y"}, further))(t)
		for i, e := range must.Get(m.IntervalsOfFew(t.Context(), table, at, krigo.IntervalOptions{Kind: "full"}))(t) {
			must.Hold(t, 0 < e.Lower && e.Lower < e.Upper, "interval %d is %v", i, e)
			if e.Lower <= further[i][1] && further[i][1] <= e.Upper {
				held++
			}
		}
	}
	share := float64(held) / (sets * each)
	must.Hold(t, share >= 0.92 && share <= 0.99, "intervals of 95 %% hold %v", share)
}

// TestTransformHolds: in at most a share δ of simulated log-normal sets, the share of misses among further rows is
// above the bound.
func TestTransformHolds(t *testing.T) {
	if testing.Short() {
		t.Skip("40 fits")
	}
	const sets, delta = 40, 0.1
	failed := 0
	for seed := range uint64(sets) {
		m, _ := fitRows(t, logNormal(100+seed, 80, false), func(o *krigo.Options) {
			o.Promise.Delta, o.Promise.Epsilon = delta, 0.4
		})
		further := logNormal(10_000+seed, 4000, false)
		x := mat.NewDense(len(further), 1, nil)
		for i, r := range further {
			x.Set(i, 0, r[0])
		}
		misses := 0.
		for i, p := range must.Get(m.PredictAt(x))(t) {
			if math.Abs(further[i][1]-p.Mean) > m.Certificate.EpsilonRaw {
				misses += 1. / float64(len(further))
			}
		}
		if misses > m.Certificate.MeanBound+0.01 {
			failed++
		}
	}
	must.Hold(t, failed <= 8, "%d of %d bounds fail at δ = %v", failed, sets, delta)
}

// TestTransformRefused: options that need a Gaussian target in its own units are refused, and the error says what to
// do. With such options, auto chooses no transform.
func TestTransformRefused(t *testing.T) {
	rows := logNormal(6, 60, false)
	table := must.Get(dataset.FromRows([]string{"x", "y"}, rows))(t)
	for _, c := range []struct {
		words string
		o     krigo.Options
	}{
		{"target-transform none", krigo.Options{Prior: krigo.Prior{Kind: "grid"}}},
		{"mean-bound direct", krigo.Options{Prior: krigo.Prior{Kind: "informed", Learn: true}}},
		{"mean-bound direct", krigo.Options{Prior: krigo.Prior{Kind: "informed"}, Promise: krigo.Promise{MeanBound: "both"}}},
		{"trains for a loss", krigo.Options{Prior: krigo.Prior{Kind: "informed"}, Method: krigo.Method{Name: "kl-pac"}}},
		{"prior-rows", krigo.Options{Prior: krigo.Prior{Kind: "informed"}, Data: krigo.Data{Scaling: "all-rows"}}},
	} {
		o := c.o
		o.Data.Target, o.Data.Transform = "y", "log"
		must.Refuse(krigo.Decide(t.Context(), table, o))(t, c.words)
		o.Data.Transform = "auto"
		must.Be(t, len(must.Get(krigo.Decide(t.Context(), table, o))(t).Findings.Of(finding.TargetTransform)), 0, c.words)
	}
	rows[7][1] = -1
	table = must.Get(dataset.FromRows([]string{"x", "y"}, rows))(t)
	must.Refuse(krigo.Decide(t.Context(), table, krigo.Options{Data: krigo.Data{Target: "y", Transform: "log"},
		Prior: krigo.Prior{Kind: "informed"}}))(t, "row 8")
	rows[7][1] = 1
	m, table := fitRows(t, rows, func(o *krigo.Options) { o.Data.Transform = "log" })
	must.Refuse(m.Covariance(t.Context(), table))(t, "samples")
	path := filepath.Join(t.TempDir(), "m.krigo")
	must.Do(t, m.Save(path))
	text := string(must.Get(m.Fitted.MarshalJSON())(t))
	must.Hold(t, strings.Contains(text, `"target_transform":"log"`), "fitted is %s", text)
}
