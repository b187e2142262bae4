package krigo_test

import (
	"strings"
	"testing"

	"github.com/krigo-gp/krigo"
	"github.com/krigo-gp/krigo/dataset"
)

// TestDecide: a plan is what the fit then does, and refuses what the fit would refuse.
func TestDecide(t *testing.T) {
	for name, o := range map[string]krigo.Options{
		"default": {Data: krigo.Data{TestFraction: 0.1}},
		"sparse":  {Method: krigo.Method{Name: "vfe", Inducing: 7, Epochs: 3}, Promise: krigo.Promise{Calibration: 0.25}},
		"auto":    {Method: krigo.Method{Inducing: 0, InducingBy: "auto", Epochs: 3}, Kernel: krigo.Kernel{ARD: "off"}},
		"grid":    {Method: krigo.Method{Name: "kl-pac"}, Run: krigo.Run{Restarts: 2}},
	} {
		o.Data.Target = "MEDV"
		plan, err := krigo.Decide(homes(), o)
		if err != nil {
			t.Fatal(err)
		}
		m := trained(t, homes(), o)
		if plan.Rows != m.All || string(plan.Options) != string(m.Fitted) || plan.M != m.Trained().Support.Rows && m.Trained().Sparse() || (plan.M > 0) != m.Trained().Sparse() ||
			plan.Roles.Test != m.Counts[dataset.Test] || plan.Roles.Calibration != m.Counts[dataset.Calibration] || plan.Roles.Prior != m.Counts[dataset.Prior] || plan.Roles.Certified != m.Counts[dataset.Certified] ||
			m.Training.Starts != plan.Starts*len(plan.Kernels) {
			t.Errorf("%s: %+v; the fit's %v, %s, %d starts", name, plan, m.Counts, m.Fitted, m.Training.Starts)
		}
	}
	if _, err := krigo.Decide(homes(), krigo.Options{Data: krigo.Data{Target: "MEDV"}, Method: krigo.Method{Inducing: 700}}); err == nil || !strings.Contains(err.Error(), "inducing 700") {
		t.Errorf("%v", err)
	}
}
