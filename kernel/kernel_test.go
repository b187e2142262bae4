package kernel_test

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/krigo-gp/krigo/internal/linalg"
	"github.com/krigo-gp/krigo/internal/must"
	"github.com/krigo-gp/krigo/kernel"
	"github.com/krigo-gp/krigo/kernel/kerneltest"
	"github.com/krigo-gp/krigo/matrix"
)

func TestConformance(t *testing.T) {
	for _, expr := range []string{"se", "matern12", "matern32", "matern52", "rq", "periodic", "additive", "steps",
		"linear", "constant",
		"white",
		"se+linear", "se*periodic", "(se+white)*rq+constant*linear", "matern32*matern52*linear"} {
		for _, ard := range []bool{false, true} {
			for _, dim := range []int{1, 4} {
				k := must.Get(kernel.Parse(expr, dim, ard))(t)
				theta := make([]float64, len(k.Params()))
				for i := range theta {
					theta[i] = 0.3 + 0.2*math.Sin(float64(3*i))
				}
				t.Run(fmt.Sprintf("%s/ard=%v/dim=%d", expr, ard, dim), func(t *testing.T) { kerneltest.Run(t, k, dim, theta) })

				// A table without rows gives no points, which must work too.
				none, some := matrix.New(0, dim), matrix.New(3, dim)
				kernel.At(k, theta).FillSymmetric(none, matrix.New(0, 0))
				kernel.At(k, theta).Fill(some, none, matrix.New(3, 0))
				kernel.At(k, theta).Fill(none, some, matrix.New(0, 3))
				kernel.At(k, theta).Times(some, none, matrix.New(0, 2), matrix.New(3, 2))
				kernel.At(k, theta).Pull(some, none, kernel.Adjoint{K: matrix.New(3, 0),
					Gradient: kernel.Gradient{Theta: make([]float64, len(theta))}})
			}
		}
	}
}

type goldenKernel struct {
	Type  string         `json:"type"`
	ARD   bool           `json:"ard"`
	Parts []goldenKernel `json:"parts"`
}

func (g goldenKernel) build(t *testing.T, dim int) kernel.Kernel {
	var parts []kernel.Kernel
	for _, p := range g.Parts {
		parts = append(parts, p.build(t, dim))
	}
	switch g.Type {
	case "sum":
		return kernel.Sum(parts...)
	case "product":
		return kernel.Product(parts...)
	}
	return must.Get(kernel.Parse(g.Type, dim, g.ARD))(t)
}

func TestGolden(t *testing.T) {
	raw := must.Get(os.ReadFile("../testdata/golden/kernels.json"))(t)
	var file struct {
		Cases []struct {
			Kernel    goldenKernel `json:"kernel"`
			D         int          `json:"d"`
			LogParams []float64    `json:"log_params"`
			X1, X2    [][]float64
			K         [][]float64   `json:"K"`
			DLog      [][][]float64 `json:"dK_dlog"`
			DX1       [][][]float64 `json:"dK_dX1"`
			K11       [][]float64   `json:"K11"`
			D11       [][][]float64 `json:"dK11_dlog"`
		} `json:"cases"`
	}
	must.Do(t, json.Unmarshal(raw, &file))
	must.Need(t, len(file.Cases) > 0, "no cases")
	for c, g := range file.Cases {
		k := g.Kernel.build(t, g.D)
		a, b := matrixOf(g.X1), matrixOf(g.X2)
		for _, block := range []struct {
			name string
			b    matrix.Dense
			k    [][]float64
			dlog [][][]float64
			dx   [][][]float64
		}{{"K", b, g.K, g.DLog, g.DX1}, {"K11", a, g.K11, g.D11, nil}} {
			what := fmt.Sprintf("case %d %s %s", c, g.Kernel.Type, block.name)
			got := matrix.New(a.Rows, block.b.Rows)
			kernel.At(k, g.LogParams).Fill(a, block.b, got)
			compare(t, what, got, block.k)
			// One adjoint entry at a time gives the derivative of each element.
			grads := make([]matrix.Dense, len(g.LogParams))
			for p := range grads {
				grads[p] = matrix.New(got.Rows, got.Cols)
			}
			for i := range got.Rows {
				for j := range got.Cols {
					bar := matrix.New(got.Rows, got.Cols)
					bar.Set(i, j, 1)
					d, dA := make([]float64, len(g.LogParams)), matrix.New(a.Rows, g.D)
					kernel.At(k, g.LogParams).Pull(a, block.b, kernel.Adjoint{K: bar, Gradient: kernel.Gradient{Theta: d, Inputs: dA}})
					for p, v := range d {
						grads[p].Set(i, j, v)
					}
					if block.dx != nil {
						compare(t, what+" dX", matrix.Of(1, g.D, dA.Row(i)), [][]float64{block.dx[i][j]})
					}
				}
			}
			for p, want := range block.dlog {
				compare(t, fmt.Sprintf("%s d/d %s", what, k.Params()[p].Name), grads[p], want)
			}
		}
	}
}

// compare compares an array with golden values: 1e-9 relative, with 1e-3 of the largest entry as the floor
// (golden/README).
func compare(t *testing.T, what string, got matrix.Dense, want [][]float64) {
	t.Helper()
	var largest float64
	for _, r := range want {
		for _, v := range r {
			largest = math.Max(largest, math.Abs(v))
		}
	}
	for i, r := range want {
		for j, v := range r {
			must.Hold(t, math.Abs(got.At(i, j)-v) <= 1e-9*math.Max(math.Abs(v), 1e-3*largest),
				"%s [%d,%d]: got %.16g, want %.16g", what, i, j, got.At(i, j), v)
		}
	}
}

func matrixOf(rows [][]float64) matrix.Dense {
	m := matrix.New(len(rows), len(rows[0]))
	for i, r := range rows {
		copy(m.Row(i), r)
	}
	return m
}

func TestFarFromTheOrigin(t *testing.T) {
	// Points moved by 1e6 must give the same covariances, to the digits that the moved inputs still hold.
	rng := rand.New(rand.NewPCG(2, 3))
	x, far := matrix.New(20, 5), matrix.New(20, 5)
	for i := range x.Data {
		far.Data[i] = 1e6 + rng.NormFloat64()
		x.Data[i] = far.Data[i] - 1e6
	}
	for _, name := range []string{"se", "matern12", "rq", "periodic"} {
		k, _ := kernel.Parse(name, 5, false)
		theta := make([]float64, len(k.Params()))
		a, b := matrix.New(20, 20), matrix.New(20, 20)
		kernel.At(k, theta).FillSymmetric(x, a)
		kernel.At(k, theta).FillSymmetric(far, b)
		for i, v := range a.Data {
			must.Need(t, math.Abs(v-b.Data[i]) <= 1e-12,
				"%s: %v near the origin, %v far from it", name, v, b.Data[i])
		}
	}
}

func TestManyInputs(t *testing.T) {
	// with enough points that a row needs several blocks
	rng := rand.New(rand.NewPCG(4, 5))
	const d = 700
	x, z := matrix.New(70, d), matrix.New(600, d)
	for i := range x.Data {
		x.Data[i] = rng.NormFloat64()
	}
	for i := range z.Data {
		z.Data[i] = rng.NormFloat64()
	}
	k, _ := kernel.Parse("se", d, false)
	theta := []float64{math.Log(d), 0}
	bar, got, gradient := matrix.New(70, 600), matrix.New(70, 600), make([]float64, 2)
	kernel.At(k, theta).Fill(x, z, got)
	for i := range bar.Data {
		bar.Data[i] = rng.NormFloat64()
	}
	kernel.At(k, theta).Pull(x, z, kernel.Adjoint{K: bar, Gradient: kernel.Gradient{Theta: gradient}})
	var want [2]float64
	for i := range x.Rows {
		for j := range z.Rows {
			var d2 float64
			for c, v := range x.Row(i) {
				d2 += (v - z.At(j, c)) * (v - z.At(j, c)) / d
			}
			e := math.Exp(-d2 / 2)
			must.Need(t, math.Abs(got.At(i, j)-e) <= 1e-13,
				"K[%d,%d] is %v, want %v", i, j, got.At(i, j), e)
			want[0] += bar.At(i, j) * e * d2 / 2
			want[1] += bar.At(i, j) * e
		}
	}
	for p, w := range want {
		must.Hold(t, math.Abs(gradient[p]-w) <= 1e-10, "gradient %v, want %v", gradient, want)
	}
}

func TestParseErrors(t *testing.T) {
	for expr, want := range map[string]string{
		"":          "missing at the end",
		"se+":       "missing at the end",
		"quintic":   `unknown kernel "quintic"`,
		"rbf":       `"rbf" is called "se" here`,
		"se linear": "doesn't belong",
		"(se":       "isn't closed",
		"*se":       `missing before "*"`,

		strings.Repeat("(", 16) + "se" + strings.Repeat(")", 16): "nested more than 15 deep",
		strings.Repeat("se+", 500) + "se":                        "more than 500 kernels",
		strings.Repeat("(", 1<<20):                               "nested more than 15 deep",
	} {
		must.Refuse(kernel.Parse(expr, 2, false))(t, want, expr)
	}
}

// TestSizes shows that Build makes a kernel from the Spec of the deepest and of the largest kernel that an expression
// can hold. For a Spec nested more than 32 deep, or of more than 1000 kernels, Build returns an error.
func TestSizes(t *testing.T) {
	deepest := "white"
	for range 15 {
		deepest = "se+linear*(" + deepest + ")"
	}
	for _, expr := range []string{deepest, strings.Repeat("se+", 499) + "se", strings.Repeat("se*(se+white)+", 166) +
		"se"} {
		k := must.Get(kernel.Parse(expr, 1, false))(t)
		s := k.Spec(make([]float64, len(k.Params())))
		if _, _, err := s.Build(1); err != nil {
			t.Errorf("%.60s: %v", expr, err)
		}
	}
	leaf := kernel.Spec{Name: "white", Variance: 1}
	deep, wide := leaf, kernel.Spec{Name: "sum", Parts: slices.Repeat([]kernel.Spec{leaf}, 1000)}
	for range 33 {
		deep = kernel.Spec{Name: "product", Parts: []kernel.Spec{deep}}
	}
	for want, s := range map[string]kernel.Spec{"nested more than 32 deep": deep, "more than 1000 kernels": wide} {
		if _, _, err := s.Build(1); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

func TestSpecRoundTrip(t *testing.T) {
	k := must.Get(kernel.Parse("se*periodic+rq+linear", 3, true))(t)
	theta := make([]float64, len(k.Params()))
	for i := range theta {
		theta[i] = math.Cos(float64(i))
	}
	raw := must.Get(json.Marshal(k.Spec(theta)))(t)
	var s kernel.Spec
	must.Do(t, json.Unmarshal(raw, &s))
	_, back, err := s.Build(3)
	must.Do(t, err)
	for i, v := range back {
		must.Hold(t, math.Abs(v-theta[i]) <= 1e-14, "parameter %d: %v became %v", i, theta[i], v)
	}
	for _, bad := range []kernel.Spec{{Name: "se", Variance: 1, Lengthscales: []float64{1, 2}},
		{Name: "se", Variance: -1, Lengthscales: []float64{1}},
		{Name: "rq", Variance: 1, Lengthscales: []float64{1}}, {Name: "sum"}, {Name: "se", Lengthscales: nil, Variance: 1},
		{Name: "nope"}} {
		if _, _, err := bad.Build(3); err == nil {
			t.Errorf("%+v was accepted", bad)
		}
	}
}

// TestTimes: Times multiplies the covariances of every kernel that auto tries.
func TestTimes(t *testing.T) {
	x := linalg.New(4, 3)
	for i := range x.Data {
		x.Data[i] = math.Sin(3 * float64(i))
	}
	const w = 0.3
	for _, expression := range []string{"matern32*matern12", "matern32", "matern52", "rq", "se",
		"additive+matern32", "se+linear", "matern32*matern12+linear", "steps"} {
		k := must.Get(kernel.Parse(expression, 3, true))(t)
		theta := make([]float64, len(k.Params()))
		for i := range theta {
			theta[i] = math.Cos(float64(i)) / 2
		}
		spec := k.Spec(theta)
		times, at, err := spec.Times(w).Build(3)
		must.Do(t, err)
		want := linalg.New(4, 4)
		got := linalg.New(4, 4)
		k.Cov(theta, x, x, want)
		times.Cov(at, x, x, got)
		for i, v := range want.Data {
			must.Hold(t, math.Abs(got.Data[i]-w*v) <= 1e-12,
				"%s: %v, want %v", expression, got.Data[i], w*v)
		}
		must.Hold(t, reflect.DeepEqual(spec, k.Spec(theta)), "%s: the kernel changed", expression)
	}
}

// TestSpecString: String shows every parameter of a kernel.
func TestSpecString(t *testing.T) {
	s := kernel.Spec{Name: "sum", Parts: []kernel.Spec{
		{Name: "rq", Variance: 1.5, Lengthscales: []float64{0.5, 2}, Shape: 0.75},
		{Name: "product", Parts: []kernel.Spec{{Name: "periodic", Variance: 1, Lengthscales: []float64{3}, Period: 12},
			{Name: "linear", Variance: 2}}},
	}}
	if got, want := s.String(), "(rq (variance 1.5, lengthscales 0.5 2, shape 0.75) + (periodic (variance 1, "+
		"lengthscales 3, period 12) * linear (variance 2)))"; got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
}

func TestMeans(t *testing.T) {
	x := matrixOf([][]float64{{1, 2}, {-1, 0.5}})
	m := make([]float64, 2)
	kernel.LinearMean{Dim: 2}.At([]float64{0.5, 2, -1}, x, m)
	must.Hold(t, m[0] == 0.5 && m[1] == -2, "linear mean %v", m)
	d := make([]float64, 3)
	kernel.LinearMean{Dim: 2}.Pull(nil, x, []float64{3, 5}, d)
	must.Hold(t, d[0] == 8 && d[1] == -2 && d[2] == 8.5, "pull-back of the linear mean %v", d)
	kernel.LinearMean{}.At([]float64{7}, x, m)
	must.Hold(t, m[0] == 7 && m[1] == 7, "constant mean %v", m)
}

func BenchmarkFill(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 1))
	x, z := matrix.New(20000, 8), matrix.New(500, 8)
	for i := range x.Data {
		x.Data[i] = rng.NormFloat64()
	}
	copy(z.Data, x.Data)
	out, d := matrix.New(20000, 500), make([]float64, 9)
	for _, name := range []string{"se", "matern52", "rq"} {
		k, _ := kernel.Parse(name, 8, true)
		theta := make([]float64, len(k.Params()))
		d = make([]float64, len(theta))
		b.Run(name+"/fill", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				kernel.At(k, theta).Fill(x, z, out)
			}
		})
		b.Run(name+"/pull", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				kernel.At(k, theta).Pull(x, z, kernel.Adjoint{K: out, Gradient: kernel.Gradient{Theta: d}})
			}
		})
	}
}

// TestBundles: sets of points side by side give what Cov and Pull give for each set alone.
func TestBundles(t *testing.T) {
	rng := rand.New(rand.NewPCG(31, 7))
	for _, expr := range []string{"se", "matern12", "matern32", "matern52", "rq", "periodic", "additive", "steps",
		"linear", "constant",
		"white", "se+linear*white", "rq*periodic+constant"} {
		for _, dim := range []int{1, 3, 4, 9} {
			for _, ard := range []bool{false, true} {
				k := must.Get(kernel.Parse(expr, dim, ard))(t)
				theta := make([]float64, len(k.Params()))
				for i := range theta {
					theta[i] = 0.4 * rng.NormFloat64()
				}
				const n = 7
				x, got, bar := linalg.BorrowBundle(n, dim), linalg.BorrowBundle(n+1, n+2), linalg.BorrowBundle(n, n)
				for i := range x.Data {
					x.Data[i] = rng.NormFloat64()
				}
				copy(x.Row(4), x.Row(2)) // copies
				for i := range bar.Data {
					bar.Data[i] = rng.NormFloat64()
				}
				kernel.At(k, theta).FillBundle(x, got)
				pulled, want := make([]float64, len(theta)), make([]float64, len(theta))
				kernel.At(k, theta).PullBundle(x, bar, pulled)
				for l := range linalg.Abreast {
					points, block, adjoint := matrix.New(n, dim), matrix.New(n, n), matrix.New(n, n)
					for i := range n {
						for s := range dim {
							points.Set(i, s, x.At(i, s)[l])
						}
						for j := range i + 1 {
							adjoint.Set(i, j, bar.At(i, j)[l])
						}
					}
					k.Cov(theta, points, points, block)
					k.Pull(theta, points, points, kernel.Adjoint{K: adjoint, Gradient: kernel.Gradient{Theta: want}})
					for i := range n {
						for j := range i + 1 {
							if d := math.Abs(got.At(i, j)[l] - block.At(i, j)); !(d <= 1e-13*math.Max(1, math.Abs(block.At(i, j)))) {
								t.Fatalf("%s: k(%d, %d) of set %d is %v, alone %v", expr, i, j, l, got.At(i, j)[l], block.At(i, j))
							}
						}
					}
				}
				for i, w := range want {
					if !(math.Abs(pulled[i]-w) <= 1e-11*math.Max(1, math.Abs(w))) {
						t.Errorf("%s, ARD %v, %d inputs: d/d %s is %v, of the sets alone %v", expr, ard, dim, k.Params()[i].Name,
							pulled[i], w)
					}
				}
			}
		}
	}
}

// TestUnknownOnce: the error for an unknown name quotes the name once, and shortens a long name.
func TestUnknownOnce(t *testing.T) {
	for _, name := range []string{"sex", strings.Repeat("x", 1<<20)} {
		_, err := kernel.Parse(name, 2, false)
		if text := err.Error(); strings.Count(text, name) > 1 || len(text) > 300 {
			t.Errorf("%.300s", text)
		}
	}
}
