package plan

import (
	"math"

	"github.com/krigo-gp/krigo/fitting"
	"github.com/krigo-gp/krigo/internal/faults"
	"github.com/krigo-gp/krigo/internal/linalg"
	"github.com/krigo-gp/krigo/kernel"
	"github.com/krigo-gp/krigo/model"
)

// Factor returns the lower triangle L_S of a free-form posterior as an m×m matrix, for m inducing
// inputs. It accepts rows up to the diagonal or of m numbers, and refuses a diagonal that isn't
// positive.
func Factor(q *fitting.FreeParams, m int) (linalg.Matrix, error) {
	if len(q.Mean) != m || len(q.Chol) != m {
		return linalg.Matrix{},
			faults.Usage("params: posterior.mean has %d entries and posterior.chol "+
				"%d rows for %d inducing inputs", len(q.Mean), len(q.Chol), m)
	}
	l := linalg.New(m, m)
	for i, row := range q.Chol {
		if len(row) < i+1 || len(row) > m {
			return l, faults.Usage("params: posterior.chol[%d] has %d entries: want %d, those up "+
				"to the diagonal, or %d", i, len(row), i+1, m)
		}
		for j, v := range row {
			if j > i && v != 0 {
				return l, faults.Usage("params: posterior.chol[%d][%d] is %v: it must be lower "+
					"triangular", i, j, v)
			}
		}
		if !(row[i] > 0) {
			return l, faults.Usage("params: posterior.chol[%d][%d] is %v: its diagonal must be "+
				"positive", i, i, row[i])
		}
		copy(l.Row(i)[:i+1], row)
	}
	return l, nil
}

// Vector returns the kernel, the mean function meanName and the parameters as [θ, β, ln σ_n², Z],
// for these inputs. It refuses parameters that don't fit in number.
func Vector(p *fitting.Params, meanName string,
	inputs []kernel.Input) (kernel.Kernel, kernel.Mean, []float64, error) {
	dim := len(inputs)
	k, x, err := p.Kernel.Build(dim, inputs...)
	if err != nil {
		return nil, nil, nil, faults.Usage("params: %w", err)
	}
	mean, err := model.MeanOf(meanName, dim)
	if err != nil {
		return nil, nil, nil, faults.AsUsage(err)
	}
	var given fitting.MeanParams
	if p.Mean != nil {
		given = *p.Mean
	}
	n := len(mean.Params())
	if err := faults.AsUsage(faults.First(
		faults.If(n == 0 && (given.Constant != 0 || len(given.Linear) > 0),
			"params: a prior mean is given; choose mean constant or linear so that it is "+
				"counted"),
		faults.If(n == 1 && len(given.Linear) > 0,
			"params: slopes are given; choose mean linear"),
		faults.If(n > 1 && len(given.Linear) != dim,
			"params: mean.linear has %d slopes for %d inputs", len(given.Linear), dim),
		faults.If(!(p.NoiseVariance > 0) || math.IsInf(p.NoiseVariance, 1),
			"params: noise_variance must be a positive number, not %v", p.NoiseVariance),
	)); err != nil {
		return nil, nil, nil, err
	}
	if n > 0 {
		x = append(append(x, given.Constant), given.Linear...)
	}
	x = append(x, math.Log(p.NoiseVariance))
	for i, z := range p.Inducing {
		if len(z) != dim {
			return nil, nil, nil,
				faults.Usage("params: inducing[%d] has %d coordinates for %d inputs", i,
					len(z), dim)
		}
		x = append(x, z...)
	}
	return k, mean, x, nil
}
