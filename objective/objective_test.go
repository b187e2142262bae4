package objective_test

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"testing"

	"github.com/krigo-gp/krigo/internal/must"
	"github.com/krigo-gp/krigo/kernel"
	"github.com/krigo-gp/krigo/matrix"
	"github.com/krigo-gp/krigo/objective"
	"github.com/krigo-gp/krigo/objective/objectivetest"
	"github.com/krigo-gp/krigo/pacbayes"
	"github.com/krigo-gp/krigo/posterior"
)

func TestConformance(t *testing.T) {
	t.Run("evidence", func(t *testing.T) {
		objectivetest.Run(t, func() objective.Exact { return &objective.Evidence{} })
	})
	t.Run("evidence of groups", func(t *testing.T) {
		objectivetest.RunProblem(t, func(k kernel.Kernel, mean kernel.Mean, x matrix.Dense,
			y []float64) objectivetest.Problem {
			units := make([]int, len(y))
			for i := range units {
				units[i] = int(math.Floor(x.At(i, 0)))
			}
			return &objective.Problem{Kernel: k, Mean: mean, X: x, Y: y, More: []string{"odds", "length"},
				Objective: &objective.Evidence{Pairs: objective.PairsOf(x, units)}}
		})
	})
	scale := make([]float64, 23)
	for i := range scale {
		scale[i] = 1
	}
	for _, b := range []pacbayes.Inequality{pacbayes.KLBound, pacbayes.PinskerBound} {
		for _, l := range []pacbayes.Loss{
			{Kind: pacbayes.Band, Below: 0.6, Above: 0.6}, {Kind: pacbayes.Gaussian, Below: 0.6, Above: 0.6},
			{Kind: pacbayes.ClippedSquare, Below: 0.6, Above: 0.6}, {Kind: pacbayes.Asymmetric, Below: 0.4, Above: 0.8},
			{Kind: pacbayes.Relative, Below: 0.5, Above: 0.5}, {Kind: pacbayes.ClippedAbsolute, Below: 1, Above: 1},
		} {
			t.Run(fmt.Sprintf("%s-pac/%s", b, l.Kind), func(t *testing.T) {
				objectivetest.Run(t, func() objective.Exact {
					return &objective.PAC{Loss: l, Bound: b, Penalty: 3, Scale: scale}
				})
			})
		}
	}
}

type goldenCase struct {
	Kernel struct {
		Type  string
		ARD   bool
		Parts []struct {
			Type string
			ARD  bool
		}
	}
	D         int
	LogParams []float64 `json:"log_params"`
	LogNoise  float64   `json:"log_noise"`
	Mean      float64
	X, Xs     [][]float64
	Y         []float64
	LML       float64
	LMLGrad   []float64 `json:"lml_grad"`
	KL        float64   `json:"kl"`
	KLGrad    []float64 `json:"kl_grad"`
	TrainMean []float64 `json:"train_mean"`
	TrainVar  []float64 `json:"train_var"`
	TestMean  []float64 `json:"test_mean"`
	TestVar   []float64 `json:"test_var"`
	Cert      struct{ Delta, E, L, G, T, Penalty float64 }
	Bounds    []goldenBound
	Rounded   struct {
		LogParams []float64 `json:"log_params"`
		KL        float64   `json:"kl"`
		Bounds    []goldenBound
	}
}

type goldenBound struct {
	Loss             string
	Eps, RS, B, BPin float64
	BGrad            []float64 `json:"B_grad"`
	BPinGrad         []float64 `json:"BPin_grad"`
}

func (c goldenCase) kernel(t *testing.T) kernel.Kernel {
	expr, ard := c.Kernel.Type, c.Kernel.ARD
	if expr == "sum" {
		expr, ard = c.Kernel.Parts[0].Type+"+"+c.Kernel.Parts[1].Type, c.Kernel.Parts[0].ARD
	}
	return must.Get(kernel.Parse(expr, c.D, ard))(t)
}

var lossNames = map[string]pacbayes.Kind{"indicator": pacbayes.Band, "relative": pacbayes.Relative,
	"sqclip": pacbayes.ClippedSquare, "expsq": pacbayes.Gaussian}

func TestGoldenFullGP(t *testing.T) {
	raw := must.Get(os.ReadFile("../testdata/golden/fullgp.json"))(t)
	var file struct{ Cases []goldenCase }
	must.Do(t, json.Unmarshal(raw, &file))
	must.Need(t, len(file.Cases) > 0, "no cases")
	for i, c := range file.Cases {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			k := c.kernel(t)
			x, mean := matrixOf(c.X), kernel.LinearMean{}
			// The golden order is kernel, log noise, mean.
			at := append(append([]float64{}, c.LogParams...), c.Mean, c.LogNoise)
			golden := func(g []float64) []float64 {
				n := len(g)
				return append(append(append([]float64{}, g[:n-2]...), g[n-1]), g[n-2])
			}
			gradient := make([]float64, len(at))
			evaluate := func(o objective.Exact, at []float64) float64 {
				return must.Get((&objective.Problem{Kernel: k, Mean: mean, X: x, Y: c.Y, Objective: o}).Evaluate(at, gradient))(t)
			}
			compare(t, "−lml", []float64{evaluate(&objective.Evidence{}, at)}, []float64{-c.LML})
			for i, v := range golden(gradient) {
				gradient[i] = -v
			}
			compare(t, "lml gradient", gradient, c.LMLGrad)

			q := must.Get(posterior.NewExact(posterior.Given{Kernel: k, Theta: c.LogParams, Mean: mean, Beta: []float64{c.Mean},
				Noise: math.Exp(c.LogNoise), X: x, Y: c.Y}))(t)
			compare(t, "kl", []float64{q.KL()}, []float64{c.KL})
			predict := func(what string, rows [][]float64, wantMean, wantVar []float64) (m, v []float64) {
				m, v = make([]float64, len(rows)), make([]float64, len(rows))
				q.Latent(matrixOf(rows), m, v)
				compare(t, what+" mean", m, wantMean)
				compare(t, what+" variance", v, wantVar)
				return m, v
			}
			predict("train", c.X, c.TrainMean, c.TrainVar)
			predict("test", c.Xs, c.TestMean, c.TestVar)

			// A loss that no prediction can miss has R_S = 0. B_Pin is then √(KL/(2N)), so its gradient gives the KL's
			// gradient.
			evaluate(&objective.PAC{Loss: pacbayes.Loss{Kind: pacbayes.Band, Below: 1e6, Above: 1e6},
				Bound: pacbayes.PinskerBound, Penalty: 0}, at)
			slope := 1 / math.Sqrt(8*float64(len(c.Y))*c.KL)
			for i, v := range golden(gradient) {
				gradient[i] = v / slope
			}
			compare(t, "kl gradient", gradient, c.KLGrad)

			scale := make([]float64, len(c.Y))
			for i, y := range c.Y {
				scale[i] = math.Abs(y)
			}
			check := func(what string, bounds []goldenBound, theta []float64) {
				for _, b := range bounds {
					loss := pacbayes.Loss{Kind: lossNames[b.Loss], Below: b.Eps, Above: b.Eps}
					at := append(append([]float64{}, theta...), c.Mean, c.LogNoise)
					name := fmt.Sprintf("%s%s ε=%v", what, b.Loss, b.Eps)
					kl := evaluate(&objective.PAC{Loss: loss, Bound: pacbayes.KLBound, Penalty: c.Cert.Penalty, Scale: scale}, at)
					compare(t, name+" B", []float64{kl}, []float64{b.B})
					if b.BGrad != nil {
						compare(t, name+" B gradient", golden(gradient), b.BGrad)
					}
					pin := evaluate(&objective.PAC{Loss: loss, Bound: pacbayes.PinskerBound, Penalty: c.Cert.Penalty, Scale: scale},
						at)
					compare(t, name+" BPin", []float64{pin}, []float64{b.BPin})
					if b.BPinGrad != nil {
						compare(t, name+" BPin gradient", golden(gradient), b.BPinGrad)
					}
				}
			}
			check("", c.Bounds, c.LogParams)
			check("rounded ", c.Rounded.Bounds, c.Rounded.LogParams)
		})
	}
}

// compare fails unless got agrees with the golden values to 1e-9 relative. The scale of small entries is 1e-3 of the
// largest entry.
func compare(t *testing.T, what string, got, want []float64) {
	t.Helper()
	must.Need(t, len(got) == len(want), "%s: %d values, want %d", what, len(got), len(want))
	var largest float64
	for _, v := range want {
		largest = math.Max(largest, math.Abs(v))
	}
	for i, v := range want {
		must.Near(t, got[i], v, 1e-9*math.Max(math.Abs(v), 1e-3*largest), fmt.Sprintf("%s [%d]", what, i))
	}
}

func matrixOf(rows [][]float64) matrix.Dense {
	m := matrix.New(len(rows), len(rows[0]))
	for i, r := range rows {
		copy(m.Row(i), r)
	}
	return m
}

func boston(n, d int) (matrix.Dense, []float64) {
	rng := rand.New(rand.NewPCG(1, 2))
	x, y := matrix.New(n, d), make([]float64, n)
	for i := range y {
		for j := range d {
			x.Row(i)[j] = rng.NormFloat64()
		}
		y[i] = math.Sin(x.At(i, 0)) + 0.3*rng.NormFloat64()
	}
	return x, y
}

// BenchmarkEvaluate reports allocations. An evaluation makes few allocations, because evaluations reuse workspaces.
func BenchmarkEvaluate(b *testing.B) {
	for _, n := range []int{404, 1000} {
		x, y := boston(n, 13)
		for name, o := range map[string]objective.Exact{
			"evidence": &objective.Evidence{},
			"kl-pac": &objective.PAC{Loss: pacbayes.Loss{Kind: pacbayes.Band, Below: 0.6, Above: 0.6}, Bound: pacbayes.KLBound,
				Penalty: 22},
		} {
			p := &objective.Problem{Kernel: kernel.SE(13, true), Mean: kernel.ZeroMean{}, X: x, Y: y, Objective: o}
			at, gradient := make([]float64, p.Dim()), make([]float64, p.Dim())
			for i := range 13 {
				at[i] = 2
			}
			at[14] = -1
			b.Run(fmt.Sprintf("%s/n=%d", name, n), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					must.Get(p.Evaluate(at, gradient))(b)
				}
			})
		}
	}
}
