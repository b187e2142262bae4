package objective_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/krigo-gp/krigo/internal/must"
	"github.com/krigo-gp/krigo/kernel"
	"github.com/krigo-gp/krigo/matrix"
	"github.com/krigo-gp/krigo/objective"
)

// TestIterativeRenyi: the estimate is within four standard errors of the dense α-ELBO. The gradient is the estimate's
// own gradient, and with many probes it is near the dense gradient.
func TestIterativeRenyi(t *testing.T) {
	const n, m = 120, 8
	x, y := boston(n, 3)
	z := slices.Clone(x.Data[:3*m])
	for i := range z {
		z[i] += 0.3 * math.Sin(float64(i)) // inducing inputs that aren't rows
	}
	at := append([]float64{0.3, 0.1, 0.2, -1}, z...)
	for _, alpha := range []float64{0, 0.5, 0.95} {
		mean := kernel.LinearMean{}
		dense := &objective.RenyiProblem{Kernel: kernel.SE(3, false), Mean: mean, Rows: objective.Memory{X: x, Y: y}, M: m,
			Alpha: alpha}
		wantG, g := make([]float64, len(at)), make([]float64, len(at))
		want := must.Get(dense.Evaluate(at, wantG))(t)
		p := &objective.IterativeRenyi{Kernel: dense.Kernel, Mean: mean, X: x, Y: y, M: m, Alpha: alpha, Probes: 60,
			Tolerance: 1e-10}
		v := must.Get(p.Evaluate(at, g))(t)
		if !(math.Abs(v-want) < 4*p.StandardError+1e-8*math.Abs(want)) || !(p.StandardError < 0.05*math.Abs(want)) {
			t.Errorf("α = %v: %v ± %v, dense %v", alpha, v, p.StandardError, want)
		}
		var largest float64
		for _, d := range wantG {
			largest = math.Max(largest, math.Abs(d))
		}
		for i, name := range dense.Names() {
			must.Hold(t, math.Abs(g[i]-wantG[i]) <= 0.2*largest,
				"α = %v, d/d %s: %v, dense %v", alpha, name, g[i], wantG[i])
			if i > 5 && i%7 != 0 {
				continue // all inducing inputs are alike, so a few suffice
			}
			moved := func(h float64) float64 {
				to := slices.Clone(at)
				to[i] += h
				return must.Get(p.Evaluate(to, nil))(t)
			}
			const h = 1e-4
			must.Near(t, g[i], (moved(h)-moved(-h))/(2*h), 1e-4*largest, fmt.Sprintf("α = %v, d/d %s", alpha, name))
		}
	}
	must.Refuse((&objective.IterativeRenyi{Kernel: kernel.SE(3, false), Mean: kernel.ZeroMean{}, X: x, Y: y, M: m,
		Alpha: 1}).Evaluate(append(matrix.Of(1, 3, []float64{0, 0, 0}).Data, z...), nil))(t, "", "α = 1 was accepted")
}
