package posterior

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/krigo-gp/krigo/internal/linalg"
	"github.com/krigo-gp/krigo/iterative"
	"github.com/krigo-gp/krigo/kernel"
	"github.com/krigo-gp/krigo/matrix"
	"github.com/krigo-gp/krigo/memory"
)

const (
	// jointRows are drawn at most by a factor of their covariance matrix.
	jointRows = 1000

	// drawFeatures make a draw of the prior: for a stationary kernel, the excess kurtosis of its marginals is 1.5/1024.
	drawFeatures = 1024

	// drawsTogether are the draws that are conditioned at once.
	drawsTogether = 64

	sampleStream = 0x73616d706c650000 // of the generators, one a draw
)

// Draws say how functions are drawn: the same seed draws the same ones.
type Draws struct {
	Seed  uint64
	Solve Iterative
}

// Sample writes joint draws of f, without noise, at the rows of x: each column of out is a
// draw. The same seed gives the same draws on any number of cores, and more columns the same
// first ones, but for rounding and what o leaves of residuals.
//
// Up to 1,000 rows of a factored posterior are drawn by a factor of their covariance matrix. More rows, and those of a
// posterior by conjugate gradients, are drawn by conditioning draws of the prior, which are made of random features
// (Matheron's rule; Wilson et al. 2020, "Efficiently Sampling Functions from Gaussian Process Posteriors", and 2021,
// "Pathwise Conditioning of Gaussian Processes"): with f₀ ~ P and ε ~ N(0, I),
//
//	f(x) = m̂(x) + f₀(x) − k(x,X) C⁻¹ (f₀(X) + √s ε)        exact
//	f(x) = m̂(x) + f₀(x) − k(x,Z) L⁻ᵀ (L⁻¹f₀(Z) − L_B⁻ᵀε)   sparse
//
// If the prior is itself a posterior (Prior), f₀ is drawn by conditioning, too.
//
// Every draw has features of its own, so that mean and covariance over draws are the
// posterior's, but for residuals; a single draw is Gaussian up to an excess kurtosis of the
// order of 0.1 % (see kernel.Draw). (Features that all draws share would put their covariance in place of k.)
//
// A posterior of the nearest rows has no joint distribution: an error. Other errors are those
// of a kernel without random features, of a solve (*iterative.Stalled) and of ctx.
func (p *Posterior) Sample(ctx context.Context, x, out matrix.Dense, d Draws) (err error) {
	seed, o := d.Seed, d.Solve
	defer matrix.Ended(&err)
	x = x.Until(ctx)
	if err := p.Drawable(); err != nil {
		return err
	}
	mean := make([]float64, x.Rows)
	p.Latent(x, mean, nil)
	if p.Joint() == nil && x.Rows <= jointRows {
		if err := p.sampleJoint(ctx, x, out, seed); err != nil {
			return err
		}
	} else if err := p.samplePathwise(ctx, x, out, seed, o); err != nil {
		return err
	}
	for i, m := range mean {
		row := out.Row(i)
		for j := range row {
			row[j] += m
		}
	}
	return nil
}

func sampleSource(seed uint64, draw int) *rand.Rand {
	return rand.New(rand.NewPCG(seed, sampleStream+uint64(draw)))
}

// sampleJoint draws from N(0, Σ), Σ the covariance matrix of a factored posterior at x. Σ is factored with the greatest
// pivots first, as far as there are any: where rows are close to each other it is singular to working precision.
func (p *Posterior) sampleJoint(ctx context.Context, x, out matrix.Dense, seed uint64) error {
	n := x.Rows
	cov, err := p.jointCovariance(x)
	if err != nil {
		return err
	}
	diag := make([]float64, n)
	for i := range diag {
		diag[i] = max(cov.At(i, i), 0)
	}
	f := iterative.NewPartialCholesky(diag, n)
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
		f.Add(pivot, func(r0, r1 int, column matrix.Dense) { copy(column.Data, cov.Row(pivot)[r0:r1]) })
	}
	rngs := make([]*rand.Rand, out.Cols)
	for j := range rngs {
		rngs[j] = sampleSource(seed, j)
	}
	e := normals(len(f.Rows), rngs)
	out.Zero()
	if e.Rows > 0 {
		linalg.Gemm(false, false, 1, f.V.View(0, n, 0, e.Rows), e, 0, out)
	}
	return nil
}

// Covariance returns the covariance matrix of f, without noise, at the rows of x: of a factored posterior. Its diagonal
// may be below 0 by rounding. Another error is ctx's.
func (p *Posterior) Covariance(ctx context.Context, x matrix.Dense) (cov matrix.Dense, err error) {
	defer matrix.Ended(&err)
	if err := p.HasCovariance(); err != nil {
		return matrix.Dense{}, err
	}
	return p.jointCovariance(x.Until(ctx))
}

// HasCovariance returns nil if Covariance is for p, else why it isn't.
func (p *Posterior) HasCovariance() error {
	if err := p.Drawable(); err != nil {
		return err
	}
	if p.Joint() != nil {
		return fmt.Errorf("a posterior solved by %s has no covariances at hand: ask for samples, or fit one with --solver "+
			"%s, or with inducing inputs", p.Kind(), ByCholesky)
	}
	return nil
}

// JointBytes is the memory that a covariance matrix and draws take at rows together: covariances with their factor,
// what the rows have in common with the support, of a prior that is a posterior too, and the draws.
func (p *Posterior) JointBytes(rows, draws int) int64 {
	n, k, support := int64(rows), int64(draws), int64(p.Standing())
	if p.Joint() == nil {
		return 8 * (4*n*n + n*support + 3*n*k)
	}
	return 8 * (3*n*k + drawsTogether*8*support)
}

// Standing is how many rows p stands on, with those of a posterior that is its prior.
func (p *Posterior) Standing() int {
	rows := p.Support.Rows
	if prior, _ := p.OfPrior(); prior != nil {
		rows += prior.Support.Rows
	}
	return rows
}

func (p *Posterior) jointCovariance(x matrix.Dense) (matrix.Dense, error) {
	// two, since whoever asked has it in another form
	if err := memory.Afford(fmt.Sprintf("the joint covariance of %d rows", x.Rows),
		8*float64(x.Rows)*(2*float64(x.Rows)+float64(p.Support.Rows))); err != nil {
		return matrix.Dense{}, err
	}
	cov := x.Like(x.Rows, x.Rows)
	kernel.At(p.Kernel, p.Theta).FillSymmetric(x, cov)
	if p.Support.Rows > 0 {
		p.explain(p, x, cov)
		linalg.MirrorLower(cov)
	}
	return cov, nil
}

// samplePathwise writes draws less the posterior's mean, see Sample.
func (p *Posterior) samplePathwise(ctx context.Context, x, out matrix.Dense, seed uint64, o Iterative) error {
	draw, err := p.pathwise(ctx, o)
	for j0 := 0; err == nil && j0 < out.Cols; j0 += drawsTogether {
		rngs := make([]*rand.Rand, min(drawsTogether, out.Cols-j0))
		for j := range rngs {
			rngs[j] = sampleSource(seed, j0+j)
		}
		err = draw(x, out.View(0, x.Rows, j0, j0+len(rngs)), rngs)
	}
	return err
}

// paths writes values of random functions of mean zero at the rows of x, a column of out for each generator.
type paths func(x, out matrix.Dense, rngs []*rand.Rand) error

// pathwise returns draws of the posterior less its mean. It conditions draws of the prior on all rows of the support
// together.
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
		at, f := x.Like(x.Rows+n, x.Cols), x.Like(x.Rows+n, out.Cols)
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

// normals returns draws from N(0, 1), a column for each generator.
func normals(rows int, rngs []*rand.Rand) matrix.Dense {
	e := matrix.New(rows, len(rngs))
	for j, rng := range rngs {
		for i := range rows {
			e.Set(i, j, rng.NormFloat64())
		}
	}
	return e
}

// priorPaths returns draws of the prior less its mean: of random features or, if the prior is itself a posterior, by
// conditioning.
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
			f, err := kernel.At(p.Kernel, p.Theta).Draw(x.Cols, drawFeatures, rng)
			if err != nil {
				return fmt.Errorf("draws at more than %d rows are sums of random features, and %w: ask for at most %[1]d rows at "+
					"a time", jointRows, err)
			}
			f.At(x, values)
			for i, v := range values {
				out.Set(i, j, v)
			}
		}
		return nil
	}, nil
}
