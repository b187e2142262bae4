package krigo

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/inducing"
	"github.com/krigo-gp/krigo/internal/linalg"
)

// onBatches says whether training takes a batch of rows in a step.
func (o Options) onBatches() bool { return o.Optimizer == "adam" || o.Optimizer == "sgd" }

// What --inducing theory asks of Theorem 2: D ≤ 1 nat with probability 0.9 at α = 1, where the bound
// is largest, for the kernel that training starts from.
const (
	theoryTarget = 1
	theoryDelta  = 0.1
	startNoise   = 0.3
)

// theoryInducing sets the number of inducing inputs to what the theory asks for, up to the limit
// that stands there: the least M that Theorem 2 needs with the SE kernel's eigenvalues, for inputs
// taken to be Gaussian and independent, or for one input and a Matérn kernel N^{1/r}, with which
// the bound doesn't grow in N. x are rows to take the inputs' spread from.
func (p *prepared) theoryInducing(o Options, x linalg.Matrix) error {
	n, limit := p.n, p.inducing
	if o.Kernel != "se" {
		if p.data.Cols > 1 {
			return usage("inducing theory: for %s it is known for one input, not for %d: choose the kernel se", o.Kernel, p.data.Cols)
		}
		r := map[string]int{"matern32": 1, "matern52": 2}[o.Kernel]
		rate := inducing.MaternExponent(r, 0)
		p.inducing = min(limit, int(math.Ceil(math.Pow(float64(n), rate))))
		p.notices = append(p.notices, fmt.Sprintf("%d inducing inputs: theory asks for N^%g = %.4g (at most %d are taken), but for constants that aren't known", p.inducing, rate, math.Pow(float64(n), rate), limit))
		return nil
	}
	var square float64
	for _, y := range p.y {
		square += y * y
	}
	sum := []float64{square}
	if err := p.data.Ranks().Sum(sum); err != nil {
		return err
	}
	square = sum[0]
	lengths, spread := slices.Repeat([]float64{math.Sqrt(float64(x.Cols))}, x.Cols), make([]float64, x.Cols)
	for j := range x.Cols {
		var mean float64
		for i := range x.Rows {
			mean += x.At(i, j) / float64(x.Rows)
		}
		for i := range x.Rows {
			spread[j] += (x.At(i, j) - mean) * (x.At(i, j) - mean) / float64(x.Rows)
		}
		spread[j] = max(math.Sqrt(spread[j]), 1e-6) // a constant column has nothing to approximate
	}
	spectrum, err := inducing.NewSESpectrum(1, lengths, spread)
	if err != nil {
		return err
	}
	theory := inducing.Theory{Rows: n, Alpha: 1, Noise: startNoise, Variance: 1, Delta: theoryDelta}
	m, bound, err := theory.Enough(spectrum, square, theoryTarget, limit)
	if err != nil {
		return err
	}
	p.inducing = m
	note := fmt.Sprintf("%d inducing inputs: drawn by a k-DPP and kept (inducing-init kdpp, fix-inducing), they leave the bound at most %.3g nats under the evidence with probability %g at the starting kernel, if inputs are Gaussian and independent", m, bound, 1-theoryDelta)
	if bound > theoryTarget {
		note += fmt.Sprintf("; %d nat would take more than the %d that are taken at most", theoryTarget, limit)
	}
	p.notices = append(p.notices, note)
	return nil
}

// crossValidated are the values of α that cross-validation chooses from, folds the number of
// parts the rows are cut into.
var crossValidated = []float64{0, 0.25, 0.5, 0.75, 1}

const folds = 3

// crossValidate chooses a fixed α: that with the smallest mean squared error of predictions for
// the rows left out, summed over folds. α shapes Q alone, so that nothing is paid for the choice.
func (p *prepared) crossValidate(ctx context.Context, o Options, f family, c *checkpoints) (float64, error) {
	n := p.n
	order := rand.New(rand.NewPCG(o.Seed, 0x666f6c64)).Perm(n)
	best, least := 0.0, math.Inf(1)
	for _, alpha := range crossValidated {
		o.Alpha = &alpha
		var square float64
		for fold := range folds {
			part := *p
			part.notices, part.alpha = nil, alpha
			rows := slices.Concat(order[:fold*n/folds], order[(fold+1)*n/folds:])
			left := order[fold*n/folds : (fold+1)*n/folds]
			part.rows, part.y = p.choose(rows)
			part.n = len(rows)
			problem := part.problem(o, f, 1)
			event := Event{Family: fmt.Sprintf("%s, α = %g without part %d of %d", f.name, alpha, fold+1, folds), Start: 1, Starts: 1}
			r, err := problem.Minimize(ctx, c.run(fmt.Sprintf("cv/%g/%d", alpha, fold+1), event), part.starts(o, f, nil)[0])
			if err != nil {
				return 0, err
			}
			q, _, err := problem.Posterior(r.X)
			if err != nil {
				return 0, err
			}
			others, y := p.choose(left)
			at, err := gather(others)
			if err != nil {
				return 0, err
			}
			mean := make([]float64, len(y))
			q.Latent(at.X, mean, nil)
			for i, m := range mean {
				square += (y[i] - m) * (y[i] - m)
			}
		}
		if square < least {
			best, least = alpha, square
		}
	}
	p.notices = append(p.notices, fmt.Sprintf("α = %g by cross-validation over %v in %d parts (root mean squared error %.4g, scaled)", best, crossValidated, folds, math.Sqrt(least/float64(n))))
	return best, nil
}

// choose returns those of the rows to train on, and their scaled targets.
func (p *prepared) choose(rows []int) (*dataset.Scaled, []float64) {
	numbers, y := make([]int, len(rows)), make([]float64, len(rows))
	for i, row := range slices.Sorted(slices.Values(rows)) {
		numbers[i], y[i] = p.rows.Numbers[row], p.y[row]
	}
	return p.data.Scaled(numbers, p.scaling), y
}
