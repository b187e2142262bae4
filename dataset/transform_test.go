package dataset

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/krigo-gp/krigo/internal/must"
)

// every returns all transforms, with constants from targets y. It has each transform with a free λ at five more
// values.
func every(y []float64) (all []Transform) {
	for _, name := range Transforms() {
		t, err := transformOf(name, Median, y)
		if err != nil {
			panic(err)
		}
		all = append(all, t)
		for _, lambda := range []float64{0, 0.05, 1, 1.3, 2} {
			if name == boxCox || name == yeoJohnson {
				t.Lambda = lambda
				all = append(all, t)
			}
		}
	}
	return all
}

// TestTransformInverts: T increases, T⁻¹ inverts it, and T' is its slope, at targets of prior rows and elsewhere.
func TestTransformInverts(t *testing.T) {
	for _, f := range every([]float64{0.8, 1, 3, 40, 200}) {
		must.Do(t, f.check())
		last := math.Inf(-1)
		for _, y := range []float64{-500, -2, -0.3, 0, 0.05, 0.09, 0.11, 0.8, 1, 7, 40, 200, 1e4} {
			u := f.at(y)
			must.Hold(t, u > last, "%s %v: T(%v) = %v after %v", f.Name, f.Lambda, y, u, last)
			last = u
			must.Near(t, f.inverse(u), y, 1e-9*max(1, math.Abs(y)), f.Name, f.Lambda)
			h := 1e-6 * max(1, math.Abs(y))
			slope := (f.at(y+h) - f.at(y-h)) / (2 * h)
			must.Near(t, f.slope(y), slope, 1e-4*slope+1e-9, f.Name, f.Lambda, y)
		}
	}
}

// TestTransformFormulas: above the tangent T is the formula of its paper.
func TestTransformFormulas(t *testing.T) {
	for name, want := range map[string]func(y float64) float64{"log": math.Log, "log1p": math.Log1p,
		"sqrt":     func(y float64) float64 { return 2 * (math.Sqrt(y) - 1) },
		boxCox:     func(y float64) float64 { return (math.Pow(y, 0.7) - 1) / 0.7 },
		yeoJohnson: func(y float64) float64 { return (math.Pow(y+1, 0.7) - 1) / 0.7 }} {
		f := Transform{Name: name, From: 0.1}
		if f.Lambda = f.lambda(); name == boxCox || name == yeoJohnson {
			f.Lambda = 0.7
		}
		for _, y := range []float64{0.2, 1, 5, 300} {
			must.Near(t, f.at(y), want(y), 1e-12*max(1, want(y)), name)
		}
	}
	f := Transform{Name: yeoJohnson, Lambda: 0.7}
	must.Near(t, f.at(-4), -(math.Pow(5, 1.3)-1)/1.3, 1e-12)
}

// TestTransformMoments: the moments equal sums over a fine grid, and for log also the formula of the log-normal.
func TestTransformMoments(t *testing.T) {
	for _, f := range every([]float64{0.8, 1, 3, 40, 200}) {
		for _, at := range [][2]float64{{0.3, 0.2}, {2, 0.8}, {-1.5, 0.5}, {5, 1.5}} {
			mean, sd := at[0], at[1]
			m, v := f.moments(mean, sd)
			const n = 40_000
			var mass, first, second float64
			for i := range n + 1 {
				z := -14 + 28*float64(i)/n
				w, y := math.Exp(-z*z/2), f.inverse(mean+sd*z)
				mass, first, second = mass+w, first+w*y, second+w*y*y
			}
			first, second = first/mass, second/mass
			size := max(1, math.Abs(first))
			must.Near(t, m, first, 1e-5*size, f.Name, f.Lambda, at)
			must.Near(t, v, second-first*first, 1e-4*max(size*size, second), f.Name, f.Lambda, at)
		}
	}
	f := Transform{Name: "log", From: 1e-30}
	m, v := f.moments(1, 0.7)
	must.Near(t, m, math.Exp(1+0.49/2), 1e-9)
	must.Near(t, v, math.Expm1(0.49)*math.Exp(2+0.49), 1e-8)
}

// TestTransformLambda: the λ that is found is near the λ that made the targets, and the most likely on the grid.
func TestTransformLambda(t *testing.T) {
	must.Long(t)
	rng := rand.New(rand.NewPCG(3, 4))
	for _, name := range []string{boxCox, yeoJohnson} {
		for _, lambda := range []float64{0, 0.5, 1.2} {
			made := Transform{Name: name, Lambda: lambda, From: 1e-9}
			y := make([]float64, 5_000)
			for i := range y {
				y[i] = made.inverse(3 + 0.8*rng.NormFloat64())
			}
			f := must.Get(transformOf(name, Median, y))(t)
			must.Near(t, f.Lambda, lambda, 0.11, name)
			density := func(k Transform) (sum float64) { // log density, up to a constant
				k.fit(y)
				for _, v := range y {
					z := (k.at(v) - k.Mean) / k.Scale
					sum += -z*z/2 + math.Log(k.slope(v)/k.Scale)
				}
				return sum
			}
			for step := range 41 {
				other := f
				other.Lambda = float64(step) / 20
				must.Hold(t, density(other) <= density(f)+1e-6,
					"%s: λ = %v is likelier than %v", name, other.Lambda, f.Lambda)
			}
		}
	}
}

// TestTransformDomain: a target outside a transform's domain is an error with its line and row, and check refuses
// constants that no transform has.
func TestTransformDomain(t *testing.T) {
	table := must.Get(FromRows([]string{"x", "y"}, [][]float64{{1, 2}, {2, 0}, {3, -3}, {4, 5}}))(t)
	table.Lines = []int{2, 3, 4, 5}
	d := must.Get(table.Regression("y"))(t)
	for name, want := range map[string]string{"log": "line 3 (row 2)", "boxcox": "line 3 (row 2)", "sqrt": "line 4 (row 3)",
		"log1p": "line 4 (row 3)"} {
		must.Fail(t, CheckDomain(name, d, d.All()), want, name)
		must.Fail(t, CheckDomain(name, d, d.All()), "target-transform "+name, name)
	}
	must.Do(t, CheckDomain(yeoJohnson, d, d.All()))
	for _, f := range []Transform{{Name: "exp", Scale: 1, Estimate: Mean}, {Name: "log", From: -1, Scale: 1, Estimate: Mean},
		{Name: boxCox, From: 1, Lambda: 0.33, Scale: 1, Estimate: Mean}, {Name: "log", From: 1, Scale: 0, Estimate: Mean},
		{Name: "sqrt", From: 1, Lambda: 0.4, Scale: 1, Estimate: Mean}, {Name: "log", From: 1, Scale: 1}} {
		must.Hold(t, f.check() != nil, "%+v is taken", f)
	}
}
