package model

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/internal/linalg"
	"github.com/krigo-gp/krigo/internal/must"
	"github.com/krigo-gp/krigo/kernel"
	"github.com/krigo-gp/krigo/observation"
	"github.com/krigo-gp/krigo/posterior"
)

// added is a model of x1 + x2²/2 + x1 x3 + a slope along x4, which the linear mean holds, from rows of N(0, 1).
func added(t *testing.T, expression string, rows int) *Model {
	t.Helper()
	rng := rand.New(rand.NewPCG(3, 4))
	x, y := linalg.New(rows, 4), make([]float64, rows)
	for i := range x.Data {
		x.Data[i] = rng.NormFloat64()
	}
	for i := range y {
		r := x.Row(i)
		y[i] = r[0] + r[1]*r[1]/2 + r[0]*r[2] + r[3]/2 + 0.05*rng.NormFloat64()
	}
	k := must.Get(kernel.Parse(expression, 4, true))(t)
	theta := make([]float64, len(k.Params()))
	for i, p := range k.Params() {
		switch {
		case p.Kind == kernel.Lengthscale:
			theta[i] = math.Log(6)
		case strings.Contains(p.Name, "variance"):
			theta[i] = math.Log(0.01)
		}
	}
	q := must.Get(posterior.NewExact(posterior.Given{Kernel: k, Theta: theta, Mean: kernel.LinearMean{Dim: 4},
		Beta: []float64{0.5, 0, 0, 0, 0.5}, Noise: 0.0025, X: x, Y: y}))(t)
	return &Model{Posterior: q, Inputs: []string{"x1", "x2", "x3", "x4"},
		Observation: observation.Observation{Scaling: dataset.Identity(4)}}
}

// TestPartsOfKnownFunction: the variances of x1, x2²/2, x1 x3 and x4/2 are 1, 1/2, 1 and 1/4. Shares are within their
// own intervals, too, and all shares sum to 1.
func TestPartsOfKnownFunction(t *testing.T) {
	p := added(t, "additive+matern32", 300).Parts()
	want, sum := map[string]float64{"x1": 1, "x2": 0.5, "x1 · x3": 1, "x4": 0.25}, p.Others
	for _, s := range p.Shares {
		true := want[s.Name()] / 2.75
		delete(want, s.Name())
		must.Hold(t, math.Abs(s.Share-true) <= 0.02,
			"%s: share %.3f, not %.3f (%v)", s.Name(), s.Share, true, p)
		must.Hold(t, true <= 0 || (math.Abs(s.Share-true) <= 4*s.SD && s.SD <= 0.03),
			"%s: %.3f ± %.4f, not %.3f", s.Name(), s.Share, s.SD, true)
		sum += s.Share
	}
	must.Hold(t, len(want) == 0, "missing: %v", want)
	must.Near(t, sum, 1, 1e-12, "sum of shares")
}

// TestPartsAddUp: the means of all parts and the rest sum to the prediction, up to the prediction at the mean row.
func TestPartsAddUp(t *testing.T) {
	m := added(t, "additive+se", 60)
	parts, rest := kernel.Effects(m.Posterior.Kernel, m.Posterior.Theta, 4)
	x, got, want := linalg.New(1, 4), make([]float64, 1), make([]float64, 1)
	copy(x.Data, []float64{0.3, -1.2, 0.8, 2})
	m.Posterior.Mean.At(m.Posterior.Beta, x, want)
	for _, part := range append(parts, rest) {
		m.Posterior.Part(part).Latent(x, got, nil)
		want[0] += got[0]
	}
	m.Posterior.Latent(x, got, nil)
	must.Near(t, got[0], want[0], 1e-9, "sum of parts")
}

// TestPartsSD compares standard deviations of shares with joint draws of a function of two inputs. Each draw is split
// by averages over a grid.
func TestPartsSD(t *testing.T) {
	const n, step, draws = 23, 0.5, 400
	rng := rand.New(rand.NewPCG(5, 6))
	x, y := linalg.New(60, 2), make([]float64, 60)
	for i := range y {
		x.Row(i)[0], x.Row(i)[1] = rng.NormFloat64(), rng.NormFloat64()
		y[i] = x.At(i, 0) + math.Sin(2*x.At(i, 1)) + x.At(i, 0)*x.At(i, 1)/2 + 0.3*rng.NormFloat64()
	}
	theta := []float64{1, 0, 0, 0}
	q := must.Get(posterior.NewExact(posterior.Given{Kernel: kernel.NewAdditive(2, true), Theta: theta,
		Mean: kernel.ZeroMean{}, Noise: 0.1, X: x, Y: y}))(t)
	m := &Model{Posterior: q, Inputs: []string{"a", "b"}}
	grid, f, at := linalg.New(n*n, 2), linalg.New(n*n, draws), func(i int) float64 { return step * float64(i-n/2) }
	weight := make([]float64, n)
	for i := range n {
		weight[i] = step * math.Exp(-at(i)*at(i)/2) / math.Sqrt(2*math.Pi)
		for j := range n {
			grid.Row(i*n + j)[0], grid.Row(i*n + j)[1] = at(i), at(j)
		}
	}
	must.Do(t, q.Sample(t.Context(), grid, f, posterior.Draws{Seed: 1}))
	shares := map[string][]float64{}
	for k := range draws {
		var a, b [n]float64
		var mean, va, vb, all float64
		for i := range n {
			for j := range n {
				v, w := f.At(i*n+j, k), weight[i]*weight[j]
				a[i] += weight[j] * v
				b[j] += weight[i] * v
				mean += w * v
				all += w * v * v
			}
		}
		for i := range n {
			va += weight[i] * (a[i] - mean) * (a[i] - mean)
			vb += weight[i] * (b[i] - mean) * (b[i] - mean)
		}
		all -= mean * mean
		for name, v := range map[string]float64{"a": va, "b": vb, "a · b": all - va - vb} {
			shares[name] = append(shares[name], v/all)
		}
	}
	for _, s := range m.Parts().Shares {
		of := shares[s.Name()]
		mean := linalg.Sum(of) / draws
		sd := math.Sqrt(linalg.Dot(of, of)/draws - mean*mean)
		must.Hold(t, math.Abs(s.SD/sd-1) <= 0.15,
			"%s: sd %.4f, draws have %.4f", s.Name(), s.SD, sd)
		must.Hold(t, math.Abs(s.Share-mean) <= 1.5*sd,
			"%s: %.4f, draws have %.4f ± %.4f", s.Name(), s.Share, mean, sd)
	}
}
