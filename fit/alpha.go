package fit

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/krigo-gp/krigo/dataset"
)

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
			at, err := Gather(others)
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
