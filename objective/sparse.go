package objective

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/krigo-gp/krigo/internal/linalg"
	"github.com/krigo-gp/krigo/kernel"
	"github.com/krigo-gp/krigo/matrix"
	"github.com/krigo-gp/krigo/posterior"
	"github.com/krigo-gp/krigo/ranks"
)

// Sparse is an objective of K_ZZ, K_ZX and diag K_XX in the parametrisation of Reeb et al. 2018,
// Eq. 11, with a prior mean added. With D = αλ + s,
//
//	B = I + V D⁻¹Vᵀ = L_B L_Bᵀ,  b = V D⁻¹r,  μ = B⁻¹b,  V = L⁻¹K_ZX,  λ = diag(K_XX − VᵀV).
//
// Every such objective is a function of B, b and sums over rows of terms in D_i, λ_i and r_i.
// One engine that streams the rows (SparseProblem) therefore serves them all.
// An objective gives its value, and the adjoints of B, b, D_i, λ_i and r_i.
type Sparse interface {
	// alpha returns α in D = αλ + s: 0 for VFE and DTC, 1 for FITC, a number between for power EP.
	alpha() float64
	// evaluate returns the value and, unless seeds is nil, fills seeds.
	// It may call e.predict to get the predictions at the training rows.
	evaluate(e *sparseEngine, seeds *sparseSeeds) (float64, error)
}

// SparseProblem is a sparse objective for given rows, kernel and mean function.
// It is a function of [θ, β, ln σ_n², Z row by row, α if LearnAlpha] with a gradient.
// An evaluation takes O(NM²) time. It takes O(M² + block·M) memory, a few numbers a row, and N·M
// more numbers if Keep allows.
type SparseProblem struct {
	Kernel    kernel.Kernel
	Mean      kernel.Mean
	Rows      Rows
	M         int // number of inducing inputs
	Objective Sparse
	// V is kept between passes if it takes at most this many bytes; a larger V is computed again
	Keep int64

	// Ranks, unless nil, evaluate the objective of all rows together. Each rank has its own Rows.
	// Sums over rows are summed over ranks, and every rank does the rest of the work.
	Ranks ranks.Ranks

	// MinJitter is added to the diagonal of K_ZZ even if K_ZZ can be factored as it is.
	MinJitter float64

	// LearnAlpha makes α in D = αλ + s the last parameter, in [0, 1], instead of the objective's
	// own α. It is meant for SparsePAC.
	LearnAlpha bool

	Jitter float64 // added to K_ZZ by the last evaluation

	e     *sparseEngine
	seeds *sparseSeeds
	// batches maps a number of rows to the workspaces for batches of that size.
	batches map[int]*SparseProblem
}

// Dim returns the number of parameters.
func (p *SparseProblem) Dim() int {
	n := dim(p.Kernel, p.Mean, p.Rows, p.M)
	if p.LearnAlpha {
		n++
	}
	return n
}

// dim returns the number of entries of [θ, β, ln σ_n², Z row by row].
func dim(k kernel.Kernel, mean kernel.Mean, rows Rows, m int) int {
	_, d := rows.Dims()
	return len(k.Params()) + len(mean.Params()) + 1 + m*d
}

// Alpha returns the α of D = αλ + s at x.
func (p *SparseProblem) Alpha(x []float64) float64 {
	if p.LearnAlpha {
		return x[len(x)-1]
	}
	return p.Objective.alpha()
}

// Split cuts a parameter vector, or a gradient, into the parts for θ, β, ln σ_n² and Z.
// It leaves out a learnt α.
func (p *SparseProblem) Split(x []float64) (theta, beta []float64, logNoise float64,
	z matrix.Dense) {
	return split(p.Kernel, p.Mean, p.Rows, p.M, x)
}

// split cuts x, which dim describes, into its parts.
func split(k kernel.Kernel, mean kernel.Mean, rows Rows, m int,
	x []float64) (theta, beta []float64, logNoise float64, z matrix.Dense) {
	nk := len(k.Params())
	nm := len(mean.Params())
	_, d := rows.Dims()
	return x[:nk], x[nk : nk+nm], x[nk+nm], matrix.Of(m, d, x[nk+nm+1:nk+nm+1+m*d])
}

// prepare returns the engine for all rows of this rank. The first call builds the engine.
func (p *SparseProblem) prepare() (*sparseEngine, error) {
	if p.e == nil {
		n, _ := p.Rows.Dims()
		if p.M < 1 {
			return nil, fmt.Errorf("a sparse GP needs at least one inducing input")
		}
		first, total, err := ranks.Place(over(p.Ranks), n)
		if err != nil {
			return nil, err
		}
		p.e = p.engine(n)
		p.e.first = first
		p.e.total = total
	}
	p.e.from = p.Rows // EvaluateBatch changes Rows
	return p.e, nil
}

// engine returns an engine with room for n rows.
func (p *SparseProblem) engine(n int) *sparseEngine {
	_, d := p.Rows.Dims()
	e := &sparseEngine{stream: newStream(p.Rows, p.Ranks, n, d),
		inducingFactor: inducingFactor{kernel: p.Kernel}, prior: p.Mean, keep: p.Keep}
	e.room(p.M, n)
	return e
}

// begin factors K_ZZ at x and runs the first pass, with the given α.
func (p *SparseProblem) begin(x []float64, alpha float64) (*sparseEngine, error) {
	e, err := p.prepare()
	if err != nil {
		return nil, err
	}
	theta, beta, logNoise, z := p.Split(x)
	e.beta, e.noise, e.alpha, e.each = beta, math.Exp(logNoise), alpha, noiseOf(p.Rows)
	err = e.factor(theta, z, p.MinJitter)
	p.Jitter = e.jitter
	if err != nil {
		return nil, err
	}
	return e, e.statistics()
}

// Evaluate returns the objective at x and, unless gradient is nil, fills gradient.
func (p *SparseProblem) Evaluate(x, gradient []float64) (float64, error) {
	value, err := p.evaluate(x, gradient)
	return settle(over(p.Ranks), value, gradient, err)
}

// evaluate does what Evaluate does, before the ranks agree on the result.
func (p *SparseProblem) evaluate(x, gradient []float64) (float64, error) {
	e, err := p.begin(x, p.Alpha(x))
	if err != nil {
		return math.NaN(), err
	}
	var seeds *sparseSeeds
	if gradient != nil {
		if p.seeds == nil {
			p.seeds = newSparseSeeds(e.m, e.n)
		}
		seeds = p.seeds.reset()
	}
	value, err := p.Objective.evaluate(e, seeds)
	if err != nil {
		return value, err
	}
	if err := finite(value, nil, e.noise); err != nil || gradient == nil {
		return value, err
	}
	clear(gradient)
	dTheta, dBeta, _, dZ := p.Split(gradient)
	// noise is the derivative by ln s.
	noise, err := e.backward(seeds, sparseAdjoints{dTheta, dBeta, dZ})
	if err != nil {
		return value, err
	}
	gradient[len(dTheta)+len(dBeta)] = noise
	if p.LearnAlpha {
		gradient[len(gradient)-1] = seeds.alpha
	}
	return value, finite(value, gradient, e.noise)
}

// BatchRows returns the number of rows that batches are drawn from.
func (p *SparseProblem) BatchRows() int {
	n, _ := p.Rows.Dims()
	return n
}

// EvaluateBatch returns N/|rows| times what Evaluate returns on the rows with the given numbers.
// Neither the energies nor the bounds are sums over rows, so the estimate is biased.
// It serves for training, and is never a certificate.
func (p *SparseProblem) EvaluateBatch(x, gradient []float64, rows []int) (float64, error) {
	if len(rows) == 0 {
		return math.NaN(), errors.New("the batch has no rows")
	}
	if over(p.Ranks).Size() > 1 {
		return math.NaN(), errors.New("this objective can't train on batches with several ranks: " +
			"use one rank, or all rows")
	}
	b := p.batches[len(rows)]
	if b == nil {
		b = new(SparseProblem)
		*b = *p
		b.Keep = math.MaxInt64
		b.e = nil
		b.seeds = nil
		b.batches = nil
		if p.batches == nil {
			p.batches = map[int]*SparseProblem{}
		}
		p.batches[len(rows)] = b // an epoch has batches of at most two sizes
	}
	b.Rows = subset{p.Rows, rows}
	b.Objective = p.Objective
	value, err := b.Evaluate(x, gradient)
	p.Jitter = b.Jitter
	weight := float64(p.BatchRows()) / float64(len(rows))
	linalg.Scale(weight, gradient)
	return weight * value, err
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

// Posterior returns the sparse posterior (Reeb et al. 2018, Eqs. 9, 11) at x.
// It takes the given α, not the objective's.
func (p *SparseProblem) Posterior(x []float64, alpha float64) (*posterior.Posterior, error) {
	e, err := p.begin(x, alpha)
	if err != nil {
		return nil, err
	}
	theta, beta, _, z := p.Split(x)
	l := matrix.New(e.m, e.m)
	lb := matrix.New(e.m, e.m)
	at := matrix.New(e.m, e.d)
	l.CopyFrom(e.l)
	lb.CopyFrom(e.lb)
	at.CopyFrom(z)
	return posterior.NewInducing(posterior.Posterior{Kernel: p.Kernel, Theta: slices.Clone(theta),
		Mean: p.Mean, Beta: slices.Clone(beta), Noise: e.noise, Support: at}, slices.Clone(e.mu), l,
		lb)
}
