package objective

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/krigo-gp/krigo/internal/linalg"
	"github.com/krigo-gp/krigo/internal/neighbours"
	"github.com/krigo-gp/krigo/kernel"
	"github.com/krigo-gp/krigo/matrix"
	"github.com/krigo-gp/krigo/posterior"
	"github.com/krigo-gp/krigo/ranks"
)

// RenyiProblem is −L_α for given rows, kernel and mean function, where L_α is the α-ELBO of the
// Rényi GP (Yue & Kontar, "The Rényi Gaussian Process", Eq. 2;
// "Optimize to Generalize in Gaussian Processes", Eq. 6).
// It is a function of [θ, β, ln σ_n², Z row by row] with a gradient.
// With t = 1−α, Q = K_XZ K_ZZ⁻¹K_ZX, R = K_XX − Q,
//
//	Ξ = sI + tK_XX + αQ,  A = I + (t/s)R
//	L_α = −½(N ln 2π + ln|Ξ| + rᵀΞ⁻¹r) − (α/(2t)) ln|A|
//
// At α = 0, L_α is the log evidence. As α → 1, the last term tends to −tr R/(2s), and L_α to the
// bound of variational inference (VFE). L_α doesn't increase in α.
// It is a lower bound of the log evidence for 0 ≤ α ≤ 1, and an upper bound for α < 0.
// For α < 0 and fewer inducing inputs than rows, it grows without limit as s falls to 0, so nothing
// trains on it.
// This α runs the other way from the α of power EP:
// variational inference is α = 1 here and α = 0 there.
//
// With w = Ξ⁻¹r, G = ½(Ξ⁻¹ − wwᵀ), P = K_ZZ⁻¹K_ZX the adjoints of −L_α are
//
//	K̄_XX = tG + (α/(2s))A⁻¹,  Q̄ = αG − (α/(2s))A⁻¹,  s̄ = tr G − (α/(2s²)) tr(A⁻¹R)
//	K̄_ZX = 2PQ̄,  K̄_ZZ = −PQ̄Pᵀ,  m̄ = −w
//
// No adjoint divides by t. Time O(N³ + N²M + M³), memory O(N² + NM + M²).
// With batches, N is the rows of a batch.
type RenyiProblem struct {
	Kernel kernel.Kernel
	Mean   kernel.Mean
	Rows   Rows
	M      int     // number of inducing inputs; 0 only if α is always 0
	Alpha  float64 // α, at most 1
	// Schedule, unless nil, returns α for the share of the run that is done:
	// 0 at the first step, 1 at the last.
	Schedule func(share float64) float64

	// MinJitter is added to the diagonal of K_ZZ even if K_ZZ can be factored as it is.
	MinJitter float64

	// If Ranks isn't nil, each rank has its own Rows.
	// The row numbers of a batch run over all ranks.
	// Every rank gets all rows of a batch and does the same work, so ranks save memory, not time.
	Ranks ranks.Ranks

	Jitter float64 // added to K_ZZ by the last evaluation

	// index of this rank's first row, and the count of all ranks' rows; unknown while total is 0
	first, total int

	work *renyiWork

	inputs matrix.Dense      // inputs of this rank's rows, which the first Search reads
	index  *neighbours.Index // index of inputs, in the lengthscales of the last Search
}

// renyiWork holds the matrices of one evaluation on n rows. For α = 0 only k and c have room.
type renyiWork struct {
	x          matrix.Dense // the rows
	y, w       []float64
	sums       []float64
	k, c, q, d matrix.Dense // n×n
	v, p       matrix.Dense // n×M: v is K_XZ L⁻ᵀ, and p is K_XZ K_ZZ⁻¹
	u          matrix.Dense // M×n: K̄_ZX
	l, zz      matrix.Dense // M×M: chol(K_ZZ + jitter I), K̄_ZZ
}

// room returns workspaces for n rows. They are parts of the last workspaces if the last workspaces
// are large enough.
func (p *RenyiProblem) room(n int) *renyiWork {
	e := p.work
	_, d := p.Rows.Dims()
	if e == nil || len(e.w) < n {
		vec := func() []float64 { return make([]float64, n) }
		x := newRows(p.Rows, p.Ranks, n, d)
		e = &renyiWork{x: x, y: vec(), w: vec(), sums: vec(), k: x.Like(n, n), c: x.Like(n, n)}
		p.work = e
	}
	if m := p.M; p.Alpha != 0 && e.v.IsZero() {
		n := len(e.w)
		like := e.x.Like
		e.q, e.d = like(n, n), like(n, n)
		e.v, e.p, e.u = like(n, m), like(n, m), like(m, n)
		e.l, e.zz = like(m, m), like(m, m)
	}
	// A smaller batch uses the first entries of vectors and the upper left corners of matrices.
	part := *e
	part.x = e.x.RowRange(0, n)
	part.y = e.y[:n]
	part.w = e.w[:n]
	part.sums = e.sums[:n]
	part.k, part.c = e.k.View(0, n, 0, n), e.c.View(0, n, 0, n)
	if !e.v.IsZero() {
		part.q, part.d = e.q.View(0, n, 0, n), e.d.View(0, n, 0, n)
		part.v, part.p, part.u = e.v.RowRange(0, n), e.p.RowRange(0, n), e.u.View(0, p.M, 0, n)
	}
	return &part
}

// Dim returns the number of parameters.
func (p *RenyiProblem) Dim() int { return dim(p.Kernel, p.Mean, p.Rows, p.M) }

// Split cuts a parameter vector, or a gradient, into its parts.
func (p *RenyiProblem) Split(x []float64) (theta, beta []float64, logNoise float64,
	z matrix.Dense) {
	return split(p.Kernel, p.Mean, p.Rows, p.M, x)
}

// Names returns the name of every parameter.
func (p *RenyiProblem) Names() []string {
	return (&SparseProblem{Kernel: p.Kernel, Mean: p.Mean, Rows: p.Rows, M: p.M}).Names()
}

// BatchRows returns the number of rows that batches are drawn from, or 0 if a rank has an error.
func (p *RenyiProblem) BatchRows() int {
	if p.total == 0 {
		n, _ := p.Rows.Dims()
		var err error
		if p.first, p.total, err = ranks.Place(over(p.Ranks), n); err != nil {
			return 0
		}
	}
	return p.total
}

// pick reads the rows with the given numbers, in the given order, into x and y on every rank.
func (p *RenyiProblem) pick(rows []int, x, y []float64) error {
	r := over(p.Ranks)
	if r.Size() == 1 {
		return p.Rows.Pick(rows, x, y)
	}
	_, d := p.Rows.Dims()
	p.BatchRows()
	clear(x)
	clear(y)
	own, at := ownRows(p.Rows, p.first, rows)
	part := matrix.New(len(own), d+1)
	err := p.Rows.Pick(own, part.Data[:len(own)*d], part.Data[len(own)*d:])
	if err := r.Agree(err); err != nil {
		return err
	}
	for k, i := range at {
		copy(x[i*d:(i+1)*d], part.Data[k*d:])
		y[i] = part.Data[len(own)*d+k]
	}
	return r.Sum(x, y)
}

// SetProgress sets α to Schedule's value for the share of the run that is done.
func (p *RenyiProblem) SetProgress(share float64) {
	if p.Schedule != nil {
		p.Alpha = p.Schedule(share)
	}
}

// Search makes the index for Nearest, in the lengthscales at x.
// The index holds all inputs of this rank in memory.
func (p *RenyiProblem) Search(x []float64) error {
	n, d := p.Rows.Dims()
	var err error
	if p.inputs.IsZero() {
		p.inputs = newRows(p.Rows, p.Ranks, n, d)
		err = p.Rows.Block(0, n, p.inputs.Data, make([]float64, n))
	}
	theta, _, _, _ := p.Split(x)
	p.index = neighbours.New(p.Kernel, theta, p.inputs)
	return over(p.Ranks).Agree(err)
}

// Nearest fills rows with the given row and its nearest rows, in ascending order.
// It uses the index of the last Search.
// Each rank searches its own rows. Chen, Zheng, Al Kontar, Raskutti, "Stochastic gradient descent
// in correlated settings", NeurIPS 2020, train on such batches.
func (p *RenyiProblem) Nearest(row int, rows []int) error {
	if p.index == nil {
		return errors.New("call Search before Nearest")
	}
	r := over(p.Ranks)
	m := len(rows)
	n := p.BatchRows() // sets p.first, too
	if m > n {
		return fmt.Errorf("a batch of %d rows is larger than the data, which have %d rows", m, n)
	}
	_, d := p.Rows.Dims()
	centre := matrix.New(1, d)
	if err := p.pick([]int{row}, centre.Data, make([]float64, 1)); err != nil {
		return err
	}
	// Each rank finds the m nearest of its own rows. It writes their keys, which rise with the
	// distance, and their numbers to its part of found. The other parts are 0, so the sum over
	// ranks gathers all.
	own := make([]int32, m)
	found := make([]float64, 2*m*r.Size())
	keys := found[2*m*r.Rank():][:m]
	numbers := found[2*m*r.Rank()+m:][:m]
	p.index.Nearest(centre, m, own, keys)
	places := placesOf(p.Rows)
	for i, k := range own {
		switch {
		case k == neighbours.None:
			numbers[i] = neighbours.None
		case places != nil:
			numbers[i] = float64(places[k])
		default:
			numbers[i] = float64(p.first + int(k))
		}
	}
	if err := r.Sum(found); err != nil {
		return err
	}
	type neighbour struct {
		key float64
		row int
	}
	var all []neighbour
	for at := 0; at < len(found); at += 2 * m {
		for i, key := range found[at:][:m] {
			if k := int(found[at+m+i]); k == row {
				// the row itself comes before its copies
				all = append(all, neighbour{math.Inf(-1), k})
			} else if k != neighbours.None {
				all = append(all, neighbour{key, k})
			}
		}
	}
	// Equal keys are sorted by number, so that all ranks get the same rows.
	slices.SortFunc(all, func(a, b neighbour) int {
		return cmp.Or(cmp.Compare(a.key, b.key), cmp.Compare(a.row, b.row))
	})
	near := rows[:0]
	for _, k := range all[:min(m, len(all))] {
		near = append(near, k.row)
	}
	// the row has more copies than the batch has rows
	if len(near) == m && !slices.Contains(near, row) {
		near[m-1] = row
	}
	// no row is near if the row's covariances aren't numbers
	for k := row; len(near) < m; k = (k + 1) % n {
		if !slices.Contains(near, k) {
			near = append(near, k)
		}
	}
	slices.Sort(rows)
	return nil
}

// Evaluate returns −L_α at x and, unless gradient is nil, fills gradient.
func (p *RenyiProblem) Evaluate(x, gradient []float64) (float64, error) {
	e, err := p.whole()
	if err != nil {
		return math.NaN(), err
	}
	value, err := p.evaluate(e, x, gradient, 1)
	return settle(over(p.Ranks), value, gradient, err)
}

// EvaluateBatch returns N/|rows| times what Evaluate returns on the rows with the given numbers.
// Algorithm 1 of "Optimize to Generalize in Gaussian Processes" takes this gradient.
// L_α isn't a sum over rows, so the estimate is biased. The estimate serves for training.
// It is not a value of L_α, and it is no bound.
func (p *RenyiProblem) EvaluateBatch(x, gradient []float64, rows []int) (float64, error) {
	if len(rows) == 0 {
		return math.NaN(), errors.New("the batch has no rows")
	}
	e := p.room(len(rows))
	if err := p.pick(rows, e.x.Data, e.y); err != nil {
		return math.NaN(), err
	}
	value, err := p.evaluate(e, x, gradient, float64(p.BatchRows())/float64(len(rows)))
	return settle(over(p.Ranks), value, gradient, err)
}

// whole returns workspaces for all rows, and reads the rows into them.
func (p *RenyiProblem) whole() (*renyiWork, error) {
	n := p.BatchRows()
	e := p.room(n)
	return e, p.readAll(e.x.Data, e.y)
}

// readAll reads all rows on every rank.
func (p *RenyiProblem) readAll(x, y []float64) error {
	n := p.BatchRows()
	if over(p.Ranks).Size() == 1 {
		return p.Rows.Block(0, n, x, y)
	}
	return p.pick(linalg.UpTo(n), x, y)
}

// evaluate returns weight times −L_α of the rows in e, and fills gradient unless it is nil.
func (p *RenyiProblem) evaluate(e *renyiWork, x, gradient []float64,
	weight float64) (float64, error) {
	if !noiseOf(p.Rows).Same() {
		return math.NaN(), errRowNoise
	}
	if !(p.Alpha <= 1) {
		return math.NaN(), fmt.Errorf("α is %v, but the α-ELBO needs α ≤ 1", p.Alpha)
	}
	if p.Alpha != 0 && p.M < 1 {
		return math.NaN(), errors.New("an α-ELBO with α ≠ 0 needs at least one inducing input")
	}
	at := p.at(x)
	value, err := p.forward(e, at)
	if err != nil {
		return math.NaN(), err
	}
	value *= weight
	if err := finite(value, nil, at.s); err != nil || gradient == nil {
		return value, err
	}
	clear(gradient)
	p.backward(e, at, gradient)
	linalg.Scale(weight, gradient)
	return value, finite(value, gradient, at.s)
}

// renyiPoint is a parameter vector with its α.
type renyiPoint struct {
	kernel kernel.Bound // k_θ
	beta   []float64
	s      float64
	z      matrix.Dense
	alpha  float64
}

// at splits x into its parts, with the present α.
func (p *RenyiProblem) at(x []float64) renyiPoint {
	theta, beta, logNoise, z := split(p.Kernel, p.Mean, p.Rows, p.M, x)
	return renyiPoint{kernel.At(p.Kernel, theta), beta, math.Exp(logNoise), z, p.Alpha}
}

// parts fills w with r, and k with K_XX. For α ≠ 0 it fills k with R and q with Q.
// Of symmetric matrices it fills the lower triangle.
func (p *RenyiProblem) parts(e *renyiWork, at renyiPoint) error {
	n := len(e.w)
	at.kernel.FillTriangle(e.x, e.k)
	p.Mean.At(at.beta, e.x, e.w)
	linalg.Minus(e.y, e.w)
	p.Jitter = 0
	if at.alpha == 0 {
		return nil
	}
	var err error
	if p.Jitter, err = posterior.FactorInducing(at.kernel, at.z, p.MinJitter, e.l); err != nil {
		return err
	}
	at.kernel.Fill(e.x, at.z, e.v)
	linalg.Trsm(false, true, e.l, e.v)
	linalg.SyrkLower(false, 1, e.v, 0, e.q)
	eachRow(n, func(i int) { linalg.Axpy(-1, e.q.Row(i)[:i+1], e.k.Row(i)[:i+1]) })
	for i := range n {
		// this is a variance, which only rounding can make negative
		e.k.Set(i, i, max(e.k.At(i, i), 0))
	}
	return nil
}

// eachRow calls f for the rows of a triangle, spread over cores.
func eachRow(n int, f func(i int)) { linalg.Each(n, 32, f) }

// ofA and ofXi name the matrices A and Ξ in errors.
const (
	ofA  = "matrix I + (1−α)/σ_n² (K − Q)"
	ofXi = "matrix σ_n² I + (1−α)K + αQ"
)

// forward returns −L_α. It leaves R (for α = 0 K_XX) in k, chol(Ξ) in c, w = Ξ⁻¹r in w and, for 0 ≠
// α < 1, A⁻¹ in d.
func (p *RenyiProblem) forward(e *renyiWork, at renyiPoint) (float64, error) {
	if err := p.parts(e, at); err != nil {
		return 0, err
	}
	s := at.s
	alpha := at.alpha
	t := 1 - alpha
	penalty := 0.0
	if alpha != 0 {
		logDet, err := factorShifted(e.k, t/s, e.c, e.sums)
		if err != nil {
			return 0, unfactored(ofA, s, err)
		}
		// logDet is (s/t) ln|A|, so this is (α/(2t)) ln|A|.
		penalty = alpha / (2 * s) * logDet
		if t > 0 {
			linalg.CholeskyInverseLower(e.c, e.d)
		}
		e.fillXi(alpha, s)
	} else {
		e.c.CopyFrom(e.k)
		e.c.AddDiagonal(s)
	}
	if err := linalg.Cholesky(e.c); err != nil {
		return 0, unfactored(ofXi, s, err)
	}
	linalg.Trsv(false, e.c, e.w)
	quad := linalg.Dot(e.w, e.w)
	linalg.Trsv(true, e.c, e.w)
	return 0.5*(float64(len(e.w))*math.Log(2*math.Pi)+linalg.LogDet(e.c)+quad) + penalty, nil
}

// fillXi writes Ξ = sI + Q + tR to the lower triangle of c.
func (e *renyiWork) fillXi(alpha, s float64) {
	eachRow(len(e.w), func(i int) {
		row := e.c.Row(i)[:i+1]
		copy(row, e.q.Row(i))
		linalg.Axpy(1-alpha, e.k.Row(i)[:i+1], row)
		row[i] += s
	})
}

// factorShifted fills c with the Cholesky factor of I + τE, and returns (1/τ) ln|I + τE|, or its
// limit tr E for τ = 0.
// It reads the lower triangle of the symmetric E.
// The pivots of the factorisation are 1 + e_j with e_j = τE_jj − Σ_{k<j} L_jk².
// So Σ ln(1 + e_j) keeps its relative accuracy however small τE is.
func factorShifted(e matrix.Dense, tau float64, c matrix.Dense, sums []float64) (float64, error) {
	for i := range e.Rows {
		sums[i] = e.At(i, i)
	}
	if tau == 0 {
		return linalg.Sum(sums), nil
	}
	eachRow(e.Rows, func(i int) {
		row := c.Row(i)[:i+1]
		copy(row, e.Row(i))
		linalg.Scale(tau, row)
		row[i]++
	})
	if err := linalg.Cholesky(c); err != nil {
		return 0, err
	}
	for i := range e.Rows {
		row := c.Row(i)[:i]
		sums[i] = math.Log1p(tau*sums[i]-linalg.Dot(row, row)) / tau
	}
	return linalg.Sum(sums), nil
}

// backward adds the gradient of −L_α to gradient, from the matrices that forward has left.
func (p *RenyiProblem) backward(e *renyiWork, at renyiPoint, gradient []float64) {
	dTheta, dBeta, _, dZ := split(p.Kernel, p.Mean, p.Rows, p.M, gradient)
	n := len(e.w)
	s := at.s
	alpha := at.alpha
	t := 1 - alpha
	sums := linalg.Borrow(2, n)
	defer linalg.Return(sums)
	g := e.q
	traces := sums.Row(0)
	products := sums.Row(1)
	if alpha == 0 {
		g = e.k
	}
	// g becomes G = ½(Ξ⁻¹ − wwᵀ), whose lower triangle counts.
	linalg.CholeskyInverseLower(e.c, g)
	eachRow(n, func(i int) {
		gi := g.Row(i)[:i+1]
		linalg.Scale(0.5, gi)
		linalg.Axpy(-0.5*e.w[i], e.w[:i+1], gi)
		traces[i], products[i] = gi[i], 0
		if alpha == 0 {
			return
		}
		// K̄_XX overwrites A⁻¹ in d, and Q̄ overwrites the factor of Ξ in c.
		inv := e.d.Row(i)[:i+1]
		q := e.c.Row(i)[:i+1]
		if t == 0 {
			clear(inv)
			inv[i] = 1
		}
		r := e.k.Row(i)[:i+1]
		products[i] = 2*linalg.Dot(inv, r) - inv[i]*r[i]
		linalg.Scale(alpha/(2*s), inv)
		copy(q, gi)
		linalg.Scale(alpha, q)
		linalg.Axpy(-1, inv, q)
		linalg.Axpy(t, gi, inv)
	})
	kBar := g
	if alpha != 0 {
		kBar = e.d
		linalg.MirrorLower(e.c) // Q̄
		// p becomes Pᵀ = K_XZ K_ZZ⁻¹, u becomes K̄_ZX = 2PQ̄, and zz becomes K̄_ZZ = −PQ̄Pᵀ.
		e.p.CopyFrom(e.v)
		linalg.Trsm(false, false, e.l, e.p)
		linalg.Gemm(true, false, 2, e.p, e.c, 0, e.u)
		linalg.GemmLower(false, false, -0.5, e.u, e.p, 0, e.zz)
		linalg.MirrorLower(e.zz)
		at.kernel.Pull(at.z, e.x,
			kernel.Adjoint{K: e.u, Gradient: kernel.Gradient{Theta: dTheta, Inputs: dZ}})
		pullSelf(at.kernel, at.z, e.zz, dTheta, dZ)
	}
	at.kernel.PullSymmetric(e.x, kBar, dTheta)
	gradient[len(dTheta)+len(dBeta)] = s * (linalg.Sum(traces) - alpha/(2*s*s)*linalg.Sum(products))
	linalg.ScaleTo(traces, -1, e.w)
	p.Mean.Pull(at.beta, e.x, traces, dBeta)
}

// Posterior returns the posterior that goes with L_α at x.
// For α = 0 it is the exact posterior of all rows, with which "Optimize to Generalize in Gaussian
// Processes", Sect. 5.3, predicts. For 0 < α ≤ 1 it is p(f|U) with the optimal q*(U) ∝
// p_α(y|U)^{1/(1−α)} p(U) (Eq. 5 of that paper).
// Eq. 5 of "The Rényi Gaussian Process" gives the same posterior, but misprints A = K_*Z
// K_ZZ⁻¹K_ZX. In whitened coordinates U = m(Z) + Lν, with S = sI + tR and V = L⁻¹K_ZX,
//
//	q*(ν) = N(μ, B⁻¹),  B = I + V S⁻¹Vᵀ,  μ = B⁻¹V S⁻¹r
//
// This is the posterior of Reeb et al. 2018, Eq. 11, with the full matrix S in place of the
// diagonal matrix D.
func (p *RenyiProblem) Posterior(x []float64) (*posterior.Posterior, error) {
	at := p.at(slices.Clone(x))
	q := posterior.Posterior{Kernel: p.Kernel, Theta: slices.Clip(at.kernel.Theta),
		Mean: p.Mean, Beta: slices.Clip(at.beta), Noise: at.s}
	if p.Alpha == 0 {
		p.work = nil // free its matrices before the posterior needs memory
		n := p.BatchRows()
		_, d := p.Rows.Dims()
		rows := newRows(p.Rows, p.Ranks, n, d)
		y := make([]float64, n)
		if err := p.readAll(rows.Data, y); err != nil {
			return nil, err
		}
		return posterior.NewExact(posterior.Given{Kernel: q.Kernel, Theta: q.Theta, Mean: q.Mean,
			Beta: q.Beta, Noise: q.Noise, X: rows, Y: y})
	}
	if !(p.Alpha > 0 && p.Alpha <= 1) {
		return nil, fmt.Errorf("α is %v, but an optimal q(U) needs 0 ≤ α ≤ 1", p.Alpha)
	}
	e, err := p.whole()
	if err != nil {
		return nil, err
	}
	if err := p.parts(e, at); err != nil {
		return nil, err
	}
	o, err := e.optimal(p.Alpha, at.s)
	if err != nil {
		return nil, err
	}
	q.Support = at.z
	p.work = nil // the workspace's l belongs to the posterior now
	return posterior.NewInducing(q, o.mu, e.l, o.cholB)
}

// whitened is a Gaussian q(ν) = N(μ, B⁻¹).
type whitened struct {
	mu    []float64
	cholB matrix.Dense
}

// optimal returns q*. It reads V, R and r from v, k and w, and overwrites c, p and sums.
func (e *renyiWork) optimal(alpha, s float64) (whitened, error) {
	q := whitened{make([]float64, e.v.Cols), e.v.Like(e.v.Cols, e.v.Cols)}
	h := e.p
	r := e.sums // A⁻½V, A⁻½r
	if _, err := factorShifted(e.k, (1-alpha)/s, e.c, e.sums); err != nil {
		return q, unfactored(ofA, s, err)
	}
	h.CopyFrom(e.v)
	copy(r, e.w)
	if alpha < 1 {
		linalg.Trsm(true, false, e.c, h)
		linalg.Trsv(false, e.c, r)
	}
	linalg.SyrkLower(true, 1/s, h, 0, q.cholB)
	q.cholB.AddDiagonal(1)
	if err := linalg.Cholesky(q.cholB); err != nil {
		return q, unfactored("matrix I + V S⁻¹Vᵀ", s, err)
	}
	linalg.Gemv(true, 1/s, h, r, 0, q.mu)
	linalg.CholeskySolve(q.cholB, q.mu)
	return q, nil
}
