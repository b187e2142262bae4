package method

import (
	"testing"

	"github.com/krigo-gp/krigo/internal/must"
	"github.com/krigo-gp/krigo/kernel"
	"github.com/krigo-gp/krigo/matrix"
	"github.com/krigo-gp/krigo/objective"
)

// TestRenyiSchedule shows when α becomes 0: after a fifth of the steps if the steps use batches, and at the end of
// training if they use all rows.
func TestRenyiSchedule(t *testing.T) {
	rows := objective.Memory{X: matrix.New(9, 1), Y: make([]float64, 9)}
	task := Task{Kernel: kernel.SE(1, false), Mean: kernel.ZeroMean{}, Rows: rows, N: 9, M: 2}
	for name := range Anneals() {
		for _, c := range []struct {
			optimizer string
			share     float64
			zero      bool
		}{{"", 0.2, false}, {"", 0.99, false}, {"", 1, true}, {"adam", 0, false}, {"adam", 0.19, false},
			{"adam", 0.2, true}, {"adam", 1, true}} {
			m := Renyi{Anneal: name}
			m.Optimizer = c.optimizer
			p := m.Bind(task).(*renyi)
			p.SetProgress(c.share)
			must.Hold(t, (p.Alpha == 0) == c.zero && (c.share != 0 || p.Alpha == 0.99),
				"%s, %+v: α = %v", name, c, p.Alpha)
		}
		// Algorithm 1 of "Optimize to Generalize" lowers α until the last step.
		for _, whole := range []float64{0.5, 1} {
			m := Choice{Name: RenyiName, Anneal: name, AnnealShare: whole}.WithDefaults().Method().(Renyi)
			p := m.Bind(task).(*renyi)
			p.SetProgress(whole - 0.01)
			falling := p.Alpha
			p.SetProgress(whole)
			must.Hold(t, m.OnBatches() && falling > 0 && p.Alpha == 0, "%s, share %v: α = %v, %v", name,
				whole, falling, p.Alpha)
		}
	}
}

// TestNearestBatches shows that batches of neighbouring rows are the default if the objective isn't a sum over rows.
func TestNearestBatches(t *testing.T) {
	for _, c := range []struct {
		choice  Choice
		batches string
	}{
		{Choice{Name: RenyiName, Optimizer: "adam"}, "nearest"},
		{Choice{Name: RenyiName, Batch: 100}, "nearest"},
		{Choice{Name: EvidenceName, Optimizer: "sgd"}, "nearest"},
		{Choice{Name: RenyiName, Batches: "uniform", Optimizer: "adam"}, "uniform"},
		{Choice{Name: RenyiName, Optimizer: "lbfgs"}, "uniform"},
		{Choice{Name: RenyiName}, ""},
		{Choice{Name: EvidenceName}, "uniform"},
		{Choice{Name: SVGPName}, "uniform"},
		{Choice{Name: KLPACName, Posterior: "free", Batch: 10}, "uniform"},
	} {
		d := c.choice.WithDefaults()
		if errs := d.Check(Use{}); d.Batches != c.batches || len(errs) > 0 {
			t.Errorf("%+v: batches %q, %v", c.choice, d.Batches, errs)
		}
	}
}
