package kernel

import (
	"math"

	"github.com/krigo-gp/krigo/internal/linalg"
	"github.com/krigo-gp/krigo/internal/radial"
	"github.com/krigo-gp/krigo/matrix"
)

// Boxed is a kernel at fixed parameters and at fixed points that lie in boxes.
// It bounds a point's covariances with all points of a box at once.
// Any number of goroutines may use it.
type Boxed struct {
	Fixed
	boxed
}

// Boxes fixes the points x in another order, which gives their numbers.
// Each size points in that order share a box.
// Boxes keeps x, without its context. ok is false if the kernel may rise where two points move
// apart along an axis:
// stationary kernels, constant and white kernels, and their sums and products never rise.
func (at Bound) Boxes(x matrix.Dense, order []int32, size int) (boxed Boxed, ok bool) {
	ordered := matrix.Large(x.Rows, x.Cols).Until(x.Context())
	n := (x.Rows + size - 1) / size
	b := boxes{x: x, ordered: ordered, least: matrix.New(n, x.Cols),
		greatest: matrix.New(n, x.Cols)}
	for i, row := range order {
		copy(ordered.Row(i), x.Row(int(row)))
		least := b.least.Row(i / size)
		greatest := b.greatest.Row(i / size)
		for t, v := range x.Row(int(row)) {
			if i%size == 0 {
				least[t], greatest[t] = v, v
			}
			least[t], greatest[t] = min(least[t], v), max(greatest[t], v)
		}
	}
	c, ok := b.columns(at.Kernel, at.Theta)
	return Boxed{Fixed{c, x.Rows}, c}, ok
}

// boxed are columns at points in boxes.
type boxed interface {
	columns
	// Most writes the largest covariance that a point may have with points of each box, up to
	// rounding: the covariance with the nearest place of the box.
	// It is relatively right to a part in 10⁹, or it is less than 10⁻²⁹⁰.
	Most(point, k []float64)
}

// boxes are points in another order than x, and the corners of their boxes.
type boxes struct{ x, ordered, least, greatest matrix.Dense }

// columns prepares the columns of a kernel. Their covariances have the bits of Kernel.Cov with x.
func (b boxes) columns(k Kernel, theta []float64) (boxed, bool) {
	switch k := k.(type) {
	case *Stationary:
		// the frame depends, in its last digits, on the order of x
		p := k.against(theta, b.x).(*against)
		p.points.Release()
		p.points = radial.Kept(p.pack(b.ordered))
		return boxedStationary{p, p.pack(b.least), p.pack(b.greatest)}, true
	case indicator:
		return boxedIndicator{unprepared{k, theta, b.ordered}, math.Exp(theta[0])}, true
	case on:
		return b.on(k, theta)
	case composite:
		c := boxedComposite{compositeColumns{composite: k}}
		ok := true
		k.each(theta, nil, func(_ int, k Kernel, th, _ []float64) {
			part, has := b.columns(k, th)
			c.compositeColumns.columns = append(c.compositeColumns.columns, part)
			ok = ok && has
		})
		return c, ok
	}
	return nil, false
}

// boxedStationary is a stationary kernel at points in boxes.
type boxedStationary struct {
	*against
	least, greatest matrix.Dense // as p packs points
}

// pack replaces points by their differences from the centre in lengthscales, as package radial
// does.
func (p *against) pack(x matrix.Dense) matrix.Dense {
	return radial.Scaled(x, p.centre, p.inverse, matrix.Large(x.Rows, x.Cols))
}

// Most takes the distance to the nearest place of each box. It is 0 in inputs in which the point
// lies between the box's ends.
func (p boxedStationary) Most(point, k []float64) {
	at := p.pack(matrix.Of(1, len(point), point)).Data
	for i := range k {
		k[i] = radial.FromBox(at, p.least.Row(i), p.greatest.Row(i))
	}
	p.profile.Value(k, k, p.shape, p.variance)
}

// boxedIndicator is a constant or white kernel at points in boxes.
type boxedIndicator struct {
	unprepared
	variance float64
}

// Most writes σ², which no covariance exceeds.
func (p boxedIndicator) Most(_, k []float64) {
	for i := range k {
		k[i] = p.variance
	}
}

// boxedComposite is a sum or product at points in boxes.
type boxedComposite struct{ compositeColumns }

// Most adds or multiplies the bounds of the parts, none of whose covariances are negative.
func (c boxedComposite) Most(point, k []float64) {
	part := linalg.Borrow(1, len(k))
	for i, p := range c.columns {
		if i == 0 {
			p.(boxed).Most(point, k)
			continue
		}
		p.(boxed).Most(point, part.Data)
		c.combine(k, part.Data)
	}
	linalg.Return(part)
}

// boxedOn is a kernel on some of the inputs, at points in boxes.
type boxedOn struct {
	onColumns
	boxed boxed
}

func (p boxedOn) Most(point, k []float64) {
	seen := p.gather(matrix.Of(1, len(point), point))
	p.boxed.Most(seen.Data[:seen.Cols], k)
	linalg.Return(seen)
}

// on prepares a kernel on some of the inputs. Points and corners keep only these inputs.
func (b boxes) on(o on, theta []float64) (boxed, bool) {
	seen := boxes{o.gather(b.x), o.gather(b.ordered), o.gather(b.least), o.gather(b.greatest)}
	p, ok := seen.columns(o.Kernel, theta)
	return boxedOn{onColumns{o, p, seen.x}, p}, ok
}
