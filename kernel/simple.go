package kernel

import (
	"math"
	"slices"

	"github.com/krigo-gp/krigo/internal/linalg"
	"github.com/krigo-gp/krigo/matrix"
)

// varianceOnly is the list of parameters of a kernel that has only ln σ².
var varianceOnly = []Param{{Name: "log_variance", Kind: Variance, Dim: -1}}

// Linear is σ² x·x'. Parameter: ln σ².
type Linear struct{}

var _ Kernel = Linear{}

func (Linear) Params() []Param           { return varianceOnly }
func (Linear) Spec(theta []float64) Spec { return SpecOf("linear", varianceOnly, theta) }

func (Linear) Cov(theta []float64, a, b, k matrix.Dense) {
	linalg.Gemm(false, true, math.Exp(theta[0]), a, b, 0, k)
}

// Pull implements Kernel. With K = σ²ABᵀ, Ā is σ²K̄B, and the derivative by ln σ² is Σ A_it Ā_it.
func (Linear) Pull(theta []float64, a, b matrix.Dense, of Adjoint) {
	v := math.Exp(theta[0])
	wb := linalg.Borrow(a.Rows, a.Cols)
	linalg.Gemm(false, false, v, of.K, b, 0, wb)
	for i := range a.Rows {
		of.Theta[0] += linalg.Dot(a.Row(i), wb.Row(i))
		if !of.Inputs.IsZero() {
			linalg.Axpy(1, wb.Row(i), of.Inputs.Row(i))
		}
	}
	linalg.Return(wb)
}

func (Linear) Diag(theta []float64, a matrix.Dense, k []float64) {
	v := math.Exp(theta[0])
	for i := range k {
		k[i] = v * linalg.Dot(a.Row(i), a.Row(i))
	}
}

func (Linear) PullDiag(theta []float64, a matrix.Dense, bar []float64, to Gradient) {
	v := math.Exp(theta[0])
	for i, g := range bar {
		to.Theta[0] += g * v * linalg.Dot(a.Row(i), a.Row(i))
		if !to.Inputs.IsZero() {
			linalg.Axpy(2*v*g, a.Row(i), to.Inputs.Row(i))
		}
	}
}

// indicator is σ² if a condition on x and x' holds, else 0: the constant and the white kernel.
type indicator struct {
	level
	white bool
}

var _ Kernel = indicator{}

// ConstantKernel returns the kernel that is σ² everywhere. Parameter: ln σ².
func ConstantKernel() Kernel { return indicator{} }

// White returns the kernel that is σ² if x = x' by value, else 0.
// Two rows with the same inputs share their white noise. Parameter: ln σ².
func White() Kernel { return indicator{white: true} }

func (c indicator) Params() []Param { return varianceOnly }

func (c indicator) Spec(theta []float64) Spec {
	if c.white {
		return SpecOf("white", varianceOnly, theta)
	}
	return SpecOf("constant", varianceOnly, theta)
}

// holds says whether the covariance of a and b is σ².
func (c indicator) holds(a, b []float64) bool { return !c.white || slices.Equal(a, b) }

func (c indicator) Cov(theta []float64, a, b, k matrix.Dense) {
	v := math.Exp(theta[0])
	for i := range a.Rows {
		ai := a.Row(i)
		row := k.Row(i)
		for j := range row {
			row[j] = 0
			if c.holds(ai, b.Row(j)) {
				row[j] = v
			}
		}
	}
}

// Pull implements Kernel. Derivatives by inputs are 0, also where the white kernel jumps.
func (c indicator) Pull(theta []float64, a, b matrix.Dense, of Adjoint) {
	v := math.Exp(theta[0])
	for i := range a.Rows {
		ai := a.Row(i)
		row := of.K.Row(i)
		var s float64
		for j, g := range row {
			if c.holds(ai, b.Row(j)) {
				s += g
			}
		}
		of.Theta[0] += v * s
	}
}
