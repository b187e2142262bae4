package foreign

import (
	"bytes"
	"context"
	"math"
	"slices"
	"testing"

	"github.com/krigo-gp/krigo"
	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/finding"
	"github.com/krigo-gp/krigo/kernel"
	"github.com/krigo-gp/krigo/matrix"
	"github.com/krigo-gp/krigo/method"
	"github.com/krigo-gp/krigo/objective"
	"github.com/krigo-gp/krigo/objective/objectivetest"
	"github.com/krigo-gp/krigo/posterior"
	"github.com/krigo-gp/krigo/ranks"
)

func TestLeaveOneOut(t *testing.T) {
	objectivetest.Run(t, func() objective.Exact { return LeaveOneOut{} })
}

// task returns the table waves, and a task on it with a kernel, as package fit gives it to a method.
func task(t *testing.T) (method.Task, *dataset.Table) {
	table := waves()
	x, y := matrix.New(table.Rows, 1), make([]float64, table.Rows)
	for i := range y {
		x.Set(i, 0, table.Values[2*i])
		y[i] = table.Values[2*i+1]
	}
	k := must(kernel.Parse("se", 1, false))(t)
	all := objective.Memory{X: x, Y: y}
	return method.Task{Kernel: k, Mean: kernel.ZeroMean{}, Rows: all, N: len(y), Ranks: ranks.Alone{}, All: all, Limit: 6,
		Context: context.Background()}, table
}

// TestMethod shows that a method from outside krigo trains, and that a stopped run resumes to the same bits. Its
// parameters are better by its own measure than the parameters from the evidence. They make a model with a
// certificate.
func TestMethod(t *testing.T) {
	at, table := task(t)
	var states []*method.State
	run := func(from *method.State) method.Run {
		return method.Run{
			Key:  "se/1",
			Load: func(string) *method.State { return from },
			Tell: func(_ string, s *method.State, _ int, _ float64, _ string) error {
				states = append(states, s)
				return nil
			},
		}
	}
	minimize := func(m method.Method, from *method.State) (method.Problem, []float64) {
		p := m.Bind(at)
		x := must(p.Start(make([]float64, p.Dim())))(t)
		r := must(p.Minimize(context.Background(), run(from), x))(t)
		return p, r.X
	}
	p, x := minimize(ByLeaveOneOut{}, nil)
	if _, resumed := minimize(ByLeaveOneOut{}, states[len(states)/2]); !slices.Equal(x, resumed) {
		t.Errorf("resumed half way it ends at %v, not %v", resumed, x)
	}
	_, byEvidence := minimize(method.Evidence{}, nil)
	own, err1 := p.Evaluate(x, nil)
	other, err2 := p.Evaluate(byEvidence, nil)
	if err1 != nil || err2 != nil || !(own < other) {
		t.Errorf("leave-one-out %v (%v), of the evidence's parameters %v (%v)", own, err1, other, err2)
	}
	q, _, err := p.Posterior(x)
	if err != nil {
		t.Fatal(err)
	}
	mean, variance, _ := q.LeaveOneOut(at.All.Y)
	var want float64
	for i, v := range variance {
		d := at.All.Y[i] - mean[i]
		want += (math.Log(2*math.Pi*v) + d*d/v) / 2
	}
	if math.Abs(own-want) > 1e-8*math.Abs(want) {
		t.Errorf("the value is %v, of the posterior's leave-one-out predictions %v", own, want)
	}

	// krigo.Fit finds the method by its name, and ends at the same parameters or better ones.
	scaling := dataset.Identity(1)
	o := krigo.Options{Data: krigo.Data{Target: "y", Scaling: dataset.Declared, Declared: &scaling},
		Method: krigo.Method{Name: "loo"},
		Kernel: krigo.Kernel{ARD: "off"}, Run: krigo.Run{Restarts: 2}}
	m := roundTrip(t, table, o)
	if m.Training.ObjectiveValue > own+1e-6*math.Abs(own) {
		t.Errorf("by its name it ends at %v, bound by hand at %v", m.Training.ObjectiveValue, own)
	}
}

// roundTrip fits a model, writes and reads it, certifies it and fits it again. It returns the model that was read.
func roundTrip(t *testing.T, table *dataset.Table, o krigo.Options) *krigo.Model {
	t.Helper()
	m := must(krigo.Fit(context.Background(), table, o))(t)
	if m.Certificate == nil || !m.Certificate.Valid || !(m.Certificate.Bound < 1) {
		t.Errorf("certificate %+v: %s", m.Certificate, m.CertificateReason)
	}
	var file bytes.Buffer
	do(t, m.Write(&file))
	back := must(krigo.Read(&file))(t)
	if r, err := back.Certify(t.Context(), table, krigo.CertifyOptions{}); err != nil || !r.Matches {
		t.Errorf("certified: %+v, %v", r, err)
	}
	if _, differs, err := back.Refit(context.Background(), table, nil); err != nil || differs != "" {
		t.Errorf("fitted again: %s, %v", differs, err)
	}
	return back
}

// widened is the evidence with one parameter more. The parameter's square, which is added to the objective, holds it
// near 0.
type widened struct{ method.Problem }

func (w widened) Dim() int { return w.Problem.Dim() + 1 }

func (w widened) Start(collapsed []float64) ([]float64, error) {
	return append(slices.Clone(collapsed), 0.5), nil
}

func (w widened) Evaluate(x, gradient []float64) (float64, error) {
	n := len(x) - 1
	if gradient != nil {
		gradient[n] = 2 * x[n]
		gradient = gradient[:n]
	}
	v, err := w.Problem.Evaluate(x[:n], gradient)
	return v + x[n]*x[n], err
}

func (w widened) Posterior(x []float64) (*posterior.Posterior, finding.List, error) {
	return w.Problem.Posterior(x[:len(x)-1])
}

type byWidened struct{}

func (byWidened) Bind(t method.Task) method.Problem { return widened{method.Evidence{}.Bind(t)} }

// TestOwnParameter shows that krigo.Evaluate evaluates a method with a parameter of its own at the method's start.
func TestOwnParameter(t *testing.T) {
	method.Register(method.Kind{Name: "widened", Size: method.FullOnly,
		Method: byWidened{}})
	params := &krigo.Params{Kernel: kernel.Spec{Name: "se", Variance: 1, Lengthscales: []float64{1}}, NoiseVariance: 0.1}
	var values []float64
	for _, name := range []string{"evidence", "widened"} {
		e, err := krigo.Evaluate(t.Context(), waves(), params, krigo.Options{Data: krigo.Data{Target: "y"},
			Method: krigo.Method{Name: name}})
		if err != nil || e.Certificate == nil {
			t.Fatal(e, err)
		}
		values = append(values, e.Value)
	}
	if math.Abs(values[0]+0.25-values[1]) > 1e-9 {
		t.Errorf("evidence %v, with a quarter more %v", values[0], values[1])
	}
	params.Posterior = &krigo.FreeParams{}
	if _, err := krigo.Evaluate(t.Context(), waves(), params, krigo.Options{Data: krigo.Data{Target: "y"},
		Method: krigo.Method{Name: "widened"}}); err == nil {
		t.Error("a posterior was taken")
	}
}
