package krigo_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/krigo-gp/krigo"
	"github.com/krigo-gp/krigo/data"
	"github.com/krigo-gp/krigo/dataset"
)

// TestRenyiAnneals: whatever the schedule and the optimiser, α ends at 0: the posterior is the
// exact one, its certificate that of evidence at the same parameters, and the value reached is
// about the evidence's optimum.
func TestRenyiAnneals(t *testing.T) {
	base := krigo.Options{Data: krigo.Data{Target: "MEDV"}, Kernel: krigo.Kernel{ARD: "off"},
		Method: krigo.Method{Name: "evidence"}}
	optimum := fit(t, homes(), base).Training.ObjectiveValue
	for name, o := range map[string]krigo.Options{
		"lbfgs":           {},
		"mma, geometric":  {Method: krigo.Method{Optimizer: "mma", Anneal: "geometric"}},
		"adam":            {Method: krigo.Method{Optimizer: "adam", Epochs: 500, Anneal: "cosine"}},
		"adam on batches": {Method: krigo.Method{Batch: 40, Epochs: 300, FixInducing: true}},
		"sgd":             {Method: krigo.Method{Optimizer: "sgd", Epochs: 2000, LearningRate: 0.5}},
	} {
		t.Run(name, func(t *testing.T) {
			o.Data.Target, o.Kernel.ARD, o.Method.Name, o.Method.Inducing = "MEDV", "off", "renyi", 7
			m := fit(t, homes(), o)
			// The paths of steps on batches, or of many small ones, may end at an optimum nearby.
			if v := m.Training.ObjectiveValue; !(v > optimum-1e-3) ||
				!(v < optimum+map[bool]float64{true: 6, false: 0.2}[o.Method.Epochs > 0]) {
				t.Errorf("−ln p(y) = %v, evidence's optimum %v", v, optimum)
			}
			if m.Posterior.Sparse() || m.ObservationNoise != m.Posterior.Noise {
				t.Errorf("sparse %v, observation noise %v, σ_n² %v", m.Posterior.Sparse(), m.ObservationNoise, m.Posterior.Noise)
			}
			e, err := krigo.Evaluate(homes(), &krigo.Params{Kernel: m.Posterior.Kernel.Spec(m.Posterior.Theta),
				NoiseVariance: m.Posterior.Noise}, base)
			if err != nil {
				t.Fatal(err)
			}
			if math.Abs(e.Certificate.Bound-m.Certificate.Bound) > 1e-9 {
				t.Errorf("bound %v, evidence's there %v", m.Certificate.Bound, e.Certificate.Bound)
			}
		})
	}
}

// TestRenyiFixed: a fixed α keeps its optimal q(U) as posterior; α = 1 is vfe.
func TestRenyiFixed(t *testing.T) {
	one, half := 1.0, 0.5
	base := krigo.Options{Data: krigo.Data{Target: "MEDV"}, Kernel: krigo.Kernel{ARD: "off"},
		Method: krigo.Method{Inducing: 7, FixInducing: true}}
	o := base
	o.Method.Name = "vfe"
	vfe := fit(t, homes(), o)
	o.Method.Name, o.Method.Alpha = "renyi", &one
	m := fit(t, homes(), o)
	if math.Abs(m.Training.ObjectiveValue-vfe.Training.ObjectiveValue) > 1e-6 ||
		math.Abs(m.Certificate.Bound-vfe.Certificate.Bound) > 1e-6 {
		t.Errorf("α = 1: value %v, bound %v; vfe %v, %v", m.Training.ObjectiveValue, m.Certificate.Bound,
			vfe.Training.ObjectiveValue, vfe.Certificate.Bound)
	}
	o.Method.Alpha = &half
	m = fit(t, homes(), o)
	if !m.Posterior.Sparse() || !m.Certificate.Valid || !(m.Training.ObjectiveValue < vfe.Training.ObjectiveValue) {
		t.Errorf("α = ½: sparse %v, valid %v, value %v, vfe's %v", m.Posterior.Sparse(), m.Certificate.Valid,
			m.Training.ObjectiveValue, vfe.Training.ObjectiveValue)
	}
	o.Method.Alpha, o.Method.AlphaBy = nil, "cv"
	for _, o.Method.Alphas = range [][]float64{nil, {0.5, 0.7}} {
		m = fit(t, homes(), o)
		if want := fmt.Sprintf("by cross-validation over %v", o.Method.Grid()); !strings.Contains(strings.Join(m.Notices,
			"\n"), want) {
			t.Errorf("notices %q, want %q", m.Notices, want)
		}
	}
}

// TestEvaluateRenyi: the sandwich is ordered; a negative α bounds from above and has no posterior
// to certify; without α the value is the evidence's.
func TestEvaluateRenyi(t *testing.T) {
	p := paramsOf(fit(t, homes(), krigo.Options{Data: krigo.Data{Target: "MEDV"}, Kernel: krigo.Kernel{ARD: "off"},
		Method: krigo.Method{Inducing: 5, Name: "vfe"}}))
	at := func(objective string, alpha *float64) *krigo.Evaluation {
		e, err := krigo.Evaluate(homes(), p, krigo.Options{Data: krigo.Data{Target: "MEDV"},
			Method: krigo.Method{Name: objective, Alpha: alpha}})
		if err != nil {
			t.Fatal(err)
		}
		return e
	}
	half, below := 0.5, -0.5
	e := at("renyi", &half)
	b := e.EvidenceBounds
	last := math.Inf(1)
	for i, v := range []*float64{b.Upper, b.UpperNorm, b.Evidence, b.AlphaELBO, b.AlphaAtVariational, b.Jensen,
		b.Variational} {
		if !(*v < last) {
			t.Errorf("bound %d: %v after %v", i, *v, last)
		}
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
	if e.Jitter != 0 || vfe.Jitter != 0 {
		t.Errorf("jitter %v, %v where none is needed", e.Jitter, vfe.Jitter)
	}
	p.Inducing[1] = p.Inducing[0] // of which the covariance matrix has no factor
	for _, name := range []string{"renyi", "vfe", "kl-pac", "svgp"} {
		if e := at(name, map[bool]*float64{true: &half}[name == "renyi"]); !(e.Jitter > 0) {
			t.Errorf("%s says nothing of its jitter", name)
		}
	}
}

// TestEvaluateRenyiByCG: the estimate by conjugate gradients is the α-ELBO within its error, and
// certifies nothing.
func TestEvaluateRenyiByCG(t *testing.T) {
	p := paramsOf(fit(t, homes(), krigo.Options{Data: krigo.Data{Target: "MEDV"}, Kernel: krigo.Kernel{ARD: "off"},
		Method: krigo.Method{Inducing: 5, Name: "vfe"}}))
	half, one := 0.5, 1.0
	o := krigo.Options{Data: krigo.Data{Target: "MEDV"}, Method: krigo.Method{Name: "renyi", Alpha: &half}}
	exact, err := krigo.Evaluate(homes(), p, o)
	if err != nil {
		t.Fatal(err)
	}
	o.Method.Solver = "cg"
	e, err := krigo.Evaluate(homes(), p, o)
	if err != nil {
		t.Fatal(err)
	}
	if e.StandardError == nil || math.Abs(e.Value-exact.Value) > 5**e.StandardError+1e-3*math.Abs(exact.Value) ||
		e.Value == exact.Value {
		t.Errorf("%v ± %v, exact %v", e.Value, e.StandardError, exact.Value)
	}
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
	if _, err := krigo.Evaluate(homes(), p, o); err == nil || !strings.Contains(err.Error(), "0 ≤ α < 1") {
		t.Errorf("α = 1: %v", err)
	}
}

// TestRenyiByCG: trained by conjugate gradients renyi ends about the evidence's optimum, with the value's standard
// error and no certificate; above 10,000 rows it is what all rows in every step mean.
func TestRenyiByCG(t *testing.T) {
	base := krigo.Options{Data: krigo.Data{Target: "MEDV"}, Kernel: krigo.Kernel{ARD: "off"},
		Method: krigo.Method{Name: "evidence"}}
	optimum := fit(t, homes(), base).Training.ObjectiveValue
	o := base
	o.Method = krigo.Method{Name: "renyi", Inducing: 7, Solver: "cg"}
	m := fit(t, homes(), o)
	e, err := krigo.Evaluate(homes(), &krigo.Params{Kernel: m.Posterior.Kernel.Spec(m.Posterior.Theta),
		NoiseVariance: m.Posterior.Noise}, base)
	if err != nil {
		t.Fatal(err)
	}
	if se := m.Training.StandardError; se == nil || !(math.Abs(m.Training.ObjectiveValue-e.Value) < 4**se+0.01) ||
		!(e.Value < optimum+0.5) {
		t.Errorf("trained to %v ± %v, the evidence is %v there, %v at its optimum", m.Training.ObjectiveValue, se, e.Value,
			optimum)
	}
	if m.Certificate != nil || m.Posterior.Sparse() || !strings.Contains(strings.Join(m.Notices, "\n"), "and no bound") {
		t.Errorf("certificate %v, sparse %v, notices %q", m.Certificate, m.Posterior.Sparse(), m.Notices)
	}

	rows := make([][]float64, 11200)
	for i := range rows {
		rows[i] = []float64{float64(i % 997), math.Sin(float64(i))}
	}
	table, err := dataset.FromRows([]string{"x", "y"}, rows)
	if err != nil {
		t.Fatal(err)
	}
	one, half := 1.0, 0.5
	for _, c := range []struct {
		method krigo.Method
		want   string // notice or error; "": neither is about it
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
		plan, err := krigo.Decide(table, krigo.Options{Data: krigo.Data{Target: "y"}, Method: c.method})
		if err != nil {
			said = err.Error()
		} else {
			said = strings.Join(plan.Notices, "\n")
		}
		if !strings.Contains(said, c.want) || c.want == "" && strings.Contains(said, "conjugate") {
			t.Errorf("%+v: %q, want %q", c.method, said, c.want)
		}
	}
}

// TestBoundEvidence: a model's bounds are those of its parameters and the rows it was trained on;
// there are none on other rows, or without inducing inputs.
func TestBoundEvidence(t *testing.T) {
	o := krigo.Options{Data: krigo.Data{Target: "MEDV"}, Kernel: krigo.Kernel{ARD: "off"},
		Method: krigo.Method{Inducing: 5, Name: "vfe"}, Run: krigo.Run{Seed: 3}}
	m := fit(t, homes(), o)
	bounds := func(m *krigo.Model, table *dataset.Table) *krigo.EvidenceBounds {
		d, err := table.Select(m.Inputs, m.Target)
		if err != nil {
			t.Fatal(err)
		}
		b, err := krigo.BoundEvidence(m, d)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	e, err := krigo.Evaluate(homes(), paramsOf(m), o)
	if err != nil {
		t.Fatal(err)
	}
	b, want := bounds(m, homes()), e.EvidenceBounds
	if math.Abs(*b.Upper-*want.Upper) > 1e-6 || math.Abs(*b.Variational-*want.Variational) > 1e-6 {
		t.Errorf("%v to %v, want %v to %v", *b.Variational, *b.Upper, *want.Variational, *want.Upper)
	}
	other := homes()
	other.Values[0]++
	if b := bounds(m, other); b != nil {
		t.Errorf("altered rows: %+v", b)
	}
	if b := bounds(fit(t, homes(), krigo.Options{Data: krigo.Data{Target: "MEDV"}, Method: krigo.Method{Name: "evidence"},
		Kernel: krigo.Kernel{ARD: "off"}}), homes()); b != nil {
		t.Errorf("a full GP: %+v", b)
	}
	// An informed prior that is the posterior was trained on the prior rows.
	o.Prior.Kind = "informed"
	m = fit(t, homes(), o)
	if b := bounds(m, homes()); math.Abs(*b.Variational+m.Training.ObjectiveValue) > 1e-6 {
		t.Errorf("an informed prior: L_VI %v, trained to %v", *b.Variational, -m.Training.ObjectiveValue)
	}
}

// TestEvaluateTheory: the theorems' figures are those of the formulas written anew, and what has a condition that fails
// isn't there but said not to be.
func TestEvaluateTheory(t *testing.T) {
	const n, m, l, v, s, delta, alpha = 120, 9, 0.8, 1.3, 0.2, 0.1, 0.4
	rng := rand.New(rand.NewPCG(51, 53))
	rows := make([][]float64, n)
	for i := range rows {
		x := rng.NormFloat64()
		rows[i] = []float64{x, math.Sin(3*x) + math.Sqrt(s)*rng.NormFloat64()}
	}
	table, err := dataset.FromRows([]string{"x", "y"}, rows)
	if err != nil {
		t.Fatal(err)
	}
	p := &krigo.Params{Kernel: se(v, l), NoiseVariance: s}
	for i := range m {
		p.Inducing = append(p.Inducing, []float64{rows[7*i][0]})
	}
	at := func(method string, a float64, p *krigo.Params) *krigo.Theory {
		o := krigo.Options{Data: krigo.Data{Target: "y", Scaling: dataset.Declared, Declared: identity(1)},
			Method: krigo.Method{Name: method}, Promise: krigo.Promise{Delta: delta}}
		if method == "renyi" {
			o.Method.Alpha = &a
		}
		e, err := krigo.Evaluate(table, p, o)
		if err != nil {
			t.Fatal(err)
		}
		return e.Theory
	}
	var mean, sd, square float64
	for _, r := range rows {
		mean += r[0] / n
		square += r[1] * r[1]
	}
	for _, r := range rows {
		sd += (r[0] - mean) * (r[0] - mean) / n
	}
	a, b := 1/(4*sd), 1/(2*l*l)
	c := math.Sqrt(a*a + 2*a*b)
	ratio := b / (a + b + c)
	tail := v * math.Sqrt(2*a/(a+b+c)) * math.Pow(ratio, m) / (1 - ratio)
	trace := (m + 1) * n * tail
	first := alpha * n / (2 * delta * (1 - alpha)) * math.Log(1+(1-alpha)*trace/(s*n))
	got := at("renyi", alpha, p)
	near := func(name string, got *float64, want float64) {
		t.Helper()
		if got == nil || !(math.Abs(*got-want) < 1e-9*math.Abs(want)) {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
	near("tail", got.Tail, tail)
	near("Theorem 1", got.Theorem1, first+alpha*trace/(2*delta*s))
	near("Theorem 2", got.Theorem2, first+alpha*trace/(2*delta*s)*square/s)
	if !(*got.Divergence > 0 && *got.Divergence < *got.Theorem1) {
		t.Errorf("D = %v, Theorem 1 has %v", *got.Divergence, *got.Theorem1)
	}
	eta := v * math.Sqrt(2*a) / (2 * math.Sqrt(a+b+c) * s * delta * (1 - ratio))
	if want := math.Ceil((4*math.Log(n) + math.Log(eta)) / math.Log(1/ratio)); got.Corollary.Inducing != want ||
		got.Corollary.Gamma != 1 {
		t.Errorf("the corollary has %+v, want M = %v", got.Corollary, want)
	}
	near("corollary", got.Corollary.Bound, 2*alpha*square/n/(s*n)+
		alpha*n/(2*delta*(1-alpha))*math.Log1p((1-alpha)*4*delta/(n*n*n)))
	near("a nat of Theorem 5", &got.Theorem5.PerNat, alpha/(n*(1-alpha)))
	near("Theorem 5 without any", &got.Theorem5.Constant, -math.Log(delta)/(n*(1-alpha)))

	// A truth gives Theorem 5 both of its sides.
	p.Truth = &krigo.Params{Kernel: se(1, 0.5), NoiseVariance: 0.3}
	logDet := func(weights ...float64) (sum float64) { // of a mixture of the model's covariance and the truth's
		k := mat.NewSymDense(n, nil)
		for i := range n {
			for j := range i + 1 {
				d := rows[i][0] - rows[j][0]
				c := weights[0]*v*math.Exp(-d*d/(2*l*l)) + weights[1]*math.Exp(-2*d*d)
				if i == j {
					c += weights[0]*s + weights[1]*0.3
				}
				k.SetSym(i, j, c)
			}
		}
		var chol mat.Cholesky
		chol.Factorize(k)
		return chol.LogDet()
	}
	got = at("renyi", alpha, p)
	near("divergence from the truth", got.Theorem5.Divergence,
		(logDet(1-alpha, alpha)-(1-alpha)*logDet(1, 0)-alpha*logDet(0, 1))/(2*(1-alpha)*n))
	near("Theorem 5", got.Theorem5.Bound, got.Theorem5.PerNat*(*got.Theorem5.Truth-got.Theorem5.AlphaELBO)+
		got.Theorem5.Constant)
	truth, err := krigo.Evaluate(table, p.Truth,
		krigo.Options{Data: krigo.Data{Target: "y", Scaling: dataset.Declared, Declared: identity(1)},
			Method: krigo.Method{Name: "evidence"}})
	if err != nil {
		t.Fatal(err)
	}
	near("ln p of the truth", got.Theorem5.Truth, -truth.Value)
	if _, err := krigo.Fit(t.Context(), table,
		krigo.Options{Data: krigo.Data{Target: "y"}, Run: krigo.Run{Init: p}}); err == nil ||
		!strings.Contains(err.Error(), "truth is for evaluate") {
		t.Errorf("a truth to start from: %v", err)
	}

	moved := *p
	moved.Inducing = slices.Clone(p.Inducing)
	moved.Inducing[3] = []float64{0.1234}
	matern := func(name string) *krigo.Params {
		q := *p
		q.Kernel.Name = name
		return &q
	}
	wide := *p
	wide.Kernel = se(v, 0.001)
	for _, c := range []struct {
		method                  string
		alpha                   float64
		params                  *krigo.Params
		theorems, enough, fifth bool
		unsaid                  string
	}{
		{"vfe", 1, p, true, true, false, "0 < α < 1"},
		{"renyi", 1, p, true, true, false, "0 < α < 1"},
		{"renyi", 0, p, false, false, false, "the evidence itself"},
		{"renyi", -0.5, p, false, false, false, "0 ≤ α ≤ 1"},
		{"renyi", alpha, &moved, false, true, true, "aren't rows"},
		{"renyi", alpha, &wide, true, false, true, "M + 1 ≤ N"},
		{"renyi", alpha, matern("matern52"), false, true, true, "up to a constant"},
		{"renyi", alpha, matern("matern32"), false, false, true, "no M ≤ N"},
		{"renyi", alpha, matern("matern12"), false, false, true, "no M ≤ N"},
	} {
		got := at(c.method, c.alpha, c.params)
		if (got.Theorem1 != nil) != c.theorems || (got.Theorem2 != nil) != c.theorems || (got.Corollary != nil) != c.enough ||
			(got.Theorem5 != nil) != c.fifth || !strings.Contains(strings.Join(got.Unsaid, "\n"), c.unsaid) {
			t.Errorf("%s, α = %v, %s: %+v", c.method, c.alpha, c.params.Kernel.Name, got)
		}
	}
	if got := at("vfe", 1, p); !(math.Abs(*got.Theorem1-(trace/s)/delta) < 1e-9**got.Theorem1) {
		t.Errorf("α = 1: %v, want %v", *got.Theorem1, trace/s/delta)
	}
	if got := at("fitc", 0, p); got != nil {
		t.Errorf("fitc: %+v", got)
	}
}

// TestTheoryInducing: a smooth kernel on one input needs few inducing inputs, whose bound is as near
// to the evidence as the notice says.
func TestTheoryInducing(t *testing.T) {
	o := krigo.Options{Data: krigo.Data{Target: "y"},
		Method: krigo.Method{Name: "vfe", InducingBy: "theory", InducingInit: "kdpp", FixInducing: true}}
	m := fit(t, data.Snelson(), o)
	if n := m.Posterior.Support.Rows; n < 5 || n > 40 ||
		!strings.Contains(strings.Join(m.Notices, "\n"), "drawn by a k-DPP and kept") {
		t.Errorf("%d inducing inputs, notices %q", n, m.Notices)
	}
	p := paramsOf(m)
	p.Kernel.Variance, p.Kernel.Lengthscales, p.NoiseVariance = 1, []float64{1}, 0.3 // the starting kernel
	half := 0.5
	e, err := krigo.Evaluate(data.Snelson(), p,
		krigo.Options{Data: krigo.Data{Target: "y"}, Method: krigo.Method{Name: "renyi", Alpha: &half}})
	if err != nil {
		t.Fatal(err)
	}
	if b := e.EvidenceBounds; *b.Evidence-*b.Variational > 1 {
		t.Errorf("the bound lies %v nats under the evidence", *b.Evidence-*b.Variational)
	}
	o.Kernel.Expression = "matern52"
	if m = fit(t, data.Snelson(), o); m.Posterior.Support.Rows != 14 { // √180, rounded up
		t.Errorf("Matérn 5/2: %d inducing inputs", m.Posterior.Support.Rows)
	}
}

// TestRenyiSolvers: the exact GP that renyi ends with may be solved by conjugate gradients or from
// the nearest rows, with the same predictions here, and then has no certificate.
func TestRenyiSolvers(t *testing.T) {
	o := krigo.Options{Data: krigo.Data{Target: "MEDV", TestFraction: 0.2}, Kernel: krigo.Kernel{ARD: "off"},
		Method: krigo.Method{Name: "renyi", Inducing: 5, Optimizer: "adam", Epochs: 30}}
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
	if m := fit(t, data.Snelson(), krigo.Options{Data: krigo.Data{Target: "y"},
		Method: krigo.Method{Name: "evidence", Optimizer: "sgd", Epochs: 3,
			Solver: "nearest"}}); m.Posterior.Kind() != "nearest" {
		t.Errorf("evidence on batches: posterior by %s", m.Posterior.Kind())
	}
}
