package krigo_test

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/krigo-gp/krigo"
	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/internal/must"
	"github.com/krigo-gp/krigo/kernel"
)

// TestDecide shows that a plan says what the fit then does, and that Decide refuses what the fit would refuse. The
// default also tries a straight line and steps after the best of the plan's kernels.
func TestDecide(t *testing.T) {
	for name, o := range map[string]krigo.Options{
		"default": {Data: krigo.Data{TestFraction: 0.1}},
		"sparse": {
			Method:  krigo.Method{Name: "vfe", Inducing: 7, Epochs: 3},
			Promise: krigo.Promise{Calibration: 0.25},
		},
		"auto": {
			Kernel: krigo.Kernel{ARD: "off"},
			Method: krigo.Method{InducingBy: "auto", Epochs: 3},
		},
		"grid": {Method: krigo.Method{Name: "kl-pac"}, Run: krigo.Run{Restarts: 2}},
	} {
		o.Data.Target = "MEDV"
		plan := must.Get(krigo.Decide(t.Context(), homes(), o))(t)
		m := trained(t, homes(), o)
		must.Hold(t, plan.Rows == m.All && string(plan.Options) == string(m.Fitted) &&
			(plan.M == m.Trained().Support.Rows || m.Trained().Inducing() <= 0) &&
			(plan.M > 0) == (m.Trained().Inducing() > 0) &&
			plan.Roles.Test == m.Counts[dataset.Test] &&
			plan.Roles.Calibration == m.Counts[dataset.Calibration] &&
			plan.Roles.Prior == m.Counts[dataset.Prior] &&
			plan.Roles.Certified == m.Counts[dataset.Certified] &&
			m.Training.Starts == plan.Starts*len(plan.Kernels)+map[string]int{"default": 2}[name],
			"%s: %+v; the fit's %v, %s, %d starts", name, plan, m.Counts, m.Fitted,
			m.Training.Starts)
	}
	must.Refuse(krigo.Decide(t.Context(), homes(), krigo.Options{
		Data:   krigo.Data{Target: "MEDV"},
		Method: krigo.Method{Inducing: 700},
	}))(t, "inducing 700")
}

// TestDecideRefuses: if options make Fit refuse, Decide refuses in the same words, before anything is trained.
func TestDecideRefuses(t *testing.T) {
	init := &krigo.Params{Kernel: kernel.Spec{Name: "se", Variance: 1, Lengthscales: []float64{1}}, NoiseVariance: 0.1}
	for want, o := range map[string]krigo.Options{
		"init: its kernel isn't matern32": {Kernel: krigo.Kernel{Expression: "matern32"}, Run: krigo.Run{Init: init}},
		"init: its kernel isn't matern12": {Kernel: krigo.Kernel{Expression: "matern12"},
			Run: krigo.Run{Init: init, FixParameters: true}},
		"only 68 rows to train on": {
			Method: krigo.Method{Name: "vfe", Inducing: 200},
			Prior:  krigo.Prior{Kind: "informed", Share: 0.8, Learn: true},
		},
		"init: json: unsupported value": {Run: krigo.Run{Init: &krigo.Params{NoiseVariance: math.NaN()}}},
		"solved by cg": {
			Method: krigo.Method{Name: "evidence", Solver: "cg"},
			Prior:  krigo.Prior{Kind: "informed", Learn: true},
		},
		"solved by nearest": {
			Method:  krigo.Method{Name: "renyi", Solver: "nearest"},
			Prior:   krigo.Prior{Kind: "informed"},
			Promise: krigo.Promise{MeanBound: "twice"},
		},
		"other data or other options": {Run: krigo.Run{Resume: &krigo.Checkpoint{Version: 2}}},
	} {
		o.Data.Target = "MEDV"
		o.Run.Progress = func(krigo.Event) { t.Errorf("%s: it trained", want) }
		_, decided := krigo.Decide(t.Context(), homes(), o)
		_, fitted := krigo.Fit(context.Background(), homes(), o)
		if decided == nil || fitted == nil || decided.Error() != fitted.Error() || !strings.Contains(decided.Error(), want) {
			t.Errorf("%s: %v, and the fit: %v", want, decided, fitted)
		}
	}
}

// TestValidate: options that name no method are valid if Fit, which chooses the method, takes the options.
func TestValidate(t *testing.T) {
	for _, o := range []krigo.Options{
		{Data: krigo.Data{Split: "last"}},
		{Method: krigo.Method{Solver: "cg"}},
		{Method: krigo.Method{Optimizer: "adam", Epochs: 2}},
		{Prior: krigo.Prior{Temper: []float64{1}}},
		{Promise: krigo.Promise{MeanBound: "both"}},
		{Promise: krigo.Promise{Bound: "pinsker"}},
	} {
		o.Data.Target = "MEDV"
		_, err := krigo.Decide(t.Context(), homes(), o)
		if valid := o.Validate(); (valid == nil) != (err == nil) {
			t.Errorf("%+v: %v, but of a table %v", o, valid, err)
		}
	}
	o := krigo.Options{
		Data:   krigo.Data{Target: "MEDV"},
		Method: krigo.Method{Optimizer: "lbfgs", Batch: 5},
	}
	must.Fail(t, o.Validate(), "adam and sgd")
}

// TestDeclaredByHand: constants that can't scale anything are refused.
func TestDeclaredByHand(t *testing.T) {
	for what, spoil := range map[string]func(*dataset.Scaling){
		"0 means and 13 scales": func(s *dataset.Scaling) { s.InputMean = nil },
		"13 means and 0 scales": func(s *dataset.Scaling) { s.InputScale = nil },
		"the target":            func(s *dataset.Scaling) { s.TargetScale = 0 },
		"input 13":              func(s *dataset.Scaling) { s.InputScale[12] = math.Inf(1) },
		"input 1 ":              func(s *dataset.Scaling) { s.InputMean[0] = math.NaN() },
	} {
		s := dataset.Identity(13)
		spoil(&s)
		_, err := krigo.Decide(t.Context(), homes(), krigo.Options{Data: krigo.Data{Target: "MEDV",
			Scaling: dataset.Declared, Declared: &s}})
		var usage *krigo.UsageError
		must.Hold(t, errors.As(err, &usage) && strings.Contains(err.Error(), what),
			"%s: %v", what, err)
	}
}

// TestEvaluateNothing: without parameters there is nothing to evaluate.
func TestEvaluateNothing(t *testing.T) {
	o := krigo.Options{Data: krigo.Data{Target: "MEDV"}}
	must.Refuse(krigo.Evaluate(t.Context(), homes(), nil, o))(t, "params")
}

// TestDamagedCheckpoint: a checkpoint that lacks a run it names is an error.
func TestDamagedCheckpoint(t *testing.T) {
	o := krigo.Options{
		Data:   krigo.Data{Target: "MEDV"},
		Kernel: krigo.Kernel{ARD: "off"},
		Method: krigo.Method{Epochs: 2},
	}
	var last krigo.Checkpoint
	o.Run.Save = func(c *krigo.Checkpoint) error { last = *c; return nil }
	trained(t, homes(), o)
	o.Run.Save, o.Run.Resume = nil, &last
	for key := range last.Curves {
		last.Curves[key] = nil
	}
	must.Fail(t, attempt(homes(), o), "damaged")
}
