package krigo_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/krigo-gp/krigo"
	"github.com/krigo-gp/krigo/data"
	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/finding"
	"github.com/krigo-gp/krigo/internal/must"
	"github.com/krigo-gp/krigo/kernel"
	"github.com/krigo-gp/krigo/memory"
	"github.com/krigo-gp/krigo/method"
	"github.com/krigo-gp/krigo/model"
	"github.com/krigo-gp/krigo/pacbayes"
)

// pick returns a table of the given rows and columns. Without names it takes all columns.
func pick(t *dataset.Table, rows []int, names ...string) *dataset.Table {
	if len(names) == 0 {
		names = t.Names
	}
	out := &dataset.Table{Source: t.Source, Names: slices.Clone(names), Rows: len(rows)}
	for _, i := range rows {
		for _, name := range names {
			j, ok := t.Column(name)
			if !ok {
				panic("no column " + name)
			}
			out.Values = append(out.Values, t.Values[i*len(t.Names)+j])
		}
		out.Lines = append(out.Lines, t.Lines[i])
	}
	return out
}

// every returns every k-th row, starting at row first.
func every(first, k, rows int) (out []int) {
	for i := first; i < rows; i += k {
		out = append(out, i)
	}
	return out
}

// boston returns every sixth row of the Boston data: 85 rows, 13 inputs.
func boston() *dataset.Table { return pick(data.Boston(), every(0, 6, 506)) }

// homes returns the same rows with three inputs.
func homes() *dataset.Table {
	return pick(data.Boston(), every(0, 6, 506), "RM", "LSTAT", "DIS", "MEDV")
}

// snelson returns every third row of Snelson's data: 67 rows, one input.
func snelson() *dataset.Table { return pick(data.Snelson(), every(0, 3, 200)) }

// fit fits a model, by kl-pac if o names no objective.
func fit(t *testing.T, table *dataset.Table, o krigo.Options) *krigo.Model {
	t.Helper()
	if o.Method.Name == "" {
		o.Method.Name = "kl-pac"
	}
	return trained(t, table, o)
}

// file returns the model's file, without the seconds that training took.
func file(t *testing.T, m *krigo.Model) string {
	t.Helper()
	c := *m
	c.Training.Seconds = 0
	path := filepath.Join(t.TempDir(), "m.krigo")
	must.Do(t, c.Save(path))
	raw := must.Get(os.ReadFile(path))(t)
	return string(raw)
}

func near(t *testing.T, what string, got, want, tol float64) {
	t.Helper()
	must.Hold(t, math.Abs(got-want) <= tol*math.Max(1, math.Abs(want)),
		"%s: got %.12g, want %.12g", what, got, want)
}

// TestFitCertificate fits with every objective, loss, kernel and mean, and checks each certificate against its own
// fields. The test counts T and the choices by hand.
func TestFitCertificate(t *testing.T) {
	auto := -1 // 14 if ARD won, else 2
	for _, c := range []struct {
		name    string
		table   *dataset.Table
		o       krigo.Options
		params  int // T
		choices float64
	}{
		{"defaults", boston(), krigo.Options{}, auto, math.Ln2},
		{"sqrt-pac", boston(), krigo.Options{
			Method: krigo.Method{Name: "sqrt-pac"},
			Run:    krigo.Run{Seed: 3, Restarts: 1},
		}, auto, math.Ln2},
		{"evidence", boston(), krigo.Options{
			Method: krigo.Method{Name: "evidence"},
			Run:    krigo.Run{Restarts: 1},
		}, auto, math.Ln2},
		{"ard on", boston(), krigo.Options{
			Kernel: krigo.Kernel{Expression: "matern32", ARD: "on"},
			Run:    krigo.Run{Restarts: 1},
		}, 14, 0},
		{"ard off", boston(), cheap(krigo.Options{
			Kernel:  krigo.Kernel{Expression: "matern52"},
			Promise: krigo.Promise{Delta: 0.1},
		}), 2, 0},
		{"one input", snelson(), krigo.Options{Promise: krigo.Promise{Epsilon: 1}}, 2, 0},
		{"nothing for ard", homes(), krigo.Options{
			Kernel: krigo.Kernel{Expression: "linear"},
			Run:    krigo.Run{Restarts: 1},
		}, 1, 0},
		{"sum", homes(), cheap(krigo.Options{Kernel: krigo.Kernel{Expression: "se+linear"}}), 3, 0},
		{"sum, ard", homes(), krigo.Options{
			Kernel: krigo.Kernel{Expression: "se+linear", ARD: "on"},
			Method: krigo.Method{Name: "evidence"},
			Run:    krigo.Run{Restarts: 1},
		}, 5, 0},
		{"product in a sum", homes(), cheap(krigo.Options{
			Kernel: krigo.Kernel{Expression: "se*matern12+constant"},
		}), 5, 0},
		{"rq", homes(), cheap(krigo.Options{Kernel: krigo.Kernel{Expression: "rq"}}), 3, 0},
		{"periodic", snelson(), krigo.Options{
			Kernel: krigo.Kernel{Expression: "periodic"},
			Run:    krigo.Run{Restarts: 1},
		}, 3, 0},
		{"white", homes(), cheap(krigo.Options{
			Kernel: krigo.Kernel{Expression: "se+white"},
		}), 3, 0},
		{"constant mean", homes(), cheap(krigo.Options{
			Kernel: krigo.Kernel{Mean: "constant"},
		}), 3, 0},
		{"linear mean", homes(), cheap(krigo.Options{
			Kernel: krigo.Kernel{Mean: "linear"},
		}), 2 + 4, 0},
		{"clipped-square", homes(), cheap(krigo.Options{
			Promise: krigo.Promise{Loss: "clipped-square"},
		}), 2, 0},
		{"gaussian", homes(), cheap(krigo.Options{Promise: krigo.Promise{Loss: "gaussian"}}), 2, 0},
		{"relative", homes(), cheap(krigo.Options{
			Promise: krigo.Promise{Loss: "relative", Epsilon: 0.2},
		}), 2, 0},
		{"clipped-absolute", homes(), cheap(krigo.Options{
			Promise: krigo.Promise{Loss: "clipped-absolute"},
		}), 2, 0},
		{"asymmetric", homes(), cheap(krigo.Options{
			Promise: krigo.Promise{Loss: "asymmetric", Epsilon: 0.4, EpsilonAbove: 0.9},
		}), 2, 0},
		{"test rows", homes(), cheap(krigo.Options{Data: krigo.Data{TestFraction: 0.25}}), 2, 0},
		{"another grid", homes(), krigo.Options{Prior: krigo.Prior{Grid: pacbayes.Grid{L: 4, Digits: 1}},
			Kernel: krigo.Kernel{ARD: "off"}, Run: krigo.Run{Restarts: 1}}, 2, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := fit(t, c.table, c.o)
			cert := m.Certificate
			must.Need(t, cert != nil, "no certificate: %s", m.CertificateReason)

			// Roles add up, and the certificate counts only the certified rows.
			counts := m.Counts
			test := int(math.Ceil(c.o.Data.TestFraction * float64(c.table.Rows)))
			if counts[dataset.Test] != test || counts[dataset.Prior] != 20 || counts[dataset.Certified] != c.table.Rows-test-20 {
				t.Errorf("roles %v of %d rows", counts, c.table.Rows)
			}
			must.Hold(t, counts.Sum() == c.table.Rows && cert.Rows == counts[dataset.Certified] &&
				cert.PriorRows == 20 && m.Posterior.Support.Rows == cert.Rows,
				"certificate of %d rows, %d prior rows, %d support points", cert.Rows,
				cert.PriorRows, m.Posterior.Support.Rows)

			// The penalty.
			params := c.params
			if params == auto {
				params = 2
				if len(m.Posterior.Kernel.Spec(m.Posterior.Theta).Lengthscales) == 13 {
					params = 14
				}
			}
			points, step, delta := 1201., 0.01, 0.01
			if c.o.Prior.Grid.L != 0 {
				points, step = 81, 0.1
			}
			if c.o.Promise.Delta != 0 {
				delta = c.o.Promise.Delta
			}
			near(t, "grid_penalty", cert.GridPenalty, float64(params)*math.Log(points), 1e-13)
			near(t, "choices_penalty", cert.ChoicesPenalty, c.choices, 0)
			near(t, "delta", cert.Delta, delta, 0)

			// The bound.
			n := float64(cert.Rows)
			eps := (cert.KL + cert.GridPenalty + cert.ChoicesPenalty + math.Log(2*math.Sqrt(n)/delta)) / n
			near(t, "bound", cert.Bound, pacbayes.KLInverse(cert.EmpiricalRisk, eps), 2e-12)
			near(t, "bound_sqrt", cert.BoundSqrt, cert.EmpiricalRisk+math.Sqrt(eps/2), 2e-12)
			near(t, "mean_bound", cert.MeanBound, math.Min(1, 2*cert.Bound), 0)
			if !(cert.Bound > cert.EmpiricalRisk && cert.Bound <= 1) || !(cert.KL > 0) {
				t.Errorf("risk %v, bound %v, KL %v", cert.EmpiricalRisk, cert.Bound, cert.KL)
			}
			if !cert.Valid || cert.Label != "certificate" || cert.Scaling != "prior-rows" || cert.Prior != "grid" {
				t.Errorf("valid %v, label %q, scaling %q, prior %q", cert.Valid, cert.Label, cert.Scaling, cert.Prior)
			}

			// Training got near what is certified.
			switch m.Objective {
			case "kl-pac":
				near(t, "objective", m.Training.ObjectiveValue, cert.Bound, 0.02)
			case "sqrt-pac":
				near(t, "objective", m.Training.ObjectiveValue, cert.BoundSqrt, 0.02)
			}

			// Parameters lie on the grid.
			for i, v := range append(slices.Clone(m.Posterior.Theta), m.Posterior.Beta...) {
				if math.Abs(v/step-math.Round(v/step)) > 1e-9 || math.Abs(v) > step*(points-1)/2 {
					t.Errorf("parameter %d is %v, off the grid", i, v)
				}
			}

			// Units of ε: the standard deviation of the prior rows, computed here.
			d := must.Get(c.table.Regression(m.Target))(t)
			prior := must.Get(d.Targets(rowsOf(t, m, c.table, dataset.Prior)))(t)
			var mean, square float64
			for _, y := range prior {
				mean += y / 20
			}
			for _, y := range prior {
				square += (y - mean) * (y - mean) / 20
			}
			want := c.o.Promise.Epsilon
			if want == 0 {
				want = 0.6
			}
			near(t, "epsilon", cert.Epsilon, want, 0)
			if cert.Loss != pacbayes.Relative && cert.Loss != pacbayes.ClippedAbsolute {
				want *= math.Sqrt(square)
			}
			near(t, "epsilon_raw", cert.EpsilonRaw, want, 1e-12)
			near(t, "epsilon_above", cert.EpsilonAbove, c.o.Promise.EpsilonAbove, 0)
		})
	}
}

// TestSameSeedSameBits: a fit depends only on data, options and seed.
func TestSameSeedSameBits(t *testing.T) {
	o := krigo.Options{Data: krigo.Data{TestFraction: 0.1}, Run: krigo.Run{Seed: 11}}
	want := file(t, fit(t, homes(), o))
	must.Hold(t, file(t, fit(t, homes(), o)) == want, "a second fit differs")
	for _, cores := range []int{1, 3} {
		before := runtime.GOMAXPROCS(cores)
		got := file(t, fit(t, homes(), o))
		runtime.GOMAXPROCS(before)
		must.Hold(t, got == want, "a fit on %d cores differs", cores)
	}
	o.Run.Seed = 12
	must.Hold(t, file(t, fit(t, homes(), o)) != want, "another seed gives the same model")
}

func TestAllRowsIsHeuristic(t *testing.T) {
	m := fit(t, homes(), cheap(krigo.Options{
		Data: krigo.Data{Scaling: "all-rows", TestFraction: 0.2},
	}))
	c := m.Certificate
	must.Hold(t, !c.Valid && c.Label == "bound (heuristic: scaled with training statistics)" &&
		c.Scaling == "all-rows" && c.PriorRows == 0 && c.Rows == 68, "%+v", c)
	if !strings.Contains(strings.Join(c.Conditions, "\n"), "NOT MET: scaling constants were taken from all rows") {
		t.Errorf("conditions %q", c.Conditions)
	}
}

func TestDeclaredScaling(t *testing.T) {
	s := dataset.Scaling{InputMean: []float64{6, 12, 4}, InputScale: []float64{1, 7, 2}, TargetMean: 20, TargetScale: 8,
		Source: dataset.Declared}
	m := fit(t, homes(), krigo.Options{Data: krigo.Data{Scaling: "declared", Declared: &s},
		Kernel: krigo.Kernel{ARD: "off"}, Run: krigo.Run{Restarts: 1}})
	c := m.Certificate
	if !c.Valid || c.PriorRows != 0 || c.Rows != 85 || m.Counts[dataset.Prior] != 0 || c.Scaling != "declared" {
		t.Errorf("%+v", c)
	}
	near(t, "epsilon_raw", c.EpsilonRaw, 0.6*8, 1e-14)
	near(t, "first input", m.Posterior.Support.At(0, 1),
		(homes().Values[4*rowsOf(t, m, homes(), dataset.Certified)[0]+1]-12)/7, 1e-14)
	short := dataset.Identity(2)
	var wrong *krigo.UsageError
	if _, err := krigo.Fit(context.Background(), homes(),
		krigo.Options{Data: krigo.Data{Target: "MEDV", Scaling: "declared", Declared: &short}}); !errors.As(err, &wrong) {
		t.Errorf("constants for two of three inputs: %v", err)
	}
}

func TestEpsilonUnits(t *testing.T) {
	sd := fit(t, homes(), cheap(krigo.Options{Promise: krigo.Promise{Epsilon: 0.7}}))
	raw := fit(t, homes(), krigo.Options{Promise: krigo.Promise{Epsilon: 0.7 * sd.Scaling.TargetScale, Units: "raw"},
		Kernel: krigo.Kernel{ARD: "off"}, Run: krigo.Run{Restarts: 1}})
	near(t, "epsilon", raw.Certificate.Epsilon, 0.7, 1e-14)
	near(t, "epsilon_raw", raw.Certificate.EpsilonRaw, sd.Certificate.EpsilonRaw, 1e-14)
	near(t, "bound", raw.Certificate.Bound, sd.Certificate.Bound, 1e-9)

	// The width above is scaled like the width below. A relative ε has no unit.
	both := fit(t, homes(), cheap(krigo.Options{
		Promise: krigo.Promise{Loss: "asymmetric", Epsilon: 4, EpsilonAbove: 9, Units: "raw"},
	}))
	near(t, "below", both.Certificate.Epsilon, 4/both.Scaling.TargetScale, 1e-14)
	near(t, "above", both.Certificate.EpsilonAbove, 9/both.Scaling.TargetScale, 1e-14)
	near(t, "raw", both.Certificate.EpsilonRaw, 4, 0)
	relative := fit(t, homes(), cheap(krigo.Options{
		Promise: krigo.Promise{Loss: "relative", Epsilon: 0.3, Units: "raw"},
	}))
	near(t, "relative", relative.Certificate.Epsilon, 0.3, 0)
	near(t, "relative, raw", relative.Certificate.EpsilonRaw, 0.3, 0)
}

func TestTooFewRowsForACertificate(t *testing.T) {
	nineteen := pick(homes(), every(0, 1, 39)) // minus 20 prior rows
	m := fit(t, nineteen, krigo.Options{
		Prior: krigo.Prior{Kind: "grid"},
		Run:   krigo.Run{Restarts: 1},
	})
	if m.Certificate != nil || !strings.Contains(m.CertificateReason, "fewer than 20") {
		t.Errorf("19 certified rows: %+v, %q", m.Certificate, m.CertificateReason)
	}
	var none *krigo.NoCertificate
	if _, err := certify(m, nineteen); !errors.As(err, &none) || !strings.Contains(err.Error(), "fewer than 20") {
		t.Errorf("certify: %v", err)
	}
	if _, err := m.Predict(t.Context(), nineteen, krigo.PredictOptions{}); err != nil {
		t.Errorf("predict: %v", err)
	}
	m = fit(t, pick(homes(), every(0, 1, 40)), krigo.Options{
		Prior: krigo.Prior{Kind: "grid"},
		Run:   krigo.Run{Restarts: 1},
	})
	must.Hold(t, m.Certificate != nil && m.Certificate.Rows == 20,
		"20 certified rows: %+v, %q", m.Certificate, m.CertificateReason)
	for rows, ok := range map[int]bool{2: false, 21: false, 22: true} {
		_, err := krigo.Fit(context.Background(), pick(homes(), every(0, 1, rows)), krigo.Options{
			Data:  krigo.Data{Target: "MEDV"},
			Prior: krigo.Prior{Kind: "grid"},
			Run:   krigo.Run{Restarts: 1},
		})
		if (err == nil) != ok || err != nil && !strings.Contains(err.Error(), "20 for the scaling") {
			t.Errorf("%d rows: %v", rows, err)
		}
	}
}

// TestUnits: other units and origins of the columns change nothing that is certified. (An input that is constant on
// the prior rows keeps its unit. Boston has such an input, and homes doesn't.)
func TestUnits(t *testing.T) {
	for _, c := range []struct {
		table *dataset.Table
		unit  float64
	}{{boston(), 1}, {homes(), 0.001}} {
		// keeps the roles although the numbers differ
		o := krigo.Options{
			Data:   krigo.Data{Split: "last"},
			Method: krigo.Method{Name: "evidence"},
			Prior:  krigo.Prior{Kind: "informed"},
		}
		want := fit(t, c.table, o)
		d := len(c.table.Names) - 1
		for i := range c.table.Rows {
			row := c.table.Values[i*(d+1) : (i+1)*(d+1)]
			for j := range d {
				row[j] = c.unit * (row[j] - 7*float64(j))
			}
			row[d] = 1000*row[d] + 12345
		}
		got := fit(t, c.table, o)
		near(t, "bound", got.Certificate.Bound, want.Certificate.Bound, 1e-6)
		near(t, "risk", got.Certificate.EmpiricalRisk, want.Certificate.EmpiricalRisk, 1e-3)
		near(t, "epsilon", got.Certificate.Epsilon, want.Certificate.Epsilon, 0)
		near(t, "epsilon_raw", got.Certificate.EpsilonRaw, 1000*want.Certificate.EpsilonRaw, 1e-9)
	}
}

// TestOddData: unusual tables are handled, with a finding if there is something to say.
func TestOddData(t *testing.T) {
	must.Long(t)
	change := func(f func(row []float64, i int)) *dataset.Table {
		table := homes()
		for i := range table.Rows {
			f(table.Values[4*i:4*i+4], i)
		}
		return table
	}
	wide := pick(data.Boston(), every(0, 12, 506)) // 43 rows
	for j := range 60 {
		wide.Names = append(wide.Names, fmt.Sprintf("extra%d", j))
	}
	var values []float64
	for i := range wide.Rows {
		values = append(values, wide.Values[14*i:14*i+14]...)
		for j := range 60 {
			values = append(values, math.Sin(float64(i*(j+2))))
		}
	}
	wide.Values = values
	for _, c := range []struct {
		name  string
		table *dataset.Table
		found finding.Kind
	}{
		{"a constant column", change(func(row []float64, _ int) { row[1] = 3.7 }), finding.Constant},
		{"a column constant on prior rows only", change(func(row []float64, i int) {
			row[1] = 0
			if i == 80 {
				row[1] = 1
			}
		}), ""},
		{"repeated rows", change(func(row []float64, i int) {
			if i%2 == 1 {
				copy(row, homes().Values[4*(i-1):4*i])
			}
		}), finding.Repeats},
		{"fewer rows than inputs", wide, finding.FewRows},
		{"scales far apart", change(func(row []float64, _ int) { row[0] *= 1e12; row[1] *= 1e-12 }), finding.LargeScale},
		{"a target far from zero", change(func(row []float64, _ int) { row[3] = 1e9 + row[3]/10 }), finding.FarTarget},
		{"a tiny target", change(func(row []float64, _ int) { row[3] *= 1e-12 }), finding.SmallScale},
	} {
		for _, objective := range method.Names() {
			t.Run(c.name+", "+objective, func(t *testing.T) {
				o := krigo.Options{Data: krigo.Data{Target: "MEDV"}, Method: krigo.Method{Name: objective},
					Run: krigo.Run{Restarts: 1}}
				switch objective {
				case "svgp", "vfe", "fitc", "dtc", "pep":
					o.Method.Epochs = 100
				case "nearest":
					o.Prior.Kind = "informed"
				}
				m := fit(t, c.table, o)
				must.Hold(t, c.found == "" || len(m.Findings.Of(c.found)) == 1,
					"no %s: %q", c.found, m.Findings)
				if c.found == finding.Repeats && o.Prior.Kind == "informed" { // copies predict one another
					must.Be(t, len(m.Ties), 1)
					must.Be(t, m.Ties[0].Kind, "setting")
				} else if m.Certificate == nil || !(m.Certificate.Bound > 0 && m.Certificate.Bound <= 1) {
					t.Errorf("certificate %+v", m.Certificate)
				}
				ps := predict(t, m, c.table)
				for i, p := range ps {
					if v := p.Mean + p.LatentVariance + p.PredictiveVariance + p.Lower95 + p.Upper95; math.IsNaN(v) ||
						math.IsInf(v, 0) || !(p.LatentVariance >= 0) || !(p.PredictiveVariance > p.LatentVariance) ||
						!(p.Lower95 < p.Mean && p.Mean < p.Upper95) {
						t.Fatalf("row %d: %+v", i, p)
					}
				}
				file(t, m) // fails if a number isn't finite
			})
		}
	}
}

// rowsOf returns the rows of a table that have this role in a model of the table.
func rowsOf(t *testing.T, m *krigo.Model, table *dataset.Table, role dataset.Role) []int {
	t.Helper()
	d := must.Get(m.Labelled(table))(t)
	roles := must.Get(m.RolesOf(d))(t)
	return roles.Rows(role)
}

// TestTestRows computes the figures of the test rows from predictions, and compares them.
func TestTestRows(t *testing.T) {
	table := homes()
	m := fit(t, table, cheap(krigo.Options{
		Data: krigo.Data{TestFraction: 0.3},
		Run:  krigo.Run{Seed: 5},
	}))
	rows := rowsOf(t, m, table, dataset.Test)
	if len(rows) != 26 || m.Test == nil || m.Test.Rows != 26 { // ⌈0.3·85⌉
		t.Fatalf("%d test rows, %+v", len(rows), m.Test)
	}
	check := func(got model.Prediction, y float64, mse, covered *float64) {
		*mse += (got.Mean - y) * (got.Mean - y) / 26
		if got.Lower95 <= y && y <= got.Upper95 {
			*covered += 1. / 26
		}
	}
	ps := predict(t, m, pick(table, rows))
	var mse, covered float64
	for k, i := range rows {
		check(ps[k], table.Values[4*i+3], &mse, &covered)
	}
	near(t, "rmse_raw", m.Test.RMSERaw, math.Sqrt(mse), 1e-12)
	near(t, "mse", m.Test.MSE, mse/(m.Scaling.TargetScale*m.Scaling.TargetScale), 1e-12)
	near(t, "coverage95", m.Test.Coverage95, covered, 1e-12)

	// A test table is scored the same way, with its columns in any order.
	others := pick(data.Boston(), every(3, 20, 506), "MEDV", "DIS", "RM", "LSTAT")
	with := fit(t, table, krigo.Options{Data: krigo.Data{Target: "MEDV", Test: others}, Kernel: krigo.Kernel{ARD: "off"},
		Run: krigo.Run{Restarts: 1}})
	if with.Test.Rows != others.Rows || with.Certificate.Rows != 65 {
		t.Errorf("%+v from %d certified rows", with.Test, with.Certificate.Rows)
	}
	ps = predict(t, with, others)
	mse = 0
	for k, p := range ps {
		d := p.Mean - others.Values[4*k]
		mse += d * d / float64(others.Rows)
	}
	near(t, "rmse_raw of another table", with.Test.RMSERaw, math.Sqrt(mse), 1e-12)

	// A test table that can't be scored is refused before training.
	trained := false
	_, err := krigo.Fit(context.Background(), table,
		krigo.Options{Data: krigo.Data{Target: "MEDV", Test: pick(others, []int{0, 1, 2}, "RM", "DIS", "MEDV")},
			Run: krigo.Run{Restarts: 1, Progress: func(krigo.Event) { trained = true }}})
	must.Fail(t, err, "LSTAT", "a test table without LSTAT")
	must.Hold(t, !trained, "a test table without LSTAT was noticed after training only")
}

// TestObservationNoise: the evidence trains the noise. For other objectives the noise maximises the likelihood of the
// prior rows.
func TestObservationNoise(t *testing.T) {
	table := homes()
	m := fit(t, table, cheap(krigo.Options{Method: krigo.Method{Name: "evidence"}}))
	must.Be(t, m.ObservationNoise, m.Posterior.Noise, "evidence, trained")
	m = fit(t, table, cheap(krigo.Options{}))
	rows := rowsOf(t, m, table, dataset.Prior)
	ps := predict(t, m, pick(table, rows))
	unit := m.Scaling.TargetScale * m.Scaling.TargetScale
	cost := func(s float64) (c float64) {
		for k, i := range rows {
			v := ps[k].LatentVariance + s*unit
			d := table.Values[4*i+3] - ps[k].Mean
			c += math.Log(v) + d*d/v
		}
		return c
	}
	s := m.ObservationNoise
	for _, f := range []float64{1e-3, 0.1, 0.5, 0.9, 0.999, 1.001, 1.1, 2, 10, 1e3} {
		if cost(f*s) < cost(s)-1e-9 {
			t.Errorf("observation noise %v: %v is likelier (cost %v, %v)", s, f*s, cost(s), cost(f*s))
		}
	}
	must.Hold(t, s != m.Posterior.Noise, "σ_n² was taken for observation noise")
	// Without prior rows, the noise comes from leave-one-out residuals.
	id := dataset.Identity(3)
	m = fit(t, table, krigo.Options{Data: krigo.Data{Scaling: "declared", Declared: &id}, Kernel: krigo.Kernel{ARD: "off"},
		Run: krigo.Run{Restarts: 1}})
	if !(m.ObservationNoise > 0.1 && m.ObservationNoise < 100) { // MEDV has a variance of 84
		t.Errorf("without prior rows: %v", m.ObservationNoise)
	}
}

func TestProgress(t *testing.T) {
	var events []krigo.Event
	m := fit(t, homes(), krigo.Options{Run: krigo.Run{Restarts: 2,
		Progress: func(e krigo.Event) { events = append(events, e) }}})
	last := map[int]krigo.Event{}
	iterations := 0
	for _, e := range events {
		before := last[e.Start]
		must.Hold(t, e.Starts == 4 && e.Start >= 1 && e.Start <= 4 &&
			e.Iteration == before.Iteration+1 && before.Stopped == "" &&
			(e.Iteration <= 1 || e.Value <= before.Value), "%+v after %+v", e, before)
		if want := map[bool]string{true: "se", false: "se (ARD)"}[e.Start <= 2]; e.Family != want {
			t.Errorf("start %d is of family %q, want %q", e.Start, e.Family, want)
		}
		if want := fmt.Sprintf("kernel %d of 2, start %d of 2", (e.Start+1)/2, 2-e.Start%2); e.Stage != want {
			t.Errorf("start %d is of stage %q, want %q", e.Start, e.Stage, want)
		}
		last[e.Start] = e
	}
	best := math.Inf(1)
	for _, e := range last {
		iterations += e.Iteration
		best = math.Min(best, e.Value)
	}
	must.Hold(t, m.Training.Starts == 4 && m.Training.Iterations == iterations &&
		m.Training.ObjectiveValue == best && m.Training.Evaluations >= iterations,
		"%+v; the events have %d iterations, lowest %v", m.Training, iterations, best)
}

// TestCancel: an interrupted fit says so, and has handed over its state.
func TestCancel(t *testing.T) {
	for _, after := range []int{0, 1, 15} {
		ctx, cancel := context.WithCancel(context.Background())
		steps, saves := 0, 0
		var offered *krigo.Checkpoint
		o := krigo.Options{Data: krigo.Data{Target: "MEDV"}}
		o.Run.Progress = func(krigo.Event) {
			if steps++; steps == after {
				cancel()
			}
		}
		o.Run.Save = func(c *krigo.Checkpoint) error { offered = c; saves++; return nil }
		if after == 0 {
			cancel()
		}
		m, err := krigo.Fit(ctx, homes(), o)
		cancel()
		must.Hold(t, m == nil && errors.Is(err, context.Canceled),
			"cancelled after %d steps: %v", after, err)
		if saves < after || after == 0 && saves > 0 || saves > after+runtime.GOMAXPROCS(0) {
			t.Errorf("cancelled after %d steps: %d offers", after, saves)
		}
		if after > 0 && (offered.Version != 3 || offered.Fingerprint == "" || len(offered.Runs) == 0) {
			t.Errorf("cancelled after %d steps: checkpoint %+v", after, offered)
		}
	}
}

// TestResume goes on from checkpoints of every part of a fit, read back from a file. The result has the same bits as
// a fit without interruption.
func TestResume(t *testing.T) {
	must.Long(t)
	half := 0.5
	for name, o := range map[string]krigo.Options{
		"kl-pac": {
			Data: krigo.Data{Target: "MEDV", TestFraction: 0.1},
			Run:  krigo.Run{Seed: 2},
		},
		"evidence": {
			Data:   krigo.Data{Target: "MEDV"},
			Kernel: krigo.Kernel{Expression: "matern32+linear", Mean: "constant"},
			Method: krigo.Method{Name: "evidence"},
			Run:    krigo.Run{Restarts: 2},
		},
		"svgp": {
			Data:   krigo.Data{Target: "MEDV"},
			Method: krigo.Method{Name: "svgp", Inducing: 6, Batch: 17, Epochs: 15},
		},
		"free, all rows": {
			Data:   krigo.Data{Target: "MEDV"},
			Kernel: krigo.Kernel{ARD: "off"},
			Method: krigo.Method{Inducing: 5, Posterior: "free"},
		},
		"renyi": {
			Data:   krigo.Data{Target: "MEDV"},
			Kernel: krigo.Kernel{Expression: "matern32", ARD: "off"},
			Method: krigo.Method{Name: "renyi", Inducing: 5},
			Run:    krigo.Run{Restarts: 2},
		},
		"renyi, mma": {Data: krigo.Data{Target: "MEDV"},
			Method: krigo.Method{Name: "renyi", Inducing: 5, Optimizer: "mma", Alpha: &half}, Kernel: krigo.Kernel{ARD: "off"}},
		"renyi, cv": {
			Data:   krigo.Data{Target: "MEDV"},
			Kernel: krigo.Kernel{ARD: "off"},
			Method: krigo.Method{
				Name:      "renyi",
				Inducing:  3,
				AlphaBy:   "cv",
				Optimizer: "sgd",
				Batch:     20,
				Epochs:    2,
			},
		},
		"renyi, batches": {
			Data:   krigo.Data{Target: "MEDV"},
			Kernel: krigo.Kernel{ARD: "off"},
			Method: krigo.Method{
				Name:     "renyi",
				Inducing: 5,
				Anneal:   "geometric",
				Batch:    20,
				Batches:  "nearest",
				Epochs:   5,
			},
		},
		"evidence, sgd": {
			Data:   krigo.Data{Target: "MEDV"},
			Method: krigo.Method{Name: "evidence", Optimizer: "sgd", Batch: 20, Epochs: 5},
		},
		"free, batches": {
			Data:   krigo.Data{Target: "MEDV"},
			Kernel: krigo.Kernel{ARD: "off"},
			Method: krigo.Method{Inducing: 5, Posterior: "free", Batch: 30, Epochs: 20},
		},
	} {
		t.Run(name, func(t *testing.T) {
			var saved [][]byte
			o.Run.Save = func(c *krigo.Checkpoint) error {
				raw, err := json.Marshal(c)
				saved = append(saved, raw)
				return err
			}
			want := file(t, fit(t, homes(), o))
			o.Run.Save = nil
			n := len(saved)
			must.Need(t, n >= 20, "%d checkpoints", n)
			for _, at := range []int{0, 1, n / 5, n / 3, n / 2, 2 * n / 3, 4 * n / 5, n - 2, n - 1} {
				var c krigo.Checkpoint
				must.Do(t, json.Unmarshal(saved[at], &c))
				o.Run.Resume = &c
				steps := 0
				o.Run.Progress = func(krigo.Event) { steps++ }
				if got := file(t, fit(t, homes(), o)); got != want {
					t.Errorf("resumed from checkpoint %d of %d: the model differs", at+1, n)
				}
				must.Hold(t, steps == n-at-1,
					"resumed from checkpoint %d of %d: %d steps more", at+1, n, steps)
			}
		})
	}
}

// TestResumeAfterCancel interrupts a fit again and again until it is done.
func TestResumeAfterCancel(t *testing.T) {
	o := krigo.Options{
		Data:    krigo.Data{Target: "y"},
		Method:  krigo.Method{Name: "kl-pac"},
		Promise: krigo.Promise{Epsilon: 1},
		Run:     krigo.Run{Restarts: 2},
	}
	want := file(t, fit(t, snelson(), o))
	for rounds := 1; ; rounds++ {
		must.Need(t, rounds <= 100, "no end")
		ctx, cancel := context.WithCancel(context.Background())
		var raw []byte
		steps := 0
		o.Run.Save = func(c *krigo.Checkpoint) (err error) {
			if steps++; steps == 7 {
				cancel()
			}
			raw, err = json.Marshal(c)
			return err
		}
		m, err := krigo.Fit(ctx, snelson(), o)
		cancel()
		if err == nil {
			must.Hold(t, rounds >= 3, "done after %d rounds: nothing was interrupted", rounds)
			must.Hold(t, file(t, m) == want, "the model differs from that of an uninterrupted fit")
			return
		}
		must.Need(t, errors.Is(err, context.Canceled), "%v", err)
		o.Run.Resume = new(krigo.Checkpoint)
		must.Do(t, json.Unmarshal(raw, o.Run.Resume))
	}
}

func TestResumeRefuses(t *testing.T) {
	var raw []byte
	base := krigo.Options{
		Data:   krigo.Data{Target: "MEDV"},
		Method: krigo.Method{Name: "kl-pac"},
		Run:    krigo.Run{Restarts: 2},
	}
	o := base
	o.Run.Save = func(c *krigo.Checkpoint) (err error) { raw, err = json.Marshal(c); return err }
	fit(t, homes(), o)
	checkpoint := func() *krigo.Checkpoint {
		c := new(krigo.Checkpoint)
		must.Do(t, json.Unmarshal(raw, c))
		return c
	}
	resume := func(table *dataset.Table, o krigo.Options) error {
		_, err := krigo.Fit(context.Background(), table, o)
		return err
	}
	for name, change := range map[string]func(o *krigo.Options){
		"seed":      func(o *krigo.Options) { o.Run.Seed = 1 },
		"objective": func(o *krigo.Options) { o.Method.Name = "sqrt-pac" },
		"kernel":    func(o *krigo.Options) { o.Kernel.Expression = "matern32" },
		"ard":       func(o *krigo.Options) { o.Kernel.ARD = "off" },
		"mean":      func(o *krigo.Options) { o.Kernel.Mean = "constant" },
		"loss":      func(o *krigo.Options) { o.Promise.Loss = "gaussian" },
		"epsilon":   func(o *krigo.Options) { o.Promise.Epsilon = 0.7 },
		"delta":     func(o *krigo.Options) { o.Promise.Delta = 0.02 },
		"grid":      func(o *krigo.Options) { o.Prior.Grid = pacbayes.Grid{L: 6, Digits: 1} },
		"scaling":   func(o *krigo.Options) { o.Data.Scaling = "all-rows" },
		"test rows": func(o *krigo.Options) { o.Data.TestFraction = 0.1 },
		"restarts":  func(o *krigo.Options) { o.Run.Restarts = 3 },
		"init": func(o *krigo.Options) {
			o.Run.Init = &krigo.Params{Kernel: kernel.Spec{Name: "se", Variance: 1, Lengthscales: []float64{1}},
				NoiseVariance: 0.1}
		},
	} {
		o := base
		o.Run.Resume = checkpoint()
		change(&o)
		must.Fail(t, resume(homes(), o), "other data or other options", name)
	}
	o = base
	o.Run.Resume = checkpoint()
	if err := resume(homes(), o); err != nil {
		t.Errorf("the same: %v", err)
	}
	// Values that differ slightly are another fit, too.
	other := homes()
	for i := range other.Rows {
		other.Values[4*i] += 1e-9
	}
	must.Fail(t, resume(other, o), "other data or other options", "other data")
	o.Run.Resume = checkpoint()
	o.Run.Resume.Version = 1
	if err := resume(homes(), o); err == nil {
		t.Error("another version: accepted")
	}
	// A damaged run is refused. Leaving it out would silently change the result.
	for name, damage := range map[string]func(c *krigo.Checkpoint){
		"parameters missing": func(c *krigo.Checkpoint) { c.Runs["se/2"].Descent.X = c.Runs["se/2"].Descent.X[1:] },
		"a history cut":      func(c *krigo.Checkpoint) { c.Runs["se/2"].Descent.S = nil },
		"out of the box":     func(c *krigo.Checkpoint) { c.Runs["se/2"].Descent.X[0] = 100 },
		"no state":           func(c *krigo.Checkpoint) { c.Runs["se/2"] = nil },
		"no optimiser":       func(c *krigo.Checkpoint) { c.Runs["se/2"].Descent = nil },
		"no curve":           func(c *krigo.Checkpoint) { c.Curves["se/2"] = nil },
		"a curve cut":        func(c *krigo.Checkpoint) { c.Curves["se/2"].Values = c.Curves["se/2"].Values[:1] },
		"fewer than none":    func(c *krigo.Checkpoint) { c.Runs["se/2"].Descent.Evaluations = -1 << 60 },
	} {
		o.Run.Resume = checkpoint()
		must.Need(t, o.Run.Resume.Runs["se/2"] != nil && o.Run.Resume.Curves["se/2"] != nil &&
			len(o.Run.Resume.Runs["se/2"].Descent.S) > 0, "no such run")
		damage(o.Run.Resume)
		if err := resume(homes(), o); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

// TestSaveFails: if Save returns an error, the fit ends with this error. Without the run that got the error, the fit
// would give another model.
func TestSaveFails(t *testing.T) {
	full := errors.New("the disk is full")
	for _, at := range []int{1, 9} {
		calls := 0
		m, err := krigo.Fit(context.Background(), homes(),
			krigo.Options{Data: krigo.Data{Target: "MEDV"}, Run: krigo.Run{Save: func(*krigo.Checkpoint) error {
				if calls++; calls == at {
					return full
				}
				return nil
			}}})
		must.Hold(t, m == nil && errors.Is(err, full), "Save fails at call %d: %v", at, err)
	}
}

func TestInit(t *testing.T) {
	first := func(o krigo.Options) (values []float64) {
		o.Data.Target, o.Method.Name, o.Run.Restarts = "MEDV", "kl-pac", 1
		o.Run.Progress = func(e krigo.Event) {
			if e.Iteration == 1 {
				values = append(values, e.Value)
			}
		}
		if _, err := krigo.Fit(context.Background(), homes(), o); err != nil {
			t.Fatal(err)
		}
		return values
	}
	m := fit(t, homes(), cheap(krigo.Options{}))
	good := &krigo.Params{Kernel: m.Posterior.Kernel.Spec(m.Posterior.Theta), NoiseVariance: m.Posterior.Noise}
	cold, warm := first(krigo.Options{Kernel: krigo.Kernel{ARD: "off"}}),
		first(krigo.Options{Kernel: krigo.Kernel{ARD: "off"}, Run: krigo.Run{Init: good}})
	must.Hold(t, (len(warm) != 1 || warm[0] <= m.Training.ObjectiveValue+1e-3) && len(cold) == 1 &&
		cold[0] > m.Training.ObjectiveValue+1e-3,
		"after one step: %v from scratch, %v from the parameters that training found, which have %v",
		cold, warm, m.Training.ObjectiveValue)
	// One lengthscale is repeated for ARD.
	far := &krigo.Params{Kernel: kernel.Spec{Name: "se", Variance: 1, Lengthscales: []float64{0.06}}, NoiseVariance: 100}
	on := krigo.Kernel{ARD: "on"}
	if plain, ard := first(krigo.Options{Kernel: on}), first(krigo.Options{Kernel: on,
		Run: krigo.Run{Init: far}}); plain[0] == ard[0] {
		t.Error("one lengthscale has no effect on an ARD kernel")
	}

	se := func(variance float64, lengthscales ...float64) kernel.Spec {
		return kernel.Spec{Name: "se", Variance: variance, Lengthscales: lengthscales}
	}
	for name, bad := range map[string]*krigo.Params{
		"nothing":                 {},
		"no kernel":               {NoiseVariance: 0.1},
		"negative variance":       {Kernel: se(-1, 1), NoiseVariance: 0.1},
		"no noise":                {Kernel: se(1, 1)},
		"two of three lengths":    {Kernel: se(1, 1, 2), NoiseVariance: 0.1},
		"a mean that isn't there": {Kernel: se(1, 1), NoiseVariance: 0.1, Mean: &krigo.MeanParams{Constant: 1}},
		"inducing inputs":         {Kernel: se(1, 1), NoiseVariance: 0.1, Inducing: [][]float64{{1, 2, 3}}},
		"another kernel": {Kernel: kernel.Spec{Name: "rq", Variance: 1, Lengthscales: []float64{1}, Shape: 1},
			NoiseVariance: 0.1},
		"ard lengths without it": {Kernel: se(1, 1, 2, 3), NoiseVariance: 0.1},
		"another of the same size": {Kernel: kernel.Spec{Name: "matern32", Variance: 1, Lengthscales: []float64{1}},
			NoiseVariance: 0.1},
	} {
		_, err := krigo.Fit(context.Background(), homes(), krigo.Options{Data: krigo.Data{Target: "MEDV"},
			Kernel: krigo.Kernel{ARD: "off"}, Run: krigo.Run{Restarts: 1, Init: bad}})
		must.Hold(t, err != nil, "initial parameters with %s: taken no notice of", name)
	}
}

// TestTablesTooLarge: too many rows are refused at once, and the error says what to do.
func TestTablesTooLarge(t *testing.T) {
	big := func(rows int) *dataset.Table {
		table := &dataset.Table{Source: "big.csv", Names: []string{"x", "y"}, Rows: rows, Lines: make([]int, rows)}
		for i := range rows {
			table.Values = append(table.Values, float64(i), math.Sin(float64(i)))
		}
		return table
	}
	memory.SetLimit(8 << 30)
	defer memory.SetLimit(0)
	for _, c := range []struct {
		rows int
		o    krigo.Options
		want string
	}{
		{21100, krigo.Options{
			Method: krigo.Method{Name: "kl-pac", InducingBy: "none"},
		}, "raise --memory"},
		{21100, krigo.Options{
			Method: krigo.Method{Name: "evidence", Solver: "cholesky"},
		}, "--solver cg"},
		{52000, krigo.Options{Method: krigo.Method{Name: "evidence"}}, "may take days"},
	} {
		c.o.Data.Target = "y"
		err := attempt(big(c.rows), c.o)
		must.Fail(t, err, c.want, c.rows, c.o.Method.Name)
		must.Fail(t, err, "big.csv")
	}
	memory.SetLimit(16 << 30)
	o := krigo.Options{
		Data:   krigo.Data{Target: "y"},
		Method: krigo.Method{Name: "evidence", Solver: "cholesky"},
	}
	plan := must.Get(krigo.Decide(t.Context(), big(25000), o))(t)
	must.Hold(t, plan.Solver == "cholesky" && plan.Findings.Of(finding.LongFactors) != nil,
		"%+v", plan)
}

func TestFitRefusesData(t *testing.T) {
	table := func(f func(row []float64, i int)) *dataset.Table {
		table := homes()
		for i := range table.Rows {
			f(table.Values[4*i:4*i+4], i)
		}
		return table
	}
	for name, c := range map[string]struct {
		table  *dataset.Table
		target string
		want   []string
	}{
		"no such target":  {homes(), "MEDW", []string{`"MEDW"`, `did you mean "MEDV"?`, "boston.csv.gz"}},
		"constant target": {table(func(row []float64, _ int) { row[3] = 5 }), "MEDV", []string{`"MEDV"`, "nothing to learn"}},
		"constant target on prior rows": {table(func(row []float64, i int) {
			row[3] = 5
			if i == 0 {
				row[3] = 6
			}
		}), "MEDV", []string{`"MEDV"`, ": use more prior rows, or declared constants"}},
		"a value far off": {table(func(row []float64, i int) {
			row[0] *= 1e-200
			if i == 0 {
				row[0] = 1e200
			}
		}), "MEDV", []string{"line 2", "overflows"}},
	} {
		_, err := krigo.Fit(context.Background(), c.table,
			krigo.Options{Data: krigo.Data{Target: c.target}, Method: krigo.Method{Name: "kl-pac"}, Run: krigo.Run{Restarts: 1}})
		if err == nil {
			t.Errorf("%s: accepted", name)
			continue
		}
		for _, want := range c.want {
			must.Hold(t, strings.Contains(err.Error(), want), "%s: %v; want %q", name, err, want)
		}
	}
}

// TestEpochs: a fit that stopped at its limit of evaluations goes on with a larger limit.
func TestEpochs(t *testing.T) {
	base := krigo.Options{
		Data:   krigo.Data{Target: "MEDV"},
		Kernel: krigo.Kernel{ARD: "off"},
		Method: krigo.Method{Inducing: 8},
	}
	whole := fit(t, homes(), base)
	short := base
	short.Method.Epochs = 5
	var last *krigo.Checkpoint
	short.Run.Save = func(c *krigo.Checkpoint) error { last = c; return nil }
	m := fit(t, homes(), short)
	if e := m.Training.Evaluations; m.Training.Stopped != "evaluation limit" || e < 5 || e > 30 {
		t.Errorf("%d evaluations, stopped by %q", e, m.Training.Stopped)
	}
	on := base
	on.Run.Resume = last
	resumed := fit(t, homes(), on)
	if resumed.Certificate.Bound != whole.Certificate.Bound || resumed.Training.Evaluations != whole.Training.Evaluations {
		t.Errorf("bound %v after %d evaluations, in one go %v after %d", resumed.Certificate.Bound,
			resumed.Training.Evaluations, whole.Certificate.Bound, whole.Training.Evaluations)
	}
}

// TestUsageErrors: every wrong option is a UsageError that names the option, and one error names all wrong options.
func TestUsageErrors(t *testing.T) {
	id, below := dataset.Identity(3), -0.5
	for _, c := range []struct {
		o    krigo.Options
		want string
	}{
		{krigo.Options{}, "target"},
		{krigo.Options{
			Method: krigo.Method{Name: "elbo"},
		}, `"elbo" is called "vfe" or "svgp" here`},
		{krigo.Options{Method: krigo.Method{Optimizer: "sga"}}, `optimizer "sga"`},
		{krigo.Options{
			Method: krigo.Method{Name: "kl-pac", Optimizer: "sgd"},
		}, "optimizer sgd is a setting of evidence"},
		{krigo.Options{Method: krigo.Method{Name: "renyi", Anneal: "none"}}, "set the fixed α"},
		{krigo.Options{Method: krigo.Method{Name: "renyi", Anneal: "slow"}}, `anneal "slow"`},
		{krigo.Options{
			Method: krigo.Method{Name: "renyi", Alpha: new(0.0), Anneal: "cosine"},
		}, "with a fixed α"},
		{krigo.Options{
			Method: krigo.Method{Name: "renyi", Alpha: new(0.0), AlphaBy: "cv"},
		}, "a number or cv"},
		{krigo.Options{Method: krigo.Method{Name: "renyi", Alpha: &below}}, "only krigo evaluate takes it"},
		{krigo.Options{Method: krigo.Method{Name: "renyi", Alpha: new(1.5)}}, "want 0 ≤ α ≤ 1"},
		{krigo.Options{Method: krigo.Method{Name: "renyi", AnnealShare: 1.5}}, "anneal-share"},
		{krigo.Options{
			Method: krigo.Method{Name: "renyi", Alpha: new(0.5), AnnealShare: 1},
		}, "anneal-share with a fixed α"},
		{krigo.Options{
			Method: krigo.Method{Name: "renyi", Optimizer: "lbfgs", AnnealShare: 1},
		}, "lbfgs takes all rows in every step"},
		{krigo.Options{Method: krigo.Method{Name: "renyi", InducingBy: "none"}}, "full GP"},
		{krigo.Options{
			Method: krigo.Method{Name: "renyi", Optimizer: "mma", Batch: 10},
		}, "mma takes all rows in every step"},
		{krigo.Options{
			Method: krigo.Method{Name: "renyi", Posterior: "fitc"},
		}, "posterior fitc is a setting of kl-pac"},
		{krigo.Options{
			Method: krigo.Method{Name: "vfe", Anneal: "linear"},
		}, "anneal linear is a setting of renyi, not of vfe"},
		{krigo.Options{
			Method: krigo.Method{Name: "renyi", Alphas: []float64{0, 1}},
		}, "only alpha cv chooses from them"},
		{krigo.Options{
			Method: krigo.Method{Name: "renyi", AlphaBy: "cv", Alphas: []float64{0, 1.5}},
		}, "want numbers from 0 to 1"},
		{krigo.Options{
			Method: krigo.Method{Name: "renyi", AlphaBy: "cv", Alphas: []float64{0.5, 0.5}},
		}, "each once"},
		{krigo.Options{
			Method: krigo.Method{Name: "renyi", Solver: "cg", Optimizer: "mma"},
		}, "optimizer mma with solver cg"},
		{krigo.Options{Method: krigo.Method{Name: "svgp", Batches: "nearest"}}, "batches nearest"},
		{krigo.Options{
			Method: krigo.Method{Inducing: 5, InducingBy: "theory"},
		}, "the rule theory, not both"},
		{krigo.Options{
			Kernel: krigo.Kernel{Expression: "linear"},
			Method: krigo.Method{Name: "vfe", InducingBy: "theory"},
		}, "not of linear"},
		{krigo.Options{
			Kernel: krigo.Kernel{Expression: "matern32"},
			Method: krigo.Method{Name: "vfe", InducingBy: "theory"},
		}, "for one input"},
		{krigo.Options{
			Method: krigo.Method{Name: "svgp", Batches: "farthest"},
		}, `batches "farthest"`},
		{krigo.Options{
			Method: krigo.Method{Name: "kl-pac", Optimizer: "adam"},
		}, "posterior free, not of kl-pac"},
		{krigo.Options{
			Method: krigo.Method{Name: "vfe", Batch: 100},
		}, "batch is a setting of evidence"},
		{krigo.Options{
			Method: krigo.Method{Name: "svgp", Optimizer: "lbfgs", Batch: 3},
		}, "are for adam and sgd"},
		{krigo.Options{Method: krigo.Method{Name: "svgp", Batch: -1}}, "batch -1"},
		{krigo.Options{Method: krigo.Method{Name: "svgp", Epochs: -1}}, "epochs -1"},
		{krigo.Options{
			Method: krigo.Method{Name: "svgp", Epochs: 9223372036854775807},
		}, "epochs 9223372036854775807: want 1 to 1000000"},
		{krigo.Options{Method: krigo.Method{Name: "svgp", LearningRate: math.NaN()}}, "learning-rate NaN"},
		{krigo.Options{Method: krigo.Method{Name: "svgp", InducingBy: "none"}}, "full GP"},
		{krigo.Options{
			Method: krigo.Method{Name: "svgp", Posterior: "free"},
		}, "posterior free is a setting of kl-pac and sqrt-pac, not of svgp"},
		{krigo.Options{
			Method: krigo.Method{Name: "svgp", Posterior: "fitc"},
		}, "posterior fitc is a setting of kl-pac"},
		{krigo.Options{
			Method: krigo.Method{Name: "pep", Posterior: "free"},
		}, "of kl-pac and sqrt-pac, not of pep"},
		{krigo.Options{Method: krigo.Method{Posterior: "exact"}}, `posterior "exact"`},
		{krigo.Options{
			Method: krigo.Method{InducingBy: "none", Posterior: "free"},
		}, "needs inducing inputs"},
		{krigo.Options{Kernel: krigo.Kernel{ARD: "yes"}}, `ard "yes"`},
		{krigo.Options{Kernel: krigo.Kernel{Expression: "sse"}}, `unknown kernel "sse"`},
		{krigo.Options{Kernel: krigo.Kernel{Expression: "se+"}}, "missing at the end"},
		{krigo.Options{Kernel: krigo.Kernel{Mean: "median"}}, `mean "median": want one of zero`},
		{krigo.Options{Promise: krigo.Promise{Loss: "hinge"}}, `unknown loss "hinge"`},
		{krigo.Options{Promise: krigo.Promise{Epsilon: -1}}, "ε must be positive"},
		{krigo.Options{Promise: krigo.Promise{Epsilon: math.Inf(1)}}, "ε must be positive and finite"},
		{krigo.Options{Promise: krigo.Promise{Epsilon: math.NaN()}}, "ε must be positive and finite"},
		{krigo.Options{Promise: krigo.Promise{EpsilonAbove: 1}}, "two widths"},
		{krigo.Options{Promise: krigo.Promise{Loss: "asymmetric", Epsilon: 1}}, "tolerance above"},
		{krigo.Options{Promise: krigo.Promise{Units: "cm"}}, `epsilon-units "cm"`},
		{krigo.Options{Promise: krigo.Promise{Delta: 1}}, "delta 1"},
		{krigo.Options{Promise: krigo.Promise{Delta: -0.1}}, "delta -0.1"},
		{krigo.Options{Promise: krigo.Promise{Delta: math.NaN()}}, "delta NaN"},
		{krigo.Options{Prior: krigo.Prior{Grid: pacbayes.Grid{L: -6, Digits: 2}}}, "grid"},
		{krigo.Options{Data: krigo.Data{Scaling: "robust"}}, `scaling "robust"`},
		{krigo.Options{Data: krigo.Data{Scaling: "declared"}}, "needs its constants"},
		{krigo.Options{Data: krigo.Data{Declared: &id}}, "constants need declared scaling"},
		{krigo.Options{Data: krigo.Data{TestFraction: 1}}, "test-fraction 1"},
		{krigo.Options{Data: krigo.Data{TestFraction: -0.1}}, "test-fraction -0.1"},
		{krigo.Options{Data: krigo.Data{TestFraction: math.NaN()}}, "test-fraction NaN"},
		{krigo.Options{Data: krigo.Data{TestFraction: 0.1, Test: homes()}}, "exclude each other"},
		{krigo.Options{Run: krigo.Run{Restarts: -1}}, "restarts -1"},
		{krigo.Options{Run: krigo.Run{Restarts: 1001}}, "restarts 1001"},
	} {
		if c.want != "target" {
			c.o.Data.Target = "MEDV"
		}
		_, err := krigo.Fit(context.Background(), homes(), c.o)
		var usage *krigo.UsageError
		must.Hold(t, errors.As(err, &usage) && strings.Contains(err.Error(), c.want),
			"%+v: %v", c.o, err)
	}
	_, err := krigo.Fit(context.Background(), homes(), krigo.Options{
		Kernel:  krigo.Kernel{Expression: "x"},
		Promise: krigo.Promise{Loss: "y", Delta: 2},
	})
	for _, want := range []string{"target", "delta 2", `unknown kernel "x"`, `unknown loss "y"`} {
		must.Fail(t, err, want, "all at once")
	}
}
