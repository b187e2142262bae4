package kernel

import (
	"math"

	"github.com/krigo-gp/krigo/internal/linalg"
)

// profile is a stationary covariance function of unit variance, as a function of d².
type profile interface {
	name() string
	// value overwrites d² by k(d²); shape is the extra parameter a, if there is one.
	value(d2 []float64, shape float64)
	// slope overwrites d² by g = ∂k/∂(d²) and writes k(d²) to k.
	slope(d2, k []float64, shape float64)
}

// Stationary is σ² k(d²) with d² = Σ (x_i − x'_i)²/l_i²: the squared exponential,
// the Matérn kernels and the rational quadratic, with one lengthscale for all
// inputs or one each (ARD). Parameters: ln l²(s), ln a (rational quadratic), ln σ².
type Stationary struct {
	dim     int
	ard     bool
	profile profile
}

// SE is the squared exponential σ² exp(−d²/2).
func SE(dim int, ard bool) *Stationary { return &Stationary{dim, ard, se{}} }

// Matern12 is σ² e^{−d}.
func Matern12(dim int, ard bool) *Stationary { return &Stationary{dim, ard, matern12{}} }

// Matern32 is σ² (1+√3 d) e^{−√3 d}.
func Matern32(dim int, ard bool) *Stationary { return &Stationary{dim, ard, matern32{}} }

// Matern52 is σ² (1+√5 d+5d²/3) e^{−√5 d}.
func Matern52(dim int, ard bool) *Stationary { return &Stationary{dim, ard, matern52{}} }

// RationalQuadratic is σ² (1+d²/(2a))^{−a}, a the shape.
func RationalQuadratic(dim int, ard bool) *Stationary { return &Stationary{dim, ard, rq{}} }

type se struct{}

func (se) name() string { return "se" }
func (se) value(d2 []float64, _ float64) {
	linalg.Scale(-0.5, d2)
	linalg.Exp(d2, d2)
}
func (se) slope(d2, k []float64, _ float64) {
	for i, v := range d2 {
		k[i] = -0.5 * v
	}
	linalg.Exp(k, k)
	for i, v := range k {
		d2[i] = -0.5 * v
	}
}

type matern12 struct{}

func (matern12) name() string { return "matern12" }
func (matern12) value(d2 []float64, _ float64) {
	linalg.Sqrt(d2, d2)
	linalg.Scale(-1, d2)
	linalg.Exp(d2, d2)
}
func (matern12) slope(d2, k []float64, _ float64) {
	linalg.Sqrt(d2, d2)
	for i, d := range d2 {
		k[i] = -d
	}
	linalg.Exp(k, k)
	for i, d := range d2 {
		if d > 0 {
			d2[i] = -k[i] / (2 * d)
		} // else 0: the kernel has a kink there
	}
}

type matern32 struct{}

func (matern32) name() string { return "matern32" }
func (p matern32) value(d2 []float64, _ float64) {
	k := linalg.Borrow(1, len(d2))
	p.slope(d2, k.Data, 0)
	copy(d2, k.Data)
	linalg.Return(k)
}
func (matern32) slope(d2, k []float64, _ float64) {
	linalg.Sqrt(d2, d2)
	linalg.Scale(math.Sqrt(3), d2)
	for i, v := range d2 {
		k[i] = -v
	}
	linalg.Exp(k, k)
	for i, v := range d2 {
		e := k[i]
		k[i] = (1 + v) * e
		d2[i] = -1.5 * e
	}
}

type matern52 struct{}

func (matern52) name() string { return "matern52" }
func (p matern52) value(d2 []float64, _ float64) {
	k := linalg.Borrow(1, len(d2))
	p.slope(d2, k.Data, 0)
	copy(d2, k.Data)
	linalg.Return(k)
}
func (matern52) slope(d2, k []float64, _ float64) {
	linalg.Sqrt(d2, d2)
	linalg.Scale(math.Sqrt(5), d2)
	for i, v := range d2 {
		k[i] = -v
	}
	linalg.Exp(k, k)
	for i, v := range d2 {
		e := k[i]
		k[i] = (1 + v + v*v/3) * e
		d2[i] = -5. / 6 * (1 + v) * e
	}
}

type rq struct{}

func (rq) name() string { return "rq" }
func (rq) value(d2 []float64, a float64) {
	linalg.Scale(1/(2*a), d2)
	linalg.Log1p(d2, d2)
	linalg.Scale(-a, d2)
	linalg.Exp(d2, d2)
}
func (rq) slope(d2, k []float64, a float64) {
	for i, v := range d2 {
		d2[i] = v / (2 * a)
	}
	linalg.Log1p(k, d2)
	linalg.Scale(-a, k)
	linalg.Exp(k, k)
	for i, u := range d2 {
		d2[i] = -0.5 * k[i] / (1 + u)
	}
}

func (s *Stationary) hasShape() bool { return s.profile.name() == "rq" }

// Params implements Kernel.
func (s *Stationary) Params() []Param {
	p := lengthParams(s.dim, s.ard)
	if s.hasShape() {
		p = append(p, Param{Name: "log_shape", Kind: Shape, Dim: -1})
	}
	return append(p, Param{Name: "log_variance", Kind: Variance, Dim: -1})
}

// Spec implements Kernel.
func (s *Stationary) Spec(theta []float64) Spec {
	l, shape, v := s.unpack(theta)
	spec := Spec{Name: s.profile.name(), Variance: v, Lengthscales: expHalf(l)}
	if s.hasShape() {
		spec.Shape = shape
	}
	return spec
}

// unpack returns the ln l² (one or dim of them), the shape a and σ².
func (s *Stationary) unpack(theta []float64) (logL2 []float64, shape, variance float64) {
	nl := 1
	if s.ard {
		nl = s.dim
	}
	if s.hasShape() {
		shape = math.Exp(theta[nl])
	}
	return theta[:nl], shape, math.Exp(theta[len(theta)-1])
}

// Cov implements Kernel.
func (s *Stationary) Cov(theta []float64, a, b, k linalg.Matrix) {
	logL2, shape, variance := s.unpack(theta)
	sa, sb := scaledPair(logL2, a, b)
	squaredDistances(sa, sb, k)
	linalg.Return(sa, sb)
	for i := range k.Rows {
		row := k.Row(i)
		s.profile.value(row, shape)
		linalg.Scale(variance, row)
	}
}

// Pull implements Kernel. With W = K̄ ∘ G, G = ∂K/∂(d²) and inputs divided by the
// lengthscales, ∂K/∂ln l_i² = −G (x_i−x'_i)² and ∂K/∂x_i = 2G (x_i−x'_i)/l_i, so
// that one product W·B serves every input dimension.
func (s *Stationary) Pull(theta []float64, a, b, bar linalg.Matrix, dTheta []float64, dA linalg.Matrix) {
	logL2, shape, variance := s.unpack(theta)
	sa, sb := scaledPair(logL2, a, b)
	w, k := linalg.Borrow(a.Rows, b.Rows), linalg.Borrow(2, b.Rows)
	squaredDistances(sa, sb, w)
	nl := len(logL2)
	var dVar, dShape, dAll float64
	for i := range w.Rows {
		wi, bi := w.Row(i), bar.Row(i)
		ki, d2 := k.Row(0), k.Row(1)
		copy(d2, wi)
		s.profile.slope(wi, ki, shape)
		dVar += linalg.Dot(bi, ki)
		if s.hasShape() {
			for j, v := range d2 {
				u := v / (2 * shape)
				dShape += bi[j] * ki[j] * (shape*u/(1+u) - shape*math.Log1p(u))
			}
		}
		linalg.Mul(wi, bi)
		if !s.ard {
			dAll += linalg.Dot(wi, d2)
		}
	}
	if s.ard {
		pullLengths(variance, w, sa, sb, dTheta[:nl])
	} else {
		dTheta[0] -= variance * dAll
	}
	if !dA.IsZero() {
		pullInputs(variance, logL2, w, sa, sb, dA)
	}
	if s.hasShape() {
		dTheta[nl] += variance * dShape
	}
	dTheta[len(dTheta)-1] += variance * dVar
	linalg.Return(sa, sb, w, k)
}

// Diag implements Kernel.
func (s *Stationary) Diag(theta []float64, a linalg.Matrix, k []float64) {
	_, _, variance := s.unpack(theta)
	for i := range k {
		k[i] = variance
	}
}

// PullDiag implements Kernel: only the variance moves the diagonal.
func (s *Stationary) PullDiag(theta []float64, _ linalg.Matrix, bar []float64, dTheta []float64, _ linalg.Matrix) {
	_, _, variance := s.unpack(theta)
	dTheta[len(dTheta)-1] += variance * linalg.Sum(bar)
}

// scaledPair returns (a − c)/l and (b − c)/l with c the mean of b's rows: distances
// don't feel c, but their computation by products loses fewer digits near the
// origin. c comes from b, the model's own points, so that a row of a gets the same
// covariances in whatever company it comes. The caller returns both to the pool.
func scaledPair(logL2 []float64, a, b linalg.Matrix) (sa, sb linalg.Matrix) {
	d := b.Cols
	sa, sb = linalg.Borrow(a.Rows, d), linalg.Borrow(b.Rows, d)
	tmp := linalg.Borrow(2, d)
	centre, inv := tmp.Row(0), tmp.Row(1)
	clear(centre)
	for i := range b.Rows {
		linalg.Axpy(1/float64(b.Rows), b.Row(i), centre)
	}
	for j := range inv {
		inv[j] = math.Exp(-0.5 * logL2[min(j, len(logL2)-1)])
	}
	apply := func(src, dst linalg.Matrix) {
		for i := range src.Rows {
			x, z := src.Row(i), dst.Row(i)
			for j, v := range x {
				z[j] = (v - centre[j]) * inv[j]
			}
		}
	}
	apply(a, sa)
	apply(b, sb)
	linalg.Return(tmp)
	return sa, sb
}

// cancelled is the share of |a|²+|b|² under which a squared distance computed by
// products has lost more than three digits and is computed again by differences.
const cancelled = 1e-3

// squaredDistances writes |a_i − b_j|² to d2: |a|² + |b|² − 2a·b where that is
// safe, which is one matrix product, else the sum of squared differences, so that
// every entry is right to about 1e-13 of itself and coincident points give 0.
func squaredDistances(a, b, d2 linalg.Matrix) {
	d := a.Cols
	if d <= 2 { // the product would cost more than the differences
		for i := range a.Rows {
			ai, row := a.Row(i), d2.Row(i)
			for j := range row {
				row[j] = differences(ai, b.Row(j))
			}
		}
		return
	}
	linalg.Gemm(false, true, -2, a, b, 0, d2)
	nb := linalg.Borrow(1, b.Rows)
	for j := range b.Rows {
		nb.Data[j] = linalg.Dot(b.Row(j), b.Row(j))
	}
	for i := range a.Rows {
		ai, row := a.Row(i), d2.Row(i)
		na := linalg.Dot(ai, ai)
		for j, v := range row {
			size := na + nb.Data[j]
			v += size
			if !(v > cancelled*size) {
				v = differences(ai, b.Row(j))
			}
			row[j] = v
		}
	}
	linalg.Return(nb)
}

func differences(a, b []float64) float64 {
	var s float64
	for i, v := range a {
		e := v - b[i]
		s += e * e
	}
	return s
}

// pullLengths adds −σ² Σ_ij W_ij (a_it − b_jt)² to d[t] for every dimension t.
func pullLengths(variance float64, w, a, b linalg.Matrix, d []float64) {
	wb := linalg.Borrow(a.Rows, a.Cols)
	linalg.Gemm(false, false, 1, w, b, 0, wb)
	col := linalg.Borrow(1, b.Rows)
	clear(col.Data)
	for i := range w.Rows {
		wi := w.Row(i)
		linalg.Axpy(1, wi, col.Data)
		var sum float64
		for _, v := range wi {
			sum += v
		}
		ai, wbi := a.Row(i), wb.Row(i)
		for t, v := range ai {
			d[t] -= variance * v * (sum*v - 2*wbi[t])
		}
	}
	for j, c := range col.Data {
		for t, v := range b.Row(j) {
			d[t] -= variance * c * v * v
		}
	}
	linalg.Return(wb, col)
}

// pullInputs adds 2σ² Σ_j W_ij (a_it − b_jt)/l_t to dA_it, a and b being divided by l.
func pullInputs(variance float64, logL2 []float64, w, a, b, dA linalg.Matrix) {
	wb := linalg.Borrow(a.Rows, a.Cols)
	linalg.Gemm(false, false, 1, w, b, 0, wb)
	for i := range w.Rows {
		var sum float64
		for _, v := range w.Row(i) {
			sum += v
		}
		ai, wbi, di := a.Row(i), wb.Row(i), dA.Row(i)
		for t, v := range ai {
			di[t] += 2 * variance * (sum*v - wbi[t]) * math.Exp(-0.5*logL2[min(t, len(logL2)-1)])
		}
	}
	linalg.Return(wb)
}
