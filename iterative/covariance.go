// Package iterative solves linear systems with covariance matrices that are never stored, and
// estimates their log-determinants, by conjugate gradients (Gardner et al. 2018, "GPyTorch:
// Blackbox Matrix-Matrix Gaussian Process Inference with GPU Acceleration";
// Wang et al. 2019, "Exact Gaussian Processes on a Million Data Points").
//
// This program solves a system with the covariance matrix of 1,000 points, which it never stores:
//
//	package main
//
//	import (
//		"context"
//		"fmt"
//		"log"
//
//		"github.com/krigo-gp/krigo/iterative"
//		"github.com/krigo-gp/krigo/kernel"
//		"github.com/krigo-gp/krigo/matrix"
//	)
//
//	func main() {
//		const n = 1000
//		x, b, w := matrix.New(n, 1), matrix.New(n, 1), matrix.New(n, 1)
//		for i := range n {
//			x.Set(i, 0, float64(i)/100)
//			b.Set(i, 0, 1)
//		}
//		a := iterative.Covariance{Kernel: kernel.SE(1, false), Theta: []float64{0, 0}, X: x, Noise: 0.1}
//		p, err := iterative.PivotedCholesky(a, 10)
//		if err != nil {
//			log.Fatal(err)
//		}
//		s, err := iterative.Solver{Times: a.Times, Preconditioner: p}.Solve(context.Background(), b, w)
//		if err != nil {
//			log.Fatal(err)
//		}
//		fmt.Println("few iterations:", s.Iterations < 20, "small residual:", s.Residual < 1e-6)
//		// Output:
//		// few iterations: true small residual: true
//	}
//
// Notation: X (N×d) inputs, s = σ_n² the noise variance, A = k_θ(X,X) + sI, P a preconditioner.
// Right-hand sides are the columns of an N×t matrix.
//
// A result from random probes is an estimate with a standard error.
// It is never a bound, and no certificate may depend on it.
package iterative

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/krigo-gp/krigo/internal/linalg"
	"github.com/krigo-gp/krigo/internal/lists"
	"github.com/krigo-gp/krigo/internal/radial"
	"github.com/krigo-gp/krigo/kernel"
	"github.com/krigo-gp/krigo/matrix"
	"github.com/krigo-gp/krigo/ranks"
)

// Covariance is A = k_θ(X,X) + sI, through its products alone.
type Covariance struct {
	Kernel kernel.Kernel
	Theta  []float64 // natural logarithms
	X      matrix.Dense
	Noise  float64 // s
	// Noises, unless nil, are the rows' own noise variances, in place of s on the diagonal of A.
	Noises []float64
}

// Times sets out ← A V. It visits every pair of rows once, tile by tile, and stores nothing of A's
// size.
func (c Covariance) Times(v, out matrix.Dense) { c.Shared(ranks.Alone{}, nil)(v, out) }

// Shared returns Times for ranks that all have X and V.
// Every rank computes a part, and the ranks add the parts up. If the ranks can't add them up, it
// calls fail.
func (c Covariance) Shared(r ranks.Ranks, fail func(error)) func(v, out matrix.Dense) {
	return c.shared(kernel.Bound.TimesSymmetric, r, fail)
}

// shared returns Shared with times as the kernel's product.
func (c Covariance) shared(times func(at kernel.Bound, x, v, out matrix.Dense), r ranks.Ranks,
	fail func(error)) func(v, out matrix.Dense) {
	return func(v, out matrix.Dense) {
		times(kernel.At(c.Kernel, c.Theta).Part(r.Rank(), r.Size()), c.X, v, out)
		if r.Size() > 1 {
			if err := r.Sum(out.Data); err != nil {
				fail(err)
			}
		}
		for i := range out.Rows {
			linalg.Axpy(c.noise(i), v.Row(i), out.Row(i))
		}
	}
}

// noise returns the noise variance of row i.
func (c Covariance) noise(i int) float64 {
	return lists.At(c.Noises, i, c.Noise)
}

// roughNoise limits Rough. The noise variance, relative to K's largest entry and to √N, must be
// above it. Otherwise float32 may change K by more than the noise lifts the eigenvalues of K,
// because rounding errors of 6e-8 per entry make a matrix of norm near 1e-7 √N.
const roughNoise = 1e-6

// Rough returns Shared in float32 (kernel.TimesSingle), for Solver.Rough.
// It returns nil if the kernel or the machine has no float32 products, or if the noise is too small
// for float32.
func (c Covariance) Rough(r ranks.Ranks, fail func(error)) func(v, out matrix.Dense) {
	diag := make([]float64, c.X.Rows)
	c.Kernel.Diag(c.Theta, c.X, diag)
	least := c.Noise
	if c.Noises != nil {
		least = slices.Min(c.Noises)
	}
	if !kernel.HasSingle(c.Kernel) ||
		least < roughNoise*slices.Max(diag)*math.Sqrt(float64(len(diag))) {
		return nil
	}
	return c.shared(kernel.Bound.TimesSingle, r, fail)
}

// Preconditioner is P = F Fᵀ + D, where D is diagonal and F has few columns or none.
// Its inverse is applied by Woodbury's formula:
//
//	P⁻¹ = D⁻¹ − D⁻¹F B⁻¹FᵀD⁻¹,  B = I + FᵀD⁻¹F = L_B L_Bᵀ,  ln|P| = ln|B| + ln|D|.
type Preconditioner struct {
	d     []float64
	f     matrix.Dense // an N×m matrix; the zero Matrix if m = 0
	cholB matrix.Dense
}

// Diagonal returns P = diag A.
func Diagonal(c Covariance) *Preconditioner {
	p := &Preconditioner{d: make([]float64, c.X.Rows)}
	c.Kernel.Diag(c.Theta, c.X, p.d)
	for i := range p.d {
		p.d[i] += c.noise(i)
	}
	return p
}

// PivotedCholesky returns P = V Vᵀ + sI. V is the partial Cholesky factor of K with the given rank,
// the greatest pivots first (Gardner et al. 2018, Sect. 4.1). The rank is lower if nothing is left.
// It takes O(N rank²) time, and memory for N×rank numbers.
//
// With D = diag(K − V Vᵀ) + sI, so that P has A's diagonal, solves would take 1.5 times as many
// iterations.
func PivotedCholesky(c Covariance, rank int) (*Preconditioner, error) {
	f := NewPivoting(c.Kernel, c.Theta, c.X, min(rank, c.X.Rows))
	for len(f.Rows) < f.V.Cols && len(f.Extend(f.V.Cols-len(f.Rows))) > 0 {
	}
	return lowRank(f.V.View(0, c.X.Rows, 0, len(f.Rows)), c)
}

// Nystrom returns P = K_XZ K_ZZ⁻¹K_ZX + sI for inducing inputs Z.
// It returns an error if K_ZZ can't be factored.
func Nystrom(c Covariance, z matrix.Dense) (*Preconditioner, error) {
	l := matrix.New(z.Rows, z.Rows)
	f := matrix.New(c.X.Rows, z.Rows)
	kernel.At(c.Kernel, c.Theta).FillSymmetric(z, l)
	if err := linalg.Cholesky(l); err != nil {
		return nil, err
	}
	kernel.At(c.Kernel, c.Theta).Fill(c.X, z, f)
	linalg.Trsm(false, true, l, f)
	return lowRank(f, c)
}

// lowRank returns P = F Fᵀ + sI, or F Fᵀ plus the rows' own noise. It keeps f.
func lowRank(f matrix.Dense, c Covariance) (*Preconditioner, error) {
	p := &Preconditioner{d: slices.Repeat([]float64{c.Noise}, f.Rows)}
	if c.Noises != nil {
		p.d = c.Noises
	}
	if f.Cols == 0 {
		return p, nil
	}
	p.f, p.cholB = f, matrix.New(f.Cols, f.Cols)
	if c.Noises != nil {
		linalg.SyrkScaled(f, lists.Of(c.Noises, func(v float64) float64 {
			return 1 / v
		}), 0, p.cholB)
	} else {
		linalg.SyrkLower(true, 1/c.Noise, f, 0, p.cholB)
	}
	p.cholB.AddDiagonal(1)
	return p, linalg.Cholesky(p.cholB)
}

// Rank returns the number of columns of F.
func (p *Preconditioner) Rank() int { return p.f.Cols }

// Rank returns a rank for the preconditioner that pays on n rows.
// Iterations fall about as 1/rank, and take n² time.
// Building P takes n·rank² time, so the best rank grows as √n.
// On 8,000 rows of kin40k (se) a solve to 1e-4 took 60 iterations at rank 1,000, 37 at 1,500 and 14
// at 3,000. With the building 1,500 took the least time (matern32: 1,000 to 1,500).
// Training, which keeps P for several evaluations, gains more from large ranks.
// F takes at most 1.6 GB, or rank 1,000.
func Rank(n int) int {
	return min(max(n/4, 32), int(16*math.Sqrt(float64(n))), max(2e8/max(n, 1), 1000))
}

// Solve sets Z ← P⁻¹R.
func (p *Preconditioner) Solve(r, z matrix.Dense) {
	if p.f.Cols == 0 {
		z.CopyFrom(r)
		p.divide(z)
		return
	}
	w := radial.Width()
	cols := (r.Cols + w - 1) / w * w
	wide := linalg.Borrow(r.Rows, cols)
	low := linalg.Borrow(p.f.Cols, cols)
	wide.Zero()
	low.Zero()
	narrow := wide.View(0, r.Rows, 0, r.Cols)
	narrow.CopyFrom(r)
	p.divide(narrow)
	p.apply(true, wide, low)
	linalg.Trsm(true, false, p.cholB, low)
	linalg.Trsm(true, true, p.cholB, low)
	linalg.Scale(-1, low.Data)
	narrow.CopyFrom(r)
	p.apply(false, low, wide)
	z.CopyFrom(narrow)
	p.divide(z)
	linalg.Return(wide, low)
}

// A block of F that apply reads at a time fits the second cache level.
const applyRows, applyCols = 128, 256

// apply adds F V to out, or Fᵀ V. For few columns of V reading F takes the time, and Gemm would
// pack all of F first.
func (p *Preconditioner) apply(transpose bool, v, out matrix.Dense) {
	block := func(i, ie, j, je int) {
		k := p.f.View(i, ie, j, je)
		rows := [2]int{i, ie}
		cols := [2]int{j, je}
		// A task owns rows of out, and goes through F in blocks that stay in a core's cache.
		if transpose {
			rows, cols = cols, rows
		}
		radial.Apply(transpose, k, v.RowRange(cols[0], cols[1]), out.RowRange(rows[0], rows[1]))
	}
	if transpose {
		linalg.Blocks(p.f.Cols, applyCols, func(j, je int) {
			for i, ie := range lists.Blocks(p.f.Rows, applyRows) {
				block(i, ie, j, je)
			}
		})
		return
	}
	linalg.Blocks(p.f.Rows, applyRows, func(i, ie int) {
		for j, je := range lists.Blocks(p.f.Cols, applyCols) {
			block(i, ie, j, je)
		}
	})
}

// divide sets Z ← D⁻¹Z.
func (p *Preconditioner) divide(z matrix.Dense) {
	for i, d := range p.d {
		linalg.Scale(1/d, z.Row(i))
	}
}

// LogDet returns ln|P|, which is exact.
func (p *Preconditioner) LogDet() float64 {
	logs := make([]float64, len(p.d))
	linalg.Log(logs, p.d)
	l := linalg.Sum(logs)
	if p.f.Cols > 0 {
		l += linalg.LogDet(p.cholB)
	}
	return l
}

// Probes returns an N×count matrix whose columns are draws from N(0, P), as D^½ ε₁ + F ε₂.
func (p *Preconditioner) Probes(count int, rng *rand.Rand) matrix.Dense {
	z := matrix.New(len(p.d), count)
	low := matrix.New(p.f.Cols, count)
	for i, d := range p.d {
		root := math.Sqrt(d)
		row := z.Row(i)
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
