package objective_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"github.com/krigo-gp/krigo/internal/linalg"
	"github.com/krigo-gp/krigo/internal/must"
	"github.com/krigo-gp/krigo/kernel"
	"github.com/krigo-gp/krigo/matrix"
	"github.com/krigo-gp/krigo/objective"
	"github.com/krigo-gp/krigo/objective/objectivetest"
)

func TestRenyiConforms(t *testing.T) {
	for _, alpha := range []float64{0, 0.3, 0.99, 1} {
		t.Run(fmt.Sprint(alpha), func(t *testing.T) {
			objectivetest.RunProblem(t, func(k kernel.Kernel, mean kernel.Mean, x matrix.Dense,
				y []float64) objectivetest.Problem {
				return &objective.RenyiProblem{Kernel: k, Mean: mean, Rows: objective.Memory{X: x, Y: y}, M: 4, Alpha: alpha}
			})
		})
	}
}

func TestGoldenRenyi(t *testing.T) {
	raw := must.Get(os.ReadFile("../testdata/golden/renyi.json"))(t)
	var file struct {
		Cases []struct {
			sparseCase
			LogMarginal float64   `json:"log_marginal"`
			ExactMean   []float64 `json:"exact_mean"`
			ExactVar    []float64 `json:"exact_var"`
			Alphas      []struct {
				Alpha, ELBO float64
				Gradient    []float64 `json:"elbo_grad"`
				UpperTrace  float64   `json:"upper_trace"`
				UpperLmax   float64   `json:"upper_lmax"`
				PredMean    []float64 `json:"pred_mean"`
				PredVar     []float64 `json:"pred_var"`
			}
		}
	}
	must.Do(t, json.Unmarshal(raw, &file))
	for i, c := range file.Cases {
		z := matrixOf(c.Z)
		at := append(append(append([]float64{}, c.LogParams...), c.Mean, c.LogNoise), z.Data...)
		nk := len(c.LogParams)
		for _, a := range c.Alphas {
			t.Run(fmt.Sprintf("%d/%v", i, a.Alpha), func(t *testing.T) {
				p := &objective.RenyiProblem{Kernel: c.Kernel.build(t, c.D), Mean: kernel.LinearMean{},
					Rows: objective.Memory{X: matrixOf(c.X), Y: c.Y},
					M:    z.Rows, Alpha: a.Alpha, MinJitter: c.Jitter}
				g := make([]float64, p.Dim())
				v := must.Get(p.Evaluate(at, g))(t)
				compare(t, "−L_α", []float64{v}, []float64{-a.ELBO})
				linalg.Scale(-1, g)
				g[nk], g[nk+1] = g[nk+1], g[nk] // the golden order is noise, then mean
				compare(t, "gradient", g, a.Gradient)

				b := must.Get(p.Sandwich(at))(t)
				compare(t, "ln p(y)", []float64{b.Evidence}, []float64{c.LogMarginal})
				compare(t, "L_upper", []float64{b.Upper}, []float64{a.UpperTrace})
				if b.UpperNorm < a.UpperLmax-1e-9*math.Abs(a.UpperLmax) || b.UpperNorm > b.Upper+1e-12*math.Abs(b.Upper) {
					t.Errorf("L_upper by the norm %v: not between that by the largest eigenvalue %v and that by the trace %v",
						b.UpperNorm, a.UpperLmax, b.Upper)
				}

				q := must.Get(p.Posterior(at))(t)
				wantMean, wantVar := a.PredMean, a.PredVar
				if a.Alpha == 0 {
					wantMean, wantVar = c.ExactMean, c.ExactVar
				}
				m, s := make([]float64, len(wantMean)), make([]float64, len(wantMean))
				q.Latent(matrixOf(c.Xs), m, s)
				compare(t, "predictive mean", m, wantMean)
				compare(t, "predictive variance", s, wantVar)
			})
		}
	}
}

// randomRenyi draws a problem of a few rows and its parameters.
func randomRenyi(rng *rand.Rand) (*objective.RenyiProblem, []float64) {
	n, d, m := 4+rng.IntN(20), 1+rng.IntN(3), 1+rng.IntN(6)
	names := []string{"se", "matern12", "matern32", "matern52", "rq"}
	k, _ := kernel.Parse(names[rng.IntN(len(names))], d, false)
	x, y := matrix.New(n, d), make([]float64, n)
	for i := range x.Data {
		x.Data[i] = 3 * rng.NormFloat64()
	}
	for i := range y {
		y[i] = math.Exp(rng.NormFloat64()) * rng.NormFloat64()
	}
	p := &objective.RenyiProblem{Kernel: k, Mean: kernel.ZeroMean{}, Rows: objective.Memory{X: x, Y: y}, M: m}
	at := make([]float64, p.Dim())
	for i := range at {
		at[i] = 2 * rng.NormFloat64()
	}
	at[len(k.Params())] = 3*rng.NormFloat64() - 2
	return p, at
}

// TestRenyiSandwich: on random problems L_α falls with α from the evidence to VFE's bound, the bounds on both sides
// hold, and L_α for α < 0 is an upper bound.
func TestRenyiSandwich(t *testing.T) {
	rng := rand.New(rand.NewPCG(23, 29))
	for problem := range 1000 {
		p, at := randomRenyi(rng)
		last := math.Inf(1)
		for _, alpha := range []float64{-0.5, 0, 0.01, 0.2, 0.5, 0.8, 0.99, 1 - 1e-9, 1} {
			p.Alpha = alpha
			b, err := p.Sandwich(at)
			if err != nil {
				t.Fatal(problem, err)
			}
			chain := []float64{last, b.Optimal}
			if alpha < 0 {
				chain = append(chain, b.Evidence, b.Variational)
			} else {
				chain = append(chain, b.Alpha, b.Jensen, b.Variational)
				for _, upper := range []float64{b.Upper, b.UpperNorm} {
					if !(upper >= b.Evidence-1e-9*math.Max(math.Abs(b.Evidence), 1)) {
						t.Fatalf("problem %d, α = %v: L_upper %v below the evidence %v", problem, alpha, upper, b.Evidence)
					}
				}
			}
			for i := range chain[1:] {
				if !(chain[i+1] <= chain[i]+1e-9*math.Max(math.Abs(chain[i+1]), 1)) {
					t.Fatalf("problem %d, α = %v: %v isn't a descending chain", problem, alpha, chain)
				}
			}
			last = b.Optimal
			switch alpha {
			case 0:
				near(t, "α = 0 against the evidence", b.Optimal, b.Evidence, 1e-12)
			case 1:
				near(t, "α = 1 against L_VI", b.Optimal, b.Variational, 1e-9)
				sparse := &objective.SparseProblem{Kernel: p.Kernel, Mean: p.Mean, Rows: p.Rows, M: p.M, Objective: objective.VFE(),
					MinJitter: p.Jitter}
				vfe := must.Get(sparse.Evaluate(at, nil))(t)
				near(t, "α = 1 against VFE", b.Optimal, -vfe, 1e-9)
				lower, upper, err := sparse.Bounds(at)
				must.Do(t, err)
				near(t, "bounds of the sparse GP: below", lower, b.Variational, 1e-9)
				near(t, "bounds of the sparse GP: above", upper, b.Upper, 1e-9)
			}
		}
		must.Need(t, !t.Failed(), "problem %d: ln θ, ln σ_n², Z = %v", problem, at)
	}
}

// TestRenyiIsContinuous: near α = 0 and α = 1, L_α and its gradient differ from the limits' by the first order in α.
// The division by 1−α loses no digits.
func TestRenyiIsContinuous(t *testing.T) {
	x, y := boston(60, 3)
	at := append([]float64{0.3, 0.1, -1}, x.Data[:15]...)
	value := func(alpha float64) (float64, []float64) {
		p := &objective.RenyiProblem{Kernel: kernel.SE(3, false), Mean: kernel.ZeroMean{}, Rows: objective.Memory{X: x, Y: y},
			M: 5, Alpha: alpha}
		g := make([]float64, len(at))
		v := must.Get(p.Evaluate(at, g))(t)
		return v, g
	}
	for _, limit := range []float64{0, 1} {
		v, g := value(limit)
		for _, step := range []float64{1e-6, 1e-9, 1e-12, 1e-15} {
			w, h := value(math.Abs(limit - step))
			near(t, fmt.Sprintf("α %v from %v", step, limit), w, v, 100*step+1e-13)
			for i := range g {
				near(t, "its gradient", h[i], g[i], 300*step+1e-11)
			}
		}
	}
}

// TestRenyiBelowZero: for α < 0 L_α is above the evidence, by ever more as the noise falls, so that nothing can maximise it.
func TestRenyiBelowZero(t *testing.T) {
	x, y := boston(60, 3)
	value := func(alpha, logNoise float64) float64 {
		p := &objective.RenyiProblem{Kernel: kernel.Matern12(3, false), Mean: kernel.ZeroMean{},
			Rows: objective.Memory{X: x, Y: y}, M: 5, Alpha: alpha}
		return must.Get(p.Evaluate(append([]float64{0.3, 0.1, logNoise}, x.Data[:15]...), nil))(t)
	}
	last := math.Inf(1)
	for _, logNoise := range []float64{-8, -16, -24, -32} {
		v := value(-0.5, logNoise)
		must.Hold(t, v < value(0, logNoise) && v < last-10, "ln σ_n² %v: −L_α = %v after %v", logNoise, v, last)
		last = v
	}
}

// TestRenyiBatch: a batch gives the scaled value of a problem with the batch's rows alone. A batch of all rows gives
// the value on all rows. Batches of several sizes may alternate.
func TestRenyiBatch(t *testing.T) {
	x, y := boston(60, 3)
	p := &objective.RenyiProblem{Kernel: kernel.SE(3, false), Mean: kernel.ZeroMean{}, Rows: objective.Memory{X: x, Y: y},
		M: 5, Alpha: 0.4}
	at := append([]float64{0.3, 0.1, -1}, x.Data[:15]...)
	all := make([]int, 60)
	for i := range all {
		all[i] = i
	}
	for _, rows := range [][]int{all[:13], all[20:32], all, all[5:29]} {
		g, want := make([]float64, len(at)), make([]float64, len(at))
		v := must.Get(p.EvaluateBatch(at, g, rows))(t)
		n := len(rows)
		part := objective.Memory{X: matrix.New(n, 3), Y: make([]float64, n)}
		must.Do(t, p.Rows.Pick(rows, part.X.Data, part.Y))
		w := must.Get((&objective.RenyiProblem{Kernel: p.Kernel, Mean: p.Mean, Rows: part, M: 5, Alpha: 0.4}).Evaluate(at,
			want))(t)
		weight := 60 / float64(n)
		near(t, "batch", v, weight*w, 1e-13)
		for i := range g {
			near(t, "its gradient", g[i], weight*want[i], 1e-12)
		}
	}
	must.Refuse(p.EvaluateBatch(at, nil, nil))(t, "", "an empty batch has a value")
	p.Alpha = 1.5
	must.Refuse(p.Evaluate(at, nil))(t, "", "α = 1.5 has a value")
	p.Alpha, p.M = 0.5, 0
	must.Refuse(p.Evaluate(at[:3], nil))(t, "", "α = 0.5 without inducing inputs has a value")
}

func TestNearest(t *testing.T) {
	rng := rand.New(rand.NewPCG(31, 37))
	const n = 5000
	x := matrix.New(n, 2)
	for i := range x.Data {
		x.Data[i] = math.Round(20 * rng.NormFloat64()) // many equal distances
	}
	p := &objective.RenyiProblem{Kernel: kernel.SE(2, false), Mean: kernel.ZeroMean{},
		Rows: objective.Memory{X: x, Y: make([]float64, n)}}
	must.Fail(t, p.Nearest(0, make([]int, 2)), "", "rows were found before they were searched for")
	must.Do(t, p.Search([]float64{0, 0, 0}))
	for _, k := range []int{1, 2, 64, n} {
		centre := rng.IntN(n)
		rows := make([]int, k)
		must.Do(t, p.Nearest(centre, rows))
		want := make([]int, n)
		for i := range want {
			want[i] = i
		}
		dist := func(i int) float64 {
			if i == centre {
				return -1
			}
			a, b := x.At(i, 0)-x.At(centre, 0), x.At(i, 1)-x.At(centre, 1)
			return a*a + b*b
		}
		slices.SortStableFunc(want, func(a, b int) int {
			if da, db := dist(a), dist(b); da != db {
				return map[bool]int{true: -1, false: 1}[da < db]
			}
			return 0
		})
		want = want[:k]
		slices.Sort(want)
		must.Hold(t, slices.Equal(rows, want),
			"the %d rows nearest to %d: %v, want %v", k, centre, rows, want)
	}
}

// TestNearestOfCopies: a row is in its own batch however many copies it has.
func TestNearestOfCopies(t *testing.T) {
	x := matrix.New(200, 2)
	p := &objective.RenyiProblem{Kernel: kernel.SE(2, false), Mean: kernel.ZeroMean{},
		Rows: objective.Memory{X: x, Y: make([]float64, 200)}}
	rows := make([]int, 10)
	must.Do(t, errors.Join(p.Search([]float64{0, 0, 0}), p.Nearest(150, rows)))
	if want := []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 150}; !slices.Equal(rows, want) {
		t.Errorf("rows %v, want %v", rows, want)
	}
}

// TestNearestOfNone: Nearest fills a batch even if covariances overflow, so that no row is near.
func TestNearestOfNone(t *testing.T) {
	const n = 27
	x := matrix.New(n, 1)
	for i := range n {
		x.Set(i, 0, 1e200*float64(i+1))
	}
	k := must.Get(kernel.Parse("linear", 1, false))(t)
	p := &objective.RenyiProblem{Kernel: k, Mean: kernel.ZeroMean{}, Rows: objective.Memory{X: x, Y: make([]float64, n)}}
	must.Do(t, p.Search(make([]float64, len(k.Params())+1)))
	for m, want := range map[int][]int{1: {25}, 4: {0, 1, 25, 26}} {
		rows := make([]int, m)
		if err := p.Nearest(25, rows); err != nil || !slices.Equal(rows, want) {
			t.Errorf("rows %v, %v, want %v", rows, err, want)
		}
	}
}
