package krigo_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/krigo-gp/krigo"
	"github.com/krigo-gp/krigo/data"
	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/internal/linalg"
	"github.com/krigo-gp/krigo/internal/must"
	"github.com/krigo-gp/krigo/kernel"
	"github.com/krigo-gp/krigo/posterior"
)

// noiseTable returns a table whose inputs say nothing about the target.
func noiseTable(rows int) *dataset.Table {
	rng := rand.New(rand.NewPCG(11, 12))
	t := &dataset.Table{Source: "noise", Names: []string{"a", "b", "y"}}
	for range rows {
		t.Append([]string{fmt.Sprint(rng.NormFloat64()), fmt.Sprint(rng.NormFloat64()), fmt.Sprint(rng.NormFloat64())})
	}
	return t
}

// memorised returns the exact GP with almost no prior variance, short lengthscales and no noise. It reproduces every
// certified target, at a KL of tens of thousands of nats. It is also conditioned on two rows that nearly coincide,
// far from all others.
func memorised(t *testing.T, m *krigo.Model, table *dataset.Table) *posterior.Posterior {
	t.Helper()
	d := must.Get(m.Labelled(table))(t)
	rows := d.Scaled(rowsOf(t, m, table, dataset.Certified), m.Scaling)
	n, cols := rows.Dims()
	x, y := linalg.New(n+2, cols), make([]float64, n+2)
	must.Do(t, rows.Block(0, n, x.Data[:n*cols], y[:n]))
	x.Row(n)[0], x.Row(n + 1)[0] = 50, 50+1e-6
	q := must.Get(posterior.NewExact(posterior.Given{Kernel: m.Posterior.Kernel, Theta: []float64{-6, -6},
		Mean: m.Posterior.Mean, Noise: 1e-13, X: x, Y: y}))(t)
	if kl := q.KL(); kl < 1e4 {
		t.Fatalf("the true KL is %v", kl)
	}
	return q
}

// forgedExact has a smaller factor in the direction of the two rows than it should. tr(K C⁻¹) then gives any KL that
// the forger wants.
func forgedExact(q *posterior.Posterior) {
	last := q.Support.Rows - 1
	kl, s := q.KL(), q.Noise
	chol := q.Solution.(*posterior.Exact).Chol
	left := chol.At(last, last)
	explained := left*left - 2*s // 2 (k(x,x) − k(x,x'))
	chol.Set(last, last, math.Sqrt(explained/(2*(kl-25))))
}

// forgedSparse makes the same predictions with inducing inputs at the same rows. The weights at the two rows cancel
// in every prediction. A forged factor uses them to cancel μ.
func forgedSparse(q *posterior.Posterior) {
	const a = 1e13
	n := q.Support.Rows
	mu := make([]float64, n)
	weights, chol := q.Weights(), q.Solution.(*posterior.Exact).Chol
	for i, w := range weights[:n-2] {
		linalg.Axpy(w, chol.Row(i)[:i+1], mu[:i+1])
	}
	row := chol.Row(n - 1)
	for j := range row[:n-2] {
		row[j] = -mu[j] / a
	}
	row[n-1] = 1e-14
	weights[n-1] = a
	weights[n-2] = -a * row[n-2] / chol.At(n-2, n-2)
	b := linalg.New(n, n)
	b.AddDiagonal(1)
	b.Set(n-1, n-1, 1e4) // variance that the forged row leaves
	q.Solution = &posterior.Inducing{W: weights, Chol: chol, CholB: b}
}

// forgedPrior gives a sparse prior two inducing inputs that nearly coincide. The factor then changes the prior's
// variances at will.
func forgedPrior(q *posterior.Posterior) {
	k, mean := q.Kernel.(*kernel.Conditional), q.Mean.(*kernel.ConditionalMean)
	n, cols := k.Support.Rows, k.Support.Cols
	z := linalg.New(n+2, cols)
	copy(z.Data, k.Support.Data)
	z.Row(n)[0], z.Row(n + 1)[0] = 1e3, 1e3*(1+1e-9)
	grown := func(l linalg.Matrix) linalg.Matrix {
		g := linalg.New(n+2, n+2)
		g.View(0, n, 0, n).CopyFrom(l)
		g.Set(n, n, 1)
		g.Set(n+1, n+1, 1)
		return g
	}
	v := make([]float64, 1)
	k.Kernel.Diag(k.Theta, z.RowRange(n, n+1), v)
	l := grown(k.Chol)
	l.Set(n, n, math.Sqrt(v[0]))
	l.Set(n+1, n, math.Sqrt(v[0]))
	l.Set(n+1, n+1, 1e-12)
	for j := range n {
		l.Set(n+1, j, 1e-11) // divided by 1e-12, this changes all variances
	}
	k.Support, k.Chol, k.CholB = z, l, grown(k.CholB)
	mean.Support, mean.Weights = z, append(mean.Weights, 0, 0)
}

// TestCertifyRefusesForgedFactors: factors that differ from honest ones by 1e-9 of the largest variance could certify
// that pure noise is predicted, or anything else. certify therefore makes factors anew.
func TestCertifyRefusesForgedFactors(t *testing.T) {
	table := noiseTable(200)
	grid := cheap(krigo.Options{
		Kernel: krigo.Kernel{Expression: "se"},
		Method: krigo.Method{Name: "evidence"},
		Prior:  krigo.Prior{Kind: "grid"},
	})
	for name, c := range map[string]struct {
		o     krigo.Options
		forge func(m *krigo.Model)
	}{
		"exact": {grid, func(m *krigo.Model) {
			m.Posterior = memorised(t, m, table)
			forgedExact(m.Posterior)
		}},
		"sparse": {grid, func(m *krigo.Model) {
			m.Posterior = memorised(t, m, table)
			forgedSparse(m.Posterior)
		}},
		"prior": {krigo.Options{
			Kernel: krigo.Kernel{Expression: "se", ARD: "off"},
			Method: krigo.Method{Name: "vfe", Inducing: 6, Epochs: 20},
			Prior:  krigo.Prior{Kind: "informed", Learn: true},
		},
			func(m *krigo.Model) {
				forgedPrior(m.Posterior)
			}},
	} {
		t.Run(name, func(t *testing.T) {
			m := fit(t, table, c.o)
			c.forge(m)
			r, err := certify(m, table)
			if err == nil {
				t.Errorf("certified: bound %.3f, risk %.3f, KL %.2f", r.Certificate.Bound, r.Certificate.EmpiricalRisk,
					r.Certificate.KL)
			} else if !strings.Contains(err.Error(), "factor") || !strings.Contains(err.Error(), "no certificate") {
				t.Error(err)
			}
		})
	}
}

// TestForgedByRounding: posteriors whose KL or kernel would be pure rounding error are refused, or pay for the error.
func TestForgedByRounding(t *testing.T) {
	table := noiseTable(120)
	exact := func() *krigo.Model {
		return trained(t, table, cheap(krigo.Options{
			Method: krigo.Method{Name: "evidence", Epochs: 3},
			Prior:  krigo.Prior{Kind: "grid"},
		}))
	}
	rejects := func(name string, m *krigo.Model, want string) {
		t.Helper()
		must.Refuse(certify(m, table))(t, want, name)
	}
	condition := func(m *krigo.Model, theta []float64, noise float64) *posterior.Posterior {
		d := must.Get(m.Labelled(table))(t)
		roles := must.Get(m.RolesOf(d))(t)
		rows := d.ScaledOf(roles, dataset.Certified, m.Scaling)
		n, cols := rows.Dims()
		x, y := linalg.New(n, cols), make([]float64, n)
		must.Do(t, rows.Block(0, n, x.Data, y))
		q := must.Get(posterior.NewExact(posterior.Given{Kernel: m.Posterior.Kernel, Theta: theta, Mean: m.Posterior.Mean,
			Noise: noise, X: x, Y: y}))(t)
		return q
	}

	// K + sI with s below the rounding of K makes ln|K + sI| and wᵀKw arbitrary.
	m := exact()
	m.Posterior = condition(m, []float64{0, 6}, 2e-12)
	rejects("next to no noise", m, "no more than rounding")

	// Weights that cancel hardly move a prediction, and the KL would move with ‖w‖².
	m = exact()
	m.Posterior = condition(m, []float64{0, 6}, 1e-8)
	before := m.Posterior.KLRounding()
	for i := range m.Posterior.Weights() {
		m.Posterior.Weights()[i] += 1e10 * math.Pow(-1, float64(i))
	}
	if after := m.Posterior.KLRounding(); after < 1e3*before {
		t.Errorf("weights of ten thousand million: rounding takes %v nats, before %v", after, before)
	}
	rejects("weights that cancel", m, "wasn't conditioned")

	// An inducing input far away makes rows lose digits, and the forger chooses which digits stay.
	m = trained(t, table, krigo.Options{
		Kernel: krigo.Kernel{ARD: "off"},
		Method: krigo.Method{Name: "vfe", Inducing: 6, Epochs: 3},
	})
	m.Posterior.Support.Row(0)[0] = 1e12
	rejects("a far inducing input", m, "scaled units")
}

// TestAlteredFiles: a model file with one altered place in its header, under a checksum that fits, is refused by Load
// or Certify. laboratory/campaign alters files at random.
func TestAlteredFiles(t *testing.T) {
	holes := withColumn(pick(data.Snelson(), every(0, 1, 120)), "side",
		func(i int) string { return []string{"left", "right", "", "7"}[i%4] })
	for i := 0; i < holes.Rows; i += 7 {
		holes.Values[3*i+1] = math.NaN()
	}
	m := fit(t, holes, cheap(krigo.Options{
		Data:    krigo.Data{Target: "y", Categorical: []string{"side"}, Missing: "mean"},
		Method:  krigo.Method{Name: "vfe", Inducing: 5},
		Prior:   krigo.Prior{Kind: "informed", Share: 0.4, Temper: []float64{1, 0.3}},
		Promise: krigo.Promise{MeanBound: "both", Calibration: 0.25},
	}))
	var file bytes.Buffer
	must.Do(t, m.Write(&file))
	for _, c := range []struct{ at, value, want string }{
		{"targets_sha256", `"00"`, "targets"}, {"certified_rows_sha256", `"00"`, "certified rows"},
		{"split", `"last"`, "SHA-256"}, {"split", `"position"`, "roles"}, {"seed", `7`, "SHA-256"},
		{"target", `"x"`, "the same name"},
		{"rows_by_role", `[0,29,37,54]`, "rows"}, {"rows_by_role", `[0,30]`, "contradict one another"},
		{"scaling.target_mean", `0`, "scaling"}, {"scaling.input_mean", `[0]`, "scaling"},
		{"prior.temper", `0.5`, "temper"}, {"nearest", `-1`, "nearest"},
		{"conformal.rows", `31`, "interval"}, {"conformal.half_width", `1`, "interval"},
		{"encoding.columns", `[{"categories":["7","left","right"],"name":"side"},{"categories":["a"],"name":"x"}]`, "x"},
		{"terms.fixed", `false`, "prior"}, {"terms.informed", `false`, "informed"},
		{"terms.elsewhere", `true`, "krigo didn't make"},
		{"terms.route", `"x"`, "mean-bound"}, {"terms.params", `3`, "grid"}, {"terms.family", `"x"`, "bound"},
		{"terms.loss", `{"Kind":"band","Above":0,"Below":-1}`, "loss"}, {"terms.delta", `2`, "delta"},
		{"certificate.bound", `0.1`, "bound"}, {"certificate", `null`, "certificate"}, {"kernel.parts", `[]`, "kernel"},
		{"kernel.parts", `[{"name":"se","variance":1,"lengthscales":[1,2]}]`, "lengthscales"},
		{"kernel.parts", `[{"name":"se","variance":1,"shape":2,"lengthscales":[1]}]`, "shape"},
	} {
		h, arrays := opened(file.Bytes())
		in, names := h, strings.Split(c.at, ".")
		for _, name := range names[:len(names)-1] {
			in = in[name].(map[string]any)
		}
		in[names[len(names)-1]] = parsed([]byte(c.value))
		head := must.Get(json.Marshal(h))(t)
		m, err := krigo.Read(bytes.NewReader(closed(file.Bytes(), head, arrays)))
		if err == nil {
			var r *krigo.Recertification
			if r, err = certify(m, holes); err == nil && !r.Matches {
				err = errors.New(r.Differs)
			}
		}
		must.Fail(t, err, c.want, c.at, c.value)
	}
}
