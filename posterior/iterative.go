package posterior

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/krigo-gp/krigo/internal/lists"
	"github.com/krigo-gp/krigo/iterative"
	"github.com/krigo-gp/krigo/kernel"
	"github.com/krigo-gp/krigo/matrix"
	"github.com/krigo-gp/krigo/ranks"
)

// The exact posterior of more rows than can be factored.
// One solve by conjugate gradients gives its weights.
// Exact variances would take a solve for each row.
// So its variances are conditioned only on the nearest rows of the support.
// They are never below the exact variances, since conditioning on fewer rows leaves more variance.
// They are close to the exact variances if near rows say most of what is known.
// (A low-rank factor of C⁻¹ for all rows together isn't close:
// on 1,600 rows of kin40k the best factor of rank 200 leaves 4.6 times the exact variance.) Exact
// variances can be solved for at a few rows.

// Gradients is the solution by conjugate gradients.
type Gradients struct {
	near
	W []float64 // w, the weights
}

var _ Solution = (*Gradients)(nil)

// NewIterative does what NewExact does without an N×N matrix.
// It takes O(N·rank) memory, and O(N²) time per iteration.
// Variances are conditioned on the nearest rows of x (see NewNearest). It keeps x.
// An error may be an *iterative.Stalled.
func NewIterative(ctx context.Context, g Given, nearest int, o Iterative) (*Posterior, error) {
	p := NewNearest(g, nearest)
	ctx, fail := context.WithCancelCause(ctx)
	defer fail(nil)
	s, err := p.solver(o, fail)
	if err != nil {
		return nil, err
	}
	q := p.Solution.(*Nearest)
	b := matrix.Of(g.X.Rows, 1, q.Targets)
	w := matrix.New(g.X.Rows, 1)
	if _, err := s.Solve(ctx, b, w); cause(ctx, err) != nil {
		return nil, cause(ctx, err)
	}
	p.Solution = &Gradients{q.near, w.Data}
	return p, nil
}

func (*Gradients) Kind() string { return ByCG }

// Joint returns why there is no certificate: ln|C| is only estimated, and so is the KL.
func (*Gradients) Joint() error {
	return errors.New("conjugate gradients estimate ln|C| from random probes, and an estimate of " +
		"KL(Q‖P) isn't a bound on it: --prior informed certifies the mean by its own misses; " +
		"--solver cholesky, or kl-pac with inducing inputs, certify too")
}

func (*Gradients) Drawable() error { return nil }
func (*Gradients) Local() string   { return "" }
func (q *Gradients) Arrays() ([]Array, int) {
	return []Array{list("weights", q.W)}, q.count
}
func (q *Gradients) until(context.Context) Solution { return q }
func (q *Gradients) Weights() []float64             { return q.W }

// latent writes m(x) + k(x,S)w from all rows. Variances come from the nearest rows alone, and are
// never below the exact ones.
func (q *Gradients) latent(p *Posterior, x matrix.Dense, mean, variance []float64) {
	if variance != nil {
		p.Kernel.Diag(p.Theta, x, variance)
	}
	cov := func(a, k matrix.Dense) { p.Kernel.Cov(p.Theta, a, p.Support, k) }
	p.tiles(nearestTask, x, mean, cov, func(int, int, matrix.Dense) {})
	if variance != nil {
		q.nearest(p, nil, x, mean, variance)
	}
}

// conditioning returns v = C⁻¹(f₀(S) + √s ε), solved by conjugate gradients for all draws at once.
func (q *Gradients) conditioning(ctx context.Context, p *Posterior,
	o Iterative) (conditioner, error) {
	s, err := p.solver(o, nil)
	if err != nil {
		return nil, err
	}
	return noisy(p.NoiseOf, func(b matrix.Dense) (matrix.Dense, error) {
		v := matrix.New(b.Rows, b.Cols)
		_, err := s.Solve(ctx, b, v)
		return v, err
	}), nil
}

// refactor keeps the weights, and makes a new index of the nearest rows. Follows is the check of
// the weights.
func (q *Gradients) refactor(p *Posterior) (Solution, error) {
	return &Gradients{newNear(p, q.count), q.W}, nil
}

// work returns n·d multiplications for a mean, and the cost of the nearest rows for a variance.
func (q *Gradients) work(n, d float64, variance bool) float64 {
	if variance {
		return q.near.work(n, d, true)
	}
	return n * d
}

// leastSolved is the largest relative residual that weights may have.
// Training goes on to a tenth of this residual.
// Another kind of processor computes the same residual to many digits.
const leastSolved = 1e-5

// follows checks that w solves C w = y − m(X), to a relative residual of leastSolved. All ranks'
// residuals are summed first, since one solve has all rows.
func (q *Gradients) follows(p *Posterior, y, mean []float64, at Made) error {
	residuals := make([]float64, p.Support.Rows) // y − m(X), for all ranks
	for i := range y {
		residuals[at.Place(i)] = y[i] - mean[i]
	}
	if err := at.Sum(residuals); err != nil {
		return err
	}
	if off := p.Solved(residuals); !(off <= leastSolved) {
		if off != off {
			return errors.New("the weights of the predictor don't solve its equations, whose " +
				"numbers overflow")
		}
		return fmt.Errorf("the weights of the predictor don't solve its equations: they are off "+
			"by %.3g of the right-hand side, and %g is asked for", off, leastSolved)
	}
	return nil
}

// Solved returns ‖(K + σ_n² I)w − r‖ / ‖r‖ in float64, for the weights of a posterior by conjugate
// gradients and r = y − m_β(X). It takes one product with the covariance matrix, in O(N²) time.
func (p *Posterior) Solved(r []float64) float64 {
	product := matrix.New(p.Support.Rows, 1)
	p.covariance().Times(matrix.Of(p.Support.Rows, 1, p.Weights()), product)
	var square, whole float64
	for i, v := range product.Data {
		square += (v - r[i]) * (v - r[i])
		whole += r[i] * r[i]
	}
	return math.Sqrt(square / whole)
}

// covariance returns C = K + noise of the support, as package iterative multiplies by it.
func (p *Posterior) covariance() iterative.Covariance {
	return iterative.Covariance{Kernel: p.Kernel, Theta: p.Theta, X: p.Support, Noise: p.typical(),
		Noises: p.Noises}
}

// cause returns why ctx ended, if it has ended, else err.
func cause(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// solver calls fail if ranks can't go on.
func (p *Posterior) solver(o Iterative, fail func(error)) (iterative.Solver, error) {
	c := p.covariance()
	pre := o.Preconditioner
	var err error
	if pre == nil {
		pre, err = iterative.PivotedCholesky(c, cmp.Or(o.Rank, iterative.Rank(p.Support.Rows)))
	}
	r := cmp.Or[ranks.Ranks](o.Ranks, ranks.Alone{})
	return iterative.Solver{Times: c.Shared(r, fail), Rough: c.Rough(r, fail), Preconditioner: pre,
		Tolerance: o.Tolerance, Progress: o.Progress}, err
}

// SolvedVariance writes the variance of f(x_i), with a solve for every row of x.
// It serves posteriors of NewIterative.
// A solve goes to the given relative residual, or to a smaller one if too much variance would be
// left. The residual r makes the variance larger, by rᵀA⁻¹r, since kᵀA⁻¹k ≥ 2kᵀu − uᵀAu for any u.
// If rounding keeps a solve from improving on the variance given the nearest rows alone,
// SolvedVariance writes that variance, which isn't below the exact one either.
func (p *Posterior) SolvedVariance(ctx context.Context, x matrix.Dense, variance []float64,
	o Iterative) error {
	return p.solvedVariance(ctx, x, variance, 0, o)
}

// leftOver is the largest share of a variance, noise included, that the residual of its solve may
// add. If the residual may add more, krigo multiplies the tolerance by closer and solves again,
// with at most mostTimes solves in all.
const (
	leftOver  = 0.05
	closer    = 1e-2
	mostTimes = 4
)

// solvedVariance does the work of SolvedVariance, for callers to whom the variance plus noise
// matters.
func (p *Posterior) solvedVariance(ctx context.Context, x matrix.Dense, variance []float64,
	noise float64, o Iterative) error {
	ctx, fail := context.WithCancelCause(ctx)
	defer fail(nil)
	s, err := p.solver(o, fail)
	if err != nil {
		return err
	}
	p.Kernel.Diag(p.Theta, x, variance)
	for i0, i1 := range lists.Blocks(x.Rows, solvedRows) {
		rows := x.RowRange(i0, i1)
		// Products with one column round differently from products with several. So a single row
		// gets a second column.
		cols := max(rows.Rows, 2)
		b := matrix.New(p.Support.Rows, cols)
		u := matrix.New(p.Support.Rows, cols)
		kernel.At(p.Kernel, p.Theta).Fill(p.Support, rows, b.View(0, p.Support.Rows, 0, rows.Rows))
		prior := variance[i0:i1]
		best := make([]float64, rows.Rows)
		p.Latent(rows, make([]float64, rows.Rows), best)
		s := s
		s.Tolerance = cmp.Or(s.Tolerance, 1e-6)
		for times := 1; ; times++ {
			solution, err := s.Solve(ctx, b, u)
			var stalled *iterative.Stalled
			if errors.As(err, &stalled) && times > 1 && ctx.Err() == nil {
				break
			}
			if err = cause(ctx, err); err != nil {
				return err
			}
			if p.solvedTo(b, u, solution.Residuals, prior, best, noise) || times == mostTimes {
				break
			}
			s.Tolerance *= closer
		}
		copy(prior, best)
	}
	return nil
}

// solvedTo lowers variances to what the solutions u of A u = k say, and reports whether their
// residuals leave little.
func (p *Posterior) solvedTo(k, u, residuals matrix.Dense, prior, best []float64,
	noise float64) bool {
	v := slices.Clone(prior)
	left := make([]float64, len(best))
	least := p.Noise
	if p.Noises != nil {
		least = slices.Min(p.Noises)
	}
	for i := range u.Rows {
		for j, w := range u.Row(i)[:len(best)] {
			r := residuals.At(i, j)
			v[j] -= w * (k.At(i, j) + r)
			// at least rᵀA⁻¹r, as no eigenvalue of A is below the least noise
			left[j] += r * r / least
		}
	}
	little := true
	for j := range v {
		best[j] = min(best[j], max(v[j], 0))
		little = little && left[j] <= leftOver*(best[j]+noise)
	}
	return little
}

// solvedRows is the number of rows whose variances are solved for together.
const solvedRows = 64

// Excess compares the variances of Latent with the variances of SolvedVariance at the rows of x,
// noise included. It returns the mean and the largest ratio.
func (p *Posterior) Excess(ctx context.Context, x matrix.Dense,
	o Iterative) (mean, largest float64, err error) {
	n := x.Rows
	m := make([]float64, n)
	v := make([]float64, n)
	exact := make([]float64, n)
	p.Latent(x, m, v)
	if err := p.solvedVariance(ctx, x, exact, p.Noise, o); err != nil {
		return 0, 0, err
	}
	for i, e := range exact {
		f := (v[i] + p.Noise) / (e + p.Noise)
		mean += f / float64(n)
		largest = max(largest, f)
	}
	return mean, largest, nil
}
