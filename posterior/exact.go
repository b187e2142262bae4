package posterior

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/krigo-gp/krigo/internal/divergence"
	"github.com/krigo-gp/krigo/internal/linalg"
	"github.com/krigo-gp/krigo/internal/lists"
	"github.com/krigo-gp/krigo/kernel"
	"github.com/krigo-gp/krigo/matrix"
)

// Exact is the solution on rows, S = X (Reeb et al. 2018, Eq. 6).
// The mean is m(x) + k(x,S)w and the variance is k(x,x) − ‖L⁻¹k(S,x)‖², with L Lᵀ = K + sI.
type Exact struct {
	factored
	W    []float64    // w, the weights
	Chol matrix.Dense // L, lower triangle
}

var _ Solution = (*Exact)(nil)

// newExact returns the solution of weights w and Cholesky factor l of C, with nothing packed yet.
func newExact(w []float64, l matrix.Dense) *Exact { return &Exact{factored{new(kept)}, w, l} }

// Given is a GP with its parameters, the variance of the Gaussian noise, and the observations Y at
// the rows of X.
type Given struct {
	Kernel kernel.Kernel
	Theta  []float64
	Mean   kernel.Mean
	Beta   []float64
	Noise  float64
	X      matrix.Dense
	Y      []float64
	PerRow RowNoise
}

// NewExact conditions a GP on all rows. It keeps X.
// It returns an error if C isn't positive definite.
func NewExact(g Given) (*Posterior, error) {
	x := g.X
	each := g.PerRow.Each(x.Rows, g.Noise)
	w := make([]float64, x.Rows)
	l := x.Like(x.Rows, x.Rows)
	kernel.At(g.Kernel, g.Theta).FillSymmetric(x, l)
	AddNoise(l, g.Noise, each)
	if err := linalg.Cholesky(l); err != nil {
		return nil, NotDefinite(err, g.Noise)
	}
	g.Mean.At(g.Beta, x, w)
	linalg.Minus(g.Y, w)
	linalg.CholeskySolve(l, w)
	if !linalg.Finite(w) {
		return nil, errors.New("the posterior's weights aren't finite: look for extreme values " +
			"in the data, or raise the noise variance")
	}
	return &Posterior{Kernel: g.Kernel, Theta: g.Theta, Mean: g.Mean, Beta: g.Beta, Noise: g.Noise,
		Noises: each, Support: x, Solution: newExact(w, l)}, nil
}

func (e *Exact) Arrays() ([]Array, int) {
	return []Array{list("weights", e.W), triangle("cholesky", e.Chol)}, 0
}

func (e *Exact) Weights() []float64 { return e.W }

func (e *Exact) until(ctx context.Context) Solution {
	return &Exact{e.factored, e.W, e.Chol.Until(ctx)}
}

// latent writes the mean and, unless variance is nil, the variance of Exact, predictRows rows at a
// time.
func (e *Exact) latent(p *Posterior, x matrix.Dense, mean, variance []float64) {
	if variance != nil {
		p.Kernel.Diag(p.Theta, x, variance)
	}
	packed := e.packed(p, e.Chol)
	p.tiles(predictRows, x, mean, packed.cov, func(i0, i1 int, ks matrix.Dense) {
		if variance != nil {
			explained(packed.solve[0], ks, variance[i0:i1])
		}
	})
}

// explained turns rows k(x,S) into L⁻¹k(S,x) by solve, and subtracts their squared norms from
// variance.
func explained(solve func(matrix.Dense), ks matrix.Dense, variance []float64) {
	solve(ks)
	for i, v := range variance {
		variance[i] = math.Max(v-linalg.Dot(ks.Row(i), ks.Row(i)), 0)
	}
}

// kl returns KL(Q‖P) of the values of f at the N rows, in nats, from ln|L|, tr(K C⁻¹) and wᵀKw.
func (e *Exact) kl(p *Posterior) float64 {
	// tr(K C⁻¹) = N − s tr C⁻¹ = N − s‖L⁻¹‖², which keeps its digits if s is small.
	// ln|sI| is of the geometric mean.
	n := p.Support.Rows
	work := e.Chol.Like(n, n)
	work.CopyFrom(e.Chol)
	inverse := p.noisyNorm(work)
	wKw := 0.
	k := work
	kernel.At(p.Kernel, p.Theta).FillSymmetric(p.Support, k)
	for i, w := range e.W {
		wKw += w * linalg.Dot(k.Row(i), e.W)
	}
	return divergence.Exact(n, linalg.LogDet(e.Chol), p.typical(), float64(n)-inverse, wKw)
}

// rounding returns how many nats of kl an error of N·2⁻⁵² of the largest variance in K can hide: in
// wᵀKw/2, and in each of the N pivots, divided by the noise variance of the pivot's row.
func (e *Exact) rounding(p *Posterior) float64 {
	n := float64(p.Support.Rows)
	off := n * 0x1p-52 * p.whole()
	pivots := n / p.Noise
	if p.Noises != nil {
		pivots = 0
		for _, s := range p.Noises {
			pivots += 1 / s
		}
	}
	return off*linalg.Dot(e.W, e.W)/2 + pivots*off
}

// LeaveOneOut predicts each row of an exact GP from all its other rows, in O(N³) time.
// It returns the mean and the variance (noise included) of y_i:
// y_i − w_i/[C⁻¹]_ii and 1/[C⁻¹]_ii (Rasmussen & Williams 2006, Eq. 5.12).
// If units says which unit each row belongs to, the rows of other units predict it (see LeftOut).
// This is a diagnostic, not a bound. ok is false if p isn't an exact GP of len(y) rows, or is
// monotone.
func (p *Posterior) LeaveOneOut(y []float64, units ...int) (mean, variance []float64, ok bool) {
	e, is := p.Solution.(*Exact)
	n := p.Support.Rows
	if !is || p.Monotone != nil || len(y) != n {
		return nil, nil, false
	}
	inv := e.Chol.Like(n, n)
	linalg.CholeskyInverse(e.Chol, inv)
	mean = make([]float64, n)
	variance = make([]float64, n)
	if units != nil {
		for i, off := range LeftOut(inv, e.W, lists.Members(units), variance) {
			mean[i] = y[i] - off
		}
		return mean, variance, true
	}
	for i, w := range e.W {
		variance[i] = 1 / inv.At(i, i)
		mean[i] = y[i] - w*variance[i]
	}
	return mean, variance, true
}

// LeftOut returns the errors of predicting each row's target from the rows of other units, given C⁻¹
// and w = C⁻¹r. For the rows G of a unit they are
//
//	e_G = [(C⁻¹)_GG]⁻¹ w_G,  with the variances v_G = diag [(C⁻¹)_GG]⁻¹, noise included
//
// (Rasmussen & Williams 2006, Eq. 5.12, for a block). It writes the variances to variance, unless
// that is nil. Rounding may spoil a block, whose errors are then NaN.
func LeftOut(inverse matrix.Dense, w []float64, units [][]int, variance []float64) []float64 {
	errs := slices.Repeat([]float64{math.NaN()}, len(w))
	linalg.Parallel(len(units), func(u int) {
		g := units[u]
		block := linalg.Borrow(len(g), len(g))
		defer linalg.Return(block)
		x := make([]float64, len(g))
		for i, row := range g {
			x[i] = w[row]
			from := inverse.Row(row)
			to := block.Row(i)
			for j, other := range g[:i+1] {
				to[j] = from[other]
			}
		}
		if linalg.Cholesky(block) != nil {
			return
		}
		linalg.CholeskySolve(block, x)
		for i, row := range g {
			errs[row] = x[i]
		}
		if variance != nil {
			of := block.Like(len(g), len(g))
			linalg.CholeskyInverseLower(block, of)
			for i, row := range g {
				variance[row] = of.At(i, i)
			}
		}
	})
	return errs
}

// explain subtracts u C⁻¹uᵀ = (u L⁻ᵀ)(u L⁻ᵀ)ᵀ.
func (e *Exact) explain(u, cov matrix.Dense) {
	linalg.Trsm(false, true, e.Chol, u)
	linalg.SyrkLower(false, -1, u, 1, cov)
}

// conditioning returns v = C⁻¹(f₀(S) + √s ε), by two triangular solves (Matheron's rule).
func (e *Exact) conditioning(_ context.Context, p *Posterior, _ Iterative) (conditioner, error) {
	c := *p
	if c.Noise == 0 { // the noise of a prior's own rows isn't known: see OfPrior
		c.Noise = p.shift(e.Chol, 0, false)
	}
	return noisy(c.NoiseOf, func(b matrix.Dense) (matrix.Dense, error) {
		linalg.Trsm(true, false, e.Chol, b)
		linalg.Trsm(true, true, e.Chol, b)
		return b, nil
	}), nil
}

// noisy conditions draws on values with noise of variance c(i) in row i. solve solves by C.
func noisy(c func(i int) float64, solve func(b matrix.Dense) (matrix.Dense, error)) conditioner {
	return func(f, e matrix.Dense) (matrix.Dense, error) {
		for i := range f.Rows {
			linalg.Axpy(math.Sqrt(c(i)), e.Row(i), f.Row(i))
		}
		return solve(f)
	}
}

// prior gives the kernel L, from which it computes covariances under Q.
func (e *Exact) prior(k *kernel.Conditional) error {
	k.Chol = e.Chol
	return nil
}

// refactor computes L of K + noise again, and keeps w. It refuses a noise variance within the
// rounding of K, N·2⁻⁵² times its largest variance, because rounding would then decide L.
func (e *Exact) refactor(p *Posterior) (Solution, error) {
	c := p.Noise
	whole := p.whole()
	if p.Noises != nil {
		c = slices.Min(p.Noises)
	} else if c == 0 {
		c = p.shift(e.Chol, whole, false)
	}
	if least := float64(p.Support.Rows) * 0x1p-52 * whole; !(c >= least) {
		return nil, fmt.Errorf("the posterior's noise variance %.3g is no more than rounding, "+
			"%.3g, of its kernel's variances: raise it", c, least)
	}
	l, err := p.refill(e.Chol, c, whole)
	return newExact(e.W, l), err
}

// leastMiss is the largest error of an equation, in standard deviations, that rounding may explain.
// Without this limit huge weights that cancel would let rounding explain anything.
const leastMiss = 1e-5

// follows checks L Lᵀw = y − m(X).
func (e *Exact) follows(p *Posterior, y, mean []float64, at Made) error {
	half := make([]float64, p.Support.Rows)
	size := make([]float64, p.Support.Rows) // Lᵀw, and |L|ᵀ|w|, the scale of rounding
	for j, w := range e.W {
		for k, l := range e.Chol.Row(j)[:j+1] {
			half[k] += l * w
			size[k] += math.Abs(l * w)
		}
	}
	for i := range y {
		if at.free(i) {
			continue
		}
		k := at.Place(i)
		// residual becomes row k of L Lᵀw − (y − m(X)), and most the sum of its terms' sizes.
		residual := mean[i] - y[i]
		most := math.Abs(y[i]) + math.Abs(mean[i])
		for j, l := range e.Chol.Row(k)[:k+1] {
			residual += l * half[j]
			most += math.Abs(l) * size[j]
		}
		if !(math.Abs(residual) <= min(at.Tolerance*most, leastMiss*math.Max(1, math.Abs(y[i])))) {
			return ErrOther
		}
	}
	return nil
}
