package linalg

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/krigo-gp/krigo/internal/must"
)

// TestTriangle: solves with a packed L have the bits of Trsm, for one vector and for many.
func TestTriangle(t *testing.T) {
	atEveryLevel(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(5, 5))
		for _, n := range []int{1, 5, 8, 24, 25, 47, 240, 241, 265, 517} {
			l := spd(rng, n)
			must.Do(t, Cholesky(l))
			packed := Pack(l)
			for _, rows := range []int{1, 2, fewVectors, fewVectors + 1, 60} {
				x := random(rng, rows, n)
				want := New(rows, n)
				want.CopyFrom(x)
				Trsm(false, true, l, want)
				packed.Solve(x)
				for i := range rows {
					must.Hold(t, slices.Equal(x.Row(i), want.Row(i)),
						"%d vectors of length %d differ in row %d", rows, n, i)
				}
			}
		}
	})
}
