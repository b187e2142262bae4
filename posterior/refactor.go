package posterior

import (
	"fmt"
	"math"
	"slices"

	"github.com/krigo-gp/krigo/internal/linalg"
	"github.com/krigo-gp/krigo/kernel"
	"github.com/krigo-gp/krigo/matrix"
)

// Refactored returns the posterior with an L made anew from kernel, support and noise variance, as
// is that of a posterior which its prior is: KL and variances rest on them, and are then nobody's
// word. An error where a stored L is another one, so that the posterior predicts otherwise, or a
// number isn't one.
//
// K_SS + cI is what is factored. The c of an exact posterior is its noise variance. That of a
// sparse one, its jitter, isn't stored, nor is the noise variance of an exact one that another was
// learnt from: c is then what L has on the diagonal. Any c ≥ 0 makes a Q with the KL that is
// computed for it, since u = f_Z + √c ε are inducing variables, and √c ε the noise of data, like any
// others. So does any L_B with a positive diagonal. Of a posterior that isn't factored its numbers are checked alone.
func (p *Posterior) Refactored() (*Posterior, error) {
	if !(p.Noise > 0 && !math.IsInf(p.Noise, 1)) {
		return nil, fmt.Errorf("the posterior's noise variance is %v", p.Noise)
	}
	return p.refactored()
}

// refactored is Refactored where a Noise of 0 isn't known.
func (p *Posterior) refactored() (*Posterior, error) {
	q, n := *p, p.Support.Rows
	if prior, temper := p.OfPrior(); prior != nil {
		if n == 0 {
			prior.Noise = p.Noise // see Unconditioned
		}
		again, err := prior.Until(p.Support.Context()).refactored()
		if err != nil {
			return nil, fmt.Errorf("the prior: %w", err)
		}
		if q.Kernel, q.Mean, err = again.Prior(temper); err != nil {
			return nil, err
		}
	}
	if err := q.checkNumbers(); err != nil || n == 0 || !p.Factored() {
		if q.Nearest > 0 {
			return q.Near(q.Nearest), err // by an index that is made anew too
		}
		return &q, err
	}
	q.Chol = p.Support.Like(n, n)
	c, whole := q.Noise, q.whole()
	if q.Sparse() || c == 0 {
		c = q.shift(p.Chol, whole)
	}
	if least := float64(n) * 0x1p-52 * whole; !q.Sparse() && !(c >= least) {
		return nil, fmt.Errorf("the posterior's noise variance %.3g is no more than rounding, %.3g, of its kernel's "+
			"variances: raise it", c, least)
	}
	kernel.FillSymmetric(q.Kernel, q.Theta, q.Support, q.Chol)
	q.Chol.AddDiagonal(c)
	if err := linalg.Cholesky(q.Chol); err != nil {
		return nil, NotDefinite(err, c)
	}
	if d := distance(q.Chol, p.Chol); !(d <= sameFactor) && !(d <= rounding(q.Chol, whole)) {
		return nil, fmt.Errorf("the factor of the posterior's covariance isn't that of its kernel and noise variance: it "+
			"is off by %.3g of what they make it", d)
	}
	return &q, nil
}

// farthest is how far inducing inputs may lie from the rows, which are about 1: kernels measure from among
// them, and rows lose the digits that the distance has.
const farthest = 1e8

// checkNumbers makes sure that what L is made from, weights and L_B are numbers.
func (p *Posterior) checkNumbers() error {
	for _, of := range []struct {
		what   string
		values []float64
	}{{"parameters", p.Theta}, {"mean's parameters", p.Beta}, {"support", p.Support.Data}, {"weights", p.Weights},
		{"targets", p.Targets}} {
		if !linalg.Finite(of.values) {
			return fmt.Errorf("the posterior's %s aren't finite", of.what)
		}
	}
	for _, z := range p.Support.Data {
		if p.Sparse() && math.Abs(z) > farthest {
			return fmt.Errorf("an inducing input lies %.3g scaled units from the rows, where rounding would choose what the "+
				"kernel sees of them", z)
		}
	}
	for i := range p.CholB.Rows {
		row := p.CholB.Row(i)[:i+1]
		if !linalg.Finite(row) || !(row[i] > 0) {
			return fmt.Errorf("the posterior's factor of B isn't one: row %d isn't finite, with a positive end", i+1)
		}
	}
	return nil
}

// shift returns the c of L Lᵀ = K_SS + cI for a given L. A sparse posterior's is one of the jitters
// there are if it can be: to all their digits, for c is all that L has in some directions.
func (p *Posterior) shift(l matrix.Dense, whole float64) float64 {
	n := float64(p.Support.Rows)
	diag := make([]float64, p.Support.Rows)
	p.Kernel.Diag(p.Theta, p.Support, diag)
	scale := linalg.Sum(diag) / n
	for i, k := range diag {
		row := l.Row(i)[:i+1]
		diag[i] = linalg.Dot(row, row) - k
	}
	c := linalg.Sum(diag) / n
	if !p.Sparse() {
		return max(c, 0)
	}
	if c < jitterStart*scale/2 || c < 1e-13*whole {
		return 0
	}
	for jitter := jitterStart * scale; jitter < 2*jitterEnd*scale; jitter *= 10 {
		if math.Abs(c-jitter) <= 1e-3*jitter {
			return jitter
		}
	}
	return c
}

// Two factors are the same up to a distance of sameFactor, or as far as rounding reaches.
//
// The certificate doesn't depend on it: it says how closely what predicts, ‖L⁻¹k(S,x)‖, has to be
// what was certified. Factors made on one kind of processor were 3e-10 apart at most.
const sameFactor = 1e-6

// Apart says how far a sparse posterior of the same kernel, mean and support is from p: how much its means at the rows
// of x differ at most, and its L_B by ‖L_B⁻¹L_B' − I‖.
func (p *Posterior) Apart(q *Posterior, x matrix.Dense) (mean, covariance float64) {
	off, at := *p, make([]float64, x.Rows)
	off.Mean, off.Beta, off.Weights = kernel.ZeroMean{}, nil, slices.Clone(q.Weights)
	linalg.Axpy(-1, p.Weights, off.Weights)
	off.Latent(x, at, nil)
	for _, v := range at {
		mean = math.Max(mean, math.Abs(v))
	}
	return mean, distance(p.CholB, q.CholB)
}

// distanceCols is the number of columns of L that are looked at at a time.
const distanceCols = 512

// distance returns ‖L⁻¹A − I‖, in the norm of Frobenius: L is as sensitive to a difference where
// L Lᵀ is small as where it is large.
func distance(l, a matrix.Dense) float64 {
	var sum float64
	n := l.Rows
	for j0 := 0; j0 < n; j0 += distanceCols {
		j1 := min(j0+distanceCols, n)
		e := linalg.Borrow(n-j0, j1-j0) // above its first row L⁻¹A − I is zero
		e.Zero()
		for i := j0; i < n; i++ {
			m := min(i+1, j1)
			copy(e.Row(i - j0)[:m-j0], a.Row(i)[j0:m])
		}
		linalg.Trsm(true, false, l.View(j0, n, j0, n), e)
		for i := range e.Rows {
			row := e.Row(i)
			if i < e.Cols {
				row[i]--
			}
			sum += linalg.Dot(row, row)
		}
		linalg.Return(e)
	}
	return math.Sqrt(sum)
}

// rounding returns how far rounding moves L on another kind of processor, where it computes
// L Lᵀ to Nε of a variance: by that times ‖L⁻¹‖² (a perturbation bound of Cholesky's factor). No more
// than a half, since a factor without the least of its pivots would be off by 1.
func rounding(l matrix.Dense, variance float64) float64 {
	inverse := l.Like(l.Rows, l.Rows)
	inverse.CopyFrom(l)
	return min(float64(l.Rows)*0x1p-52*variance*inverseNorm(inverse), 0.5)
}
