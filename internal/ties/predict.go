package ties

import (
	"math"

	"github.com/krigo-gp/krigo/internal/linalg"
	"github.com/krigo-gp/krigo/internal/lists"
	"github.com/krigo-gp/krigo/internal/neighbours"
	"github.com/krigo-gp/krigo/kernel"
	"github.com/krigo-gp/krigo/matrix"
	"github.com/krigo-gp/krigo/posterior"
)

// predictor predicts a row of a GP's training rows from all other training rows, or from some of
// the others.
type predictor interface {
	// alone returns the errors of rows, each predicted from all other rows, and their standard
	// deviations.
	alone(rows []int) (errors, sd []float64)
	// apart returns the errors of rows, each predicted from the rows of other units.
	apart(rows, of []int) []float64
}

// mostExact is the largest number of rows that all predict one another, because this inverts their
// covariance matrix.
// With more rows, only the nearest rows predict.
const mostExact = 2000

// newPredictor returns an exact predictor for up to mostExact rows, and one by nearest rows for
// more. Both predict the targets minus the mean function.
func newPredictor(g posterior.Given) (predictor, error) {
	if n := g.X.Rows; n > mostExact {
		residuals := make([]float64, n)
		g.Mean.At(g.Beta, g.X, residuals)
		linalg.Minus(g.Y, residuals)
		return &nearest{g, residuals, neighbours.About(g.Kernel, g.Theta, g.X)}, nil
	}
	q, err := posterior.NewExact(g)
	if err != nil {
		return nil, err
	}
	e := q.Solution.(*posterior.Exact)
	inverse := e.Chol.Like(e.Chol.Rows, e.Chol.Rows)
	linalg.CholeskyInverse(e.Chol, inverse)
	return &exact{inverse, e.W}, nil
}

// exact predicts from all rows, in closed form (see posterior.LeftOut), with C = K + sI.
type exact struct {
	inverse matrix.Dense // C⁻¹
	weights []float64    // C⁻¹r
}

// alone takes e_i = (C⁻¹r)_i/(C⁻¹)_ii, with the variance 1/(C⁻¹)_ii.
func (e *exact) alone(rows []int) (errors, sd []float64) {
	errors = make([]float64, len(rows))
	sd = make([]float64, len(rows))
	for i, row := range rows {
		d := e.inverse.At(row, row)
		errors[i], sd[i] = e.weights[row]/d, math.Sqrt(1/d)
	}
	return errors, sd
}

// apart leaves out each row's whole unit.
func (e *exact) apart(rows, of []int) []float64 {
	all := posterior.LeftOut(e.inverse, e.weights, lists.Members(of), nil)
	return lists.Of(rows, func(row int) float64 { return all[row] })
}

// nearestRows is the number of rows that predict a row if not all rows do.
const nearestRows = 48

// nearest predicts a row from its nearest rows.
type nearest struct {
	posterior.Given
	residuals []float64
	index     *neighbours.Index
}

// alone predicts each row from its nearest other rows.
func (n *nearest) alone(rows []int) (errors, sd []float64) {
	near := make([]int32, len(rows)*nearestRows)
	n.index.Others(rows, nearestRows, near)
	return n.from(rows, near)
}

// apart predicts each row from its nearest rows that aren't of its unit.
func (n *nearest) apart(rows, of []int) []float64 {
	near := make([]int32, len(rows)*nearestRows)
	n.index.Outside(of, rows, nearestRows, near)
	errors, _ := n.from(rows, near)
	return errors
}

// from predicts each row from its nearestRows entries of near.
func (n *nearest) from(rows []int, near []int32) (errors, sd []float64) {
	errors = make([]float64, len(rows))
	sd = make([]float64, len(rows))
	linalg.Parallel(len(rows), func(i int) {
		m := 0
		x := linalg.Borrow(nearestRows+1, n.X.Cols)
		c := linalg.Borrow(nearestRows+1, nearestRows+1)
		defer linalg.Return(x, c)
		r := make([]float64, nearestRows+1)
		for _, row := range near[i*nearestRows:][:nearestRows] {
			if row != neighbours.None {
				copy(x.Row(m), n.X.Row(int(row)))
				r[m] = n.residuals[row]
				m++
			}
		}
		copy(x.Row(m), n.X.Row(rows[i]))
		own := n.residuals[rows[i]]
		block := c.View(0, m+1, 0, m+1)
		kernel.At(n.Kernel, n.Theta).FillLower(x.RowRange(0, m+1), block)
		block.AddDiagonal(n.Noise)
		// The last row of the factor holds L⁻¹k, and then the standard deviation of the row given
		// the other rows.
		if linalg.Cholesky(block) != nil {
			errors[i], sd[i] = math.NaN(), math.NaN()
			return
		}
		linalg.Trsv(false, c.View(0, m, 0, m), r[:m])
		errors[i], sd[i] = own-linalg.Dot(block.Row(m)[:m], r[:m]), block.At(m, m)
	})
	return errors, sd
}
