package radial

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/krigo-gp/krigo/internal/cpu"
	"github.com/krigo-gp/krigo/internal/linalg"
	"github.com/krigo-gp/krigo/internal/must"
)

// atLevels runs f with the loops of every level that this machine has.
func atLevels(t testing.TB, f func(l cpu.Level)) {
	defer func(l inner) { loops = l }(loops)
	for _, l := range cpu.Available() {
		if loops = levels[l]; loops.width > 0 {
			f(l)
		}
	}
}

func points(rng *rand.Rand, n, d int) linalg.Matrix {
	m := linalg.New(n, d)
	for i := range m.Data {
		m.Data[i] = 3 * rng.NormFloat64()
	}
	return m
}

var profiles = []Profile{SE, Matern12, Matern32, Matern52, RQ}

// unscaled packs points as they are.
func unscaled(f func(x linalg.Matrix, centre, inverse []float64) Points, x linalg.Matrix) Points {
	one := make([]float64, x.Cols)
	for t := range one {
		one[t] = 1
	}
	return f(x, make([]float64, x.Cols), one)
}

func TestAgainstPlainLoops(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for _, d := range []int{1, 2, 3, 4, 5, 8, 11} {
		for _, cols := range []int{1, 7, 8, 15, 16, 17, 33, 250} {
			x, z, bar := points(rng, 6, d), points(rng, 16+cols, d), points(rng, 6, cols)
			copy(z.Row(16+cols/2), x.Row(5)) // two points coincide
			atLevels(t, func(l cpu.Level) {
				a, b := unscaled(Left, x), unscaled(Right, z)
				d2 := linalg.New(Group, 256)
				for i := range x.Rows {
					if i%Group == 0 {
						Strip(a, i/Group, b, 16, 16+cols, d2)
					}
					row := d2.Row(i % Group)
					what := fmt.Sprintf("%s, d=%d, %d columns", l, d, cols)
					for j := range cols {
						var want float64
						for s, v := range x.Row(i) {
							e := v - z.At(16+j, s)
							want += e * e
						}
						near(t, what+": d²", row[j], want, 1e-15*want)
					}
					w := make([]float64, cols, 256)
					for _, p := range profiles {
						k := make([]float64, cols)
						p.Value(k, row, 0.7, 1.3)
						var sums Sums
						p.Pull(w, row, bar.Row(i), 0.7, &sums)
						m := Moments{make([]float64, 12*Lanes), make([]float64, 12*Lanes)}
						m.Add(w, a, i, b, 16)
						var first, second [12]float64
						var sk, sw, ss float64
						for j := range cols {
							v, g, ds := p.at(row[j], 0.7)
							gb := g * bar.At(i, j)
							rel := 4e-15 - 5e-17*math.Log(v) // the exponent rounds ln 2 once
							near(t, what+": value", k[j], 1.3*v, 1.3*rel*v)
							near(t, what+": w", w[j], gb, rel*math.Abs(gb))
							sk += v * bar.At(i, j)
							sw += gb * row[j]
							ss += ds * bar.At(i, j)
							for s, v := range x.Row(i) {
								e := v - z.At(16+j, s)
								first[s] += gb * e
								second[s] += gb * e * e
							}
						}
						near(t, what+": Σ k̄k", Total(sums[:]), sk, 1e-11)
						near(t, what+": Σ wd²", Total(sums[Lanes:]), sw, 1e-11)
						near(t, what+": Σ k̄∂k/∂a", Total(sums[2*Lanes:]), ss, 1e-11)
						for s := range first {
							near(t, what+": first moment", Total(m.First[s*Lanes:]), first[s], 1e-11)
							near(t, what+": second moment", Total(m.Second[s*Lanes:]), second[s], 1e-11)
						}
					}
				}
				a.Release()
				b.Release()
			})
		}
	}
}

func TestValueDoesNotDependOnPosition(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	x, z := points(rng, 9, 5), points(rng, 70, 5)
	atLevels(t, func(l cpu.Level) {
		a, b := unscaled(Left, x), unscaled(Right, z)
		whole, alone := linalg.New(Group, 80), linalg.New(Group, 16)
		for i := range x.Rows {
			Strip(a, i/Group, b, 0, z.Rows, whole)
			one := unscaled(Left, x.RowRange(i, i+1))
			for j := range z.Rows {
				other := unscaled(Right, z.RowRange(j, j+1))
				Strip(one, 0, other, 0, 1, alone)
				want, got := whole.At(i%Group, j), alone.At(0, 0)
				must.Hold(t, want == got,
					"%s: distance (%d, %d) is %v, alone %v", l, i, j, want, got)
				for _, p := range profiles {
					k, ka := make([]float64, z.Rows), make([]float64, 1)
					p.Value(k, whole.Row(i%Group), 0.7, 1.3)
					p.Value(ka, alone.Row(0), 0.7, 1.3)
					must.Hold(t, k[j] == ka[0],
						"%s: profile %d at (%d, %d) is %v, alone %v", l, p, i, j, k[j], ka[0])
				}
				other.Release()
			}
			one.Release()
		}
		a.Release()
		b.Release()
	})
}

func near(t *testing.T, what string, got, want, tol float64) {
	t.Helper()
	must.Need(t, math.Abs(got-want) <= tol, "%s: got %.17g, want %.17g", what, got, want)
}

// BenchmarkLoops runs the loops within the first cache level: Group rows against 256 points in 8 dimensions.
func BenchmarkLoops(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 1))
	x, z, bar := points(rng, Group, 8), points(rng, 256, 8), points(rng, Group, 256)
	k, d2 := linalg.New(Group, 256), linalg.New(Group, 256)
	atLevels(b, func(l cpu.Level) {
		left, right := unscaled(Left, x), unscaled(Right, z)
		run := func(name string, f func()) {
			b.Run(fmt.Sprintf("%s/%s", name, l), func(b *testing.B) {
				for b.Loop() {
					f()
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(k.Data)), "ns/element")
			})
		}
		run("distances", func() { Strip(left, 0, right, 0, 256, d2) })
		m := Moments{make([]float64, 8*Lanes), make([]float64, 8*Lanes)}
		run("moments", func() {
			for i := range Group {
				m.Add(bar.Row(i), left, i, right, 0)
			}
		})
		for _, p := range profiles {
			run(fmt.Sprintf("value%d", p), func() {
				for i := range Group {
					p.Value(k.Row(i), d2.Row(i), 0.7, 1.3)
				}
			})
			var sums Sums
			run(fmt.Sprintf("pull%d", p), func() {
				for i := range Group {
					p.Pull(k.Row(i), d2.Row(i), bar.Row(i), 0.7, &sums)
				}
			})
		}
		block, v, out := points(rng, 64, 264).View(0, 64, 0, 256), points(rng, 256, 16), linalg.New(256, 16)
		for _, transpose := range []bool{false, true} {
			b.Run(fmt.Sprintf("apply/transpose=%v/%s", transpose, l), func(b *testing.B) {
				for b.Loop() {
					if transpose {
						Apply(true, block, v.RowRange(0, 64), out)
					} else {
						Apply(false, block, v, out.RowRange(0, 64))
					}
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*64*256), "ns/element")
			})
		}
	})
}

// TestBundles compares the loops on bundles with their definition.
func TestBundles(t *testing.T) { atLevels(t, func(cpu.Level) { bundles(t) }) }

func bundles(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 6))
	for _, dim := range []int{4, 8, 12} {
		x := linalg.BorrowBundle(11, dim)
		for i := range x.Data {
			x.Data[i] = rng.NormFloat64()
		}
		for i := range x.Rows {
			u, w := make([]float64, i*linalg.Abreast), make([]float64, i*linalg.Abreast)
			for j := range w {
				w[j] = rng.NormFloat64()
			}
			sums := make([]float64, dim*Lanes)
			sums[3] = 1
			BundleDistances(x, i, u)
			BundleMoments(x, i, w, sums)
			sums[3]--
			want := make([]float64, len(sums))
			for j := range i {
				for l := range linalg.Abreast {
					var d2 float64
					for s := range dim {
						d := x.At(i, s)[l] - x.At(j, s)[l]
						d2 += d * d
						want[s*Lanes+l] += w[j*linalg.Abreast+l] * d * d
					}
					if got := u[j*linalg.Abreast+l]; math.Abs(got-d2) > 1e-14*d2 {
						t.Fatalf("distance of %d and %d in set %d: %v, want %v", i, j, l, got, d2)
					}
				}
			}
			for k, v := range sums {
				must.Need(t, math.Abs(v-want[k]) <= 1e-12,
					"moment %d of point %d: %v, want %v", k, i, v, want[k])
			}
		}
		x.Release()
	}
}

// TestEffect holds the loops of the additive kernel against the plain loops, for rows that end within a vector too.
func TestEffect(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	e := Effect{At: 0.4, Hidden: 0.7, Over: 1.3, Main: 0.2, Pairs: -0.6}
	for _, n := range []int{1, 7, 8, 33} {
		x, g, bar, total, squares := points(rng, 1, n).Data, points(rng, 1, n).Data, points(rng, 1, n).Data,
			points(rng, 1, n).Data, points(rng, 1, n).Data
		run := func() (all []float64) {
			se, e1, e2 := make([]float64, n), slices.Clone(total), slices.Clone(squares)
			e.Add(x, g, se, e1, e2)
			var sums [Lanes]float64
			e.Pull(x, g, se, bar, e1, 0.3, -0.8, 0.1, &sums)
			slope, root := e.Move(x, g, se, bar, e1)
			return slices.Concat(se, e1, e2, []float64{Total(sums[:]), slope, root})
		}
		atLevels(t, func(l cpu.Level) {
			got := run()
			loops = levels[cpu.Portable]
			for i, v := range run() {
				near(t, fmt.Sprintf("%s, %d points: value %d", l, n, i), got[i], v, 1e-12*max(1, math.Abs(v)))
			}
		})
	}
}
