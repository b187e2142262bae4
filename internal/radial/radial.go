// Package radial holds the inner loops of covariance functions that depend on the distance between
// points: squared distances, functions of these, and the sums that pull adjoints back.
// The loops take a few rows at a time, so that each loop finds the results of the previous one in
// the first cache level.
//
// Squared distances are sums of squared differences.
// On today's processors these cost little more than the products in |a|² + |b|² − 2a·b, and nothing
// cancels. Each squared distance is right to (dim+2)/2 ulp, and coincident points have the distance
// 0. Every value depends only on its own pair of points.
package radial

import (
	"slices"

	"github.com/krigo-gp/krigo/internal/linalg"
	"github.com/krigo-gp/krigo/matrix"
)

//go:generate go run -C ../../tools ./vecgen -set radial -dir ../internal/radial
//go:generate go run -C ../../tools ./vecgen -set single -dir ../internal/radial

// Points are packed points: width of them side by side, dimension by dimension.
// Zeros fill the dimensions up to a multiple of 4, and the points up to a multiple of width.
type Points struct {
	Rows, Dim   int
	width, step int // step is the length of a panel
	data        linalg.Matrix
}

// Left packs (x − centre)/scale, with inverse = 1/scale, as a left argument.
func Left(x linalg.Matrix, centre, inverse []float64) Points {
	return pack(x, centre, inverse, Group, linalg.Borrow)
}

// Right packs x in the same way, as a right argument.
func Right(x linalg.Matrix, centre, inverse []float64) Points {
	return pack(x, centre, inverse, loops.width, linalg.Borrow)
}

// Kept packs x as a right argument without a scale, in memory that isn't for other uses afterwards
// (matrix.Large).
func Kept(x linalg.Matrix) Points {
	return pack(x, make([]float64, x.Cols), slices.Repeat([]float64{1}, x.Cols), loops.width,
		matrix.Large)
}

// Scaled writes the rows of x as (x − centre)·inverse to the rows of to, and returns to.
func Scaled(x linalg.Matrix, centre, inverse []float64, to linalg.Matrix) linalg.Matrix {
	for i := range x.Rows {
		row := to.Row(i)
		for t, v := range x.Row(i) {
			row[t] = (v - centre[t]) * inverse[t]
		}
	}
	return to
}

// FromBox returns the squared distance of a point from the box between least and greatest.
func FromBox(point, least, greatest []float64) (sum float64) {
	least = least[:len(point)]
	greatest = greatest[:len(point)]
	for t, v := range point {
		// max instead of a branch, which would be unpredictable
		off := max(least[t]-v, v-greatest[t], 0)
		sum += off * off
	}
	return sum
}

// pack returns the points (x − centre)·inverse in panels of width points.
// memory returns a matrix with a row for each panel.
func pack(x linalg.Matrix, centre, inverse []float64, width int,
	memory func(rows, cols int) linalg.Matrix) Points {
	p := Points{Rows: x.Rows, Dim: x.Cols, width: width, step: (x.Cols + 3) / 4 * 4 * width}
	p.data = memory((x.Rows+width-1)/width, p.step)
	clear(p.data.Data[max(0, p.data.Rows-1)*p.step:])
	for i := range x.Rows {
		row := x.Row(i)
		dst := p.data.Row(i / width)[i%width:]
		for t, v := range row {
			dst[t*width] = (v - centre[t]) * inverse[t]
		}
		for t := x.Cols * width; t < p.step; t += width {
			dst[t] = 0
		}
	}
	return p
}

// Release gives the memory back. The points must not be used afterwards.
func (p Points) Release() { linalg.Return(p.data) }

// Drop does the same for points of Kept.
func (p Points) Drop() { p.data.Release() }

// Block returns the largest number of right points that Strip takes.
// These points and their distances then stay in the first or second cache level.
func (p Points) Block() int { return min(max(16, 1<<16/(p.step/p.width)/16*16), 256) }

// Strip writes the squared distances of the left points Group·g to Group·g+3 from the right points
// [j0, j1) to the rows of d2. The rows of d2 have room for whole panels. j0 is a multiple of 16.
func Strip(a Points, g int, b Points, j0, j1 int, d2 linalg.Matrix) {
	loops.distances(&a.data.Row(g)[0], &b.data.Row(j0 / b.width)[0], a.Dim, b.step, b.panels(j1-j0),
		&d2.Data[0], d2.Stride)
}

// panels returns the number of panels that n points take.
func (p Points) panels(n int) int { return (n + p.width - 1) / p.width }

// Moments collects Σ w (a_t − b_t) and Σ w (a_t − b_t)².
// Each dimension has eight lanes, and the number of dimensions is filled up to a multiple of 4.
type Moments struct {
	First, Second []float64
}

// Add adds the weights w_j of left point i against the right points [j0, j0+n), n = len w.
// w must have room for whole panels, and Add fills the rest with zeros.
func (m Moments) Add(w []float64, a Points, i int, b Points, j0 int) {
	n := b.panels(len(w))
	clear(w[len(w) : n*b.width])
	loops.moments(&w[0], &a.data.Row(i / Group)[i%Group], &b.data.Row(j0 / b.width)[0],
		(a.Dim+3)/4, b.step, n, &m.First[0], &m.Second[0])
}

// Value writes variance·k(u) to k, which may be u.
func (p Profile) Value(k, u []float64, shape, variance float64) {
	loops.value[p](k, u[:len(k)], shape, variance)
}

// Sums holds sums over pairs of points with adjoint k̄, in lanes:
// Σ k̄ k, Σ w u with w = k̄ ∂k/∂u, and for RQ Σ k̄ ∂k/∂ln a at fixed d².
type Sums [3 * Lanes]float64

// Pull writes w = bar·∂k/∂u to w, which may be u, and adds to the sums.
// Matern12 has a kink at u = 0, where w is 0.
func (p Profile) Pull(w, u, bar []float64, shape float64, sums *Sums) {
	loops.pull[p](w, u[:len(w)], bar[:len(w)], shape, (*[3 * Lanes]float64)(sums))
}

// BundleDistances writes the squared distances of point i to the points 0 … i−1 to u, for each set
// of a bundle: i elements for all sets. The rows of x are points.
func BundleDistances(x linalg.Bundle, i int, u []float64) {
	if i > 0 && x.Cols > 0 {
		loops.bundleDistances(i, x.Cols, &x.Row(i)[0], &x.Data[0], &u[:i*linalg.Abreast][0])
	}
}

// BundleMoments adds Σ_j w_j (x_it − x_jt)² over j < i to sums[Lanes·t …].
// The number of columns t is a multiple of
// 4. The sets of a bundle are the lanes.
func BundleMoments(x linalg.Bundle, i int, w, sums []float64) {
	if i > 0 && x.Cols > 0 {
		loops.bundleMoments(i, x.Cols, &w[:i*linalg.Abreast][0], &x.Row(i)[0], &x.Data[0],
			&sums[:x.Cols*Lanes][0])
	}
}

// Effect is one input of the additive kernel:
// k_t = over·exp(−(at−x)²) − hidden·g(x), for a point whose input is at and points whose inputs are
// x. All inputs are divided by √2 l. The adjoint of k_t is
// w = bar (main + pairs (total − k_t)).
type Effect struct {
	At, Hidden, Over, Main, Pairs float64
}

// Add writes over·exp(−(at−x)²) to se, and adds k_t to total and k_t² to squares, for points with
// inputs x and roots g.
func (e Effect) Add(x, g, se, total, squares []float64) {
	n := len(x)
	loops.effect(se[:n], total[:n], squares[:n], x, g[:n], e.At, e.Hidden, e.Over)
}

// Pull adds Σ w (se ((at−x)² − shrink) − g (first + second x²)) to sums. se is from Add.
func (e Effect) Pull(x, g, se, bar, total []float64, first, second, shrink float64,
	sums *[Lanes]float64) {
	n := len(x)
	loops.effectPull(x, g[:n], bar[:n], total[:n], se[:n], e.At, e.Hidden, e.Main, e.Pairs, first,
		second, shrink, sums)
}

// Move returns Σ w se (at−x) and Σ w g.
func (e Effect) Move(x, g, se, bar, total []float64) (slope, root float64) {
	n := len(x)
	var sums [2 * Lanes]float64
	loops.effectMove(x, g[:n], bar[:n], total[:n], se[:n], e.At, e.Hidden, e.Main, e.Pairs, &sums)
	return Total(sums[:Lanes]), Total(sums[Lanes:])
}
