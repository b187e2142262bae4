package posterior

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/krigo-gp/krigo/internal/divergence"
	"github.com/krigo-gp/krigo/internal/linalg"
	"github.com/krigo-gp/krigo/kernel"
	"github.com/krigo-gp/krigo/matrix"
)

// Inducing is the solution on inducing inputs, S = Z (Reeb et al. 2018, Eqs. 9, 11).
// The mean is m(x) + k(x,S)w and the variance is k(x,x) − ‖L⁻¹k(S,x)‖² + ‖L_B⁻¹L⁻¹k(S,x)‖², with L
// Lᵀ = K_ZZ, B = L_B L_Bᵀ and w = L⁻ᵀμ. A free-form q(f_Z) has the same form, and B⁻¹ is its
// whitened covariance.
type Inducing struct {
	factored
	W     []float64    // w, the weights
	Chol  matrix.Dense // L, lower triangle
	CholB matrix.Dense // L_B, lower triangle
}

var _ Solution = (*Inducing)(nil)

// newInducing returns the solution of weights w, with the factors l of K_ZZ and b of B.
func newInducing(w []float64, l, b matrix.Dense) *Inducing {
	return &Inducing{factored{new(kept)}, w, l, b}
}

// NewInducing turns the whitened mean μ, given as mu, into weights, and returns p with the solution
// of these weights.
func NewInducing(p Posterior, mu []float64, chol, cholB matrix.Dense) (*Posterior, error) {
	linalg.Trsv(true, chol, mu)
	if !linalg.Finite(mu) {
		return nil, errors.New("the posterior's weights aren't finite: look for extreme values " +
			"in the data, or use fewer inducing inputs")
	}
	p.Solution = newInducing(mu, chol, cholB)
	return &p, nil
}

func (q *Inducing) Inducing() int { return len(q.W) }

func (q *Inducing) Arrays() ([]Array, int) {
	return []Array{list("weights", q.W), triangle("cholesky", q.Chol),
		triangle("cholesky_b", q.CholB)}, 0
}

func (q *Inducing) Weights() []float64 { return q.W }

func (q *Inducing) until(ctx context.Context) Solution {
	return &Inducing{q.factored, q.W, q.Chol.Until(ctx), q.CholB.Until(ctx)}
}

// latent writes the mean and, unless variance is nil, the variance of Inducing, predictRows rows at
// a time.
func (q *Inducing) latent(p *Posterior, x matrix.Dense, mean, variance []float64) {
	if variance != nil {
		p.Kernel.Diag(p.Theta, x, variance)
	}
	packed := q.packed(p, q.Chol, q.CholB)
	p.tiles(predictRows, x, mean, packed.cov, func(i0, i1 int, ks matrix.Dense) {
		if variance == nil {
			return
		}
		explained(packed.solve[0], ks, variance[i0:i1])
		packed.solve[1](ks)
		for i := i0; i < i1; i++ {
			row := ks.Row(i - i0)
			variance[i] += linalg.Dot(row, row)
		}
	})
}

// kl returns the KL of N(μ, B⁻¹) from N(0, I) in nats, with μ = Lᵀw. These are q(f_Z) and its prior
// in whitened coordinates.
func (q *Inducing) kl(*Posterior) float64 {
	n := len(q.W)
	binv := q.Chol.Like(n, n)
	mu := make([]float64, n)
	linalg.CholeskyInverse(q.CholB, binv)
	for i, w := range q.W { // μ = Lᵀw
		linalg.Axpy(w, q.Chol.Row(i)[:i+1], mu[:i+1])
	}
	return divergence.Sparse(q.CholB, binv, mu)
}

// rounding returns how many nats an error of M·2⁻⁵² of the largest variance in K_ZZ can hide in
// ‖μ‖²/2 = wᵀK_ZZ w/2. B's factor is given, so it adds none.
func (q *Inducing) rounding(p *Posterior) float64 {
	off := float64(p.Support.Rows) * 0x1p-52 * p.whole()
	return off * linalg.Dot(q.W, q.W) / 2
}

// Doubt returns about how many nats rounding can move the log likelihood of the rows:
// off·[tr L⁻ᵀ(B − I)L⁻¹ + wᵀw], where off is M·2⁻⁵² of the largest variance in K_ZZ.
// VFE changes by at most half of it per off of jitter, and FITC by little more.
func (q *Inducing) Doubt(p *Posterior) float64 {
	n := len(q.W)
	sum := linalg.Dot(q.W, q.W)
	product := make([]float64, n) // a row of L_BᵀL⁻¹
	inverse := q.Chol.Like(n, n)
	inverse.CopyFrom(q.Chol)
	linalg.TriangularInverse(inverse)
	for i := range n {
		clear(product)
		for j := i; j < n; j++ {
			linalg.Axpy(q.CholB.At(j, i), inverse.Row(j)[:j+1], product[:j+1])
		}
		row := inverse.Row(i)[:i+1]
		sum += linalg.Dot(product, product) - linalg.Dot(row, row)
	}
	return float64(n) * 0x1p-52 * p.whole() * sum
}

// explain subtracts U Uᵀ and adds (U L_B⁻ᵀ)(U L_B⁻ᵀ)ᵀ, with U = u L⁻ᵀ.
func (q *Inducing) explain(u, cov matrix.Dense) {
	linalg.Trsm(false, true, q.Chol, u)
	linalg.SyrkLower(false, -1, u, 1, cov)
	linalg.Trsm(false, true, q.CholB, u)
	linalg.SyrkLower(false, 1, u, 1, cov)
}

// conditioning returns v = L⁻ᵀ(L⁻¹f₀(Z) − L_B⁻ᵀε), since L_B⁻ᵀε has the covariance B⁻¹. The mean w
// is added elsewhere.
func (q *Inducing) conditioning(context.Context, *Posterior, Iterative) (conditioner, error) {
	return func(f, e matrix.Dense) (matrix.Dense, error) {
		linalg.Trsm(true, false, q.Chol, f)
		linalg.Trsm(true, true, q.CholB, e)
		for i := range f.Rows {
			linalg.Axpy(-1, e.Row(i), f.Row(i))
		}
		linalg.Trsm(true, true, q.Chol, f)
		return f, nil
	}, nil
}

// prior gives the kernel L and L_B, from which it computes covariances under Q.
func (q *Inducing) prior(k *kernel.Conditional) error {
	k.Chol = q.Chol
	k.CholB = q.CholB
	return nil
}

// farthest is the largest distance that inducing inputs may have from the rows, whose own inputs
// are about 1. Kernels measure distances from a point among the inducing inputs, and rows lose as
// many digits as the distance has.
const farthest = 1e8

// refactor computes L of K_ZZ again, with the jitter that the kept L has, and keeps w and L_B. It
// refuses inducing inputs far from all rows, and an L_B whose diagonal isn't positive.
func (q *Inducing) refactor(p *Posterior) (Solution, error) {
	for _, z := range p.Support.Data {
		if math.Abs(z) > farthest {
			return nil, fmt.Errorf("an inducing input lies %.3g scaled units from the rows, "+
				"where rounding would choose what the kernel sees of them", z)
		}
	}
	for i := range q.CholB.Rows {
		row := q.CholB.Row(i)[:i+1]
		if !linalg.Finite(row) || !(row[i] > 0) {
			return nil, fmt.Errorf("the posterior's factor of B isn't one: row %d isn't finite, "+
				"with a positive end", i+1)
		}
	}
	whole := p.whole()
	l, err := p.refill(q.Chol, p.shift(q.Chol, whole, true), whole)
	return newInducing(q.W, l, q.CholB), err
}

// Apart says how far q, a sparse posterior of the same kernel, mean and support, is from p. mean is
// the largest difference of their means at the rows of x, and covariance is ‖L_B⁻¹L_B' − I‖.
func (p *Posterior) Apart(q *Posterior, x matrix.Dense) (mean, covariance float64) {
	a := p.Solution.(*Inducing)
	b := q.Solution.(*Inducing)
	off := *p
	at := make([]float64, x.Rows)
	w := slices.Clone(b.W)
	linalg.Axpy(-1, a.W, w)
	off.Mean = kernel.ZeroMean{}
	off.Beta = nil
	off.Solution = &Inducing{W: w}
	off.Latent(x, at, nil)
	for _, v := range at {
		mean = math.Max(mean, math.Abs(v))
	}
	return mean, distance(a.CholB, b.CholB)
}
