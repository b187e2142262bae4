package method

import (
	"cmp"
	"errors"
	"math"
	"runtime"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/krigo-gp/krigo/internal/linalg"
	"github.com/krigo-gp/krigo/train"
)

// marginal is the problem of the evidence with a weak prior.
type marginal struct {
	Problem
	mode  mode
	again func() mode // makes the same mode with its own memory
}

// Diagnostics implements Problem.
func (m *marginal) Diagnostics() Diagnostics { return Diagnostics{Marginal: m.marginal} }

// marginal is Diagnostics.Marginal by Laplace's approximation (MacKay 2003, Chs. 27 and 28),
//
//	−ln p(y | x) + ½ Σ P_i (x_i − μ_i)² + ½ ln |P^−½ H P^−½|
//
// Here P holds the precisions of the prior density, and H the second derivatives of −ln p(y | x) p(x), as differences
// of gradients. A parameter without a weak prior has a normal density about the mode, as wide as a lengthscale's. An
// eigenvalue of P^−½ H P^−½ below 1 counts as 1. So no direction counts as less certain than before the rows were seen,
// and the last term isn't negative. Through the last term, a kernel pays for what it learns about its parameters from
// the rows.
func (m *marginal) marginal(r *train.Result, below float64) (float64, error) {
	x, value, n := r.X, r.Value, len(r.X)
	added := slices.Repeat([]float64{1 / wide}, n) // numbers to add to the diagonal of H
	precision := slices.Clone(added)
	for _, p := range m.mode.weak {
		value -= math.Log(2*math.Pi*p.variance) / 2
		precision[p.at], added[p.at] = p.factor*p.factor/p.variance, 0
	}
	if value >= below {
		return math.Inf(1), nil
	}
	// The eigenvalues of a block on the diagonal of H lie under those of H (Cauchy's interlacing theorem), so that some
	// columns may show already that the result isn't less than below. The shortest lengthscales come first, about which
	// the rows say most.
	const step = 1e-3 // step for a logarithm, or for a mean in standard deviations
	atOnce := min(4, runtime.GOMAXPROCS(0))
	if m.mode.X.Rows > FewRows {
		atOnce = 1
	}
	rows, order, sum := mat.NewDense(n, n, nil), m.order(x), value
	modes := make(chan mode, atOnce)
	modes <- m.mode
	for done := 0; done < n; {
		columns := order[done:min(done+atOnce, n)]
		errs := make([]error, len(columns))
		linalg.Parallel(len(columns), func(c int) {
			i, at, moved := columns[c], slices.Clone(x), make([]float64, n)
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
				rows.Set(i, j, (moved[j]-r.Gradient[j])/(step*math.Sqrt(precision[i]*precision[j])))
			}
		})
		if err := errors.Join(errs...); err != nil {
			return 0, err
		}
		done += len(columns)
		h := mat.NewSymDense(done, nil)
		for a, i := range order[:done] {
			for b, j := range order[:a+1] {
				h.SetSym(a, b, (rows.At(i, j)+rows.At(j, i))/2)
			}
			h.SetSym(a, a, h.At(a, a)+added[i]/precision[i])
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

// FewRows is the number of rows up to which several evaluations of a full GP at once keep the cores busier than one
// does. Larger ones would only take more memory.
const FewRows = 1500

// order returns the parameters' numbers, those without a weak prior first and then the largest of the others last.
func (m *marginal) order(x []float64) []int {
	size, all := make([]float64, len(x)), make([]int, len(x))
	for i := range x {
		size[i], all[i] = math.Inf(-1), i
	}
	for _, p := range m.mode.weak {
		size[p.at] = p.factor*x[p.at] - p.mean
	}
	slices.SortStableFunc(all, func(a, b int) int { return cmp.Compare(size[a], size[b]) })
	return all
}
