package objective

import (
	"github.com/krigo-gp/krigo/internal/linalg"
	"github.com/krigo-gp/krigo/internal/lists"
	"github.com/krigo-gp/krigo/kernel"
	"github.com/krigo-gp/krigo/matrix"
	"github.com/krigo-gp/krigo/pacbayes"
	"github.com/krigo-gp/krigo/posterior"
)

// sparseEngine makes the forward pass of sparse GPs.
// It streams the rows, and reduces V and λ of each block to M×M matrices and a few numbers a row.
// It stores all of V (N×M) only if that fits in keep bytes.
type sparseEngine struct {
	stream
	inducingFactor
	prior kernel.Mean
	beta  []float64
	noise float64
	each  posterior.RowNoise // how noisy each row is
	alpha float64
	keep  int64

	a    matrix.Dense // V D⁻¹Vᵀ
	lb   matrix.Dense // chol(B)
	binv matrix.Dense // B⁻¹
	b    []float64
	mu   []float64 // whitened mean of q: B⁻¹b, or ν of a free-form q

	r, lambda, dd []float64 // N: y − m(x), λ, D
	mean          []float64 // N: m(x)
	mHat, sHat    []float64 // predictions at the rows, filled by predict

	kept    []matrix.Dense // the blocks of V, if they fit in keep bytes
	scratch matrix.Dense   // room for one block of V, if all blocks together don't fit
}

// room allocates vectors for n rows and matrices for m inducing inputs.
func (e *sparseEngine) room(m, n int) {
	vec := func() []float64 { return make([]float64, n) }
	like := e.xb.Like
	e.m, e.l = m, like(m, m)
	e.a, e.lb, e.binv, e.b, e.mu = like(m, m), like(m, m), like(m, m), make([]float64,
		m), make([]float64, m)
	e.r, e.lambda, e.dd, e.mean, e.mHat, e.sHat = vec(), vec(), vec(), vec(), vec(), vec()
}

// sum adds symmetric matrices (lower triangles only) and vectors up over all ranks, in place.
func (e *sparseEngine) sum(symmetric []matrix.Dense, vectors ...[]float64) error {
	return sumOver(e.ranks, symmetric, vectors...)
}

// sample returns the predictions at this rank's rows.
// Its Sum adds over all ranks, so that a bound counts all rows.
func (e *sparseEngine) sample(scale []float64) pacbayes.Sample {
	return pacbayes.Sample{Y: e.y[:e.n], Mean: e.mHat[:e.n], Variance: e.sHat[:e.n], Scale: scale,
		Rows: e.total, Sum: e.ranks.Sum}
}

// keepsV says whether V, which has N×M numbers of 8 bytes, fits in keep bytes.
func (e *sparseEngine) keepsV() bool { return int64(e.n)*int64(e.m)*8 <= e.keep }

// eachV calls each with every block of V after pass. Row i of V is V_i. A block is valid during the
// call.
func (e *sparseEngine) eachV(each func(i0, i1 int, v matrix.Dense) error) error {
	for i0, i1 := range lists.Blocks(e.n, blockRows) {
		v := e.roomForV(i0).RowRange(0, i1-i0)
		if !e.keepsV() {
			x, err := e.read(i0, i1)
			if err != nil {
				return err
			}
			e.whiten(x, v)
		}
		if err := each(i0, i1, v); err != nil {
			return err
		}
	}
	return nil
}

// roomForV returns the matrix for the block of V from row i0, which the method pass fills.
func (e *sparseEngine) roomForV(i0 int) matrix.Dense {
	most := len(e.y) // n, or more if this batch is smaller than an earlier batch
	if !e.keepsV() {
		if e.scratch.IsZero() {
			e.scratch = e.xb.Like(min(blockRows, most), e.m)
		}
		return e.scratch
	}
	if e.kept == nil {
		for first, end := range lists.Blocks(most, blockRows) {
			e.kept = append(e.kept, e.xb.Like(end-first, e.m))
		}
	}
	return e.kept[i0/blockRows]
}

// pass reads the rows block by block. It fills m(x), r = y − m(x) and λ, computes V, and calls each
// with every block of V. It keeps V if keep allows.
func (e *sparseEngine) pass(each func(i0, i1 int, v matrix.Dense)) error {
	for i0, i1 := range lists.Blocks(e.n, blockRows) {
		x, err := e.read(i0, i1)
		if err != nil {
			return err
		}
		e.prior.At(e.beta, x, e.mean[i0:i1])
		for i := i0; i < i1; i++ {
			e.r[i] = e.y[i] - e.mean[i]
		}
		v := e.roomForV(i0).RowRange(0, i1-i0)
		e.whiten(x, v)
		e.kernel.Diag(e.theta, x, e.lambda[i0:i1])
		linalg.Each(i1-i0, chunkRows, func(r int) {
			row := v.Row(r)
			// λ_i is a variance, which only rounding can make negative.
			e.lambda[i0+r] = max(e.lambda[i0+r]-linalg.Dot(row, row), 0)
		})
		each(i0, i1, v)
	}
	return nil
}

// statistics runs a pass that computes D, A = V D⁻¹Vᵀ and b = V D⁻¹r.
// Then it factors B = I + A and computes μ.
func (e *sparseEngine) statistics() error {
	n := min(blockRows, e.n)
	weights := linalg.Borrow(2, n)
	defer linalg.Return(weights)
	e.a.Zero()
	clear(e.b)
	err := e.pass(func(i0, i1 int, v matrix.Dense) {
		perD := weights.Row(0)[:i1-i0]
		rPerD := weights.Row(1)
		for i := i0; i < i1; i++ {
			e.dd[i] = e.alpha*e.lambda[i] + e.each.At(i, e.noise)
			perD[i-i0], rPerD[i-i0] = 1/e.dd[i], e.r[i]/e.dd[i]
		}
		addRows(v, rPerD, e.b)
		if e.same() { // D is s in all rows
			linalg.SyrkLower(true, perD[0], v, 1, e.a)
			return
		}
		linalg.SyrkScaled(v, perD, 1, e.a)
	})
	if err == nil {
		err = e.sum([]matrix.Dense{e.a}, e.b)
	}
	if err != nil {
		return err
	}
	// B = I + A = L_B L_Bᵀ, and μ = B⁻¹b.
	linalg.MirrorLower(e.a)
	e.lb.CopyFrom(e.a)
	e.lb.AddDiagonal(1)
	if err := linalg.Cholesky(e.lb); err != nil {
		return unfactored("matrix I + V D⁻¹Vᵀ", e.noise, err)
	}
	copy(e.mu, e.b)
	linalg.CholeskySolve(e.lb, e.mu)
	return nil
}

// same says whether D_i = s in all rows.
func (e *sparseEngine) same() bool { return e.alpha == 0 && e.each.Same() }

// predict is the second forward pass. It computes the predictions m̂_i = m(x_i) + V_iᵀμ and σ̂²_i =
// λ_i + ‖h_i‖² at the rows (Reeb et al. 2018, Eq. 9). root computes h_i from V_i.
func (e *sparseEngine) predict(root func(v, h matrix.Dense)) error {
	scratch := linalg.Borrow(min(blockRows, e.n), e.m)
	defer linalg.Return(scratch)
	return e.eachV(func(i0, i1 int, v matrix.Dense) error {
		h := scratch.RowRange(0, i1-i0)
		root(v, h)
		linalg.Each(i1-i0, chunkRows, func(r int) {
			e.mHat[i0+r] = e.mean[i0+r] + linalg.Dot(v.Row(r), e.mu)
			e.sHat[i0+r] = e.lambda[i0+r] + linalg.Dot(h.Row(r), h.Row(r))
		})
		return nil
	})
}

// byB is the root of Reeb et al. 2018, Eq. 11: h_i = L_B⁻¹V_i.
func (e *sparseEngine) byB(v, h matrix.Dense) {
	h.CopyFrom(v)
	linalg.Trsm(false, true, e.lb, h)
}
