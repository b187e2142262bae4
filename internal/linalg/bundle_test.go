package linalg

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/krigo-gp/krigo/internal/must"
)

// TestBundle: an operation on a bundle gives the same as the operation on each of its matrices.
func TestBundle(t *testing.T) { atEveryLevel(t, bundles) }

func bundles(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 2))
	for _, n := range []int{0, 1, 2, 3, 4, 5, 8, 13, 33} {
		const extra = 3
		a := BorrowBundle(n+extra, n+1)
		singles := make([]Matrix, Abreast)
		for l := range singles {
			f := New(n, n)
			for i := range f.Data {
				f.Data[i] = rng.NormFloat64()
			}
			singles[l] = New(n+extra, n)
			c := New(n, n)
			SyrkLower(false, 1, f, 0, c)
			for i := range n + extra {
				for j := range n {
					v := rng.NormFloat64()
					if i < n {
						v = c.At(max(i, j), min(i, j))
						if i == j {
							v++
						}
					}
					singles[l].Set(i, j, v)
					a.At(i, j)[l] = v
				}
			}
		}
		must.Do(t, CholeskyBundle(a, n))
		near := func(what string, i, j, l int, got, want float64) {
			if !(math.Abs(got-want) <= 1e-11*math.Max(1, math.Abs(want))) {
				t.Fatalf("n = %d, %s (%d, %d) of matrix %d: %v, alone %v", n, what, i, j, l, got, want)
			}
		}
		for l, s := range singles {
			top, below := s.RowRange(0, n), s.RowRange(n, n+extra)
			must.Do(t, Cholesky(top))
			Trsm(false, true, top, below)
			for i := range n + extra {
				for j := range min(i+1, n) {
					want := s.At(i, j)
					if i == j {
						want = 1 / want
					}
					near("factor", i, j, l, a.At(i, j)[l], want)
				}
			}
			Trsm(false, false, top, below)
		}
		SubstituteBundle(a, n)
		for l, s := range singles {
			for i := n; i < n+extra; i++ {
				for j := range n {
					near("solution", i, j, l, a.At(i, j)[l], s.At(i, j))
				}
			}
		}
		if n > 0 {
			var f, g [Abreast]float64
			for l := range f {
				f[l], g[l] = rng.NormFloat64(), rng.NormFloat64()
			}
			x, y, out := a.Row(n), a.Row(n+1), make([]float64, n*Abreast)
			CombineBundle(n, x, &f, y, &g, out)
			for i, v := range out {
				near("combination", 0, i/Abreast, i%Abreast, v, f[i%Abreast]*x[i]+g[i%Abreast]*y[i])
			}
			a.At(n-1, n-1)[5] = math.NaN()
			must.Fail(t, CholeskyBundle(a, n), "", "a pivot that isn't a number is no")
		}
		a.Release()
	}
}

// TestBundleNamesTheFirstBadRow: a pivot that isn't sound is an error that names the pivot's row.
func TestBundleNamesTheFirstBadRow(t *testing.T) { atEveryLevel(t, badRows) }

func badRows(t *testing.T) {
	const n = 11
	for row := range n {
		for _, bad := range []float64{0, -1, math.NaN(), math.Inf(1), 1 - 0x1p-53} {
			a := BorrowBundle(n+1, n)
			clear(a.Data)
			for i := range n {
				for l := range Abreast {
					a.At(i, i)[l] = 1
				}
			}
			a.At(row, row)[row%Abreast] = bad
			if bad > 0 && bad < 1 { // what is left of this pivot is lost in rounding
				if row == 0 {
					continue
				}
				a.At(row, 0)[row%Abreast] = 1 - 0x1p-53
			}
			var e *NotPositiveDefinite
			if err := CholeskyBundle(a, n); !errors.As(err, &e) || e.Row != row {
				t.Errorf("row %d is %v: %v", row, bad, err)
			}
			a.Release()
		}
	}
}
