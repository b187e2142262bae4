package method

import (
	"cmp"
	"context"
	"errors"
	"math"
	"runtime"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/krigo-gp/krigo/finding"
	"github.com/krigo-gp/krigo/internal/linalg"
	"github.com/krigo-gp/krigo/objective"
	"github.com/krigo-gp/krigo/posterior"
	"github.com/krigo-gp/krigo/train"
)

// marginal is the problem of the evidence with a weak prior.
type marginal struct {
	Problem
	mode  mode
	again func() mode        // makes the same mode with its own memory
	told  func(done, of int) // gets the number of second derivatives so far, and of all; may be nil
	// the problem with wide normal densities in place of sparse ones; nil if there are none
	wide Problem
}

// Minimize implements Problem. Sparse densities pull all lengthscales away from where a rough
// function shows, so a search begins with wide ones.
// On pumadyn32nm (490 rows) a search without this beginning ended at two to three times the RMSE.
func (m *marginal) Minimize(ctx context.Context, run Run, x []float64) (*train.Result, error) {
	if m.wide == nil || run.Goes {
		return m.Problem.Minimize(ctx, run, x)
	}
	const enough = 0.1 // as Run.Enough
	begin := run
	tell := run.Tell
	begin.Key = run.Key + "/wide"
	begin.Enough = max(run.Enough, enough)
	// The first part doesn't tell that it stopped, since the run goes on.
	begin.Tell = func(key string, s *State, iteration int, value float64, _ string) error {
		return tell(key, s, iteration, value, "")
	}
	r, err := m.wide.Minimize(ctx, begin, x)
	if err != nil || ctx.Err() != nil {
		return r, err
	}
	run.Tell = func(key string, s *State, iteration int, value float64, stopped string) error {
		return tell(key, s, r.Iterations+iteration, value, stopped)
	}
	end, err := m.Problem.Minimize(ctx, run, r.X)
	if err == nil {
		end.Iterations = end.Iterations + r.Iterations
		end.Evaluations = end.Evaluations + r.Evaluations
	}
	return end, err
}

// Diagnostics has the function that approximates −ln p(y), and the prior density's peak.
func (m *marginal) Diagnostics() Diagnostics {
	return Diagnostics{Marginal: m.marginal, Peak: m.mode.weak.peak()}
}

// marginal is Diagnostics.Marginal by Laplace's approximation (MacKay 2003, Chs. 27 and 28),
//
//	−ln p(y | x) + ½ Σ P_i (x_i − μ_i)² + ½ ln |P^−½ H P^−½|
//
// Here P holds the precisions of the prior density, and H the second derivatives of −ln p(y | x)
// p(x), as differences of gradients. A parameter without a weak prior has a normal density about
// the mode, as wide as a lengthscale's. An eigenvalue of P^−½ H P^−½ below 1 counts as 1.
// So no direction counts as less certain than before the rows were seen, and the last term isn't
// negative. Through the last term, a kernel pays for what it learns about its parameters from the
// rows.
func (m *marginal) marginal(r *train.Result, below float64) (float64, error) {
	value := r.Value - m.mode.weak.peak()
	n := len(r.X)
	added := slices.Repeat([]float64{1 / wide}, n) // numbers to add to the diagonal of H
	precision := mat.NewSymDense(n, nil)
	for i, v := range added {
		precision.SetSym(i, i, v)
	}
	for _, p := range m.mode.weak {
		precision.SetSym(p.at, p.at, p.factor*p.factor/p.variance)
		added[p.at] = 0
	}
	if value >= below {
		return math.Inf(1), nil
	}
	// The eigenvalues of a block on the diagonal of H lie under those of H (Cauchy's interlacing
	// theorem), so that some columns may show already that the result isn't less than below.
	// The shortest lengthscales come first, about which the rows say most.
	const step = 1e-3 // step for a logarithm, or for a mean in standard deviations
	atOnce := min(4, runtime.GOMAXPROCS(0))
	if m.mode.X.Rows > FewRows {
		atOnce = 1
	}
	order := m.order(r.X)
	sum := value
	seen := 0
	order = order[:min(n, mostCurved)]
	rows := mat.NewDense(n, n, nil)
	modes := make(chan mode, atOnce)
	modes <- m.mode
	for done := 0; done < len(order); {
		columns := order[done:min(done+atOnce, len(order))]
		errs := make([]error, len(columns))
		linalg.Parallel(len(columns), func(c int) {
			i := columns[c]
			at := slices.Clone(r.X)
			moved := make([]float64, n)
			var f mode
			select {
			case f = <-modes:
			default:
				f = m.again()
			}
			at[i] += step
			_, errs[c] = f.Evaluate(at, moved)
			modes <- f
			for j := range n {
				rows.Set(i, j, (moved[j]-r.Gradient[j])/step)
			}
		})
		if err := errors.Join(errs...); err != nil {
			return 0, err
		}
		if done += len(columns); m.told != nil {
			m.told(done, len(order))
		}
		// eigenvalues of many more rows cost more than what they may save
		if done < len(order) && done < seen+seen/4 {
			continue
		}
		seen = done
		h := mat.NewSymDense(done, nil)
		prior := mat.NewSymDense(done, nil)
		for a, i := range order[:done] {
			for b, j := range order[:a+1] {
				h.SetSym(a, b, (rows.At(i, j)+rows.At(j, i))/2)
			}
			h.SetSym(a, a, h.At(a, a)+added[i])
			for b, j := range order[:a+1] {
				prior.SetSym(a, b, precision.At(i, j))
			}
		}
		var root mat.Cholesky
		var l mat.TriDense
		var left, both mat.Dense
		if !root.Factorize(prior) {
			return 0, errors.New("the prior density's precision has no Cholesky factor")
		}
		root.LTo(&l)
		if err := errors.Join(left.Solve(&l, h), both.Solve(&l, left.T())); err != nil {
			return 0, err
		}
		for a := range done {
			for b := range a + 1 {
				h.SetSym(a, b, (both.At(a, b)+both.At(b, a))/2)
			}
		}
		var eigen mat.EigenSym
		if !eigen.Factorize(h, false) {
			return 0, errors.New("the second derivatives at the mode have no eigenvalues")
		}
		sum = value
		for _, v := range eigen.Values(nil) {
			sum += math.Log(max(v, 1)) / 2
		}
		if sum >= below {
			return math.Inf(1), nil
		}
	}
	return sum, nil
}

// mostCurved is the most parameters whose second derivatives are computed, the shortest
// lengthscales first. They take about as many evaluations as a training run does (100 to 130
// iterations, 560 drawn rows of 1,000 inputs).
// About the longer lengthscales the rows say next to nothing, so that their factor in the last term
// is near 1.
const mostCurved = 128

// FewRows is the number of rows up to which several evaluations of a full GP at once keep the cores
// busier than one does. Larger ones would only take more memory.
const FewRows = 1500

// order returns the numbers of the parameters: first those without a weak prior, then the others
// from the shortest lengthscale to the longest, in units of the prior.
func (m *marginal) order(x []float64) []int {
	size := make([]float64, len(x))
	all := make([]int, len(x))
	for i := range x {
		size[i], all[i] = math.Inf(-1), i
	}
	for _, p := range m.mode.weak {
		size[p.at] = p.factor*x[p.at] - p.mean
	}
	slices.SortStableFunc(all, func(a, b int) int { return cmp.Compare(size[a], size[b]) })
	return all
}

// byCG is the problem of an evidence that conjugate gradients estimate.
type byCG struct {
	*objective.IterativeEvidence
	plain
	descent Descent
}

var _ Problem = (*byCG)(nil)

// Diagnostics has the standard errors of the last estimate of the evidence, and of its gradient if
// that was asked for.
func (p *byCG) Diagnostics() Diagnostics {
	return Diagnostics{StandardError: &p.StandardError, GradientErrors: p.GradientErrors}
}

// Posterior returns Q of all rows at x = [θ, β, ln σ_n²], solved as the task says.
func (p *byCG) Posterior(x []float64) (*posterior.Posterior, finding.List, error) {
	return p.task.exact(p.task.All, x)
}

// Minimize minimises the estimate of −ln p(y) from x0. ctx ends not only the search but also the
// solves by conjugate gradients within an evaluation.
func (p *byCG) Minimize(ctx context.Context, run Run, x0 []float64) (*train.Result, error) {
	p.Context = ctx
	p.Progress = p.task.Progress
	return p.descent.Minimize(ctx, run.In(p.Box(x0)), p.IterativeEvidence, x0)
}
