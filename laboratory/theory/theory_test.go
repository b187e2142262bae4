package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/krigo-gp/krigo"
	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/internal/must"
	"github.com/krigo-gp/krigo/kernel"
)

// TestTheory shows that the theorems' figures agree with the formulas, which the test writes out again. A figure whose
// condition fails is missing, and Unsaid names it.
func TestTheory(t *testing.T) {
	const n, m, l, v, s, delta, alpha = 120, 9, 0.8, 1.3, 0.2, 0.1, 0.4
	rng := rand.New(rand.NewPCG(51, 53))
	rows := make([][]float64, n)
	for i := range rows {
		x := rng.NormFloat64()
		rows[i] = []float64{x, math.Sin(3*x) + math.Sqrt(s)*rng.NormFloat64()}
	}
	table := must.Get(dataset.FromRows([]string{"x", "y"}, rows))(t)
	se := func(variance, lengthscale float64) kernel.Spec {
		return kernel.Spec{Name: "se", Variance: variance, Lengthscales: []float64{lengthscale}}
	}
	p := &krigo.Params{Kernel: se(v, l), NoiseVariance: s}
	for i := range m {
		p.Inducing = append(p.Inducing, []float64{rows[7*i][0]})
	}
	var truth *krigo.Params
	at := func(method string, a float64, p *krigo.Params) *Theory {
		got := must.Get(question{table: table, target: "y", method: method, alpha: &a, delta: delta, params: p, truth: truth,
			scaling: func(d *dataset.Data) (dataset.Scaling, error) { return dataset.Identity(d.Cols), nil },
		}.theory(t.Context()))(t)
		return got
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
		must.Hold(t, got != nil && math.Abs(*got-want) < 1e-9*math.Abs(want),
			"%s: %v, want %v", name, got, want)
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

	// With a truth, both sides of Theorem 5 are known.
	truth = &krigo.Params{Kernel: se(1, 0.5), NoiseVariance: 0.3}
	logDet := func(weights ...float64) (sum float64) { // of a weighted sum of the model's and the truth's covariances
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
	identity := dataset.Identity(1)
	evidence := must.Get(krigo.Evaluate(t.Context(), table, truth,
		krigo.Options{Data: krigo.Data{Target: "y", Scaling: dataset.Declared, Declared: &identity},
			Method: krigo.Method{Name: "evidence"}}))(t)
	near("ln p of the truth", got.Theorem5.Truth, -evidence.Value)

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
		{"renyi", 0, p, false, false, false, "then the evidence"},
		{"renyi", -0.5, p, false, false, false, "0 ≤ α ≤ 1"},
		{"renyi", alpha, &moved, false, true, true, "aren't rows"},
		{"renyi", alpha, &wide, true, false, true, "M + 1 ≤ N"},
		{"renyi", alpha, matern("matern52"), false, true, true, "only up to a constant"},
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
	must.Refuse((question{method: "fitc"}).theory(t.Context()))(t, "", "fitc was accepted")
}

// TestCommand runs the command on files. In standardised units, Theorem 5's constant agrees with the formula.
func TestCommand(t *testing.T) {
	folder := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(folder, name)
		must.Do(t, os.WriteFile(path, []byte(text), 0o600))
		return path
	}
	rows := "x,y\n"
	for i := range 40 {
		rows += fmt.Sprintf("%d,%v\n", i, math.Sin(float64(i)/4))
	}
	table := write("t.csv", rows)
	params := write("p.json", `{"kernel": {"name": "se", "variance": 1, "lengthscales": [0.5]}, "noise_variance": 0.1,
		"mean": {"constant": 0.1}, "inducing": [[-1], [0], [1]]}`)
	var out bytes.Buffer
	must.Do(t, run(t.Context(), []string{table, "--target", "y", "--params", params, "--alpha", "0.3"}, &out))
	var got Theory
	if err := json.Unmarshal(out.Bytes(), &got); err != nil || got.Theorem5 == nil ||
		math.Abs(got.Theorem5.Constant-math.Log(100)/(40*0.7)) > 1e-12 || !(*got.Divergence > 0) {
		t.Errorf("%s, %v", &out, err)
	}
	must.Fail(t, run(t.Context(), []string{table, "--target", "y"}, &out), "", "no parameters were accepted")
}
