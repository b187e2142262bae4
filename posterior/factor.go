package posterior

import (
	"fmt"
	"math"
	"slices"

	"github.com/krigo-gp/krigo/internal/linalg"
	"github.com/krigo-gp/krigo/internal/lists"
	"github.com/krigo-gp/krigo/kernel"
	"github.com/krigo-gp/krigo/matrix"
)

// NotDefinite explains a failed factorisation of K + σ_n² I.
// The full GP adds no jitter, since the noise variance already stands on the diagonal.
func NotDefinite(err error, noise float64) error {
	return fmt.Errorf("the matrix K + σ_n² I can't be factored with noise variance %.3g (%w): "+
		"raise the noise variance, or shorten the lengthscales", noise, err)
}

// whole returns the largest prior variance on the support.
// If the prior is itself a posterior, it is the variance before conditioning, because the rounding
// error of a remaining variance has the size of the whole variance.
func (p *Posterior) whole() float64 {
	k := p.Kernel
	theta := p.Theta
	temper := 1.0
	if c, ok := k.(*kernel.Conditional); ok {
		k = c.Kernel
		theta = c.Theta
		temper = c.Temper
	}
	diag := make([]float64, p.Support.Rows)
	k.Diag(theta, p.Support, diag)
	return temper * slices.Max(diag)
}

// noisyNorm returns tr(N C⁻¹) for the diagonal matrix N of the rows' noise, s‖L⁻¹‖² if all have the
// same. It overwrites L.
func (p *Posterior) noisyNorm(l matrix.Dense) (sum float64) {
	if p.Noises == nil {
		return p.Noise * inverseNorm(l)
	}
	linalg.TriangularInverse(l)
	for i := range l.Rows {
		for j, v := range l.Row(i)[:i+1] {
			sum += v * v * p.Noises[j]
		}
	}
	return sum
}

// inverseNorm returns ‖L⁻¹‖² in the Frobenius norm. It overwrites L.
func inverseNorm(l matrix.Dense) (sum float64) {
	linalg.TriangularInverse(l)
	for i := range l.Rows {
		row := l.Row(i)[:i+1]
		sum += linalg.Dot(row, row)
	}
	return sum
}

// The jitter on the diagonal of K_ZZ is a multiple of the mean variance.
// It starts at jitterStart, grows tenfold until rounding can't matter, and ends at jitterEnd.
// KL, mean and variance use the same K_ZZ, which keeps the certificate valid:
// marginalising the noisy inducing outputs can only lower the KL (data processing).
const (
	jitterStart = 1e-12
	jitterEnd   = 1e-4
)

// FactorInducing fills l with the Cholesky factor of K_ZZ + jitter I.
// It takes the least jitter from minJitter on with which rounding can't matter.
//
// Rounding in K_ZZ and in its factor acts as a matrix E that is added to K_ZZ. Its norm is at most
// about off = M·2⁻⁵² of the largest variance.
// Either K_ZZ's smallest eigenvalue is 1,000 times as large, or the jitter is 32 times as large.
// Then jitter I + E has no negative eigenvalue: it is the covariance of noise on the inducing
// outputs, and Q = VᵀV stays below K_XX. Pivots alone don't tell: where they were 10⁻¹⁰ of the
// variance or more, the smallest eigenvalue was 10⁻¹⁶, and Q exceeded K_XX.
func FactorInducing(at kernel.Bound, z matrix.Dense, minJitter float64,
	l matrix.Dense) (jitter float64, err error) {
	diag := make([]float64, z.Rows)
	at.Kernel.Diag(at.Theta, z, diag)
	scale := linalg.Sum(diag) / float64(z.Rows)
	if !(scale > 0) || math.IsInf(scale, 1) { // no multiple of it would help
		return 0, fmt.Errorf("the prior variance at the inducing inputs is %v: look at the "+
			"kernel's variance", scale)
	}
	whole := (&Posterior{Kernel: at.Kernel, Theta: at.Theta, Support: z}).whole()
	// of an informed prior, scale may be a tiny part of whole
	enough := min(max(32*float64(z.Rows)*0x1p-52, jitterStart)*whole, 0.99*jitterEnd*scale)
	jitter = minJitter
	for {
		at.FillTriangle(z, l)
		l.AddDiagonal(jitter)
		err := linalg.Cholesky(l)
		if err == nil && (jitter >= enough || rounding(l, whole) <= 1e-3) {
			return jitter, nil
		}
		jitter = max(10*jitter, jitterStart*scale)
		if !(jitter <= jitterEnd*scale*1.01) {
			return jitter, fmt.Errorf("the covariance matrix of the inducing inputs can't be "+
				"factored, even with %.0e of its variance added (%w): use fewer inducing inputs "+
				"or shorter lengthscales", jitterEnd, err)
		}
	}
}

// shift returns c such that L Lᵀ = K_SS + cI for a given L.
// If possible, a sparse posterior's c is exactly one of the possible jitters, because in some
// directions L consists of c alone.
func (p *Posterior) shift(l matrix.Dense, whole float64, inducing bool) float64 {
	n := float64(p.Support.Rows)
	diag := make([]float64, p.Support.Rows)
	p.Kernel.Diag(p.Theta, p.Support, diag)
	scale := linalg.Sum(diag) / n
	for i, k := range diag {
		row := l.Row(i)[:i+1]
		diag[i] = linalg.Dot(row, row) - k
	}
	c := linalg.Sum(diag) / n
	if !inducing {
		return max(c, 0)
	}
	if c < jitterStart*scale/2 || c < 1e-13*whole {
		return 0
	}
	off := n * 0x1p-52 * whole
	for jitter := jitterStart * scale; jitter < 2*jitterEnd*scale; jitter *= 10 {
		if math.Abs(c-jitter) <= 1e-3*jitter+off {
			return jitter
		}
	}
	return c
}

// Two factors count as equal if their distance is at most sameFactor, or within the reach of
// rounding.
//
// The certificate doesn't depend on sameFactor.
// It says how close the predictor's ‖L⁻¹k(S,x)‖ has to be to the certified predictor's.
// Factors from one kind of processor differed by at most 3e-10.
const sameFactor = 1e-6

// refill returns the Cholesky factor of K_SS + cI, or of K_SS with the rows' own noise, which
// stored should equal.
func (p *Posterior) refill(stored matrix.Dense, c, whole float64) (matrix.Dense, error) {
	l := p.Support.Like(p.Support.Rows, p.Support.Rows)
	kernel.At(p.Kernel, p.Theta).FillSymmetric(p.Support, l)
	AddNoise(l, c, p.Noises)
	if err := linalg.Cholesky(l); err != nil {
		return l, NotDefinite(err, c)
	}
	if d := distance(l, stored); !(d <= sameFactor) && !(d <= rounding(l, whole)) {
		return l, fmt.Errorf("the factor of the posterior's covariance isn't that of its kernel "+
			"and noise variance: it is off by %.3g of what they make it", d)
	}
	return l, nil
}

// distanceCols is the number of columns of L that distance takes at a time.
const distanceCols = 512

// distance returns ‖L⁻¹A − I‖ in the Frobenius norm.
// This norm is as sensitive to a difference where L Lᵀ is small as where it is large.
func distance(l, a matrix.Dense) float64 {
	var sum float64
	n := l.Rows
	for j0, j1 := range lists.Blocks(n, distanceCols) {
		e := linalg.Borrow(n-j0, j1-j0) // above row j0, L⁻¹A − I is zero
		e.Zero()
		for i := j0; i < n; i++ {
			m := min(i+1, j1)
			copy(e.Row(i - j0)[:m-j0], a.Row(i)[j0:m])
		}
		linalg.Trsm(true, false, l.View(j0, n, j0, n), e)
		for i := range e.Rows {
			row := e.Row(i)
			if i < e.Cols {
				row[i]--
			}
			sum += linalg.Dot(row, row)
		}
		linalg.Return(e)
	}
	return math.Sqrt(sum)
}

// rounding returns how far rounding moves L on another kind of processor.
// Such a processor computes L Lᵀ to Nε of a variance, and L moves by this times ‖L⁻¹‖² (a
// perturbation bound of Cholesky's factor). The result is at most 0.5, because 1 is the error of a
// factor that lacks its least pivot.
func rounding(l matrix.Dense, variance float64) float64 {
	inverse := linalg.Borrow(l.Rows, l.Rows)
	defer linalg.Return(inverse)
	inverse.CopyFrom(l)
	return min(float64(l.Rows)*0x1p-52*variance*inverseNorm(inverse), 0.5)
}
