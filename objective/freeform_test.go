package objective_test

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/krigo-gp/krigo/internal/linalg"
	"github.com/krigo-gp/krigo/internal/must"
	"github.com/krigo-gp/krigo/kernel"
	"github.com/krigo-gp/krigo/matrix"
	"github.com/krigo-gp/krigo/objective"
	"github.com/krigo-gp/krigo/pacbayes"
)

// pack writes ν and L' to a parameter vector's parts.
func pack(f objective.FreeFormParts, nu []float64, lq matrix.Dense) {
	copy(f.Nu, nu)
	for i, k := 0, 0; i < lq.Rows; i++ {
		for j := range i + 1 {
			f.Chol[k] = lq.At(i, j)
			if i == j {
				f.Chol[k] = math.Log(lq.At(i, j))
			}
			k++
		}
	}
}

// TestGoldenFreeForm compares value and gradient with golden values, whose parameters are a_M and L_S.
func TestGoldenFreeForm(t *testing.T) {
	raw := must.Get(os.ReadFile("../testdata/golden/sparse.json"))(t)
	type goldenFree struct {
		AM        []float64 `json:"aM"`
		LS        [][]float64
		Values    map[string]float64
		Grads     map[string][]float64
		TrainMean []float64 `json:"train_mean"`
		TrainVar  []float64 `json:"train_var"`
		TestMean  []float64 `json:"test_mean"`
		TestVar   []float64 `json:"test_var"`
	}
	var file struct {
		Cases []struct {
			sparseCase
			Freeform *goldenFree
		}
	}
	must.Do(t, json.Unmarshal(raw, &file))
	checked := 0
	for i, c := range file.Cases {
		if c.Freeform == nil {
			continue
		}
		want := *c.Freeform
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			k, z := c.Kernel.build(t, c.D), matrixOf(c.Z)
			m := z.Rows
			for label, value := range want.Values {
				parts := strings.Split(label, ":")
				if len(parts) != 2 || parts[1] == "RS" {
					continue
				}
				loss, number, _ := strings.Cut(parts[0], "_")
				eps, err := strconv.ParseFloat(number, 64)
				if err != nil {
					t.Fatal(label, err)
				}
				o := &objective.FreePAC{Penalty: c.Cert.Penalty, Bound: pacbayes.KLBound,
					Loss: pacbayes.Loss{Kind: lossNames[loss], Below: eps, Above: eps}}
				if parts[1] == "BPin" {
					o.Bound = pacbayes.PinskerBound
				}
				for _, y := range c.Y {
					o.Scale = append(o.Scale, math.Abs(y))
				}
				p := &objective.FreeFormProblem{Kernel: k, Mean: kernel.LinearMean{},
					Rows: objective.Memory{X: matrixOf(c.X), Y: c.Y}, M: m, Objective: o, Noise: 1, MinJitter: c.Jitter}
				x, g := make([]float64, p.Dim()), make([]float64, p.Dim())
				at, d := p.Split(x), p.Split(g)
				copy(at.Theta, c.LogParams)
				at.Beta[0] = c.Mean
				at.Z.CopyFrom(z)
				if err := p.SetMoments(x, want.AM, matrixOf(want.LS)); err != nil {
					t.Fatal(label, err)
				}
				v, err := p.Evaluate(x, g)
				if err != nil {
					t.Fatal(label, err)
				}
				compare(t, label, []float64{v}, []float64{value})
				aBar, lsBar := p.MomentGradient(x, g)
				got := slices.Concat(d.Theta, d.Beta, d.Z.Data, aBar)
				for i := range m {
					got = append(got, lsBar.Row(i)[:i+1]...)
				}
				compare(t, label+" gradient", got, want.Grads[label])
				checked++

				q := must.Get(p.Posterior(x))(t)
				compare(t, "KL", []float64{q.KL()}, []float64{want.Values["kl"]})
				for _, at := range []struct {
					x              [][]float64
					mean, variance []float64
				}{{c.X, want.TrainMean, want.TrainVar}, {c.Xs, want.TestMean, want.TestVar}} {
					mean, variance := make([]float64, len(at.x)), make([]float64, len(at.x))
					q.Latent(matrixOf(at.x), mean, variance)
					compare(t, "mean", mean, at.mean)
					compare(t, "variance", variance, at.variance)
				}
			}
		})
	}
	must.Need(t, checked != 0, "no values were checked")
}

// difference returns the five-point central difference of f at 0.
func difference(f func(h float64) float64) float64 {
	const h = 3e-4
	return (8*(f(h)-f(-h)) - (f(2*h) - f(-2*h))) / (12 * h)
}

// freeProblem returns a small problem, and parameters with an arbitrary q.
func freeProblem(t *testing.T, o objective.FreeForm, expr string, n, m int) (*objective.FreeFormProblem, []float64) {
	t.Helper()
	x, y := boston(n, 3)
	k := must.Get(kernel.Parse(expr, 3, true))(t)
	p := &objective.FreeFormProblem{Kernel: k, Mean: kernel.LinearMean{Dim: 3}, Rows: objective.Memory{X: x, Y: y}, M: m,
		Objective: o, Noise: 0.3}
	at := make([]float64, p.Dim())
	rng := rand.New(rand.NewPCG(3, 4))
	for i := range at {
		at[i] = 0.3 * rng.NormFloat64()
	}
	f := p.Split(at)
	for i := range f.Theta {
		f.Theta[i] += 0.4
	}
	for i := range m {
		for j := range 3 {
			f.Z.Set(i, j, f.Z.At(i, j)+x.At(2*i, j))
		}
	}
	return p, at
}

func freeObjectives() map[string]objective.FreeForm {
	scale := make([]float64, 40)
	for i := range scale {
		scale[i] = 0.5 + float64(i)/40
	}
	return map[string]objective.FreeForm{
		"svgp": &objective.SVGP{},
		"kl":   &objective.FreePAC{Loss: pacbayes.Loss{Kind: pacbayes.Band, Below: 0.6}, Bound: pacbayes.KLBound, Penalty: 5},
		"sqrt": &objective.FreePAC{Loss: pacbayes.Loss{Kind: pacbayes.Gaussian, Below: 0.6}, Bound: pacbayes.PinskerBound,
			Penalty: 5},
		"relative": &objective.FreePAC{Loss: pacbayes.Loss{Kind: pacbayes.Relative, Below: 0.6}, Bound: pacbayes.KLBound,
			Penalty: 5,
			Scale:   scale},
	}
}

// TestFreeFormGradient compares every derivative with differences: on all rows, on a batch, and after a
// natural-gradient step.
func TestFreeFormGradient(t *testing.T) {
	batch := []int{3, 17, 4, 31, 8, 25, 11}
	for name, o := range freeObjectives() {
		for _, expr := range []string{"se", "matern32+linear"} {
			p, at := freeProblem(t, o, expr, 40, 6)
			names := p.Names()
			must.Need(t, len(names) == p.Dim(), "%d names for %d parameters", len(names), p.Dim())
			for what, value := range map[string]func(x, g []float64) (float64, error){
				"all rows": p.Evaluate,
				"batch":    func(x, g []float64) (float64, error) { return p.EvaluateBatch(x, g, batch) },
			} {
				g := make([]float64, len(at))
				v := must.Get(value(at, g))(t)
				if again, _ := value(at, nil); again != v {
					t.Errorf("%s, %s: %v without gradient, %v with", name, what, again, v)
				}
				for i := range at {
					want := difference(func(h float64) float64 {
						moved := slices.Clone(at)
						moved[i] += h
						return must.Get(value(moved, nil))(t)
					})
					if !(math.Abs(g[i]-want) <= 1e-8*math.Abs(want)+1e-9*max(1, math.Abs(v))) {
						t.Errorf("%s, %s, %s, d/d %s: %.12g, differences give %.12g", name, expr, what, names[i], g[i], want)
					}
				}
			}
		}
	}

	p, at := freeProblem(t, &objective.SVGP{}, "se", 40, 6)
	g, after := make([]float64, len(at)), make([]float64, len(at))
	v := must.Get(p.StepBatch(at, g, batch, 0.3))(t)
	w := must.Get(p.EvaluateBatch(at, after, batch))(t)
	near(t, "value after a step", v, w, 1e-12)
	f, d := p.Split(after), p.Split(g)
	clear(f.Nu)
	clear(f.Chol)
	for i := range g {
		near(t, "gradient after a step", g[i], after[i], 1e-10)
	}
	must.Hold(t, slices.Max(d.Nu) == 0 && slices.Min(d.Chol) == 0,
		"the gradient has entries for what was stepped")
}

// TestSVGPOptimum: SVGP's minimum over q is the VFE energy, with VFE's gradient. One natural-gradient step on all rows
// with ρ = 1 reaches the minimum from any q.
func TestSVGPOptimum(t *testing.T) {
	p, at := freeProblem(t, &objective.SVGP{}, "se", 120, 8)
	f := p.Split(at)
	sparse := &objective.SparseProblem{Kernel: p.Kernel, Mean: p.Mean, Rows: p.Rows, M: p.M, Objective: objective.VFE()}
	collapsed := slices.Concat(f.Theta, f.Beta, f.LogNoise, f.Z.Data)
	want := make([]float64, len(collapsed))
	vfe := must.Get(sparse.Evaluate(collapsed, want))(t)
	if v, _ := p.Evaluate(at, nil); !(v > vfe+1) {
		t.Errorf("some q has energy %v, the optimal one %v", v, vfe)
	}
	all := make([]int, 120)
	for i := range all {
		all[i] = i
	}
	stepped := slices.Clone(at)
	if v, err := p.StepBatch(stepped, make([]float64, len(at)), all, 1); err != nil ||
		!(math.Abs(v-vfe) <= 1e-8*math.Abs(vfe)) {
		t.Errorf("after one step with ρ = 1: %v (%v), VFE %v", v, err, vfe)
	}
	started := must.Get(p.StartFrom(collapsed, 0))(t)
	optimised := slices.Clone(at)
	if v, err := p.Optimise(optimised); err != nil || !(math.Abs(v-vfe) <= 1e-8*math.Abs(vfe)) {
		t.Errorf("optimised: %v (%v), VFE %v", v, err, vfe)
	}
	for i := range started {
		near(t, "the q of one step against the collapsed posterior's", stepped[i], started[i], 1e-8)
		near(t, "the optimised q against the collapsed posterior's", optimised[i], started[i], 1e-8)
	}
	g := make([]float64, len(at))
	v := must.Get(p.Evaluate(started, g))(t)
	near(t, "from the collapsed posterior", v, vfe, 1e-10)
	d := p.Split(g)
	for i, w := range slices.Concat(d.Theta, d.Beta, d.LogNoise, d.Z.Data) {
		near(t, "gradient at the optimum against VFE's", w, want[i], 1e-8)
	}
	for _, w := range slices.Concat(d.Nu, d.Chol) {
		near(t, "gradient of q at its optimum", w, 0, 1e-7)
	}

	// Smaller steps fall towards the optimum.
	last, _ := p.Evaluate(at, nil)
	for range 20 {
		v, err := p.StepBatch(at, g, all, 0.5)
		must.Need(t, err == nil && v <= last+1e-9,
			"a step with ρ = 0.5 went from %v to %v (%v)", last, v, err)
		last = v
	}
	near(t, "after many steps", last, vfe, 1e-8)
}

// TestFreeFormFromCollapsed: at the q of a collapsed posterior with any α, FreePAC has the value of SparsePAC.
func TestFreeFormFromCollapsed(t *testing.T) {
	for _, alpha := range []float64{0, 0.5, 1} {
		for _, bound := range []pacbayes.Inequality{pacbayes.KLBound, pacbayes.PinskerBound} {
			loss := pacbayes.Loss{Kind: pacbayes.Band, Below: 0.6}
			p, at := freeProblem(t, &objective.FreePAC{Loss: loss, Bound: bound, Penalty: 5}, "se", 150, 9)
			f := p.Split(at)
			sparse := &objective.SparseProblem{Kernel: p.Kernel, Mean: p.Mean, Rows: p.Rows, M: p.M,
				Objective: &objective.SparsePAC{Alpha: alpha, Loss: loss, Bound: bound, Penalty: 5}}
			collapsed := slices.Concat(f.Theta, f.Beta, []float64{-1}, f.Z.Data)
			want := must.Get(sparse.Evaluate(collapsed, nil))(t)
			x := must.Get(p.StartFrom(collapsed, alpha))(t)
			got := must.Get(p.Evaluate(x, nil))(t)
			near(t, "free-form bound", got, want, 1e-9)
			q := must.Get(p.Posterior(x))(t)
			other := must.Get(sparse.Posterior(collapsed, alpha))(t)
			near(t, "KL", q.KL(), other.KL(), 1e-9)
			for i, w := range q.Weights() {
				near(t, "weights", w, other.Weights()[i], 1e-8)
			}
		}
	}
}

// TestSVGPBatchesAreUnbiased: value and gradient are the means over all batches.
func TestSVGPBatchesAreUnbiased(t *testing.T) {
	const n, size = 8, 3
	p, at := freeProblem(t, &objective.SVGP{}, "se", n, 3)
	want := make([]float64, len(at))
	value := must.Get(p.Evaluate(at, want))(t)
	var sum float64
	count := 0.0
	total, g := make([]float64, len(at)), make([]float64, len(at))
	for a := range n {
		for b := range a {
			for c := range b {
				v := must.Get(p.EvaluateBatch(at, g, []int{a, b, c}))(t)
				sum += v
				count++
				linalg.Axpy(1, g, total)
			}
		}
	}
	must.Need(t, count == 56, "%v batches of %d of %d rows", count, size, n)
	near(t, "mean over all batches", sum/count, value, 1e-12)
	for i, v := range total {
		near(t, "mean gradient over all batches", v/count, want[i], 1e-11)
	}
}

// TestFreeFormInvariances: the results are the same for any Keep and any number of cores, and for a batch of all rows.
func TestFreeFormInvariances(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	n := 2100 // two blocks
	for name, o := range freeObjectives() {
		if name == "relative" {
			continue
		}
		p, at := freeProblem(t, o, "se", n, 12)
		runtime.GOMAXPROCS(1)
		g := make([]float64, len(at))
		v := must.Get(p.Evaluate(at, g))(t)
		all := make([]int, n)
		for i := range all {
			all[i] = i
		}
		for _, procs := range []int{2, 5} {
			runtime.GOMAXPROCS(procs)
			for _, keep := range []int64{0, 1 << 30} {
				h := make([]float64, len(at))
				other := &objective.FreeFormProblem{Kernel: p.Kernel, Mean: p.Mean, Rows: p.Rows, M: p.M, Objective: o, Keep: keep}
				if w, err := other.Evaluate(at, h); err != nil || w != v || !slices.Equal(g, h) {
					t.Errorf("%s on %d cores, keeping %d bytes: %v (%v), before %v", name, procs, keep, w, err, v)
				}
				if w, err := other.EvaluateBatch(at, h, all[:7]); err != nil || w == v {
					t.Errorf("%s: a batch of seven rows gave %v, %v", name, w, err)
				}
				if w, err := other.EvaluateBatch(at, h, all); err != nil || w != v || !slices.Equal(g, h) {
					t.Errorf("%s on a batch of all rows: %v (%v), before %v", name, w, err, v)
				}
			}
		}
	}
}

// TestNaturalGradientStep compares a step with its definition. In the natural parameters (S'⁻¹ν, −½S'⁻¹) of q, a step
// is −ρ times the derivative with respect to the expectation parameters (ν, S' + ννᵀ), which differences give here.
func TestNaturalGradientStep(t *testing.T) {
	const m, rho = 3, 0.3
	batch := []int{3, 17, 4, 31, 8}
	p, at := freeProblem(t, &objective.SVGP{}, "se", 40, m)
	f := p.Split(at)
	covariance := func(f objective.FreeFormParts) matrix.Dense {
		l, s := matrix.New(m, m), matrix.New(m, m)
		for i, k := 0, 0; i < m; i++ {
			for j := range i + 1 {
				l.Set(i, j, f.Chol[k])
				if i == j {
					l.Set(i, i, math.Exp(f.Chol[k]))
				}
				k++
			}
		}
		linalg.Gemm(false, true, 1, l, l, 0, s)
		return s
	}
	natural := func(f objective.FreeFormParts) ([]float64, matrix.Dense) {
		s, inv, first := covariance(f), matrix.New(m, m), make([]float64, m)
		must.Do(t, linalg.Cholesky(s))
		linalg.CholeskyInverse(s, inv)
		linalg.Gemv(false, 1, inv, f.Nu, 0, first)
		linalg.Scale(-0.5, inv.Data)
		return first, inv
	}
	second := covariance(f)
	linalg.Ger(1, f.Nu, f.Nu, second)
	value := func(eta1 []float64, eta2 matrix.Dense) float64 {
		s := matrix.New(m, m)
		s.CopyFrom(eta2)
		linalg.Ger(-1, eta1, eta1, s)
		must.Do(t, linalg.Cholesky(s))
		x := slices.Clone(at)
		pack(p.Split(x), eta1, s)
		return must.Get(p.EvaluateBatch(x, nil, batch))(t)
	}
	want1, want2 := natural(f)
	for i := range m {
		want1[i] -= rho * difference(func(h float64) float64 {
			eta1 := slices.Clone(f.Nu)
			eta1[i] += h
			return value(eta1, second)
		})
		for j := range i + 1 {
			d := difference(func(h float64) float64 {
				eta2 := matrix.New(m, m)
				eta2.CopyFrom(second)
				eta2.Set(i, j, second.At(i, j)+h)
				eta2.Set(j, i, second.At(j, i)+h)
				return value(f.Nu, eta2)
			})
			if i != j {
				d /= 2 // two entries moved
			}
			want2.Set(i, j, want2.At(i, j)-rho*d)
			want2.Set(j, i, want2.At(i, j))
		}
	}
	must.Get(p.StepBatch(at, make([]float64, len(at)), batch, rho))(t)
	got1, got2 := natural(p.Split(at))
	for i := range m {
		near(t, "S'⁻¹ν after a step", got1[i], want1[i], 1e-8)
		for j := range m {
			near(t, "−½S'⁻¹ after a step", got2.At(i, j), want2.At(i, j), 1e-8)
		}
	}
	bound, x := freeProblem(t, &objective.FreePAC{Loss: pacbayes.Loss{Kind: pacbayes.Band, Below: 1},
		Bound: pacbayes.KLBound}, "se", 40, m)
	must.Refuse(bound.StepBatch(x, make([]float64, len(x)), batch, rho))(t, "", "a bound took a natural-gradient step")
	must.Refuse(p.StepBatch(at, make([]float64, len(at)), batch, 1.5))(t, "", "a step of 1.5 was taken")
	must.Refuse(p.EvaluateBatch(at, nil, nil))(t, "", "an empty batch was taken")
}

// TestFreeFormJitter: for coincident inducing inputs, the free-form and the collapsed posterior add the same jitter and
// have the same bound.
func TestFreeFormJitter(t *testing.T) {
	loss := pacbayes.Loss{Kind: pacbayes.Band, Below: 0.6}
	p, at := freeProblem(t, &objective.FreePAC{Loss: loss, Bound: pacbayes.KLBound, Penalty: 5}, "se", 150, 6)
	f := p.Split(at)
	copy(f.Z.Row(3), f.Z.Row(2))
	sparse := &objective.SparseProblem{Kernel: p.Kernel, Mean: p.Mean, Rows: p.Rows, M: p.M,
		Objective: &objective.SparsePAC{Alpha: 1, Loss: loss, Bound: pacbayes.KLBound, Penalty: 5}}
	collapsed := slices.Concat(f.Theta, f.Beta, []float64{-1}, f.Z.Data)
	want := must.Get(sparse.Evaluate(collapsed, nil))(t)
	x := must.Get(p.StartFrom(collapsed, 1))(t)
	g := make([]float64, len(x))
	got, err := p.Evaluate(x, g)
	if err != nil || p.Jitter == 0 || p.Jitter != sparse.Jitter {
		t.Fatalf("jitter %v, of the collapsed posterior %v; %v", p.Jitter, sparse.Jitter, err)
	}
	near(t, "bound", got, want, 1e-9)
	q := must.Get(p.Posterior(x))(t)
	mean, variance := make([]float64, 150), make([]float64, 150)
	data := p.Rows.(objective.Memory)
	q.Latent(data.X, mean, variance)
	risk := must.Get(pacbayes.Sample{Y: data.Y, Mean: mean, Variance: variance}.Risk(loss, nil, nil))(t)
	value, _, _ := pacbayes.KLBound.Evaluate(risk, q.KL(), 5, 150)
	near(t, "bound of the posterior", value, want, 1e-7)
}

// TestMomentGradient compares the gradient at fixed a_M and L_S with differences, for a prior mean with slopes.
func TestMomentGradient(t *testing.T) {
	p, x := freeProblem(t, &objective.SVGP{}, "matern52", 30, 5)
	at := p.Split(x)
	aM, ls := make([]float64, p.M), matrix.New(p.M, p.M)
	for i := range aM {
		aM[i] = 0.3 * float64(i%3)
		for j := range i {
			ls.Set(i, j, 0.1*float64((i+2*j)%5)-0.2)
		}
		ls.Set(i, i, 0.5+0.1*float64(i))
	}
	value := func() float64 {
		must.Do(t, p.SetMoments(x, aM, ls))
		return must.Get(p.Evaluate(x, nil))(t)
	}
	value()
	g := make([]float64, len(x))
	must.Get(p.Evaluate(x, g))(t)
	aBar, lsBar := p.MomentGradient(x, g)
	d := p.Split(g)
	check := func(what string, got float64, v *float64) {
		want := difference(func(h float64) float64 {
			old := *v
			defer func() { *v = old }()
			*v += h
			return value()
		})
		must.Hold(t, math.Abs(got-want) <= 1e-6*(1+math.Abs(want)),
			"%s: %v, by differences %v", what, got, want)
	}
	for i := range d.Theta {
		check("θ", d.Theta[i], &at.Theta[i])
	}
	for i := range d.Beta {
		check("β", d.Beta[i], &at.Beta[i])
	}
	for i := range d.Z.Data {
		check("Z", d.Z.Data[i], &at.Z.Data[i])
	}
	for i := range aM {
		check("a_M", aBar[i], &aM[i])
		for j := range i + 1 {
			check("L_S", lsBar.At(i, j), &ls.Row(i)[j])
		}
	}
}
