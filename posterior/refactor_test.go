package posterior_test

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/krigo-gp/krigo/kernel"
	"github.com/krigo-gp/krigo/matrix"
	"github.com/krigo-gp/krigo/objective"
	"github.com/krigo-gp/krigo/posterior"
)

// TestRefactored: an honest L is accepted, in several blocks and with a white
// kernel, whatever stands above its diagonal; another one is refused.
func TestRefactored(t *testing.T) {
	k, err := kernel.Parse("matern52+white", 2, false)
	if err != nil {
		t.Fatal(err)
	}
	x, y := rowsOf(rand.New(rand.NewPCG(3, 4)), 700, 2)
	q, err := posterior.NewExact(k, []float64{0.3, 0.1, -2}, kernel.ZeroMean{}, nil, x, y, 0.04)
	if err != nil {
		t.Fatal(err)
	}
	q.Chol.Set(3, 600, 7)
	same(t, q)
	for _, at := range [][2]int{{0, 0}, {20, 10}, {650, 10}, {650, 640}, {699, 699}} {
		for _, v := range []float64{0.1, math.NaN()} {
			l := q.Chol.At(at[0], at[1])
			q.Chol.Set(at[0], at[1], l+v)
			refused(t, q, "the factor of the posterior's covariance")
			q.Chol.Set(at[0], at[1], l)
		}
	}
	q.Noise *= 1.1
	refused(t, q, "noise variance")
	q.Noise = math.Inf(1)
	refused(t, q, "noise variance is +Inf")
}

// same makes sure that a posterior made anew is what it was.
func same(t *testing.T, q *posterior.Posterior) {
	t.Helper()
	again, err := q.Refactored()
	if err != nil {
		t.Error(err)
		return
	}
	x, _ := rowsOf(rand.New(rand.NewPCG(8, 9)), 50, q.Support.Cols)
	m, v, m2, v2 := make([]float64, 50), make([]float64, 50), make([]float64, 50), make([]float64, 50)
	q.Latent(x, m, v)
	again.Latent(x, m2, v2)
	for i := range m {
		if math.Abs(m[i]-m2[i]) > 1e-10 || math.Abs(v[i]-v2[i]) > 1e-10 {
			t.Fatalf("row %d: %v ± %v, made anew %v ± %v", i, m[i], v[i], m2[i], v2[i])
		}
	}
	if kl, want := again.KL(), q.KL(); math.Abs(kl-want) > 1e-9*(1+want) {
		t.Errorf("KL %v, made anew %v", want, kl)
	}
}

func refused(t *testing.T, q *posterior.Posterior, want string) {
	t.Helper()
	if again, err := q.Refactored(); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%v, %v; want %q", again, err, want)
	}
}

// TestRefactoredPriors: those of priors, and of what was learnt or not learnt on them.
func TestRefactoredPriors(t *testing.T) {
	_, ps := priors(t)
	x, y := rowsOf(rand.New(rand.NewPCG(5, 6)), 40, 2)
	for name, p := range ps {
		t.Run(name, func(t *testing.T) {
			same(t, p)
			prior, err := p.Unconditioned(0.7)
			if err != nil {
				t.Fatal(err)
			}
			same(t, prior)
			learnt, err := posterior.NewExact(prior.Kernel, nil, prior.Mean, nil, x, y, 0.2)
			if err != nil {
				t.Fatal(err)
			}
			same(t, learnt)
			again, err := learnt.Refactored()
			if err != nil {
				t.Fatal(err)
			}
			p.Chol.Row(5)[2] += 0.1
			if before, _ := learnt.OfPrior(); before.Chol.At(5, 2) != p.Chol.At(5, 2) {
				t.Fatal("the prior's factor isn't that of the posterior")
			}
			if made, _ := again.OfPrior(); made.Chol.At(5, 2) == p.Chol.At(5, 2) {
				t.Error("the kernel made anew has the stored factor of the prior")
			}
			refused(t, learnt, "the prior: the factor")
			refused(t, prior, "the prior: the factor")
		})
	}
}

// TestRefactoredJitter: what a sparse posterior has on its diagonal is found to all digits.
func TestRefactoredJitter(t *testing.T) {
	k, err := kernel.Parse("se", 1, false)
	if err != nil {
		t.Fatal(err)
	}
	x, y := rowsOf(rand.New(rand.NewPCG(1, 2)), 200, 1)
	for _, jitter := range []float64{0, 1e-6, 3.7e-6} {
		problem := &objective.SparseProblem{Kernel: k, Mean: kernel.ZeroMean{}, Rows: objective.Memory{X: x, Y: y}, M: 60,
			Objective: objective.VFE(), MinJitter: jitter}
		q, err := problem.Posterior(append([]float64{1, 0.3, math.Log(0.1)}, x.Data[:60]...), 0)
		if err != nil {
			t.Fatal(err)
		}
		if jitter == 0 && !(problem.Jitter > 0) {
			t.Fatal("no jitter was needed")
		}
		same(t, q)
		q.CholB.Row(7)[7] *= -1
		refused(t, q, "factor of B isn't one: row 8")
		q.CholB.Row(7)[7] *= -1
		q.Weights[3] = math.NaN()
		refused(t, q, "weights aren't finite")
	}
}

// TestRefactoredForgeries: of two rows that nearly coincide K + sI has next to nothing in one
// direction, and an L with even less there differs from the honest one by rounding, element by
// element. It would take any KL down.
func TestRefactoredForgeries(t *testing.T) {
	k, err := kernel.Parse("se", 1, false)
	if err != nil {
		t.Fatal(err)
	}
	x, y := rowsOf(rand.New(rand.NewPCG(1, 2)), 20, 1)
	copy(x.Data[18:], []float64{40, 40 + 1e-5})
	q, err := posterior.NewExact(k, []float64{-4, -2}, kernel.ZeroMean{}, nil, x, y, 1e-10)
	if err != nil {
		t.Fatal(err)
	}
	same(t, q)
	q.Chol.Set(19, 19, q.Chol.At(19, 19)/1e3)
	refused(t, q, "the factor")

	sparse := *q
	sparse.CholB = matrix.New(20, 20)
	sparse.CholB.AddDiagonal(1)
	refused(t, &sparse, "the factor")
}
