package objective

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/krigo-gp/krigo/kernel"
	"github.com/krigo-gp/krigo/matrix"
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
