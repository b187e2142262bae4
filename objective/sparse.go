package objective

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/krigo-gp/krigo/internal/linalg"
	"github.com/krigo-gp/krigo/kernel"
	"github.com/krigo-gp/krigo/matrix"
	"github.com/krigo-gp/krigo/pacbayes"
	"github.com/krigo-gp/krigo/posterior"
	"github.com/krigo-gp/krigo/ranks"
)

// Rows is a source of training rows: a table in memory or on disk.
type Rows interface {
	Dims() (rows, cols int)
	// Block reads rows first … first+n into x (n×cols) and y.
	Block(first, n int, x, y []float64) error
	// Pick reads the rows of these numbers into x (len(rows)×cols) and y.
	Pick(rows []int, x, y []float64) error
}

// spread is Rows that are some of those of all ranks: where each stands among these, in
// ascending order. nil: they follow those of the ranks before.
type spread interface{ Spread() []int }

// ownRows finds which of the rows with these numbers, among those of all ranks, are at hand, by their numbers
// there, and where they stand in the list; first is where rows that aren't spread begin.
func ownRows(of Rows, first int, rows []int) (here, at []int) {
	n, _ := of.Dims()
	var places []int
	if s, ok := of.(spread); ok {
		places = s.Spread()
	}
	here = []int{} // nil would be all
	for i, row := range rows {
		k, found := row-first, false
		if places != nil {
			k, found = slices.BinarySearch(places, row)
		} else {
			found = k >= 0 && k < n
		}
		if found {
			here, at = append(here, k), append(at, i)
		}
	}
	return here, at
}

// Memory is rows held in memory.
type Memory struct {
	X matrix.Dense
	Y []float64
}

// Dims implements Rows.
func (m Memory) Dims() (rows, cols int) { return m.X.Rows, m.X.Cols }

// Block implements Rows.
func (m Memory) Block(first, n int, x, y []float64) error {
	for i := range n {
		copy(x[i*m.X.Cols:], m.X.Row(first+i))
	}
	copy(y, m.Y[first:first+n])
	return nil
}

// Pick implements Rows.
func (m Memory) Pick(rows []int, x, y []float64) error {
	for i, row := range rows {
		copy(x[i*m.X.Cols:], m.X.Row(row))
		y[i] = m.Y[row]
	}
	return nil
}

// subset is the rows of some numbers.
type subset struct {
	Rows
	numbers []int
}

func (s subset) Dims() (rows, cols int) {
	_, cols = s.Rows.Dims()
	return len(s.numbers), cols
}

func (s subset) Block(first, n int, x, y []float64) error {
	return s.Rows.Pick(s.numbers[first:first+n], x, y)
}

// Sparse is an objective over K_ZZ, K_ZX and diag K_XX in the parametrisation of
// Eq. 11 of Reeb et al. 2018, with mean: D = αλ + s,
//
//	B = I + V D⁻¹Vᵀ = L_B L_Bᵀ,  b = V D⁻¹r,  μ = B⁻¹b,  V = L⁻¹K_ZX,  λ = diag(K_XX − VᵀV).
//
// All of them are functions of B, b and of sums over rows of terms in D_i, λ_i, r_i, so
// that one streamed engine (SparseProblem) serves them all: an objective gives its value
// and the adjoints of these.
type Sparse interface {
	// alpha of D = αλ + s: 0 VFE and DTC, 1 FITC, between: power EP.
	alpha() float64
	// evaluate returns the value. With seeds not nil it fills them; it may ask for the
	// predictions at the training rows by e.predict.
	evaluate(e *sparseEngine, seeds *sparseSeeds) (float64, error)
}

// sparseSeeds are the adjoints of a value with respect to B, b and the rows' D_i, λ_i,
// r_i and m(x_i), and with respect to s and α where they stand by themselves.
type sparseSeeds struct {
	B       matrix.Dense // symmetric, both triangles
	b       []float64
	d       []float64 // D̄_i, direct part
	lambda  []float64 // λ̄_i, direct part
	r       []float64 // r̄_i, direct part
	mean    []float64 // of the prior mean where it is added to Vᵀμ
	g, h    []float64 // of m̂_i = m(x_i) + V_iᵀμ and σ̂²_i = λ_i + ‖L_B⁻¹V_i‖²; nil if unused
	noise   float64
	alpha   float64
	gStat   []float64    // Σ g_i V_i
	hStat   matrix.Dense // Σ h_i V_i V_iᵀ
	usesRow bool         // g and h count
	uniform bool         // α = 0, and λ̄_i is the same for all rows: shared
	shared  float64
	free    bool // q is free of B and b: these and D have no adjoints
}

// blockRows is the number of rows that are streamed at a time. It is part of the
// result's rounding, so it is fixed.
const blockRows = 2048

// chunkRows is the number of rows of a block that one core works on at a time, where
// rows are worked on by themselves. Sums over rows are sums over chunks, so it is fixed too.
const chunkRows = 128

// inChunks calls each for the rows of a block, cut into chunks.
func inChunks(rows int, each func(chunk, r0, r1 int)) {
	linalg.Parallel(chunks(rows), func(c int) { each(c, c*chunkRows, min((c+1)*chunkRows, rows)) })
}

func chunks(rows int) int { return (rows + chunkRows - 1) / chunkRows }

// addRows adds Σ weight_i V_i to sum.
func addRows(v matrix.Dense, weight, sum []float64) {
	parts := linalg.Borrow(chunks(v.Rows), v.Cols)
	defer linalg.Return(parts)
	inChunks(v.Rows, func(c, r0, r1 int) {
		part := parts.Row(c)
		clear(part)
		for r := r0; r < r1; r++ {
			linalg.Axpy(weight[r], v.Row(r), part)
		}
	})
	for c := range parts.Rows {
		linalg.Axpy(1, parts.Row(c), sum)
	}
}

// weighted fills w with weight_i V_i.
func weighted(v matrix.Dense, weight []float64, w matrix.Dense) {
	inChunks(v.Rows, func(_, r0, r1 int) {
		for r := r0; r < r1; r++ {
			linalg.ScaleTo(w.Row(r), weight[r], v.Row(r))
		}
	})
}

// sparseEngine holds what one evaluation has: the M×M middle and N-vectors, never N×M
// unless that fits keepBytes.
type sparseEngine struct {
	n, m, d int // n of this rank
	noise   float64
	alpha   float64

	ranks ranks.Ranks
	first int // number of this rank's first row
	total int // rows of all ranks

	z    matrix.Dense // M×d
	l    matrix.Dense // chol(K_ZZ + jitter I)
	a    matrix.Dense // V D⁻¹Vᵀ
	lb   matrix.Dense // chol(B)
	binv matrix.Dense // B⁻¹
	b    []float64
	mu   []float64

	r, lambda, dd []float64 // N: y − m(x), λ, D
	mean          []float64 // N: m(x)
	y             []float64

	v       func(block int) (matrix.Dense, error) // n×M rows of Vᵀ: V_i is row i
	scratch matrix.Dense                          // a block of V, where V isn't kept
	xb      matrix.Dense                          // a block of rows
	yb      []float64

	mHat, sHat []float64 // predictions at the rows, filled by predict

	// A free-form q has μ = ν and L' in the place of L_B⁻ᵀ, so that σ̂²_i = λ_i + ‖L'ᵀV_i‖²;
	// the zero Matrix otherwise. Its S' = L'L'ᵀ stands in binv.
	lq matrix.Dense
}

// SparseProblem binds a family of GPs, inducing inputs and rows to a sparse objective: a
// function of [θ, β, ln σ_n², Z row by row, α if it is learnt], with its gradient. Time
// O(NM²), memory O(M² + block·M) plus a few numbers a row, and N·M numbers where Keep allows.
type SparseProblem struct {
	Kernel    kernel.Kernel
	Mean      kernel.Mean
	Rows      Rows
	M         int
	Objective Sparse
	Keep      int64 // bytes of V that may be kept between passes instead of being computed again

	// Ranks, unless nil, have Rows of their own each, and evaluate the objective of all rows
	// together: sums over rows are summed over ranks, and the rest is done on all.
	Ranks ranks.Ranks

	// MinJitter is added to K_ZZ even where it can be factored without.
	MinJitter float64

	// LearnAlpha makes α of D = αλ + s a parameter, the last one, in [0, 1], in the place of
	// the objective's own: for SparsePAC.
	LearnAlpha bool

	Jitter float64 // added to K_ZZ by the last evaluation

	e     *sparseEngine
	seeds *sparseSeeds
	kept  []matrix.Dense // V by blocks
	// batches hold the workspaces of batches by their number of rows.
	batches map[int]*SparseProblem
}

// Dim returns the number of parameters.
func (p *SparseProblem) Dim() int {
	_, d := p.Rows.Dims()
	n := len(p.Kernel.Params()) + len(p.Mean.Params()) + 1 + p.M*d
	if p.LearnAlpha {
		n++
	}
	return n
}

// Alpha returns the α of D = αλ + s at x.
func (p *SparseProblem) Alpha(x []float64) float64 {
	if p.LearnAlpha {
		return x[len(x)-1]
	}
	return p.Objective.alpha()
}

// Split cuts a parameter vector, or a gradient, into its parts; a learnt α is left out.
func (p *SparseProblem) Split(x []float64) (theta, beta []float64, logNoise float64, z matrix.Dense) {
	nk, nm := len(p.Kernel.Params()), len(p.Mean.Params())
	_, d := p.Rows.Dims()
	return x[:nk], x[nk : nk+nm], x[nk+nm], matrix.Of(p.M, d, x[nk+nm+1:nk+nm+1+p.M*d])
}

func (p *SparseProblem) prepare() error {
	if p.e != nil {
		return nil
	}
	n, d := p.Rows.Dims()
	if p.M < 1 {
		return fmt.Errorf("a sparse GP needs at least one inducing input")
	}
	first, total, err := ranks.Place(over(p.Ranks), n)
	if err != nil {
		return err
	}
	p.allocate(n, d)
	p.e.first, p.e.total = first, total
	return nil
}

// over is r, or the only rank where r is nil.
func over(r ranks.Ranks) ranks.Ranks {
	if r == nil {
		return ranks.Alone
	}
	return r
}

// allocate makes room for n rows of d inputs.
func (p *SparseProblem) allocate(n, d int) {
	m := p.M
	vec := func() []float64 { return make([]float64, n) }
	p.e = &sparseEngine{n: n, m: m, d: d, ranks: over(p.Ranks), total: n, l: matrix.New(m, m), a: matrix.New(m, m), lb: matrix.New(m, m), binv: matrix.New(m, m),
		b: make([]float64, m), mu: make([]float64, m), r: vec(), lambda: vec(), dd: vec(), mean: vec(), y: vec(), mHat: vec(), sHat: vec()}
	p.e.xb, p.e.yb = matrix.New(min(blockRows, n), d), make([]float64, min(blockRows, n))
	p.seeds = &sparseSeeds{B: matrix.New(m, m), b: make([]float64, m), d: vec(), lambda: vec(), r: vec(), mean: vec(), g: vec(), h: vec(),
		gStat: make([]float64, m), hStat: matrix.New(m, m)}
}

func (e *sparseEngine) blocks() int { return (e.n + blockRows - 1) / blockRows }

func (e *sparseEngine) rows(block int) (i0, i1 int) {
	return block * blockRows, min((block+1)*blockRows, e.n)
}

// factor fills l with the Cholesky factor of K_ZZ + jitter I.
func (p *SparseProblem) factor(theta []float64) (err error) {
	p.Jitter, err = posterior.FactorInducing(p.Kernel, theta, p.e.z, p.MinJitter, p.e.l)
	return err
}

// sum adds symmetric matrices, of which the lower triangles count, and vectors up over ranks.
func (e *sparseEngine) sum(symmetric []matrix.Dense, vectors ...[]float64) error {
	if e.ranks.Size() == 1 {
		return nil
	}
	packed := linalg.Borrow(len(symmetric), e.m*(e.m+1)/2)
	defer linalg.Return(packed)
	each := func(move func(packed, row []float64)) {
		for t, a := range symmetric {
			for i := range e.m {
				move(packed.Row(t)[i*(i+1)/2:(i+1)*(i+2)/2], a.Row(i)[:i+1])
			}
		}
	}
	each(func(packed, row []float64) { copy(packed, row) })
	err := e.ranks.Sum(append(vectors, packed.Data)...)
	each(func(packed, row []float64) { copy(row, packed) })
	return err
}

// sample is the predictions of the rows of all ranks, for what a bound needs of them.
func (e *sparseEngine) sample(scale []float64) pacbayes.Sample {
	return pacbayes.Sample{Y: e.y[:e.n], Mean: e.mHat[:e.n], Variance: e.sHat[:e.n], Scale: scale, Rows: e.total, Sum: e.ranks.Sum}
}

// settle is the end of an evaluation on all ranks: with an error where one of them has one, else with
// the first rank's value and gradient, so that optimisers take the same steps on all.
func settle(r ranks.Ranks, value float64, gradient []float64, err error) (float64, error) {
	if err != nil || r.Size() == 1 {
		return value, r.Agree(err)
	}
	all := append([]float64{value}, gradient...)
	err = r.Broadcast(0, ranks.Memory(all))
	copy(gradient, all[1:])
	return all[0], err
}

// read returns the inputs of rows i0 … i1; they stay until the next call.
func (p *SparseProblem) read(i0, i1 int) (matrix.Dense, error) {
	x, y := p.e.xb.RowRange(0, i1-i0), p.e.yb[:i1-i0]
	if err := p.Rows.Block(i0, i1-i0, x.Data, y); err != nil {
		return x, err
	}
	copy(p.e.y[i0:], y)
	return x, nil
}

// computeV fills out with V_i = L⁻¹k(Z, x_i) as rows.
func (p *SparseProblem) computeV(theta []float64, x, out matrix.Dense) {
	kernel.FillBlock(p.Kernel, theta, x, p.e.z, out)
	linalg.Trsm(false, true, p.e.l, out)
}

// Evaluate returns the objective at x and, unless gradient is nil, its gradient.
func (p *SparseProblem) Evaluate(x, gradient []float64) (float64, error) {
	value, err := p.evaluate(x, gradient)
	return settle(over(p.Ranks), value, gradient, err)
}

func (p *SparseProblem) evaluate(x, gradient []float64) (float64, error) {
	if err := p.prepare(); err != nil {
		return math.NaN(), err
	}
	e := p.e
	theta, beta, logNoise, z := p.Split(x)
	e.noise, e.alpha, e.z = math.Exp(logNoise), p.Alpha(x), z
	if err := p.begin(theta, beta); err != nil {
		return math.NaN(), err
	}
	var seeds *sparseSeeds
	if gradient != nil {
		seeds = p.seeds.reset()
	}
	value, err := p.Objective.evaluate(e, seeds)
	if err != nil {
		return value, err
	}
	if math.IsNaN(value) || math.IsInf(value, 0) {
		return value, fmt.Errorf("the objective is %v at noise variance %.3g: look for extreme values in the data", value, e.noise)
	}
	if gradient != nil {
		clear(gradient)
		dTheta, dBeta, _, dZ := p.Split(gradient)
		noise, err := p.backward(theta, beta, dTheta, dBeta, dZ)
		if err != nil {
			return value, err
		}
		gradient[len(theta)+len(beta)] = noise
		if p.LearnAlpha {
			gradient[len(gradient)-1] = seeds.alpha
		}
		if !linalg.Finite(gradient) {
			return value, fmt.Errorf("the gradient isn't finite at noise variance %.3g: look for extreme values in the data", e.noise)
		}
	}
	return value, nil
}

// BatchRows returns the number of rows that batches are drawn from.
func (p *SparseProblem) BatchRows() int {
	n, _ := p.Rows.Dims()
	return n
}

// EvaluateBatch is Evaluate on the rows with these numbers, times N/|rows|. The energies aren't
// sums over rows, nor are the bounds: an estimate to train by, biased, and never a certificate.
func (p *SparseProblem) EvaluateBatch(x, gradient []float64, rows []int) (float64, error) {
	if len(rows) == 0 {
		return math.NaN(), errors.New("an empty batch")
	}
	if over(p.Ranks).Size() > 1 {
		return math.NaN(), errors.New("a batch of this objective isn't spread over ranks")
	}
	b := p.batches[len(rows)]
	if b == nil {
		b = new(SparseProblem)
		*b = *p
		b.Keep, b.e, b.kept, b.batches = math.MaxInt64, nil, nil, nil
		if p.batches == nil {
			p.batches = map[int]*SparseProblem{}
		}
		p.batches[len(rows)] = b // of two sizes in an epoch
	}
	b.Rows, b.Objective = subset{p.Rows, rows}, p.Objective
	value, err := b.Evaluate(x, gradient)
	p.Jitter = b.Jitter
	weight := float64(p.BatchRows()) / float64(len(rows))
	linalg.Scale(weight, gradient)
	return weight * value, err
}

// reset clears what the last evaluation left and sums are added to.
func (s *sparseSeeds) reset() *sparseSeeds {
	*s = sparseSeeds{B: s.B, b: s.b, d: s.d, lambda: s.lambda, r: s.r, mean: s.mean, g: s.g, h: s.h, gStat: s.gStat, hStat: s.hStat}
	for _, v := range [][]float64{s.b, s.d, s.lambda, s.r, s.mean, s.gStat} {
		clear(v)
	}
	return s
}

// pass reads the rows block by block, fills m(x) and r = y − m(x), computes V and λ,
// keeping V where it may be kept, and shows every block to each.
func (p *SparseProblem) pass(theta, beta []float64, each func(i0, i1 int, v matrix.Dense)) error {
	e := p.e
	keep := int64(e.n)*int64(e.m)*8 <= p.Keep
	room := len(e.y) // n, or more in a batch
	if !keep && e.scratch.IsZero() {
		e.scratch = matrix.New(min(blockRows, room), e.m)
	}
	if keep && p.kept == nil {
		for i0 := 0; i0 < room; i0 += blockRows {
			p.kept = append(p.kept, matrix.New(min(blockRows, room-i0), e.m))
		}
	}
	e.v = func(t int) (matrix.Dense, error) {
		i0, i1 := e.rows(t)
		if keep {
			return p.kept[t].RowRange(0, i1-i0), nil
		}
		v := e.scratch.RowRange(0, i1-i0)
		x, err := p.read(i0, i1)
		if err != nil {
			return v, err
		}
		p.computeV(theta, x, v)
		return v, nil
	}
	for t := range e.blocks() {
		i0, i1 := e.rows(t)
		x, err := p.read(i0, i1)
		if err != nil {
			return err
		}
		p.Mean.At(beta, x, e.mean[i0:i1])
		for i := i0; i < i1; i++ {
			e.r[i] = e.y[i] - e.mean[i]
		}
		v := e.scratch
		if keep {
			v = p.kept[t]
		}
		v = v.RowRange(0, i1-i0)
		p.computeV(theta, x, v)
		p.Kernel.Diag(theta, x, e.lambda[i0:i1])
		inChunks(i1-i0, func(_, r0, r1 int) {
			for r := r0; r < r1; r++ {
				row := v.Row(r)
				e.lambda[i0+r] = max(e.lambda[i0+r]-linalg.Dot(row, row), 0)
			}
		})
		each(i0, i1, v)
	}
	return nil
}

// statistics is the first pass: λ, D, A = V D⁻¹Vᵀ, b = V D⁻¹r, then B and μ.
func (p *SparseProblem) statistics(theta, beta []float64) error {
	e := p.e
	n := min(blockRows, e.n)
	scaled, weights := linalg.Borrow(n, e.m), linalg.Borrow(2, n)
	defer linalg.Return(scaled, weights)
	e.a.Zero()
	clear(e.b)
	err := p.pass(theta, beta, func(i0, i1 int, v matrix.Dense) {
		w, perD, rPerD := scaled.RowRange(0, i1-i0), weights.Row(0), weights.Row(1)
		for i := i0; i < i1; i++ {
			e.dd[i] = e.alpha*e.lambda[i] + e.noise
			perD[i-i0], rPerD[i-i0] = 1/e.dd[i], e.r[i]/e.dd[i]
		}
		addRows(v, rPerD, e.b)
		if e.alpha == 0 { // the same weight for all
			linalg.SyrkLower(true, perD[0], v, 1, e.a)
			return
		}
		weighted(v, perD, w)
		linalg.GemmLower(true, false, 1, v, w, 1, e.a)
	})
	if err == nil {
		err = e.sum([]matrix.Dense{e.a}, e.b)
	}
	if err != nil {
		return err
	}
	linalg.MirrorLower(e.a)
	e.lb.CopyFrom(e.a)
	e.lb.AddDiagonal(1)
	if err := linalg.Cholesky(e.lb); err != nil {
		return fmt.Errorf("the matrix I + V D⁻¹Vᵀ can't be factored at noise variance %.3g (%w): raise the noise variance", e.noise, err)
	}
	copy(e.mu, e.b)
	linalg.Trsv(false, e.lb, e.mu)
	linalg.Trsv(true, e.lb, e.mu)
	return nil
}

// predict is the second forward pass: m̂ and σ̂² at the training rows (Eq. 9).
func (e *sparseEngine) predict() error {
	scratch := linalg.Borrow(min(blockRows, e.n), e.m)
	defer linalg.Return(scratch)
	for t := range e.blocks() {
		i0, i1 := e.rows(t)
		v, err := e.v(t)
		if err != nil {
			return err
		}
		h := scratch.RowRange(0, i1-i0)
		if e.lq.IsZero() {
			h.CopyFrom(v)
			linalg.Trsm(false, true, e.lb, h)
		} else {
			linalg.Gemm(false, false, 1, v, e.lq, 0, h)
		}
		inChunks(i1-i0, func(_, r0, r1 int) {
			for r := r0; r < r1; r++ {
				e.mHat[i0+r] = e.mean[i0+r] + linalg.Dot(v.Row(r), e.mu)
				e.sHat[i0+r] = e.lambda[i0+r] + linalg.Dot(h.Row(r), h.Row(r))
			}
		})
	}
	return nil
}

// rowStatistics sums gStat = Σ g_i V_i and hStat = Σ h_i V_i V_iᵀ for the g, h in s.
func (e *sparseEngine) rowStatistics(s *sparseSeeds) error {
	scaled := linalg.Borrow(min(blockRows, e.n), e.m)
	defer linalg.Return(scaled)
	s.hStat.Zero()
	for t := range e.blocks() {
		i0, i1 := e.rows(t)
		v, err := e.v(t)
		if err != nil {
			return err
		}
		w := scaled.RowRange(0, i1-i0)
		addRows(v, s.g[i0:i1], s.gStat)
		weighted(v, s.h[i0:i1], w)
		linalg.GemmLower(true, false, 1, v, w, 1, s.hStat)
	}
	if err := e.sum([]matrix.Dense{s.hStat}, s.gStat); err != nil {
		return err
	}
	linalg.MirrorLower(s.hStat)
	return nil
}

// backward is the last pass: from the seeds to the rows' adjoints
//
//	D̄_i = d_i − (V_iᵀb̄) r_i/D_i² − V_iᵀB̄V_i/D_i²,  λ̄_i = l_i + αD̄_i
//	V̄_i = b̄ r_i/D_i + 2B̄V_i/D_i + μ g_i + 2h_i B⁻¹V_i − 2λ̄_i V_i
//	Ū = L⁻ᵀV̄,  K̄_ZZ = −½ L⁻ᵀ(Σ V̄_i V_iᵀ)L⁻¹,  k̄ = λ̄
//
// and block by block through the kernel; it returns d/dln s. (K̄_ZZ needs no derivative of
// the Cholesky factorisation here: everything depends on L through VᵀV alone, and
// G = Σ V̄_i V_iᵀ is symmetric.)
//
// A free-form q (s.free) has V̄_i = ν g_i + 2h_i S'V_i − 2h_i V_i, as above without B̄ and b̄.
// It stands on the coordinates that L gives, so that G isn't symmetric: with V = L⁻¹K_ZX,
// L̄ = −L⁻ᵀG and K̄_ZZ = L⁻ᵀ sym(Φ(LᵀL̄)) L⁻¹, Φ taking the lower triangle and half the
// diagonal, G's lower triangle takes the place of its upper one.
func (p *SparseProblem) backward(theta, beta, dTheta, dBeta []float64, dZ matrix.Dense) (float64, error) {
	e, s := p.e, p.seeds
	if s.uniform {
		return p.backwardUniform(theta, beta, dTheta, dBeta, dZ)
	}
	n := min(blockRows, e.n)
	vb, bar := linalg.Borrow(n, e.m), linalg.Borrow(n, e.m)
	barT := linalg.Borrow(e.m, n)
	lambdaStat := matrix.New(e.m, e.m) // Σ λ̄_i V_i V_iᵀ
	dBar, meanBar := make([]float64, e.n), make([]float64, e.n)
	defer linalg.Return(vb, bar, barT)
	for t := range e.blocks() {
		i0, i1 := e.rows(t)
		v, err := e.v(t)
		if err != nil {
			return 0, err
		}
		k := i1 - i0
		vb, bar := vb.RowRange(0, k), bar.RowRange(0, k)
		if !s.free {
			linalg.Gemm(false, false, 1, v, s.B, 0, vb)
		}
		if s.usesRow {
			linalg.Gemm(false, false, 1, v, e.binv, 0, bar)
		}
		inChunks(k, func(_, r0, r1 int) {
			for row := r0; row < r1; row++ {
				i, vi, vbi, bi := i0+row, v.Row(row), vb.Row(row), bar.Row(row)
				if s.usesRow {
					linalg.Scale(2*s.h[i], bi)
					linalg.Axpy(s.g[i], e.mu, bi)
				} else {
					clear(bi)
				}
				if s.free {
					meanBar[i] = s.mean[i]
					linalg.Axpy(-2*s.lambda[i], vi, bi)
					continue
				}
				d, r := e.dd[i], e.r[i]
				vb := linalg.Dot(vi, s.b)
				dBar[i] = s.d[i] - (vb*r+linalg.Dot(vi, vbi))/(d*d)
				meanBar[i] = s.mean[i] - s.r[i] - vb/d
				lambda := s.lambda[i] + e.alpha*dBar[i]
				linalg.Axpy(2/d, vbi, bi)
				linalg.Axpy(r/d, s.b, bi)
				linalg.Axpy(-2*lambda, vi, bi)
				s.lambda[i] = lambda
				linalg.ScaleTo(vbi, lambda, vi)
			}
		})
		if !s.free {
			linalg.GemmLower(true, false, 1, v, vb, 1, lambdaStat)
		}
		linalg.Trsm(false, false, e.l, bar)
		bt := matrix.Of(e.m, k, barT.Data[:e.m*k])
		transpose(bar, bt)
		xb, err := p.read(i0, i1)
		if err != nil {
			return 0, err
		}
		kernel.PullBlock(p.Kernel, theta, e.z, xb, bt, dTheta, dZ)
		p.Kernel.PullDiag(theta, xb, s.lambda[i0:i1], dTheta, matrix.Dense{})
		p.Mean.Pull(beta, xb, meanBar[i0:i1], dBeta)
	}
	for i, v := range e.lambda[:e.n] {
		s.alpha += dBar[i] * v
	}
	scalars := []float64{linalg.Sum(dBar), s.noise, s.alpha}
	statistics := []matrix.Dense{lambdaStat}
	if s.free {
		statistics = nil
	}
	if err := e.sum(statistics, dTheta, dBeta, dZ.Data, scalars); err != nil {
		return 0, err
	}
	s.noise, s.alpha = scalars[1], scalars[2]
	// Σ V̄_i V_iᵀ, of which the last pass had only Σ λ̄_i V_i V_iᵀ left to sum.
	g := linalg.Borrow(e.m, e.m)
	defer linalg.Return(g)
	if s.free {
		g.Zero()
		lambdaStat = s.hStat // λ̄ = h
	} else {
		linalg.MirrorLower(lambdaStat)
		linalg.Gemm(false, false, 2, s.B, e.a, 0, g)
		linalg.Ger(1, s.b, e.b, g)
	}
	if s.usesRow {
		linalg.Gemm(false, false, 2, e.binv, s.hStat, 1, g)
		linalg.Ger(1, e.mu, s.gStat, g)
	}
	for i := range e.m {
		linalg.Axpy(-2, lambdaStat.Row(i), g.Row(i))
	}
	if s.free {
		linalg.MirrorLower(g)
	}
	p.pullZZ(theta, g, dTheta, dZ)
	return e.noise * (s.noise + scalars[0]), nil
}

// backwardUniform is backward where D_i = s and λ̄_i = λ̄ for all rows, and no predictions
// count. Sums over rows are then at hand, V̄ = CV + b̄rᵀ/s with C = (2/s)B̄ − 2λ̄I, and
// Ū = (L⁻ᵀC)V + L⁻ᵀb̄rᵀ/s is one product a block.
func (p *SparseProblem) backwardUniform(theta, beta, dTheta, dBeta []float64, dZ matrix.Dense) (float64, error) {
	e, s := p.e, p.seeds
	n := min(blockRows, e.n)
	noise, lambda := e.noise, s.shared
	c, g := linalg.Borrow(e.m, e.m), linalg.Borrow(e.m, e.m)
	barT := linalg.Borrow(e.m, n)
	defer linalg.Return(c, g, barT)
	for i := range e.m {
		linalg.ScaleTo(c.Row(i), 2/noise, s.B.Row(i))
		c.Row(i)[i] -= 2 * lambda
	}
	// G = Σ V̄_i V_iᵀ = s CA + b̄bᵀ
	linalg.Gemm(false, false, noise, c, e.a, 0, g)
	linalg.Ger(1, s.b, e.b, g)
	linalg.Trsm(true, true, e.l, c)
	lb := slices.Clone(s.b)
	linalg.Trsv(true, e.l, lb)

	meanBar, rPerNoise := make([]float64, n), make([]float64, n)
	scalars := []float64{linalg.Sum(s.d), s.noise}
	for t := range e.blocks() {
		i0, i1 := e.rows(t)
		v, err := e.v(t)
		if err != nil {
			return 0, err
		}
		k := i1 - i0
		linalg.Gemv(false, -1/noise, v, s.b, 0, meanBar[:k])
		for i := i0; i < i1; i++ {
			meanBar[i-i0] += s.mean[i] - s.r[i]
			rPerNoise[i-i0] = e.r[i] / noise
		}
		bt := matrix.Of(e.m, k, barT.Data[:e.m*k])
		linalg.Gemm(false, true, 1, c, v, 0, bt)
		linalg.Parallel(e.m, func(j int) { linalg.Axpy(lb[j], rPerNoise[:k], bt.Row(j)) })
		x, err := p.read(i0, i1)
		if err != nil {
			return 0, err
		}
		kernel.PullBlock(p.Kernel, theta, e.z, x, bt, dTheta, dZ)
		p.Kernel.PullDiag(theta, x, s.lambda[i0:i1], dTheta, matrix.Dense{})
		p.Mean.Pull(beta, x, meanBar[:k], dBeta)
	}
	if err := e.sum(nil, dTheta, dBeta, dZ.Data, scalars); err != nil {
		return 0, err
	}
	p.pullZZ(theta, g, dTheta, dZ)
	dBar := scalars[0] - (linalg.Dot(s.b, e.b)+linalg.Dot(s.B.Data, e.a.Data))/noise
	return noise * (scalars[1] + dBar), nil
}

// pullZZ pulls K̄_ZZ = −½ L⁻ᵀ sym(G) L⁻¹ back, and overwrites G.
func (p *SparseProblem) pullZZ(theta []float64, g matrix.Dense, dTheta []float64, dZ matrix.Dense) {
	e := p.e
	linalg.Trsm(true, true, e.l, g)
	linalg.Trsm(false, false, e.l, g)
	for i := range e.m {
		for j := range i + 1 {
			v := -0.25 * (g.At(i, j) + g.At(j, i))
			g.Set(i, j, v)
			g.Set(j, i, v)
		}
	}
	zBar := matrix.New(e.m, e.d)
	kernel.PullBlock(p.Kernel, theta, e.z, e.z, g, dTheta, zBar)
	for i := range e.m {
		linalg.Axpy(2, zBar.Row(i), dZ.Row(i))
	}
}

// Names returns the name of every parameter.
func (p *SparseProblem) Names() []string {
	names := parameterNames(p.Kernel, p.Mean)
	_, d := p.Rows.Dims()
	for i := range p.M {
		for j := range d {
			names = append(names, fmt.Sprintf("inducing[%d,%d]", i+1, j+1))
		}
	}
	if p.LearnAlpha {
		names = append(names, "alpha")
	}
	return names
}

// Posterior returns the sparse posterior (Reeb et al. 2018, Eqs. 9, 11) at x, with its
// own α, whatever the objective's.
func (p *SparseProblem) Posterior(x []float64, alpha float64) (*posterior.Posterior, error) {
	if err := p.prepare(); err != nil {
		return nil, err
	}
	e := p.e
	theta, beta, logNoise, z := p.Split(x)
	e.noise, e.alpha, e.z = math.Exp(logNoise), alpha, z
	if err := p.begin(theta, beta); err != nil {
		return nil, err
	}
	q := &posterior.Posterior{Kernel: p.Kernel, Theta: slices.Clone(theta), Mean: p.Mean, Beta: slices.Clone(beta), Noise: e.noise,
		Support: matrix.New(e.m, e.d), Weights: slices.Clone(e.mu), Chol: matrix.New(e.m, e.m), CholB: matrix.New(e.m, e.m)}
	q.Support.CopyFrom(z)
	q.Chol.CopyFrom(e.l)
	q.CholB.CopyFrom(e.lb)
	linalg.Trsv(true, q.Chol, q.Weights)
	if !linalg.Finite(q.Weights) {
		return nil, fmt.Errorf("the posterior's weights aren't finite: look for extreme values in the data, or use fewer inducing inputs")
	}
	return q, nil
}

// begin factors K_ZZ and runs the first pass.
func (p *SparseProblem) begin(theta, beta []float64) error {
	if err := p.factor(theta); err != nil {
		return err
	}
	return p.statistics(theta, beta)
}

// transpose fills t with aᵀ.
func transpose(a, t matrix.Dense) {
	const strip = 8 // elements of a cache line
	inChunks(a.Rows, func(_, r0, r1 int) {
		for i := r0; i < r1; i += strip {
			n := min(strip, r1-i)
			for j := range a.Cols {
				to := t.Data[j*t.Stride+i:][:n]
				for l := range to {
					to[l] = a.Data[(i+l)*a.Stride+j]
				}
			}
		}
	})
}
