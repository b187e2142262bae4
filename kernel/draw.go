package kernel

import (
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/krigo-gp/krigo/internal/linalg"
	"github.com/krigo-gp/krigo/internal/lists"
	"github.com/krigo-gp/krigo/internal/radial"
	"github.com/krigo-gp/krigo/matrix"
)

// Function is a function drawn from GP(0, k_θ).
// It is a sum of random functions φ_k, each with mean zero and covariance k_θ:
//
//	f(x) = F^-½ Σ_k w_k φ_k(x),  w_k ~ N(0, 1),  E φ_k(x) φ_k(x') = k_θ(x, x')
//
// For a stationary kernel φ_k is σ√2 cos(ω_kᵀx + b_k), a random Fourier feature (Rahimi & Recht
// 2007), with ω_k from the kernel's spectral density.
// Over draws of weights and features, f has exactly the mean and covariance of the Gaussian
// process. Its distribution is Gaussian up to an excess kurtosis of 3(κ−1)/F, with κ = E φ⁴ / (E
// φ²)². κ is 1.5 for a stationary kernel, 3 for the linear kernel, and 1 for constant and white
// kernels. The κ of a product is the product of its factors' κ.
type Function struct {
	features features
	weights  []float64 // w_k F^-½
}

// features writes φ_k(x_i) to row i, column k.
type features func(x, phi matrix.Dense)

// drawer is a kernel with random functions.
type drawer interface {
	draw(theta []float64, dim, count int, rng *rand.Rand) (features, error)
}

// Draw draws a function of dim inputs with count features.
// It serves all kernels of this package, and their sums and products.
// It returns an error for kernels from elsewhere, and for a Conditional, from which
// posterior.Sample draws by conditioning.
func (at Bound) Draw(dim, count int, rng *rand.Rand) (*Function, error) {
	phi, err := drawFeatures(at.Kernel, at.Theta, dim, count, rng)
	if err != nil {
		return nil, err
	}
	return &Function{phi, lists.To(count, func(int) float64 {
		return rng.NormFloat64() / math.Sqrt(float64(count))
	})}, nil
}

// drawFeatures draws count random functions of dim inputs with the covariance k_θ.
// It returns an error if krigo has no random features for the kernel.
func drawFeatures(k Kernel, theta []float64, dim, count int, rng *rand.Rand) (features, error) {
	d, ok := k.(drawer)
	if !ok {
		return nil, fmt.Errorf("no random features are known for the kernel %q", k.Spec(theta).Name)
	}
	return d.draw(theta, dim, count, rng)
}

// At writes f(x_i) to out, on all cores.
func (f *Function) At(x matrix.Dense, out []float64) {
	linalg.Blocks(x.Rows, tile, func(i0, i1 int) {
		x.Check()
		phi := linalg.Borrow(i1-i0, len(f.weights))
		f.features(x.RowRange(i0, i1), phi)
		linalg.Gemv(false, 1, phi, f.weights, 0, out[i0:i1])
		linalg.Return(phi)
	})
}

// cosines returns the features amplitude·cos(ω_kᵀx + b_k).
// The rows of omega are the ω_k, and b_k is uniform.
func cosines(amplitude float64, omega matrix.Dense, rng *rand.Rand) features {
	phase := lists.To(omega.Rows, func(int) float64 { return 2 * math.Pi * rng.Float64() })
	return func(x, phi matrix.Dense) {
		linalg.Gemm(false, true, 1, x, omega, 0, phi)
		for i := range phi.Rows {
			row := phi.Row(i)
			for k, b := range phase {
				row[k] = amplitude * math.Cos(row[k]+b)
			}
		}
	}
}

// normals returns a matrix of draws from N(0, 1).
func normals(rows, cols int, rng *rand.Rand) matrix.Dense {
	m := matrix.New(rows, cols)
	for i := range m.Data {
		m.Data[i] = rng.NormFloat64()
	}
	return m
}

// draw draws frequencies from the spectral density.
// It is normal for SE, and Student's t with 2ν degrees of freedom for Matérn-ν (Rasmussen &
// Williams 2006, Eq. 4.15). The rational quadratic is a mixture of SE kernels (their Eq.
// 4.20), so its frequencies are normal with a precision from a gamma distribution.
func (s *Stationary) draw(theta []float64, _, count int, rng *rand.Rand) (features, error) {
	logL2, shape, variance := s.unpack(theta)
	gamma := func(a float64) float64 { return distuv.Gamma{Alpha: a, Beta: a, Src: rng}.Rand() }
	omega := normals(count, s.dim, rng)
	for k := range count {
		scale := 1.0
		switch s.profile {
		case radial.SE:
		case radial.Matern12:
			scale = 1 / math.Sqrt(gamma(0.5))
		case radial.Matern32:
			scale = 1 / math.Sqrt(gamma(1.5))
		case radial.Matern52:
			scale = 1 / math.Sqrt(gamma(2.5))
		case radial.RQ:
			scale = math.Sqrt(gamma(shape))
		default:
			return nil, fmt.Errorf("no random features are known for the kernel %q",
				s.Spec(theta).Name)
		}
		for t := range s.dim {
			omega.Row(k)[t] *= scale * math.Exp(-0.5*logL2[min(t, len(logL2)-1)])
		}
	}
	return cosines(math.Sqrt(2*variance), omega, rng), nil
}

// draw maps the inputs to points on circles, on which the kernel is an SE kernel (see Periodic),
// and draws for that SE kernel.
func (p *Periodic) draw(theta []float64, _, count int, rng *rand.Rand) (features, error) {
	f := cosines(math.Sqrt2*math.Exp(theta[len(theta)-1]/2), normals(count, 2*p.dim, rng), rng)
	centre := make([]float64, p.dim)
	return func(x, phi matrix.Dense) {
		w := p.wave(theta, x, centre)
		f(w.embed, phi)
		w.release()
	}, nil
}

// draw draws random slopes.
func (Linear) draw(theta []float64, dim, count int, rng *rand.Rand) (features, error) {
	slopes := normals(count, dim, rng)
	return func(x, phi matrix.Dense) {
		linalg.Gemm(false, true, math.Exp(theta[0]/2), x, slopes, 0, phi)
	}, nil
}

// draw draws random signs. The constant kernel has one sign per feature.
// The white kernel has one per feature and place, from a stream with the coordinates as its seed,
// since a place has the same noise in every call.
func (c indicator) draw(theta []float64, _, count int, rng *rand.Rand) (features, error) {
	amplitude := math.Exp(theta[0] / 2)
	seed := rng.Uint64()
	return func(x, phi matrix.Dense) {
		for i := range phi.Rows {
			stream := rand.NewPCG(seed, 0)
			if c.white {
				for _, v := range x.Row(i) {
					stream = rand.NewPCG(stream.Uint64(), math.Float64bits(v+0)) // −0 counts as 0
				}
			}
			row := phi.Row(i)
			for k := range row {
				row[k] = amplitude
				if stream.Uint64()&1 == 0 {
					row[k] = -amplitude
				}
			}
		}
	}, nil
}

// draw adds or multiplies independent random functions of mean zero, as a sum or product does with
// covariances.
func (c composite) draw(theta []float64, dim, count int, rng *rand.Rand) (features, error) {
	var parts []features
	var err error
	c.each(theta, nil, func(_ int, k Kernel, th, _ []float64) {
		f, e := drawFeatures(k, th, dim, count, rng)
		if parts = append(parts, f); e != nil {
			err = e
		}
	})
	return func(x, phi matrix.Dense) {
		parts[0](x, phi)
		part := linalg.Borrow(phi.Rows, phi.Cols)
		for _, f := range parts[1:] {
			f(x, part)
			for i := range phi.Rows {
				c.combine(phi.Row(i), part.Row(i))
			}
		}
		linalg.Return(part)
	}, err
}
