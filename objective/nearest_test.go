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
	"sync"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/krigo-gp/krigo/internal/must"
	"github.com/krigo-gp/krigo/kernel"
	"github.com/krigo-gp/krigo/matrix"
	"github.com/krigo-gp/krigo/objective"
	"github.com/krigo-gp/krigo/objective/objectivetest"
	"github.com/krigo-gp/krigo/pacbayes"
	"github.com/krigo-gp/krigo/posterior"
	"github.com/krigo-gp/krigo/ranks"
)

// terms are the costs of predictions that the tests use as Term.
var terms = map[string]pacbayes.Expectation{
	"density":  objective.LogDensity{},
	"square":   objective.SquaredError{},
	"crps":     objective.CRPS{},
	"expected": objective.GaussianNoise{},
	"band":     pacbayes.Loss{Kind: pacbayes.Band, Below: 0.6},
	"gaussian": pacbayes.Loss{Kind: pacbayes.Gaussian, Below: 0.6},
	"relative": pacbayes.Loss{Kind: pacbayes.Relative, Below: 0.5},
}

func TestNearestConforms(t *testing.T) {
	scale := slices.Repeat([]float64{1}, 23)
	for name, term := range terms {
		for _, m := range []int{5, 40} {
			t.Run(fmt.Sprintf("%s/%d", name, m), func(t *testing.T) {
				objectivetest.RunProblem(t, func(k kernel.Kernel, mean kernel.Mean, x matrix.Dense,
					y []float64) objectivetest.Problem {
					return &objective.NearestProblem{Kernel: k, Mean: mean, Rows: objective.Memory{X: x, Y: y}, Neighbours: m,
						Term: term, Scale: scale}
				})
			})
		}
	}
}

// scattered returns random rows. Some repeat another row's inputs.
func scattered(n, d int) objective.Memory {
	rng := rand.New(rand.NewPCG(5, uint64(n)))
	rows := objective.Memory{X: matrix.New(n, d), Y: make([]float64, n)}
	for i := range n {
		for j := range d {
			rows.X.Row(i)[j] = rng.NormFloat64()
		}
		if i%10 == 9 {
			copy(rows.X.Row(i), rows.X.Row(i-3))
		}
		rows.Y[i] = math.Sin(2*rows.X.At(i, 0)) + 0.3*rng.NormFloat64()
	}
	return rows
}

// nearestProblem returns a problem with the kernel expr, and a point to evaluate the problem at.
func nearestProblem(t *testing.T, expr string, mean kernel.Mean, rows objective.Memory, m int,
	vecchia bool) (*objective.NearestProblem, []float64) {
	t.Helper()
	k := must.Get(kernel.Parse(expr, rows.X.Cols, true))(t)
	p := &objective.NearestProblem{Kernel: k, Mean: mean, Rows: rows, Neighbours: m, Vecchia: vecchia, Seed: 3}
	x := make([]float64, p.Dim())
	for i := range x {
		x[i] = 0.3*math.Sin(float64(3*i)) - 0.1
	}
	x[len(x)-1] = -1.7
	return p, x
}

// TestNearestGradient compares gradients with differences: for both forms, several kernels, repeated rows and batches.
func TestNearestGradient(t *testing.T) {
	rows := scattered(37, 3)
	for _, expr := range []string{"se", "matern12", "rq", "matern32+linear", "se*matern52", "periodic", "linear*se+white",
		"constant*matern32"} {
		for name, mean := range map[string]kernel.Mean{"zero": kernel.ZeroMean{}, "constant": kernel.LinearMean{},
			"linear": kernel.LinearMean{Dim: 3}} {
			for _, vecchia := range []bool{false, true} {
				for _, batch := range [][]int{nil, {3, 9, 36, 6, 0, 11, 12, 13, 14}} {
					p, x := nearestProblem(t, expr, mean, rows, 6, vecchia)
					evaluate := func(x, g []float64) float64 {
						v, err := p.Evaluate(x, g)
						if batch != nil {
							v, err = p.EvaluateBatch(x, g, batch)
						}
						must.Do(t, err)
						return v
					}
					g := make([]float64, len(x))
					value := evaluate(x, g)
					for i := range x {
						const h = 2e-4
						at := func(step float64) float64 {
							moved := slices.Clone(x)
							moved[i] += step
							return evaluate(moved, nil)
						}
						want := (8*(at(h)-at(-h)) - (at(2*h) - at(-2*h))) / (12 * h)
						if math.Abs(g[i]-want) > 1e-8*math.Abs(want)+1e-9*math.Abs(value) {
							t.Errorf("%s, mean %s, Vecchia %v, batch %v: d/d %s is %v, differences give %v", expr, name, vecchia,
								batch != nil, p.Names()[i], g[i], want)
						}
					}
				}
			}
		}
	}
}

// TestNearestTerms: with Terms, some of all terms are drawn, and each keeps its neighbours among all rows. Value and
// gradient are the sums over these terms times N/Terms. The same seed draws the same terms.
func TestNearestTerms(t *testing.T) {
	rows := scattered(61, 3)
	for _, vecchia := range []bool{false, true} {
		all, x := nearestProblem(t, "matern32", kernel.LinearMean{Dim: 3}, rows, 6, vecchia)
		few, _ := nearestProblem(t, "matern32", kernel.LinearMean{Dim: 3}, rows, 6, vecchia)
		few.Terms = 20
		must.Need(t, all.BatchRows() == 61 && few.BatchRows() == 20,
			"%d terms, and %d", all.BatchRows(), few.BatchRows())
		evaluate := func(of *objective.NearestProblem, terms []int) (float64, []float64) {
			g := make([]float64, len(x))
			v, err := of.Evaluate(x, g)
			if terms != nil {
				v, err = of.EvaluateBatch(x, g, terms)
			}
			must.Do(t, err)
			return v, g
		}
		value, gradient := evaluate(few, nil)
		// Each of the 20 terms is one of the 61.
		var sum float64
		var drawn []int
		for i := range 20 {
			one, _ := evaluate(few, []int{i})
			at := -1
			for row := range 61 {
				if v, _ := evaluate(all, []int{row}); v == one && !slices.Contains(drawn, row) {
					at = row
					break
				}
			}
			must.Need(t, at >= 0, "term %d is no row's", i)
			drawn = append(drawn, at)
			sum += one / 20
		}
		must.Hold(t, math.Abs(sum-value) <= 1e-12*math.Abs(value),
			"the value is %v, its terms make %v", value, sum)
		wholeValue, wholeGradient := evaluate(all, drawn)
		must.Near(t, wholeValue, value, 1e-12*math.Abs(value), "the value is")
		for i, g := range wholeGradient {
			must.Near(t, g, gradient[i], 1e-10*(1+math.Abs(g)), fmt.Sprintf("d/d %s", all.Names()[i]))
		}
		again, _ := nearestProblem(t, "matern32", kernel.LinearMean{Dim: 3}, rows, 6, vecchia)
		again.Terms = 20
		if v, _ := evaluate(again, nil); v != value {
			t.Error("the same seed draws other terms")
		}
		again, _ = nearestProblem(t, "matern32", kernel.LinearMean{Dim: 3}, rows, 6, vecchia)
		again.Terms, again.Seed = 20, 4
		if v, _ := evaluate(again, nil); v == value {
			t.Error("another seed draws the same terms")
		}
	}
}

// TestNearestOfAll: with all other rows as neighbours, L is Rasmussen & Williams 2006, Eqs. 5.10–5.12, computed from
// the inverse.
func TestNearestOfAll(t *testing.T) {
	rows := scattered(30, 2)
	p, x := nearestProblem(t, "matern32+linear", kernel.LinearMean{Dim: 2}, rows, 29, false)
	got := must.Get(p.Evaluate(x, nil))(t)
	theta, beta, logNoise := p.Split(x)
	n := len(rows.Y)
	k, mean := matrix.New(n, n), make([]float64, n)
	p.Kernel.Cov(theta, rows.X, rows.X, k)
	p.Mean.At(beta, rows.X, mean)
	k.AddDiagonal(math.Exp(logNoise))
	var inverse mat.Dense
	must.Do(t, inverse.Inverse(mat.NewDense(n, n, k.Data)))
	var want float64
	for i := range n {
		var w float64
		for j := range n {
			w += inverse.At(i, j) * (rows.Y[j] - mean[j])
		}
		mu, v := rows.Y[i]-w/inverse.At(i, i), 1/inverse.At(i, i)
		want += 0.5*math.Log(2*math.Pi*v) + (rows.Y[i]-mu)*(rows.Y[i]-mu)/(2*v)
	}
	must.Hold(t, math.Abs(got-want) <= 1e-10*math.Abs(want), "%v, from the inverse %v", got, want)
}

// TestVecchiaOfAll: with all earlier rows as neighbours, L is the evidence.
func TestVecchiaOfAll(t *testing.T) {
	rows := scattered(30, 2)
	p, x := nearestProblem(t, "matern32+linear", kernel.LinearMean{Dim: 2}, rows, 29, true)
	all := &objective.Problem{Kernel: p.Kernel, Mean: p.Mean, X: rows.X, Y: rows.Y, Objective: &objective.Evidence{}}
	g, want := make([]float64, len(x)), make([]float64, len(x))
	value := must.Get(p.Evaluate(x, g))(t)
	evidence := must.Get(all.Evaluate(x, want))(t)
	must.Hold(t, math.Abs(value-evidence) <= 1e-11*math.Abs(evidence),
		"%v, evidence %v", value, evidence)
	for i, w := range want {
		must.Hold(t, math.Abs(g[i]-w) <= 1e-10*math.Abs(evidence),
			"d/d %s %v, of the evidence %v", p.Names()[i], g[i], w)
	}
}

func TestGoldenNearest(t *testing.T) {
	raw := must.Get(os.ReadFile("../testdata/golden/nearest.json"))(t)
	var file struct {
		Cases []struct {
			Kernel string
			M      int
			X      [][]float64
			Y, At  []float64
			Terms  map[string]struct {
				Value    string
				Gradient []string
			}
		}
	}
	must.Do(t, json.Unmarshal(raw, &file))
	number := func(s string) float64 {
		return must.Get(strconv.ParseFloat(s, 64))(t)
	}
	for _, c := range file.Cases {
		for name, want := range c.Terms {
			p, _ := nearestProblem(t, c.Kernel, kernel.LinearMean{}, objective.Memory{X: matrixOf(c.X), Y: c.Y}, c.M, false)
			p.Term = terms[name]
			g := make([]float64, len(c.At))
			v := must.Get(p.Evaluate(c.At, g))(t)
			var gradient []float64
			for _, s := range want.Gradient {
				gradient = append(gradient, number(s))
			}
			compare(t, c.Kernel+" "+name, []float64{v}, []float64{number(want.Value)})
			compare(t, c.Kernel+" gradient of "+name, g, gradient)
		}
	}
}

// TestNearestRanks: 1 to 4 ranks that share the terms find the same value and gradient.
func TestNearestRanks(t *testing.T) {
	rows := scattered(1003, 3)
	for _, vecchia := range []bool{false, true} {
		for _, batch := range [][]int{nil, {1000, 1, 500, 3, 2, 999, 7}} {
			var first []float64
			for size := 1; size <= 4; size++ {
				results := make([][]float64, size)
				var wait sync.WaitGroup
				for i, r := range ranks.Threads(size) {
					wait.Go(func() {
						p, x := nearestProblem(t, "matern32+linear", kernel.LinearMean{}, rows, 8, vecchia)
						p.Ranks = r
						g := make([]float64, len(x))
						v, err := p.Evaluate(x, g)
						if batch != nil {
							v, err = p.EvaluateBatch(x, g, batch)
						}
						results[i] = append(g, v)
						if err := r.Close(err); err != nil {
							t.Error(err)
						}
					})
				}
				wait.Wait()
				if first == nil {
					first = results[0]
				}
				for i, v := range results {
					must.Hold(t, slices.Equal(v, results[0]),
						"rank %d of %d has %v, the first %v", i, size, v, results[0])
					for j := range v {
						must.Near(t, v[j], first[j], 1e-10*math.Max(1, math.Abs(first[j])), fmt.Sprintf("%d ranks", size))
					}
				}
			}
		}
	}
}

// TestNearestBatches: the mean over the batches of an epoch is the value on all rows.
func TestNearestBatches(t *testing.T) {
	rows := scattered(200, 3)
	p, x := nearestProblem(t, "matern32", kernel.LinearMean{}, rows, 8, false)
	want, all := make([]float64, len(x)), make([]float64, len(x))
	value := must.Get(p.Evaluate(x, want))(t)
	var sum float64
	g := make([]float64, len(x))
	order := rand.New(rand.NewPCG(1, 1)).Perm(200)
	for b := range 8 {
		v := must.Get(p.EvaluateBatch(x, g, order[25*b:25*(b+1)]))(t)
		sum += v / 8
		for i := range g {
			all[i] += g[i] / 8
		}
	}
	must.Hold(t, math.Abs(sum-value) <= 1e-12*math.Abs(value), "%v, on all rows %v", sum, value)
	for i, w := range want {
		must.Hold(t, math.Abs(all[i]-w) <= 1e-11*math.Abs(value),
			"d/d %s %v, on all rows %v", p.Names()[i], all[i], w)
	}
	must.Refuse(p.EvaluateBatch(x, g, nil))(t, "", "an empty batch has no")
}

// TestNearestSearch: neighbours stay the same until the next search.
func TestNearestSearch(t *testing.T) {
	rows := scattered(300, 3)
	p, x := nearestProblem(t, "se", kernel.ZeroMean{}, rows, 5, false)
	long := slices.Clone(x)
	long[0] += 4
	kept := func(search []float64) float64 {
		if search != nil {
			p.Search(search)
		}
		return must.Get(p.Evaluate(long, nil))(t)
	}
	p.Search(x)
	before := kept(nil)
	if after := kept(long); after == before {
		t.Error("a search in other lengthscales changes nothing")
	}
	must.Be(t, kept(x), before)
}

// TestNearestUnits: with two units, every row is predicted by the exact GP of the other unit's rows.
func TestNearestUnits(t *testing.T) {
	rows := scattered(60, 2)
	p, x := nearestProblem(t, "se", kernel.ZeroMean{}, rows, 59, false)
	p.Units = make([]int, 60)
	var of [2][]int
	for i := range p.Units {
		p.Units[i] = i % 2
		of[i%2] = append(of[i%2], i)
	}
	theta, _, logNoise := p.Split(x)
	noise := math.Exp(logNoise)
	want := 0.
	for u, rest := range of {
		own := rows.Some(of[1-u])
		q := must.Get(posterior.NewExact(posterior.Given{Kernel: p.Kernel, Theta: theta, Mean: p.Mean,
			Noise: noise, X: own.X, Y: own.Y}))(t)
		mean := make([]float64, len(rest))
		v := make([]float64, len(rest))
		q.Latent(rows.Some(rest).X, mean, v)
		for k, i := range rest {
			e := rows.Y[i] - mean[k]
			want += (math.Log(2*math.Pi*(v[k]+noise)) + e*e/(v[k]+noise)) / 2
		}
	}
	got := must.Get(p.Evaluate(x, nil))(t)
	must.Hold(t, math.Abs(got-want) < 1e-8*math.Abs(want), "%v, want %v", got, want)
}

// TestNearestCores: any number of cores gives the same bits.
func TestNearestCores(t *testing.T) {
	rows := scattered(1500, 4)
	var first []float64
	for _, cores := range []int{1, 2, 5} {
		old := runtime.GOMAXPROCS(cores)
		p, x := nearestProblem(t, "rq", kernel.LinearMean{Dim: 4}, rows, 11, true)
		g := make([]float64, len(x))
		v, err := p.Evaluate(x, g)
		runtime.GOMAXPROCS(old)
		must.Do(t, err)
		if g = append(g, v); first == nil {
			first = g
		}
		must.Hold(t, slices.Equal(g, first), "%d cores: %v, one has %v", cores, g, first)
	}
}

// BenchmarkNearest measures value and gradient, of all terms and of a batch.
func BenchmarkNearest(b *testing.B) {
	rng := rand.New(rand.NewPCG(5, 5))
	rows := objective.Memory{X: matrix.New(40000, 8), Y: make([]float64, 40000)}
	for i := range rows.X.Data {
		rows.X.Data[i] = rng.NormFloat64()
	}
	for i := range rows.Y {
		rows.Y[i] = rng.NormFloat64()
	}
	p := &objective.NearestProblem{Kernel: kernel.SE(8, true), Mean: kernel.ZeroMean{}, Rows: rows, Neighbours: 32}
	x := make([]float64, p.Dim())
	g := make([]float64, p.Dim())
	p.Search(x)
	b.Run("all", func(b *testing.B) {
		for b.Loop() {
			must.Get(p.Evaluate(x, g))(b)
		}
	})
	batch := rng.Perm(40000)[:256]
	b.Run("256", func(b *testing.B) {
		for b.Loop() {
			must.Get(p.EvaluateBatch(x, g, batch))(b)
		}
	})
}

// TestNearestOfFew: a single row, and rows without neighbours, are predicted by the prior.
func TestNearestOfFew(t *testing.T) {
	for _, n := range []int{1, 2, 9} {
		rows := scattered(n, 2)
		p, x := nearestProblem(t, "se+linear", kernel.LinearMean{}, rows, 0, n == 2)
		if n == 1 {
			p.Neighbours = 4
		}
		g := make([]float64, len(x))
		got := must.Get(p.Evaluate(x, g))(t)
		theta, beta, logNoise := p.Split(x)
		k, want := make([]float64, n), 0.
		p.Kernel.Diag(theta, rows.X, k)
		for i, v := range k {
			v += math.Exp(logNoise)
			d := rows.Y[i] - beta[0]
			want += 0.5 * (math.Log(2*math.Pi*v) + d*d/v)
		}
		must.Hold(t, math.Abs(got-want) <= 1e-12*math.Abs(want),
			"%d rows: %v, by the prior %v", n, got, want)
	}
}

// TestNearestApart: every place has two rows, and places tell nothing of one another.
// Predictions from the other row of a place hardly say so. Predictions from thinned tables do:
// they prefer a short lengthscale.
func TestNearestApart(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	rows := objective.Memory{X: matrix.New(2000, 2), Y: make([]float64, 2000)}
	for i := range rows.Y {
		if i%2 == 1 {
			copy(rows.X.Row(i), rows.X.Row(i-1))
			rows.Y[i] = rows.Y[i-1] + 0.1*rng.NormFloat64()
			continue
		}
		rows.X.Row(i)[0] = rng.Float64()
		rows.X.Row(i)[1] = rng.Float64()
		rows.Y[i] = rng.NormFloat64()
	}
	for _, apart := range []bool{false, true} {
		p, x := nearestProblem(t, "matern32", kernel.ZeroMean{}, rows, 1, false)
		p.Apart = apart
		value := func(lengthscale float64) float64 {
			x[0] = 2 * math.Log(lengthscale)
			x[1] = x[0]
			x[2], x[len(x)-1] = 0, 2*math.Log(0.1)
			p.Search(x)
			return must.Get(p.Evaluate(x, nil))(t)
		}
		gain := (value(0.2) - value(0.005)) / 2000
		must.Hold(t, (gain > 0.1) == apart, "apart %v: a short lengthscale gains %v nats a row", apart, gain)
	}
}
