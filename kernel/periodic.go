package kernel

import (
	"math"

	"github.com/krigo-gp/krigo/internal/linalg"
)

// Periodic is σ² exp(−2 Σ_i sin²(π(x_i−x'_i)/p)/l_i²). Parameters: ln l²(s), ln p, ln σ².
//
// With φ(x) = (cos 2πx/p, sin 2πx/p) it is the squared exponential on φ, since
// |φ(x)−φ(x')|² = 4 sin²(π(x−x')/p) per input; blocks are computed so.
type Periodic struct {
	dim int
	ard bool
}

// NewPeriodic returns the periodic kernel on dim inputs, with one period for all.
func NewPeriodic(dim int, ard bool) *Periodic { return &Periodic{dim, ard} }

// Params implements Kernel.
func (p *Periodic) Params() []Param {
	return append(lengthParams(p.dim, p.ard),
		Param{Name: "log_period", Kind: Period, Dim: -1}, Param{Name: "log_variance", Kind: Variance, Dim: -1})
}

// Spec implements Kernel.
func (p *Periodic) Spec(theta []float64) Spec {
	n := len(theta)
	return Spec{Name: "periodic", Lengthscales: expHalf(theta[:n-2]), Period: math.Exp(theta[n-2]), Variance: math.Exp(theta[n-1])}
}

// wave holds the phases of points and their embedding divided by the lengthscales.
type wave struct {
	phase linalg.Matrix // 2π(x−c)/p
	embed linalg.Matrix // (cos, sin) of the phase, over l: 2·dim columns
}

func (p *Periodic) wave(theta []float64, x linalg.Matrix, centre []float64) wave {
	nl := len(theta) - 2
	freq := 2 * math.Pi * math.Exp(-theta[nl])
	w := wave{linalg.Borrow(x.Rows, p.dim), linalg.Borrow(x.Rows, 2*p.dim)}
	for i := range x.Rows {
		ph, em := w.phase.Row(i), w.embed.Row(i)
		for t, v := range x.Row(i) {
			ph[t] = freq * (v - centre[t])
		}
		linalg.Sincos(em[p.dim:], em[:p.dim], ph)
		for t := range p.dim {
			il := math.Exp(-0.5 * theta[min(t, nl-1)])
			em[t] *= il
			em[p.dim+t] *= il
		}
	}
	return w
}

func (w wave) release() { linalg.Return(w.phase, w.embed) }

// Cov implements Kernel. Phases are taken from b's first point: see scaledPair.
func (p *Periodic) Cov(theta []float64, a, b, k linalg.Matrix) {
	wa, wb := p.wave(theta, a, b.Row(0)), p.wave(theta, b, b.Row(0))
	squaredDistances(wa.embed, wb.embed, k)
	variance := math.Exp(theta[len(theta)-1])
	for i := range k.Rows {
		se{}.value(k.Row(i), 0)
		linalg.Scale(variance, k.Row(i))
	}
	wa.release()
	wb.release()
}

// Pull implements Kernel. With Δ = 2π(x−x')/p, d² = Σ 2(1−cos Δ_t)/l_t² and
// W = K̄ ∘ ∂K/∂(d²): ∂d²/∂ln l_t² = −2(1−cos Δ_t)/l_t², ∂d²/∂ln p = −Σ 2Δ_t sin Δ_t/l_t²,
// ∂d²/∂x_t = (2π/p) 2 sin Δ_t/l_t².
func (p *Periodic) Pull(theta []float64, a, b, bar linalg.Matrix, dTheta []float64, dA linalg.Matrix) {
	nl := len(theta) - 2
	freq, variance := 2*math.Pi*math.Exp(-theta[nl]), math.Exp(theta[nl+1])
	wa, wb := p.wave(theta, a, b.Row(0)), p.wave(theta, b, b.Row(0))
	w, k := linalg.Borrow(a.Rows, b.Rows), linalg.Borrow(1, b.Rows)
	squaredDistances(wa.embed, wb.embed, w)
	for i := range w.Rows {
		wi, bi := w.Row(i), bar.Row(i)
		se{}.slope(wi, k.Data, 0)
		dTheta[nl+1] += variance * linalg.Dot(bi, k.Data)
		linalg.Mul(wi, bi)
		linalg.Scale(variance, wi)
	}
	// W times (cos, sin) and times phase·(cos, sin) of b gives every sum needed, by
	// cos Δ = cos α cos β + sin α sin β and sin Δ = sin α cos β − cos α sin β.
	d := p.dim
	eb := linalg.Borrow(b.Rows, 4*d)
	for j := range b.Rows {
		row, em, ph := eb.Row(j), wb.embed.Row(j), wb.phase.Row(j)
		copy(row, em)
		for t := range d {
			row[2*d+t] = ph[t] * em[t]
			row[3*d+t] = ph[t] * em[d+t]
		}
	}
	sums := linalg.Borrow(a.Rows, 4*d)
	linalg.Gemm(false, false, 1, w, eb, 0, sums)
	for i := range a.Rows {
		var total float64
		for _, v := range w.Row(i) {
			total += v
		}
		em, ph, s := wa.embed.Row(i), wa.phase.Row(i), sums.Row(i)
		for t := range d {
			li := min(t, nl-1)
			c, sn := em[t], em[d+t] // both over l
			cosSum := c*s[t] + sn*s[d+t]
			sinSum := sn*s[t] - c*s[d+t]
			sinPhaseB := sn*s[2*d+t] - c*s[3*d+t]
			dTheta[li] -= 2 * (total*math.Exp(-theta[li]) - cosSum)
			dTheta[nl] -= 2 * (ph[t]*sinSum - sinPhaseB)
			if !dA.IsZero() {
				dA.Row(i)[t] += 2 * freq * sinSum
			}
		}
	}
	wa.release()
	wb.release()
	linalg.Return(w, k, eb, sums)
}

// Diag implements Kernel.
func (p *Periodic) Diag(theta []float64, _ linalg.Matrix, k []float64) {
	v := math.Exp(theta[len(theta)-1])
	for i := range k {
		k[i] = v
	}
}

// PullDiag implements Kernel.
func (p *Periodic) PullDiag(theta []float64, _ linalg.Matrix, bar []float64, dTheta []float64, _ linalg.Matrix) {
	n := len(theta)
	dTheta[n-1] += math.Exp(theta[n-1]) * linalg.Sum(bar)
}
