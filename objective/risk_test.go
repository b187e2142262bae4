package objective_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/krigo-gp/krigo/internal/linalg"
	"github.com/krigo-gp/krigo/kernel"
	"github.com/krigo-gp/krigo/matrix"
	"github.com/krigo-gp/krigo/objective"
)

// TestRiskBound draws targets from one GP and bounds the divergence of another one from it: the
// bound fails in a share δ of draws at most.
func TestRiskBound(t *testing.T) {
	const n, alpha, delta, draws = 12, 0.6, 0.2, 1500
	rng := rand.New(rand.NewPCG(41, 43))
	x, y := matrix.New(n, 1), make([]float64, n)
	for i := range n {
		x.Data[i] = 4 * rng.Float64()
	}
	covariance := func(theta []float64, noise float64) matrix.Dense {
		c := matrix.New(n, n)
		kernel.FillSymmetric(kernel.SE(1, false), theta, x, c)
		c.AddDiagonal(noise)
		return c
	}
	theta, noise := []float64{0.5, 0.2}, 0.3
	c, truth := covariance(theta, noise), covariance([]float64{-0.5, 0}, 0.2)
	divergence, err := objective.RenyiDivergence(c, truth, alpha)
	if err != nil {
		t.Fatal(err)
	}
	if self, err := objective.RenyiDivergence(truth, truth, alpha); err != nil || math.Abs(self) > 1e-12 || !(divergence > 0.1) {
		t.Fatalf("divergence %v, from itself %v (%v)", divergence, self, err)
	}
	if err := linalg.Cholesky(truth); err != nil {
		t.Fatal(err)
	}
	p := &objective.RenyiProblem{Kernel: kernel.SE(1, false), Mean: kernel.ZeroMean{}, Rows: objective.Memory{X: x, Y: y}, M: 3, Alpha: alpha}
	at := append(append([]float64{}, theta...), math.Log(noise), 0.5, 2, 3.5)
	failed := 0
	for range draws {
		white := make([]float64, n)
		square := 0.0
		for i := range white {
			white[i] = rng.NormFloat64()
			square += white[i] * white[i]
		}
		for i := range y {
			y[i] = linalg.Dot(truth.Row(i)[:i+1], white[:i+1])
		}
		value, err := p.Evaluate(at, nil)
		if err != nil {
			t.Fatal(err)
		}
		logTruth := -0.5 * (n*math.Log(2*math.Pi) + linalg.LogDet(truth) + square)
		if divergence/n > objective.RiskBound(n, alpha, logTruth, -value, delta) {
			failed++
		}
	}
	if share := float64(failed) / draws; share > delta {
		t.Errorf("the bound failed in a share %v of draws, δ = %v", share, delta)
	}
	if _, err := objective.RenyiDivergence(c, c, 1); err == nil {
		t.Error("α = 1 was accepted")
	}
}
