package posterior

import (
	"errors"
	"fmt"
	"slices"

	"github.com/krigo-gp/krigo/internal/linalg"
	"github.com/krigo-gp/krigo/kernel"
	"github.com/krigo-gp/krigo/matrix"
)

// Prior returns the posterior as the prior of a further Gaussian process:
// its mean as a mean function, and its covariance times a temper as a kernel.
// Neither has parameters. It returns an error for a posterior without a factor, whose covariance is
// known only at single points.
func (p *Posterior) Prior(temper float64) (kernel.Kernel, kernel.Mean, error) {
	k := &kernel.Conditional{Kernel: p.Kernel, Theta: p.Theta, Support: p.Support, Temper: temper,
		Noises: p.Noises}
	if err := p.prior(k); err != nil {
		return nil, nil, err
	}
	m := &kernel.ConditionalMean{Mean: p.Mean, Beta: p.Beta, Kernel: p.Kernel, Theta: p.Theta,
		Support: p.Support, Weights: p.Weights()}
	return k, m, nil
}

// Unconditioned returns Q = P for the prior P of Prior.
// Nothing more is learnt, and there is no support. Its Noise is p's.
func (p *Posterior) Unconditioned(temper float64) (*Posterior, error) {
	k, m, err := p.Prior(temper)
	if err != nil {
		return nil, err
	}
	return &Posterior{Kernel: k, Mean: m, Noise: p.Noise, Support: matrix.New(0, p.Support.Cols),
		Solution: newUntouched()}, nil
}

// OfPrior returns the posterior that serves as p's prior, without its Noise, and the temper.
// It returns nil if the prior isn't a posterior.
func (p *Posterior) OfPrior() (*Posterior, float64) {
	k, ok := p.Kernel.(*kernel.Conditional)
	if !ok {
		return nil, 0
	}
	m := p.Mean.(*kernel.ConditionalMean)
	prior := &Posterior{Kernel: k.Kernel, Theta: k.Theta, Mean: m.Mean, Beta: m.Beta,
		Support: k.Support, Noises: k.Noises, Solution: newExact(m.Weights, k.Chol)}
	if !k.CholB.IsZero() {
		prior.Solution = newInducing(m.Weights, k.Chol, k.CholB)
	}
	return prior, k.Temper
}

// conditioned returns the posterior that is the prior of p, and its temper, or nil.
// A prediction of that posterior takes half as long as its mean and its covariance apart.
func (u Untouched) conditioned(p *Posterior) (prior *Posterior, temper float64) {
	k, ok := p.Kernel.(*kernel.Conditional)
	if !ok {
		return nil, 0
	}
	return u.kept.get(func() *packed {
		prior, _ := p.OfPrior()
		return &packed{prior: prior}
	}).prior, k.Temper
}

// latent writes the prior's mean and variance. If the prior is itself a posterior, it predicts by
// that, with the variance times the temper.
func (u Untouched) latent(p *Posterior, x matrix.Dense, mean, variance []float64) {
	if prior, temper := u.conditioned(p); prior != nil {
		prior.Latent(x, mean, variance)
		linalg.Scale(temper, variance)
		return
	}
	if p.Mean.At(p.Beta, x, mean); variance == nil {
		return
	}
	linalg.Blocks(x.Rows, predictRows, func(i0, i1 int) {
		x.Check()
		p.Kernel.Diag(p.Theta, x.RowRange(i0, i1), variance[i0:i1])
	})
}

// Noises is the name in model files of the array with the rows' own noise variances.
const Noises = "noises"

// Restore gives p the solution of a model file.
// kind is "" for ByCholesky, and nearest is the number of nearest rows.
// has reports whether the file has an array of this name, and get returns its numbers, a triangle
// row by row (see Arrays).
func (p *Posterior) Restore(kind string, nearest int, has func(name string) bool,
	get func(name string, cols int) ([]float64, error)) error {
	if has(Noises) {
		each, err := get(Noises, 1)
		if err != nil {
			return err
		}
		if slices.ContainsFunc(each, func(v float64) bool { return !(v > 0) }) {
			return errors.New("a row's noise variance isn't positive")
		}
		p.Noises = each
	}
	name := map[string]string{"": "weights", ByCG: "weights", ByNearest: "targets"}[kind]
	if name == "" {
		return fmt.Errorf("solver %q isn't known: use a newer krigo", kind)
	}
	v, err := get(name, 1)
	switch {
	case err != nil:
		return err
	// Gradients and Nearest have a number of nearest rows, and solutions by Cholesky don't.
	case (kind == "") != (nearest == 0) || nearest > p.Support.Rows:
		return fmt.Errorf("solver is %q, with %d nearest of %d rows", kind, nearest, p.Support.Rows)
	case kind == ByCG:
		p.Solution = &Gradients{newNear(p, nearest), v}
		return nil
	case kind == ByNearest:
		p.Solution = &Nearest{newNear(p, nearest), v}
		return nil
	}
	chol, err := p.restored("cholesky", get)
	switch {
	case err != nil:
	case has("cholesky_b"):
		var b matrix.Dense
		b, err = p.restored("cholesky_b", get)
		p.Solution = newInducing(v, chol, b)
	default:
		p.Solution = newExact(v, chol)
	}
	if p.Support.Rows == 0 {
		p.Solution = newUntouched()
	}
	return err
}

// restored returns a Cholesky factor, and refuses a diagonal that isn't positive.
func (p *Posterior) restored(name string, get func(name string, cols int) ([]float64, error)) (
	matrix.Dense, error) {
	packed, err := get(name, 0)
	if err != nil {
		return matrix.Dense{}, err
	}
	l := matrix.New(p.Support.Rows, p.Support.Rows)
	for i := range l.Rows {
		copy(l.Row(i), packed[:i+1])
		if !(packed[i] > 0) {
			return l, fmt.Errorf("its Cholesky factor, the array %q, has a diagonal that isn't "+
				"positive", name)
		}
		packed = packed[i+1:]
	}
	return l, nil
}
