package objective

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/krigo-gp/krigo/internal/linalg"
	"github.com/krigo-gp/krigo/internal/lists"
	"github.com/krigo-gp/krigo/kernel"
	"github.com/krigo-gp/krigo/matrix"
	"github.com/krigo-gp/krigo/pacbayes"
	"github.com/krigo-gp/krigo/posterior"
	"github.com/krigo-gp/krigo/ranks"
)

// FreeForm is an objective of a sparse posterior with a free q(f_Z) = N(a_M, B_MM) (Reeb et al.
// 2018, Eqs. 9, 10), which isn't tied to the parametrisation of Eq. 11.
// The objective is a function of the predictions at the rows, of KL(Q‖P), and of σ_n² if noisy.
type FreeForm interface {
	// noisy says whether σ_n² is a parameter.
	noisy() bool
	// evaluate returns the value for the predictions of a sample, kappa = ∂/∂KL and noiseBar =
	// ∂/∂σ_n². Unless g is nil, it fills g_i = ∂/∂m̂_i and h_i = ∂/∂σ̂²_i.
	// rows are the numbers of the sample's rows; nil means all rows.
	// total is the number of all rows, for which a batch stands.
	evaluate(s pacbayes.Sample, rows []int, total int, noise, kl float64, g, h []float64) (value,
		kappa, noiseBar float64, err error)
}

// natural is a FreeForm with natural-gradient steps of q.
type natural interface {
	// step makes the pass over the engine's rows, and moves q by a step of size rho.
	// q has the mean e.mu and the factor lq. Each row counts weight times.
	step(e *sparseEngine, lq matrix.Dense, rho, weight float64) error
}

// FreeFormProblem is a free-form objective for given rows, kernel and mean function.
// It is a function of [θ, β, ln σ_n² (if the objective is noisy), Z, ν, L'] with a gradient.
// q is whitened by L = chol(K_ZZ). With V_i = L⁻¹k(Z, x_i), λ_i = k(x_i,x_i) − ‖V_i‖²,
//
//	a_M = m(Z) + Lν,  B_MM = L S' Lᵀ,  S' = L'L'ᵀ
//	m̂_i = m(x_i) + V_iᵀν,  σ̂²_i = λ_i + ‖L'ᵀV_i‖²                             (9)
//	KL = ½[tr S' + νᵀν − M − ln|S'|]                                           (10)
//
// L' is lower triangular. The parameters hold it row by row, with the logarithms of its diagonal.
// With the adjoints g, h, κ of m̂, σ̂², KL, and H = Σ h_i V_i V_iᵀ:
//
//	ν̄ = Σ g_i V_i + κν
//	L̄' = tril(2HL') + κ(L' − diag(1/L'_jj));   d/dln L'_jj = L'_jj L̄'_jj
//	V̄_i = g_i ν + 2h_i S'V_i − 2h_i V_i,  λ̄_i = h_i
//
// The engine of SparseProblem pulls V̄_i and λ̄_i back. An evaluation takes O(NM²) time.
// It takes O(M² + block·M) memory, a few numbers a row, and N·M more numbers if Keep allows.
type FreeFormProblem struct {
	Kernel    kernel.Kernel
	Mean      kernel.Mean
	Rows      Rows
	M         int // number of inducing inputs
	Objective FreeForm
	Noise     float64 // σ_n² for Posterior, if the objective isn't noisy
	Keep      int64   // as in SparseProblem
	MinJitter float64 // added to the diagonal of K_ZZ even if K_ZZ can be factored as it is

	Ranks ranks.Ranks // as in SparseProblem; the row numbers of a batch run over all ranks

	Jitter float64 // added to K_ZZ by the last evaluation

	full, batch *sparseEngine
	lq          matrix.Dense    // L' at the last evaluation
	seeds       predictionSeeds // seeds with room for the rows of the largest evaluation so far
	kl          []float64
}

// FreeFormParts holds the parts of a parameter vector, or of a gradient.
// The parts share memory with the vector.
type FreeFormParts struct {
	Theta, Beta []float64
	LogNoise    []float64 // one entry, or empty if the objective isn't noisy
	Z           matrix.Dense
	Nu          []float64
	Chol        []float64 // L' row by row, ln L'_jj on the diagonal
}

// Dim returns the number of parameters.
func (p *FreeFormProblem) Dim() int { return p.own() + p.M + p.M*(p.M+1)/2 }

// own returns the index at which q's parameters begin.
func (p *FreeFormProblem) own() int {
	_, d := p.Rows.Dims()
	n := len(p.Kernel.Params()) + len(p.Mean.Params()) + p.M*d
	if p.Objective.noisy() {
		n++
	}
	return n
}

// Split cuts a parameter vector, or a gradient, into its parts.
func (p *FreeFormProblem) Split(x []float64) (f FreeFormParts) {
	_, d := p.Rows.Dims()
	take := func(n int) []float64 {
		part := x[:n:n]
		x = x[n:]
		return part
	}
	f.Theta, f.Beta = take(len(p.Kernel.Params())), take(len(p.Mean.Params()))
	if p.Objective.noisy() {
		f.LogNoise = take(1)
	}
	f.Z = matrix.Of(p.M, d, take(p.M*d))
	f.Nu, f.Chol = take(p.M), take(len(x))
	return f
}

// Names returns the name of every parameter.
func (p *FreeFormProblem) Names() []string {
	names := p.collapsed().Names()
	if g := len(p.Kernel.Params()) + len(p.Mean.Params()); !p.Objective.noisy() {
		names = slices.Delete(names, g, g+1)
	}
	names = append(names, lists.To(p.M, func(i int) string {
		return fmt.Sprintf("q_mean[%d]", i+1)
	})...)
	for i := range p.M {
		for j := range i {
			names = append(names, fmt.Sprintf("q_chol[%d,%d]", i+1, j+1))
		}
		names = append(names, fmt.Sprintf("log_q_chol[%d,%d]", i+1, i+1))
	}
	return names
}

// DiagonalIndex returns the index of ln L'_jj in a parameter vector.
func (p *FreeFormProblem) DiagonalIndex(j int) int { return p.own() + p.M + j*(j+1)/2 + j }

// collapsed returns a SparseProblem with the same rows, kernel, mean function and engine.
// Its parameters include the noise and leave out q.
func (p *FreeFormProblem) collapsed() *SparseProblem {
	return &SparseProblem{Kernel: p.Kernel, Mean: p.Mean, Rows: p.Rows, M: p.M, Keep: p.Keep,
		MinJitter: p.MinJitter, Ranks: p.Ranks, e: p.full}
}

// prepare returns the engine for all rows of this rank. The first call builds the engine.
func (p *FreeFormProblem) prepare() (e *sparseEngine, err error) {
	p.full, err = p.collapsed().prepare()
	return p.full, err
}

// factor computes L of an engine for the parameters.
func (p *FreeFormProblem) factor(e *sparseEngine, at FreeFormParts) error {
	err := e.factor(at.Theta, at.Z, p.MinJitter)
	p.Jitter = e.jitter
	return err
}

// Evaluate returns the objective at x and, unless gradient is nil, fills gradient.
func (p *FreeFormProblem) Evaluate(x, gradient []float64) (float64, error) {
	e, err := p.prepare()
	if err != nil {
		return math.NaN(), err
	}
	value, err := p.evaluate(e, x, gradient, nil, 0)
	return settle(over(p.Ranks), value, gradient, err)
}

// EvaluateBatch does what Evaluate does, on the rows with the given numbers, which stand for all
// rows. For SVGP and a batch drawn uniformly, it returns unbiased estimates of the value and the
// gradient. For FreePAC it returns the bound with the batch's risk (Reeb et al. 2018, Eq. 32,
// without its Hoeffding term). This is a biased heuristic for training, and never a certificate.
func (p *FreeFormProblem) EvaluateBatch(x, gradient []float64, rows []int) (float64, error) {
	return p.onBatch(x, gradient, rows, 0)
}

// StepBatch moves ν and L' in x by a natural-gradient step of size rho on the batch.
// Then it acts as EvaluateBatch at the new x, but leaves zeros in the gradient for ν and L'.
// Only SVGP has such steps (SVGP.step).
func (p *FreeFormProblem) StepBatch(x, gradient []float64, rows []int,
	rho float64) (float64, error) {
	if !(rho > 0 && rho <= 1) {
		return math.NaN(), fmt.Errorf("the natural-gradient step ρ is %v, but must be above 0 "+
			"and at most 1", rho)
	}
	return p.onBatch(x, gradient, rows, rho)
}

// Optimise moves ν and L' in x to SVGP's optimum for the other parameters, and returns the value
// there. It takes a natural-gradient step with ρ = 1 on all rows, which finds the optimum only if
// SVGP.Conjugate returns true.
func (p *FreeFormProblem) Optimise(x []float64) (float64, error) {
	e, err := p.prepare()
	if err != nil {
		return math.NaN(), err
	}
	return p.evaluate(e, x, nil, nil, 1)
}

// BatchRows returns the number of rows that batches are drawn from, or 0 if a rank has an error.
func (p *FreeFormProblem) BatchRows() int {
	e, err := p.prepare()
	if err != nil {
		return 0
	}
	return e.total
}

// onBatch evaluates the objective on a batch, after a natural-gradient step of size rho unless rho
// is 0.
// rows are numbers among the rows of all ranks. This rank evaluates the rows that it holds.
func (p *FreeFormProblem) onBatch(x, gradient []float64, rows []int, rho float64) (float64, error) {
	if len(rows) == 0 {
		return math.NaN(), errors.New("the batch has no rows")
	}
	all, err := p.prepare()
	if err != nil {
		return math.NaN(), err
	}
	// Batches have an engine of their own, with room for the largest batch so far.
	// Its keep lets V stay in memory between passes if the batch has up to blockRows rows.
	if p.batch == nil || len(p.batch.y) < len(rows) {
		p.batch = p.collapsed().engine(len(rows))
		p.batch.keep = max(p.Keep, int64(blockRows*p.M)*8)
	}
	own := rows
	if all.total > all.n {
		own, _ = ownRows(p.Rows, all.first, rows)
	}
	b := p.batch
	b.from = subset{p.Rows, own}
	b.n = len(own)
	b.total = len(rows)
	value, err := p.evaluate(b, x, gradient, own, rho)
	return settle(over(p.Ranks), value, gradient, err)
}

// evaluate returns the objective on the rows of the engine e, and fills gradient unless it is nil.
// rows are the numbers of e's rows; nil means all rows.
// If rho is above 0, it first moves ν and L' in x by a natural-gradient step of that size, and
// leaves zeros for ν and L' in the gradient.
func (p *FreeFormProblem) evaluate(e *sparseEngine, x, gradient []float64, rows []int,
	rho float64) (float64, error) {
	at := p.Split(x)
	if !noiseOf(p.Rows).Same() {
		return math.NaN(), errRowNoise
	}
	if p.lq.IsZero() {
		p.lq = matrix.New(p.M, p.M)
	}
	e.beta, e.noise = at.Beta, p.noise(at)
	if err := p.factor(e, at); err != nil {
		return math.NaN(), err
	}
	// The engine gets q from x: L' is in lq, and ν in e.mu.
	unpackFactor(at.Chol, p.lq)
	copy(e.mu, at.Nu)
	if rho > 0 {
		f, ok := p.Objective.(natural)
		if !ok {
			return math.NaN(), fmt.Errorf("%T has no natural-gradient steps; only "+
				"objective.SVGP has", p.Objective)
		}
		if err := f.step(e, p.lq, rho, float64(p.BatchRows())/float64(e.total)); err != nil {
			return math.NaN(), err
		}
		copy(at.Nu, e.mu)
		packFactor(p.lq, at.Chol)
	} else if err := e.pass(func(int, int, matrix.Dense) {}); err != nil {
		return math.NaN(), err
	}
	// h_i = L'ᵀV_i: its square is q's part of σ̂²_i (Eq. 9).
	if err := e.predict(func(v, h matrix.Dense) {
		linalg.Gemm(false, false, 1, v, p.lq, 0,
			h)
	}); err != nil {
		return math.NaN(), err
	}
	var g, h []float64
	if gradient != nil {
		if p.seeds.g == nil || len(p.seeds.g) < e.n { // a rank may have no row of a batch
			p.seeds = newPredictionSeeds(p.M, e.n)
		}
		g = p.seeds.g[:e.n]
		h = p.seeds.h[:e.n]
	}
	value, kappa, noiseBar, err := p.Objective.evaluate(e.sample(nil), rows, p.BatchRows(), e.noise,
		p.divergence(at), g, h)
	if err != nil {
		return math.NaN(), err
	}
	if math.IsNaN(value) || math.IsInf(value, 0) {
		return value, errors.New("the objective isn't finite: look for extreme values in the " +
			"data or in the posterior's covariance")
	}
	if gradient == nil {
		return value, nil
	}
	// The way back: Σ g_i V_i and H, then the rows through the kernel, then σ_n², ν and L'.
	if err := p.seeds.addUp(e); err != nil {
		return value, err
	}
	covariance := linalg.Borrow(p.M, p.M) // S'
	defer linalg.Return(covariance)
	linalg.SyrkLower(false, 1, p.lq, 0, covariance)
	linalg.MirrorLower(covariance)
	clear(gradient)
	d := p.Split(gradient)
	if err := e.backwardFree(&p.seeds, covariance,
		sparseAdjoints{d.Theta, d.Beta, d.Z}); err != nil {
		return value, err
	}
	if len(d.LogNoise) > 0 {
		d.LogNoise[0] = e.noise * noiseBar
	}
	if rho == 0 {
		p.pullQ(at, kappa, d)
	}
	if !linalg.Finite(gradient) {
		return value, errors.New("the gradient isn't finite: look for extreme values in the data " +
			"or in the posterior's covariance")
	}
	return value, nil
}

// noise returns σ_n².
func (p *FreeFormProblem) noise(at FreeFormParts) float64 {
	if len(at.LogNoise) > 0 {
		return math.Exp(at.LogNoise[0])
	}
	return p.Noise
}

// divergence returns KL = ½[‖ν‖² + Σ_{i>j} L'_ij² + Σ_j (e^{u_j} − 1 − u_j)] with u_j = ln L'_jj².
// No term of this sum is negative.
func (p *FreeFormProblem) divergence(at FreeFormParts) float64 {
	if len(p.kl) != p.M {
		p.kl = make([]float64, p.M)
	}
	for i, v := range at.Nu {
		row := at.Chol[i*(i+1)/2 : (i+1)*(i+2)/2]
		u := 2 * row[i]
		p.kl[i] = v*v + linalg.Dot(row[:i], row[:i]) + (math.Expm1(u) - u)
	}
	return linalg.Sum(p.kl) / 2
}

// pullQ fills the adjoints of ν and L' in d.
func (p *FreeFormProblem) pullQ(at FreeFormParts, kappa float64, d FreeFormParts) {
	copy(d.Nu, p.seeds.gStat)
	linalg.Axpy(kappa, at.Nu, d.Nu)
	bar := linalg.Borrow(p.M, p.M)
	defer linalg.Return(bar)
	linalg.Gemm(false, false, 2, p.seeds.hStat, p.lq, 0, bar)
	for i := range p.M {
		row := d.Chol[i*(i+1)/2 : (i+1)*(i+2)/2]
		l := p.lq.Row(i)[:i+1]
		copy(row, bar.Row(i))
		linalg.Axpy(kappa, l, row)
		row[i] = l[i]*row[i] - kappa
	}
}

// SetMoments sets ν and L' in x so that q is N(a_M, L_S L_Sᵀ) for the θ, β and Z in x.
// L_S (M×M) is lower triangular with a positive diagonal.
func (p *FreeFormProblem) SetMoments(x, aM []float64, ls matrix.Dense) error {
	at := p.Split(x)
	e, err := p.prepare()
	if err != nil {
		return err
	}
	if err := p.factor(e, at); err != nil {
		return err
	}
	// ν = L⁻¹(a_M − m(Z)), and L' = L⁻¹L_S.
	p.Mean.At(at.Beta, at.Z, at.Nu)
	linalg.Minus(aM, at.Nu)
	linalg.Trsv(false, e.l, at.Nu)
	lq := linalg.Borrow(p.M, p.M)
	defer linalg.Return(lq)
	lq.CopyFrom(ls)
	linalg.Trsm(true, false, e.l, lq)
	packFactor(lq, at.Chol)
	return nil
}

// MomentGradient changes the variables of a gradient from ν and L' to a_M = m(Z) + Lν and L_S =
// LL'. It returns the derivatives with respect to a_M and L_S (lower triangle).
// In gradient it adapts the derivatives with respect to θ, β and Z, which then hold a_M and L_S
// fixed. Call it right after Evaluate at the same x.
// From dν = −L⁻¹(dL ν + dm) and dL' = −L⁻¹dL L', L̄ gets −L⁻ᵀ(ν̄νᵀ + L̄'L'ᵀ), and K̄_ZZ follows as
// in backwardFree.
func (p *FreeFormProblem) MomentGradient(x,
	gradient []float64) (aBar []float64, lsBar matrix.Dense) {
	e := p.full
	at := p.Split(x)
	d := p.Split(gradient)
	// lsBar starts as L̄'. The gradient has its diagonal as derivatives by ln L'_jj.
	lsBar = matrix.New(e.m, e.m)
	for i := range e.m {
		row := lsBar.Row(i)
		copy(row[:i+1], d.Chol[i*(i+1)/2:])
		row[i] /= p.lq.At(i, i)
	}
	// g is the lower triangle of ν̄νᵀ + L̄'L'ᵀ, which pullZZ turns into K̄_ZZ.
	g := linalg.Borrow(e.m, e.m)
	defer linalg.Return(g)
	linalg.GemmLower(false, true, 1, lsBar, p.lq, 0, g)
	linalg.Ger(1, d.Nu, at.Nu, g)
	linalg.MirrorLower(g)
	e.pullZZ(g, d.Theta, d.Z)
	// ā_M = L⁻ᵀν̄ and L̄_S = L⁻ᵀL̄'. The prior mean m(Z) gets −ā_M.
	aBar = slices.Clone(d.Nu)
	linalg.Trsv(true, e.l, aBar)
	linalg.Trsm(true, true, e.l, lsBar)
	minus := make([]float64, e.m)
	linalg.ScaleTo(minus, -1, aBar)
	p.Mean.Pull(at.Beta, at.Z, minus, d.Beta)
	p.Mean.PullInputs(at.Beta, at.Z, minus, d.Z)
	return aBar, lsBar
}

// StartFrom returns parameters x (Dim numbers) whose q is the posterior of a collapsed objective.
// collapsed holds a SparseProblem's parameters [θ, β, ln σ_n², Z], without a learnt α.
// A collapsed objective has no parameters for q: with D = αλ + s, the rows determine q as N(μ, B⁻¹)
// in whitened coordinates (Reeb et al. 2018, Eq. 11).
// StartFrom computes this q in one pass over the rows, and writes it as ν = μ and L'L'ᵀ = B⁻¹.
// Predictions and KL are the same in both forms. From x on, training may move q freely.
// For SVGP with Gaussian noise, α = 0 gives the optimal q.
func (p *FreeFormProblem) StartFrom(collapsed []float64, alpha float64) ([]float64, error) {
	like := p.collapsed()
	e, err := like.begin(collapsed, alpha)
	if err != nil {
		return nil, err
	}
	p.full = e
	theta, beta, _, z := like.Split(collapsed)
	x := make([]float64, p.Dim())
	at := p.Split(x)
	copy(at.Theta, theta)
	copy(at.Beta, beta)
	copy(at.LogNoise, collapsed[len(theta)+len(beta):])
	at.Z.CopyFrom(z)
	copy(at.Nu, e.mu)
	b := linalg.Borrow(e.m, e.m)
	l := matrix.New(e.m, e.m)
	defer linalg.Return(b)
	// B = I + A, and L' is the factor of B⁻¹.
	b.CopyFrom(e.a)
	b.AddDiagonal(1)
	if err := inverseFactor(b, l); err != nil {
		return nil, fmt.Errorf("the posterior's covariance can't be factored (%w): raise the "+
			"noise variance", err)
	}
	packFactor(l, at.Chol)
	return x, nil
}

// Posterior returns the posterior with the q in x: B = S'⁻¹ and weights L⁻ᵀν.
func (p *FreeFormProblem) Posterior(x []float64) (*posterior.Posterior, error) {
	e, err := p.prepare()
	if err != nil {
		return nil, err
	}
	at := p.Split(x)
	if err := p.factor(e, at); err != nil {
		return nil, err
	}
	chol := matrix.New(e.m, e.m)
	cholB := matrix.New(e.m, e.m)
	z := matrix.New(e.m, e.d)
	z.CopyFrom(at.Z)
	chol.CopyFrom(e.l)
	l := matrix.New(e.m, e.m)
	s := matrix.New(e.m, e.m)
	unpackFactor(at.Chol, l)
	linalg.SyrkLower(false, 1, l, 0, s)
	if err := inverseFactor(s, cholB); err != nil {
		return nil, fmt.Errorf("the posterior's covariance can't be inverted (%w)", err)
	}
	return posterior.NewInducing(posterior.Posterior{Kernel: p.Kernel,
		Theta: slices.Clone(at.Theta), Mean: p.Mean, Beta: slices.Clone(at.Beta),
		Noise: p.noise(at), Support: z}, slices.Clone(at.Nu), chol, cholB)
}

// unpackFactor writes L' to l, with zeros above the diagonal.
func unpackFactor(packed []float64, l matrix.Dense) {
	for i := range l.Rows {
		row := l.Row(i)
		copy(row, packed[i*(i+1)/2:(i+1)*(i+2)/2])
		row[i] = math.Exp(row[i])
		clear(row[i+1:])
	}
}

// packFactor does the reverse of unpackFactor.
func packFactor(l matrix.Dense, packed []float64) {
	for i := range l.Rows {
		row := packed[i*(i+1)/2 : (i+1)*(i+2)/2]
		copy(row, l.Row(i))
		row[i] = math.Log(row[i])
	}
}

// inverseFactor writes the lower triangular l with l lᵀ = A⁻¹.
// It reads the lower triangle of the symmetric A.
// With J the matrix that reverses the order of rows and J A J = L̃L̃ᵀ, l = J L̃⁻ᵀ J.
// So it doesn't form the inverse of A.
func inverseFactor(a, l matrix.Dense) error {
	n := a.Rows
	t := linalg.Borrow(n, n)
	defer linalg.Return(t)
	for i := range n {
		for j := range i + 1 {
			t.Set(n-1-j, n-1-i, a.At(i, j))
		}
	}
	if err := linalg.Cholesky(t); err != nil {
		return err
	}
	linalg.TriangularInverse(t)
	for i := range n {
		row := l.Row(i)
		for j := range i + 1 {
			row[j] = t.At(n-1-j, n-1-i)
		}
		clear(row[i+1:])
	}
	return nil
}

// FreePAC is a training objective: a PAC-Bayes bound on the risk of a free-form sparse posterior
// (Reeb et al. 2018, Eqs. 5, 9, 10). On a batch it takes the batch's risk for the risk of all rows,
// which is a heuristic for training.
//
// As with PAC, the value at hyperparameters off the grid is no certificate.
type FreePAC struct {
	Loss    pacbayes.Loss
	Bound   pacbayes.Inequality
	Penalty float64
	// |raw target| of all rows, in the scaled units of y, for relative losses; else nil
	Scale []float64

	scale []float64
}

func (f *FreePAC) noisy() bool { return false }

// evaluate implements FreeForm. The bound counts total rows, also if the risk is a batch's.
// On a batch it picks the scales of the batch's rows, whose numbers are rows.
func (f *FreePAC) evaluate(s pacbayes.Sample, rows []int, total int, _, kl float64, g,
	h []float64) (value, kappa, noiseBar float64, err error) {
	s.Scale = f.Scale
	if f.Scale != nil && rows != nil {
		f.scale = f.scale[:0]
		for _, i := range rows {
			f.scale = append(f.scale, f.Scale[i])
		}
		s.Scale = f.scale
	}
	risk, err := s.Risk(f.Loss, g, h)
	if err != nil {
		return math.NaN(), 0, 0, err
	}
	value, dRisk, kappa := f.Bound.Evaluate(risk, kl, f.Penalty, total)
	if g != nil {
		linalg.Scale(dRisk, g)
		linalg.Scale(dRisk, h)
	}
	return value, kappa, 0, nil
}
