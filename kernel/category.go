package kernel

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"

	"github.com/krigo-gp/krigo/internal/linalg"
	"github.com/krigo-gp/krigo/matrix"
)

// Categorical is σ² xᵀRx' on the inputs of one categorical column, which are 0 or 1.
// R_ij is the correlation of the functions of categories i and j:
//
//	exchangeable  R_ij = s/(1+s) for i ≠ j: all categories are equally alike
//	ordinal       R_ij = (1+√3 d) e^{−√3 d}, d = Σ g_c over the gaps between i and j: categories lie on a line
//	lowrank       R_ij = w_i·w_j / √((1+|w_i|²)(1+|w_j|²)) for i ≠ j, w_i ∈ R²: as in WWᵀ + I, scaled to variances 1
//
// Coregionalisation by WWᵀ + diag(κ) (Bonilla et al. 2008) has these correlations with w_i for
// w_i/√κ_i. Categories that no prior row has share the last input.
// Ordinal and lowrank take it as uncorrelated with the others. Parameters:
// ln s, or ln g for each gap, or w_i less its start; then ln σ².
type Categorical struct {
	name string
	// places of the inputs, in the order of an ordinal kernel; the last input isn't among them
	order []int
}

var _ Kernel = (*Categorical)(nil)

// categorical returns the function that makes a kernel from the inputs of a column, and from the
// categories in the order of an ordinal kernel, if an expression has them.
func categorical(name string) func(inputs []Input, order []string) (*Categorical, error) {
	return func(inputs []Input, order []string) (*Categorical, error) {
		last := len(inputs) - 1
		if inputs[0].Category == "" {
			return nil, fmt.Errorf("kernel %s: column %.200q isn't categorical: list it as "+
				"categorical", name, inputs[0].Column)
		}
		c := &Categorical{name: name, order: linalg.UpTo(last)}
		// value holds the place of each category in order, or, without an order, its text as a
		// number.
		value := make([]float64, last)
		numbers := true
		for i, in := range inputs[:last] {
			at := slices.Index(order, in.Category)
			listed := len(order) > 0
			if listed && at < 0 {
				return nil, fmt.Errorf("kernel %s: column %.200q also has the category %.200q",
					name, in.Column, in.Category)
			}
			var err error
			if value[i] = float64(at); !listed {
				value[i], err = strconv.ParseFloat(in.Category, 64)
			}
			numbers = numbers && err == nil
		}
		if len(order) > 0 && (name != "ordinal" || len(order) != last) {
			return nil, fmt.Errorf("kernel %s: column %.200q has %d categories on prior rows, "+
				"and %d are listed", name, inputs[0].Column, last, len(order))
		}
		if name == "ordinal" && numbers { // other texts keep their order
			slices.SortStableFunc(c.order, func(i, j int) int {
				return cmp.Compare(value[i], value[j])
			})
		}
		return c, nil
	}
}

// Params implements Kernel. Gaps and weights are in the order of the categories, c.order.
func (c *Categorical) Params() (all []Param) {
	switch c.name {
	case "exchangeable":
		all = append(all, Param{Name: "log_shared", Dim: -1})
	case "ordinal":
		for i := 1; i < len(c.order); i++ {
			all = append(all, Param{Name: fmt.Sprintf("log_gap_%d", i), Dim: -1})
		}
	default:
		for i := range c.order {
			for q := range 2 {
				all = append(all, Param{Name: fmt.Sprintf("log_weight_%d_%d", i+1, q+1), Dim: -1})
			}
		}
	}
	return append(all, varianceOnly...)
}

func (c *Categorical) Spec(theta []float64) Spec { return SpecOf(c.name, c.Params(), theta) }

// weight returns the two coordinates of w_i. They start at (1, ±½), since W = 0 would be a saddle
// point.
func weight(theta []float64, i int) (w [2]float64) {
	return [2]float64{theta[2*i] + 1, theta[2*i+1] + 0.5 - float64(i%2)}
}

// pairs calls f with the correlation of each two categories, counted in order, i > j, and the
// correlation's derivatives by θ times g, which f returns.
func (c *Categorical) pairs(theta []float64, f func(i, j int, r float64) (g float64),
	dTheta []float64) {
	for i, at := range c.order {
		var d float64
		for j := i - 1; j >= 0; j-- {
			to := c.order[j]
			if c.name == "ordinal" {
				// d is the sum of the gaps from j to i. The derivative of r by d is −3d e^{−√3 d}.
				d += math.Exp(theta[j])
				e := math.Exp(-math.Sqrt(3) * d)
				if g := f(at, to, (1+math.Sqrt(3)*d)*e); g != 0 {
					for k := j; k < i; k++ {
						dTheta[k] -= 3 * g * d * e * math.Exp(theta[k])
					}
				}
				continue
			}
			v := weight(theta, i)
			w := weight(theta, j)
			a := 1 + v[0]*v[0] + v[1]*v[1]
			b := 1 + w[0]*w[0] + w[1]*w[1]
			vw := v[0]*w[0] + v[1]*w[1]
			root := math.Sqrt(a * b)
			// The derivative of v·w/√(ab) by v is (w − (v·w) v/a)/√(ab).
			if g := f(at, to, vw/root) / root; g != 0 {
				for q := range 2 {
					dTheta[2*i+q] += g * (w[q] - vw*v[q]/a)
					dTheta[2*j+q] += g * (v[q] - vw*w[q]/b)
				}
			}
		}
	}
}

// correlations returns R, and adds the pull-back of its adjoint to dTheta unless bar is the zero
// matrix.
func (c *Categorical) correlations(theta []float64, bar matrix.Dense,
	dTheta []float64) matrix.Dense {
	m := len(c.order) + 1
	r := matrix.New(m, m)
	of := func(i, j int) float64 {
		if bar.IsZero() {
			return 0
		}
		return bar.At(i, j) + bar.At(j, i)
	}
	r.AddDiagonal(1)
	// pairs doesn't visit the last input, so it stays uncorrelated with the others.
	if c.name != "exchangeable" {
		c.pairs(theta, func(i, j int, v float64) float64 {
			r.Set(i, j, v)
			r.Set(j, i, v)
			return of(i, j)
		}, dTheta)
		return r
	}
	// shared is s/(1+s), with the derivative shared (1 − shared) by ln s.
	shared := 1 / (1 + math.Exp(-theta[0]))
	for i := range m {
		for j := range i {
			r.Set(i, j, shared)
			r.Set(j, i, shared)
			if g := of(i, j); g != 0 {
				dTheta[0] += g * shared * (1 - shared)
			}
		}
	}
	return r
}

func (c *Categorical) Cov(theta []float64, a, b, k matrix.Dense) { covOnce(c, theta, a, b, k) }

func (c *Categorical) Pull(theta []float64, a, b matrix.Dense, bar Adjoint) {
	pullOnce(c, theta, a, b, bar)
}

// categoricalColumns is the kernel at fixed θ and fixed points b.
type categoricalColumns struct {
	*Categorical
	theta   []float64
	r, b, s matrix.Dense // R, b, and σ² b R
}

func (c *Categorical) against(theta []float64, b matrix.Dense) columns {
	p := categoricalColumns{c, theta, c.correlations(theta, matrix.Dense{}, nil), b,
		linalg.Borrow(b.Rows, b.Cols)}
	linalg.Gemm(false, false, math.Exp(theta[len(theta)-1]), b, p.r, 0, p.s)
	return p
}

func (p categoricalColumns) release() { linalg.Return(p.s) }

func (p categoricalColumns) cov(a matrix.Dense, j0, j1 int, k matrix.Dense) {
	linalg.Gemm(false, true, 1, a, p.s.RowRange(j0, j1), 0, k)
}

func (p categoricalColumns) pull(a matrix.Dense, j0, j1 int, bar matrix.Dense, dTheta []float64,
	dA matrix.Dense) {
	if !dA.IsZero() {
		linalg.Gemm(false, false, 1, bar, p.s.RowRange(j0, j1), 1, dA)
	}
	// K = σ² A R Bᵀ, so the adjoint of R is σ² Aᵀ K̄ B.
	sums := linalg.Borrow(a.Rows, a.Cols)
	rBar := matrix.New(a.Cols, a.Cols)
	linalg.Gemm(false, false, math.Exp(p.theta[len(p.theta)-1]), bar, p.b.RowRange(j0, j1), 0, sums)
	linalg.Gemm(true, false, 1, a, sums, 0, rBar)
	linalg.Return(sums)
	p.pullR(p.theta, rBar, dTheta)
}

// pullR adds the pull-back of bar, the adjoint of R, to dTheta.
// R has the factor σ² in the covariances, so the derivative by ln σ² is Σ R_ij R̄_ij.
func (c *Categorical) pullR(theta []float64, bar matrix.Dense, dTheta []float64) {
	r := c.correlations(theta, bar, dTheta)
	for i := range r.Rows {
		dTheta[len(theta)-1] += linalg.Dot(r.Row(i), bar.Row(i))
	}
}

func (c *Categorical) Diag(theta []float64, a matrix.Dense, k []float64) {
	p := c.against(theta, a).(categoricalColumns)
	for i := range k {
		k[i] = linalg.Dot(a.Row(i), p.s.Row(i))
	}
	p.release()
}

// PullDiag implements Kernel. A row x adds σ² bar x xᵀ to the adjoint of R.
func (c *Categorical) PullDiag(theta []float64, a matrix.Dense, bar []float64, to Gradient) {
	p := c.against(theta, a).(categoricalColumns)
	rBar := matrix.New(a.Cols, a.Cols)
	for i, g := range bar {
		for t, v := range a.Row(i) {
			linalg.Axpy(g*v*math.Exp(theta[len(theta)-1]), a.Row(i), rBar.Row(t))
		}
		if !to.Inputs.IsZero() {
			linalg.Axpy(2*g, p.s.Row(i), to.Inputs.Row(i))
		}
	}
	p.release()
	c.pullR(theta, rBar, to.Theta)
}

// draw draws a value for each category, from N(0, σ²R).
func (c *Categorical) draw(theta []float64, dim, count int, rng *rand.Rand) (features, error) {
	low := c.correlations(theta, matrix.Dense{}, nil)
	low.AddDiagonal(1e-12)
	if err := linalg.Cholesky(low); err != nil {
		return nil, err
	}
	values := matrix.New(count, dim)
	linalg.Gemm(false, true, math.Exp(theta[len(theta)-1]/2), normals(count, dim, rng),
		low, 0, values)
	return func(x, phi matrix.Dense) { linalg.Gemm(false, true, 1, x, values, 0, phi) }, nil
}
