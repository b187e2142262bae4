// Package posterior holds the predictive distribution of a trained Gaussian process, whichever objective trained it:
// prediction, its divergence from the prior, and leave-one-out diagnostics.
//
// Notation: X (N×d) inputs, y targets, K = k_θ(X,X), s = σ_n² the noise variance,
// C = K + sI = L Lᵀ, r = y − m_β(X), w = C⁻¹r. All in scaled units.
package posterior

import (
	"context"
	"errors"
	"math"
	"slices"

	"github.com/krigo-gp/krigo/internal/linalg"
	"github.com/krigo-gp/krigo/iterative"
	"github.com/krigo-gp/krigo/kernel"
	"github.com/krigo-gp/krigo/matrix"
	"github.com/krigo-gp/krigo/ranks"
)

// Posterior is a Gaussian process Q: the prior GP(m_β, k_θ), conditioned on its support S in one of the ways that
// a Solution has.
//
// No method changes a Posterior: one that nobody else changes may be used by several goroutines at once.
type Posterior struct {
	Kernel  kernel.Kernel
	Theta   []float64 // parameters of the kernel, natural logarithms
	Mean    kernel.Mean
	Beta    []float64    // parameters of the mean function
	Noise   float64      // σ_n²: it shapes Q and isn't in any variance returned here
	Support matrix.Dense // S: rows Q is conditioned on, or inducing inputs
	Solution
}

// Solution is what conditioning the prior gave: *Exact, *Inducing, *Gradients, *Nearest, or Untouched. Its methods
// take the posterior that it belongs to.
type Solution interface {
	// Kind is the name that files and messages have for it: ByCholesky, ByCG or ByNearest.
	Kind() string
	// Inducing returns the number of inducing inputs; 0 if the support is rows.
	Inducing() int
	// Joint returns nil if Q is a process whose covariances of all rows together are known, and which so has a KL(Q‖P).
	// Else it returns why Q, learnt on certified rows, has no certificate.
	Joint() error
	// Drawable returns nil if Q has joint draws, else why it has none.
	Drawable() error
	// Local says which rows predict each row; "" if all of the support do.
	Local() string
	// Arrays returns what a model file keeps of the solution, for Restore, and how many nearest rows it uses, or 0.
	Arrays() (arrays []Array, nearest int)
	// Weights returns the w of the mean m(x) + k(x,S)w; nil if there is none.
	Weights() []float64

	until(ctx context.Context) Solution
	// latent adds to the prior's mean and, unless it is nil, fills the variance.
	latent(p *Posterior, x matrix.Dense, mean, variance []float64)
	kl(p *Posterior) (nats float64)
	rounding(p *Posterior) (nats float64)
	leaveOneOut(p *Posterior, y []float64) (mean, variance []float64, ok bool)
	// explain takes from the prior's covariances at the rows of x, in the lower triangle, what conditioning explains.
	explain(p *Posterior, x, cov matrix.Dense)
	conditioning(ctx context.Context, p *Posterior, o Iterative) (conditioner, error)
	// prior gives a kernel the factors that make it the covariance of Q.
	prior(k *kernel.Conditional) error
	// refactor returns the solution made anew, as far as prior, support and noise variance of p make it.
	refactor(p *Posterior) (Solution, error)
	follows(p *Posterior, y, mean []float64, at Made) error
	work(n, d float64, variance bool) float64
}

// conditioner makes of f₀(S) and ε the v of f₀(x) − k(x,S)v, a column for each draw. It overwrites its arguments. See
// Sample.
type conditioner func(f, e matrix.Dense) (matrix.Dense, error)

// The names of solutions.
const (
	ByCholesky = "cholesky" // *Exact, *Inducing and Untouched
	ByCG       = "cg"       // *Gradients
	ByNearest  = "nearest"  // *Nearest
)

// Iterative says how conjugate gradients solve; the zero value is ready to use.
type Iterative struct {
	Tolerance float64 // relative residual of the weights, 0: 1e-6
	Rank      int     // of the preconditioner, 0: iterative.Rank of the number of rows
	Progress  func(iterative.Progress)
	Ranks     ranks.Ranks // share the products with the covariance matrix, unless nil
}

// Array is a list of numbers (Cols is 1), or the rows of a lower triangle (Cols is 0), under the name that model files
// have for it.
type Array struct {
	Name   string
	Cols   int
	Values [][]float64
}

func list(name string, v []float64) Array { return Array{name, 1, [][]float64{v}} }

func triangle(name string, l matrix.Dense) Array {
	a := Array{Name: name}
	for i := range l.Rows {
		a.Values = append(a.Values, l.Row(i)[:i+1])
	}
	return a
}

// Made says how to check that a posterior was made from rows; see Follows.
type Made struct {
	Place     func(i int) int // the row of the support that row i is
	Sum       func(...[]float64) error
	Tolerance float64 // of the equations that a Cholesky factor solves, relative to the size of their terms
}

// ErrOther says that a posterior wasn't made from the rows that it is said to be made from.
var ErrOther = errors.New("it was made from other rows")

// Until returns p for work that ends with a context; see matrix.Dense.Until.
func (p *Posterior) Until(ctx context.Context) *Posterior {
	q := *p
	q.Support, q.Solution = p.Support.Until(ctx), p.until(ctx)
	return &q
}

// Latent writes the mean and the variance of f(x_i), without noise, for every
// row of x; variance may be nil. A row's result doesn't depend on the other rows.
func (p *Posterior) Latent(x matrix.Dense, mean, variance []float64) {
	p.Mean.At(p.Beta, x, mean)
	p.latent(p, x, mean, variance)
}

// Noisy writes the mean and the variance of an observation y = f(x_i) + noise with the observation-noise variance
// given. For a PAC-Bayes objective that isn't p.Noise, which was chosen to shape Q.
func (p *Posterior) Noisy(x matrix.Dense, observationNoise float64, mean, variance []float64) {
	p.Latent(x, mean, variance)
	for i := range variance {
		variance[i] += observationNoise
	}
}

// tiles goes through the rows of x, count at a time: it adds k(x,S)w to the mean, and hands on k(x,S), which may be
// overwritten.
func (p *Posterior) tiles(count int, x matrix.Dense, mean []float64, then func(i0, i1 int, ks matrix.Dense)) {
	w := p.Weights()
	linalg.Parallel((x.Rows+count-1)/count, func(t int) {
		x.Check()
		i0, i1 := t*count, min((t+1)*count, x.Rows)
		ks := linalg.Borrow(i1-i0, p.Support.Rows).Until(x.Context())
		p.Kernel.Cov(p.Theta, x.RowRange(i0, i1), p.Support, ks)
		for i := i0; i < i1; i++ {
			mean[i] += linalg.Dot(ks.Row(i-i0), w)
		}
		then(i0, i1, ks)
		linalg.Return(ks)
	})
}

// Slopes adds the derivatives of the mean at the rows of x by their inputs to dX. It returns false, and adds nothing,
// if the mean has none: it jumps where other rows become the nearest.
func (p *Posterior) Slopes(x, dX matrix.Dense) bool {
	n, w := p.Support.Rows, p.Weights()
	if n > 0 && w == nil {
		return false
	}
	if n > 0 {
		bar := linalg.New(x.Rows, n)
		for i := range x.Rows {
			copy(bar.Row(i), w)
		}
		kernel.At(p.Kernel, p.Theta).Pull(x, p.Support, kernel.Adjoint{K: bar,
			Gradient: kernel.Gradient{Theta: make([]float64, len(p.Theta)), Inputs: dX}})
	}
	p.Mean.PullInputs(p.Beta, x, slices.Repeat([]float64{1}, x.Rows), dX)
	return true
}

// Work estimates the multiplications that predicting a row takes, with or without its variance.
func (p *Posterior) Work(variance bool) float64 {
	return p.work(math.Max(1, float64(p.Support.Rows)), float64(p.Support.Cols), variance)
}

// KL returns KL(Q‖P) from the prior P = GP(m_β, k_θ) (Reeb et al. 2018, Eqs. 8 and 10),
// evaluated on the support: Q(f|f_S) = P(f|f_S) elsewhere. It is NaN if Joint says that there is none.
func (p *Posterior) KL() float64 { return p.kl(p) }

// KLRounding is how many nats of KL(Q‖P) rounding may have taken: a certificate adds them. Cholesky's
// factor is that of a matrix that is off by Nε of the largest variance, and so is K: with it wᵀKw, or
// ‖μ‖² = wᵀ(K + cI)w, by that times ‖w‖², which weights chosen along directions in which K is next to nothing
// make large; and ln|K + sI| and its trace by that share of s for each of N pivots.
func (p *Posterior) KLRounding() float64 { return p.rounding(p) }

// LeaveOneOut returns, for each row that an exact GP was conditioned on, the mean and the variance of y_i (noise
// included) predicted from all other rows: y_i − w_i/[C⁻¹]_ii and 1/[C⁻¹]_ii (Rasmussen & Williams 2006, Eq. 5.12). It
// is a diagnostic, not a bound. ok is false if p isn't an exact GP of len(y) rows.
func (p *Posterior) LeaveOneOut(y []float64) (mean, variance []float64, ok bool) {
	return p.leaveOneOut(p, y)
}

// Follows returns nil if the solution follows from the prior, the support and the noise variance with the targets y of
// the support's rows, where the prior's mean is mean. y and mean are those of the rows at hand, all ranks having all
// rows together. An error is ErrOther, or says how far off the solution is. Inducing inputs make any solution possible.
func (p *Posterior) Follows(y, mean []float64, at Made) error { return p.follows(p, y, mean, at) }
