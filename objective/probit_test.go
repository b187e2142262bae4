package objective

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"

	"github.com/krigo-gp/krigo/kernel"
	"github.com/krigo-gp/krigo/matrix"
	"github.com/krigo-gp/krigo/posterior"
)

// TestLabelEvidenceGradient compares the gradient with differences, also where sites see one another across a large
// amplitude.
func TestLabelEvidenceGradient(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	const n = 40
	x, y := matrix.New(n, 2), make([]float64, n)
	for i := range y {
		x.Row(i)[0], x.Row(i)[1] = rng.NormFloat64(), rng.NormFloat64()
		if x.At(i, 0)+0.5*rng.NormFloat64() > 0.2 {
			y[i] = 1
		}
	}
	k, err := kernel.Parse("se+matern32", 2, true)
	if err != nil {
		t.Fatal(err)
	}
	p := &Problem{Kernel: k, Mean: kernel.LinearMean{}, X: x, Y: y, Objective: &EPEvidence{Noise: Probit()}}
	for _, scale := range []float64{0.2, 3} {
		at, gradient := make([]float64, p.Dim()), make([]float64, p.Dim())
		for i := range at[:p.Dim()-1] {
			at[i] = scale * (1 + 0.1*float64(i))
		}
		if _, err := p.Evaluate(at, gradient); err != nil {
			t.Fatal(err)
		}
		for i, name := range p.Names() {
			f := func(h float64) float64 {
				at[i] += h
				defer func() { at[i] -= h }()
				v, err := p.Evaluate(at, nil)
				if err != nil {
					t.Fatal(err)
				}
				return v
			}
			const h = 1e-3
			want := (8*(f(h)-f(-h)) - (f(2*h) - f(-2*h))) / (12 * h)
			if math.Abs(want-gradient[i]) > 1e-6*(1+math.Abs(want)) {
				t.Errorf("scale %g, d/d %s: %.10g, differences give %.10g", scale, name, gradient[i], want)
			}
		}
	}
}

// TestLabelEvidenceGolden compares ln Z and probabilities with sequential expectation propagation in 60 digits
// (testdata/golden/probit.py).
func TestLabelEvidenceGolden(t *testing.T) {
	var golden struct {
		X     [][]float64
		Y     []float64
		Cases []struct {
			LogL2       float64 `json:"log_l2"`
			LogVariance float64 `json:"log_variance"`
			Mean        float64
			LogEvidence string `json:"log_evidence"`
			P           []string
		}
	}
	raw, err := os.ReadFile("../testdata/golden/probit.json")
	if err == nil {
		err = json.Unmarshal(raw, &golden)
	}
	if err != nil {
		t.Fatal(err)
	}
	x := matrix.New(len(golden.Y), len(golden.X[0]))
	for i, row := range golden.X {
		copy(x.Row(i), row)
	}
	near := func(what string, got float64, text string, tolerance float64) {
		if want, err := strconv.ParseFloat(text, 64); err != nil || math.Abs(got-want) > tolerance {
			t.Errorf("%s: %.15g, want %s", what, got, text)
		}
	}
	for _, c := range golden.Cases {
		k := kernel.SE(x.Cols, false)
		p := &Problem{Kernel: k, Mean: kernel.LinearMean{}, X: x, Y: golden.Y, Objective: &EPEvidence{Noise: Probit()}}
		at := []float64{c.LogL2, c.LogVariance, c.Mean, 0}
		value, err := p.Evaluate(at, nil)
		if err != nil {
			t.Fatal(err)
		}
		near("ln Z", -value, c.LogEvidence, 1e-11)
		sites, err := p.Sites(at)
		if err != nil {
			t.Fatal(err)
		}
		q, err := posterior.NewExact(posterior.Given{Kernel: k, Theta: at[:2], Mean: p.Mean, Beta: at[2:3], Noise: 1,
			X: x, Y: sites.Y, PerRow: posterior.RowNoise{Factor: make([]float64, x.Rows), Known: sites.Known}})
		if err != nil {
			t.Fatal(err)
		}
		mean, variance := make([]float64, x.Rows), make([]float64, x.Rows)
		q.Latent(x, mean, variance)
		for i, text := range c.P {
			one := Probit().Chances(mean[i], variance[i], 1)[1]
			near("p", one, text, 1e-8) // sites are off by 1e-7, and ln Z by the square
		}
		rows := Observed{golden.Y, mean, variance, q.Weights(), q.Noises, Probit(), 1}
		if off := rows.Unsettled(); off > 2e-7 {
			t.Errorf("sites still change by %g", off)
		}
		golden.Y[0] = 1 - golden.Y[0]
		if off := rows.Unsettled(); off < 1e-2 {
			t.Errorf("sites of another label would change by %g", off)
		}
		golden.Y[0] = 1 - golden.Y[0]
	}
}
