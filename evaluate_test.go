package krigo_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/krigo-gp/krigo"
	"github.com/krigo-gp/krigo/data"
	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/internal/must"
	"github.com/krigo-gp/krigo/kernel"
	"github.com/krigo-gp/krigo/method"
	"github.com/krigo-gp/krigo/model"
	"github.com/krigo-gp/krigo/pacbayes"
	"github.com/krigo-gp/krigo/posterior"
)

func se(variance float64, lengthscales ...float64) kernel.Spec {
	return kernel.Spec{Name: "se", Variance: variance, Lengthscales: lengthscales}
}

// knob is one number of Params, with the derivative that Evaluate gives for it.
type knob struct {
	name   string
	value  *float64
	slope  float64
	linear bool // the derivative is with respect to the number, not its logarithm
}

// knobs pairs a kernel's numbers with their derivatives.
func knobs(t *testing.T, s *kernel.Spec, g krigo.Gradient) (out []knob) {
	t.Helper()
	must.Need(t, len(g.Parts) == len(s.Parts) && len(g.LogLengthscales) == len(s.Lengthscales) &&
		(g.LogVariance == nil) == (s.Variance == 0) && (g.LogShape == nil) == (s.Shape == 0) &&
		(g.LogPeriod == nil) == (s.Period == 0), "gradient %+v of kernel %+v", g, s)
	for i := range s.Parts {
		out = append(out, knobs(t, &s.Parts[i], g.Parts[i])...)
	}
	for i := range s.Lengthscales {
		out = append(out, knob{fmt.Sprintf("%s lengthscale %d", s.Name, i), &s.Lengthscales[i], g.LogLengthscales[i], false})
	}
	for name, at := range map[string]struct {
		value *float64
		slope *float64
	}{"variance": {&s.Variance, g.LogVariance}, "shape": {&s.Shape, g.LogShape}, "period": {&s.Period, g.LogPeriod}} {
		if at.slope != nil {
			out = append(out, knob{s.Name + " " + name, at.value, *at.slope, false})
		}
	}
	return out
}

// TestEvaluateGradient compares every derivative with central differences of Evaluate's own value.
func TestEvaluateGradient(t *testing.T) {
	must.Long(t)
	table := pick(homes(), every(0, 1, 60))
	// Each objective is tried with a full GP, with a sparse GP, or with both, as far as its method allows.
	type trial struct {
		objective string
		inducing  bool
		given     *krigo.FreeParams
	}
	var trials []trial
	for _, k := range method.Kinds() {
		if k.Size != method.SparseOnly {
			trials = append(trials, trial{k.Name, false, nil})
		}
		if k.Size == method.FullOnly {
			continue
		}
		trials = append(trials, trial{k.Name, true, nil})
		if k.FreeForm && k.Name != "svgp" { // the optimal q of svgp is known
			trials[len(trials)-1].given = &krigo.FreeParams{Mean: []float64{0.1, -0.2, 0.3, 0.4},
				Chol: [][]float64{{0.5}, {0.1, 0.6}, {0, 0.1, 0.4}, {0.2, 0, 0, 0.7}}}
		}
	}
	for _, trial := range trials {
		objective := trial.objective
		for name, c := range map[string]struct {
			p krigo.Params
			o krigo.Options
		}{
			"one lengthscale": {krigo.Params{Kernel: se(1.3, 1.7), NoiseVariance: 0.4}, krigo.Options{}},
			"ard": {krigo.Params{Kernel: se(0.8, 0.9, 1.5, 2.5), NoiseVariance: 0.3}, krigo.Options{
				Promise: krigo.Promise{Loss: "gaussian"},
			}},
			"sum, linear mean": {krigo.Params{
				Kernel:        kernel.Spec{Name: "sum", Parts: []kernel.Spec{se(0.7, 1.2, 2, 3), {Name: "linear", Variance: 0.2}}},
				NoiseVariance: 0.5, Mean: &krigo.MeanParams{Constant: 0.3, Linear: []float64{0.2, -0.4, 0.1}},
			}, krigo.Options{
				Kernel:  krigo.Kernel{Mean: "linear"},
				Promise: krigo.Promise{Loss: "clipped-square"},
			}},
			"product in a sum, constant mean": {krigo.Params{
				Kernel: kernel.Spec{Name: "sum", Parts: []kernel.Spec{
					{Name: "product", Parts: []kernel.Spec{{Name: "rq", Variance: 0.9, Lengthscales: []float64{2}, Shape: 1.4},
						{Name: "periodic", Variance: 1.1, Lengthscales: []float64{1.5}, Period: 3}}},
					{Name: "matern32", Variance: 0.3, Lengthscales: []float64{1, 2, 3}},
				}}, NoiseVariance: 0.6, Mean: &krigo.MeanParams{Constant: -0.2},
			}, krigo.Options{
				Kernel:  krigo.Kernel{Mean: "constant"},
				Promise: krigo.Promise{Loss: "asymmetric", Epsilon: 0.4, EpsilonAbove: 0.9},
			}},
			"raw columns, noise above the prior's": {krigo.Params{Kernel: se(2, 9), NoiseVariance: 20},
				krigo.Options{Promise: krigo.Promise{Loss: "relative", Epsilon: 0.5}, Data: krigo.Data{Scaling: "declared",
					Declared: &dataset.Scaling{InputMean: []float64{6, 10, 3}, InputScale: []float64{1, 5, 2}, TargetScale: 10,
						Source: dataset.Declared}}}},
		} {
			t.Run(fmt.Sprintf("%s/inducing=%v/%s", objective, trial.inducing, name), func(t *testing.T) {
				o := c.o
				if trial.inducing {
					c.p.Inducing = [][]float64{{-1, 0.5, 0.3}, {0.4, -0.8, 1.1}, {1.2, 0.9, -0.6}, {0, 0, 0.2}}
					c.p.Posterior = trial.given
				}
				o.Data.Target, o.Method.Name = "MEDV", objective
				e := must.Get(krigo.Evaluate(t.Context(), table, &c.p, o))(t)
				must.Need(t, e.Objective == objective &&
					(e.Certificate == nil) == (objective == method.NearestName) &&
					(!strings.HasSuffix(objective, "-pac") || (e.Value > 0 && e.Value < 3)),
					"%+v", e)
				all := knobs(t, &c.p.Kernel, e.Gradient)
				all = append(all, knob{"noise variance", &c.p.NoiseVariance, *e.Gradient.LogNoiseVariance, false})
				if c.p.Mean != nil {
					all = append(all, knob{"mean constant", &c.p.Mean.Constant, e.Gradient.Mean.Constant, true})
					for i := range c.p.Mean.Linear {
						all = append(all, knob{fmt.Sprintf("slope %d", i), &c.p.Mean.Linear[i], e.Gradient.Mean.Linear[i], true})
					}
				} else if e.Gradient.Mean != nil {
					t.Error("a gradient of no mean")
				}
				for i, z := range c.p.Inducing {
					for j := range z {
						all = append(all, knob{fmt.Sprintf("inducing %d,%d", i, j), &z[j], e.Gradient.Inducing[i][j], true})
					}
				}
				var largest float64
				for _, k := range all {
					largest = math.Max(largest, math.Abs(k.slope))
				}
				value := func() float64 {
					return must.Get(krigo.Evaluate(t.Context(), table, &c.p, o))(t).Value
				}
				hold(t, all, value, 1e-7*math.Max(largest, 1e-3))
			})
		}
	}
}

// hold compares derivatives with differences of fourth order along two directions that change every knob. If a
// direction disagrees, it looks for the knob that is wrong.
func hold(t *testing.T, knobs []knob, value func() float64, within float64) {
	t.Helper()
	for way := range 2 {
		part := func(i int) float64 { return 1 + math.Mod(math.Sqrt(float64(2+3*i+way)), 1) }
		at := func(h float64) float64 {
			for i, k := range knobs {
				defer func(was float64) { *k.value = was }(*k.value)
				if step := h * part(i); k.linear {
					*k.value += step
				} else {
					*k.value *= math.Exp(step)
				}
			}
			return value()
		}
		const h = 2e-5
		var slope float64
		for i, k := range knobs {
			slope += part(i) * k.slope
		}
		want := (8*(at(h)-at(-h)) - (at(2*h) - at(-2*h))) / (12 * h)
		if half := len(knobs) / 2; math.Abs(slope-want) <= within {
			continue
		} else if half > 0 {
			hold(t, knobs[:half], value, within/2)
			hold(t, knobs[half:], value, within/2)
		}
		t.Errorf("%d derivatives, the first by %s: %.10g, differences give %.10g", len(knobs), knobs[0].name, slope, want)
		return
	}
}

// TestEvaluateGolden compares Evaluate, on columns as they are, with values from an independent implementation
// (testdata/golden).
func TestEvaluateGolden(t *testing.T) {
	type bounds struct {
		Loss string
		Eps  float64
		B    float64
		BPin float64
	}
	var golden struct {
		Cases []struct {
			Kernel struct {
				Type string
				ARD  bool
			}
			LogParams []float64 `json:"log_params"`
			LogNoise  float64   `json:"log_noise"`
			Mean      float64
			X         [][]float64
			Y         []float64
			LML       float64
			LMLGrad   []float64 `json:"lml_grad"`
			Cert      struct{ Delta, L, G, E, T float64 }
			Bounds    []bounds
			Rounded   struct{ Bounds []bounds }
		}
	}
	raw := must.Get(os.ReadFile("testdata/golden/fullgp.json"))(t)
	must.Do(t, json.Unmarshal(raw, &golden))
	checked, certified := 0, 0
	for i, c := range golden.Cases {
		if c.Kernel.Type == "sum" {
			continue
		}
		d := len(c.X[0])
		table := &dataset.Table{Source: "golden", Rows: len(c.Y), Lines: make([]int, len(c.Y))}
		for j := range d {
			table.Names = append(table.Names, fmt.Sprintf("x%d", j))
		}
		table.Names = append(table.Names, "y")
		for i, x := range c.X {
			table.Values = append(append(table.Values, x...), c.Y[i])
		}
		n := len(c.LogParams) - 1
		p := &krigo.Params{Kernel: kernel.Spec{Name: c.Kernel.Type, Variance: math.Exp(c.LogParams[n])},
			NoiseVariance: math.Exp(c.LogNoise)}
		for _, l := range c.LogParams[:n] {
			p.Kernel.Lengthscales = append(p.Kernel.Lengthscales, math.Exp(l/2))
		}
		id := dataset.Identity(d)
		o := krigo.Options{Data: krigo.Data{Target: "y", Scaling: "declared", Declared: &id},
			Method: krigo.Method{Name: "evidence"}, Kernel: krigo.Kernel{Mean: "constant"}, Promise: krigo.Promise{Loss: "band"}}
		p.Mean = &krigo.MeanParams{Constant: c.Mean}
		e := must.Get(krigo.Evaluate(t.Context(), table, p, o))(t)
		near(t, fmt.Sprintf("case %d: value", i), e.Value, -c.LML, 1e-10)
		got := make([]float64, 0, n+3)
		for _, g := range e.Gradient.LogLengthscales {
			got = append(got, -g/2) // golden derivatives are with respect to ln l²
		}
		got = append(got, -*e.Gradient.LogVariance, -*e.Gradient.LogNoiseVariance, -e.Gradient.Mean.Constant)
		for j, want := range c.LMLGrad {
			near(t, fmt.Sprintf("case %d: gradient %d", i, j), got[j], want, 1e-8)
		}
		checked++

		if c.Mean != 0 || c.Cert.T != float64(len(c.LogParams)) || c.Cert.E != 1 || c.Cert.L != 6 || c.Cert.G != 1200 {
			continue // a mean's parameters would count in T, and steps are powers of ten
		}
		o.Promise.Delta = c.Cert.Delta
		p.Mean, o.Kernel.Mean = nil, "zero"
		for k, b := range c.Bounds {
			if b.Loss != "indicator" {
				continue
			}
			o.Promise.Epsilon, o.Method.Name = b.Eps, "kl-pac"
			kl := must.Get(krigo.Evaluate(t.Context(), table, p, o))(t)
			o.Method.Name = "sqrt-pac"
			pin := must.Get(krigo.Evaluate(t.Context(), table, p, o))(t)
			near(t, fmt.Sprintf("case %d: B", i), kl.Value, b.B, 1e-9)
			near(t, fmt.Sprintf("case %d: B_Pin", i), pin.Value, b.BPin, 1e-9)
			if len(c.Y) < 20 {
				if kl.Certificate != nil || !strings.Contains(kl.CertificateReason, "fewer than 20") {
					t.Errorf("case %d: %d rows: %+v, %q", i, len(c.Y), kl.Certificate, kl.CertificateReason)
				}
				continue
			}
			near(t, fmt.Sprintf("case %d: bound", i), kl.Certificate.Bound, c.Rounded.Bounds[k].B, 1e-9)
			near(t, fmt.Sprintf("case %d: bound_sqrt", i), kl.Certificate.BoundSqrt, c.Rounded.Bounds[k].BPin, 1e-9)
			near(t, "choices", kl.Certificate.ChoicesPenalty, 0, 0)
			certified++
		}
	}
	must.Hold(t, checked >= 7 && certified >= 2, "%d cases, %d certificates", checked, certified)
}

// TestEvaluateAgreesWithFit: at the parameters of a fitted model, Evaluate gives the model's certificate, apart from
// the price of choosing ARD.
func TestEvaluateAgreesWithFit(t *testing.T) {
	o := cheap(krigo.Options{
		Data:   krigo.Data{Target: "MEDV", TestFraction: 0.1},
		Kernel: krigo.Kernel{Expression: "rq", Mean: "constant"},
		Method: krigo.Method{Name: "kl-pac"},
		Run:    krigo.Run{Seed: 4},
	})
	m := fit(t, homes(), o)
	p := &krigo.Params{Kernel: m.Posterior.Kernel.Spec(m.Posterior.Theta), NoiseVariance: m.Posterior.Noise,
		Mean: &krigo.MeanParams{Constant: m.Posterior.Beta[0]}}
	e := must.Get(krigo.Evaluate(t.Context(), homes(), p, o))(t)
	near(t, "bound", e.Certificate.Bound, m.Certificate.Bound, 1e-10)
	near(t, "value", e.Value, m.Certificate.Bound, 1e-9)
	near(t, "KL", e.Certificate.KL, m.Certificate.KL, 1e-9)
	near(t, "grid penalty", e.Certificate.GridPenalty, 4*math.Log(1201), 1e-13)
}

func TestEvaluateRefuses(t *testing.T) {
	linear := krigo.Options{Kernel: krigo.Kernel{Mean: "linear"}}
	for name, c := range map[string]struct {
		p    krigo.Params
		o    krigo.Options
		want string
	}{
		"no kernel": {krigo.Params{NoiseVariance: 1}, krigo.Options{}, "unknown kernel"},
		"unknown kernel": {krigo.Params{Kernel: kernel.Spec{Name: "sse", Variance: 1}, NoiseVariance: 1},
			krigo.Options{}, `"sse"`},
		"no variance": {krigo.Params{Kernel: se(0, 1), NoiseVariance: 1}, krigo.Options{},
			`"variance" must be a positive number`},
		"negative lengthscale": {krigo.Params{Kernel: se(1, -1), NoiseVariance: 1}, krigo.Options{},
			`"lengthscales[0]" must be a positive number`},
		"negative variance": {krigo.Params{Kernel: se(-1, 1), NoiseVariance: 1}, krigo.Options{},
			`"variance" must be a positive number`},
		"infinite variance": {krigo.Params{Kernel: se(math.Inf(1), 1), NoiseVariance: 1}, krigo.Options{},
			`"variance" must be a positive number`},
		"lengthscale 0": {krigo.Params{Kernel: se(1, 1, 0, 1), NoiseVariance: 1}, krigo.Options{}, `lengthscales[1]`},
		"no lengthscale": {krigo.Params{Kernel: se(1), NoiseVariance: 1}, krigo.Options{},
			"0 lengthscales: give one for all inputs or 3"},
		"two lengthscales of 3": {krigo.Params{Kernel: se(1, 1, 1), NoiseVariance: 1}, krigo.Options{}, "2 lengthscales"},
		"no noise":              {krigo.Params{Kernel: se(1, 1)}, krigo.Options{}, "noise_variance"},
		"negative noise":        {krigo.Params{Kernel: se(1, 1), NoiseVariance: -1}, krigo.Options{}, "noise_variance"},
		"rq without shape": {krigo.Params{Kernel: kernel.Spec{Name: "rq", Variance: 1, Lengthscales: []float64{1}},
			NoiseVariance: 1}, krigo.Options{}, `"shape"`},
		"sum of nothing": {krigo.Params{Kernel: kernel.Spec{Name: "sum"}, NoiseVariance: 1}, krigo.Options{}, `"parts"`},
		"parts of se": {krigo.Params{Kernel: kernel.Spec{Name: "se", Variance: 1, Lengthscales: []float64{1},
			Parts: []kernel.Spec{se(1, 1)}}, NoiseVariance: 1}, krigo.Options{}, `"parts"`},
		"inducing inputs": {krigo.Params{Kernel: se(1, 1), NoiseVariance: 1, Inducing: [][]float64{{1}}},
			krigo.Options{}, "inducing"},
		"a mean not asked for": {krigo.Params{Kernel: se(1, 1), NoiseVariance: 1, Mean: &krigo.MeanParams{Constant: 1}},
			krigo.Options{}, "mean"},
		"slopes missing": {krigo.Params{Kernel: se(1, 1), NoiseVariance: 1, Mean: &krigo.MeanParams{Constant: 1}},
			linear, "0 slopes for 3 inputs"},
		"slopes unasked": {krigo.Params{Kernel: se(1, 1), NoiseVariance: 1, Mean: &krigo.MeanParams{Linear: []float64{1, 1,
			1}}}, krigo.Options{Kernel: krigo.Kernel{Mean: "constant"}}, "choose mean linear"},
		"a shape of se": {krigo.Params{Kernel: kernel.Spec{Name: "se", Variance: 1, Lengthscales: []float64{1},
			Shape: 2}, NoiseVariance: 1}, krigo.Options{}, "shape"},
		"a period of rq": {krigo.Params{Kernel: kernel.Spec{Name: "rq", Variance: 1, Lengthscales: []float64{1},
			Shape: 2, Period: 1}, NoiseVariance: 1}, krigo.Options{}, "period"},
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if p := recover(); p != nil {
					t.Errorf("panic: %v", p)
				}
			}()
			c.o.Data.Target = "MEDV"
			_, err := krigo.Evaluate(t.Context(), homes(), &c.p, c.o)
			var usage *krigo.UsageError
			must.Hold(t, errors.As(err, &usage) && strings.Contains(err.Error(), c.want),
				"%v; want %q", err, c.want)
		})
	}
}

func TestCertify(t *testing.T) {
	for name, o := range map[string]krigo.Options{
		"defaults": {},
		"evidence": {
			Kernel: krigo.Kernel{ARD: "on", Mean: "linear"},
			Method: krigo.Method{Name: "evidence"},
			Run:    krigo.Run{Restarts: 1},
		},
		"relative": cheap(krigo.Options{
			Data:    krigo.Data{TestFraction: 0.2},
			Promise: krigo.Promise{Loss: "relative", Epsilon: 0.2},
		}),
		"all rows": cheap(krigo.Options{Data: krigo.Data{Scaling: "all-rows"}}),
	} {
		t.Run(name, func(t *testing.T) {
			m := fit(t, homes(), o)
			check := func(what string, m *krigo.Model, table *dataset.Table) {
				r, err := certify(m, table)
				if err != nil || !r.Matches || !reflect.DeepEqual(r.Certificate, m.Certificate) {
					t.Errorf("%s: %+v, %v; the model says %+v", what, r, err, m.Certificate)
				}
			}
			check("the model", m, homes())
			path := t.TempDir() + "/m.krigo"
			must.Do(t, m.Save(path))
			loaded := must.Get(krigo.Load(path))(t)
			check("loaded", loaded, homes())
			check("other order of columns", loaded, pick(homes(), every(0, 1, 85), "MEDV", "DIS", "RM", "LSTAT"))
			r, err := loaded.Certify(t.Context(), homes(), krigo.CertifyOptions{Epsilon: m.Certificate.Epsilon})
			must.Hold(t, err == nil && reflect.DeepEqual(r.Certificate, m.Certificate),
				"with the declared ε: %+v, %v", r, err)
		})
	}
}

func TestCertifyRefuses(t *testing.T) {
	m := fit(t, homes(), cheap(krigo.Options{Data: krigo.Data{TestFraction: 0.1}}))
	certified := rowsOf(t, m, homes(), dataset.Certified)
	for name, c := range map[string]struct {
		table *dataset.Table
		want  []string
	}{
		"a row less": {pick(homes(), every(0, 1, 84)), []string{"84 rows", "made from 85"}},
		"a target altered": {func() *dataset.Table {
			t := homes()
			t.Values[4*certified[3]+3] += 1e-9
			return t
		}(), []string{"the rows of", "SHA-256"}},
		"an input altered": {func() *dataset.Table {
			t := homes()
			t.Values[4*certified[len(certified)-1]] *= 1 + 1e-15
			return t
		}(), []string{"the rows of", "SHA-256"}},
		// Somebody who used the certified rows to choose inputs, and hides it, has a table with other inputs too.
		"columns besides": {pick(boston(), every(0, 1, 85)),
			[]string{`the column "CRIM"`, "a column that came after the fit"}},
		"a column missing":   {pick(homes(), every(0, 1, 85), "RM", "DIS", "MEDV"), []string{`"LSTAT"`}},
		"the target missing": {pick(homes(), every(0, 1, 85), "RM", "DIS", "LSTAT"), []string{`"MEDV"`}},
	} {
		r, err := certify(m, c.table)
		if err == nil {
			t.Errorf("%s: %+v", name, r)
			continue
		}
		for _, want := range c.want {
			must.Hold(t, strings.Contains(err.Error(), want), "%s: %v; want %q", name, err, want)
		}
	}
	sixth := pick(data.Boston(), every(1, 6, 506), "RM", "LSTAT", "DIS", "MEDV")
	other := fit(t, sixth, cheap(krigo.Options{}))
	if _, err := certify(other, homes()); err == nil {
		t.Error("the model of other data was certified")
	}
	// certify finds a stored certificate that the rows don't give,
	altered := *m
	c := *m.Certificate
	c.Bound -= 1e-6
	altered.Certificate = &c
	if r, err := certify(&altered, homes()); err != nil || r.Matches || r.Certificate.Bound != m.Certificate.Bound {
		t.Errorf("an altered bound: %+v, %v", r, err)
	}
	// and one with other altered figures.
	c = *m.Certificate
	c.MeanBound /= 2
	if r, err := certify(&altered, homes()); err != nil || r.Matches {
		t.Errorf("an altered mean_bound: %+v, %v", r, err)
	}
}

// TestCertifyRefusesEdits: certify compares a file with the data, and its parts with one another, also if the checksum
// fits the edited file.
func TestCertifyRefusesEdits(t *testing.T) {
	must.Long(t)
	table := data.Boston()
	of := copies(t, table)
	grid := cheap(krigo.Options{
		Data:   krigo.Data{TestFraction: 0.1},
		Method: krigo.Method{Name: "evidence"},
		Prior:  krigo.Prior{Kind: "grid"},
	})
	sparse := krigo.Options{
		Kernel: krigo.Kernel{ARD: "off"},
		Method: krigo.Method{Name: "vfe", Inducing: 8, Epochs: 20},
		Prior:  krigo.Prior{Kind: "grid"},
	}
	informed := cheap(krigo.Options{
		Method: krigo.Method{Name: "evidence"},
		Prior:  krigo.Prior{Kind: "informed"},
	})
	for name, c := range map[string]struct {
		o    krigo.Options
		edit func(m *krigo.Model)
		want string
	}{
		"a larger noise variance, for less KL": {grid, func(m *krigo.Model) { m.Posterior.Noise *= 2 }, "noise variance"},
		"a scaled factor, for less KL": {sparse, func(m *krigo.Model) {
			l := m.Posterior.Solution.(*posterior.Inducing).Chol
			for i := range l.Rows {
				for j := range l.Row(i)[:i+1] {
					l.Row(i)[j] /= 2
				}
			}
		}, "factor"},
		"another factor of the prior": {krigo.Options{
			Kernel: krigo.Kernel{ARD: "off"},
			Method: krigo.Method{Name: "vfe", Inducing: 8, Epochs: 20},
			Prior:  krigo.Prior{Kind: "informed", Learn: true},
		},
			func(m *krigo.Model) {
				m.Posterior.Kernel.(*kernel.Conditional).Chol.Row(3)[1] += 1e-3
			}, "factor"},
		"another prior": {informed,
			func(m *krigo.Model) { m.Posterior.Kernel.(*kernel.Conditional).Support.Row(3)[1] += 1e-3 }, "the prior: "},
		"other weights of the prior": {informed, func(m *krigo.Model) {
			for i := range m.Posterior.Mean.(*kernel.ConditionalMean).Weights {
				m.Posterior.Mean.(*kernel.ConditionalMean).Weights[i] *= 0.7
			}
		}, "prior rows"},
		"a certified row that became a test row": {grid, func(m *krigo.Model) {
			m.Counts[dataset.Test]++
			m.Counts[dataset.Certified]--
			m.Groups = m.Counts
			rehash(t, m, table)
		}, "don't come from the prior rows"}, // other rows become prior rows
		"another seed": {grid, func(m *krigo.Model) { m.Seed = 7 }, "certified rows"},
		"another seed, and its hashes": {grid, func(m *krigo.Model) { m.Seed = 7; rehash(t, m, table) },
			"don't come from the prior rows"},
		"columns hashed in an order that someone chose": {grid, func(m *krigo.Model) {
			m.HashOrder = []int{2, 1, 0}
			rehash(t, m, table)
		}, "are hashed in the order"},
		"the scaling of all rows renamed": {cheap(krigo.Options{
			Data:   krigo.Data{Scaling: "all-rows"},
			Method: krigo.Method{Name: "evidence"},
			Prior:  krigo.Prior{Kind: "grid", Share: 0.1},
		}),
			func(m *krigo.Model) {
				m.Scaling.Source, m.Terms.Scaling = "prior-rows", "prior-rows"
			}, "constants don't come from the prior rows"},
		"the scaling of the terms alone": {grid, func(m *krigo.Model) { m.Terms.Scaling = "declared" }, "scaling"},
		"an unknown scaling": {grid, func(m *krigo.Model) { m.Terms.Scaling, m.Scaling.Source = "foo", "foo" },
			"foo"},
		"fewer prior rows":          {grid, func(m *krigo.Model) { m.Terms.PriorRows = 3 }, "prior rows"},
		"a narrower ε in raw units": {grid, func(m *krigo.Model) { m.Terms.EpsilonRaw = 0.5 }, "EpsilonRaw"},
		"an impossible δ":           {grid, func(m *krigo.Model) { m.Terms.Delta = 5 }, "delta"},
		"an unknown loss":           {grid, func(m *krigo.Model) { m.Terms.Loss.Kind = "none" }, "loss"},
		"fewer parameters paid for": {grid, func(m *krigo.Model) { m.Terms.Params = 1 }, "parameters"},
		"a coarser grid":            {grid, func(m *krigo.Model) { m.Terms.Grid.Digits = 0 }, "grid"},
	} {
		m := of(c.o)
		reproduced(t, m, table, name)
		c.edit(m)
		must.Refuse(certify(m, table))(t, c.want, name)
	}
}

// rehash makes a model's hashes fit its roles.
func rehash(t *testing.T, m *krigo.Model, table *dataset.Table) {
	t.Helper()
	d := must.Get(m.Labelled(table))(t).Ordered(m.HashOrder)
	units := must.Get(d.Units())(t)
	roles := must.Get(units.Deal(m.Seed, m.Counts))(t)
	m.All = units.Hash
	m.Hash = units.HashOf(roles.Rows(dataset.Certified))
	var err error
	m.Rows, m.Named, err = model.HashRows(d, roles)
	must.Do(t, err)
}

// TestCertifyOtherEpsilon: a half-width that is chosen afterwards gives a number that isn't called a certificate. The
// test computes the number itself from predictions.
func TestCertifyOtherEpsilon(t *testing.T) {
	m := fit(t, homes(), cheap(krigo.Options{}))
	r := must.Get(m.Certify(t.Context(), homes(), krigo.CertifyOptions{Epsilon: 0.9}))(t)
	c := r.Certificate
	must.Hold(t, !c.Valid && !r.Matches && strings.Contains(c.Label, "heuristic") &&
		strings.Contains(c.Conditions[0], "NOT MET") && c.Epsilon == 0.9, "%+v", r)
	near(t, "epsilon_raw", c.EpsilonRaw, 0.9*m.Scaling.TargetScale, 1e-13)
	if m.Terms.Loss.Below != 0.6 || !m.Certificate.Valid || strings.Contains(m.Certificate.Conditions[0], "NOT MET") {
		t.Errorf("the model was changed: %+v", m.Certificate)
	}
	rows := rowsOf(t, m, homes(), dataset.Certified)
	ps := predict(t, m, pick(homes(), rows))
	var risk float64
	for k, i := range rows {
		d, sd := homes().Values[4*i+3]-ps[k].Mean, math.Sqrt(2*ps[k].LatentVariance)
		risk += (0.5*math.Erfc((c.EpsilonRaw-d)/sd) + 0.5*math.Erfc((c.EpsilonRaw+d)/sd)) / float64(len(rows))
	}
	near(t, "empirical_risk", c.EmpiricalRisk, risk, 1e-10)
	var usage *krigo.UsageError
	for _, bad := range []float64{-1, math.NaN(), math.Inf(1)} {
		if _, err := m.Certify(t.Context(), homes(), krigo.CertifyOptions{Epsilon: bad}); !errors.As(err, &usage) {
			t.Errorf("ε = %v: %v", bad, err)
		}
	}
	both := fit(t, homes(), cheap(krigo.Options{
		Promise: krigo.Promise{Loss: "asymmetric", Epsilon: 0.4, EpsilonAbove: 0.8},
	}))
	if r, err := both.Certify(t.Context(), homes(), krigo.CertifyOptions{Epsilon: 0.2}); err != nil ||
		math.Abs(r.Certificate.EpsilonAbove-0.4) > 1e-15 {
		t.Errorf("both widths are scaled: %+v, %v", r, err)
	}
}

func TestCertifyFresh(t *testing.T) {
	m := fit(t, homes(), cheap(krigo.Options{
		Data:    krigo.Data{TestFraction: 0.3},
		Promise: krigo.Promise{Delta: 0.05},
		Run:     krigo.Run{Seed: 1},
	}))
	check := func(what string, f *krigo.Fresh, err error, table *dataset.Table, rows []int) {
		t.Helper()
		must.Need(t, err == nil, "%s: %v", what, err)
		ps := predict(t, m, table)
		y, _ := table.Column("MEDV")
		misses, gibbs, eps := 0, 0., 0.6*m.Scaling.TargetScale
		for _, i := range rows {
			d := table.Values[i*len(table.Names)+y] - ps[i].Mean
			if math.Abs(d) > eps {
				misses++
			}
			sd := math.Sqrt(2 * ps[i].LatentVariance)
			gibbs += (0.5*math.Erfc((eps-d)/sd) + 0.5*math.Erfc((eps+d)/sd)) / float64(len(rows))
		}
		n := len(rows)
		if f.Rows != n || f.Delta != 0.05 || f.Loss != pacbayes.Band || f.Epsilon != 0.6 || misses == 0 || misses == n {
			t.Errorf("%s: %+v with %d misses", what, f, misses)
		}
		near(t, what+": mean_risk", f.MeanRisk, float64(misses)/float64(n), 1e-14)
		near(t, what+": mean_bound", f.MeanBound, pacbayes.ClopperPearson(misses, n, 0.05), 1e-14)
		near(t, what+": gibbs_risk", f.GibbsRisk, gibbs, 1e-10)
		near(t, what+": bound", f.Bound, pacbayes.KLInverse(gibbs, math.Log(20)/float64(n)), 1e-10)
	}
	rows := rowsOf(t, m, homes(), dataset.Test)
	own, err := m.CertifyFresh(t.Context(), homes())
	check("test rows", own, err, homes(), rows)
	near(t, "as scored at the fit", own.GibbsRisk, m.Test.GibbsRisk, 0)
	foreign := pick(data.Boston(), every(1, 9, 506), "MEDV", "DIS", "RM", "LSTAT")
	f, err := m.CertifyFresh(t.Context(), foreign)
	check("other rows", f, err, foreign, every(0, 1, foreign.Rows))

	soft := fit(t, homes(), cheap(krigo.Options{Promise: krigo.Promise{Loss: "gaussian"}}))
	f = must.Get(soft.CertifyFresh(t.Context(), foreign))(t)
	near(t, "a loss between 0 and 1", f.MeanBound, pacbayes.KLInverse(f.MeanRisk, math.Log(100)/float64(f.Rows)), 1e-12)

	// A model without a certificate can have bounds from fresh rows.
	few := fit(t, pick(homes(), every(0, 1, 30)), krigo.Options{Run: krigo.Run{Restarts: 1}})
	if f, err := few.CertifyFresh(t.Context(), foreign); err != nil || few.Certificate != nil || !(f.Bound < 1) {
		t.Errorf("without a certificate: %+v, %v", f, err)
	}

	// The rows that trained the model aren't fresh, in any order, and CertifyFresh says so. It refuses them only if
	// they are the table of the fit.
	must.Refuse(soft.CertifyFresh(t.Context(), homes()))(t, "no test rows were set aside", "its own rows")
	back := every(0, 1, 85)
	slices.Reverse(back)
	must.Refuse(soft.CertifyFresh(t.Context(), pick(homes(), back)))(t, "no test rows were set aside",
		"its own rows backwards")
	for _, rows := range [][]int{back[1:], every(0, 1, 84)} {
		if f, err := soft.CertifyFresh(t.Context(), pick(homes(), rows)); err != nil || f.Seen != len(rows) ||
			!strings.Contains(f.Sentence(&soft.Model), "Each of these rows equals a row that the model was made from. If they are "+
				"the same observations, the bound says nothing.") {
			t.Errorf("%d of its own rows pass for fresh: %+v, %v", len(rows), f, err)
		}
	}
	// If some rows equal a row of the fit, they are counted, and the bound says what it depends on.
	some := pick(data.Boston(), append(every(1, 9, 506), 0, 6), "MEDV", "DIS", "RM", "LSTAT")
	if f, err := soft.CertifyFresh(t.Context(), some); err != nil || f.Seen < 2 || f.Seen == f.Rows ||
		!strings.Contains(f.Sentence(&soft.Model), fmt.Sprintf("%d of these %d rows equal a row that the model was made from, "+
			"and %d more equal another of these rows. The bound holds only if they are", f.Seen, f.Rows, f.Repeats-f.Seen)) {
		t.Errorf("%+v, %v, %s", f, err, f.Sentence(&soft.Model))
	}
	// One row, or rows with one target, are enough for a test.
	if f, err := soft.CertifyFresh(t.Context(), pick(foreign, []int{0})); err != nil || f.Rows != 1 {
		t.Errorf("one fresh row: %+v, %v", f, err)
	}
}

// TestContradiction: fresh rows contradict a certificate if a lower limit of their risk, at the same δ, lies above
// it. krigo then gives the numbers, for bound and promise separately. Other fresh rows don't contradict it.
func TestContradiction(t *testing.T) {
	m := fit(t, pick(data.Boston(), every(0, 2, 506)),
		cheap(krigo.Options{
			Method:  krigo.Method{Name: "evidence"},
			Prior:   krigo.Prior{Kind: "informed"},
			Promise: krigo.Promise{Epsilon: 1, Share: 0.7},
		}))
	c := m.Certificate
	// raised returns the other half of the rows, with off targets that the model misses.
	raised := func(misses int) *dataset.Table {
		fresh := pick(data.Boston(), every(1, 2, 506))
		y, _ := fresh.Column("MEDV")
		for i := range misses {
			fresh.Values[i*len(fresh.Names)+y] += 1000
		}
		return fresh
	}
	for _, misses := range []int{0, 1, 60, 120, 253} {
		f := must.Get(m.CertifyFresh(t.Context(), raised(misses)))(t)
		said := f.Sentence(&m.Model)
		lower := 1 - pacbayes.ClopperPearson(f.Rows-int(math.Round(f.MeanRisk*float64(f.Rows))), f.Rows, m.Terms.Delta)
		if against := lower > c.MeanBound; against != (f.Contradicts != nil && f.Contradicts.Mean != nil) {
			t.Errorf("%d misses: at least %v, certified %v, but %+v", misses, lower, c.MeanBound, f.Contradicts)
		}
		if f.Contradicts == nil {
			must.Hold(t, misses <= 100 && !strings.Contains(said, "CONTRADICTS"),
				"%d misses: %s", misses, said)
			continue
		}
		if x := f.Contradicts.Mean; x != nil {
			near(t, "at least", x.AtLeast, lower, 1e-12)
			near(t, "certified", x.Certified, c.MeanBound, 0)
			near(t, "risk", x.Risk, f.MeanRisk, 0)
		}
		must.Hold(t, misses >= 60, "%d misses: %s", misses, said)
		for _, want := range []string{"THIS CONTRADICTS the model's own certificate", "another source",
			"failed by chance (probability at most 0.01 each)", "rely on what they show"} {
			must.Hold(t, strings.Contains(said, want),
				"%d misses: nothing says %q in %s", misses, want, said)
		}
		if misses == 253 {
			x := f.Contradicts.Promise
			if x == nil || x.Risk != 1 || x.Certified != c.Promise.Bound || math.Abs(x.AtLeast-math.Pow(0.01, 1./253)) > 1e-12 {
				t.Errorf("the promise: %+v", x)
			}
			must.Hold(t,
				strings.Contains(said, "is at least 0.9819; the certificate says at most ") &&
					strings.Contains(said, "at least 98.19 % of predictions on further rows like these lie farther off than ±") &&
					strings.Contains(said, "the promise says at most 30.00 %"), "%v", said)
		}
	}
	// A number that is no certificate can't be contradicted.
	m.Certificate.Valid = false
	if f, err := m.CertifyFresh(t.Context(), raised(253)); err != nil || f.Contradicts != nil {
		t.Errorf("%+v, %v", f, err)
	}
}

// TestEvaluateHyperprior: a weak prior of hyperparameters adds the same amount to the value of every method.
func TestEvaluateHyperprior(t *testing.T) {
	table := pick(homes(), every(0, 1, 40))
	added := func(name string) float64 {
		var values [2]float64
		for i, hyperprior := range []string{"none", "weak"} {
			o := krigo.Options{Data: krigo.Data{Target: "MEDV"}, Method: method.Choice{Name: name, Hyperprior: hyperprior}}
			e := must.Get(krigo.Evaluate(context.Background(), table, &krigo.Params{Kernel: se(1, 2), NoiseVariance: 0.1}, o))(t)
			values[i] = e.Value
		}
		return values[1] - values[0]
	}
	evidence, nearest := added(method.EvidenceName), added(method.NearestName)
	if evidence == 0 || math.Abs(nearest-evidence) > 1e-9 {
		t.Errorf("the weak prior adds %v to the evidence, and %v to nearest's objective", evidence, nearest)
	}
}
