package posterior

import (
	"math"

	"github.com/krigo-gp/krigo/internal/linalg"
	"github.com/krigo-gp/krigo/internal/lists"
	"github.com/krigo-gp/krigo/matrix"
)

// Fewer predicts rows of the support from their other nearest rows.
// A half or a quarter of the nearest rows are enough if their root mean squared error is at most
// tolerated above the error of all nearest rows, relative to this error, and their negative log
// density at most tolerated above.
//
// 256 rows instead of 512 lose these shares of the RMSE, on 1,000 of these rows and on the test
// rows, with the kernels of default fits: pol .002 and −.005, bike .007 and .006, protein .002 and
// .000, kin40k .168 and .121, traffic with a transform .010 and .004, pol without one .012 and
// .007. 128 rows lose .008 and −.008, .018 and .028, .008 and .002, .301 and .292, .021 and .013,
// .013 and −.014. The first share has a standard error of .003 to .015, so tolerated lies in the
// widest gap.
const (
	fewerSample = 1000
	tolerated   = 0.015
	fewerRows   = 8 * fewerSample // least support, so that the sample takes less time than it saves
)

// Fewer returns p, or p with a quarter or half of its nearest rows if these predict about as well.
// It predicts fewerSample rows of the support from others, and allows the RMSE to grow by the share
// tolerated, and −ln of the density by as many nats a row. Supports of less than fewerRows rows
// stay as they are. p.Solution is a *Nearest.
func (p *Posterior) Fewer() *Posterior {
	q := p.Solution.(*Nearest)
	most := q.count
	if p.Support.Rows < fewerRows || most < 4 {
		return p
	}
	// rows spread evenly over the support
	of := lists.Spread(p.Support.Rows, fewerSample)
	points := linalg.Pick(p.Support.Like(fewerSample, p.Support.Cols), p.Support, of)
	rows := make([]int32, len(of)*most)
	prior := make([]float64, len(of))
	q.index().Others(of, most, rows)
	p.Kernel.Diag(p.Theta, points, prior)
	counts := []int{most / 4, most / 2, most}
	squares := matrix.New(len(counts), len(of))
	densities := matrix.New(len(counts), len(of))
	linalg.Blocks(len(of), nearestTask, func(i0, i1 int) {
		l := newLocal(p, q.Targets, most)
		for i := i0; i < i1; i++ {
			c, r, err := l.factor(points.RowRange(i, i+1), rows[i*most:][:most])
			// The nearest m rows are the first m, so the leading block of one Cholesky factor
			// serves all counts.
			for j, m := range counts {
				miss := q.Targets[of[i]] - linalg.Dot(c[:m], r[:m])
				v := max(prior[i]-linalg.Dot(c[:m], c[:m]), 0) + p.NoiseOf(of[i])
				if err != nil {
					miss = math.NaN()
				}
				squares.Set(j, i, miss*miss)
				// −ln of the density of y, without ½ ln 2π
				densities.Set(j, i, (miss*miss/v+math.Log(v))/2)
			}
		}
		l.release()
	})
	all := len(counts) - 1
	rmse := func(j int) float64 { return math.Sqrt(linalg.Sum(squares.Row(j))) }
	for j, m := range counts[:all] {
		worse := linalg.Sum(densities.Row(j)) - linalg.Sum(densities.Row(all))
		if rmse(j) <= (1+tolerated)*rmse(all) && worse <= tolerated*float64(len(of)) {
			fewer := *p
			fewer.Solution = &Nearest{near{m, q.index}, q.Targets}
			return &fewer
		}
	}
	return p
}
