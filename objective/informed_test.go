package objective_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/krigo-gp/krigo/internal/must"
	"github.com/krigo-gp/krigo/kernel"
	"github.com/krigo-gp/krigo/matrix"
	"github.com/krigo-gp/krigo/objective"
	"github.com/krigo-gp/krigo/pacbayes"
	"github.com/krigo-gp/krigo/posterior"
)

// TestInformedPrior: if the prior is a posterior, the gradients of all three posterior families agree with differences.
// This includes the inducing inputs, which change k_P and m_P.
func TestInformedPrior(t *testing.T) {
	rng := rand.New(rand.NewPCG(21, 22))
	draw := func(n int) (matrix.Dense, []float64) {
		x, y := matrix.New(n, 2), make([]float64, n)
		for i := range x.Data {
			x.Data[i] = rng.NormFloat64()
		}
		for i := range y {
			y[i] = math.Sin(2*x.At(i, 0)) + 0.3*rng.NormFloat64()
		}
		return x, y
	}
	x1, y1 := draw(40)
	first := &objective.SparseProblem{Kernel: kernel.SE(2, true), Mean: kernel.LinearMean{},
		Rows: objective.Memory{X: x1, Y: y1}, M: 5, Objective: objective.VFE()}
	p := must.Get(first.Posterior(append([]float64{0.2, 0.9, 0.1, 0.05, math.Log(0.1)}, x1.Data[:10]...), 0))(t)
	k, m, err := p.Prior(0.4)
	must.Do(t, err)
	x2, y2 := draw(60)
	rows := objective.Memory{X: x2, Y: y2}
	loss, penalty := pacbayes.Loss{Kind: pacbayes.Band, Below: 0.6}, 5.
	z := x2.Data[20:28]
	at := append([]float64{math.Log(0.5)}, z...)
	sparse := &objective.SparseProblem{Kernel: k, Mean: m, Rows: rows, M: 4,
		Objective: &objective.SparsePAC{Alpha: 1, Loss: loss, Bound: pacbayes.KLBound, Penalty: penalty}}
	free := &objective.FreeFormProblem{Kernel: k, Mean: m, Rows: rows, M: 4, Noise: 0.5,
		Objective: &objective.FreePAC{Loss: loss, Bound: pacbayes.KLBound, Penalty: penalty}}
	freeAt := must.Get(free.StartFrom(at, 1))(t)
	for name, c := range map[string]struct {
		f interface {
			Evaluate(x, gradient []float64) (float64, error)
		}
		x []float64
	}{
		"full": {&objective.Problem{Kernel: k, Mean: m, X: x2, Y: y2,
			Objective: &objective.PAC{Loss: loss, Bound: pacbayes.KLBound, Penalty: penalty}}, []float64{math.Log(0.5)}},
		"sparse": {sparse, at}, "free": {free, freeAt},
	} {
		gradient := make([]float64, len(c.x))
		must.Get(c.f.Evaluate(c.x, gradient))(t)
		for i := range c.x {
			const h = 1e-5
			step := func(d float64) float64 {
				x := append([]float64(nil), c.x...)
				x[i] += d
				return must.Get(c.f.Evaluate(x, nil))(t)
			}
			want := (8*(step(h)-step(-h)) - (step(2*h) - step(-2*h))) / (12 * h)
			must.Near(t, gradient[i], want, 1e-7*math.Max(1, math.Abs(want)), fmt.Sprintf("%s: derivative %d", name, i))
		}
	}
	// The posterior's predictions and KL give the objective's value.
	q := must.Get(sparse.Posterior(at, 1))(t)
	mean, variance := make([]float64, 60), make([]float64, 60)
	q.Latent(x2, mean, variance)
	risk := must.Get(pacbayes.Sample{Y: y2, Mean: mean, Variance: variance}.Risk(loss, nil, nil))(t)
	value, _ := sparse.Evaluate(at, nil)
	if want, _, _ := pacbayes.KLBound.Evaluate(risk, q.KL(), penalty, 60); math.Abs(value-want) > 1e-9 {
		t.Errorf("the objective is %v, its posterior's bound %v", value, want)
	}
	// With a huge noise variance the data hardly count, so Q is P.
	at[0] = math.Log(1e9)
	vague, err := posterior.NewExact(posterior.Given{Kernel: k, Mean: m, Noise: 1e9, X: x2, Y: y2})
	must.Hold(t, err == nil && vague.KL() <= 1e-6, "KL %v, %v", vague.KL(), err)
}
