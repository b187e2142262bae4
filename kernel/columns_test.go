package kernel_test

import (
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/krigo-gp/krigo/internal/must"
	"github.com/krigo-gp/krigo/kernel"
	"github.com/krigo-gp/krigo/kernel/kerneltest"
	"github.com/krigo-gp/krigo/matrix"
)

// columns are two columns of numbers, one with an odd name, and a column of two categories and other.
var columns = []kernel.Input{{Column: "x"}, {Column: "colour", Category: "red"}, {Column: "colour", Category: "white"},
	{Column: "colour", Category: "other"}, {Column: `a, "b" (c)`}, {Column: "size", Category: "10"},
	{Column: "size", Category: "9"}, {Column: "size", Category: "-1"}, {Column: "size", Category: "other"}}

// TestColumns: kernels on columns keep what kernels must satisfy, also when a file has held them.
func TestColumns(t *testing.T) {
	for _, expr := range []string{`se(colour,x)`, `matern32("a, ""b"" (c)")`, `rq( x )*periodic (colour) + linear(x)`,
		`additive(x, "a, ""b"" (c)")*se`, `white(colour)+constant`,
		`exchangeable(colour)*se(x)`, `ordinal(size)`, `ordinal(size, -1, 10, 9)+linear(x)`, `lowrank(size)`} {
		for _, ard := range []bool{false, true} {
			k := must.Get(kernel.Parse(expr, len(columns), ard, columns...))(t)
			theta := make([]float64, len(k.Params()))
			for i := range theta {
				theta[i] = 0.3 + 0.2*math.Sin(float64(3*i))
			}
			t.Run(expr, func(t *testing.T) { kerneltest.Run(t, k, len(columns), theta) })

			spec := k.Spec(theta)
			must.Be(t, kernel.SameKernel(spec.Name, spec.Name), true)
			again := must.Get(kernel.Parse(spec.Expression(), len(columns), ard, columns...))(t)
			text := must.Get(json.Marshal(spec))(t)
			must.Be(t, string(must.Get(json.Marshal(again.Spec(theta)))(t)), string(text))
			var read kernel.Spec
			must.Do(t, json.Unmarshal(text, &read))
			built, th, err := read.Build(len(columns), columns...)
			must.Do(t, err)
			x, want, got := matrix.New(3, len(columns)), matrix.New(3, 3), matrix.New(3, 3)
			for i := range x.Data {
				x.Data[i] = math.Cos(float64(i * i))
			}
			k.Cov(theta, x, x, want)
			built.Cov(th, x, x, got)
			for i, v := range want.Data {
				must.Hold(t, math.Abs(v-got.Data[i]) <= 1e-12,
					"%s: %v comes back as %v", expr, v, got.Data[i])
			}
		}
	}
}

// TestColumnsSee: a kernel on columns has the values of the kernel that gets only these columns, and its parameters
// name places among all inputs.
func TestColumnsSee(t *testing.T) {
	k := must.Get(kernel.Parse(`rq("a, ""b"" (c)", x)`, len(columns), true, columns...))(t)
	alone := kernel.RationalQuadratic(2, true)
	theta := []float64{0.3, -0.5, 0.2, 0.1}
	a, b := matrix.Of(1, 9, []float64{1, 9, 8, 7, 2, 0, 0, 0, 0}), matrix.Of(1, 9, []float64{-1, 4, 5, 6, 0.5, 0, 0,
		0, 0})
	got, want := matrix.New(1, 1), matrix.New(1, 1)
	k.Cov(theta, a, b, got)
	alone.Cov(theta, matrix.Of(1, 2, []float64{2, 1}), matrix.Of(1, 2, []float64{0.5, -1}), want)
	must.Be(t, got.At(0, 0), want.At(0, 0))
	params := k.Params()
	must.Be(t, params[0].Name+" "+params[1].Name, "log_lengthscale2[5] log_lengthscale2[1]")
	must.Be(t, params[0].Dim, 4)
	flat := must.Get(kernel.Parse("se(colour)", len(columns), false, columns...))(t)
	must.Be(t, flat.Params()[0].Distant(5), 3)
	inverse, ok := kernel.Metric(flat, []float64{math.Log(4), 0})
	must.Be(t, ok, true)
	must.Hold(t, slices.Equal(inverse, []float64{0, 0.5, 0.5, 0.5, 0, 0, 0, 0, 0}), "%v", inverse)
	both := must.Get(kernel.Parse("se(colour)*se(x)", len(columns), false, columns...))(t)
	_, ok = kernel.Metric(both, make([]float64, 4))
	must.Be(t, ok, false)
}

// TestColumnsRefused lists expressions that are wrong, each with a part of its error.
func TestColumnsRefused(t *testing.T) {
	for expr, want := range map[string]string{
		"se(colur)": `did you mean "colour"`, "se(x,x)": `"x" is listed twice`, "se(x": "isn't closed", "se()": "missing",
		`se("x)`: "isn't closed", "se(x,)": "missing", "se(x)(x)": "doesn't belong", "sse(x)": `did you mean "se"`,
		"se(y)": "the inputs are x, colour, a, ", "sum(x)": "unknown kernel", "ordinal": "exchangeable(colour)",
		"ordinal(x)":         "categorical",
		"ordinal(size,-1,9)": "also has", "ordinal(size,-1,9,10,m)": "4 are listed", "lowrank(size,-1,9,10)": "are listed",
	} {
		_, err := kernel.Parse(expr, len(columns), false, columns...)
		must.Hold(t, err != nil && strings.Contains(err.Error(), want), "%s: %v", expr, err)
	}
	_, err := kernel.Parse("se(x)", 1, false)
	must.Hold(t, err != nil && strings.Contains(err.Error(), "aren't known"), "%v", err)
	must.Do(t, kernel.Check(`se(any, "column,")*linear`))
	must.Hold(t, kernel.Check("se(x") != nil, "no error")
	must.Be(t, strings.Join(kernel.Split(`se(a,b), rq("),")+se,`), "|"), `se(a,b)|rq("),")+se|`)
}

// TestCategorical: kernels of categories have the correlations that their formulas say, on rows of one category each.
func TestCategorical(t *testing.T) {
	x := matrix.New(4, len(columns)) // sizes 10, 9, -1, other
	for i := range 4 {
		x.Set(i, 5+i, 1)
	}
	matern := func(d float64) float64 { return (1 + math.Sqrt(3)*d) * math.Exp(-math.Sqrt(3)*d) }
	low := func(v, w [2]float64) float64 {
		norm := func(u [2]float64) float64 { return math.Sqrt(1 + u[0]*u[0] + u[1]*u[1]) }
		return (v[0]*w[0] + v[1]*w[1]) / norm(v) / norm(w)
	}
	for _, c := range []struct {
		expr  string
		theta []float64  // with ln σ² = 0
		want  [4]float64 // of 10 and 9, 10 and l, 9 and l, 9 and other
	}{
		{"exchangeable(size)", []float64{math.Log(3), 0}, [4]float64{.75, .75, .75, .75}},
		{"ordinal(size)", []float64{math.Log(.5), math.Log(.25), 0}, [4]float64{matern(.25), matern(.75), matern(.5), 0}},
		{"ordinal(size,9,10,-1)", []float64{math.Log(.5), math.Log(.25), 0}, [4]float64{matern(.5), matern(.25),
			matern(.75), 0}},
		{"lowrank(size)", []float64{.1, .2, .3, .4, .5, .6, 0}, [4]float64{low([2]float64{1.1, .7}, [2]float64{1.3, -.1}),
			low([2]float64{1.1, .7}, [2]float64{1.5, 1.1}), low([2]float64{1.3, -.1}, [2]float64{1.5, 1.1}), 0}},
	} {
		k := must.Get(kernel.Parse(c.expr, len(columns), false, columns...))(t)
		got := matrix.New(4, 4)
		kernel.At(k, c.theta).FillSymmetric(x, got)
		for i, v := range []float64{got.At(0, 1), got.At(0, 2), got.At(1, 2), got.At(1, 3)} {
			must.Hold(t, math.Abs(v-c.want[i]) <= 1e-12,
				"%s %d: %v, want %v", c.expr, i, v, c.want[i])
		}
		must.Hold(t, math.Abs(got.At(2, 2)-1) <= 1e-12 && math.Abs(got.At(3, 3)-1) <= 1e-12,
			"%s: variance %v", c.expr, got.At(3, 3))
	}
}
