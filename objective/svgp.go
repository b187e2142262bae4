package objective

import (
	"fmt"
	"math"

	"github.com/krigo-gp/krigo/internal/linalg"
	"github.com/krigo-gp/krigo/matrix"
	"github.com/krigo-gp/krigo/pacbayes"
)

// SVGP is the uncollapsed variational energy of a Gaussian likelihood (Hensman, Fusi,
// Lawrence 2013), −ELBO for any q:
//
//	F = Σ_i [½ ln(2πs) + ((y_i − m̂_i)² + σ̂²_i)/(2s)] + KL(Q‖P)
//
// Its minimum over q is the VFE energy, at the posterior of Eq. 11 with α = 0. It is a sum
// over rows, so that N/|batch| times a batch's sum, plus KL, is unbiased.
type SVGP struct{ terms []float64 }

func (f *SVGP) noisy() bool { return true }

func (f *SVGP) evaluate(at pacbayes.Sample, _ []int, total int, s, kl float64, g, h []float64) (value, kappa, noiseBar float64, err error) {
	f.terms = f.terms[:0]
	for i, m := range at.Mean {
		d := at.Y[i] - m
		f.terms = append(f.terms, d*d+at.Variance[i])
	}
	n, weight := float64(at.Rows), float64(total)/float64(at.Rows)
	sums := []float64{linalg.Sum(f.terms)}
	if err := at.Sum(sums); err != nil {
		return math.NaN(), 0, 0, err
	}
	square := sums[0]
	if g != nil {
		for i, m := range at.Mean {
			g[i] = weight * (m - at.Y[i]) / s
			h[i] = weight / (2 * s)
		}
	}
	value = weight*(n*math.Log(2*math.Pi*s)/2+square/(2*s)) + kl
	return value, 1, weight * (n/(2*s) - square/(2*s*s)), nil
}

// step moves q by a natural-gradient step of size ρ (Hoffman, Blei, Wang, Paisley 2013;
// Salimbeni, Eleftheriadis, Hensman 2018): the natural parameters of N(ν, S'), which are
// S'⁻¹ν and −½S'⁻¹, go to 1−ρ of what they are and ρ of what would be optimal if the rows
// given, each counted weight times, were all:
//
//	S'⁻¹ ← (1−ρ)S'⁻¹ + ρ(I + (weight/s) Σ V_iV_iᵀ),  S'⁻¹ν ← (1−ρ)S'⁻¹ν + ρ (weight/s) Σ V_i r_i
func (f *SVGP) step(e *sparseEngine, lq matrix.Dense, rho, weight float64) error {
	e.a.Zero()
	clear(e.b)
	c := rho * weight / e.noise
	err := e.pass(func(i0, i1 int, v matrix.Dense) {
		linalg.SyrkLower(true, c, v, 1, e.a)
		linalg.Gemv(true, c, v, e.r[i0:i1], 1, e.b)
	})
	if err == nil {
		err = e.sum([]matrix.Dense{e.a}, e.b)
	}
	if err != nil {
		return err
	}
	e.a.AddDiagonal(rho)
	if rho < 1 {
		linalg.TriangularInverse(lq)
		linalg.SyrkLower(true, 1-rho, lq, 1, e.a)
		old := linalg.Borrow(1, e.m)
		defer linalg.Return(old)
		linalg.Gemv(false, 1, lq, e.mu, 0, old.Row(0))
		linalg.Gemv(true, 1-rho, lq, old.Row(0), 1, e.b)
	}
	if err := inverseFactor(e.a, lq); err != nil {
		return fmt.Errorf("the posterior's precision can't be factored at noise variance %.3g (%w): raise the noise variance", e.noise, err)
	}
	half := linalg.Borrow(1, e.m)
	defer linalg.Return(half)
	linalg.Gemv(true, 1, lq, e.b, 0, half.Row(0))
	linalg.Gemv(false, 1, lq, half.Row(0), 0, e.mu)
	return nil
}
