package objective_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/krigo-gp/krigo/internal/must"
	"github.com/krigo-gp/krigo/kernel"
	"github.com/krigo-gp/krigo/matrix"
	"github.com/krigo-gp/krigo/objective"
)

// wavy returns rows of a function of two inputs. If repeated, the second half has the inputs of the first half.
func wavy(n int, repeated bool) (matrix.Dense, []float64) {
	rng := rand.New(rand.NewPCG(17, 19))
	x, y := matrix.New(n, 2), make([]float64, n)
	for i := range y {
		x.Row(i)[0], x.Row(i)[1] = 2*rng.NormFloat64(), 2*rng.NormFloat64()
		if repeated && i >= n/2 {
			copy(x.Row(i), x.Row(i-n/2))
		}
		y[i] = math.Sin(x.At(i, 0)) + 0.3*rng.NormFloat64()
	}
	return x, y
}

func TestIterativeEvidence(t *testing.T) {
	const n = 120
	for _, c := range []struct {
		kernel   string
		mean     kernel.Mean
		logNoise float64
		repeated bool
	}{
		{"se", kernel.ZeroMean{}, -1, false}, {"matern12", kernel.LinearMean{}, -3, true},
		{"matern52", kernel.ZeroMean{}, -7, true},
		{"se+linear", kernel.LinearMean{Dim: 2}, 3, false}, {"rq*periodic", kernel.ZeroMean{}, -2, false},
		{"matern32+white", kernel.ZeroMean{}, -2, true},
	} {
		k := must.Get(kernel.Parse(c.kernel, 2, true))(t)
		x, y := wavy(n, c.repeated)
		exact := &objective.Problem{Kernel: k, Mean: c.mean, X: x, Y: y, Objective: &objective.Evidence{}}
		e := &objective.IterativeEvidence{Kernel: k, Mean: c.mean, X: x, Y: y, Tolerance: 1e-6}
		at := slices.Repeat([]float64{0.2}, e.Dim())
		at[len(at)-1] = c.logNoise
		want, got := make([]float64, len(at)), make([]float64, len(at))
		wantValue := must.Get(exact.Evaluate(at, want))(t)
		// An anchor at another point costs digits, not correctness.
		anchor := slices.Clone(at)
		for i := range anchor {
			anchor[i] += 0.1
		}
		must.Do(t, e.Anchor(anchor))
		value, err := e.Evaluate(at, got)
		must.Need(t, err == nil, "%s: %v", c.kernel, err)
		if !(math.Abs(value-wantValue) <= 3*e.StandardError+1e-6*n) || !(e.StandardError < 0.1*n) {
			t.Errorf("%s: value %v ± %.2g, want %v", c.kernel, value, e.StandardError, wantValue)
		}
		for i, name := range e.Names() {
			moved := slices.Clone(at)
			value := func(h float64) float64 {
				moved[i] = at[i] + h
				return must.Get(e.Evaluate(moved, nil))(t)
			}
			const h = 3e-4
			difference := (value(h) - value(-h)) / (2 * h)
			must.Near(t, got[i], difference, 2e-4*(math.Abs(difference)+0.01*n), fmt.Sprintf("%s: d/d %s", c.kernel, name))
			// 15 probes of 250 rows only estimate the exact derivative.
			must.Near(t, got[i], want[i], 0.05*math.Abs(want[i])+0.02*n, fmt.Sprintf("%s: d/d %s", c.kernel, name))
		}
	}
}

// TestIterativeEvidenceOfManyRows: the estimated value and gradient are within three standard errors of the value and
// gradient that Cholesky gives.
func TestIterativeEvidenceOfManyRows(t *testing.T) {
	if testing.Short() {
		t.Skip("factors matrices of 2,000 rows")
	}
	const n = 2000
	for _, c := range []struct {
		kernel   string
		logNoise float64
		repeated bool
	}{{"se", -4, true}, {"matern32", -2, false}, {"rq+linear", -3, false}} {
		k := must.Get(kernel.Parse(c.kernel, 2, true))(t)
		x, y := wavy(n, c.repeated)
		mean := kernel.LinearMean{}
		exact := &objective.Problem{Kernel: k, Mean: mean, X: x, Y: y, Objective: &objective.Evidence{}}
		e := &objective.IterativeEvidence{Kernel: k, Mean: mean, X: x, Y: y, Seed: 3}
		at := slices.Repeat([]float64{-0.3}, e.Dim())
		at[len(at)-1] = c.logNoise
		want, got := make([]float64, len(at)), make([]float64, len(at))
		wantValue := must.Get(exact.Evaluate(at, want))(t)
		// The anchor is another point, because at the anchor itself there may be next to nothing to estimate.
		anchor := slices.Clone(at)
		for i := range anchor {
			anchor[i] += 0.3
		}
		must.Do(t, e.Anchor(anchor))
		e.GradientErrors = make([]float64, e.Dim())
		value, err := e.Evaluate(at, got)
		must.Need(t, err == nil, "%s: %v", c.kernel, err)
		if !(math.Abs(value-wantValue) <= 3*e.StandardError) || !(e.StandardError < 0.01*n) {
			t.Errorf("%s: value %v ± %.2g, by Cholesky %v", c.kernel, value, e.StandardError, wantValue)
		}
		for i, name := range e.Names() {
			// The second term allows for residuals of 1e-4 in the part that isn't estimated.
			if !(math.Abs(got[i]-want[i]) <= 3*e.GradientErrors[i]+1e-5*n) || !(e.GradientErrors[i] < 0.01*n) {
				t.Errorf("%s: d/d %s is %v ± %.2g, by Cholesky %v", c.kernel, name, got[i], e.GradientErrors[i], want[i])
			}
		}
		if e.GradientErrors[len(at)-2] != 0 || !(e.GradientErrors[0] > 0) {
			t.Errorf("%s: standard errors %v", c.kernel, e.GradientErrors)
		}
	}
}

// TestIterativeEvidenceForgets: a value depends on the anchor and the point, and not on the points between, to the bit.
func TestIterativeEvidenceForgets(t *testing.T) {
	x, y := wavy(300, false)
	begin, at, other := []float64{0, 0, 0, -2}, []float64{0.1, 0.2, -0.1, -2.2}, []float64{0.4, -0.3, 0.2, -1.5}
	evaluate := func(points ...[]float64) []float64 {
		e := &objective.IterativeEvidence{Kernel: kernel.SE(2, true), Mean: kernel.ZeroMean{}, X: x, Y: y}
		must.Do(t, e.Anchor(begin))
		last := make([]float64, e.Dim()+1)
		for _, p := range points {
			last[e.Dim()] = must.Get(e.Evaluate(p, last[:e.Dim()]))(t)
		}
		return last
	}
	want := evaluate(at)
	for _, path := range [][][]float64{{begin, at}, {other, at}, {begin, other, begin, at}} {
		if got := evaluate(path...); !slices.Equal(got, want) {
			t.Errorf("after %v: %v, want %v", path, got, want)
		}
	}
}

func TestIterativeEvidenceCancelled(t *testing.T) {
	x, y := wavy(50, false)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	e := &objective.IterativeEvidence{Kernel: kernel.SE(2, false), Mean: kernel.ZeroMean{}, X: x, Y: y, Context: ctx}
	if _, err := e.Evaluate([]float64{0, 0, 0}, nil); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
