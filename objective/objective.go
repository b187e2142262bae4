// Package objective holds the functions that training minimises.
// Each objective computes its value as its paper prints the value.
// In closed form it computes the adjoints of the matrices that the value depends on.
// The package doesn't know the insides of kernels, optimisers or files.
//
// This program computes the negative log evidence of a Gaussian process, and its gradient:
//
//	package main
//
//	import (
//		"fmt"
//		"log"
//
//		"github.com/krigo-gp/krigo/kernel"
//		"github.com/krigo-gp/krigo/matrix"
//		"github.com/krigo-gp/krigo/objective"
//	)
//
//	func main() {
//		p := &objective.Problem{
//			Kernel: kernel.SE(1, false), Mean: kernel.ZeroMean{}, Objective: &objective.Evidence{},
//			X: matrix.Of(4, 1, []float64{0, 1, 2, 3}), Y: []float64{0, 0.8, 0.9, 0.1},
//		}
//		x, gradient := make([]float64, p.Dim()), make([]float64, p.Dim())
//		value, err := p.Evaluate(x, gradient)
//		if err != nil {
//			log.Fatal(err)
//		}
//		fmt.Printf("%.4f\n", value)
//		for i, name := range p.Names() {
//			fmt.Printf("%s: %.4f\n", name, gradient[i])
//		}
//		// Output:
//		// 5.2166
//		// log_lengthscale2: -0.1451
//		// log_variance: 0.6841
//		// log_noise_variance: 1.0158
//	}
//
// Notation in this package: X (N×d) are the inputs, y the targets, K = k_θ(X,X), s = σ_n² is the
// noise variance, r = y − m_β(X), C = K + sI = L Lᵀ, w = C⁻¹r.
// The adjoint Ā of a matrix A holds the derivatives of a scalar f: df = Σ Ā_ij dA_ij.
// A rank is one of several processes that evaluate an objective together (package ranks).
package objective

import (
	"errors"
	"fmt"
	"math"

	"github.com/krigo-gp/krigo/internal/linalg"
	"github.com/krigo-gp/krigo/internal/lists"
	"github.com/krigo-gp/krigo/internal/spelling"
	"github.com/krigo-gp/krigo/kernel"
	"github.com/krigo-gp/krigo/matrix"
	"github.com/krigo-gp/krigo/posterior"
)

// Adjoints holds the derivatives of a value with respect to the moments of the prior and the noise
// variance.
type Adjoints struct {
	K     matrix.Dense // N×N and symmetric; only the lower triangle counts
	Noise float64      // d/dσ_n²
	Mean  []float64    // d/dm_β(x_i), N numbers
	Steps []float64    // derivatives by Moments.Steps, or nil
}

// Moments holds the prior covariance matrix of f at the rows, in its lower triangle, and the prior
// mean there.
type Moments struct {
	K     matrix.Dense
	Mean  []float64
	Steps []float64 // the parameters after ln σ_n²
}

// Exact is an objective that needs the whole matrix K = k_θ(X,X).
// It takes O(N³) time and O(N²) memory.
type Exact interface {
	// Evaluate returns the value for the moments of the prior, the targets y and the noise
	// variance. It fills adj unless adj is nil. It may overwrite prior.K.
	// If rows differ in noise, prior.K is C, and the noise variance is 0.
	Evaluate(prior Moments, y []float64, noise float64, adj *Adjoints) (float64, error)
}

// Problem is an objective of a full GP for given rows, kernel and mean function.
// It is a function of the vector [θ, β, ln σ_n²] with a gradient, where θ are the kernel's
// parameters and β the mean function's.
type Problem struct {
	Kernel    kernel.Kernel
	Mean      kernel.Mean
	X         matrix.Dense
	Y         []float64
	Objective Exact
	PerRow    posterior.RowNoise // how noisy each row is
	// names of the parameters after ln σ_n²: steps of an ordinal noise, or those of Evidence.Pairs
	More []string

	replicates replicates

	k    matrix.Dense
	mean []float64
	adj  Adjoints
}

// Dim returns the number of parameters: kernel, mean function, noise variance, More.
func (p *Problem) Dim() int { return len(p.Kernel.Params()) + len(p.Mean.Params()) + 1 + len(p.More) }

// Split cuts a parameter vector, or a gradient, into the parts for θ, β and ln σ_n².
func (p *Problem) Split(x []float64) (theta, beta []float64, logNoise float64) {
	nk := len(p.Kernel.Params())
	nm := len(p.Mean.Params())
	return x[:nk], x[nk : nk+nm], x[nk+nm]
}

// Names returns the name of every parameter.
func (p *Problem) Names() []string {
	return append(parameterNames(p.Kernel, p.Mean), p.More...)
}

// parameterNames returns the names of θ, β and ln σ_n², in this order.
// The name of a slope carries the number of its input, counted from 1.
func parameterNames(k kernel.Kernel, m kernel.Mean) []string {
	names := lists.Of(append(k.Params(), m.Params()...), func(q kernel.Param) string {
		return q.Name + spelling.If(q.Kind == kernel.Slope, "[%d]", q.Dim+1)
	})
	return append(names, "log_noise_variance")
}

// Evaluate returns the objective at x and, unless gradient is nil, fills gradient.
// It returns an error if C isn't positive definite or a number isn't finite.
// It reuses workspaces, so only one goroutine at a time may use a Problem.
func (p *Problem) Evaluate(x, gradient []float64) (float64, error) {
	n := p.X.Rows
	if p.k.IsZero() {
		p.k = p.X.Like(n, n)
		p.mean = make([]float64, n)
		p.adj = Adjoints{K: p.X.Like(n, n), Mean: make([]float64, n)}
	}
	theta, beta, logNoise := p.Split(x)
	noise := math.Exp(logNoise)
	prior := Moments{p.k, p.mean, x[len(theta)+len(beta)+1:]}
	p.fill(theta, beta, prior)
	var adj *Adjoints
	if gradient != nil {
		adj = &p.adj
	}
	// If rows differ in noise, K gets the noise here. The objective then gets C, and the noise
	// variance 0.
	added := noise
	if each := p.PerRow.Each(n, noise); each != nil {
		posterior.AddNoise(p.k, 0, each)
		added = 0
	}
	value, err := p.Objective.Evaluate(prior, p.Y, added, adj)
	if err != nil {
		return math.NaN(), err
	}
	value = p.replicates.add(value, noise, nil)
	if err := finite(value, nil, noise); err != nil || gradient == nil {
		return value, err
	}
	// The chain rule takes K̄ to θ and m̄ to β. The factor s takes s̄ to ln σ_n².
	clear(gradient)
	dTheta, dBeta, _ := p.Split(gradient)
	kernel.At(p.Kernel, theta).PullSymmetric(p.X, adj.K, dTheta)
	p.Mean.Pull(beta, p.X, adj.Mean, dBeta)
	// If rows differ in noise, s̄ is Σ C̄_ii times the derivative of row i's noise by s.
	if !p.PerRow.Same() {
		adj.Noise = 0
		for i := range n {
			adj.Noise += p.PerRow.Slope(i) * adj.K.At(i, i)
		}
	}
	gradient[len(dTheta)+len(dBeta)] = noise * adj.Noise
	copy(gradient[len(dTheta)+len(dBeta)+1:], adj.Steps)
	p.replicates.add(0, noise, gradient)
	return value, finite(value, gradient, noise)
}

// fill computes the prior's moments.
func (p *Problem) fill(theta, beta []float64, m Moments) {
	kernel.At(p.Kernel, theta).FillTriangle(p.X, m.K)
	p.Mean.At(beta, p.X, m.Mean)
}

// replicates holds what replicates add to the evidence of their means (see Problem.Replicates):
// more is N − G, logs is Σ ln n_g, and squares is Q. The zero value adds nothing.
type replicates struct{ more, logs, squares float64 }

// add returns value + ½[(N − G) ln 2πs + Σ ln n_g + Q/s], with noise for s.
// Unless gradient is nil, it adds the derivative of what it adds by ln s to gradient's last entry.
func (r replicates) add(value, noise float64, gradient []float64) float64 {
	if r.more == 0 {
		return value
	}
	if gradient != nil {
		gradient[len(gradient)-1] += (r.more - r.squares/noise) / 2
	}
	return value + (r.more*math.Log(2*math.Pi*noise)+r.logs+r.squares/noise)/2
}

// errRowNoise is the error of objectives whose formulas have one noise variance for all rows.
var errRowNoise = errors.New("this objective has one noise variance for all rows: train with " +
	"evidence, nearest, vfe, fitc, dtc or pep if rows differ in noise")

// finite returns an error if the value or an entry of the gradient isn't finite.
func finite(value float64, gradient []float64, noise float64) error {
	what := "objective"
	// NaN − NaN and ∞ − ∞ are NaN.
	if value-value == 0 {
		if what = "gradient"; linalg.Finite(gradient) {
			return nil
		}
	}
	return fmt.Errorf("the %s isn't finite at noise variance %.3g: look for extreme values in "+
		"the data", what, noise)
}

// unfactored returns the error for a matrix, named what, that can't be factored.
func unfactored(what string, noise float64, err error) error {
	return fmt.Errorf("the %s can't be factored at noise variance %.3g (%w): raise the noise "+
		"variance", what, noise, err)
}
