// Package kernel holds covariance functions and mean functions of Gaussian processes.
// They fill blocks of a covariance matrix, and pull the adjoint of a block back to their parameters
// and inputs. The package doesn't know what the blocks are used for.
//
// This program reads a kernel's expression and fills a covariance matrix:
//
//	package main
//
//	import (
//		"fmt"
//		"log"
//
//		"github.com/krigo-gp/krigo/kernel"
//		"github.com/krigo-gp/krigo/matrix"
//	)
//
//	func main() {
//		k, err := kernel.Parse("se+linear", 1, false) // 1 input, one lengthscale
//		if err != nil {
//			log.Fatal(err)
//		}
//		for _, p := range k.Params() {
//			fmt.Println(p.Name)
//		}
//		theta := make([]float64, len(k.Params())) // logarithms: every parameter is 1
//		x, cov := matrix.Of(3, 1, []float64{0, 1, 2}), matrix.New(3, 3)
//		kernel.At(k, theta).FillSymmetric(x, cov)
//		fmt.Printf("%.2f\n", cov.Row(1))
//		// Output:
//		// 1.log_lengthscale2
//		// 1.log_variance
//		// 2.log_variance
//		// [0.61 2.00 2.61]
//	}
//
// A Kernel value is a family of covariance functions k_θ.
// The parameters θ are natural logarithms and are passed with every call, so any number of
// goroutines can use one value. Inputs are matrices with a row per point.
//
// Let Ā be the adjoint of a block A, so df = Σ Ā_ij dA_ij.
// Pulling Ā back means adding Σ_ij Ā_ij ∂A_ij/∂θ to dθ, and adding Σ_j Ā_ij ∂₁k(a_i, b_j) to row i
// of dA. Here ∂₁ is the derivative with respect to the first argument.
// The formulas are from Rasmussen & Williams 2006, ch.
// 4, with the variance σ², the lengthscales l_i, and d² = Σ (x_i − x'_i)²/l_i².
package kernel

import (
	"context"
	"fmt"
	"math"

	"github.com/krigo-gp/krigo/internal/linalg"
	"github.com/krigo-gp/krigo/internal/lists"
	"github.com/krigo-gp/krigo/matrix"
)

// Kernel is a family of covariance functions on inputs of a fixed dimension.
// Cov, Pull, Diag and PullDiag compute one block on the calling goroutine.
// The methods of a Bound spread blocks over cores.
type Kernel interface {
	// Params lists the parameters in the order in which θ holds them.
	Params() []Param
	// Cov writes k_θ(a_i, b_j) to K (len a × len b).
	Cov(theta []float64, a, b, k matrix.Dense)
	// Pull adds the pull-back of an adjoint of K(A, B) to its gradient.
	// Where k isn't differentiable in its inputs (Matérn-1/2 at coincident points), the derivative
	// counts as 0.
	Pull(theta []float64, a, b matrix.Dense, bar Adjoint)
	// Diag writes k_θ(a_i, a_i) to k.
	Diag(theta []float64, a matrix.Dense, k []float64)
	// PullDiag adds the pull-back of the adjoint bar of the diagonal to a gradient.
	PullDiag(theta []float64, a matrix.Dense, bar []float64, to Gradient)
	// Spec returns the kernel at θ as files hold it (see SpecOf).
	Spec(theta []float64) Spec
}

// Gradient is what a pull-back adds to.
type Gradient struct {
	Theta  []float64    // derivatives by θ
	Inputs matrix.Dense // derivatives by the rows of A; the zero Matrix if nobody needs them
}

// Adjoint is the adjoint of a block of covariances, with the gradient that its pull-back adds to.
type Adjoint struct {
	K matrix.Dense
	Gradient
}

// Bound is a kernel at given parameters. Its methods use all cores unless they say otherwise.
type Bound struct {
	Kernel      Kernel
	Theta       []float64
	part, parts int // see Part
}

// At binds a kernel to parameters.
func At(k Kernel, theta []float64) Bound { return Bound{k, theta, 0, 1} }

// Part restricts TimesSymmetric, TimesSingle and PullOuter to part number part of parts.
// The sum over all parts is the whole result.
func (at Bound) Part(part, parts int) Bound {
	at.part = part
	at.parts = parts
	return at
}

// columns is a kernel at fixed θ and fixed points b, with everything precomputed that depends only
// on these. Its methods take blocks of rows a and columns [j0, j1), where j0 is a multiple of tile.
// Any number of goroutines may call them.
type columns interface {
	// cov writes k_θ(a_i, b_j) to K.
	cov(a matrix.Dense, j0, j1 int, k matrix.Dense)
	// pull is Kernel.Pull.
	pull(a matrix.Dense, j0, j1 int, bar matrix.Dense, dTheta []float64, dA matrix.Dense)
	release()
}

// columnsOf prepares the columns of any kernel.
// Kernels of this package have their own columns, and kernels from elsewhere get a wrapper.
func columnsOf(k Kernel, theta []float64, b matrix.Dense) columns {
	if b.Rows == 0 {
		return noColumns{}
	}
	if p, ok := k.(interface {
		against(theta []float64, b matrix.Dense) columns
	}); ok {
		return p.against(theta, b)
	}
	return unprepared{k, theta, b}
}

// noColumns are columns without points, with nothing to compute.
type noColumns struct{}

func (noColumns) cov(matrix.Dense, int, int, matrix.Dense)                           {}
func (noColumns) pull(matrix.Dense, int, int, matrix.Dense, []float64, matrix.Dense) {}
func (noColumns) release()                                                           {}

// unprepared are the columns of a kernel from elsewhere, which prepares nothing.
type unprepared struct {
	k     Kernel
	theta []float64
	b     matrix.Dense
}

func (u unprepared) cov(a matrix.Dense, j0, j1 int, k matrix.Dense) {
	u.k.Cov(u.theta, a, u.b.RowRange(j0, j1), k)
}

func (u unprepared) pull(a matrix.Dense, j0, j1 int, bar matrix.Dense, dTheta []float64,
	dA matrix.Dense) {
	u.k.Pull(u.theta, a, u.b.RowRange(j0, j1), Adjoint{bar, Gradient{dTheta, dA}})
}

func (unprepared) release() {}

// covOnce does the work of Kernel.Cov for a kernel that prepares its columns.
func covOnce(k Kernel, theta []float64, a, b, dst matrix.Dense) {
	c := columnsOf(k, theta, b)
	c.cov(a, 0, b.Rows, dst)
	c.release()
}

// pullOnce does the work of Kernel.Pull for a kernel that prepares its columns.
func pullOnce(k Kernel, theta []float64, a, b matrix.Dense, bar Adjoint) {
	c := columnsOf(k, theta, b)
	c.pull(a, 0, b.Rows, bar.K, bar.Theta, bar.Inputs)
	c.release()
}

// Fixed is a kernel at fixed parameters and fixed points, with everything computed that depends on
// these alone. Any number of goroutines may use it.
type Fixed struct {
	columns columns
	points  int
}

// Fix fixes the points b. It keeps b, without its context.
func (at Bound) Fix(b matrix.Dense) Fixed {
	return Fixed{columnsOf(at.Kernel, at.Theta, b.Until(context.Background())), b.Rows}
}

// Cov writes k_θ(a_i, b_j) to K, with the bits of Kernel.Cov.
func (f Fixed) Cov(a, k matrix.Dense) { f.columns.cov(a, 0, f.points, k) }

// Columns does what Cov does, for the points [j0, j1). j0 is a multiple of 64.
func (f Fixed) Columns(a matrix.Dense, j0, j1 int, k matrix.Dense) { f.columns.cov(a, j0, j1, k) }

// A task takes tile rows, and tileCols columns at a time.
// The parts of a composite kernel (256 KB each) then stay in the second cache level.
const (
	tile     = 64
	tileCols = 512
)

// Fill writes K(A, B), tile by tile on all cores.
func (at Bound) Fill(a, b, dst matrix.Dense) {
	c := columnsOf(at.Kernel, at.Theta, b)
	linalg.Blocks(a.Rows, tile, func(i0, i1 int) {
		a.Check()
		for j0, j1 := range lists.Blocks(b.Rows, tileCols) {
			c.cov(a.RowRange(i0, i1), j0, j1, dst.View(i0, i1, j0, j1))
		}
	})
	c.release()
}

// FillSymmetric writes K(A, A), both triangles, exactly symmetric.
func (at Bound) FillSymmetric(a, dst matrix.Dense) {
	at.FillTriangle(a, dst)
	linalg.MirrorLower(dst)
}

// FillTriangle writes the lower triangle of K(A, A), and numbers of no meaning above the diagonal.
func (at Bound) FillTriangle(a, dst matrix.Dense) {
	c := columnsOf(at.Kernel, at.Theta, a)
	tiles := (a.Rows + tile - 1) / tile
	linalg.Parallel(tiles, func(t int) {
		a.Check()
		t = tiles - 1 - t // the longest rows come first
		i0 := t * tile
		i1 := min((t+1)*tile, a.Rows)
		for j0, j1 := range lists.Blocks(i1, tileCols) {
			c.cov(a.RowRange(i0, i1), j0, j1, dst.View(i0, i1, j0, j1))
		}
	})
	c.release()
}

// lowerTile is the number of rows of a tile of FillLower. A tile reaches as far as its last row.
// With 16 rows, 128 to 512 points take .9 of the time that they take with 64.
const lowerTile = 16

// FillLower writes the lower triangle of K(A, A), on the calling goroutine.
func (at Bound) FillLower(a, dst matrix.Dense) {
	c := columnsOf(at.Kernel, at.Theta, a)
	for i0, i1 := range lists.Blocks(a.Rows, lowerTile) {
		for j0, j1 := range lists.Blocks(i1, tileCols) {
			c.cov(a.RowRange(i0, i1), j0, j1, dst.View(i0, i1, j0, j1))
		}
	}
	c.release()
}

// Pull does the work of Kernel.Pull, tile by tile on all cores.
func (at Bound) Pull(a, b matrix.Dense, to Adjoint) {
	c := columnsOf(at.Kernel, at.Theta, b)
	pullTiles(a, to.K, to.Theta, func(i0, i1 int, part []float64) {
		var rows matrix.Dense
		if !to.Inputs.IsZero() {
			rows = to.Inputs.RowRange(i0, i1)
		}
		for j0, j1 := range lists.Blocks(b.Rows, tileCols) {
			c.pull(a.RowRange(i0, i1), j0, j1, to.K.View(i0, i1, j0, j1), part, rows)
		}
	})
	c.release()
}

// PullSymmetric pulls a symmetric adjoint bar of K(A, A) back to dTheta.
// Each pair of rows is visited once. Only bar's lower triangle counts, and PullSymmetric may change
// the other.
func (at Bound) PullSymmetric(a, bar matrix.Dense, dTheta []float64) {
	c := columnsOf(at.Kernel, at.Theta, a)
	pullTiles(a, bar, dTheta, func(i0, i1 int, part []float64) {
		ai := a.RowRange(i0, i1)
		// Blocks before the diagonal block count twice, for both triangles. The diagonal block
		// counts once.
		for j0, j1 := range lists.Blocks(i0, tileCols) {
			c.pull(ai, j0, j1, bar.View(i0, i1, j0, j1), part, matrix.Dense{})
		}
		linalg.Scale(2, part)
		diagonal := bar.View(i0, i1, i0, i1)
		linalg.MirrorLower(diagonal)
		c.pull(ai, i0, i1, diagonal, part, matrix.Dense{})
	})
	c.release()
}

// pullTiles calls pull for tiles of rows [i0, i1) on all cores, and gives each its own part.
// It adds the parts to dTheta in the order of the tiles, whichever core finishes first.
func pullTiles(a, bar matrix.Dense, dTheta []float64, pull func(i0, i1 int, part []float64)) {
	n := a.Rows
	if bar.Rows != n {
		panic(fmt.Sprintf("kernel: adjoint with %d rows for %d points", bar.Rows, n))
	}
	tiles := (n + tile - 1) / tile
	parts := linalg.Borrow(tiles, len(dTheta))
	parts.Zero()
	linalg.Parallel(tiles, func(t int) {
		a.Check()
		t = tiles - 1 - t
		pull(t*tile, min((t+1)*tile, n), parts.Row(t))
	})
	for t := range tiles {
		linalg.Axpy(1, parts.Row(t), dTheta)
	}
	linalg.Return(parts)
}

// axes are the inputs of a kernel: their number, and whether each has a lengthscale of its own.
type axes struct {
	dim int
	ard bool
}

// lengths returns the number of lengthscales.
func (a axes) lengths() int {
	if a.ard {
		return a.dim
	}
	return 1
}

// lengthParams lists the ln l² parameters of a kernel.
func (a axes) lengthParams() []Param {
	if !a.ard {
		return []Param{{Name: "log_lengthscale2", Kind: Lengthscale, Dim: -1}}
	}
	return lists.To(a.dim, func(i int) Param {
		return Param{Name: fmt.Sprintf("log_lengthscale2[%d]", i+1), Kind: Lengthscale, Dim: i}
	})
}

// level is the diagonal of a kernel that is σ² there. ln σ² is its last parameter.
type level struct{}

func (level) Diag(theta []float64, _ matrix.Dense, k []float64) {
	v := math.Exp(theta[len(theta)-1])
	for i := range k {
		k[i] = v
	}
}

func (level) PullDiag(theta []float64, _ matrix.Dense, bar []float64, to Gradient) {
	last := len(theta) - 1
	to.Theta[last] += math.Exp(theta[last]) * linalg.Sum(bar)
}
