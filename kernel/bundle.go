package kernel

import (
	"math"

	"github.com/krigo-gp/krigo/internal/linalg"
	"github.com/krigo-gp/krigo/internal/radial"
	"github.com/krigo-gp/krigo/matrix"
)

// FillBundle writes the covariances of linalg.Abreast small sets of points, side by side, to the
// lower triangles of dst's matrices. x has a row per point. dst has at least one row and one column per point.
// FillBundle works on the calling goroutine.
func (at Bound) FillBundle(x, dst linalg.Bundle) {
	if b, ok := at.Kernel.(bundled); ok {
		b.fillBundle(at.Theta, x, dst)
		return
	}
	points := linalg.Borrow(x.Rows, x.Cols)
	block := linalg.Borrow(x.Rows, x.Rows)
	for l := range linalg.Abreast {
		pick(x, l, points)
		at.Kernel.Cov(at.Theta, points, points, block)
		for i := range x.Rows {
			to := dst.Row(i)[l:]
			for j, v := range block.Row(i)[:i+1] {
				to[j*linalg.Abreast] = v
			}
		}
	}
	linalg.Return(points, block)
}

// PullBundle adds the pull-back of the adjoint bar of FillBundle's K to dTheta.
// It reads only the lower triangle, which has each pair of points once.
func (at Bound) PullBundle(x, bar linalg.Bundle, dTheta []float64) {
	if b, ok := at.Kernel.(bundled); ok {
		b.pullBundle(at.Theta, x, bar, dTheta)
		return
	}
	points := linalg.Borrow(x.Rows, x.Cols)
	block := linalg.Borrow(x.Rows, x.Rows)
	block.Zero()
	for l := range linalg.Abreast {
		pick(x, l, points)
		for i := range x.Rows {
			from := bar.Row(i)[l:]
			for j := range block.Row(i)[:i+1] {
				block.Set(i, j, from[j*linalg.Abreast])
			}
		}
		at.Kernel.Pull(at.Theta, points, points, Adjoint{block, Gradient{Theta: dTheta}})
	}
	linalg.Return(points, block)
}

// bundled is a kernel that computes all sets at once.
type bundled interface {
	fillBundle(theta []float64, x, dst linalg.Bundle)
	pullBundle(theta []float64, x, bar linalg.Bundle, dTheta []float64)
}

// pick copies set l of x to points.
func pick(x linalg.Bundle, l int, points matrix.Dense) {
	for i := range x.Rows {
		row := points.Row(i)
		from := x.Row(i)[l:]
		for t := range row {
			row[t] = from[t*linalg.Abreast]
		}
	}
}

// scaledBundle returns the points as package radial takes them, with columns of zeros up to a
// multiple of 4. The last point becomes the origin.
// This changes no distance, and differences near the origin lose fewer digits.
func (s *Stationary) scaledBundle(logL2 []float64, shape float64, x linalg.Bundle) linalg.Bundle {
	padded := (x.Cols + 3) / 4 * 4
	scaled := linalg.BorrowBundle(x.Rows, padded)
	origin := x.Row(x.Rows - 1)
	scale := s.profile.Scale(shape)
	for t := range padded {
		if t >= x.Cols {
			for i := range x.Rows {
				clear(scaled.At(i, t))
			}
			continue
		}
		inverse := scale * math.Exp(-0.5*logL2[min(t, len(logL2)-1)])
		o := (*[linalg.Abreast]float64)(origin[t*linalg.Abreast:])
		for i := range x.Rows {
			from := (*[linalg.Abreast]float64)(x.At(i, t))
			to := (*[linalg.Abreast]float64)(scaled.At(i, t))
			for l, v := range from {
				to[l] = (v - o[l]) * inverse
			}
		}
	}
	return scaled
}

// fillBundle implements bundled. Row i gets the distances from the points before, and 0 from
// itself.
func (s *Stationary) fillBundle(theta []float64, x, dst linalg.Bundle) {
	logL2, shape, variance := s.unpack(theta)
	scaled := s.scaledBundle(logL2, shape, x)
	for i := range x.Rows {
		row := dst.Row(i)[:(i+1)*linalg.Abreast]
		clear(row[i*linalg.Abreast:])
		radial.BundleDistances(scaled, i, row)
		s.profile.Value(row, row, shape, variance)
	}
	scaled.Release()
}

// pullBundle does the work of against.pull for a bundle, in which each lane holds a set.
func (s *Stationary) pullBundle(theta []float64, x, bar linalg.Bundle, dTheta []float64) {
	logL2, shape, variance := s.unpack(theta)
	scaled := s.scaledBundle(logL2, shape, x)
	lanes := linalg.Borrow(scaled.Cols, radial.Lanes)
	w := linalg.Borrow(x.Rows, linalg.Abreast)
	lanes.Zero()
	var sums radial.Sums
	for i := range x.Rows {
		row := w.Data[:(i+1)*linalg.Abreast]
		clear(row[i*linalg.Abreast:])
		radial.BundleDistances(scaled, i, row)
		s.profile.Pull(row, row, bar.Row(i)[:len(row)], shape, &sums)
		if s.ard {
			radial.BundleMoments(scaled, i, row, lanes.Data)
		}
	}
	s.addSums(variance, lanes.Data, &sums, dTheta)
	scaled.Release()
	linalg.Return(lanes, w)
}

func (c composite) fillBundle(theta []float64, x, dst linalg.Bundle) {
	part := linalg.BorrowBundle(x.Rows, x.Rows)
	c.each(theta, nil, func(p int, k Kernel, th, _ []float64) {
		if p == 0 {
			At(k, th).FillBundle(x, dst)
			return
		}
		At(k, th).FillBundle(x, part)
		for i := range x.Rows {
			n := (i + 1) * linalg.Abreast
			c.combine(dst.Row(i)[:n], part.Row(i)[:n])
		}
	})
	part.Release()
}

// pullBundle gives each part of a product the adjoint times the values of the other parts.
func (c composite) pullBundle(theta []float64, x, bar linalg.Bundle, dTheta []float64) {
	n := x.Rows
	// In a product, values holds the covariances of each part, and g the adjoint of one part at a
	// time.
	values := make([]linalg.Bundle, len(c.parts))
	g := bar
	if c.product {
		g = linalg.BorrowBundle(n, n)
		defer g.Release()
		c.each(theta, nil, func(p int, k Kernel, th, _ []float64) {
			values[p] = linalg.BorrowBundle(n, n)
			At(k, th).FillBundle(x, values[p])
		})
	}
	c.each(theta, dTheta, func(p int, k Kernel, th, d []float64) {
		if c.product {
			for i := range n {
				to := g.Row(i)[:(i+1)*linalg.Abreast]
				copy(to, bar.Row(i))
				for q, v := range values {
					if q != p {
						linalg.Mul(to, v.Row(i)[:len(to)])
					}
				}
			}
		}
		At(k, th).PullBundle(x, g, d)
	})
	if c.product {
		for _, v := range values {
			v.Release()
		}
	}
}
