package objective

import (
	"cmp"
	"math"

	"github.com/krigo-gp/krigo/internal/linalg"
	"github.com/krigo-gp/krigo/matrix"
	"github.com/krigo-gp/krigo/pacbayes"
)

// SVGP is the uncollapsed variational energy, −ELBO, for any q and a likelihood with noise s
// (Hensman, Fusi, Lawrence 2013; Hensman, Matthews, Ghahramani 2015):
//
//	F = −Σ_i E_{f ~ N(m̂_i, σ̂²_i)} ln p(y_i|f) + KL(Q‖P)
//
// For Gaussian noise, the minimum of F over q is the VFE energy, and the minimiser is the posterior
// of Reeb et al.
// 2018, Eq. 11, with α = 0. The first part of F is a sum over rows.
// So N/|batch| times the sum over a random batch, plus KL, is an unbiased estimate of F.
type SVGP struct {
	Noise pacbayes.Expectation // expectation of −ln p(y|f); nil means GaussianNoise
}

// expectation returns Noise, or GaussianNoise if Noise is nil.
func (f *SVGP) expectation() pacbayes.Expectation {
	return cmp.Or[pacbayes.Expectation](f.Noise, GaussianNoise{})
}

// Conjugate reports whether the noise is Gaussian.
// If so, the optimal q for the other parameters has a closed form.
func (f *SVGP) Conjugate() bool {
	_, ok := f.expectation().(GaussianNoise)
	return ok
}

func (f *SVGP) noisy() bool { return true }

// evaluate implements FreeForm. N/|batch| weights the sum over rows alone, so ∂F/∂KL is 1.
func (f *SVGP) evaluate(at pacbayes.Sample, _ []int, total int, s, kl float64, g,
	h []float64) (value, kappa, noiseBar float64, err error) {
	value, noiseBar, err = f.expectation().Expect(at, s, float64(total)/float64(at.Rows),
		pacbayes.Derivatives{Mean: g, Variance: h})
	return value + kl, 1, noiseBar, err
}

// GaussianNoise is Gaussian noise with variance s. It is the expectation of −ln N(y;
// f, s) over f ~ N(m, v): ½ ln(2πs) + ((y−m)² + v)/(2s).
type GaussianNoise struct{}

var _ pacbayes.Expectation = GaussianNoise{}

// Expect implements pacbayes.Expectation in closed form.
// If the sample has a Sum, the value and dNoise cover the rows of all ranks. The derivatives by m
// and v are those of this rank's rows.
func (GaussianNoise) Expect(at pacbayes.Sample, s, weight float64, d pacbayes.Derivatives) (
	value, dNoise float64, err error) {
	terms := linalg.Borrow(1, len(at.Y))
	defer linalg.Return(terms)
	for i, m := range at.Mean {
		d := at.Y[i] - m
		terms.Data[i] = d*d + at.Variance[i]
	}
	n := float64(len(at.Y))
	sums := []float64{linalg.Sum(terms.Row(0))}
	if at.Sum != nil {
		n = float64(at.Rows)
		err = at.Sum(sums)
	}
	square := sums[0]
	if d.Mean != nil {
		for i, m := range at.Mean {
			d.Mean[i] = weight * (m - at.Y[i]) / s
			d.Variance[i] = weight / (2 * s)
		}
	}
	return weight * (n*math.Log(2*math.Pi*s)/2 + square/(2*s)), weight * (n/(2*s) - square/(2*s*s)),
		err
}

// step moves q by a natural-gradient step of size ρ (Hoffman, Blei, Wang, Paisley 2013;
// Salimbeni, Eleftheriadis, Hensman 2018). It moves the natural parameters of q = N(ν, S'), S'⁻¹ν
// and −½S'⁻¹, by the share ρ of the way to their optimum.
// This optimum is for the given rows, each counted weight times:
//
//	S'⁻¹ ← (1−ρ)S'⁻¹ + ρ(I + (weight/s) Σ V_iV_iᵀ),  S'⁻¹ν ← (1−ρ)S'⁻¹ν + ρ (weight/s) Σ V_i r_i
//
// The formulas are for Gaussian noise. For other noise 2h_i replaces weight/s, and 2h_i V_iᵀν − g_i
// replaces (weight/s) r_i. Here g and h are the derivatives with respect to m̂_i and σ̂²_i at the
// present q (Salimbeni et al., Sect. 2). If −ln p is concave, h_i counts as 0, so that S' stays
// positive definite.
func (f *SVGP) step(e *sparseEngine, lq matrix.Dense, rho, weight float64) error {
	e.a.Zero()
	clear(e.b)
	var err error
	if f.Conjugate() {
		c := rho * weight / e.noise
		err = e.pass(func(i0, i1 int, v matrix.Dense) {
			linalg.SyrkLower(true, c, v, 1, e.a)
			linalg.Gemv(true, c, v, e.r[i0:i1], 1, e.b)
		})
	} else {
		err = f.natural(e, lq, rho*weight)
	}
	if err == nil {
		err = e.sum([]matrix.Dense{e.a}, e.b)
	}
	if err != nil {
		return err
	}
	// e.a becomes the new S'⁻¹, and e.b the new S'⁻¹ν. The old ones enter by S'⁻¹ = L'⁻ᵀL'⁻¹.
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
		return unfactored("posterior's precision", e.noise, err)
	}
	// ν = S'(S'⁻¹ν) = L'(L'ᵀ e.b).
	half := linalg.Borrow(1, e.m)
	defer linalg.Return(half)
	linalg.Gemv(true, 1, lq, e.b, 0, half.Row(0))
	linalg.Gemv(false, 1, lq, half.Row(0), 0, e.mu)
	return nil
}

// natural adds weight·Σ 2h_i V_iV_iᵀ to e.a and weight·Σ (2h_i V_iᵀν − g_i)V_i to e.b, summed over
// this rank's rows.
func (f *SVGP) natural(e *sparseEngine, lq matrix.Dense, weight float64) error {
	if err := e.pass(func(int, int, matrix.Dense) {}); err != nil {
		return err
	}
	if err := e.predict(func(v, h matrix.Dense) {
		linalg.Gemm(false, false, 1, v, lq, 0,
			h)
	}); err != nil {
		return err
	}
	s := newPredictionSeeds(e.m, e.n)
	if _, _, err := f.expectation().Expect(e.sample(nil), e.noise, weight,
		pacbayes.Derivatives{Mean: s.g, Variance: s.h}); err != nil {
		return err
	}
	for i, h := range s.h {
		// h and g become the factors of V_iV_iᵀ and V_i: 2h_i, and 2h_i V_iᵀν − g_i with V_iᵀν =
		// m̂_i − m(x_i).
		s.h[i] = 2 * max(h, 0)
		s.g[i] = s.h[i]*(e.mHat[i]-e.mean[i]) - s.g[i]
	}
	return s.addHere(e, e.b, e.a)
}
