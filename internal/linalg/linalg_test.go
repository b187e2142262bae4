package linalg

import (
	"errors"
	"math"
	"math/rand/v2"
	"runtime"
	"testing"

	"gonum.org/v1/gonum/mat"
)

func random(rng *rand.Rand, r, c int) Matrix {
	m := Matrix{Rows: r, Cols: c, Stride: c + 3, Data: make([]float64, r*(c+3)+3)}
	for i := range m.Data {
		m.Data[i] = rng.NormFloat64()
	}
	return m
}

func spd(rng *rand.Rand, n int) Matrix {
	a, c := random(rng, n, n), New(n, n)
	SyrkLower(false, 1/float64(n), a, 0, c)
	c.MirrorLower()
	c.AddDiagonal(0.1)
	return c
}

func dense(m Matrix) *mat.Dense {
	d := mat.NewDense(m.Rows, m.Cols, nil)
	for i := range m.Rows {
		d.SetRow(i, m.Row(i))
	}
	return d
}

func worst(t *testing.T, got Matrix, want mat.Matrix, lower bool) float64 {
	t.Helper()
	var w float64
	for i := range got.Rows {
		for j := range got.Cols {
			if lower && j > i {
				continue
			}
			d := math.Abs(got.At(i, j) - want.At(i, j))
			if !(d <= w) {
				w = d
			}
		}
	}
	return w
}

var sizes = []int{1, 2, 3, 7, 63, 64, 65, 130, 257}

func TestProductsAgainstReference(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, n := range sizes {
		for _, ta := range []bool{false, true} {
			for _, tb := range []bool{false, true} {
				k, m := n/2+1, n+5
				a, b := random(rng, n, k), random(rng, k, m)
				if ta {
					a = random(rng, k, n)
				}
				if tb {
					b = random(rng, m, k)
				}
				c := random(rng, n, m)
				var da, db mat.Matrix = dense(a), dense(b)
				if ta {
					da = da.T()
				}
				if tb {
					db = db.T()
				}
				var want mat.Dense
				want.Mul(da, db)
				want.Scale(1.5, &want)
				half := dense(c)
				half.Scale(0.5, half)
				want.Add(&want, half)
				Gemm(ta, tb, 1.5, a, b, 0.5, c)
				if w := worst(t, c, &want, false); !(w < 1e-11) {
					t.Errorf("Gemm n=%d %v %v: off by %g", n, ta, tb, w)
				}
			}
		}
		a := random(rng, n, n/3+1)
		c := New(n, n)
		SyrkLower(false, 2, a, 0, c)
		var want mat.Dense
		want.Mul(dense(a), dense(a).T())
		want.Scale(2, &want)
		if w := worst(t, c, &want, true); !(w < 1e-11) {
			t.Errorf("Syrk n=%d: off by %g", n, w)
		}
	}
}

func TestFactorisations(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for _, n := range sizes {
		a := spd(rng, n)
		l := New(n, n)
		l.CopyFrom(a)
		if err := Cholesky(l); err != nil {
			t.Fatal(err)
		}
		var ref mat.Cholesky
		sym := mat.NewSymDense(n, nil)
		for i := range n {
			for j := range i + 1 {
				sym.SetSym(i, j, a.At(i, j))
			}
		}
		ref.Factorize(sym)
		var rl mat.TriDense
		ref.LTo(&rl)
		if w := worst(t, l, &rl, true); !(w < 1e-12) {
			t.Errorf("Cholesky n=%d: off by %g", n, w)
		}
		if d := math.Abs(LogDet(l) - ref.LogDet()); !(d < 1e-10) {
			t.Errorf("LogDet n=%d: off by %g", n, d)
		}
		inv := New(n, n)
		CholeskyInverse(l, inv)
		var eye mat.Dense
		eye.Mul(dense(a), dense(inv))
		for i := range n {
			eye.Set(i, i, eye.At(i, i)-1)
		}
		if w := mat.Norm(&eye, math.Inf(1)); !(w < 1e-10) {
			t.Errorf("inverse n=%d: residual %g", n, w)
		}
		for _, left := range []bool{true, false} {
			for _, tl := range []bool{true, false} {
				b := random(rng, n, n+2)
				if !left {
					b = random(rng, n+2, n)
				}
				x := New(b.Rows, b.Cols)
				x.CopyFrom(b)
				Trsm(left, tl, l, x)
				var op mat.Matrix = &rl
				if tl {
					op = op.T()
				}
				var back mat.Dense
				if left {
					back.Mul(op, dense(x))
				} else {
					back.Mul(dense(x), op)
				}
				if w := worst(t, b, &back, false); !(w < 1e-10) {
					t.Errorf("Trsm n=%d left=%v trans=%v: residual %g", n, left, tl, w)
				}
			}
		}
	}
}

func TestCholeskySaysWhichPivotFails(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for _, bad := range []float64{-3, math.NaN(), math.Inf(1)} {
		a := spd(rng, 100)
		a.Set(80, 80, bad)
		err := Cholesky(a)
		var npd *NotPositiveDefinite
		if !errors.As(err, &npd) || npd.Row != 80 {
			t.Errorf("pivot %v: got error %v, want one about row 80", bad, err)
		}
	}
}

func TestResultsDoNotDependOnCores(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	var first []float64
	for _, p := range []int{1, 2, 3, 8} {
		runtime.GOMAXPROCS(p)
		rng := rand.New(rand.NewPCG(7, 8))
		a := spd(rng, 300)
		inv := New(300, 300)
		if err := Cholesky(a); err != nil {
			t.Fatal(err)
		}
		CholeskyInverse(a, inv)
		if first == nil {
			first = inv.Data
			continue
		}
		for i, v := range inv.Data {
			if v != first[i] {
				t.Fatalf("%d cores: element %d is %v, with one core %v", p, i, v, first[i])
			}
		}
	}
}

func TestSumIsCompensated(t *testing.T) {
	x := []float64{1e16, 1, -1e16, 1, 1e-3}
	if s := Sum(x); s != 2.001 {
		t.Errorf("sum %v, want 2.001", s)
	}
	if s := Sum([]float64{1, math.Inf(1)}); !math.IsInf(s, 1) {
		t.Errorf("sum with Inf is %v", s)
	}
}
