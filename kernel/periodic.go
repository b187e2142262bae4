package kernel

import (
	"math"

	"github.com/krigo-gp/krigo/internal/linalg"
	"github.com/krigo-gp/krigo/internal/radial"
	"github.com/krigo-gp/krigo/matrix"
)

// Periodic is σ² exp(−2 Σ_i sin²(π(x_i−x'_i)/p)/l_i²). Parameters: ln l²(s), ln p, ln σ².
//
// With φ(x) = (cos 2πx/p, sin 2πx/p) it is the squared exponential of φ, since |φ(x)−φ(x')|² = 4
// sin²(π(x−x')/p) for each input. Blocks are computed in this form.
type Periodic struct {
	axes
	level
}

var _ Kernel = (*Periodic)(nil)

// NewPeriodic returns the periodic kernel on dim inputs, which share one period.
func NewPeriodic(dim int, ard bool) *Periodic { return &Periodic{axes: axes{dim, ard}} }

func (p *Periodic) Params() []Param {
	return append(p.lengthParams(),
		Param{Name: "log_period", Kind: Period, Dim: -1},
		Param{Name: "log_variance", Kind: Variance, Dim: -1})
}

func (p *Periodic) Spec(theta []float64) Spec { return SpecOf("periodic", p.Params(), theta) }

// wave holds the phases of points, and their embedding divided by the lengthscales.
type wave struct {
	phase matrix.Dense // 2π(x−c)/p
	embed matrix.Dense // (cos, sin) of the phase, divided by l: 2·dim columns
}

// wave returns the wave of the points x, with phases measured from centre.
func (p *Periodic) wave(theta []float64, x matrix.Dense, centre []float64) wave {
	nl := len(theta) - 2
	freq := 2 * math.Pi * math.Exp(-theta[nl])
	w := wave{linalg.Borrow(x.Rows, p.dim), linalg.Borrow(x.Rows, 2*p.dim)}
	for i := range x.Rows {
		ph := w.phase.Row(i)
		em := w.embed.Row(i)
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

func (w wave) release()                                       { linalg.Return(w.phase, w.embed) }
func (p *Periodic) Cov(theta []float64, a, b, k matrix.Dense) { covOnce(p, theta, a, b, k) }

func (p *Periodic) Pull(theta []float64, a, b matrix.Dense, bar Adjoint) {
	pullOnce(p, theta, a, b, bar)
}

// periodicColumns is the kernel at fixed θ and fixed points b.
type periodicColumns struct {
	*Periodic
	theta []float64
	// origin of the phases: b's first point, so that rows of a don't affect one another
	origin []float64
	wave   wave // the wave of the points b
	points radial.Points
	// zeros and √½: the embedding is already centred and scaled, except for SE's u
	unit matrix.Dense
}

func (p *Periodic) against(theta []float64, b matrix.Dense) columns {
	c := &periodicColumns{Periodic: p, theta: theta, origin: b.Row(0),
		wave: p.wave(theta, b, b.Row(0)), unit: matrix.New(2, 2*p.dim)}
	for t := range c.unit.Row(1) {
		c.unit.Row(1)[t] = radial.SE.Scale(0)
	}
	c.points = radial.Right(c.wave.embed, c.unit.Row(0), c.unit.Row(1))
	return c
}

func (c *periodicColumns) release() {
	c.wave.release()
	c.points.Release()
}

// strips calls the function strips for rows with the wave w.
func (c *periodicColumns) strips(w wave, j0, j1 int, f func(i0, i1, j, n int, u matrix.Dense)) {
	left := radial.Left(w.embed, c.unit.Row(0), c.unit.Row(1))
	strips(left, c.points, j0, j1, f)
	left.Release()
}

func (c *periodicColumns) cov(a matrix.Dense, j0, j1 int, k matrix.Dense) {
	w := c.Periodic.wave(c.theta, a, c.origin)
	variance := math.Exp(c.theta[len(c.theta)-1])
	c.strips(w, j0, j1, func(i0, i1, j, n int, u matrix.Dense) {
		for i := i0; i < i1; i++ {
			radial.SE.Value(k.Row(i)[j:j+n], u.Row(i - i0)[:n], 1, variance)
		}
	})
	w.release()
}

// pull implements Periodic's Pull. Let Δ = 2π(x−x')/p, d² = Σ 2(1−cos Δ_t)/l_t² and W = K̄ ∘
// ∂K/∂(d²). Then ∂d²/∂ln l_t² = −2(1−cos Δ_t)/l_t², ∂d²/∂ln p = −Σ 2Δ_t sin Δ_t/l_t², and ∂d²/∂x_t
// = (2π/p) 2 sin Δ_t/l_t².
func (c *periodicColumns) pull(a matrix.Dense, j0, j1 int, bar matrix.Dense, dTheta []float64,
	dA matrix.Dense) {
	theta := c.theta
	nl := len(theta) - 2
	freq := 2 * math.Pi * math.Exp(-theta[nl])
	variance := math.Exp(theta[nl+1])
	wa := c.Periodic.wave(theta, a, c.origin)
	w := linalg.Borrow(a.Rows, j1-j0)
	var kSums radial.Sums
	c.strips(wa, j0, j1, func(i0, i1, j, n int, u matrix.Dense) {
		for i := i0; i < i1; i++ {
			wi := w.Row(i)[j : j+n]
			radial.SE.Pull(wi, u.Row(i - i0)[:n], bar.Row(i)[j:j+n], 1, &kSums)
			linalg.Scale(0.5*variance, wi) // ∂/∂(d²) = ½ ∂/∂u
		}
	})
	dTheta[nl+1] += variance * radial.Total(kSums[:])
	// W times (cos, sin) and times phase·(cos, sin) of b gives all sums, because cos Δ = cos α cos
	// β + sin α sin β and sin Δ = sin α cos β − cos α sin β.
	d := c.dim
	eb := linalg.Borrow(j1-j0, 4*d)
	for j := range eb.Rows {
		row := eb.Row(j)
		em := c.wave.embed.Row(j0 + j)
		ph := c.wave.phase.Row(j0 + j)
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
		em := wa.embed.Row(i)
		ph := wa.phase.Row(i)
		s := sums.Row(i)
		for t := range d {
			li := min(t, nl-1)
			cs := em[t]
			sn := em[d+t] // both divided by l
			cosSum := cs*s[t] + sn*s[d+t]
			sinSum := sn*s[t] - cs*s[d+t]
			sinPhaseB := sn*s[2*d+t] - cs*s[3*d+t]
			dTheta[li] -= 2 * (total*math.Exp(-theta[li]) - cosSum)
			dTheta[nl] -= 2 * (ph[t]*sinSum - sinPhaseB)
			if !dA.IsZero() {
				dA.Row(i)[t] += 2 * freq * sinSum
			}
		}
	}
	wa.release()
	linalg.Return(w, eb, sums)
}
