package foreign

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/krigo-gp/krigo/kernel"
	"github.com/krigo-gp/krigo/matrix"
	"github.com/krigo-gp/krigo/objective"
	"github.com/krigo-gp/krigo/objective/objectivetest"
	"github.com/krigo-gp/krigo/pacbayes"
)

var graded = Graded{{Kind: pacbayes.Band, Below: 0.3}, {Kind: pacbayes.Band, Below: 0.6},
	{Kind: pacbayes.ClippedSquare, Below: 1.2}}

// risk returns the mean expected loss of draws from N(mean, variance).
func risk(y, mean, variance []float64) float64 {
	value, _, err := graded.Expect(pacbayes.Sample{Y: y, Mean: mean, Variance: variance, Rows: len(y)}, 1,
		1/float64(len(y)), pacbayes.Derivatives{})
	if err != nil {
		panic(err)
	}
	return value
}

// TestLoss shows that a loss from outside krigo passes the tests of every objective, trains a posterior, and has a
// bound that holds on further rows.
func TestLoss(t *testing.T) {
	objectivetest.RunProblem(t, func(k kernel.Kernel, mean kernel.Mean, x matrix.Dense,
		y []float64) objectivetest.Problem {
		return &objective.FreeFormProblem{Kernel: k, Mean: mean, Rows: objective.Memory{X: x, Y: y}, M: 3,
			Objective: &objective.SVGP{Noise: graded}}
	})
	const n, delta = 400, 0.01
	rng := rand.New(rand.NewPCG(3, 4))
	rows := func() (x matrix.Dense, y []float64) {
		x, y = matrix.New(n, 1), make([]float64, n)
		for i := range n {
			x.Set(i, 0, 6*rng.Float64()-3)
			y[i] = math.Sin(2*x.At(i, 0)) + 0.2*rng.NormFloat64()
		}
		return x, y
	}
	x, y := rows()
	p := problem(x, y, graded)
	at := start(p, x) // only Q depends on the rows, since the prior isn't trained
	p.Split(at).LogNoise[0] = math.Log(0.2)
	bound := func() (risks [2]float64, bound float64) {
		must(p.Evaluate(at, nil))(t)
		q := must(p.Posterior(at))(t)
		mean, variance := make([]float64, n), make([]float64, n)
		fresh, freshY := rows()
		q.Latent(x, mean, variance)
		risks[0] = risk(y, mean, variance)
		q.Latent(fresh, mean, variance)
		risks[1] = risk(freshY, mean, variance)
		return risks, pacbayes.KLInverseUp(risks[0], (q.KL()+pacbayes.KLBound.Penalty(0, n, delta))/n)
	}
	before, _ := bound()
	for range 60 {
		must(p.StepBatch(at, make([]float64, p.Dim()), all(n), 0.3))(t)
	}
	after, b := bound()
	if !(after[0] < before[0]/2 && after[1] <= b && b < before[0]) {
		t.Errorf("risk %v before, %v after, on rows and further ones; bound %v", before, after, b)
	}
	t.Log(before, after, b)
}
