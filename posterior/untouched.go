package posterior

import (
	"context"
	"errors"

	"github.com/krigo-gp/krigo/kernel"
	"github.com/krigo-gp/krigo/matrix"
)

// predictRows is the number of rows predicted at a time.
const predictRows = 256

func (factored) Kind() string    { return ByCholesky }
func (factored) Inducing() int   { return 0 }
func (factored) Joint() error    { return nil }
func (factored) Drawable() error { return nil }
func (factored) Local() string   { return "" }

func (factored) follows(*Posterior, []float64, []float64, Made) error { return nil }

// work returns about n² + n·d multiplications for a variance, a triangular solve, and n·d for a
// mean.
func (factored) work(n, d float64, variance bool) float64 {
	if variance {
		return n*n + n*d
	}
	return n * d
}

// Untouched is the solution without support: Q is the prior itself.
type Untouched struct{ factored }

var _ Solution = Untouched{}

// newUntouched returns the solution without support.
func newUntouched() Untouched { return Untouched{factored{new(kept)}} }

// Arrays returns the arrays of an exact solution on no rows, as a file keeps them.
func (Untouched) Arrays() ([]Array, int) {
	return []Array{list("weights", nil), {Name: "cholesky"}}, 0
}

func (u Untouched) until(context.Context) Solution        { return u }
func (Untouched) Weights() []float64                      { return nil }
func (Untouched) kl(*Posterior) float64                   { return 0 }
func (Untouched) rounding(*Posterior) float64             { return 0 }
func (Untouched) explain(matrix.Dense, matrix.Dense)      {}
func (u Untouched) refactor(*Posterior) (Solution, error) { return u, nil }

// conditioning returns nil, since pathwise asks for none if there is no support.
func (Untouched) conditioning(context.Context, *Posterior, Iterative) (conditioner, error) {
	return nil, nil
}

func (Untouched) prior(*kernel.Conditional) error {
	return errors.New("a posterior without support can't be a prior: it is one already")
}
