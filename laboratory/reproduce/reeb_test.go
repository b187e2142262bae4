package main

import (
	"context"
	"math"
	"slices"
	"testing"

	"github.com/krigo-gp/krigo/internal/linalg"
	"github.com/krigo-gp/krigo/internal/must"
	"github.com/krigo-gp/krigo/kernel"
	"github.com/krigo-gp/krigo/objective"
)

// TestReebSplit checks the first and last entries of numpy's RandomState(seed).permutation(506).
func TestReebSplit(t *testing.T) {
	for _, c := range []struct {
		seed       int
		head, tail []int
	}{
		{0, []int{329, 371, 219, 403, 78, 15, 487, 340}, []int{192, 117, 47, 172}},
		{1, []int{307, 343, 47, 67, 362, 132, 292, 31}, []int{72, 396, 235, 37}},
		{7, []int{357, 337, 327, 13, 418, 403, 479, 173}, []int{502, 25, 196, 175}},
	} {
		train, test := reebSplit(506, c.seed)
		if len(test) != 102 || len(train) != 404 {
			t.Errorf("seed %d: %d test rows, %d training rows", c.seed, len(test), len(train))
		}
		if !slices.Equal(test[:8], c.head) || !slices.Equal(train[400:], c.tail) {
			t.Errorf("seed %d: %v … %v, numpy has %v … %v", c.seed, test[:8], train[400:], c.head, c.tail)
		}
		all := slices.Concat(train, test)
		slices.Sort(all)
		for i, v := range all {
			must.Need(t, i == v, "seed %d: row %d is %d", c.seed, i, v)
		}
	}
}

// TestReebFullGP compares one split with an independent implementation of the same experiment (bounds to 2e-4).
func TestReebFullGP(t *testing.T) {
	for method, want := range map[string]float64{"kl-pac": 0.3121, "sqrt-pac": 0.3160, "evidence": 0.4576} {
		m := must.Get(reebFullGP(context.Background(), Env{Out: t.TempDir()}, 0, 0.6, method))(t)
		must.Hold(t, math.Abs(m.B-want) <= 2e-4, "%s: B is %.5f, want %.4f", method, m.B, want)
		must.Hold(t, !m.Valid, "%s: scaled with the test rows, and called valid", method)
		must.Hold(t, m.TrainRisk < m.TestRisk && m.TestRisk < m.B && m.B < m.BPin && m.MSE > 0.05 &&
			m.MSE < 0.3 && m.KLPerRow > 0.05 && m.KLPerRow < 0.6, "%s: %+v", method, m)
	}
}

// TestSoftplus compares the coordinates of the paper's code with their definition, and their slopes with differences.
func TestSoftplus(t *testing.T) {
	x, y := linalg.New(12, 2), make([]float64, 12)
	for i := range y {
		x.Row(i)[0], x.Row(i)[1], y[i] = math.Sin(float64(5*i)), math.Cos(float64(3*i)), math.Sin(float64(i))
	}
	s := softplus{&objective.Problem{Kernel: kernel.SE(2, false), Mean: kernel.ZeroMean{}, X: x, Y: y,
		Objective: &objective.Evidence{}}, 1}
	for _, v := range []float64{1e-3, 0.5, 1, 3, 400} {
		if back, _ := s.logs([]float64{softplusInverse(v), 0, 0}); math.Abs(back[0]-2*math.Log(v)) > 1e-9 {
			t.Errorf("l = %v comes back as %v", v, math.Exp(back[0]/2))
		}
	}
	logs, _ := s.logs([]float64{0.3, -1.2, 2})
	for i, v := range []float64{0.3, -1.2, 2} {
		want := math.Log(math.Log(1+math.Exp(v)) + 1e-6)
		if i == 0 {
			want *= 2
		}
		must.Hold(t, math.Abs(logs[i]-want) <= 1e-12,
			"coordinate %d: %v, want %v", i, logs[i], want)
	}
	at, gradient := []float64{0.3, -1.2, -0.7}, make([]float64, 3)
	must.Get(s.Evaluate(at, gradient))(t)
	for i := range at {
		const h = 1e-5
		value := func(step float64) float64 {
			moved := slices.Clone(at)
			moved[i] += step
			return must.Get(s.Evaluate(moved, make([]float64, 3)))(t)
		}
		if want := (value(h) - value(-h)) / (2 * h); math.Abs(gradient[i]-want) > 1e-7*math.Max(1, math.Abs(want)) {
			t.Errorf("derivative %d: %.10g, differences give %.10g", i, gradient[i], want)
		}
	}
}
