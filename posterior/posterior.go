// Package posterior holds the predictive distribution of a trained Gaussian process, whichever
// objective trained it:
// predictions, the divergence from the prior, and leave-one-out diagnostics.
//
// This program conditions a Gaussian process on three points and predicts between them:
//
//	package main
//
//	import (
//		"fmt"
//		"log"
//		"math"
//
//		"github.com/krigo-gp/krigo/kernel"
//		"github.com/krigo-gp/krigo/matrix"
//		"github.com/krigo-gp/krigo/posterior"
//	)
//
//	func main() {
//		q, err := posterior.NewExact(posterior.Given{
//			Kernel: kernel.SE(1, false), Theta: []float64{0, 0}, // lengthscale and variance are 1
//			Mean: kernel.ZeroMean{}, Noise: 0.01,
//			X: matrix.Of(3, 1, []float64{-1, 0, 1}), Y: []float64{-0.8, 0.1, 0.9},
//		})
//		if err != nil {
//			log.Fatal(err)
//		}
//		mean, variance := make([]float64, 1), make([]float64, 1)
//		q.Latent(matrix.Of(1, 1, []float64{0.5}), mean, variance)
//		fmt.Printf("%.2f ± %.2f\n", mean[0], math.Sqrt(variance[0]))
//		// Output:
//		// 0.63 ± 0.16
//	}
//
// Notation: X (N×d) inputs, y targets, K = k_θ(X,X), s = σ_n² the noise variance, C = K + sI = L
// Lᵀ, r = y − m_β(X), w = C⁻¹r. All values are in scaled units.
// If rows differ in noise (RowNoise), C = K + diag(s·a_i + v_i).
package posterior

import (
	"context"
	"errors"
	"math"
	"slices"

	"github.com/krigo-gp/krigo/internal/linalg"
	"github.com/krigo-gp/krigo/internal/lists"
	"github.com/krigo-gp/krigo/iterative"
	"github.com/krigo-gp/krigo/kernel"
	"github.com/krigo-gp/krigo/matrix"
	"github.com/krigo-gp/krigo/ranks"
	"gonum.org/v1/gonum/floats"
)

// Posterior is a Gaussian process Q: the prior GP(m_β, k_θ), conditioned on its support S as its
// Solution says.
//
// No method changes a Posterior, so several goroutines may use it at once.
type Posterior struct {
	Kernel  kernel.Kernel
	Theta   []float64 // parameters of the kernel, natural logarithms
	Mean    kernel.Mean
	Beta    []float64    // parameters of the mean function
	Noise   float64      // σ_n², which shapes Q and isn't in any variance returned here
	Support matrix.Dense // S: the rows that Q is conditioned on, or inducing inputs
	// noise variances of the rows of the support, if they differ; nil: Noise, or inducing inputs
	Noises []float64
	// Monotone, unless nil, makes the mean of Latent monotone. Nothing else knows it:
	// neither draws nor a KL nor Slopes are of that mean.
	Monotone Monotone
	Solution
}

// Solution is the result of conditioning the prior:
// *Exact, *Inducing, *Gradients, *Nearest, or Untouched.
// Its methods take the posterior that it belongs to.
type Solution interface {
	// Kind returns the solution's name in files and messages: ByCholesky, ByCG or ByNearest.
	Kind() string
	// Inducing returns the number of inducing inputs, or 0 if the support is rows.
	Inducing() int
	// Joint returns nil if the covariances of any rows under Q are known, so that Q has a KL(Q‖P).
	// Otherwise it returns why Q has no certificate if certified rows trained it.
	Joint() error
	// Drawable returns nil if Q has joint draws, else the reason.
	Drawable() error
	// Local says which rows predict each row, or "" if the whole support does.
	Local() string
	// Arrays returns what a model file keeps of the solution, for Restore, and the number of
	// nearest rows it uses, or 0.
	Arrays() (arrays []Array, nearest int)
	// Weights returns the w of the mean m(x) + k(x,S)w, or nil without weights.
	Weights() []float64

	until(ctx context.Context) Solution
	// latent does the work of Latent.
	latent(p *Posterior, x matrix.Dense, mean, variance []float64)
	kl(p *Posterior) (nats float64)
	rounding(p *Posterior) (nats float64)
	// explain subtracts what conditioning explains from prior covariances, in the lower triangle of
	// cov. Row i of u has the covariances of value i with the support. explain overwrites u.
	explain(u, cov matrix.Dense)
	conditioning(ctx context.Context, p *Posterior, o Iterative) (conditioner, error)
	// prior gives a kernel the factors that make it the covariance of Q.
	prior(k *kernel.Conditional) error
	// refactor computes the solution again, as far as the prior, support and noise variance of p
	// determine it.
	refactor(p *Posterior) (Solution, error)
	follows(p *Posterior, y, mean []float64, at Made) error
	work(n, d float64, variance bool) float64
}

// conditioner turns f₀(S) and ε into the v of f₀(x) − k(x,S)v, with a column per draw.
// It overwrites its arguments (see Sample).
type conditioner func(f, e matrix.Dense) (matrix.Dense, error)

// The names of solutions.
const (
	ByCholesky = "cholesky" // *Exact, *Inducing and Untouched
	ByCG       = "cg"       // *Gradients
	ByNearest  = "nearest"  // *Nearest
)

// Iterative says how conjugate gradients solve. Its zero value is ready to use.
type Iterative struct {
	Tolerance float64 // relative residual of the weights; 0: 1e-6
	Rank      int     // rank of the preconditioner; 0: iterative.Rank of the number of rows
	Progress  func(iterative.Progress)
	Ranks     ranks.Ranks // share the products with the covariance matrix, unless nil

	// Preconditioner, unless nil, is one for the posterior's covariance, in place of a new one of
	// that rank.
	Preconditioner *iterative.Preconditioner
}

// Array is a list of numbers (Cols is 1), or the rows of a lower triangle (Cols is 0), under its
// name in model files.
type Array struct {
	Name   string
	Cols   int
	Values [][]float64
}

// list returns numbers as an array of one column.
func list(name string, v []float64) Array { return Array{name, 1, [][]float64{v}} }

// triangle returns the rows of a lower triangle, each up to its diagonal. The values share l's
// memory.
func triangle(name string, l matrix.Dense) Array {
	return Array{Name: name, Values: lists.To(l.Rows, func(i int) []float64 {
		return l.Row(i)[:i+1]
	})}
}

// Made says how to check that a posterior was made from rows (see Follows).
type Made struct {
	Place     func(i int) int // the row of the support that equals row i
	Sum       func(...[]float64) error
	Tolerance float64 // for the equations of a Cholesky factor, relative to the size of their terms
	// Free says which rows may have any target, by a number that isn't 0. nil: none may.
	Free []float64
}

// free says whether row i may have any target.
func (m Made) free(i int) bool { return m.Free != nil && m.Free[i] != 0 }

// ErrOther says that a posterior wasn't made from the given rows.
var ErrOther = errors.New("it was made from other rows")

// Until returns p for work that ends with a context (see matrix.Dense.Until).
func (p *Posterior) Until(ctx context.Context) *Posterior {
	q := *p
	q.Support, q.Solution = p.Support.Until(ctx), p.until(ctx)
	return &q
}

// Latent writes the mean and the variance of f(x_i), without noise, for every row of x.
// variance may be nil. A row's result doesn't depend on the other rows.
func (p *Posterior) Latent(x matrix.Dense, mean, variance []float64) {
	if p.Monotone == nil || variance != nil {
		p.latent(p, x, mean, variance)
	}
	if p.Monotone != nil {
		p.Monotone.project(x, mean,
			func(x matrix.Dense, mean []float64) { p.latent(p, x, mean, nil) })
	}
}

// Noisy writes the mean and the variance of an observation y = f(x_i) + noise, for the given
// variance of the observation noise. With a PAC-Bayes objective p.Noise is another number, because
// training chose it to shape Q.
func (p *Posterior) Noisy(x matrix.Dense, observationNoise float64, mean, variance []float64) {
	p.Latent(x, mean, variance)
	floats.AddConst(observationNoise, variance)
}

// tiles goes through the rows of x, count at a time.
// It sets the mean to m(x) + k(x,S)w, and passes k(x,S) to then.
// then may overwrite k(x,S), and cov writes it.
func (p *Posterior) tiles(count int, x matrix.Dense, mean []float64, cov func(a, k matrix.Dense),
	then func(i0, i1 int, ks matrix.Dense)) {
	p.Mean.At(p.Beta, x, mean)
	w := p.Weights()
	linalg.Blocks(x.Rows, count, func(i0, i1 int) {
		x.Check()
		ks := linalg.Borrow(i1-i0, p.Support.Rows).Until(x.Context())
		cov(x.RowRange(i0, i1), ks)
		for i := i0; i < i1; i++ {
			mean[i] += linalg.Dot(ks.Row(i-i0), w)
		}
		then(i0, i1, ks)
		linalg.Return(ks)
	})
}

// Slopes adds the derivatives of the mean by the inputs, at the rows of x, to dX.
// If the mean has no derivatives, it returns false and adds nothing.
// The mean of Nearest has no gradient, since it jumps where other rows become the nearest.
func (p *Posterior) Slopes(x, dX matrix.Dense) bool {
	w := p.Weights()
	if p.Support.Rows > 0 && w == nil {
		return false
	}
	if p.Support.Rows > 0 {
		bar := linalg.New(x.Rows, p.Support.Rows)
		for i := range x.Rows {
			copy(bar.Row(i), w)
		}
		kernel.At(p.Kernel, p.Theta).Pull(x, p.Support, kernel.Adjoint{K: bar,
			Gradient: kernel.Gradient{Theta: make([]float64, len(p.Theta)), Inputs: dX}})
	}
	p.Mean.PullInputs(p.Beta, x, slices.Repeat([]float64{1}, x.Rows), dX)
	return true
}

// Work estimates the number of multiplications for predicting a row, with or without its variance.
func (p *Posterior) Work(variance bool) float64 {
	n := math.Max(1, float64(p.Support.Rows))
	d := float64(p.Support.Cols)
	if p.Monotone != nil {
		return p.work(n, d, variance) + float64(p.Monotone.grid())*p.work(n, d, false)
	}
	return p.work(n, d, variance)
}

// Drawable returns nil if Q has joint draws, else the reason.
func (p *Posterior) Drawable() error {
	if p.Monotone != nil {
		return errors.New("the predictions of a monotone model aren't the mean of its draws, so " +
			"that it has no samples and no covariances: fit a model without --monotone for these")
	}
	return p.Solution.Drawable()
}

// KL returns KL(Q‖P) from the prior P = GP(m_β, k_θ) (Reeb et al. 2018, Eqs. 8 and 10).
// It is evaluated on the support, since Q(f|f_S) = P(f|f_S) elsewhere.
// It is NaN if Joint returns an error.
func (p *Posterior) KL() float64 { return p.kl(p) }

// KLRounding limits how many nats of KL(Q‖P) rounding may have hidden. A certificate adds them.
// Cholesky's factor belongs to a matrix that is off by Nε of the largest variance, and K is off by
// as much. So wᵀKw, or ‖μ‖² = wᵀ(K + cI)w, is off by this error times ‖w‖².
// Weights along directions in which K almost vanishes make ‖w‖² large.
// ln|K + sI| and its trace are off by the same error divided by s, for each of N pivots.
func (p *Posterior) KLRounding() float64 { return p.rounding(p) }

// Follows returns nil if the solution follows from the prior, the support and the noise variance,
// with the targets y of the support's rows and the prior's mean at these rows.
// y and mean belong to the rows at hand. All ranks together have all rows.
// An error is ErrOther, or says how far off the solution is.
// With inducing inputs any solution is possible.
func (p *Posterior) Follows(y, mean []float64, at Made) error { return p.follows(p, y, mean, at) }
