package posterior_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/krigo-gp/krigo/internal/must"
	"github.com/krigo-gp/krigo/kernel"
	"github.com/krigo-gp/krigo/kernel/kerneltest"
	"github.com/krigo-gp/krigo/matrix"
	"github.com/krigo-gp/krigo/objective"
	"github.com/krigo-gp/krigo/posterior"
)

func rowsOf(rng *rand.Rand, n, d int) (matrix.Dense, []float64) {
	x, y := matrix.New(n, d), make([]float64, n)
	for i := range x.Data {
		x.Data[i] = rng.NormFloat64()
	}
	for i := range y {
		y[i] = math.Sin(2*x.At(i, 0)) + 0.2*rng.NormFloat64()
	}
	return x, y
}

// priors returns an exact and a sparse posterior to be used as priors, with a mean.
func priors(t *testing.T) (kernel.Kernel, map[string]*posterior.Posterior) {
	t.Helper()
	rng := rand.New(rand.NewPCG(2, 3))
	k, _ := kernel.Parse("se+linear", 2, true)
	theta := []float64{0.3, 0.7, -0.2, -1}
	beta := []float64{0.4, 0.1, -0.3}
	x, y := rowsOf(rng, 30, 2)
	exact := must.Get(posterior.NewExact(posterior.Given{Kernel: k, Theta: theta, Mean: kernel.LinearMean{Dim: 2},
		Beta:  beta,
		Noise: 0.1, X: x, Y: y}))(t)
	problem := &objective.SparseProblem{Kernel: k, Mean: kernel.LinearMean{Dim: 2}, Rows: objective.Memory{X: x, Y: y},
		M: 6, Objective: objective.VFE()}
	sparse := must.Get(problem.Posterior(append(append(append([]float64(nil), theta...), append(beta, math.Log(0.1))...),
		x.Data[:12]...), 0))(t)
	return k, map[string]*posterior.Posterior{"exact": exact, "sparse": sparse}
}

// TestPriorConforms: a posterior's covariance is a kernel like any other. Its diagonal, without the temper, is the
// variance that the posterior predicts.
func TestPriorConforms(t *testing.T) {
	_, ps := priors(t)
	rng := rand.New(rand.NewPCG(4, 5))
	for name, p := range ps {
		t.Run(name, func(t *testing.T) {
			k, m, err := p.Prior(0.3)
			must.Do(t, err)
			kerneltest.Run(t, k, 2, nil)
			x, _ := rowsOf(rng, 300, 2)
			mean, variance := make([]float64, 300), make([]float64, 300)
			p.Latent(x, mean, variance)
			got, diag := make([]float64, 300), make([]float64, 300)
			m.At(nil, x, got)
			k.Diag(nil, x, diag)
			for i := range got {
				if math.Abs(got[i]-mean[i]) > 1e-12 || math.Abs(diag[i]-0.3*variance[i]) > 1e-12 {
					t.Fatalf("row %d: mean %v, want %v; variance %v, want %v", i, got[i], mean[i], diag[i], 0.3*variance[i])
				}
			}
			// The mean's derivative in its inputs.
			bar, dX := make([]float64, 300), matrix.New(300, 2)
			bar[7] = 1.5
			m.PullInputs(nil, x, bar, dX)
			for j := range 2 {
				const h = 1e-5
				x.Row(7)[j] += h
				m.At(nil, x, got)
				up := got[7]
				x.Row(7)[j] -= 2 * h
				m.At(nil, x, got)
				x.Row(7)[j] += h
				must.Near(t, dX.At(7, j), 1.5*(up-got[7])/(2*h), 1e-7, fmt.Sprintf("∂mean/∂x_%d", j))
			}
			must.Hold(t, dX.At(8, 0) == 0, "another row has a derivative")
			// Q = P predicts the same as P, at no divergence.
			q := must.Get(p.Unconditioned(0.3))(t)
			q.Latent(x, got, diag)
			if math.Abs(got[9]-mean[9]) > 1e-12 || math.Abs(diag[9]-0.3*variance[9]) > 1e-12 || q.KL() != 0 {
				t.Errorf("Q = P predicts %v, %v at KL %v", got[9], diag[9], q.KL())
			}
			if back, temper := q.OfPrior(); &back.Theta[0] != &p.Theta[0] || temper != 0.3 {
				t.Errorf("the prior's prior: %v, %v", back, temper)
			}
		})
	}
}

// TestTwoSteps: conditioning on some rows and then on the rest gives the same as conditioning on all rows.
func TestTwoSteps(t *testing.T) {
	k, ps := priors(t)
	p := ps["exact"]
	rng := rand.New(rand.NewPCG(6, 7))
	x2, y2 := rowsOf(rng, 25, 2)
	kp, mp, err := p.Prior(1)
	must.Do(t, err)
	two := must.Get(posterior.NewExact(posterior.Given{Kernel: kp, Mean: mp, Noise: 0.1, X: x2, Y: y2}))(t)
	x1, y1 := rowsOf(rand.New(rand.NewPCG(2, 3)), 30, 2) // the same rows as in priors
	both := matrix.Of(55, 2, append(append([]float64(nil), x1.Data...), x2.Data...))
	one := must.Get(posterior.NewExact(posterior.Given{Kernel: k, Theta: p.Theta, Mean: p.Mean, Beta: p.Beta, Noise: 0.1,
		X: both, Y: append(append([]float64(nil), y1...), y2...)}))(t)
	x, _ := rowsOf(rng, 40, 2)
	m1, v1, m2, v2 := make([]float64, 40), make([]float64, 40), make([]float64, 40), make([]float64, 40)
	one.Latent(x, m1, v1)
	two.Latent(x, m2, v2)
	for i := range m1 {
		if math.Abs(m1[i]-m2[i]) > 1e-9 || math.Abs(v1[i]-v2[i]) > 1e-9 {
			t.Fatalf("row %d: in one step %v, %v; in two %v, %v", i, m1[i], v1[i], m2[i], v2[i])
		}
	}
	if kl := two.KL(); !(kl > 0.1) {
		t.Errorf("KL to the first posterior is %v", kl)
	}
}
