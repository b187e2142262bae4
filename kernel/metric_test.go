package kernel_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/krigo-gp/krigo/internal/must"
	"github.com/krigo-gp/krigo/kernel"
	"github.com/krigo-gp/krigo/matrix"
)

// TestJoint: products of squared exponentials fall exactly with the joint distance. A kernel with a metric has it as
// its joint metric. Sums of parts with different metrics have no metric.
func TestJoint(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 2))
	x := matrix.New(30, 3)
	for i := range x.Data {
		x.Data[i] = rng.NormFloat64()
	}
	for expr, ok := range map[string]bool{"se": true, "se*se": true, "constant*se*(se*constant)": true,
		"matern32*matern12": true, "se+matern32": false,
		"se*(se+matern32)": false, "se*linear": false, "periodic*se": false, "linear": false} {
		k := must.Get(kernel.Parse(expr, 3, true))(t)
		theta := make([]float64, len(k.Params()))
		for i := range theta {
			theta[i] = rng.NormFloat64()
		}
		inverse, has := kernel.Joint(k, theta)
		must.Hold(t, has == ok, "%s: %v", expr, has)
		if !has || expr == "matern32*matern12" {
			continue
		}
		variance := make([]float64, 1)
		k.Diag(theta, x, variance)
		cov := matrix.New(1, x.Rows)
		k.Cov(theta, x.RowRange(0, 1), x, cov)
		for i := range x.Rows {
			var d2 float64
			for j, v := range x.Row(i) {
				d2 += math.Pow((v-x.At(0, j))*inverse[j], 2)
			}
			if want := variance[0] * math.Exp(-d2/2); !(math.Abs(cov.At(0, i)-want) <= 1e-12*want) {
				t.Errorf("%s: covariance %v at the joint distance %v", expr, cov.At(0, i), math.Sqrt(d2))
			}
		}
	}
}

// TestFillLower: FillLower writes the lower triangle of FillSymmetric, to the bit, and nothing else.
func TestFillLower(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 2))
	x := matrix.New(150, 2)
	for i := range x.Data {
		x.Data[i] = rng.NormFloat64()
	}
	k := kernel.Sum(kernel.Product(kernel.Matern32(2, true), kernel.Matern12(2, true)), kernel.White())
	theta := []float64{0.1, 0.2, 0.3, 0.4, 0.5, 0.6, -1}
	whole, lower := matrix.New(150, 150), matrix.New(150, 150)
	kernel.At(k, theta).FillSymmetric(x, whole)
	kernel.At(k, theta).FillLower(x, lower)
	for i := range 150 {
		for j := range i + 1 {
			must.Need(t, lower.At(i, j) == whole.At(i, j),
				"(%d, %d): %v, want %v", i, j, lower.At(i, j), whole.At(i, j))
		}
	}
}
