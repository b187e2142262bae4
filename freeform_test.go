package krigo_test

import (
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"testing"

	"github.com/krigo-gp/krigo"
	"github.com/krigo-gp/krigo/finding"
	"github.com/krigo-gp/krigo/internal/linalg"
	"github.com/krigo-gp/krigo/internal/must"
	"github.com/krigo-gp/krigo/posterior"
)

// paramsOf returns a sparse model's parameters without q.
func paramsOf(m *krigo.Model) *krigo.Params {
	q := m.Posterior
	p := &krigo.Params{Kernel: q.Kernel.Spec(q.Theta), NoiseVariance: q.Noise}
	for i := range q.Support.Rows {
		p.Inducing = append(p.Inducing, q.Support.Row(i))
	}
	return p
}

// TestSVGP: however svgp was trained, its posterior is vfe's posterior at the same parameters, and its value is near
// vfe's.
func TestSVGP(t *testing.T) {
	base := krigo.Options{
		Data:   krigo.Data{Target: "MEDV"},
		Kernel: krigo.Kernel{ARD: "off"},
		Method: krigo.Method{Inducing: 7, FixInducing: true},
	}
	o := base
	o.Method.Name = "vfe"
	vfe := fit(t, homes(), o).Training.ObjectiveValue
	for name, o := range map[string]krigo.Options{
		"lbfgs":          {Method: krigo.Method{Optimizer: "lbfgs"}},
		"adam, all rows": {Method: krigo.Method{Epochs: 600}},
		"adam, batches":  {Method: krigo.Method{Batch: 20, Epochs: 800}},
	} {
		t.Run(name, func(t *testing.T) {
			with := base
			with.Method.Name, with.Method.Optimizer, with.Method.Batch, with.Method.Epochs = "svgp", o.Method.Optimizer,
				o.Method.Batch, o.Method.Epochs
			m := fit(t, homes(), with)
			if v := m.Training.ObjectiveValue; !(v > vfe-1e-3) || !(v < vfe+0.5) {
				t.Errorf("energy %v, vfe's %v", v, vfe)
			}
			for _, objective := range []string{"vfe", "svgp"} {
				e := must.Get(krigo.Evaluate(t.Context(), homes(), paramsOf(m), krigo.Options{Data: krigo.Data{Target: "MEDV"},
					Method: krigo.Method{Name: objective}}))(t)
				if d := math.Abs(e.Certificate.Bound - m.Certificate.Bound); !(d < 1e-8) ||
					!(math.Abs(e.Certificate.KL-m.Certificate.KL) < 1e-6) {
					t.Errorf("bound %v, KL %v; with the posterior of %s %v, %v", m.Certificate.Bound, m.Certificate.KL, objective,
						e.Certificate.Bound, e.Certificate.KL)
				}
			}
			if m.ObservationNoise != m.Posterior.Noise {
				t.Errorf("observation noise %v, σ_n² %v", m.ObservationNoise, m.Posterior.Noise)
			}
		})
	}
}

// TestFreePosterior: a free-form posterior's bound is never above the collapsed bound, and its certificate is
// reproduced from the file.
func TestFreePosterior(t *testing.T) {
	for _, objective := range []string{"kl-pac", "sqrt-pac"} {
		base := krigo.Options{Data: krigo.Data{Target: "MEDV", TestFraction: 0.1},
			Method: krigo.Method{Name: objective, Inducing: 8}, Kernel: krigo.Kernel{ARD: "off", Mean: "constant"}}
		collapsed := fit(t, homes(), base)
		for _, batch := range []int{0, 20} {
			t.Run(fmt.Sprintf("%s, batch %d", objective, batch), func(t *testing.T) {
				o := base
				o.Method.Posterior, o.Method.Batch = "free", batch
				if batch > 0 {
					o.Method.Epochs = 100
				}
				m := fit(t, homes(), o)
				if m.Certificate.Bound > collapsed.Certificate.Bound {
					t.Errorf("bound %v, of the collapsed posterior %v", m.Certificate.Bound, collapsed.Certificate.Bound)
				}
				if batch == 0 && !(m.Certificate.Bound < collapsed.Certificate.Bound-1e-4) {
					t.Errorf("bound %v gains nothing over %v", m.Certificate.Bound, collapsed.Certificate.Bound)
				}
				if !m.Certificate.Valid || m.Findings.Of(finding.FreeForm) == nil && m.Findings.Of(finding.FreeFormWorse) == nil {
					t.Errorf("valid %v, %q", m.Certificate.Valid, m.Findings)
				}
				path := filepath.Join(t.TempDir(), "m.krigo")
				must.Do(t, m.Save(path))
				loaded := must.Get(krigo.Load(path))(t)
				again, err := certify(loaded, homes())
				must.Hold(t, err == nil && again.Matches, "certified again: %+v, %v", again, err)
			})
		}
	}
}

// TestFreePosteriorKeepsTheBetter: training that goes astray can't raise the bound.
func TestFreePosteriorKeepsTheBetter(t *testing.T) {
	base := krigo.Options{
		Data:   krigo.Data{Target: "MEDV"},
		Kernel: krigo.Kernel{ARD: "off"},
		Method: krigo.Method{Inducing: 8},
	}
	collapsed := fit(t, homes(), base)
	o := base
	o.Method.Posterior, o.Method.Batch, o.Method.Epochs, o.Method.LearningRate = "free", 3, 2, 5
	if m := fit(t, homes(), o); m.Certificate.Bound > collapsed.Certificate.Bound {
		t.Errorf("bound %v, of the collapsed posterior %v", m.Certificate.Bound, collapsed.Certificate.Bound)
	}
}

// TestEvaluateFreePosterior: given a free-form posterior from a fit, Evaluate gives the same certificate. Its
// derivatives agree with differences, and altered shapes are refused.
func TestEvaluateFreePosterior(t *testing.T) {
	o := krigo.Options{
		Data:   krigo.Data{Target: "MEDV"},
		Kernel: krigo.Kernel{ARD: "off", Mean: "constant"},
		Method: krigo.Method{Inducing: 6, Posterior: "free"},
	}
	m := fit(t, homes(), o)
	q := m.Posterior
	p := paramsOf(m)
	p.Mean = &krigo.MeanParams{Constant: q.Beta[0]}
	n := q.Support.Rows
	mean, covariance := make([]float64, n), make([][]float64, n)
	// a_M is the mean at Z. B_MM = LB⁻¹Lᵀ, and its factor is found column by column.
	q.Latent(q.Support, mean, make([]float64, n))
	for i := range n {
		e := make([]float64, n)
		at := q.Solution.(*posterior.Inducing)
		copy(e, at.Chol.Row(i)[:i+1])
		solve(at.CholB, e)
		covariance[i] = e // row i of L L_B⁻ᵀ
	}
	chol := make([][]float64, n)
	for i := range n {
		chol[i] = make([]float64, i+1)
		for j := range i + 1 {
			s := dot(covariance[i], covariance[j])
			for k := range j {
				s -= chol[i][k] * chol[j][k]
			}
			if i == j {
				chol[i][i] = math.Sqrt(s)
			} else {
				chol[i][j] = s / chol[j][j]
			}
		}
	}
	p.Posterior = &krigo.FreeParams{Mean: mean, Chol: chol}
	e := must.Get(krigo.Evaluate(t.Context(), homes(), p, o))(t)
	near(t, "bound", e.Certificate.Bound, m.Certificate.Bound, 1e-7)
	near(t, "KL", e.Certificate.KL, m.Certificate.KL, 1e-6)
	near(t, "value", e.Value, e.Certificate.Bound, 1e-9)

	for _, objective := range []string{"kl-pac", "svgp"} {
		o := o
		o.Method.Name, o.Method.Posterior = objective, ""
		e := must.Get(krigo.Evaluate(t.Context(), homes(), p, o))(t)
		g := e.Gradient.Posterior
		check := func(what string, v *float64, slope float64) {
			const h = 1e-5
			old := *v
			at := func(to float64) float64 {
				*v = to
				e := must.Get(krigo.Evaluate(t.Context(), homes(), p, o))(t)
				return e.Value
			}
			want := (at(old+h) - at(old-h)) / (2 * h)
			*v = old
			if math.Abs(slope-want) > 1e-5*(1+math.Abs(want)) {
				t.Errorf("%s %s: derivative %v, by differences %v", objective, what, slope, want)
			}
		}
		check("mean", &mean[2], g.Mean[2])
		check("chol", &chol[4][1], g.Chol[4][1])
		check("inducing", &p.Inducing[3][1], e.Gradient.Inducing[3][1])
		check("constant", &p.Mean.Constant, e.Gradient.Mean.Constant)
		if (e.Gradient.LogNoiseVariance == nil) != (objective == "kl-pac") {
			t.Errorf("%s: derivative by the noise %v", objective, e.Gradient.LogNoiseVariance)
		}
	}

	for want, change := range map[string]func(*krigo.FreeParams){
		"posterior.mean has 5 entries":        func(q *krigo.FreeParams) { q.Mean = q.Mean[:5] },
		"posterior.chol[2] has 2 entries":     func(q *krigo.FreeParams) { q.Chol[2] = q.Chol[2][:2] },
		"posterior.chol[1][2] is 3":           func(q *krigo.FreeParams) { q.Chol[1] = append(slices.Clone(q.Chol[1]), 3) },
		"posterior.chol[3][3] is -1: its dia": func(q *krigo.FreeParams) { q.Chol[3] = []float64{0, 0, 0, -1} },
	} {
		altered := *p
		altered.Posterior = &krigo.FreeParams{Mean: mean, Chol: slices.Clone(chol)}
		change(altered.Posterior)
		must.Refuse(krigo.Evaluate(t.Context(), homes(), &altered, o))(t, want)
	}
	o.Method.Name, o.Method.Posterior = "vfe", ""
	must.Refuse(krigo.Evaluate(t.Context(), homes(), p, o))(t, "posterior free is a setting of kl-pac")
}

// solve overwrites b with l⁻¹b for a lower triangular l.
func solve(l linalg.Matrix, b []float64) {
	for i := range b {
		b[i] = (b[i] - dot(l.Row(i)[:i], b[:i])) / l.At(i, i)
	}
}

func dot(a, b []float64) (s float64) {
	for i := range a {
		s += a[i] * b[i]
	}
	return s
}

func TestLearnAlpha(t *testing.T) {
	for _, free := range []bool{false, true} {
		base := krigo.Options{
			Data:   krigo.Data{Target: "MEDV"},
			Kernel: krigo.Kernel{ARD: "off"},
			Method: krigo.Method{Inducing: 8},
		}
		if free {
			base.Method.Posterior = "free"
		}
		fixed := fit(t, homes(), base)
		o := base
		o.Method.AlphaBy = "learn"
		m := fit(t, homes(), o)
		if m.Certificate.Bound > fixed.Certificate.Bound+1e-4 {
			t.Errorf("free %v: bound %v with α learnt, %v with α = 1", free, m.Certificate.Bound, fixed.Certificate.Bound)
		}
		if a := m.Training.Alpha; !free && (a == nil || *a < 0 || *a > 1) {
			t.Errorf("α %v", a)
		}
		r, err := certify(m, homes())
		must.Hold(t, err == nil && r.Matches, "free %v: %+v, %v", free, r, err)
	}
	for _, m := range []krigo.Method{
		{Name: "vfe", AlphaBy: "learn"},
		{InducingBy: "none", AlphaBy: "learn"},
		{Inducing: 8, Posterior: "fitc", AlphaBy: "learn"},
	} {
		o := krigo.Options{Data: krigo.Data{Target: "MEDV"}, Method: m}
		must.Fail(t, attempt(homes(), o), "alpha learn", o)
	}
}

func TestEvaluateRefusesFreePosteriors(t *testing.T) {
	p := &krigo.Params{Kernel: se(1, 1), NoiseVariance: 1, Inducing: [][]float64{{0, 0, 0}}}
	must.Refuse(krigo.Evaluate(t.Context(), homes(), p, krigo.Options{
		Data:   krigo.Data{Target: "MEDV"},
		Method: krigo.Method{Posterior: "free"},
	}))(t, "give it as")
	p.Inducing = nil
	must.Refuse(krigo.Evaluate(t.Context(), homes(), p, krigo.Options{
		Data:   krigo.Data{Target: "MEDV"},
		Method: krigo.Method{Name: "svgp"},
	}))(t, "needs inducing inputs")
}
