package objective_test

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/krigo-gp/krigo/internal/must"
	"github.com/krigo-gp/krigo/kernel"
	"github.com/krigo-gp/krigo/matrix"
	"github.com/krigo-gp/krigo/objective"
	"github.com/krigo-gp/krigo/pacbayes"
)

type sparseCase struct {
	Kernel    sparseKernel
	D         int
	Names     []string
	LogParams []float64 `json:"log_params"`
	LogNoise  float64   `json:"log_noise"`
	Mean      float64
	Jitter    float64
	X, Z, Xs  [][]float64
	Y         []float64
	Cert      struct{ Penalty float64 }
	Values    map[string]float64
	Grads     map[string][]float64
}

type sparseKernel struct {
	Type  string
	ARD   bool
	Parts []sparseKernel
}

func (g sparseKernel) build(t *testing.T, d int) kernel.Kernel {
	var parts []kernel.Kernel
	for _, p := range g.Parts {
		parts = append(parts, p.build(t, d))
	}
	switch g.Type {
	case "sum":
		return kernel.Sum(parts...)
	case "product":
		return kernel.Product(parts...)
	}
	return must.Get(kernel.Parse(g.Type, d, g.ARD))(t)
}

func TestGoldenSparse(t *testing.T) {
	raw := must.Get(os.ReadFile("../testdata/golden/sparse.json"))(t)
	var file struct{ Cases []sparseCase }
	must.Do(t, json.Unmarshal(raw, &file))
	for i, c := range file.Cases {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			z := matrixOf(c.Z)
			at := append(append(append([]float64{}, c.LogParams...), c.Mean, c.LogNoise), z.Data...)
			nk := len(c.LogParams)
			for label, want := range c.Values {
				o := sparseObjective(t, c, label)
				if o == nil {
					continue
				}
				for _, keep := range []int64{0, 1 << 30} {
					p := &objective.SparseProblem{Kernel: c.Kernel.build(t, c.D), Mean: kernel.LinearMean{},
						Rows: objective.Memory{X: matrixOf(c.X), Y: c.Y}, M: z.Rows, Objective: o, Keep: keep, MinJitter: c.Jitter}
					g := make([]float64, p.Dim())
					v, err := p.Evaluate(at, g)
					if err != nil {
						t.Fatal(label, err)
					}
					compare(t, label, []float64{v}, []float64{want})
					g[nk], g[nk+1] = g[nk+1], g[nk] // the golden order is noise, then mean
					compare(t, label+" gradient", g, c.Grads[label])
				}
			}
		})
	}
}

// sparseObjective reads labels like energy:pep_0.5 and alpha_1:sqclip_0.6:BPin.
func sparseObjective(t *testing.T, c sparseCase, label string) objective.Sparse {
	parts := strings.Split(label, ":")
	number := func(s string) float64 {
		v, err := strconv.ParseFloat(s, 64)
		if err != nil {
			t.Fatal(label, err)
		}
		return v
	}
	if parts[0] == "energy" {
		switch parts[1] {
		case "vfe":
			return objective.VFE()
		case "fitc":
			return objective.FITC()
		case "dtc":
			return objective.DTC()
		}
		return objective.PEP(number(strings.TrimPrefix(parts[1], "pep_")))
	}
	if len(parts) < 3 || parts[2] == "RS" {
		return nil
	}
	loss, eps, _ := strings.Cut(parts[1], "_")
	o := &objective.SparsePAC{Alpha: number(strings.TrimPrefix(parts[0], "alpha_")), Penalty: c.Cert.Penalty,
		Bound: pacbayes.KLBound,
		Loss:  pacbayes.Loss{Kind: lossNames[loss], Below: number(eps), Above: number(eps)}}
	if parts[2] == "BPin" {
		o.Bound = pacbayes.PinskerBound
	}
	for _, y := range c.Y {
		o.Scale = append(o.Scale, math.Abs(y))
	}
	return o
}

// TestSparseBatch: a batch gives the scaled value of a problem with the batch's rows alone. Batches of several sizes
// may alternate.
func TestSparseBatch(t *testing.T) {
	x, y := boston(60, 3)
	z := matrix.Of(5, 3, x.Data[:15])
	for _, o := range []objective.Sparse{objective.PEP(0.5), objective.VFE()} {
		p := &objective.SparseProblem{Kernel: kernel.SE(3, true), Mean: kernel.ZeroMean{}, Rows: objective.Memory{X: x, Y: y},
			M: 5, Objective: o}
		at := append([]float64{0.2, 0.2, 0.2, 0.2, -1}, z.Data...)
		for _, rows := range [][]int{{3, 9, 4, 1, 50, 51, 30}, {7, 8, 9}, {2, 3, 4, 5, 6, 7, 8, 10, 11}} {
			part := objective.Memory{X: matrix.New(len(rows), 3), Y: make([]float64, len(rows))}
			must.Do(t, p.Rows.Pick(rows, part.X.Data, part.Y))
			want, wantG := evaluateSparse(t, o, part.X, part.Y, z, 0)
			g := make([]float64, len(at))
			v := must.Get(p.EvaluateBatch(at, g, rows))(t)
			weight := 60 / float64(len(rows))
			near(t, "batch", v, weight*want, 1e-12)
			for i := range g {
				near(t, "its gradient", g[i], weight*wantG[i], 1e-11)
			}
		}
	}
}
