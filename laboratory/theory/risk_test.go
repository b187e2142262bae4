package main

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/krigo-gp/krigo/internal/inducing"
	"github.com/krigo-gp/krigo/internal/linalg"
	"github.com/krigo-gp/krigo/internal/must"
	"github.com/krigo-gp/krigo/kernel"
	"github.com/krigo-gp/krigo/matrix"
	"github.com/krigo-gp/krigo/objective"
)

// TestRiskBound draws targets from one GP, and bounds the divergence of another GP from the first GP. The bound fails
// in at most a share δ of the draws.
func TestRiskBound(t *testing.T) {
	const n, alpha, delta, draws = 12, 0.6, 0.2, 1500
	rng := rand.New(rand.NewPCG(41, 43))
	x, y := matrix.New(n, 1), make([]float64, n)
	for i := range n {
		x.Data[i] = 4 * rng.Float64()
	}
	covariance := func(theta []float64, noise float64) matrix.Dense {
		c := matrix.New(n, n)
		kernel.At(kernel.SE(1, false), theta).FillSymmetric(x, c)
		c.AddDiagonal(noise)
		return c
	}
	theta, noise := []float64{0.5, 0.2}, 0.3
	c, truth := covariance(theta, noise), covariance([]float64{-0.5, 0}, 0.2)
	divergence := must.Get(renyiDivergence(c, truth, alpha))(t)
	if self, err := renyiDivergence(truth, truth, alpha); err != nil || math.Abs(self) > 1e-12 ||
		!(divergence > 0.1) {
		t.Fatalf("divergence %v, from itself %v (%v)", divergence, self, err)
	}
	must.Do(t, linalg.Cholesky(truth))
	p := &objective.RenyiProblem{Kernel: kernel.SE(1, false), Mean: kernel.ZeroMean{}, Rows: objective.Memory{X: x, Y: y},
		M: 3, Alpha: alpha}
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
		value := must.Get(p.Evaluate(at, nil))(t)
		logTruth := -0.5 * (n*math.Log(2*math.Pi) + linalg.LogDet(truth) + square)
		if divergence/n > riskBound(n, alpha, logTruth, -value, delta) {
			failed++
		}
	}
	if share := float64(failed) / draws; share > delta {
		t.Errorf("the bound failed in a share %v of draws, δ = %v", share, delta)
	}
	must.Refuse(renyiDivergence(c, c, 1))(t, "", "α = 1 was accepted")
}

// TestTheorem1 draws rows, then inducing inputs by a k-DPP, and targets from the prior. The divergence of the
// α-ELBO's posterior from the exact posterior exceeds the theorem's bound in at most a share δ of the draws.
func TestTheorem1(t *testing.T) {
	const n, m, delta, noise, draws = 50, 4, 0.3, 0.1, 200
	rng := rand.New(rand.NewPCG(43, 47))
	spectrum := must.Get(inducing.NewSESpectrum(1, []float64{1}, []float64{1}))(t)
	var tail float64
	for range m {
		_, tail = spectrum.Next()
	}
	k, theta := kernel.SE(1, false), []float64{0, 0}
	for _, alpha := range []float64{0.3, 1} {
		bound := theorem1(inducing.Theory{Rows: n, Alpha: alpha, Noise: noise, Variance: 1, Delta: delta}, m, tail)
		failed, sum := 0, 0.0
		for range draws {
			x, y := matrix.New(n, 1), make([]float64, n)
			for i := range n {
				x.Data[i] = rng.NormFloat64()
			}
			c := matrix.New(n, n)
			kernel.At(k, theta).FillSymmetric(x, c)
			c.AddDiagonal(noise)
			must.Do(t, linalg.Cholesky(c))
			white := make([]float64, n)
			for i := range white {
				white[i] = rng.NormFloat64()
			}
			for i := range y {
				y[i] = linalg.Dot(c.Row(i)[:i+1], white[:i+1])
			}
			z := must.Get(inducing.KDPP(k, theta, x, m, rng))(t)
			p := &objective.RenyiProblem{Kernel: k, Mean: kernel.ZeroMean{}, Rows: objective.Memory{X: x, Y: y}, M: m,
				Alpha: alpha}
			s := must.Get(p.Sandwich(append([]float64{0, 0, math.Log(noise)}, z.Z.Data...)))(t)
			d := s.Evidence - s.Optimal
			sum += d / draws
			if d > bound {
				failed++
			}
		}
		// The bound follows from Markov's inequality, so E D ≤ δ times the bound. E D is smaller, but not by a factor
		// of 50.
		if share := float64(failed) / draws; share > delta || !(sum < delta*bound) || !(sum > delta*bound/50) {
			t.Errorf("α = %v: the bound %v failed in a share %v of draws, δ = %v; mean divergence %v", alpha, bound, share,
				delta, sum)
		}
	}
}

// TestCorollary shows that the corollary's M and bound follow from Theorem 2.
func TestCorollary(t *testing.T) {
	th := inducing.Theory{Rows: 5000, Alpha: 0.5, Noise: 0.1, Variance: 1.3, Delta: 0.1}
	const r = 1.2
	m, bound, err := seCorollary(th, 0.7, 1.1, r)
	must.Do(t, err)
	th.DPPError = th.Delta * th.Noise / (th.Variance * math.Pow(5000, corollaryRate+2))
	spectrum := must.Get(inducing.NewSESpectrum(1.3, []float64{0.7}, []float64{1.1}))(t)
	var tail float64
	enough := int(math.Ceil(m))
	for range enough {
		_, tail = spectrum.Next()
	}
	if got := th.Theorem2(enough, tail, r*5000); !(got <= bound) || got < bound/1000 {
		t.Errorf("Theorem 2 with the corollary's M = %v: %v, the corollary has %v", m, got, bound)
	}
}
