package krigo_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/krigo-gp/krigo"
	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/internal/must"
	"github.com/krigo-gp/krigo/model"
	"github.com/krigo-gp/krigo/observation"
)

// unsteady returns rows whose noise grows with x, from a standard deviation of .02 to 1.
func unsteady(n int) *dataset.Table {
	rng := rand.New(rand.NewPCG(4, 4))
	t := &dataset.Table{Source: "unsteady", Names: []string{"x", "y"}, Rows: n}
	for range n {
		x := 4 * rng.Float64()
		t.Values = append(t.Values, x, math.Sin(2*x)+math.Exp(x-4)*rng.NormFloat64())
	}
	return t
}

// TestNoiseOfInputs: a noise that depends on the inputs is learnt by each solution, predicted standard deviations
// follow it, and files, certificates and fitting again know it.
func TestNoiseOfInputs(t *testing.T) {
	table := unsteady(160)
	for name, o := range map[string]krigo.Options{
		"evidence": {Method: krigo.Method{Name: "evidence", Hyperprior: "weak"}, Kernel: krigo.Kernel{Noise: "auto"}},
		"cg":       {Method: krigo.Method{Name: "evidence", Solver: "cg"}, Kernel: krigo.Kernel{Noise: "linear"}},
		"vfe":      {Method: krigo.Method{Name: "vfe", Inducing: 12}, Kernel: krigo.Kernel{Noise: "linear"}},
		"nearest":  {Method: krigo.Method{Name: "nearest", Neighbours: 16, Epochs: 20}, Kernel: krigo.Kernel{Noise: "gp"}},
	} {
		t.Run(name, func(t *testing.T) {
			o.Data.Target, o.Data.Transform, o.Prior.Kind, o.Kernel.Expression = "y", "none", "informed", "se"
			o.Promise.Loss, o.Promise.Epsilon = "scaled", 2
			m := must.Get(krigo.Fit(t.Context(), table, o))(t)
			must.Hold(t, m.Varying != nil && m.Certificate != nil && m.Certificate.Valid,
				"%+v", m.CertificateReason)
			at := predict(t, m, &dataset.Table{Names: []string{"x"}, Rows: 2, Values: []float64{0.5, 3.8}})
			if ratio := at[1].PredictiveSD / at[0].PredictiveSD; !(ratio > 4 && ratio < 60) {
				t.Errorf("standard deviations are %.3g and %.3g", at[0].PredictiveSD, at[1].PredictiveSD)
			}
			var file bytes.Buffer
			must.Do(t, m.Write(&file))
			read := must.Get(model.Read(bytes.NewReader(file.Bytes())))(t)
			view := must.Get(table.Regression("y"))(t)
			v := must.Get(read.Verify(view))(t)
			must.Be(t, v.Differs, "")
			_, differs, err := m.Refit(t.Context(), table, nil)
			must.Do(t, err)
			must.Be(t, differs, "")
			if m.Posterior.Noises != nil || name == "evidence" { // others have no noises in their files
				read.Varying.Shift += 0.1
				must.Refuse(read.Certify(view))(t, "noise")
			}
		})
	}
	exact := unsteady(160) // without noise: the quietest rows keep as much variance as rounding leaves
	for i := 0; i < len(exact.Values); i += 2 {
		exact.Values[i+1] = exact.Values[i] / 1000
		if exact.Values[i] > 3.9 {
			exact.Values[i+1]++
		}
	}
	o := krigo.Options{Data: krigo.Data{Target: "y", Transform: "none"}, Kernel: krigo.Kernel{Noise: "linear",
		Expression: "se"}}
	must.Get(krigo.Fit(t.Context(), exact, o))(t)
	for want, o := range map[string]krigo.Options{
		"prior informed": {Data: krigo.Data{Target: "y"}, Prior: krigo.Prior{Kind: "grid"},
			Kernel: krigo.Kernel{Noise: "gp"}},
		"one noise variance": {Data: krigo.Data{Target: "y"}, Method: krigo.Method{Name: "svgp"},
			Kernel: krigo.Kernel{Noise: "gp"}},
	} {
		must.Refuse(krigo.Fit(t.Context(), table, o))(t, want)
	}
}

// TestNoiseLookedAt: if nobody names a noise, left-out errors decide whether predictions' noise varies. The mean, the
// promise and intervals from all rows stay as with one noise, and intervals hold at both ends.
func TestNoiseLookedAt(t *testing.T) {
	table := unsteady(400)
	fit := func(noise string, rows *dataset.Table) *krigo.Model {
		o := krigo.Options{Data: krigo.Data{Target: "y", Transform: "none"},
			Kernel: krigo.Kernel{Noise: noise, Expression: "se"}}
		return must.Get(krigo.Fit(t.Context(), rows, o))(t)
	}
	m := fit("", table)
	same := fit("constant", table)
	must.Hold(t, m.Varying != nil && m.Varying.Later && same.Varying == nil, "%+v", m.Varying)
	must.Be(t, m.Certificate.Bound, same.Certificate.Bound)
	must.Be(t, m.Conformal.HalfWidth, same.Conformal.HalfWidth)
	must.Be(t, m.NoWhole(0) == nil, true)
	at := func(m *krigo.Model, x float64) model.Prediction {
		return predict(t, m, &dataset.Table{Names: []string{"x"}, Rows: 1, Values: []float64{x}})[0]
	}
	must.Be(t, at(m, 1).Mean, at(same, 1).Mean)
	must.Hold(t, at(m, 0.5).PredictiveSD < at(same, 0.5).PredictiveSD/2 &&
		at(m, 3.8).PredictiveSD > 1.2*at(same, 3.8).PredictiveSD, "%g, %g", at(m, 0.5).PredictiveSD,
		at(m, 3.8).PredictiveSD)
	view := must.Get(table.Regression("y"))(t)
	var file bytes.Buffer
	must.Do(t, m.Write(&file))
	read := must.Get(model.Read(&file))(t)
	must.Be(t, at(&krigo.Model{Model: *read}, 3.8), at(m, 3.8))
	must.Be(t, must.Get(read.Verify(view))(t).Differs, "")
	_, differs, err := m.Refit(t.Context(), table, nil)
	must.Do(t, err)
	must.Be(t, differs, "")
	// Nothing but fitting again can show where the noise is from, and the claims say so.
	told := fmt.Sprint(must.Get(m.Certify(t.Context(), table, krigo.CertifyOptions{}))(t).OnWord)
	must.Hold(t, strings.Contains(told, "how the noise depends on the inputs"), "%s", told)
	// The same file under options that name the noise isn't what they ask for.
	_, differs, err = withNoise(t, m, "constant").Refit(t.Context(), table, nil)
	must.Do(t, err)
	must.Hold(t, differs != "", "a noise that varies passes for a constant")
	steady := unsteady(400)
	rng := rand.New(rand.NewPCG(5, 5))
	for i := 0; i < len(steady.Values); i += 2 {
		steady.Values[i+1] = math.Sin(2*steady.Values[i]) + 0.3*rng.NormFloat64()
	}
	must.Hold(t, fit("", steady).Varying == nil, "a constant noise varies")
}

// withNoise returns the model with another noise in the options that it says it was fitted with.
func withNoise(t *testing.T, m *krigo.Model, noise string) *krigo.Model {
	var o map[string]any
	must.Do(t, json.Unmarshal(m.Fitted, &o))
	of, _ := o["kernel"].(map[string]any)
	of["noise"] = noise
	again := *m
	again.Fitted = must.Get(json.Marshal(o))(t)
	return &again
}

// TestNoiseFarAway: a file can be read of a noise that an input far away makes large without limit.
func TestNoiseFarAway(t *testing.T) {
	table := unsteady(160)
	o := krigo.Options{Data: krigo.Data{Target: "y", Transform: "none"}, Kernel: krigo.Kernel{Noise: "linear",
		Expression: "se"}}
	for _, away := range []float64{8, 12, 16, 24, 40, 80} {
		for row := range 8 {
			far := *table
			far.Values = append([]float64(nil), table.Values...)
			far.Values[2*row] = away
			far.Values[2*row+1] = 8
			m := must.Get(krigo.Fit(t.Context(), &far, o))(t)
			if m.Varying == nil || m.Varying.High != observation.MostVarying {
				continue // the row is certified, or not far enough
			}
			var file bytes.Buffer
			must.Do(t, m.Write(&file))
			must.Get(model.Read(&file))(t)
			return
		}
	}
	t.Error("no row's noise is without limit")
}
