package ties

import (
	"context"
	"math"
	"slices"

	"github.com/krigo-gp/krigo/internal/linalg"
	"github.com/krigo-gp/krigo/internal/lists"
	"github.com/krigo-gp/krigo/kernel"
	"github.com/krigo-gp/krigo/matrix"
	"github.com/krigo-gp/krigo/posterior"
)

// A part of a GP has some of its rows, or knows some of its inputs.

// first returns the first units, with `most` rows or a few more.
func first(members [][]int, most int) [][]int {
	n := 0
	for u, rows := range members {
		if n += len(rows); n >= most {
			return members[:u+1]
		}
	}
	return members
}

// only returns g restricted to the rows of the given units, in their order, and the unit of each of
// these rows.
func only(g posterior.Given, members [][]int) (posterior.Given, []int) {
	rows := slices.Concat(members...)
	of := []int(nil)
	x := linalg.Pick(g.X.Like(len(rows), g.X.Cols), g.X, rows)
	y := lists.Of(rows, func(row int) float64 { return g.Y[row] })
	for u, unit := range members {
		for range unit {
			of = append(of, u)
		}
	}
	g.X = x
	g.Y = y
	return g, of
}

const (
	saidNoise = 300   // rows that say the noise of a GP without some inputs
	leastGain = 0.001 // of surprise a row, for which a larger noise is tried
)

// unaware returns g without what some inputs tell: they are 0 in every row. The other parameters
// stay, except for the noise, which also has to explain what these inputs did.
func unaware(ctx context.Context, g posterior.Given, inputs []int) (posterior.Given, error) {
	x := linalg.New(g.X.Rows, g.X.Cols).Until(ctx)
	x.CopyFrom(g.X)
	for i := range x.Rows {
		for _, j := range inputs {
			x.Set(i, j, 0)
		}
	}
	g.X = x
	some := lists.Of(lists.Spread(x.Rows, saidNoise), func(i int) []int { return []int{i} })
	few, _ := only(g, some)
	k := few.X.Like(len(some), len(some))
	c := few.X.Like(len(some), len(some))
	kernel.At(g.Kernel, g.Theta).FillSymmetric(few.X, k)
	residuals := make([]float64, len(some))
	g.Mean.At(g.Beta, few.X, residuals)
	linalg.Minus(few.Y, residuals)
	best := math.Inf(1)
	for noise := g.Noise; ; noise *= 2 {
		c.CopyFrom(k)
		c.AddDiagonal(noise)
		v, err := surprise(c, residuals)
		if err != nil {
			return g, posterior.NotDefinite(err, noise)
		}
		if !(v < best-leastGain) {
			return g, nil
		}
		best = v
		g.Noise = noise
	}
}

// surprise says for a row how unlikely residuals are, on a logarithmic scale. Their covariance
// matrix is c times the factor that suits them best, since no measure depends on such a factor.
// surprise overwrites c.
func surprise(c matrix.Dense, residuals []float64) (float64, error) {
	if err := linalg.Cholesky(c); err != nil {
		return 0, err
	}
	x := slices.Clone(residuals)
	linalg.Trsv(false, c, x)
	v := math.Log(linalg.Dot(x, x)/float64(len(x))) / 2
	for i := range x {
		v += math.Log(c.At(i, i)) / float64(len(x))
	}
	return v, nil
}
