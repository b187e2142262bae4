package kernel

import (
	"fmt"
	"slices"

	"github.com/krigo-gp/krigo/internal/linalg"
	"github.com/krigo-gp/krigo/matrix"
)

// composite is Σ k_p or Π k_p. Its parameters are the parameters of the parts, in order.
type composite struct {
	parts   []Kernel
	product bool
}

var _ Kernel = composite{}

// Sum returns the kernel Σ k_p.
func Sum(parts ...Kernel) Kernel { return composite{parts, false} }

// Product returns the kernel Π k_p.
func Product(parts ...Kernel) Kernel { return composite{parts, true} }

// Params implements Kernel. A name begins with the number of its part, as in "1.log_variance".
func (c composite) Params() []Param {
	var all []Param
	for i, k := range c.parts {
		for _, p := range k.Params() {
			p.Name = fmt.Sprintf("%d.%s", i+1, p.Name)
			all = append(all, p)
		}
	}
	return all
}

func (c composite) Spec(theta []float64) Spec {
	s := Spec{Name: "sum"}
	if c.product {
		s.Name = "product"
	}
	c.each(theta, nil, func(_ int, k Kernel, th, _ []float64) {
		s.Parts = append(s.Parts,
			k.Spec(th))
	})
	return s
}

// each calls f with every part, the part's slice of θ and its slice of dθ.
func (c composite) each(theta, dTheta []float64, f func(i int, k Kernel, th, dth []float64)) {
	for i, k := range c.parts {
		n := size(k)
		var d []float64
		if dTheta != nil {
			d = dTheta[:n]
			dTheta = dTheta[n:]
		}
		f(i, k, theta[:n], d)
		theta = theta[n:]
	}
}

// combine multiplies dst by src in a product, and adds src to dst in a sum, element by element.
func (c composite) combine(dst, src []float64) {
	if c.product {
		linalg.Mul(dst, src)
	} else {
		linalg.Axpy(1, src, dst)
	}
}

func (c composite) Cov(theta []float64, a, b, k matrix.Dense) { covOnce(c, theta, a, b, k) }

func (c composite) Pull(theta []float64, a, b matrix.Dense, bar Adjoint) {
	pullOnce(c, theta, a, b, bar)
}

// compositeColumns is a sum or product at fixed θ and fixed points.
type compositeColumns struct {
	composite
	columns []columns // one for each part
	sizes   []int     // number of parameters of each part
}

func (c composite) against(theta []float64, b matrix.Dense) columns {
	cc := compositeColumns{composite: c}
	c.each(theta, nil, func(_ int, k Kernel, th, _ []float64) {
		cc.columns = append(cc.columns, columnsOf(k, th, b))
		cc.sizes = append(cc.sizes, len(th))
	})
	return cc
}

func (c compositeColumns) release() {
	for _, p := range c.columns {
		p.release()
	}
}

func (c compositeColumns) cov(a matrix.Dense, j0, j1 int, k matrix.Dense) {
	c.columns[0].cov(a, j0, j1, k)
	part := linalg.Borrow(k.Rows, k.Cols)
	for _, p := range c.columns[1:] {
		p.cov(a, j0, j1, part)
		for i := range k.Rows {
			c.combine(k.Row(i), part.Row(i))
		}
	}
	linalg.Return(part)
}

// pull gives each part of a product the adjoint times the values of the other parts.
func (c compositeColumns) pull(a matrix.Dense, j0, j1 int, bar matrix.Dense, dTheta []float64,
	dA matrix.Dense) {
	// In a product, values holds the covariances of each part, and partBar the adjoint of one part
	// at a time.
	values := make([]matrix.Dense, len(c.columns))
	var partBar matrix.Dense
	if c.product {
		for p := range c.columns {
			values[p] = linalg.Borrow(bar.Rows, bar.Cols)
			c.columns[p].cov(a, j0, j1, values[p])
		}
		partBar = linalg.Borrow(bar.Rows, bar.Cols)
		defer linalg.Return(append(values, partBar)...)
	}
	for p, part := range c.columns {
		g := bar
		if c.product {
			g = partBar
			g.CopyFrom(bar)
			for q, v := range values {
				for i := range g.Rows {
					if q != p {
						linalg.Mul(g.Row(i), v.Row(i))
					}
				}
			}
		}
		part.pull(a, j0, j1, g, dTheta[:c.sizes[p]], dA)
		dTheta = dTheta[c.sizes[p]:]
	}
}

func (c composite) Diag(theta []float64, a matrix.Dense, k []float64) {
	part := linalg.Borrow(1, len(k))
	c.each(theta, nil, func(p int, kp Kernel, th, _ []float64) {
		if p == 0 {
			kp.Diag(th, a, k)
			return
		}
		kp.Diag(th, a, part.Data)
		c.combine(k, part.Data)
	})
	linalg.Return(part)
}

// PullDiag gives each part of a product the adjoint times the diagonals of the other parts.
func (c composite) PullDiag(theta []float64, a matrix.Dense, bar []float64, to Gradient) {
	c.each(theta, to.Theta, func(p int, k Kernel, th, d []float64) {
		g := bar
		if c.product {
			g = slices.Clone(bar)
			value := make([]float64, len(bar))
			c.each(theta, nil, func(q int, kq Kernel, thq, _ []float64) {
				if q != p {
					kq.Diag(thq, a, value)
					linalg.Mul(g, value)
				}
			})
		}
		k.PullDiag(th, a, g, Gradient{d, to.Inputs})
	})
}
