package linalg

import (
	"fmt"
	"math"
)

// NotPositiveDefinite is the error of a Cholesky factorisation that met a pivot
// that isn't a number, isn't positive, or is lost in rounding.
type NotPositiveDefinite struct {
	Row   int     // 0-based
	Pivot float64 // what stood where a positive number was needed
}

func (e *NotPositiveDefinite) Error() string {
	return fmt.Sprintf("the covariance matrix isn't positive definite: pivot %d is %.3g", e.Row+1, e.Pivot)
}

// Cholesky overwrites the lower triangle of the symmetric A with L, A = L Lᵀ.
// Only the lower triangle is read; the strict upper triangle is left as it is.
// A pivot under 2⁻⁵⁰ of its diagonal element is rounding, not information: it counts
// as not positive.
func Cholesky(a Matrix) error {
	square(a)
	const panel = 64
	n := a.Rows
	smallest := Borrow(1, n)
	defer Return(smallest)
	for i := range n {
		smallest.Data[i] = 0x1p-50 * a.At(i, i)
	}
	for k0 := 0; k0 < n; k0 += panel {
		k1 := min(k0+panel, n)
		diag := a.View(k0, k1, k0, k1)
		if err := choleskyUnblocked(diag, smallest.Data[k0:k1]); err != nil {
			err.Row += k0
			return err
		}
		if k1 == n {
			break
		}
		below := a.View(k1, n, k0, k1)
		Trsm(false, true, diag, below)
		SyrkLower(false, -1, below, 1, a.View(k1, n, k1, n))
	}
	return nil
}

func choleskyUnblocked(a Matrix, smallest []float64) *NotPositiveDefinite {
	for j := range a.Rows {
		rj := a.Row(j)[:j+1]
		d := rj[j] - Dot(rj[:j], rj[:j])
		if !(d > smallest[j]) || !(d > 0) || math.IsInf(d, 1) {
			return &NotPositiveDefinite{Row: j, Pivot: d}
		}
		d = math.Sqrt(d)
		rj[j] = d
		for i := j + 1; i < a.Rows; i++ {
			ri := a.Row(i)
			ri[j] = (ri[j] - Dot(ri[:j], rj[:j])) / d
		}
	}
	return nil
}

// LogDet returns ln|A| = 2 Σ ln L_ii from the Cholesky factor L of A.
func LogDet(l Matrix) float64 {
	var s float64
	for i := range l.Rows {
		s += math.Log(l.At(i, i))
	}
	return 2 * s
}

// TriangularInverse overwrites the lower triangular L with its inverse (N³/3
// multiplications). The strict upper triangle is left as it is.
func TriangularInverse(l Matrix) {
	square(l)
	n := l.Rows
	if n <= strip {
		var row [strip]float64
		for i := range n {
			// Row i of L⁻¹ is a combination of the rows above it: −(Σ_k L_ik X_k)/L_ii.
			li, x := l.Row(i), row[:i+1]
			d := 1 / li[i]
			clear(x)
			for k := range i {
				Axpy(-d*li[k], l.Row(k)[:k+1], x[:k+1])
			}
			x[i] = d
			copy(li, x)
		}
		return
	}
	h := (n/2 + strip - 1) / strip * strip
	l11, l21, l22 := l.View(0, h, 0, h), l.View(h, n, 0, h), l.View(h, n, h, n)
	Trsm(false, false, l11, l21)
	Trsm(true, false, l22, l21)
	for i := range l21.Rows {
		scale(-1, l21.Row(i))
	}
	TriangularInverse(l11)
	TriangularInverse(l22)
}

// CholeskyInverse writes A⁻¹ = L⁻ᵀL⁻¹, both triangles, to the distinct matrix c.
func CholeskyInverse(l, c Matrix) {
	square(l)
	sameShape(l, c)
	n := l.Rows
	x := Borrow(n, n)
	defer Return(x)
	for i := range n {
		copy(x.Row(i)[:i+1], l.Row(i)[:i+1])
		clear(x.Row(i)[i+1:])
	}
	TriangularInverse(x)
	// Row block I of A⁻¹ needs only the rows of L⁻¹ from I on: the others are zero there.
	Parallel((n+strip-1)/strip, func(t int) {
		i0, i1 := t*strip, min((t+1)*strip, n)
		Gemm(true, false, 1, x.View(i0, n, i0, i1), x.View(i0, n, 0, i1), 0, c.View(i0, i1, 0, i1))
	})
	c.MirrorLower()
}
