package krigo_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/krigo-gp/krigo"
	"github.com/krigo-gp/krigo/data"
	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/internal/must"
)

// TestMonotone: predictions rise and fall as asked, within the rows and beyond, with every kind of solution, transform
// and input, and in the sibling. The certificate counts these predictions' misses, and certify refuses other ends.
func TestMonotone(t *testing.T) {
	must.Long(t)
	table := pick(data.Boston(), every(0, 3, 506), "RM", "LSTAT", "DIS", "MEDV")
	for _, of := range []struct {
		method krigo.Method
		ways   string
	}{
		{krigo.Method{Name: "evidence"}, "LSTAT:down"},
		{krigo.Method{Name: "evidence"}, "RM:up,LSTAT:down"},
		{krigo.Method{Name: "evidence"}, "DIS:up"}, // the mean isn't monotone
		{krigo.Method{Name: "nearest"}, "DIS:up"},
		{krigo.Method{Name: "vfe", Inducing: 10}, "RM:up,DIS:down"},
	} {
		o := cheap(krigo.Options{
			Data:    krigo.Data{Transform: "log"},
			Kernel:  krigo.Kernel{Monotone: strings.Split(of.ways, ",")},
			Method:  of.method,
			Prior:   krigo.Prior{Kind: "informed"},
			Promise: krigo.Promise{Epsilon: 0.5},
		})
		if of.method.Name == "evidence" && of.ways == "DIS:up" {
			o.Data.Transform = "none"
			o.Run.Deliver = "all"
		}
		m := fit(t, table, o)
		m = must.Get(krigo.Read(strings.NewReader(file(t, m))))(t)
		ps, d := predict(t, m, table), must.Get(m.Labelled(table))(t)
		misses, n := 0., 0.
		for _, i := range must.Get(m.RolesOf(d))(t).Rows(dataset.Certified) {
			if n++; math.Abs(table.Values[4*i+3]-ps[i].Mean) > m.Terms.EpsilonRaw {
				misses++
			}
		}
		must.Near(t, m.Certificate.EmpiricalRisk, misses/n, 1e-12, of.ways)
		must.Be(t, must.Get(m.Verify(d))(t).Differs, "", of.ways)
		models := []*krigo.Model{m}
		if o.Run.Deliver == "all" {
			_, differs, err := m.Refit(t.Context(), table, nil)
			must.Need(t, differs == "" && err == nil, "%s %v", differs, err)
			models = append(models, must.Get(m.Deliver(t.Context(), table, o))(t))
		}
		for _, m := range models {
			ordered(t, m, o.Kernel.Monotone)
		}
		_, err := m.Sample(t.Context(), table, krigo.SampleOptions{Count: 1})
		must.Fail(t, err, "monotone model")
		m.Posterior.Monotone[0].To *= 1.1
		_, err = m.Verify(d)
		must.Fail(t, err, "ends of the monotone input")
		m.Posterior.Monotone = nil
		_, err = m.Certify(t.Context(), table, krigo.CertifyOptions{})
		must.Fail(t, err, "columns with which predictions rise or fall")
	}
}

// ordered checks that predictions at drawn pairs of rows, which differ in a monotone column, are in order.
func ordered(t *testing.T, m *krigo.Model, ways []string) {
	t.Helper()
	rng := rand.New(rand.NewPCG(7, 1))
	const pairs = 500
	moved := 0
	for _, way := range ways {
		name, way, _ := strings.Cut(way, ":")
		at := slices.Index(m.Inputs, name)
		x := mat.NewDense(2*pairs, len(m.Inputs), nil)
		for i := range pairs {
			for j := range m.Inputs {
				low, high := m.Range.Min[j], m.Range.Max[j]
				v := low + (high-low)*(1.4*rng.Float64()-0.2)
				x.Set(2*i, j, v)
				x.Set(2*i+1, j, v)
			}
			x.Set(2*i+1, at, x.At(2*i, at)+(m.Range.Max[at]-m.Range.Min[at])*math.Exp(-10*rng.Float64()))
		}
		ps := must.Get(m.PredictAt(x))(t)
		for i := range pairs {
			a, b := ps[2*i].Mean, ps[2*i+1].Mean
			if a != b {
				moved++
			}
			if way == "down" {
				a, b = b, a
			}
			must.Need(t, b-a >= -1e-12*math.Abs(a), "%s: pair %d: %v, then %v", name, i, a, b)
		}
	}
	must.Need(t, moved != 0, "predictions don't depend on %q", ways)
}

// TestMonotoneRefused: what can't be monotone has an error that says why.
func TestMonotoneRefused(t *testing.T) {
	table := pick(data.Boston(), every(0, 5, 506), "RM", "LSTAT", "DIS", "CHAS", "MEDV")
	for want, of := range map[string]struct{ prior, ways string }{
		"want COLUMN:up":          {"informed", "RM"},
		"did you mean \"LSTAT\"?": {"informed", "LSTA:up"},
		"two different":           {"informed", "RM:up,LSTAT:down,DIS:up"},
		"certified by its own":    {"grid", "RM:up"},
		"column of categories":    {"informed", "CHAS:up"},
	} {
		o := cheap(krigo.Options{
			Data:   krigo.Data{Target: "MEDV"},
			Kernel: krigo.Kernel{Monotone: strings.Split(of.ways, ",")},
			Method: krigo.Method{Name: "evidence"},
			Prior:  krigo.Prior{Kind: of.prior},
		})
		if strings.HasPrefix(of.ways, "CHAS") {
			o.Data.Categorical = []string{"CHAS"}
		}
		_, err := krigo.Fit(t.Context(), table, o)
		must.Fail(t, err, want)
	}
}
