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
	{Column: "colour", Category: "other"}, {Column: `a, "b" (c)`}}

// TestColumns: kernels on columns keep what kernels must satisfy, also when a file has held them.
func TestColumns(t *testing.T) {
	for _, expr := range []string{`se(colour,x)`, `matern32("a, ""b"" (c)")`, `rq( x )*periodic (colour) + linear(x)`,
		`additive(x, "a, ""b"" (c)")*se`, `white(colour)+constant`} {
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
				must.Not(t, math.Abs(v-got.Data[i]) > 1e-12, "%s: %v comes back as %v", expr, v, got.Data[i])
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
	a, b := matrix.Of(1, 5, []float64{1, 9, 8, 7, 2}), matrix.Of(1, 5, []float64{-1, 4, 5, 6, 0.5})
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
	must.Not(t, !slices.Equal(inverse, []float64{0, 0.5, 0.5, 0.5, 0}), "%v", inverse)
	both := must.Get(kernel.Parse("se(colour)*se(x)", len(columns), false, columns...))(t)
	_, ok = kernel.Metric(both, make([]float64, 4))
	must.Be(t, ok, false)
}

// TestColumnsRefused lists expressions that are wrong, each with a part of its error.
func TestColumnsRefused(t *testing.T) {
	for expr, want := range map[string]string{
		"se(colur)": `did you mean "colour"`, "se(x,x)": `"x" is listed twice`, "se(x": "isn't closed", "se()": "missing",
		`se("x)`: "isn't closed", "se(x,)": "missing", "se(x)(x)": "doesn't belong", "sse(x)": `did you mean "se"`,
		"se(y)": "the inputs are x, colour, a, ", "sum(x)": "unknown kernel",
	} {
		_, err := kernel.Parse(expr, len(columns), false, columns...)
		must.Not(t, err == nil || !strings.Contains(err.Error(), want), "%s: %v", expr, err)
	}
	_, err := kernel.Parse("se(x)", 1, false)
	must.Not(t, err == nil || !strings.Contains(err.Error(), "aren't known"), "%v", err)
	must.Do(t, kernel.Check(`se(any, "column,")*linear`))
	must.Not(t, kernel.Check("se(x") == nil, "no error")
	must.Be(t, strings.Join(kernel.Split(`se(a,b), rq("),")+se,`), "|"), `se(a,b)|rq("),")+se|`)
}
