package kernel_test

import (
	"math/rand/v2"
	"testing"

	"github.com/krigo-gp/krigo/internal/must"
	"github.com/krigo-gp/krigo/kernel"
	"github.com/krigo-gp/krigo/matrix"
)

// TestBoxes: in another order, covariances keep their bits. The bound of a box is never less than a covariance with its
// points, and it equals the covariance if the box holds one point.
func TestBoxes(t *testing.T) {
	const n, d, size = 200, 3, 64
	rng := rand.New(rand.NewPCG(2, 2))
	x, a := matrix.New(n, d), matrix.New(40, d)
	for i := range x.Data {
		x.Data[i] = rng.NormFloat64()
	}
	for i := range a.Data {
		a.Data[i] = 3 * rng.NormFloat64()
	}
	copy(a.Row(0), x.Row(0))
	order := make([]int32, n)
	for i, row := range rng.Perm(n) {
		order[i] = int32(row)
	}
	for expr, ok := range map[string]bool{"matern32*matern12": true, "se+matern52*constant": true, "(rq+white)*se": true,
		"se*linear": false, "periodic": false} {
		k := must.Get(kernel.Parse(expr, d, true))(t)
		theta := make([]float64, len(k.Params()))
		for i := range theta {
			theta[i] = rng.NormFloat64()
		}
		boxes, has := kernel.At(k, theta).Boxes(x, order, size)
		alone, _ := kernel.At(k, theta).Boxes(x, order, 1)
		must.Hold(t, has == ok, "%s: %v", expr, has)
		if !has {
			continue
		}
		cov, some := matrix.New(a.Rows, n), matrix.New(a.Rows, size)
		k.Cov(theta, a, x, cov)
		most, each := make([]float64, (n+size-1)/size), make([]float64, n)
		for i := range a.Rows {
			boxes.Most(a.Row(i), most)
			alone.Most(a.Row(i), each)
			for j, row := range order {
				v := cov.At(i, int(row))
				must.Need(t, most[j/size] >= v*(1-1e-9),
					"%s: bound %v of covariance %v", expr, most[j/size], v)
				if expr != "(rq+white)*se" { // the bound counts the white noise
					must.Need(t, each[j] >= v*(1-1e-9) && each[j] <= v*(1+1e-9),
						"%s: bound %v of one covariance %v", expr, each[j], v)
				}
			}
		}
		for j0 := 0; j0 < n; j0 += size {
			j1 := min(j0+size, n)
			boxes.Columns(a, j0, j1, some.View(0, a.Rows, 0, j1-j0))
			for i := range a.Rows {
				for j, row := range order[j0:j1] {
					must.Need(t, some.At(i, j) == cov.At(i, int(row)), "%s: other bits", expr)
				}
			}
		}
	}
}
