package kernel

import (
	"math"

	"github.com/krigo-gp/krigo/internal/linalg"
	"github.com/krigo-gp/krigo/internal/lists"
	"github.com/krigo-gp/krigo/matrix"
)

// Conditional is the covariance function of a Gaussian process that was conditioned on data, times
// a temper τ:
//
//	τ [k(x,x') − u(x)ᵀu(x') + w(x)ᵀw(x')],  u(x) = L⁻¹k(S,x),  w(x) = L_B⁻¹u(x)
//
// (see posterior.Posterior). It has no parameters, because a prior that was learnt on rows of its
// own is fixed before other rows are seen. It is positive semidefinite:
// k, minus the part that the support explains, plus the part that stays uncertain at the support.
type Conditional struct {
	Kernel  Kernel
	Theta   []float64
	Support matrix.Dense // S
	Chol    matrix.Dense // L
	CholB   matrix.Dense // the factor L_B; the zero Matrix if there is no w
	Temper  float64      // τ
	Noises  []float64    // noise variances in the rows S that L has, if they differ
}

var _ Kernel = (*Conditional)(nil)

func (c *Conditional) Params() []Param { return nil }

// Spec implements Kernel. It holds the kernel that was conditioned, and τ.
func (c *Conditional) Spec([]float64) Spec {
	return Spec{Name: "posterior", Variance: c.Temper, Parts: []Spec{c.Kernel.Spec(c.Theta)}}
}

// whiten turns rows k(x,S) into u, and writes w unless w is the zero Matrix.
func (c *Conditional) whiten(u, w matrix.Dense) {
	linalg.Trsm(false, true, c.Chol, u)
	if !c.CholB.IsZero() {
		w.CopyFrom(u)
		linalg.Trsm(false, true, c.CholB, w)
	}
}

// gains turns u and w into rows g(x) = L⁻ᵀ(u − L_B⁻ᵀw).
// The derivative of the covariance by k(x',S) is then −τ g(x).
// gains overwrites u and w.
func (c *Conditional) gains(u, w matrix.Dense) {
	if !c.CholB.IsZero() {
		linalg.Trsm(false, false, c.CholB, w)
		for i := range u.Rows {
			linalg.Axpy(-1, w.Row(i), u.Row(i))
		}
	}
	linalg.Trsm(false, false, c.Chol, u)
}

// second borrows the memory for w, if whiten needs it.
func (c *Conditional) second(rows int) matrix.Dense {
	if c.CholB.IsZero() {
		return linalg.Borrow(0, 0)
	}
	return linalg.Borrow(rows, c.Support.Rows)
}

func (c *Conditional) Cov(theta []float64, a, b, k matrix.Dense) { covOnce(c, theta, a, b, k) }

func (c *Conditional) Pull(theta []float64, a, b matrix.Dense, bar Adjoint) {
	pullOnce(c, theta, a, b, bar)
}

// Diag implements Kernel. k − uᵀu is a variance, which only rounding can make negative.
func (c *Conditional) Diag(_ []float64, a matrix.Dense, k []float64) {
	c.Kernel.Diag(c.Theta, a, k)
	u := linalg.Borrow(a.Rows, c.Support.Rows).Until(a.Context())
	w := c.second(a.Rows).Until(a.Context())
	defer linalg.Return(u, w)
	At(c.Kernel, c.Theta).Fill(a, c.Support, u)
	c.whiten(u, w)
	for i := range k {
		k[i] = math.Max(k[i]-linalg.Dot(u.Row(i), u.Row(i)), 0)
		if !c.CholB.IsZero() {
			k[i] += linalg.Dot(w.Row(i), w.Row(i))
		}
		k[i] *= c.Temper
	}
}

// PullDiag implements Kernel. It goes through k(x,x), and through k(x,S), whose adjoint is −2τ bar
// g(x): the factor 2 comes from both points, which move together.
func (c *Conditional) PullDiag(_ []float64, a matrix.Dense, bar []float64, to Gradient) {
	if to.Inputs.IsZero() {
		return
	}
	scaled := make([]float64, len(bar))
	linalg.ScaleTo(scaled, c.Temper, bar)
	ignored := make([]float64, len(c.Theta))
	c.Kernel.PullDiag(c.Theta, a, scaled, Gradient{ignored, to.Inputs})
	u := linalg.Borrow(a.Rows, c.Support.Rows).Until(a.Context())
	w := c.second(a.Rows).Until(a.Context())
	defer linalg.Return(u, w)
	At(c.Kernel, c.Theta).Fill(a, c.Support, u)
	c.whiten(u, w)
	c.gains(u, w)
	for i, v := range scaled {
		linalg.Scale(-2*v, u.Row(i))
	}
	At(c.Kernel, c.Theta).Pull(a, c.Support,
		Adjoint{K: u, Gradient: Gradient{Theta: ignored, Inputs: to.Inputs}})
}

// conditionalColumns is the kernel at fixed points b.
type conditionalColumns struct {
	*Conditional
	base, support columns      // columns of k, at b and at S
	u, w, g       matrix.Dense // rows u(b_j), w(b_j) and g(b_j)
}

// against computes u, w and g of the points b once, for all blocks.
func (c *Conditional) against(_ []float64, b matrix.Dense) columns {
	p := &conditionalColumns{Conditional: c, base: columnsOf(c.Kernel, c.Theta, b),
		support: columnsOf(c.Kernel, c.Theta, c.Support),
		u:       linalg.Borrow(b.Rows, c.Support.Rows).Until(b.Context()),
		w:       c.second(b.Rows).Until(b.Context()),
		g:       linalg.Borrow(b.Rows, c.Support.Rows).Until(b.Context())}
	At(c.Kernel, c.Theta).Fill(b, c.Support, p.u)
	c.whiten(p.u, p.w)
	p.g.CopyFrom(p.u)
	w := c.second(b.Rows)
	if !c.CholB.IsZero() {
		w.CopyFrom(p.w)
	}
	c.gains(p.g, w)
	linalg.Return(w)
	return p
}

func (p *conditionalColumns) release() {
	p.base.release()
	p.support.release()
	linalg.Return(p.u, p.w, p.g)
}

// cov computes k(a,b), and then u and w of the rows a, whose products with those of b complete it.
func (p *conditionalColumns) cov(a matrix.Dense, j0, j1 int, k matrix.Dense) {
	p.base.cov(a, j0, j1, k)
	u := linalg.Borrow(a.Rows, p.Support.Rows).Until(a.Context())
	w := p.second(a.Rows).Until(a.Context())
	for s0, s1 := range lists.Blocks(p.Support.Rows, tileCols) {
		p.support.cov(a, s0, s1, u.View(0, a.Rows, s0, s1))
	}
	p.whiten(u, w)
	linalg.Gemm(false, true, -1, u, p.u.RowRange(j0, j1), 1, k)
	if !p.CholB.IsZero() {
		linalg.Gemm(false, true, 1, w, p.w.RowRange(j0, j1), 1, k)
	}
	for i := range k.Rows {
		linalg.Scale(p.Temper, k.Row(i))
	}
	linalg.Return(u, w)
}

// pull goes through k(a,b), and through k(a,S), whose adjoint is −τ bar g(b).
func (p *conditionalColumns) pull(a matrix.Dense, j0, j1 int, bar matrix.Dense, _ []float64,
	dA matrix.Dense) {
	if dA.IsZero() {
		return
	}
	direct := linalg.Borrow(bar.Rows, bar.Cols)
	through := linalg.Borrow(bar.Rows, p.Support.Rows)
	ignored := linalg.Borrow(1, len(p.Theta))
	for i := range bar.Rows {
		linalg.ScaleTo(direct.Row(i), p.Temper, bar.Row(i))
	}
	p.base.pull(a, j0, j1, direct, ignored.Data, dA)
	linalg.Gemm(false, false, -1, direct, p.g.RowRange(j0, j1), 0, through)
	for s0, s1 := range lists.Blocks(p.Support.Rows, tileCols) {
		p.support.pull(a, s0, s1, through.View(0, a.Rows, s0, s1), ignored.Data, dA)
	}
	linalg.Return(direct, through, ignored)
}

// ConditionalMean is the mean function of a Gaussian process that was conditioned on data, m(x) +
// k(x,S)·w. It has no parameters.
type ConditionalMean struct {
	Mean    Mean
	Beta    []float64
	Kernel  Kernel
	Theta   []float64
	Support matrix.Dense
	Weights []float64
}

func (c *ConditionalMean) Params() []Param { return nil }

func (c *ConditionalMean) At(_ []float64, x matrix.Dense, m []float64) {
	c.Mean.At(c.Beta, x, m)
	k := linalg.Borrow(x.Rows, c.Support.Rows).Until(x.Context())
	At(c.Kernel, c.Theta).Fill(x, c.Support, k)
	for i := range m {
		m[i] += linalg.Dot(k.Row(i), c.Weights)
	}
	linalg.Return(k)
}

func (c *ConditionalMean) Pull([]float64, matrix.Dense, []float64, []float64) {}

// PullInputs goes through m(x), and through k(x,S), whose adjoint is bar w.
func (c *ConditionalMean) PullInputs(_ []float64, x matrix.Dense, bar []float64, dX matrix.Dense) {
	c.Mean.PullInputs(c.Beta, x, bar, dX)
	k := linalg.Borrow(x.Rows, c.Support.Rows).Until(x.Context())
	for i, g := range bar {
		linalg.ScaleTo(k.Row(i), g, c.Weights)
	}
	At(c.Kernel, c.Theta).Pull(x, c.Support,
		Adjoint{K: k, Gradient: Gradient{Theta: make([]float64, len(c.Theta)), Inputs: dX}})
	linalg.Return(k)
}
