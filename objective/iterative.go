package objective

import (
	"cmp"
	"context"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/krigo-gp/krigo/internal/linalg"
	"github.com/krigo-gp/krigo/iterative"
	"github.com/krigo-gp/krigo/kernel"
	"github.com/krigo-gp/krigo/matrix"
	"github.com/krigo-gp/krigo/posterior"
	"github.com/krigo-gp/krigo/ranks"
)

// IterativeEvidence estimates Evidence for more rows than can be factored, as a function of [θ, β,
// ln σ_n²]. It computes w by conjugate gradients, and ln|C| by stochastic Lanczos quadrature
// (Gardner et al. 2018). The gradient is the quadrature's own derivative, in place of an
// independent estimate of tr C⁻¹∂C.
//
// An anchor is a point at which Anchor was called.
// It fixes the preconditioner, the probes, which are the random vectors of the quadrature, and the
// start of every solve for w, which is the anchor's w (warm starts: Lin et al.
// 2024). So a value depends on the anchor and the point, and not on the points between.
// Between anchors the value is one smooth function but for the residuals of the solves, and the
// gradient is this function's gradient. The function estimates the evidence wherever the anchor is,
// without bias but for the residuals. Farther from the anchor, an evaluation takes more iterations
// and has a larger standard error.
type IterativeEvidence struct {
	Kernel kernel.Kernel
	Mean   kernel.Mean
	X      matrix.Dense
	Y      []float64
	PerRow posterior.RowNoise // how noisy each row is

	// ranks share the products with the covariance matrix; each rank has all of X and Y
	Ranks ranks.Ranks

	Context context.Context // ends a long evaluation; nil means never
	Seed    uint64          // seed of the probes
	Probes  int             // number of probes; 0 means DefaultProbes
	Rank    int             // rank of the preconditioner; 0 means iterative.Rank
	// largest relative residual of w, a hundredth of the probes'; 0 means 1e-4
	Tolerance float64
	Progress  func(iterative.Progress)

	// StandardError and Iterations describe the last evaluation.
	StandardError float64 // standard error of the value: half that of ln|C|
	Iterations    int     // iterations for the probes and for w together

	// GradientErrors, if not nil, is filled with the standard errors of each gradient, computed
	// from the spread over probes. That takes a pull-back for each probe.
	// The mean function's standard errors are 0, because no probe enters its derivatives.
	GradientErrors []float64

	preconditioner *iterative.Preconditioner
	probes         matrix.Dense
	anchor         []float64
	start          []float64 // the anchor's w, once it is known
}

// DefaultProbes is the default of Probes. With r it makes 16 columns, whole vectors at every level
// of internal/cpu.
const DefaultProbes = 15

// maxIterations is the most iterations of a solve.
// More mean that the anchor is too far or the conditioning too bad.
const maxIterations = 1000

// Dim returns the number of parameters: kernel, mean function, noise variance.
func (e *IterativeEvidence) Dim() int { return len(e.Names()) }

// Names returns the name of every parameter.
func (e *IterativeEvidence) Names() []string { return parameterNames(e.Kernel, e.Mean) }

// split returns C at x, which is only multiplied with and never stored, and β.
func (e *IterativeEvidence) split(x []float64) (c iterative.Covariance, beta []float64) {
	nk := len(e.Kernel.Params())
	s := math.Exp(x[len(x)-1])
	return iterative.Covariance{Kernel: e.Kernel, Theta: x[:nk], X: e.X, Noise: s,
		Noises: e.PerRow.Each(e.X.Rows, s)}, x[nk : len(x)-1]
}

// Anchor makes the preconditioner at x, and draws the probes from N(0, preconditioner).
func (e *IterativeEvidence) Anchor(x []float64) error {
	c, _ := e.split(slices.Clone(x))
	p, err := iterative.PivotedCholesky(c, cmp.Or(e.Rank, iterative.Rank(e.X.Rows)))
	if err != nil {
		return unfactored("preconditioner", c.Noise, err)
	}
	e.anchor = slices.Clone(x)
	e.start = nil
	e.preconditioner = p
	e.probes = p.Probes(cmp.Or(e.Probes, DefaultProbes),
		rand.New(rand.NewPCG(e.Seed, 0x70726f626573)))
	return nil
}

// Evaluate returns the estimate of −ln p(y) at x and, unless gradient is nil, fills gradient.
// The first evaluation calls Anchor, unless the caller did.
// Errors are Anchor's, a solve's (*iterative.Stalled) or the context's.
//
// Evaluate computes rᵀC⁻¹r as 2rᵀw − wᵀCw, whose error is of the order of the residual's square.
func (e *IterativeEvidence) Evaluate(x, gradient []float64) (float64, error) {
	value, err := e.evaluate(x, gradient)
	return settle(over(e.Ranks), value, gradient, err)
}

// evaluate does what Evaluate does, before the ranks agree on the result.
// It solves C w = r, and then C U = probes. The second solve also gives the Lanczos coefficients,
// from which the quadrature gets ln|C| and the matrix H of its derivatives.
func (e *IterativeEvidence) evaluate(x, gradient []float64) (float64, error) {
	if e.preconditioner == nil {
		if err := e.Anchor(x); err != nil {
			return math.NaN(), err
		}
	}
	ctx, fail := context.WithCancelCause(cmp.Or(e.Context, context.Background()))
	defer fail(nil)
	r := over(e.Ranks)
	n := e.X.Rows
	// Every solve for w starts from the anchor's w, so this w must be known first.
	if e.start == nil && !slices.Equal(x, e.anchor) {
		if _, _, err := e.weights(ctx, fail, e.anchor); err != nil {
			return math.NaN(), err
		}
	}
	w, quad, err := e.weights(ctx, fail, x)
	if err != nil {
		return math.NaN(), err
	}
	c, beta := e.split(x)
	s := e.solver(c, fail)
	// The probes need fewer digits than w (see looser).
	s.Tolerance = looser * s.Tolerance
	s.Probes = e.probes.Cols
	solution, err := s.Solve(ctx, e.probes, matrix.New(n, e.probes.Cols))
	if err = cmp.Or(context.Cause(ctx), err); err != nil {
		return math.NaN(), err
	}
	q := iterative.LogDet(e.preconditioner, solution.Lanczos, gradient != nil)
	e.StandardError = q.StandardError / 2
	e.Iterations = e.Iterations + solution.Iterations
	value := 0.5 * (float64(n)*math.Log(2*math.Pi) + q.Value + quad)
	if err := finite(value, nil, c.Noise); err != nil || gradient == nil {
		return value, err
	}
	// C̄ = ½(H Hᵀ − wwᵀ), m̄ = −w.
	// h holds the columns of H and then w, and weights their factors ½ and −½ in C̄.
	h := matrix.New(n, q.Adjoint.Cols+1)
	weights := slices.Repeat([]float64{0.5}, q.Adjoint.Cols+1)
	last := q.Adjoint.Cols
	weights[last] = -0.5
	clear(gradient)
	var trace float64
	for i := range n {
		row := h.Row(i)
		copy(row, q.Adjoint.Row(i))
		row[last] = w[i]
		trace += e.PerRow.Slope(i) * (0.5 * (linalg.Dot(row[:last], row[:last]) - w[i]*w[i]))
		w[i] = -w[i]
	}
	nk := len(c.Theta)
	// Each rank pulls its share of the pairs of rows back, and the ranks add up their shares.
	// The pull-backs to β and s take O(N) time, so every rank does them whole.
	kernel.At(e.Kernel, c.Theta).Part(r.Rank(), r.Size()).PullOuter(e.X, h, weights, gradient[:nk])
	if err := r.Sum(gradient[:nk]); err != nil {
		return value, err
	}
	e.Mean.Pull(beta, e.X, w, gradient[nk:len(gradient)-1])
	gradient[len(gradient)-1] = c.Noise * trace
	if e.GradientErrors != nil {
		e.gradientErrors(c, solution.Lanczos)
	}
	return value, finite(value, gradient, c.Noise)
}

// looser is the probes' tolerance in terms of w's.
// A quadrature converges twice as fast as its solve, and its own derivative stays near its value's.
// On 3,000 rows of kin40k (se and matern32, a point up to 0.5 from its anchor) residuals of 1e-2
// move the value by .004 and no derivative by more than .07, at standard errors of 12 to 21 and of
// .1 to 6. They take half the iterations of 1e-4. A residual of 1e-1 would move derivatives by 2.
const looser = 100

// solver returns a solver for w.
func (e *IterativeEvidence) solver(c iterative.Covariance, fail func(error)) iterative.Solver {
	return iterative.Solver{Times: c.Shared(over(e.Ranks), fail), Preconditioner: e.preconditioner,
		Tolerance: cmp.Or(e.Tolerance, 1e-4), MaxIterations: maxIterations, Progress: e.Progress}
}

// weights returns w and rᵀC⁻¹r at x. The solve starts from the anchor's w, or keeps w as the
// anchor's.
func (e *IterativeEvidence) weights(ctx context.Context, fail func(error),
	x []float64) ([]float64, float64, error) {
	c, beta := e.split(x)
	r := matrix.New(e.X.Rows, 1)
	w := matrix.New(e.X.Rows, 1)
	copy(w.Data, e.start)
	e.Mean.At(beta, e.X, r.Data)
	linalg.Minus(e.Y, r.Data)
	s := e.solver(c, fail)
	// Iterations may take products in float32. Residuals, and so the answer, don't depend on them.
	s.Rough = c.Rough(over(e.Ranks), fail)
	solution, err := s.Solve(ctx, r, w)
	if err = cmp.Or(context.Cause(ctx), err); err != nil {
		return nil, 0, err
	}
	e.Iterations = solution.Iterations
	if e.start == nil {
		e.start = slices.Clone(w.Data)
	}
	// 2rᵀw − wᵀCw = wᵀ(r + (r − Cw)), and r − Cw is the residual.
	linalg.Axpy(1, solution.Residuals.Data, r.Data)
	return w.Data, linalg.Dot(w.Data, r.Data), nil
}

// squares returns Σ a_i ‖h_i‖² over the rows h_i of h. a_i is the factor of s in row i's noise.
func (e *IterativeEvidence) squares(h matrix.Dense) (sum float64) {
	if e.PerRow.Factor == nil {
		return linalg.Dot(h.Data, h.Data)
	}
	for i, a := range e.PerRow.Factor {
		sum += a * linalg.Dot(h.Row(i), h.Row(i))
	}
	return sum
}

// gradientErrors fills GradientErrors from the spread of the estimates of ½ tr C⁻¹∂C, one estimate
// for each probe.
func (e *IterativeEvidence) gradientErrors(c iterative.Covariance, probes []*iterative.Lanczos) {
	last := len(e.GradientErrors) - 1
	m := float64(len(probes))
	each := matrix.New(len(probes), last+1)
	for i := range probes {
		h := iterative.LogDet(e.preconditioner, probes[i:i+1], true).Adjoint
		row := each.Row(i)
		kernel.At(e.Kernel, c.Theta).PullOuter(e.X, h, slices.Repeat([]float64{0.5}, h.Cols),
			row[:len(c.Theta)])
		row[last] = 0.5 * c.Noise * e.squares(h)
	}
	// The standard error of a mean is the estimates' standard deviation, divided by √m.
	for j := range e.GradientErrors {
		var sum, squares float64
		for i := range probes {
			sum += each.At(i, j)
		}
		for i := range probes {
			squares += math.Pow(each.At(i, j)-sum/m, 2)
		}
		e.GradientErrors[j] = math.Sqrt(squares / max(m-1, 1) / m)
	}
}
