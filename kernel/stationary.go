package kernel

import (
	"math"

	"github.com/krigo-gp/krigo/internal/linalg"
	"github.com/krigo-gp/krigo/internal/radial"
	"github.com/krigo-gp/krigo/matrix"
)

// Stationary is σ² k(d²) with d² = Σ (x_i − x'_i)²/l_i²:
// the squared exponential, the Matérn kernels and the rational quadratic.
// It has one lengthscale for all inputs, or one per input (ARD). Parameters:
// ln l²(s), ln a (rational quadratic), ln σ².
type Stationary struct {
	axes
	level
	name    string
	profile radial.Profile
}

var _ Kernel = (*Stationary)(nil)

// SE returns the squared exponential kernel σ² exp(−d²/2).
func SE(dim int, ard bool) *Stationary {
	return &Stationary{axes{dim, ard}, level{}, "se", radial.SE}
}

// Matern12 returns the kernel σ² e^{−d}.
func Matern12(dim int, ard bool) *Stationary {
	return &Stationary{axes{dim, ard}, level{}, "matern12", radial.Matern12}
}

// Matern32 returns the kernel σ² (1+√3 d) e^{−√3 d}.
func Matern32(dim int, ard bool) *Stationary {
	return &Stationary{axes{dim, ard}, level{}, "matern32", radial.Matern32}
}

// Matern52 returns the kernel σ² (1+√5 d+5d²/3) e^{−√5 d}.
func Matern52(dim int, ard bool) *Stationary {
	return &Stationary{axes{dim, ard}, level{}, "matern52", radial.Matern52}
}

// RationalQuadratic returns the kernel σ² (1+d²/(2a))^{−a}, with the shape a.
func RationalQuadratic(dim int, ard bool) *Stationary {
	return &Stationary{axes{dim, ard}, level{}, "rq", radial.RQ}
}

// hasShape says whether ln a is among the parameters.
func (s *Stationary) hasShape() bool { return s.profile == radial.RQ }

func (s *Stationary) Params() []Param {
	p := s.lengthParams()
	if s.hasShape() {
		p = append(p, Param{Name: "log_shape", Kind: Shape, Dim: -1})
	}
	return append(p, Param{Name: "log_variance", Kind: Variance, Dim: -1})
}

// size returns the number of a kernel's parameters, for many kernels without making their names.
func size(k Kernel) int {
	if c, ok := k.(interface{ size() int }); ok {
		return c.size()
	}
	return len(k.Params())
}

func (s *Stationary) size() int {
	n := s.lengths() + 1
	if s.hasShape() {
		n++
	}
	return n
}

func (s *Stationary) Spec(theta []float64) Spec { return SpecOf(s.name, s.Params(), theta) }

// unpack returns ln l² (one value, or dim values), the shape a, and σ².
func (s *Stationary) unpack(theta []float64) (logL2 []float64, shape, variance float64) {
	nl := s.lengths()
	if s.hasShape() {
		shape = math.Exp(theta[nl])
	}
	return theta[:nl], shape, math.Exp(theta[len(theta)-1])
}

func (s *Stationary) Cov(theta []float64, a, b, k matrix.Dense) { covOnce(s, theta, a, b, k) }

func (s *Stationary) Pull(theta []float64, a, b matrix.Dense, bar Adjoint) {
	pullOnce(s, theta, a, b, bar)
}

// against is a stationary kernel at fixed θ and fixed points b.
type against struct {
	*Stationary
	shape, variance float64
	points          radial.Points
	scratch         matrix.Dense
	centre, inverse []float64 // one value per input; inverse is 1/l, scaled for the profile
}

// against packs the points b for package radial, about their mean.
func (s *Stationary) against(theta []float64, b matrix.Dense) columns {
	logL2, shape, variance := s.unpack(theta)
	p := &against{Stationary: s, shape: shape, variance: variance, scratch: linalg.Borrow(2, s.dim)}
	p.centre, p.inverse = p.scratch.Row(0), p.scratch.Row(1)
	s.frame(logL2, shape, b, p.centre, p.inverse)
	p.points = radial.Right(b, p.centre, p.inverse)
	return p
}

// frame sets the centre and the scales for packing points, from b.
func (s *Stationary) frame(logL2 []float64, shape float64, b matrix.Dense, centre,
	inverse []float64) {
	// The centre changes no distance, but divisions by the lengthscales lose fewer digits near the
	// origin. The centre comes from b, the model's own points.
	// So the covariances of a row of a don't depend on the other rows.
	clear(centre)
	for i := range b.Rows {
		linalg.Axpy(1/float64(b.Rows), b.Row(i), centre)
	}
	for t := range inverse {
		inverse[t] = s.profile.Scale(shape) * math.Exp(-0.5*logL2[min(t, len(logL2)-1)])
	}
}

// singles packs the points of a for products in float32.
func (s *Stationary) singles(theta []float64, a matrix.Dense) (*radial.Singles, bool) {
	logL2, shape, variance := s.unpack(theta)
	frame := matrix.New(2, s.dim)
	s.frame(logL2, shape, a, frame.Row(0), frame.Row(1))
	return radial.NewSingles(s.profile, variance, a, frame.Row(0), frame.Row(1))
}

func (p *against) release() {
	p.points.Release()
	linalg.Return(p.scratch)
}

// strips computes squared distances strip by strip. It calls f for the rows [i0, i1) of a strip and
// n columns. j is the first column, counted from j0.
func strips(a, b radial.Points, j0, j1 int, f func(i0, i1, j, n int, u matrix.Dense)) {
	block := b.Block()
	u := linalg.Borrow(radial.Group, block)
	for i := 0; i < a.Rows; i += radial.Group {
		for j := j0; j < j1; j += block {
			n := min(block, j1-j)
			radial.Strip(a, i/radial.Group, b, j, j+n, u)
			f(i, min(i+radial.Group, a.Rows), j-j0, n, u)
		}
	}
	linalg.Return(u)
}

func (p *against) cov(a matrix.Dense, j0, j1 int, k matrix.Dense) {
	left := radial.Left(a, p.centre, p.inverse)
	strips(left, p.points, j0, j1, func(i0, i1, j, n int, u matrix.Dense) {
		for i := i0; i < i1; i++ {
			p.profile.Value(k.Row(i)[j:j+n], u.Row(i - i0)[:n], p.shape, p.variance)
		}
	})
	left.Release()
}

// pull implements Stationary's Pull. Let W = K̄ ∘ G and G = ∂K/∂u, and let inputs be multiplied by
// c/l_i. Then u is their squared distance, ∂K/∂ln l_i² = −G (x_i−x'_i)², and ∂K/∂x_i = 2G
// (x_i−x'_i) c/l_i.
func (p *against) pull(a matrix.Dense, j0, j1 int, bar matrix.Dense, dTheta []float64,
	dA matrix.Dense) {
	padded := (a.Cols + 3) / 4 * 4
	// second moments: row 0 for all rows, row 1 for one row
	lanes := linalg.Borrow(2, padded*radial.Lanes)
	lanes.Zero()
	var sums radial.Sums
	left := radial.Left(a, p.centre, p.inverse)
	strips(left, p.points, j0, j1, func(i0, i1, j, n int, u matrix.Dense) {
		for i := i0; i < i1; i++ {
			w := u.Row(i - i0)[:n]
			p.profile.Pull(w, w, bar.Row(i)[j:j+n], p.shape, &sums)
			if !p.ard && dA.IsZero() {
				continue
			}
			// First moments of this row give its dA. Second moments add up over all rows, for the
			// lengthscales.
			row := lanes.Row(1)
			radial.Moments{First: row, Second: lanes.Row(0)}.Add(w, left, i, p.points, j0+j)
			if dA.IsZero() {
				continue
			}
			for t := range a.Cols {
				dA.Row(i)[t] += 2 * p.variance * p.inverse[t] * radial.Total(row[t*radial.Lanes:])
			}
			clear(row)
		}
	})
	left.Release()
	p.addSums(p.variance, lanes.Row(0), &sums, dTheta)
	linalg.Return(lanes)
}

// addSums adds the sums of a pull-back to dTheta.
// Under ARD these include the second moments by input.
func (s *Stationary) addSums(variance float64, second []float64, sums *radial.Sums,
	dTheta []float64) {
	lengths := s.lengths()
	if s.ard {
		for t := range lengths {
			dTheta[t] -= variance * radial.Total(second[t*radial.Lanes:])
		}
	} else {
		dTheta[0] -= variance * radial.Total(sums[radial.Lanes:])
	}
	if s.hasShape() {
		dTheta[lengths] += variance * radial.Total(sums[2*radial.Lanes:])
	}
	dTheta[len(dTheta)-1] += variance * radial.Total(sums[:])
}
