package posterior_test

import (
	"context"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/krigo-gp/krigo/internal/linalg"
	"github.com/krigo-gp/krigo/internal/must"
	"github.com/krigo-gp/krigo/kernel"
	"github.com/krigo-gp/krigo/matrix"
	"github.com/krigo-gp/krigo/posterior"
)

// TestPackedBits: with packed factors a row has the bits of a row in a batch, of a posterior that packs nothing, and
// of the prior that it becomes. What is packed outlives the context of the first prediction.
func TestPackedBits(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	x, y, b := matrix.New(300, 2), make([]float64, 300), matrix.New(300, 300)
	for i := range y {
		x.Row(i)[0], x.Row(i)[1], y[i] = rng.NormFloat64(), rng.NormFloat64(), rng.NormFloat64()
		b.Row(i)[i] = 1 + rng.Float64()
	}
	for _, expr := range []string{"matern32", "se+linear"} {
		k := must.Get(kernel.Parse(expr, 2, true))(t)
		exact := must.Get(posterior.NewExact(posterior.Given{Kernel: k, Theta: make([]float64, len(k.Params())),
			Mean: kernel.ZeroMean{}, Noise: 0.3, X: x, Y: y}))(t)
		e := exact.Solution.(*posterior.Exact)
		sparse := must.Get(posterior.NewInducing(*exact, slices.Clone(y), e.Chol, b))(t)
		plain := *exact
		plain.Solution = &posterior.Exact{W: e.W, Chol: e.Chol}
		plainSparse := *sparse
		s := sparse.Solution.(*posterior.Inducing)
		plainSparse.Solution = &posterior.Inducing{W: s.W, Chol: s.Chol, CholB: s.CholB}
		at := matrix.New(40, 2)
		for i := range at.Data {
			at.Data[i] = 2 * rng.NormFloat64()
		}
		for _, of := range [][2]*posterior.Posterior{{exact, &plain}, {sparse, &plainSparse}} {
			ctx, end := context.WithCancel(t.Context())
			mean, variance := make([]float64, 40), make([]float64, 40)
			of[0].Until(ctx).Latent(at.Until(ctx), mean, variance)
			end()
			prior := must.Get(of[0].Unconditioned(1.7))(t)
			for i := range mean {
				for j, q := range []*posterior.Posterior{of[0], of[1], prior, prior} {
					m, v := make([]float64, 1), make([]float64, 1)
					q.Latent(at.RowRange(i, i+1), m, v)
					want := []float64{variance[i]}
					if j > 1 {
						linalg.Scale(1.7, want)
					}
					must.Hold(t, m[0] == mean[i] && v[0] == want[0],
						"%s, row %d by %d: %v ± %v", expr, i, j, m[0], v[0])
				}
				want := make([]float64, 1)
				prior.Mean.At(nil, at.RowRange(i, i+1), want)
				must.Hold(t, want[0] == mean[i], "mean function %v, not %v", want[0], mean[i])
				prior.Kernel.Diag(nil, at.RowRange(i, i+1), want)
				must.Hold(t, want[0] == 1.7*variance[i],
					"variance by the kernel %v, not %v", want[0], 1.7*variance[i])
			}
		}
	}
}
