package method_test

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/krigo-gp/krigo/internal/must"
	"github.com/krigo-gp/krigo/kernel"
	"github.com/krigo-gp/krigo/matrix"
	"github.com/krigo-gp/krigo/method"
	"github.com/krigo-gp/krigo/objective"
	"github.com/krigo-gp/krigo/train"
)

// TestWeakHyperprior shows that the weak prior adds −ln of its densities, recomputed here, to the objective, that its
// derivatives agree with differences, and that batches count it once.
func TestWeakHyperprior(t *testing.T) {
	task, x := ridge(60)
	for i := range x {
		x[i] += 0.3 * float64(i) // no parameter is at the mean of its prior
	}
	var want float64
	for j := range 3 {
		z := x[j]/2 - (math.Sqrt2 + math.Log(3)/2) // the first parameters of Matern32 are ln l², here for three inputs
		want += z*z/6 + math.Log(2*math.Pi*3)/2
	}
	z := x[5] + 2
	want += z*z/4 + math.Log(2*math.Pi*2)/2
	for name, both := range map[string][2]method.Method{
		"evidence": {method.Evidence{}, method.Evidence{MAP: method.MAP{Hyperprior: "weak"}}},
		"nearest":  {method.Nearest{Neighbours: 5}, method.Nearest{Neighbours: 5, MAP: method.MAP{Hyperprior: "weak"}}},
	} {
		plain, weak := both[0].Bind(task), both[1].Bind(task)
		a, g := evaluate(t, plain, x)
		b, h := evaluate(t, weak, x)
		must.Hold(t, math.Abs(b-a-want) <= 1e-10*math.Abs(b),
			"%s: %v more, want %v", name, b-a, want)
		for i := range x {
			const step = 1e-5
			up, down := append([]float64(nil), x...), append([]float64(nil), x...)
			up[i] += step
			down[i] -= step
			difference := func(p train.Objective) float64 {
				v, err1 := p.Evaluate(up, nil)
				w, err2 := p.Evaluate(down, nil)
				if err1 != nil || err2 != nil {
					t.Fatal(err1, err2)
				}
				return (v - w) / (2 * step)
			}
			if d := difference(weak) - difference(plain); math.Abs(d-(h[i]-g[i])) > 1e-6 {
				t.Errorf("%s: derivative %d is %v, by differences %v", name, i, h[i]-g[i], d)
			}
		}
		if s, ok := weak.(train.Stochastic); ok {
			rows := []int{3, 17, 41}
			all, err1 := s.EvaluateBatch(x, nil, rows)
			alone, err2 := plain.(train.Stochastic).EvaluateBatch(x, nil, rows)
			must.Hold(t, err1 == nil && err2 == nil &&
				math.Abs(all-alone-want) <= 1e-9*math.Abs(all),
				"%s: a batch has %v more, want %v (%v, %v)", name, all-alone, want, err1, err2)
		}
	}
}

// TestSparseHyperprior: on few rows of many inputs the lengthscales of inputs have the sparse density, whose value and
// derivatives are recomputed here, and a search ends where its gradient is 0. A single lengthscale has the wide
// density.
func TestSparseHyperprior(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	const n, d = 40, 16
	all := objective.Memory{X: matrix.Dense{Rows: n, Cols: d, Stride: d}}
	for range n {
		for range d {
			all.X.Data = append(all.X.Data, rng.NormFloat64())
		}
		all.Y = append(all.Y, all.X.Data[len(all.X.Data)-d]+0.3*rng.NormFloat64())
	}
	for _, ard := range []bool{false, true} {
		k := must.Get(kernel.Parse("se", d, ard))(t)
		task := method.Task{Kernel: k, Mean: kernel.ZeroMean{}, Rows: all, All: all, N: n, Limit: 10}
		plain, weak := method.Evidence{}.Bind(task), method.Evidence{MAP: method.MAP{Hyperprior: "weak"}}.Bind(task)
		params := k.Params()
		x := make([]float64, len(params)+1)
		want, slopes := 0., make([]float64, len(x))
		for i := range x {
			x[i] = 2 + 0.3*float64(i)
			z := x[i]/2 - math.Sqrt2 - math.Log(d)/2
			switch {
			case i == len(params):
				want, slopes[i] = want+(x[i]+2)*(x[i]+2)/4+math.Log(2*math.Pi*2)/2, (x[i]+2)/2
			case params[i].Kind == kernel.Lengthscale && ard:
				want, slopes[i] = want+math.Log(math.Cosh(3*z))-math.Log(3/math.Pi), 1.5*math.Tanh(3*z)
			case params[i].Kind == kernel.Lengthscale:
				want, slopes[i] = want+z*z/6+math.Log(2*math.Pi*3)/2, z/6
			}
		}
		a, g := evaluate(t, plain, x)
		b, h := evaluate(t, weak, x)
		must.Near(t, b-a, want, 1e-9, "ARD", ard)
		for i := range x {
			must.Near(t, h[i]-g[i], slopes[i], 1e-9, "ARD", ard, "derivative", i)
		}
		run := method.Run{Key: "k", Load: func(string) *method.State { return nil },
			Tell: func(string, *method.State, int, float64, string) error { return nil }}
		r := must.Get(weak.Minimize(context.Background(), run, make([]float64, len(x))))(t)
		for i, v := range r.Gradient {
			must.Hold(t, math.Abs(v) <= 1e-3 || slices.Contains(r.AtBound, i),
				"ARD %t: the gradient's element %d is %v", ard, i, v)
		}
		if again, _ := weak.Evaluate(r.X, nil); ard {
			must.Near(t, again, r.Value, 1e-9, "the value is of the sparse density")
		}
	}
}

func evaluate(t *testing.T, p train.Objective, x []float64) (float64, []float64) {
	gradient := make([]float64, len(x))
	v := must.Get(p.Evaluate(x, gradient))(t)
	return v, gradient
}

// TestLocalSettings shows that a method refuses a setting that it lacks, and names the methods that have it.
func TestLocalSettings(t *testing.T) {
	for want, c := range map[string]method.Choice{
		"neighbours is a setting of nearest, not of vfe": {Name: "vfe", Neighbours: 7},
		`term "cost"`:    {Name: "nearest", Term: "cost"},
		`form "both"`:    {Name: "nearest", Form: "both"},
		"neighbours 513": {Name: "nearest", Neighbours: 513},
		"hyperprior weak is a setting of evidence and nearest":          {Name: "fitc", Hyperprior: "weak"},
		"on batches or with solver cg":                                  {Name: "evidence", Hyperprior: "weak", Solver: "cg"},
		"solver cholesky is a setting":                                  {Name: "nearest", Solver: "cholesky"},
		"inducing is a setting":                                         {Name: "evidence", Inducing: 7},
		"nearest, svgp and renyi, and of posterior free, not of kl-pac": {Name: "kl-pac", Batch: 7},
		"inducing-init greedy is a setting":                             {Name: "evidence", InducingInit: "greedy"},
		"posterior free is a setting of kl-pac and sqrt-pac":            {Name: "vfe", Posterior: "free"},
		"epochs -1: want 1 to":                                          {Name: "vfe", Epochs: -1},
	} {
		var text string
		for _, err := range c.WithDefaults().Check(method.Use{}) {
			text += err.Error() + "\n"
		}
		must.Hold(t, strings.Contains(text, want), "%+v: %q, want %q", c, text, want)
	}
	for _, c := range []method.Choice{{Name: "nearest"},
		{Name: "nearest", Term: "loss", Form: "vecchia", Hyperprior: "weak"}, {Name: "evidence", Hyperprior: "weak"}} {
		if errs := c.WithDefaults().Check(method.Use{}); len(errs) > 0 {
			t.Errorf("%+v: %v", c, errs)
		}
	}
}

// TestMarginal compares Laplace's approximation with the integral, summed over lengthscale, variance and noise.
func TestMarginal(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 1))
	const n = 25
	rows := objective.Memory{X: matrix.New(n, 1), Y: make([]float64, n)}
	for i := range n {
		rows.X.Data[i] = 1.7 * rng.NormFloat64()
		rows.Y[i] = math.Sin(2*rows.X.Data[i]) + 0.3*rng.NormFloat64()
	}
	task := method.Task{Kernel: kernel.SE(1, true), Mean: kernel.ZeroMean{}, Rows: rows, All: rows, N: n, Limit: 10}
	p := method.Evidence{MAP: method.MAP{Hyperprior: "weak"}}.Bind(task)
	r := must.Get(p.Minimize(context.Background(), method.Run{
		Load: func(string) *method.State { return nil },
		Tell: func(string, *method.State, int, float64, string) error { return nil },
	}, []float64{0, 0, -1}))(t)
	got := must.Get(p.Diagnostics().Marginal(r, math.Inf(1)))(t)
	const step, half = 0.25, 14
	var sum float64
	for i := -half; i <= half; i++ {
		for j := -half; j <= half; j++ {
			for k := -half; k <= half; k++ {
				dl, dv, dn := step*float64(i), step*float64(j), step*float64(k)
				v := must.Get(p.Evaluate([]float64{r.X[0] + dl, r.X[1] + dv, r.X[2] + dn}, nil))(t)
				// The lengthscale's density is of its logarithm, half of the parameter; the variance's is about the
				// mode.
				sum += math.Exp(r.Value-v-dv*dv/6) / math.Sqrt(2*math.Pi*3) / 2 * step * step * step
			}
		}
	}
	must.Near(t, got, r.Value-math.Log(sum), 0.2)
	if v, err := p.Diagnostics().Marginal(r, got-1); err != nil || v < got-1 {
		t.Errorf("above: %v, %v", v, err)
	}
}

// TestMarginalBelow: the first second derivatives of many may show that the result isn't less than a limit. The result
// is the same under any limit that it keeps.
func TestMarginalBelow(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 2))
	const n, d = 40, 9
	rows := objective.Memory{X: matrix.New(n, d), Y: make([]float64, n)}
	for i := range n {
		for j := range d {
			rows.X.Set(i, j, rng.NormFloat64())
		}
		rows.Y[i] = math.Sin(2 * rows.X.At(i, 3))
	}
	x := make([]float64, d+2)
	x[3], x[d+1] = -1, -3
	problem := method.Evidence{MAP: method.MAP{Hyperprior: "weak"}}.Bind(method.Task{Kernel: kernel.SE(d, true),
		Mean: kernel.ZeroMean{}, Rows: rows, All: rows, N: n, Limit: 10})
	marginal := problem.Diagnostics().Marginal
	mode := &train.Result{X: x, Gradient: make([]float64, len(x))}
	mode.Value = must.Get(problem.Evaluate(x, mode.Gradient))(t)
	want := must.Get(marginal(mode, math.Inf(1)))(t)
	for _, less := range []float64{1e-9, 0.3, 1, 3, 10, 30} {
		if got, err := marginal(mode, want+less); err != nil || got != want {
			t.Errorf("limit %v above: %v, not %v; %v", less, got, want, err)
		}
		if got, err := marginal(mode, want-less); err != nil || !math.IsInf(got, 1) {
			t.Errorf("limit %v under: %v; %v", less, got, err)
		}
	}
}
