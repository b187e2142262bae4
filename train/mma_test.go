package train

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"reflect"
	"testing"

	"github.com/krigo-gp/krigo/internal/must"
)

// TestMMA: MMA finds the minima of the test functions in their boxes, and the value never rises.
func TestMMA(t *testing.T) {
	for _, p := range problems() {
		if p.name == "rosenbrock-100" || p.name == "condition 1e8" {
			continue // the separable approximation takes thousands of iterations along curved valleys
		}
		t.Run(p.name, func(t *testing.T) {
			last := math.Inf(1)
			r := must.Get(MMA{MaxEvaluations: 20000, ValueTolerance: 1e-12}.In(p.bounds).Minimize(context.Background(), p.new(),
				StartMMA(p.start), func(s *MMAState) error {
					must.Hold(t, s.Value <= last,
						"iteration %d: %v after %v", s.Iterations, s.Value, last)
					last = s.Value
					return nil
				}))(t)
			want := must.Get(LBFGS{ValueTolerance: -1}.In(p.bounds).Minimize(context.Background(), p.new(), Start(p.start),
				nil))(t)
			must.Hold(t, r.Value <= want.Value+1e-6*math.Max(math.Abs(want.Value), 1),
				"value %v (%s after %d iterations), L-BFGS %v", r.Value, r.Stopped, r.Iterations,
				want.Value)
		})
	}
}

// TestMMAResumes: a run that resumes from a state in a file continues bit for bit, after any iteration and through
// rejected trial points.
func TestMMAResumes(t *testing.T) {
	fresh := func() *objective {
		o := beale()
		inner := o.eval
		o.eval = func(x, g []float64) (float64, error) {
			if x[0] > 3.01 {
				return 0, errors.New("beyond the wall")
			}
			return inner(x, g)
		}
		return o
	}
	bounds := Bounds{Lower: []float64{-4, -4}, Upper: []float64{4, 4}}
	m := MMA{MaxEvaluations: 120}
	var files [][]byte
	want := must.Get(m.In(bounds).Minimize(context.Background(), fresh(), StartMMA([]float64{1, 1}),
		func(s *MMAState) error {
			file, err := json.Marshal(s)
			files = append(files, file)
			return err
		}))(t)
	must.Hold(t, want.Rejected != 0, "nothing was rejected: the test has lost its point")
	for _, file := range files {
		var s MMAState
		must.Do(t, json.Unmarshal(file, &s))
		got, err := m.In(bounds).Minimize(context.Background(), fresh(), &s, nil)
		must.Need(t, err == nil && reflect.DeepEqual(got, want),
			"resumed after iteration %d: %+v (%v), want %+v", s.Iterations, got, err, want)
	}
}

func TestMMARefuses(t *testing.T) {
	ctx := context.Background()
	must.Refuse((MMA{}).Minimize(ctx, beale(), nil, nil))(t, "", "no state was accepted")
	must.Refuse((MMA{}).Minimize(ctx, beale(), StartMMA([]float64{1}), nil))(t, "", "one parameter of two was accepted")
	ok := MMAState{X: []float64{1, 1}, Gradient: []float64{1, 1}, Step: []float64{0, 0}, Sigma: []float64{1, 1}, Rho: 1}
	for what, change := range map[string]func(s *MMAState){"rho": func(s *MMAState) { s.Rho = 0 },
		"sigma": func(s *MMAState) { s.Sigma = []float64{1, -1} }, "count": func(s *MMAState) { s.Iterations = -1 }} {
		s := ok
		if _, err := (MMA{MaxEvaluations: 3}).Minimize(ctx, beale(), &s, nil); err != nil {
			t.Errorf("%v", err)
		}
		change(&s)
		must.Refuse((MMA{MaxEvaluations: 3}).Minimize(ctx, beale(), &s, nil))(t, "damaged", what)
	}
	damaged := &MMAState{X: []float64{1, 1}, Gradient: []float64{1, 1}}
	must.Refuse((MMA{}).Minimize(ctx, beale(), damaged, nil))(t, "", "a state without asymptotes was accepted")
	wall := beale()
	wall.eval = func(x, g []float64) (float64, error) { return 0, errors.New("nowhere") }
	var outside *StartError
	if _, err := (MMA{}).Minimize(ctx, wall, StartMMA([]float64{1, 1}), nil); !errors.As(err, &outside) {
		t.Errorf("a start outside the domain: %v", err)
	}
}
