package objective

import (
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/krigo-gp/krigo/internal/linalg"
	"github.com/krigo-gp/krigo/matrix"
	"github.com/krigo-gp/krigo/posterior"
)

// Evidence is the negative log marginal likelihood
//
//	−ln p(y) = ½[N ln 2π + ln|C| + rᵀw]        (Reeb et al. 2018, Eq. 33)
//
// with adjoints C̄ = ½(C⁻¹ − wwᵀ), s̄ = tr C̄, m̄ = −w.
type Evidence struct {
	// Pairs, unless nil, holds the pairs of rows of a unit, whose noise is correlated. So rows of a
	// unit count for less than rows of several units. A unit with the inputs x has a function of its
	// own, of the share p of the noise variance:
	//
	//	C_ij = K_ij + s p (1 + √3 d/l) e^{−√3 d/l}, where d = |x_i − x_j|
	//
	// The parameters ln p/(1−p) and ln l follow ln s. Without them all noise is independent.
	Pairs []Pair
	w     []float64
}

var _ Exact = (*Evidence)(nil)

// Evaluate implements Exact. It overwrites prior.K with the Cholesky factor of C.
func (e *Evidence) Evaluate(prior Moments, y []float64, noise float64,
	adj *Adjoints) (float64, error) {
	k := prior.K
	n := len(y)
	pairs := e.Pairs[:min(len(prior.Steps), 1)*len(e.Pairs)] // none without the two parameters
	for _, p := range pairs {
		rho, _ := p.correlation(prior.Steps)
		k.Row(p.I)[p.J] += noise * rho
	}
	w, quad, err := solve(k, prior.Mean, y, noise, &e.w)
	if err != nil {
		return 0, err
	}
	value := 0.5 * (float64(n)*math.Log(2*math.Pi) + linalg.LogDet(k) + quad)
	if adj == nil {
		return value, nil
	}
	// The lower triangle of C̄ = ½(C⁻¹ − wwᵀ).
	linalg.CholeskyInverseLower(k, adj.K)
	linalg.Each(n, chunkRows, func(i int) {
		row := adj.K.Row(i)[:i+1]
		linalg.Scale(0.5, row)
		linalg.Axpy(-0.5*w[i], w[:i+1], row)
	})
	adj.Noise = 0
	for i, wi := range w {
		adj.Noise += adj.K.At(i, i)
		adj.Mean[i] = -wi
	}
	adj.Steps = make([]float64, len(prior.Steps))
	for _, p := range pairs {
		rho, slopes := p.correlation(prior.Steps)
		bar := 2 * adj.K.At(p.I, p.J) // C̄_ij and C̄_ji
		adj.Noise += bar * rho
		floats.AddScaled(adj.Steps, noise*bar, slopes[:])
	}
	return value, nil
}

// Pair is two rows I > J of a unit, whose inputs are Far apart.
type Pair struct {
	I, J int
	Far  float64
}

// PairsOf returns the pairs of rows of x that have the same unit.
func PairsOf(x matrix.Dense, units []int) []Pair {
	pairs := []Pair{}
	for i, u := range units {
		for j := range i {
			if units[j] == u {
				pairs = append(pairs, Pair{i, j, floats.Distance(x.Row(i), x.Row(j), 2)})
			}
		}
	}
	return pairs
}

// correlation returns the correlation of the noise of two rows, and its derivatives by the steps.
func (p Pair) correlation(steps []float64) (rho float64, slopes [2]float64) {
	share := 1 / (1 + math.Exp(-steps[0]))
	far := math.Sqrt(3) * p.Far / math.Exp(steps[1])
	decay := share * math.Exp(-far)
	rho = decay * (1 + far)
	return rho, [2]float64{(1 - share) * rho, decay * far * far}
}

// solve overwrites k with the Cholesky factor of C = K + sI.
// It returns w = C⁻¹r, stored in buffer, and quad = rᵀw.
func solve(k matrix.Dense, mean, y []float64, noise float64,
	buffer *[]float64) (w []float64, quad float64, err error) {
	if len(*buffer) != len(y) {
		*buffer = make([]float64, len(y))
	}
	w = *buffer
	k.AddDiagonal(noise)
	if err := linalg.Cholesky(k); err != nil {
		return nil, 0, posterior.NotDefinite(err, noise)
	}
	for i, v := range y {
		w[i] = v - mean[i]
	}
	// rᵀw = ‖L⁻¹r‖², and w = L⁻ᵀ(L⁻¹r).
	linalg.Trsv(false, k, w)
	quad = linalg.Dot(w, w)
	linalg.Trsv(true, k, w)
	return w, quad, nil
}
