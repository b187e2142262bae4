package linalg

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"gonum.org/v1/gonum/mat"

	"github.com/krigo-gp/krigo/internal/cpu"
	"github.com/krigo-gp/krigo/internal/must"
)

// atEveryLevel runs a test under every instruction set that this machine has.
func atEveryLevel(t *testing.T, test func(t *testing.T)) {
	defer setLevel(level)
	for _, l := range cpu.Available() {
		setLevel(l)
		t.Run(l.String(), test)
	}
}

// random returns a matrix with 3 numbers after each row that don't belong to the matrix.
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
	MirrorLower(c)
	c.AddDiagonal(0.1)
	return c
}

// lower returns a well-conditioned lower triangular matrix with NaN above the diagonal.
func lower(rng *rand.Rand, n int) Matrix {
	l := random(rng, n, n)
	for i := range n {
		for j := range n {
			switch {
			case j > i:
				l.Set(i, j, math.NaN())
			case j == i:
				l.Set(i, i, 1+rng.Float64())
			default:
				l.Set(i, j, l.At(i, j)/math.Sqrt(float64(n)))
			}
		}
	}
	return l
}

func clone(m Matrix) Matrix {
	m.Data = slices.Clone(m.Data)
	return m
}

func transposed(m Matrix) Matrix {
	c := New(m.Cols, m.Rows)
	for i := range m.Rows {
		for j := range m.Cols {
			c.Set(j, i, m.At(i, j))
		}
	}
	return c
}

func op(m Matrix, trans bool) Matrix {
	if trans {
		return transposed(m)
	}
	return m
}

// tril returns the lower triangle, with zeros above it.
func tril(m Matrix) Matrix {
	c := New(m.Rows, m.Cols)
	for i := range m.Rows {
		copy(c.Row(i)[:i+1], m.Row(i)[:i+1])
	}
	return c
}

// reference returns a b and |a| |b| by gonum.
func reference(a, b Matrix) (ab, size Matrix) {
	product := func(a, b Matrix) Matrix {
		c := mat.NewDense(a.Rows, b.Cols, nil)
		dense := func(m Matrix) *mat.Dense {
			d := mat.NewDense(m.Rows, m.Cols, nil)
			for i := range m.Rows {
				d.SetRow(i, m.Row(i))
			}
			return d
		}
		c.Mul(dense(a), dense(b))
		return Of(a.Rows, b.Cols, c.RawMatrix().Data)
	}
	abs := func(m Matrix) Matrix {
		m = clone(m)
		for i, v := range m.Data {
			m.Data[i] = math.Abs(v)
		}
		return m
	}
	return product(a, b), product(abs(a), abs(b))
}

// near fails the test unless |got − want| ≤ depth · 2⁻⁵² · size for each element. This is the bound on rounding errors
// in sums of depth products. If triangle is set, it looks only at the lower triangle.
func near(t *testing.T, what string, got, want, size Matrix, depth int, triangle bool) {
	t.Helper()
	for i := range got.Rows {
		for j := range got.Cols {
			if triangle && j > i {
				continue
			}
			d, bound := math.Abs(got.At(i, j)-want.At(i, j)), float64(depth+8)*0x1p-52*size.At(i, j)
			if !(d <= bound) {
				t.Fatalf("%s: element (%d, %d) is %g, off by %g, more than %g", what, i, j, got.At(i, j), d, bound)
			}
		}
	}
}

// untouched fails if anything outside the matrix, or outside its lower triangle, changed.
func untouched(t *testing.T, what string, now, before Matrix, triangle bool) {
	t.Helper()
	for k, v := range before.Data {
		i, j := k/before.Stride, k%before.Stride
		if inside := i < now.Rows && j < now.Cols && (!triangle || j <= i); inside {
			continue
		}
		if math.Float64bits(now.Data[k]) != math.Float64bits(v) {
			t.Fatalf("%s: wrote outside of the result at (%d, %d)", what, i, j)
		}
	}
}

func identical(t *testing.T, what string, got, want Matrix) {
	t.Helper()
	for i := range want.Rows {
		for j := range want.Cols {
			if math.Float64bits(got.At(i, j)) != math.Float64bits(want.At(i, j)) {
				t.Fatalf("%s: element (%d, %d) is %v, want %v", what, i, j, got.At(i, j), want.At(i, j))
			}
		}
	}
}

// edges are sizes near lanes, width and the block sizes of every level.
var edges = []int{1, 2, 3, 4, 5, 7, 8, 9, 11, 12, 13, 16, 23, 24, 25, 31, 47, 48, 49, 119, 120, 121, 239, 240, 241, 257,
	300}

func TestProducts(t *testing.T) {
	atEveryLevel(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(1, 2))
		pick := func() int { return edges[rng.IntN(len(edges))] }
		scalars := []float64{0, 1, -1, 1.5}
		for trial := range 70 {
			m, n, k := pick(), pick(), pick()*(1+trial%2) // k may be greater than deepest
			if trial < len(edges) {                       // each edge is m once, and k once
				m, n, k = edges[trial], edges[(trial+7)%len(edges)], edges[(trial+19)%len(edges)]
			}
			transA, transB := trial&1 != 0, trial&2 != 0
			triangle := trial%5 == 0
			if triangle {
				n = m
			}
			alpha, beta := scalars[rng.IntN(4)], scalars[rng.IntN(4)]
			what := fmt.Sprintf("Gemm %d×%d×%d trans %v %v α=%v β=%v lower %v", m, k, n, transA, transB, alpha, beta, triangle)
			a, b, c := random(rng, m, k), random(rng, k, n), random(rng, m, n)
			if transA {
				a = random(rng, k, m)
			}
			if transB {
				b = random(rng, n, k)
			}
			want, size := reference(op(a, transA), op(b, transB))
			for i := range m {
				for j := range n {
					want.Set(i, j, alpha*want.At(i, j)+beta*c.At(i, j))
					size.Set(i, j, math.Abs(alpha)*size.At(i, j)+math.Abs(beta*c.At(i, j)))
				}
			}
			if beta == 0 {
				for i := range m {
					c.Set(i, rng.IntN(n), math.NaN())
				}
			}
			before := clone(c)
			if triangle {
				GemmLower(transA, transB, alpha, a, b, beta, c)
			} else {
				Gemm(transA, transB, alpha, a, b, beta, c)
			}
			near(t, what, c, want, size, k, triangle)
			untouched(t, what, c, before, triangle)
		}
		for _, n := range edges {
			for _, trans := range []bool{false, true} {
				a := random(rng, n, n/3+1)
				want, size := reference(a, transposed(a))
				c := random(rng, n, n)
				before := clone(c)
				SyrkLower(trans, 1, op(a, trans), 0, c)
				near(t, fmt.Sprintf("SyrkLower %d", n), c, want, size, n, true)
				untouched(t, fmt.Sprintf("SyrkLower %d", n), c, before, true)
			}
		}
	})
}

func TestEmptyProducts(t *testing.T) {
	atEveryLevel(t, func(t *testing.T) {
		Gemm(false, false, 1, New(0, 3), New(3, 2), 0, New(0, 2))
		c := Of(2, 2, []float64{math.NaN(), 1, 2, 3})
		Gemm(false, true, 1, New(2, 0), New(2, 0), 0, c)
		identical(t, "depth 0", c, New(2, 2))
		Trsm(true, false, New(0, 0), New(0, 4))
		Trsm(false, false, lower(rand.New(rand.NewPCG(1, 1)), 3), New(0, 3))
		TriangularInverse(New(0, 0))
		CholeskyInverse(New(0, 0), New(0, 0))
		if err := Cholesky(New(0, 0)); err != nil {
			t.Error(err)
		}
	})
}

// TestSolves compares residuals with the bound of backward stability, |L| |X|.
func TestSolves(t *testing.T) {
	atEveryLevel(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(3, 4))
		for e, n := range edges {
			l := lower(rng, n)
			full := tril(l)
			m := edges[(e*5+3)%len(edges)]
			for _, left := range []bool{true, false} {
				for _, trans := range []bool{true, false} {
					what := fmt.Sprintf("Trsm order %d with %d, left %v, trans %v", n, m, left, trans)
					b := random(rng, m, n)
					if left {
						b = random(rng, n, m)
					}
					x := clone(b)
					Trsm(left, trans, l, x)
					untouched(t, what, x, b, false)
					var back, size Matrix
					if left {
						back, size = reference(op(full, trans), x)
					} else {
						back, size = reference(x, op(full, trans))
					}
					near(t, what, b, back, size, n, false)
				}
			}
			x := clone(l)
			TriangularInverse(x)
			untouched(t, "TriangularInverse", x, l, true)
			one, size := reference(full, tril(x))
			eye := New(n, n)
			eye.AddDiagonal(1)
			near(t, fmt.Sprintf("TriangularInverse %d", n), eye, one, size, n, false)
		}
	})
}

func TestCholesky(t *testing.T) {
	atEveryLevel(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(3, 4))
		for _, n := range append(edges, 530) {
			what := fmt.Sprintf("order %d", n)
			a := spd(rng, n)
			l := clone(a)
			for i := range n {
				for j := i + 1; j < n; j++ {
					l.Set(i, j, math.NaN())
				}
			}
			before := clone(l)
			must.Do(t, Cholesky(l))
			untouched(t, what, l, before, true)
			full := tril(l)
			back, size := reference(full, transposed(full))
			near(t, what, a, back, size, n, false)

			var ref mat.Cholesky
			ref.Factorize(mat.NewSymDense(n, slices.Clone(a.Data)))
			if d := math.Abs(LogDet(l) - ref.LogDet()); !(d < 1e-10) {
				t.Errorf("LogDet %s: off by %g", what, d)
			}
			inv := random(rng, n, n)
			CholeskyInverse(l, inv)
			var want mat.SymDense
			must.Do(t, ref.InverseTo(&want))
			for i := range n {
				for j := range n {
					if d := math.Abs(inv.At(i, j) - want.At(i, j)); !(d < 1e-11) {
						t.Fatalf("inverse %s: element (%d, %d) off by %g", what, i, j, d)
					}
				}
			}
		}
	})
}

func TestCholeskySaysWhichPivotFails(t *testing.T) {
	atEveryLevel(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(5, 6))
		for _, n := range []int{1, 9, 100, 500} {
			good := spd(rng, n)
			for _, row := range []int{0, n / 2, n - 1} {
				for _, bad := range []float64{-3, 0, math.NaN(), math.Inf(1), math.Inf(-1)} {
					a := clone(good)
					a.Set(row, row, bad)
					err := Cholesky(a)
					var npd *NotPositiveDefinite
					if !errors.As(err, &npd) || npd.Row != row {
						t.Errorf("order %d: got error %v, want one about %v in row %d", n, err, bad, row)
					}
				}
			}
		}
	})
}

// A pivot under 2⁻⁵⁰ of its diagonal element is a rounding error.
func TestCholeskyRefusesPivotsOfRounding(t *testing.T) {
	atEveryLevel(t, func(t *testing.T) {
		for _, at := range []int{0, 6, 7, 22, 23, 240, 298} {
			for _, exponent := range []int{-48, -51} {
				a := New(300, 300)
				a.AddDiagonal(1)
				a.Set(at+1, at, 1)
				a.Set(at+1, at+1, 1+math.Ldexp(1, exponent))
				err := Cholesky(a)
				var npd *NotPositiveDefinite
				if failed := errors.As(err, &npd) && npd.Row == at+1; failed != (exponent < -50) {
					t.Errorf("pivot 2^%d in row %d: error %v", exponent, at+1, err)
				}
			}
		}
	})
}

// A row of a product doesn't depend on the other rows. The solution for one right-hand side doesn't depend on the other
// right-hand sides.
func TestRowsDoNotDependOnTheirNeighbours(t *testing.T) {
	atEveryLevel(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(11, 12))
		for _, k := range []int{1, 5, 8, 100, 300, 520} {
			const m, n = 131, 77
			for _, transB := range []bool{false, true} {
				a, b := random(rng, m, k), op(random(rng, n, k), !transB)
				for _, beta := range []float64{0, 1, -0.3} {
					before := random(rng, m, n)
					whole := clone(before)
					Gemm(false, transB, 1.7, a, b, beta, whole)
					for range 10 {
						i0, j0 := rng.IntN(m), rng.IntN(n)
						i1, j1 := i0+1+rng.IntN(m-i0), j0+1+rng.IntN(n-j0)
						var bs Matrix
						if transB {
							bs = b.RowRange(j0, j1)
						} else {
							bs = b.View(0, k, j0, j1)
						}
						part := clone(before)
						part = part.View(i0, i1, j0, j1)
						Gemm(false, transB, 1.7, a.RowRange(i0, i1), bs, beta, part)
						identical(t, fmt.Sprintf("rows [%d, %d), columns [%d, %d), depth %d", i0, i1, j0, j1, k), part,
							whole.View(i0, i1, j0, j1))
					}
				}
			}
			l, b := lower(rng, k), random(rng, m, k)
			for _, trans := range []bool{false, true} {
				whole := clone(b)
				Trsm(false, trans, l, whole)
				for range 5 {
					i0 := rng.IntN(m)
					i1 := i0 + 1 + rng.IntN(m-i0)
					part := clone(b)
					part = part.RowRange(i0, i1)
					Trsm(false, trans, l, part)
					identical(t, fmt.Sprintf("solves [%d, %d) of order %d", i0, i1, k), part, whole.RowRange(i0, i1))
				}
			}
		}
	})
}

func TestResultsDoNotDependOnCores(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	atEveryLevel(t, func(t *testing.T) {
		for _, n := range []int{90, 300, 520} {
			var first []Matrix
			for _, p := range []int{1, 2, 3, 8} {
				runtime.GOMAXPROCS(p)
				rng := rand.New(rand.NewPCG(7, 8))
				l, inv, c, x, y := spd(rng, n), New(n, n), New(n, n), random(rng, n, n), random(rng, n, n)
				must.Do(t, Cholesky(l))
				CholeskyInverse(l, inv)
				Gemm(true, false, 1, x, y, 0, c)
				Trsm(true, true, l, x)
				Trsm(false, true, l, y)
				results := []Matrix{l, inv, c, x, y}
				if first == nil {
					first = results
				}
				for i, r := range results {
					identical(t, fmt.Sprintf("order %d, %d cores, result %d", n, p, i), r, first[i])
				}
			}
		}
	})
}

// A value that isn't finite in a row of op(A), or in a column of op(B), makes the whole row or column of the product
// not finite, and nothing else. Every other element equals the portable one within rounding.
func FuzzLevelsAgree(f *testing.F) {
	f.Add(uint64(1), uint8(30), uint8(60), uint16(300), int8(0), int8(0))
	f.Add(uint64(2), uint8(9), uint8(25), uint16(257), int8(40), int8(0))
	f.Add(uint64(3), uint8(120), uint8(121), uint16(8), int8(120), int8(3))
	f.Add(uint64(4), uint8(1), uint8(1), uint16(513), int8(-70), int8(1))
	f.Fuzz(func(t *testing.T, seed uint64, m, n uint8, depth uint16, spread, special int8) {
		defer setLevel(level)
		rows, cols, k := int(m)+1, int(n)+1, int(depth)%600+1
		rng := rand.New(rand.NewPCG(seed, 0))
		a, b := random(rng, rows, k), random(rng, cols, k)
		for _, x := range []Matrix{a, b} { // scales reach 2^±spread
			for i := range x.Data {
				x.Data[i] = math.Ldexp(x.Data[i], int(float64(spread)*(2*rng.Float64()-1)))
			}
		}
		badRow, badCol := make([]bool, rows), make([]bool, cols)
		for range max(special, 0) % 5 {
			v := []float64{math.NaN(), math.Inf(1), math.Inf(-1)}[rng.IntN(3)]
			i, j := rng.IntN(rows), rng.IntN(cols)
			if rng.IntN(2) == 0 {
				a.Set(i, rng.IntN(k), v)
				badRow[i] = true
			} else {
				b.Set(j, rng.IntN(k), v)
				badCol[j] = true
			}
		}
		_, size := reference(a, transposed(b))
		setLevel(cpu.Portable)
		want := New(rows, cols)
		Gemm(false, true, 1, a, b, 0, want)
		for _, l := range cpu.Available() {
			setLevel(l)
			got := New(rows, cols)
			Gemm(false, true, 1, a, b, 0, got)
			for i := range rows {
				for j := range cols {
					g, w := got.At(i, j), want.At(i, j)
					if badRow[i] || badCol[j] {
						if !math.IsNaN(g) && !math.IsInf(g, 0) {
							t.Fatalf("%v: element (%d, %d) is %v in spite of its row and column", l, i, j, g)
						}
						continue
					}
					// Products under 2⁻¹⁰²² lose digits, or all digits if they aren't fused.
					bound := float64(k)*0x1p-51*size.At(i, j) + float64(k)*0x1p-1073
					if !(math.Abs(g-w) <= bound) {
						t.Fatalf("%v: element (%d, %d) is %v, portable %v, more than %g apart", l, i, j, g, w, bound)
					}
				}
			}
		}
	})
}

// FuzzFactorisationsAgree takes covariances of points on a line, from well-conditioned to nearly singular. At every
// level, a factorisation that succeeds has a small residual.
func FuzzFactorisationsAgree(f *testing.F) {
	f.Add(uint64(1), uint16(50), 1.0, 1e-3, int16(0))
	f.Add(uint64(2), uint16(300), 5.0, 1e-12, int16(300))
	f.Add(uint64(3), uint16(257), 0.1, 1e-15, int16(-500))
	f.Fuzz(func(t *testing.T, seed uint64, order uint16, lengthscale, noise float64, exponent int16) {
		if !(lengthscale > 0x1p-100) || !(noise >= 0) || noise > 1 || exponent > 900 || exponent < -900 {
			t.Skip()
		}
		defer setLevel(level)
		n := int(order)%400 + 1
		rng := rand.New(rand.NewPCG(seed, 0))
		x := make([]float64, n)
		for i := range x {
			x[i] = 10 * rng.Float64()
		}
		a := New(n, n)
		for i := range n {
			for j := range n {
				d := (x[i] - x[j]) / lengthscale
				a.Set(i, j, math.Ldexp(math.Exp(-d*d/2), int(exponent)))
			}
		}
		a.AddDiagonal(math.Ldexp(noise, int(exponent)))
		for _, l := range cpu.Available() {
			setLevel(l)
			c := clone(a)
			if err := Cholesky(c); err != nil {
				// The smallest eigenvalue is at least the noise, and rounding is at most this bound. With more noise,
				// a refusal is an error.
				must.Need(t, noise <= float64(n*n)*0x1p-48, "%v: %v", l, err)
				continue
			}
			full := tril(c)
			back, size := reference(full, transposed(full))
			var largest float64
			for i := range n {
				largest = max(largest, c.At(i, i))
			}
			for i := range size.Data { // an underflow in L is multiplied later
				size.Data[i] += largest * 0x1p-1022
			}
			near(t, l.String(), a, back, size, n, false)
		}
	})
}

func TestScratchIsReused(t *testing.T) {
	if n := testing.AllocsPerRun(100, func() { Return(Borrow(30, 40)) }); n > 0.1 {
		t.Errorf("%v allocations to borrow and return", n)
	}
}

func TestSumIsCompensated(t *testing.T) {
	x := []float64{1e16, 1, -1e16, 1, 1e-3}
	must.Be(t, Sum(x), 2.001, "sum")
	if s := Sum([]float64{1, math.Inf(1)}); !math.IsInf(s, 1) {
		t.Errorf("sum with Inf is %v", s)
	}
}

// TestShortCuts: SyrkScaled, TrsmTo and MirrorLower give the same bits as the operations that they stand for, and write
// nothing else.
func TestShortCuts(t *testing.T) { atEveryLevel(t, shortCuts) }

func shortCuts(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 9))
	for _, size := range [][2]int{{1, 1}, {3, 2}, {24, 24}, {70, 48}, {300, 67}, {31, 260}} {
		rows, n := size[0], size[1]
		v, c := random(rng, rows, n), random(rng, n, n)
		scaled, weights := clone(v), random(rng, 1, rows).Row(0)
		for i, w := range weights {
			Scale(w, scaled.Row(i))
		}
		got, want := clone(c), clone(c)
		SyrkScaled(v, weights, 0.5, got)
		GemmLower(true, false, 1, v, scaled, 0.5, want)
		identical(t, "SyrkScaled", got, want)
		for _, trans := range []bool{false, true} {
			l, b, out := lower(rng, n), clone(v), random(rng, n, rows)
			before := clone(out)
			TrsmTo(trans, l, clone(v), out)
			Trsm(false, trans, l, b)
			identical(t, "TrsmTo", out, transposed(b))
			for i := range n {
				identical(t, "beside TrsmTo", Of(1, 3, out.Data[i*out.Stride+rows:][:3]), Of(1, 3, before.Data[i*out.Stride+rows:][:3]))
			}
		}
		mirrored := clone(c)
		MirrorLower(mirrored)
		for i := range n {
			for j := range i {
				c.Set(j, i, c.At(i, j))
			}
		}
		identical(t, "MirrorLower", mirrored, c)
	}
}

// TestParallelInParallel: tasks that call Parallel keep no more goroutines busy than there are cores, and a core that
// becomes free helps.
func TestParallelInParallel(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(3))
	var done, busy, most atomic.Int64
	Parallel(5, func(i int) {
		Parallel(40, func(int) {
			most.Store(max(most.Load(), busy.Add(1)))
			time.Sleep(time.Millisecond)
			busy.Add(-1)
			done.Add(1)
		})
	})
	if done.Load() != 200 || most.Load() != 3 || helping.Load() > 2 {
		t.Errorf("%d tasks, %d at once, %d helpers", done.Load(), most.Load(), helping.Load())
	}
}
