// Package objective holds what training minimises: for each method the value as
// its paper prints it, and the adjoints of the matrices it was computed from, in
// closed form. It knows nothing of the insides of kernels, of optimisers or of files.
//
// Notation, everywhere: X (N×d) inputs, y targets, K = k_θ(X,X), s = σ_n² the noise variance, r = y − m_β(X), C = K +
// sI = L Lᵀ, w = C⁻¹r. The adjoint Ā of a matrix A is that of a scalar f with df = Σ Ā_ij dA_ij.
package objective

import (
	"fmt"
	"math"

	"github.com/krigo-gp/krigo/internal/linalg"
	"github.com/krigo-gp/krigo/kernel"
	"github.com/krigo-gp/krigo/matrix"
)

// Adjoints are the derivatives of a value with respect to what it was computed from.
type Adjoints struct {
	K     matrix.Dense // N×N; the lower triangle counts, the matrix being symmetric
	Noise float64      // d/dσ_n²
	Mean  []float64    // d/dm_β(x_i), N
}

// Moments are the covariance matrix of f at the rows, both triangles, and its mean there.
type Moments struct {
	K    matrix.Dense
	Mean []float64
}

// Exact is an objective that needs the whole of K_NN: O(N³) time, O(N²) memory.
type Exact interface {
	// Evaluate returns the value for the moments of the prior, the targets and the noise variance. It fills adj unless
	// that is nil, and may overwrite the covariance matrix.
	Evaluate(prior Moments, y []float64, noise float64, adj *Adjoints) (float64, error)
}

// Problem binds a family of GPs and the rows it learns from to an objective: a
// function of the vector [θ, β, ln σ_n²], with its gradient.
type Problem struct {
	Kernel    kernel.Kernel
	Mean      kernel.Mean
	X         matrix.Dense
	Y         []float64
	Objective Exact

	k    matrix.Dense
	mean []float64
	adj  Adjoints
}

// Dim returns the number of parameters: kernel, mean function, noise variance.
func (p *Problem) Dim() int { return len(p.Kernel.Params()) + len(p.Mean.Params()) + 1 }

// Split cuts a parameter vector, or a gradient, into its parts. The last is ln σ_n².
func (p *Problem) Split(x []float64) (theta, beta []float64, logNoise float64) {
	nk, nm := len(p.Kernel.Params()), len(p.Mean.Params())
	return x[:nk], x[nk : nk+nm], x[nk+nm]
}

// Names returns the name of every parameter.
func (p *Problem) Names() []string { return parameterNames(p.Kernel, p.Mean) }

func parameterNames(k kernel.Kernel, m kernel.Mean) []string {
	var names []string
	for _, q := range append(k.Params(), m.Params()...) {
		name := q.Name
		if q.Kind == kernel.Slope {
			name = fmt.Sprintf("%s[%d]", name, q.Dim+1)
		}
		names = append(names, name)
	}
	return append(names, "log_noise_variance")
}

// Evaluate returns the objective at x and, unless gradient is nil, its gradient. Outside the domain (C not positive
// definite, a value that isn't finite) it returns an error. Its workspaces are kept between calls, so that one Problem
// serves one goroutine.
func (p *Problem) Evaluate(x, gradient []float64) (float64, error) {
	n := p.X.Rows
	if p.k.IsZero() {
		p.k, p.mean = p.X.Like(n, n), make([]float64, n)
		p.adj = Adjoints{K: p.X.Like(n, n), Mean: make([]float64, n)}
	}
	theta, beta, logNoise := p.Split(x)
	noise := math.Exp(logNoise)
	kernel.At(p.Kernel, theta).FillSymmetric(p.X, p.k)
	p.Mean.At(beta, p.X, p.mean)
	var adj *Adjoints
	if gradient != nil {
		adj = &p.adj
	}
	value, err := p.Objective.Evaluate(Moments{p.k, p.mean}, p.Y, noise, adj)
	if err != nil {
		return math.NaN(), err
	}
	if err := finite(value, nil, noise); err != nil || gradient == nil {
		return value, err
	}
	clear(gradient)
	dTheta, dBeta, _ := p.Split(gradient)
	linalg.MirrorLower(adj.K)
	kernel.At(p.Kernel, theta).PullSymmetric(p.X, adj.K, dTheta)
	p.Mean.Pull(beta, p.X, adj.Mean, dBeta)
	gradient[len(gradient)-1] = noise * adj.Noise
	return value, finite(value, gradient, noise)
}
