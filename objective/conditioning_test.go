package objective_test

import (
	"encoding/json"
	"math"
	"os"
	"testing"

	"github.com/krigo-gp/krigo/internal/must"
	"github.com/krigo-gp/krigo/kernel"
	"github.com/krigo-gp/krigo/matrix"
	"github.com/krigo-gp/krigo/objective"
	"github.com/krigo-gp/krigo/pacbayes"
	"github.com/krigo-gp/krigo/posterior"
)

// TestConditioning: on a ladder of condition numbers of K_ZZ, up to 10⁵⁰, values and gradients are those of 300 digits
// with the reported jitter, and VFE isn't below its exact value. A value is off by at most 10⁻⁶ of it, or by what the
// posterior's Doubt says.
func TestConditioning(t *testing.T) {
	raw := must.Get(os.ReadFile("../testdata/golden/conditioning.json"))(t)
	var file struct {
		X, Y, Z                           []float64
		Noise, Variance, Epsilon, Penalty float64
		Places                            []int
		Ladder                            []struct {
			LogL2             float64 `json:"log_l2"`
			Condition, Jitter float64
			Exact             float64
			Values            map[string]float64
			Gradients         map[string][]float64
		}
	}
	must.Do(t, json.Unmarshal(raw, &file))
	n := len(file.X)
	m := len(file.Z)
	rows := objective.Memory{X: matrix.Of(n, 1, file.X), Y: file.Y}
	k := kernel.SE(1, false)
	loss := pacbayes.Loss{Kind: pacbayes.Band, Below: file.Epsilon, Above: file.Epsilon}
	sparse := map[string]objective.Sparse{"vfe": objective.VFE(), "fitc": objective.FITC(), "dtc": objective.DTC(),
		"pep": objective.PEP(0.5), "pac": &objective.SparsePAC{Alpha: 1, Loss: loss, Bound: pacbayes.KLBound,
			Penalty: file.Penalty}}
	for _, c := range file.Ladder {
		at := append([]float64{c.LogL2, math.Log(file.Variance), math.Log(file.Noise)}, file.Z...)
		// check compares a value and a gradient with those of 300 digits.
		check := func(name, like string, value float64, gradient []float64, jitter, doubt float64) {
			t.Helper()
			if math.Abs(jitter-c.Jitter) > 1e-9*c.Jitter {
				t.Errorf("condition %.1e, %s: jitter %v, not %v", c.Condition, name, jitter, c.Jitter)
			}
			want := c.Values[like]
			off := math.Abs(value - want)
			if like == "pac" {
				doubt /= float64(n)
			}
			if !(off <= max(1e-6*math.Abs(want), min(doubt, 3e-5*math.Abs(want)))) {
				t.Errorf("condition %.1e, %s: %v, not %v, with a doubt of %v", c.Condition, name, value, want, doubt)
			}
			most := 0.0
			for _, d := range c.Gradients[like] {
				most = max(most, math.Abs(d))
			}
			for i, d := range c.Gradients[like] {
				at := i
				if i > 2 {
					at = 3 + file.Places[i-3]
				}
				if gradient != nil && !(math.Abs(gradient[at]-d) <= 3e-4*most) {
					t.Errorf("condition %.1e, %s: derivative %d is %v, not %v", c.Condition, name, i, gradient[at], d)
				}
			}
		}
		doubts := map[float64]float64{}
		for _, alpha := range []float64{0, 0.5, 1} {
			p := &objective.SparseProblem{Kernel: k, Mean: kernel.ZeroMean{}, Rows: rows, M: m}
			q := must.Get(p.Posterior(at, alpha))(t)
			doubts[alpha] = q.Solution.(*posterior.Inducing).Doubt(q)
			must.Get(q.Refactored())(t) // a model file's factor gives the jitter back
			if alpha == 1 {
				must.Hold(t, q.KLRounding() < 0.03*q.KL(), "KL %v has a slack of %v", q.KL(), q.KLRounding())
				check("kl", "kl", q.KL(), nil, p.Jitter, doubts[1])
			}
		}
		for name, o := range sparse {
			p := &objective.SparseProblem{Kernel: k, Mean: kernel.ZeroMean{}, Rows: rows, M: m, Objective: o}
			gradient := make([]float64, len(at))
			value := must.Get(p.Evaluate(at, gradient))(t)
			alpha := map[string]float64{"fitc": 1, "pac": 1, "pep": 0.5}[name]
			check(name, name, value, gradient, p.Jitter, doubts[alpha])
			if name == "vfe" && value < c.Exact-1e-6*math.Abs(c.Exact) {
				t.Errorf("condition %.1e: VFE %v is below the exact %v", c.Condition, value, c.Exact)
			}
		}
		free := &objective.FreeFormProblem{Kernel: k, Mean: kernel.ZeroMean{}, Rows: rows, M: m, Objective: &objective.SVGP{}}
		x := must.Get(free.StartFrom(at, 0))(t)
		gradient := make([]float64, len(x))
		check("svgp", "vfe", must.Get(free.Evaluate(x, gradient))(t), gradient, free.Jitter, doubts[0])
		renyi := &objective.RenyiProblem{Kernel: k, Mean: kernel.ZeroMean{}, Rows: rows, M: m, Alpha: 0.9}
		gradient = make([]float64, len(at))
		check("renyi", "renyi", must.Get(renyi.Evaluate(at, gradient))(t), gradient, renyi.Jitter, doubts[0])
	}
}
