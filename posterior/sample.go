package posterior

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/krigo-gp/krigo/internal/linalg"
	"github.com/krigo-gp/krigo/internal/lists"
	"github.com/krigo-gp/krigo/iterative"
	"github.com/krigo-gp/krigo/kernel"
	"github.com/krigo-gp/krigo/matrix"
	"github.com/krigo-gp/krigo/memory"
)

const (
	// jointRows is the largest number of rows that are drawn with a factor of their covariance
	// matrix.
	jointRows = 1000

	// drawFeatures is the number of features of a draw of the prior.
	// With a stationary kernel, the excess kurtosis of a draw's marginals is 1.5/1024.
	drawFeatures = 1024

	// drawsTogether is the number of draws that are conditioned at once.
	drawsTogether = 64

	// stream of the random generators; each draw has its own generator
	sampleStream = 0x73616d706c650000
)

// Draws say how functions are drawn. The same seed draws the same functions.
type Draws struct {
	Seed    uint64
	Solve   Iterative
	Stretch float64 // factor of a draw's distance from the mean; 0: 1
}

// Sample writes joint draws of f, without noise, at the rows of x. Each column of out is a draw.
// The same seed gives the same draws on any number of cores, and more columns begin with the same
// draws, up to rounding and the residuals that o leaves.
//
// Up to 1,000 rows of a factored posterior are drawn with a factor of their covariance matrix.
// More rows, and rows of a posterior by conjugate gradients, are drawn by conditioning draws of the
// prior, which are made of random features (Matheron's rule;
// Wilson et al. 2020, "Efficiently Sampling Functions from Gaussian Process Posteriors", and 2021,
// "Pathwise Conditioning of Gaussian Processes"). With f₀ ~ P and ε ~ N(0, I),
//
//	f(x) = m̂(x) + f₀(x) − k(x,X) C⁻¹ (f₀(X) + √s ε)        exact
//	f(x) = m̂(x) + f₀(x) − k(x,Z) L⁻ᵀ (L⁻¹f₀(Z) − L_B⁻ᵀε)   sparse
//
// If the prior is itself a posterior (Prior), f₀ is drawn by conditioning, too.
//
// Every draw has its own features. So draws have the posterior's mean and covariance, up to
// residuals. A single draw is Gaussian up to an excess kurtosis of about 0.1 % (see kernel.Draw).
// (If all draws shared their features, the features' covariance would replace k.)
//
// Sample returns an error for a posterior of the nearest rows, which has no joint distribution, and
// for a kernel without random features. Other errors are *iterative.Stalled and ctx's.
func (p *Posterior) Sample(ctx context.Context, x, out matrix.Dense, d Draws) (err error) {
	defer matrix.Ended(&err)
	x = x.Until(ctx)
	if err := p.Drawable(); err != nil {
		return err
	}
	mean := make([]float64, x.Rows)
	p.Latent(x, mean, nil)
	if p.Joint() == nil && x.Rows <= jointRows {
		if err := p.sampleJoint(ctx, x, mean, out, d.Seed); err != nil {
			return err
		}
	} else if err := p.samplePathwise(ctx, x, out, d.Seed, d.Solve); err != nil {
		return err
	}
	for i, m := range mean {
		row := out.Row(i)
		for j, off := range row {
			row[j] = m + cmp.Or(d.Stretch, 1)*off
		}
	}
	return nil
}

// sampleSource returns the random numbers of one draw. They depend on the seed and the draw's
// number alone, so that more draws leave the first ones as they are.
func sampleSource(seed uint64, draw int) *rand.Rand {
	return rand.New(rand.NewPCG(seed, sampleStream+uint64(draw)))
}

// sampleJoint draws from N(0, Σ), where Σ is the covariance matrix of a factored posterior at x.
// It factors Σ with the greatest pivots first, and stops when no pivot is left, because Σ is
// singular to working precision for rows close to each other. A row whose variance overflows gets the
// mean NaN, and takes no part in Σ.
func (p *Posterior) sampleJoint(ctx context.Context, x matrix.Dense, mean []float64,
	out matrix.Dense, seed uint64) error {
	n := x.Rows
	cov, err := p.jointCovariance(x)
	if err != nil {
		return err
	}
	for i := range mean {
		if !linalg.Finite([]float64{mean[i], cov.At(i, i)}) {
			mean[i] = math.NaN()
			for j := range n {
				cov.Set(i, j, 0)
				cov.Set(j, i, 0)
			}
		}
	}
	diag := lists.To(n, func(i int) float64 { return max(cov.At(i, i), 0) })
	f := iterative.NewPartialCholesky(diag, n)
	// A pivoted Cholesky factorisation, Σ ≈ V Vᵀ, one column at a time.
	for range n {
		if err := ctx.Err(); err != nil {
			return err
		}
		pivot := 0
		for i, left := range f.Left {
			if left > f.Left[pivot] {
				pivot = i
			}
		}
		if f.Left[pivot] <= 0 {
			break
		}
		f.Add(pivot, func(r0, r1 int, column matrix.Dense) {
			copy(column.Data,
				cov.Row(pivot)[r0:r1])
		})
	}
	rngs := lists.To(out.Cols, func(j int) *rand.Rand { return sampleSource(seed, j) })
	e := normals(len(f.Rows), rngs)
	out.Zero()
	// V e has covariance V Vᵀ for standard normal e.
	if e.Rows > 0 {
		linalg.Gemm(false, false, 1, f.V.View(0, n, 0, e.Rows), e, 0, out)
	}
	return nil
}

// Covariance returns the covariance matrix of f, without noise, at the rows of x, for a factored
// posterior. Rounding may push its diagonal below 0. Any other error is ctx's.
func (p *Posterior) Covariance(ctx context.Context, x matrix.Dense) (cov matrix.Dense, err error) {
	defer matrix.Ended(&err)
	if err := p.HasCovariance(); err != nil {
		return matrix.Dense{}, err
	}
	return p.jointCovariance(x.Until(ctx))
}

// HasCovariance returns nil if p has a Covariance, else the reason.
func (p *Posterior) HasCovariance() error {
	if err := p.Drawable(); err != nil {
		return err
	}
	if p.Joint() != nil {
		return fmt.Errorf("a posterior solved by %s has no covariances at hand: ask for samples, "+
			"or fit one with --solver %s, or with inducing inputs", p.Kind(), ByCholesky)
	}
	return nil
}

// JointBytes returns the memory, in bytes, of a joint covariance matrix of the given number of
// rows, and of draws at these rows. It counts the covariances with their factor, the covariances
// with the support (also of a posterior that is the prior), and the draws.
func (p *Posterior) JointBytes(rows, draws int) int64 {
	n := int64(rows)
	k := int64(draws)
	support := int64(p.Standing())
	if p.Joint() == nil {
		return 8 * (4*n*n + n*support + 3*n*k)
	}
	return 8 * (3*n*k + drawsTogether*8*support)
}

// Standing returns the number of rows of p's support.
// If p's prior is itself a posterior, the rows of that posterior's support are added.
func (p *Posterior) Standing() int {
	rows := p.Support.Rows
	if prior, _ := p.OfPrior(); prior != nil {
		rows += prior.Support.Rows
	}
	return rows
}

// jointCovariance returns the n×n covariance matrix of f at the rows of x under Q. It first asks
// for the memory, and fails if there isn't enough.
func (p *Posterior) jointCovariance(x matrix.Dense) (matrix.Dense, error) {
	// twice, since the caller holds it in another form too
	if err := memory.Afford(fmt.Sprintf("the joint covariance of %d rows", x.Rows),
		8*float64(x.Rows)*(2*float64(x.Rows)+float64(p.Support.Rows))); err != nil {
		return matrix.Dense{}, err
	}
	cov := x.Like(x.Rows, x.Rows)
	k := kernel.At(p.Kernel, p.Theta)
	// A kernel measures points about their mean, and beside a row far outside all others would
	// lose their digits. So each row is then measured about itself.
	if slices.ContainsFunc(x.Data, func(v float64) bool { return math.Abs(v) > 1e4 }) {
		for i := range x.Rows {
			k.Fill(x, x.View(i, i+1, 0, x.Cols), cov.View(0, x.Rows, i, i+1))
		}
	} else {
		k.FillSymmetric(x, cov)
	}
	if p.Support.Rows > 0 {
		u := x.Like(x.Rows, p.Support.Rows)
		k.Fill(x, p.Support, u)
		p.explain(u, cov)
		linalg.MirrorLower(cov)
	}
	return cov, nil
}

// samplePathwise writes draws minus the posterior's mean (see Sample).
func (p *Posterior) samplePathwise(ctx context.Context, x, out matrix.Dense, seed uint64,
	o Iterative) error {
	draw, err := p.pathwise(ctx, o)
	for j0 := 0; err == nil && j0 < out.Cols; j0 += drawsTogether {
		rngs := lists.To(min(drawsTogether, out.Cols-j0), func(j int) *rand.Rand {
			return sampleSource(seed, j0+j)
		})
		err = draw(x, out.View(0, x.Rows, j0, j0+len(rngs)), rngs)
	}
	return err
}

// paths writes values of random functions of mean zero at the rows of x.
// Each generator has a column of out.
type paths func(x, out matrix.Dense, rngs []*rand.Rand) error

// pathwise returns draws of the posterior minus its mean.
// It conditions draws of the prior on all rows of the support together.
func (p *Posterior) pathwise(ctx context.Context, o Iterative) (paths, error) {
	prior, err := p.priorPaths(ctx, o)
	n := p.Support.Rows
	if err != nil || n == 0 {
		return prior, err
	}
	condition, err := p.conditioning(ctx, p, o)
	if err != nil {
		return nil, err
	}
	return func(x, out matrix.Dense, rngs []*rand.Rand) error {
		// Matheron's rule: f₀(x) − k(x,S)v has Q's covariance if f₀ is drawn at x and S together.
		at := x.Like(x.Rows+n, x.Cols)
		f := x.Like(x.Rows+n, out.Cols)
		at.RowRange(0, x.Rows).CopyFrom(x)
		at.RowRange(x.Rows, at.Rows).CopyFrom(p.Support)
		if err := prior(at, f, rngs); err != nil {
			return err
		}
		noise := normals(n, rngs)
		v, err := condition(f.RowRange(x.Rows, f.Rows), noise)
		if err != nil {
			return err
		}
		kernel.At(p.Kernel, p.Theta).Times(x, p.Support, v, out)
		for i := range x.Rows {
			linalg.Scale(-1, out.Row(i))
			linalg.Axpy(1, f.Row(i), out.Row(i))
		}
		return nil
	}, nil
}

// normals returns draws from N(0, 1), with a column per generator.
func normals(rows int, rngs []*rand.Rand) matrix.Dense {
	e := matrix.New(rows, len(rngs))
	for j, rng := range rngs {
		for i := range rows {
			e.Set(i, j, rng.NormFloat64())
		}
	}
	return e
}

// priorPaths returns draws of the prior minus its mean.
// They are made from random features or, if the prior is itself a posterior, by conditioning.
func (p *Posterior) priorPaths(ctx context.Context, o Iterative) (paths, error) {
	if prior, temper := p.OfPrior(); prior != nil {
		draw, err := prior.pathwise(ctx, o)
		return func(x, out matrix.Dense, rngs []*rand.Rand) error {
			err := draw(x, out, rngs)
			for i := range out.Rows {
				linalg.Scale(math.Sqrt(temper), out.Row(i))
			}
			return err
		}, err
	}
	return func(x, out matrix.Dense, rngs []*rand.Rand) error {
		values := make([]float64, x.Rows)
		for j, rng := range rngs {
			if err := ctx.Err(); err != nil {
				return err
			}
			// One draw is a sum of drawFeatures random features, a function that can be evaluated
			// anywhere.
			f, err := kernel.At(p.Kernel, p.Theta).Draw(x.Cols, drawFeatures, rng)
			if err != nil {
				return fmt.Errorf("draws at more than %d rows are sums of random features, and "+
					"%w: ask for at most %[1]d rows at a time", jointRows, err)
			}
			f.At(x, values)
			for i, v := range values {
				out.Set(i, j, v)
			}
		}
		return nil
	}, nil
}
