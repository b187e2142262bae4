package method_test

import (
	"testing"

	"github.com/krigo-gp/krigo/kernel"
	"github.com/krigo-gp/krigo/matrix"
	"github.com/krigo-gp/krigo/method"
	"github.com/krigo-gp/krigo/objective"
)

// TestRenyiSchedule: on batches α is 0 after a fifth of the steps; with all rows in every step at the end.
func TestRenyiSchedule(t *testing.T) {
	rows := objective.Memory{X: matrix.New(9, 1), Y: make([]float64, 9)}
	task := method.Task{Kernel: kernel.SE(1, false), Mean: kernel.ZeroMean{}, Rows: rows, N: 9, M: 2}
	for name, schedule := range method.Anneals {
		for _, c := range []struct {
			batches *method.Batches
			share   float64
			zero    bool
		}{{nil, 0.2, false}, {nil, 0.99, false}, {nil, 1, true}, {&method.Batches{}, 0, false},
			{&method.Batches{}, 0.19, false}, {&method.Batches{}, 0.2, true}, {&method.Batches{}, 1, true}} {
			p := method.Renyi{Batches: c.batches, Schedule: schedule}.Bind(task).Objective().(*objective.RenyiProblem)
			p.SetProgress(c.share)
			if (p.Alpha == 0) != c.zero || c.share == 0 && p.Alpha != 0.99 {
				t.Errorf("%s, %+v: α = %v", name, c, p.Alpha)
			}
		}
	}
}

// TestNearestBatches: batches of rows next to one another are the default of what isn't a sum over rows.
func TestNearestBatches(t *testing.T) {
	for _, c := range []struct {
		choice  method.Choice
		batches string
	}{
		{method.Choice{Name: method.RenyiName, Optimizer: "adam"}, "nearest"},
		{method.Choice{Name: method.RenyiName, Batch: 100}, "nearest"},
		{method.Choice{Name: method.EvidenceName, Optimizer: "sgd"}, "nearest"},
		{method.Choice{Name: method.RenyiName, Batches: "uniform", Optimizer: "adam"}, "uniform"},
		{method.Choice{Name: method.RenyiName, Optimizer: "lbfgs"}, "uniform"},
		{method.Choice{Name: method.RenyiName}, ""},
		{method.Choice{Name: method.EvidenceName}, "uniform"},
		{method.Choice{Name: method.SVGPName}, "uniform"},
		{method.Choice{Name: method.KLPACName, Posterior: "free", Batch: 10}, "uniform"},
	} {
		d := c.choice.WithDefaults()
		if errs := d.Check(method.Use{}); d.Batches != c.batches || len(errs) > 0 {
			t.Errorf("%+v: batches %q, %v", c.choice, d.Batches, errs)
		}
	}
}
