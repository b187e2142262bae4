// Package iterative solves linear systems with covariance matrices that are never stored, and estimates their
// log-determinants, by conjugate gradients (Gardner et al. 2018, "GPyTorch: Blackbox Matrix-Matrix Gaussian Process
// Inference with GPU Acceleration"; Wang et al. 2019, "Exact Gaussian Processes on a Million Data Points").
//
// Notation: X (N×d) inputs, s = σ_n² the noise variance, A = k_θ(X,X) + sI, P a
// preconditioner. Right-hand sides stand side by side as the columns of an N×t matrix.
//
// What comes from random probes is an estimate with a standard error. It is never a
// bound, and no certificate may rest on it.
package iterative

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/krigo-gp/krigo/internal/linalg"
	"github.com/krigo-gp/krigo/kernel"
	"github.com/krigo-gp/krigo/matrix"
	"github.com/krigo-gp/krigo/ranks"
)

// Covariance is A = k_θ(X,X) + sI, known by its products alone.
type Covariance struct {
	Kernel kernel.Kernel
	Theta  []float64 // natural logarithms
	X      matrix.Dense
	Noise  float64 // s
}

// Times sets out ← A V. Every pair of rows is visited once, tile by tile; nothing of A's size is stored.
func (c Covariance) Times(v, out matrix.Dense) {
	kernel.At(c.Kernel, c.Theta).TimesSymmetric(c.X, v, out)
	for i := range out.Rows {
		linalg.Axpy(c.Noise, v.Row(i), out.Row(i))
	}
}

// Shared is Times, of which every rank computes a part, for ranks that all have X and V: they add
// the parts up, and fail is told where they can't.
func (c Covariance) Shared(r ranks.Ranks, fail func(error)) func(v, out matrix.Dense) {
	if r.Size() == 1 {
		return c.Times
	}
	return func(v, out matrix.Dense) {
		kernel.At(c.Kernel, c.Theta).Part(r.Rank(), r.Size()).TimesSymmetric(c.X, v, out)
		if err := r.Sum(out.Data); err != nil {
			fail(err)
		}
		for i := range out.Rows {
			linalg.Axpy(c.Noise, v.Row(i), out.Row(i))
		}
	}
}

// roughNoise is the noise variance, relative to K's largest and to √N, under which what float32 does to K may be more
// than the noise lifts its eigenvalues: rounding errors of 6e-8 an entry are a matrix of norm near 1e-7 √N.
const roughNoise = 1e-6

// Rough is Times in float32 (kernel.TimesSingle), for Solver.Rough; nil where kernel or
// machine have none, or the noise is too small for it.
func (c Covariance) Rough() func(v, out matrix.Dense) {
	diag := make([]float64, c.X.Rows)
	c.Kernel.Diag(c.Theta, c.X, diag)
	if !kernel.HasSingle(c.Kernel) || c.Noise < roughNoise*slices.Max(diag)*math.Sqrt(float64(len(diag))) {
		return nil
	}
	return func(v, out matrix.Dense) {
		kernel.At(c.Kernel, c.Theta).TimesSingle(c.X, v, out)
		for i := range out.Rows {
			linalg.Axpy(c.Noise, v.Row(i), out.Row(i))
		}
	}
}

// Preconditioner is P = F Fᵀ + D with D diagonal, and F of few columns or none. Its
// inverse is applied by Woodbury's formula,
//
//	P⁻¹ = D⁻¹ − D⁻¹F B⁻¹FᵀD⁻¹,  B = I + FᵀD⁻¹F = L_B L_Bᵀ,  ln|P| = ln|B| + ln|D|.
type Preconditioner struct {
	d     []float64
	f     matrix.Dense // N×m; the zero Matrix if m = 0
	cholB matrix.Dense
}

// Diagonal returns P = diag A.
func Diagonal(c Covariance) *Preconditioner {
	p := &Preconditioner{d: make([]float64, c.X.Rows)}
	c.Kernel.Diag(c.Theta, c.X, p.d)
	for i := range p.d {
		p.d[i] += c.Noise
	}
	return p
}

// PivotedCholesky returns P = V Vᵀ + sI with V the partial Cholesky factor of K of the
// given rank with the greatest pivots first, or of a lower rank where nothing is left
// (Gardner et al. 2018, Sect. 4.1). Time O(N rank²), memory N×rank.
//
// D = diag(K − V Vᵀ) + sI, whose diagonal is A's, takes half as many iterations again.
func PivotedCholesky(c Covariance, rank int) (*Preconditioner, error) {
	f := NewPivoting(c.Kernel, c.Theta, c.X, min(rank, c.X.Rows))
	for len(f.Rows) < f.V.Cols && len(f.Extend(f.V.Cols-len(f.Rows))) > 0 {
	}
	return lowRank(f.V.View(0, c.X.Rows, 0, len(f.Rows)), c.Noise)
}

// Nystrom returns P = K_XZ K_ZZ⁻¹K_ZX + sI for inducing inputs Z. It fails where K_ZZ can't be factored.
func Nystrom(c Covariance, z matrix.Dense) (*Preconditioner, error) {
	l, f := matrix.New(z.Rows, z.Rows), matrix.New(c.X.Rows, z.Rows)
	kernel.At(c.Kernel, c.Theta).FillSymmetric(z, l)
	if err := linalg.Cholesky(l); err != nil {
		return nil, err
	}
	kernel.At(c.Kernel, c.Theta).Fill(c.X, z, f)
	linalg.Trsm(false, true, l, f)
	return lowRank(f, c.Noise)
}

// lowRank keeps f.
func lowRank(f matrix.Dense, noise float64) (*Preconditioner, error) {
	p := &Preconditioner{d: slices.Repeat([]float64{noise}, f.Rows)}
	if f.Cols == 0 {
		return p, nil
	}
	p.f, p.cholB = f, matrix.New(f.Cols, f.Cols)
	linalg.SyrkLower(true, 1/noise, f, 0, p.cholB)
	p.cholB.AddDiagonal(1)
	return p, linalg.Cholesky(p.cholB)
}

// Rank is the number of columns of F.
func (p *Preconditioner) Rank() int { return p.f.Cols }

// Rank is the rank of a preconditioner that pays on n rows: doubling it saves about a third of the
// iterations, and costs more than that once building takes as long as some of them.
func Rank(n int) int { return min(max(n/8, 32), 1000) }

// Solve sets Z ← P⁻¹R.
func (p *Preconditioner) Solve(r, z matrix.Dense) {
	if p.f.Cols == 0 {
		z.CopyFrom(r)
		p.divide(z)
		return
	}
	low := linalg.Borrow(p.f.Cols, r.Cols)
	z.CopyFrom(r)
	p.divide(z)
	linalg.Gemm(true, false, 1, p.f, z, 0, low)
	linalg.Trsm(true, false, p.cholB, low)
	linalg.Trsm(true, true, p.cholB, low)
	z.CopyFrom(r)
	linalg.Gemm(false, false, -1, p.f, low, 1, z)
	p.divide(z)
	linalg.Return(low)
}

// divide sets Z ← D⁻¹Z.
func (p *Preconditioner) divide(z matrix.Dense) {
	for i, d := range p.d {
		linalg.Scale(1/d, z.Row(i))
	}
}

// LogDet is ln|P|, exact.
func (p *Preconditioner) LogDet() float64 {
	logs := make([]float64, len(p.d))
	linalg.Log(logs, p.d)
	l := linalg.Sum(logs)
	if p.f.Cols > 0 {
		l += linalg.LogDet(p.cholB)
	}
	return l
}

// Probes returns N×count draws from N(0, P), one a column, as D^½ ε₁ + F ε₂.
func (p *Preconditioner) Probes(count int, rng *rand.Rand) matrix.Dense {
	z, low := matrix.New(len(p.d), count), matrix.New(p.f.Cols, count)
	for i, d := range p.d {
		root, row := math.Sqrt(d), z.Row(i)
		for j := range row {
			row[j] = root * rng.NormFloat64()
		}
	}
	if p.f.Cols > 0 {
		for i := range low.Data {
			low.Data[i] = rng.NormFloat64()
		}
		linalg.Gemm(false, false, 1, p.f, low, 1, z)
	}
	return z
}
