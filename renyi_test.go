package krigo_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/krigo-gp/krigo"
	"github.com/krigo-gp/krigo/data"
	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/finding"
	"github.com/krigo-gp/krigo/internal/must"
)

// TestRenyiAnneals: with every schedule and optimiser, α ends at 0. The posterior is then the exact posterior, its
// certificate is the evidence's at the same parameters, and the value is near the evidence's optimum.
func TestRenyiAnneals(t *testing.T) {
	base := krigo.Options{
		Data:   krigo.Data{Target: "MEDV"},
		Kernel: krigo.Kernel{ARD: "off"},
		Method: krigo.Method{Name: "evidence"},
	}
	optimum := fit(t, homes(), base).Training.ObjectiveValue
	for name, o := range map[string]krigo.Options{
		"lbfgs": {},
		"mma, geometric": {
			Method: krigo.Method{Anneal: "geometric", Optimizer: "mma"},
		},
		"adam": {
			Method: krigo.Method{Anneal: "cosine", Optimizer: "adam", Epochs: 500},
		},
		"adam on batches": {
			Method: krigo.Method{FixInducing: true, Batch: 40, Epochs: 300},
		},
		"sgd": {
			Method: krigo.Method{Optimizer: "sgd", Epochs: 2000, LearningRate: 0.5},
		},
	} {
		t.Run(name, func(t *testing.T) {
			o.Data.Target, o.Kernel.ARD, o.Method.Name, o.Method.Inducing = "MEDV", "off", "renyi", 7
			m := fit(t, homes(), o)
			// Steps on batches, or many small steps, may end at an optimum nearby.
			if v := m.Training.ObjectiveValue; !(v > optimum-1e-3) ||
				!(v < optimum+map[bool]float64{true: 6, false: 0.2}[o.Method.Epochs > 0]) {
				t.Errorf("−ln p(y) = %v, evidence's optimum %v", v, optimum)
			}
			must.Hold(t, m.Posterior.Inducing() <= 0 && m.ObservationNoise == m.Posterior.Noise,
				"sparse %v, observation noise %v, σ_n² %v", m.Posterior.Inducing() > 0,
				m.ObservationNoise, m.Posterior.Noise)
			e := must.Get(krigo.Evaluate(t.Context(), homes(), &krigo.Params{Kernel: m.Posterior.Kernel.Spec(m.Posterior.Theta),
				NoiseVariance: m.Posterior.Noise}, base))(t)
			if math.Abs(e.Certificate.Bound-m.Certificate.Bound) > 1e-9 {
				t.Errorf("bound %v, evidence's there %v", m.Certificate.Bound, e.Certificate.Bound)
			}
		})
	}
}

// TestRenyiFixed shows that with a fixed α the posterior is the optimal q(U), and that α = 1 gives the same as vfe.
func TestRenyiFixed(t *testing.T) {
	one, half := 1.0, 0.5
	base := krigo.Options{
		Data:   krigo.Data{Target: "MEDV"},
		Kernel: krigo.Kernel{ARD: "off"},
		Method: krigo.Method{Inducing: 7, FixInducing: true},
	}
	o := base
	o.Method.Name = "vfe"
	vfe := fit(t, homes(), o)
	o.Method.Name, o.Method.Alpha = "renyi", &one
	m := fit(t, homes(), o)
	must.Hold(t, math.Abs(m.Training.ObjectiveValue-vfe.Training.ObjectiveValue) <= 1e-6 &&
		math.Abs(m.Certificate.Bound-vfe.Certificate.Bound) <= 1e-6,
		"α = 1: value %v, bound %v; vfe %v, %v", m.Training.ObjectiveValue, m.Certificate.Bound,
		vfe.Training.ObjectiveValue, vfe.Certificate.Bound)
	o.Method.Alpha = &half
	m = fit(t, homes(), o)
	if m.Posterior.Inducing() == 0 || !m.Certificate.Valid || !(m.Training.ObjectiveValue < vfe.Training.ObjectiveValue) {
		t.Errorf("α = ½: sparse %v, valid %v, value %v, vfe's %v", m.Posterior.Inducing() > 0, m.Certificate.Valid,
			m.Training.ObjectiveValue, vfe.Training.ObjectiveValue)
	}
	o.Method.Alpha, o.Method.AlphaBy = nil, "cv"
	for _, o.Method.Alphas = range [][]float64{nil, {0.5, 0.7}} {
		m = fit(t, homes(), o)
		if by := m.Findings.Of(finding.AlphaByCV); len(by) != 1 || !slices.Equal(by[0].Numbers[3:], o.Method.Grid()) {
			t.Errorf("%q, want %v", m.Findings, o.Method.Grid())
		}
	}
}

// TestEvaluateRenyi: the bounds of the evidence are ordered. With a negative α the value bounds the evidence from
// above, and there is no posterior to certify. Without α the value is the evidence's.
func TestEvaluateRenyi(t *testing.T) {
	p := paramsOf(fit(t, homes(), krigo.Options{
		Data:   krigo.Data{Target: "MEDV"},
		Kernel: krigo.Kernel{ARD: "off"},
		Method: krigo.Method{Name: "vfe", Inducing: 5},
	}))
	at := func(objective string, alpha *float64) *krigo.Evaluation {
		e := must.Get(krigo.Evaluate(t.Context(), homes(), p, krigo.Options{Data: krigo.Data{Target: "MEDV"},
			Method: krigo.Method{Name: objective, Alpha: alpha}}))(t)
		return e
	}
	half, below := 0.5, -0.5
	e := at("renyi", &half)
	b := e.EvidenceBounds
	last := math.Inf(1)
	for i, v := range []*float64{b.Upper, b.UpperNorm, b.Evidence, b.AlphaELBO, b.AlphaAtVariational, b.Jensen,
		b.Variational} {
		must.Hold(t, *v < last, "bound %d: %v after %v", i, *v, last)
		last = *v
	}
	if e.Value != -*b.AlphaELBO || e.Certificate == nil || len(e.Gradient.Inducing) != 5 {
		t.Errorf("value %v, certificate %v, gradient %+v", e.Value, e.Certificate, e.Gradient)
	}
	vfe := at("vfe", nil)
	if s := vfe.EvidenceBounds; math.Abs(*s.Variational-*b.Variational) > 1e-9 || !(*s.Upper > *b.Evidence) ||
		s.Evidence != nil {
		t.Errorf("vfe: %+v", s)
	}
	e = at("renyi", &below)
	if c := e.EvidenceBounds; !(*c.AlphaELBO > *b.Evidence) || c.Jensen != nil || e.Certificate != nil ||
		e.CertificateReason == "" {
		t.Errorf("α < 0: %+v, certificate %v %q", c, e.Certificate, e.CertificateReason)
	}
	if e = at("renyi", nil); e.Value != -*b.Evidence {
		t.Errorf("no α: %v, evidence %v", e.Value, *b.Evidence)
	}
	must.Hold(t, e.Jitter == 0 && vfe.Jitter == 0,
		"jitter %v, %v where none is needed", e.Jitter, vfe.Jitter)
	p.Inducing[1] = p.Inducing[0] // then the covariance matrix has no factor
	for _, name := range []string{"renyi", "vfe", "kl-pac", "svgp"} {
		if e := at(name, map[bool]*float64{true: &half}[name == "renyi"]); !(e.Jitter > 0) {
			t.Errorf("%s says nothing of its jitter", name)
		}
	}
	must.Hold(t, at("vfe", nil).Rounding == 0, "rounding is told where it doesn't matter")
	p.NoiseVariance = 1e-8
	p.Kernel.Variance = 100
	must.Hold(t, at("vfe", nil).Rounding > 0, "nothing is told of rounding")
}

// TestEvaluateRenyiByCG: the estimate by conjugate gradients equals the α-ELBO within its error, and certifies
// nothing.
func TestEvaluateRenyiByCG(t *testing.T) {
	p := paramsOf(fit(t, homes(), krigo.Options{
		Data:   krigo.Data{Target: "MEDV"},
		Kernel: krigo.Kernel{ARD: "off"},
		Method: krigo.Method{Name: "vfe", Inducing: 5},
	}))
	half, one := 0.5, 1.0
	o := krigo.Options{Data: krigo.Data{Target: "MEDV"}, Method: krigo.Method{Name: "renyi", Alpha: &half}}
	exact := must.Get(krigo.Evaluate(t.Context(), homes(), p, o))(t)
	o.Method.Solver = "cg"
	e := must.Get(krigo.Evaluate(t.Context(), homes(), p, o))(t)
	must.Hold(t, e.StandardError != nil &&
		math.Abs(e.Value-exact.Value) <= 5**e.StandardError+1e-3*math.Abs(exact.Value) &&
		e.Value != exact.Value, "%v ± %v, exact %v", e.Value, e.StandardError, exact.Value)
	if e.Certificate != nil || !strings.Contains(e.CertificateReason, "estimated") {
		t.Errorf("%+v, %q", e.Certificate, e.CertificateReason)
	}
	if b := e.EvidenceBounds; !(*b.Upper > *exact.EvidenceBounds.Evidence &&
		*b.Variational < *exact.EvidenceBounds.Evidence) {
		t.Errorf("bounds %+v", b)
	}
	if g, w := *e.Gradient.LogNoiseVariance, *exact.Gradient.LogNoiseVariance; math.Abs(g-w) > 0.3*math.Abs(w)+1 ||
		len(e.Gradient.Inducing) != 5 {
		t.Errorf("derivative by the noise %v, exact %v", g, w)
	}
	o.Method.Alpha = &one
	must.Refuse(krigo.Evaluate(t.Context(), homes(), p, o))(t, "0 ≤ α < 1", "α = 1")
}

// TestRenyiByCG: trained by conjugate gradients, renyi ends near the evidence's optimum, with the value's standard
// error and no certificate. Above 10,000 rows, a fit on all rows in every step uses conjugate gradients.
func TestRenyiByCG(t *testing.T) {
	base := krigo.Options{
		Data:   krigo.Data{Target: "MEDV"},
		Kernel: krigo.Kernel{ARD: "off"},
		Method: krigo.Method{Name: "evidence"},
	}
	optimum := fit(t, homes(), base).Training.ObjectiveValue
	o := base
	o.Method = krigo.Method{Name: "renyi", Inducing: 7, Solver: "cg"}
	m := fit(t, homes(), o)
	e := must.Get(krigo.Evaluate(t.Context(), homes(), &krigo.Params{Kernel: m.Posterior.Kernel.Spec(m.Posterior.Theta),
		NoiseVariance: m.Posterior.Noise}, base))(t)
	if se := m.Training.StandardError; se == nil || !(math.Abs(m.Training.ObjectiveValue-e.Value) < 4**se+0.01) ||
		!(e.Value < optimum+0.5) {
		t.Errorf("trained to %v ± %v, the evidence is %v there, %v at its optimum", m.Training.ObjectiveValue, se, e.Value,
			optimum)
	}
	if m.Certificate != nil || m.Posterior.Inducing() > 0 || m.Findings.Of(finding.Estimated) == nil {
		t.Errorf("certificate %v, sparse %v, %q", m.Certificate, m.Posterior.Inducing() > 0, m.Findings)
	}

	rows := make([][]float64, 11200)
	for i := range rows {
		rows[i] = []float64{float64(i % 997), math.Sin(float64(i))}
	}
	table := must.Get(dataset.FromRows([]string{"x", "y"}, rows))(t)
	one, half := 1.0, 0.5
	for _, c := range []struct {
		method krigo.Method
		want   string // finding or error; "": neither is about it
	}{
		{krigo.Method{Optimizer: "lbfgs"}, "conjugate gradients (cg): the α-ELBO"},
		{krigo.Method{Optimizer: "lbfgs", Alpha: &half}, "conjugate gradients (cg): the α-ELBO"},
		{krigo.Method{}, ""},
		{krigo.Method{Optimizer: "mma"}, "which lbfgs trains by"},
		{krigo.Method{Optimizer: "lbfgs", Alpha: &one}, "objective vfe"},
		{krigo.Method{Optimizer: "lbfgs", AlphaBy: "cv"}, "alphas 1"},
		{krigo.Method{Optimizer: "lbfgs", AlphaBy: "cv", Alphas: []float64{0, 0.5}}, "conjugate gradients (cg): the α-ELBO"},
	} {
		c.method.Name, c.method.Inducing, c.method.InducingInit = "renyi", 4, "random"
		said := ""
		plan, err := krigo.Decide(t.Context(), table, krigo.Options{Data: krigo.Data{Target: "y"}, Method: c.method})
		if err != nil {
			said = err.Error()
		} else {
			said = strings.Join(plan.Findings.Words(), "\n")
		}
		if !strings.Contains(said, c.want) || c.want == "" && strings.Contains(said, "conjugate") {
			t.Errorf("%+v: %q, want %q", c.method, said, c.want)
		}
	}
}

// TestBoundEvidence: a model's bounds belong to its parameters and the rows that trained it. BoundEvidence returns nil
// for other rows, and for models without inducing inputs.
func TestBoundEvidence(t *testing.T) {
	o := krigo.Options{
		Data:   krigo.Data{Target: "MEDV"},
		Kernel: krigo.Kernel{ARD: "off"},
		Method: krigo.Method{Name: "vfe", Inducing: 5},
		Run:    krigo.Run{Seed: 3},
	}
	m := fit(t, homes(), o)
	bounds := func(m *krigo.Model, table *dataset.Table) *krigo.EvidenceBounds {
		d := must.Get(table.Select(m.Inputs, m.Target))(t)
		b := must.Get(m.BoundEvidence(d))(t)
		return b
	}
	e := must.Get(krigo.Evaluate(t.Context(), homes(), paramsOf(m), o))(t)
	b, want := bounds(m, homes()), e.EvidenceBounds
	if math.Abs(*b.Upper-*want.Upper) > 1e-6 || math.Abs(*b.Variational-*want.Variational) > 1e-6 {
		t.Errorf("%v to %v, want %v to %v", *b.Variational, *b.Upper, *want.Variational, *want.Upper)
	}
	other := homes()
	other.Values[0]++
	if b := bounds(m, other); b != nil {
		t.Errorf("altered rows: %+v", b)
	}
	full := fit(t, homes(), krigo.Options{
		Data:   krigo.Data{Target: "MEDV"},
		Kernel: krigo.Kernel{ARD: "off"},
		Method: krigo.Method{Name: "evidence"},
	})
	if b := bounds(full, homes()); b != nil {
		t.Errorf("a full GP: %+v", b)
	}
	// If an informed prior is the posterior, the prior rows trained it.
	o.Prior.Kind = "informed"
	m = fit(t, homes(), o)
	if b := bounds(m, homes()); math.Abs(*b.Variational+m.Training.ObjectiveValue) > 1e-6 {
		t.Errorf("an informed prior: L_VI %v, trained to %v", *b.Variational, -m.Training.ObjectiveValue)
	}
}

// TestTheoryInducing: a smooth kernel on one input needs few inducing inputs. Their bound is as near to the evidence
// as the finding says.
func TestTheoryInducing(t *testing.T) {
	o := krigo.Options{
		Data: krigo.Data{Target: "y"},
		Method: krigo.Method{
			Name:         "vfe",
			InducingBy:   "theory",
			InducingInit: "kdpp",
			FixInducing:  true,
		},
	}
	m := fit(t, data.Snelson(), o)
	if n := m.Posterior.Support.Rows; n < 5 || n > 40 || m.Findings.Of(finding.InducingByTheory) == nil {
		t.Errorf("%d inducing inputs, %q", n, m.Findings)
	}
	p := paramsOf(m)
	p.Kernel.Variance, p.Kernel.Lengthscales, p.NoiseVariance = 1, []float64{1}, 0.3 // where training starts
	half := 0.5
	e := must.Get(krigo.Evaluate(t.Context(), data.Snelson(), p, krigo.Options{Data: krigo.Data{Target: "y"},
		Method: krigo.Method{Name: "renyi", Alpha: &half}}))(t)
	if b := e.EvidenceBounds; *b.Evidence-*b.Variational > 1 {
		t.Errorf("the bound lies %v nats under the evidence", *b.Evidence-*b.Variational)
	}
	o.Kernel.Expression = "matern52"
	if m = fit(t, data.Snelson(), o); m.Posterior.Support.Rows != 14 { // √180, rounded up
		t.Errorf("Matérn 5/2: %d inducing inputs", m.Posterior.Support.Rows)
	}
}

// TestRenyiSolvers: conjugate gradients or the nearest rows may solve the exact GP that renyi ends with. Here the
// predictions are the same, and there is no certificate.
func TestRenyiSolvers(t *testing.T) {
	o := krigo.Options{
		Data:   krigo.Data{Target: "MEDV", TestFraction: 0.2},
		Kernel: krigo.Kernel{ARD: "off"},
		Method: krigo.Method{Name: "renyi", Inducing: 5, Optimizer: "adam", Epochs: 30},
	}
	want := fit(t, homes(), o)
	for _, o.Method.Solver = range []string{"cg", "nearest"} {
		m := fit(t, homes(), o)
		if m.Certificate != nil || m.CertificateReason == "" {
			t.Errorf("%s: certificate %v, %q", o.Method.Solver, m.Certificate, m.CertificateReason)
		}
		if math.Abs(m.Test.MSE-want.Test.MSE) > 1e-4*want.Test.MSE {
			t.Errorf("%s: mean squared error %v, by Cholesky %v", o.Method.Solver, m.Test.MSE, want.Test.MSE)
		}
	}
	m := fit(t, data.Snelson(), krigo.Options{
		Data:   krigo.Data{Target: "y"},
		Method: krigo.Method{Name: "evidence", Solver: "nearest", Optimizer: "sgd", Epochs: 3},
	})
	must.Be(t, m.Posterior.Kind(), "nearest", "evidence on batches")
}
