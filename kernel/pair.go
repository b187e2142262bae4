package kernel

import (
	"math"

	"github.com/krigo-gp/krigo/matrix"
)

// Pair is a covariance function as one function of two points. It returns k_θ(a, b).
// Unless dTheta is nil, it adds bar times the derivatives of k_θ(a, b) by θ to dTheta, and bar
// times the derivatives by a to dA unless dA is nil.
type Pair func(theta, a, b []float64, bar float64, dTheta, dA []float64) float64

// RegisterPair registers a kernel of one function by a name, as Register does.
// params lists its parameters for dim inputs.
// Such a kernel is computed pair by pair, which is slower than a kernel with its own Cov and Pull.
func RegisterPair(name string, params func(dim int) []Param, k Pair) {
	Register(name, func(dim int, _ bool) (Kernel, error) {
		return pairwise{name, params(dim), k}, nil
	})
}

// differenceStep is about the cube root of float64's precision.
// Rounding and truncation errors of a central difference are then of the same size.
const differenceStep = 6e-6

// Differences makes a Pair from a covariance function without derivatives.
// It takes the derivatives by central differences, which is enough for trying a kernel out.
// A derivative costs two evaluations and has about nine digits.
func Differences(k func(theta, a, b []float64) float64) Pair {
	return func(theta, a, b []float64, bar float64, dTheta, dA []float64) float64 {
		if dTheta != nil {
			th := append([]float64(nil), theta...)
			at := append([]float64(nil), a...)
			slope := func(x []float64, i int) float64 {
				was := x[i]
				h := differenceStep * math.Max(1, math.Abs(was))
				x[i] = was + h
				up := k(th, at, b)
				x[i] = was - h
				down := k(th, at, b)
				x[i] = was
				return (up - down) / (2 * h)
			}
			for i := range dTheta {
				dTheta[i] += bar * slope(th, i)
			}
			for i := range dA {
				dA[i] += bar * slope(at, i)
			}
		}
		return k(theta, a, b)
	}
}

// pairwise is the kernel of a Pair.
type pairwise struct {
	name   string
	params []Param
	k      Pair
}

var _ Kernel = pairwise{}

func (p pairwise) Params() []Param           { return p.params }
func (p pairwise) Spec(theta []float64) Spec { return SpecOf(p.name, p.params, theta) }

func (p pairwise) Cov(theta []float64, a, b, k matrix.Dense) {
	for i := range a.Rows {
		for j := range b.Rows {
			k.Set(i, j, p.k(theta, a.Row(i), b.Row(j), 0, nil, nil))
		}
	}
}

func (p pairwise) Pull(theta []float64, a, b matrix.Dense, of Adjoint) {
	for i := range a.Rows {
		var row []float64
		if !of.Inputs.IsZero() {
			row = of.Inputs.Row(i)
		}
		for j := range b.Rows {
			p.k(theta, a.Row(i), b.Row(j), of.K.At(i, j), of.Theta, row)
		}
	}
}

func (p pairwise) Diag(theta []float64, a matrix.Dense, k []float64) {
	for i := range k {
		k[i] = p.k(theta, a.Row(i), a.Row(i), 0, nil, nil)
	}
}

// PullDiag implements Kernel. Along the diagonal a moves both points, and k is symmetric, so the
// derivative by the inputs counts twice.
func (p pairwise) PullDiag(theta []float64, a matrix.Dense, bar []float64, to Gradient) {
	for i, g := range bar {
		var once []float64
		if !to.Inputs.IsZero() {
			once = make([]float64, a.Cols)
		}
		p.k(theta, a.Row(i), a.Row(i), g, to.Theta, once)
		for d, v := range once {
			to.Inputs.Row(i)[d] += 2 * v
		}
	}
}
