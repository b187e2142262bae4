package krigo_test

import (
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/krigo-gp/krigo"
)

// paramsOf returns a sparse model's parameters without its q.
func paramsOf(m *krigo.Model) *krigo.Params {
	q := m.Posterior
	p := &krigo.Params{Kernel: q.Kernel.Spec(q.Theta), NoiseVariance: q.Noise}
	for i := range q.Support.Rows {
		p.Inducing = append(p.Inducing, q.Support.Row(i))
	}
	return p
}

// TestSVGP: whichever way it was trained, the posterior is that of vfe at the same
// parameters, and the value that was reached is about vfe's.
func TestSVGP(t *testing.T) {
	base := krigo.Options{Target: "MEDV", Inducing: 7, ARD: "off", FixInducing: true}
	o := base
	o.Objective = "vfe"
	vfe := fit(t, homes(), o).Training.ObjectiveValue
	for name, o := range map[string]krigo.Options{
		"lbfgs": {Optimizer: "lbfgs"}, "adam, all rows": {Epochs: 600}, "adam, batches": {Batch: 20, Epochs: 400},
	} {
		t.Run(name, func(t *testing.T) {
			with := base
			with.Objective, with.Optimizer, with.Batch, with.Epochs = "svgp", o.Optimizer, o.Batch, o.Epochs
			m := fit(t, homes(), with)
			if v := m.Training.ObjectiveValue; !(v > vfe-1e-3) || !(v < vfe+0.5) {
				t.Errorf("energy %v, vfe's %v", v, vfe)
			}
			for _, objective := range []string{"vfe", "svgp"} {
				e, err := krigo.Evaluate(homes(), paramsOf(m), krigo.Options{Target: "MEDV", Objective: objective})
				if err != nil {
					t.Fatal(err)
				}
				if d := math.Abs(e.Certificate.Bound - m.Certificate.Bound); !(d < 1e-8) || !(math.Abs(e.Certificate.KL-m.Certificate.KL) < 1e-6) {
					t.Errorf("bound %v, KL %v; with the posterior of %s %v, %v", m.Certificate.Bound, m.Certificate.KL, objective, e.Certificate.Bound, e.Certificate.KL)
				}
			}
			if m.ObservationNoise != m.Posterior.Noise {
				t.Errorf("observation noise %v, σ_n² %v", m.ObservationNoise, m.Posterior.Noise)
			}
		})
	}
}

// TestFreePosterior: a free-form posterior's bound is never above the collapsed one's, and
// its certificate is reproduced from the file.
func TestFreePosterior(t *testing.T) {
	for _, objective := range []string{"kl-pac", "sqrt-pac"} {
		base := krigo.Options{Target: "MEDV", Objective: objective, Inducing: 8, ARD: "off", Mean: "constant", TestFraction: 0.1}
		collapsed := fit(t, homes(), base)
		for _, batch := range []int{0, 20} {
			t.Run(fmt.Sprintf("%s, batch %d", objective, batch), func(t *testing.T) {
				o := base
				o.PosteriorFree, o.Batch = true, batch
				if batch > 0 {
					o.Epochs = 100
				}
				m := fit(t, homes(), o)
				if m.Certificate.Bound > collapsed.Certificate.Bound {
					t.Errorf("bound %v, of the collapsed posterior %v", m.Certificate.Bound, collapsed.Certificate.Bound)
				}
				if batch == 0 && !(m.Certificate.Bound < collapsed.Certificate.Bound-1e-4) {
					t.Errorf("bound %v gains nothing over %v", m.Certificate.Bound, collapsed.Certificate.Bound)
				}
				if !m.Certificate.Valid || !strings.Contains(strings.Join(m.Notices, "\n"), "free-form") {
					t.Errorf("valid %v, notices %q", m.Certificate.Valid, m.Notices)
				}
				path := filepath.Join(t.TempDir(), "m.krigo")
				if err := m.Save(path); err != nil {
					t.Fatal(err)
				}
				loaded, err := krigo.Load(path)
				if err != nil {
					t.Fatal(err)
				}
				again, err := krigo.Certify(loaded, homes(), 0)
				if err != nil || !again.Matches {
					t.Errorf("certified again: %+v, %v", again, err)
				}
			})
		}
	}
}

// TestFreePosteriorKeepsTheBetter: training that goes astray can't raise the bound.
func TestFreePosteriorKeepsTheBetter(t *testing.T) {
	base := krigo.Options{Target: "MEDV", Inducing: 8, ARD: "off"}
	collapsed := fit(t, homes(), base)
	o := base
	o.PosteriorFree, o.Batch, o.Epochs, o.LearningRate = true, 3, 2, 5
	if m := fit(t, homes(), o); m.Certificate.Bound > collapsed.Certificate.Bound {
		t.Errorf("bound %v, of the collapsed posterior %v", m.Certificate.Bound, collapsed.Certificate.Bound)
	}
}

func TestEvaluateRefusesFreePosteriors(t *testing.T) {
	p := &krigo.Params{Kernel: se(1, 1), NoiseVariance: 1, Inducing: [][]float64{{0, 0, 0}}}
	if _, err := krigo.Evaluate(homes(), p, krigo.Options{Target: "MEDV", PosteriorFree: true}); err == nil || !strings.Contains(err.Error(), "found by training") {
		t.Error(err)
	}
	p.Inducing = nil
	if _, err := krigo.Evaluate(homes(), p, krigo.Options{Target: "MEDV", Objective: "svgp"}); err == nil || !strings.Contains(err.Error(), "needs inducing inputs") {
		t.Error(err)
	}
}
