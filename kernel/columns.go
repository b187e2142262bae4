package kernel

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/krigo-gp/krigo/internal/linalg"
	"github.com/krigo-gp/krigo/internal/lists"
	"github.com/krigo-gp/krigo/internal/spelling"
	"github.com/krigo-gp/krigo/matrix"
)

// Input says what an input of a kernel is: a column of numbers, or one category of a categorical
// column.
type Input struct {
	Column   string
	Category string // "" for a column of numbers
}

// Find returns the places of the inputs that belong to the named columns.
// A categorical column has several inputs.
func Find(inputs []Input, columns ...string) (at []int, err error) {
	for i, name := range columns {
		if slices.Contains(columns[:i], name) {
			return nil, fmt.Errorf("column %.200q is listed twice", name)
		}
		own := lists.Where(len(inputs), func(j int) bool { return inputs[j].Column == name })
		if own == nil {
			known := lists.Of(inputs, func(in Input) string { return in.Column })
			return nil, unknownColumn(name, slices.Compact(known))
		}
		at = append(at, own...)
	}
	return at, nil
}

// unknownColumn returns the error for a name that no input has. It lists up to 20 columns.
func unknownColumn(name string, known []string) error {
	const most = 20
	list := strings.Join(known[:min(len(known), most)], ", ")
	if n := len(known) - most; n > 0 {
		list += fmt.Sprintf(" and %d more", n)
	}
	return fmt.Errorf("%.200q is no input%s; the inputs are %s", name,
		spelling.DidYouMean(name, known), list)
}

// see returns the places of the inputs of some columns, and these inputs.
func see(inputs []Input, columns []string) (at []int, seen []Input, err error) {
	if len(inputs) == 0 {
		return nil, nil, errors.New("it has columns, but the names of the inputs aren't known here")
	}
	at, err = Find(inputs, columns...)
	return at, lists.Of(at, func(t int) Input { return inputs[t] }), err
}

// on is a kernel that sees only some of the inputs.
type on struct {
	Kernel
	columns []string // as an expression and a Spec name the inputs
	inputs  []int    // their places
	dim     int      // number of all inputs
}

// On returns the kernel k on the inputs of some columns, for points with dim inputs.
// at has the places of these inputs, as Find returns them, and k is a kernel on len(at) inputs.
func On(k Kernel, dim int, columns []string, at []int) Kernel {
	if o, ok := k.(on); ok {
		return on{o.Kernel, o.columns, lists.Of(o.inputs, func(t int) int { return at[t] }), dim}
	}
	return on{k, columns, at, dim}
}

func (o on) size() int { return size(o.Kernel) }

// Params implements Kernel. A lengthscale names its input by its place among all inputs.
func (o on) Params() []Param {
	all := slices.Clone(o.Kernel.Params())
	for i := range all {
		p := &all[i]
		switch {
		case p.Dim >= 0:
			p.Dim = o.inputs[p.Dim]
		case p.Kind == Lengthscale && len(o.inputs) == 1:
			p.Dim = o.inputs[0]
		case p.Kind == Lengthscale:
			p.Among = len(o.inputs)
		}
		if p.Kind == Lengthscale && p.Dim >= 0 {
			base, _, _ := strings.Cut(p.Name, "[")
			p.Name = fmt.Sprintf("%s[%d]", base, p.Dim+1)
		}
	}
	return all
}

func (o on) Spec(theta []float64) Spec {
	s := o.Kernel.Spec(theta)
	s.Name = onName(s.Name, o.columns)
	return s
}

// gather returns the inputs that the kernel sees.
func (o on) gather(x matrix.Dense) matrix.Dense {
	seen := linalg.Borrow(x.Rows, len(o.inputs)).Until(x.Context())
	for i := range x.Rows {
		row := seen.Row(i)
		from := x.Row(i)
		for j, t := range o.inputs {
			row[j] = from[t]
		}
	}
	return seen
}

// pull calls f with zeroed memory for the derivatives by the inputs that the kernel sees, and adds
// what f wrote there to the columns of dA that belong to these inputs.
func (o on) pull(dA matrix.Dense, f func(seen matrix.Dense)) {
	if dA.IsZero() {
		f(matrix.Dense{})
		return
	}
	seen := linalg.Borrow(dA.Rows, len(o.inputs))
	seen.Zero()
	f(seen)
	for i := range dA.Rows {
		row := dA.Row(i)
		from := seen.Row(i)
		for j, t := range o.inputs {
			row[t] += from[j]
		}
	}
	linalg.Return(seen)
}

func (o on) Cov(theta []float64, a, b, k matrix.Dense)            { covOnce(o, theta, a, b, k) }
func (o on) Pull(theta []float64, a, b matrix.Dense, bar Adjoint) { pullOnce(o, theta, a, b, bar) }

func (o on) Diag(theta []float64, a matrix.Dense, k []float64) {
	seen := o.gather(a)
	o.Kernel.Diag(theta, seen, k)
	linalg.Return(seen)
}

func (o on) PullDiag(theta []float64, a matrix.Dense, bar []float64, to Gradient) {
	seen := o.gather(a)
	o.pull(to.Inputs, func(dA matrix.Dense) {
		o.Kernel.PullDiag(theta, seen, bar,
			Gradient{to.Theta, dA})
	})
	linalg.Return(seen)
}

// onColumns is a kernel on some of the inputs, at fixed θ. b has these inputs of the fixed points.
type onColumns struct {
	on
	columns columns
	b       matrix.Dense
}

func (o on) against(theta []float64, b matrix.Dense) columns {
	seen := o.gather(b)
	return onColumns{o, columnsOf(o.Kernel, theta, seen), seen}
}

func (c onColumns) release() {
	c.columns.release()
	linalg.Return(c.b)
}

func (c onColumns) cov(a matrix.Dense, j0, j1 int, k matrix.Dense) {
	seen := c.gather(a)
	c.columns.cov(seen, j0, j1, k)
	linalg.Return(seen)
}

func (c onColumns) pull(a matrix.Dense, j0, j1 int, bar matrix.Dense, dTheta []float64,
	dA matrix.Dense) {
	seen := c.gather(a)
	c.on.pull(dA, func(dA matrix.Dense) { c.columns.pull(seen, j0, j1, bar, dTheta, dA) })
	linalg.Return(seen)
}

// bundle returns the inputs that the kernel sees, for all sets. The caller releases it.
func (o on) bundle(x linalg.Bundle) linalg.Bundle {
	seen := linalg.BorrowBundle(x.Rows, len(o.inputs))
	for i := range x.Rows {
		for j, t := range o.inputs {
			copy(seen.At(i, j), x.At(i, t))
		}
	}
	return seen
}

func (o on) fillBundle(theta []float64, x, dst linalg.Bundle) {
	seen := o.bundle(x)
	At(o.Kernel, theta).FillBundle(seen, dst)
	seen.Release()
}

func (o on) pullBundle(theta []float64, x, bar linalg.Bundle, dTheta []float64) {
	seen := o.bundle(x)
	At(o.Kernel, theta).PullBundle(seen, bar, dTheta)
	seen.Release()
}

// Metric implements the function Metric. Other inputs don't count.
func (o on) Metric(theta []float64) ([]float64, bool) {
	seen, ok := Metric(o.Kernel, theta)
	if !ok {
		return nil, false
	}
	inverse := make([]float64, o.dim)
	for j, t := range o.inputs {
		inverse[t] = seen[j]
	}
	return inverse, true
}

// draw draws functions of the inputs that the kernel sees.
func (o on) draw(theta []float64, _, count int, rng *rand.Rand) (features, error) {
	f, err := drawFeatures(o.Kernel, theta, len(o.inputs), count, rng)
	return func(x, phi matrix.Dense) {
		seen := o.gather(x)
		f(seen, phi)
		linalg.Return(seen)
	}, err
}

// Parts returns the parts of a sum or product, in the order of their parameters, and nil for other
// kernels.
func Parts(k Kernel) []Kernel {
	if o, ok := k.(on); ok {
		k = o.Kernel
	}
	if c, ok := k.(composite); ok {
		return c.parts
	}
	return nil
}
