package foreign

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/krigo-gp/krigo"
	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/kernel"
	"github.com/krigo-gp/krigo/matrix"
	"github.com/krigo-gp/krigo/objective"
	"github.com/krigo-gp/krigo/objective/objectivetest"
	"github.com/krigo-gp/krigo/pacbayes"
)

func problem(x matrix.Dense, y []float64, noise pacbayes.Expectation) *objective.FreeFormProblem {
	return &objective.FreeFormProblem{Kernel: kernel.SE(x.Cols, false), Mean: kernel.ZeroMean{},
		Rows: objective.Memory{X: x, Y: y}, M: 12,
		Objective: &objective.SVGP{Noise: noise}}
}

// start returns parameters with the inducing inputs among the rows and q at the prior.
func start(p *objective.FreeFormProblem, x matrix.Dense) []float64 {
	at := make([]float64, p.Dim())
	parts := p.Split(at)
	parts.LogNoise[0] = math.Log(0.05)
	for i := range p.M {
		copy(parts.Z.Row(i), x.Row(i*x.Rows/p.M))
	}
	return at
}

// TestStudent: noise that krigo has never heard of passes what every objective must, is Gaussian noise in the
// limit, and isn't led astray by gross errors.
func TestStudent(t *testing.T) {
	// Many degrees of freedom, so that differences see through 40 points of quadrature at little noise.
	objectivetest.RunProblem(t, func(k kernel.Kernel, mean kernel.Mean, x matrix.Dense,
		y []float64) objectivetest.Problem {
		return &objective.FreeFormProblem{Kernel: k, Mean: mean, Rows: objective.Memory{X: x, Y: y}, M: 3,
			Objective: &objective.SVGP{Noise: Student(400)}}
	})
	const n = 120
	rng := rand.New(rand.NewPCG(1, 2))
	x, y, truth := matrix.New(n, 1), make([]float64, n), make([]float64, n)
	for i := range n {
		x.Set(i, 0, 6*float64(i)/n-3)
		truth[i] = math.Sin(2 * x.At(i, 0))
		y[i] = truth[i] + 0.1*rng.NormFloat64()
		if i%9 == 4 {
			y[i] += 4
		}
	}
	off := func(noise pacbayes.Expectation) (value, worst float64) {
		p := problem(x, y, noise)
		at := start(p, x)
		for range 30 {
			var err error
			if value, err = p.StepBatch(at, make([]float64, p.Dim()), all(n), 0.5); err != nil {
				t.Fatal(err)
			}
		}
		q, err := p.Posterior(at)
		if err != nil {
			t.Fatal(err)
		}
		mean, variance := make([]float64, n), make([]float64, n)
		q.Latent(x, mean, variance)
		for i, m := range mean {
			worst = max(worst, math.Abs(m-truth[i]))
		}
		return value, worst
	}
	gaussian, led := off(nil)
	limit, _ := off(Student(1e9))
	if math.Abs(limit-gaussian) > 1e-5*math.Abs(gaussian) {
		t.Errorf("with many degrees of freedom %v, Gaussian %v", limit, gaussian)
	}
	if _, worst := off(Student(3)); !(worst < 0.15 && led > 0.4) {
		t.Errorf("Student's t is off by %v, Gaussian noise by %v", worst, led)
	}
}

// TestStudentByName: with gross errors among the targets it predicts better than Gaussian noise does.
func TestStudentByName(t *testing.T) {
	const n = 400
	rng := rand.New(rand.NewPCG(3, 4))
	rows := make([][]float64, n)
	truth := func(x float64) float64 { return math.Sin(2 * x) }
	for i := range rows {
		x := 6*rng.Float64() - 3
		rows[i] = []float64{x, truth(x) + 0.1*rng.NormFloat64()}
		if i%9 == 4 {
			rows[i][1] += 4
		}
	}
	table, err := dataset.FromRows([]string{"x", "y"}, rows)
	if err != nil {
		t.Fatal(err)
	}
	off := func(name string) (square float64) {
		m := roundTrip(t, table, krigo.Options{Data: krigo.Data{Target: "y"},
			Method: krigo.Method{Name: name, Inducing: 12, Batch: 60, Epochs: 150}, Kernel: krigo.Kernel{ARD: "off"},
			Promise: krigo.Promise{Epsilon: 1}})
		ps, err := m.PredictAt(mat.NewDense(3, 1, []float64{-1, 0.3, 2}))
		if err != nil {
			t.Fatal(err)
		}
		for i, x := range []float64{-1, 0.3, 2} {
			square += (ps[i].Mean - truth(x)) * (ps[i].Mean - truth(x))
		}
		return square
	}
	if student, gaussian := off("svgp-t"), off("svgp"); !(4*student < gaussian) {
		t.Errorf("squared errors %v with Student's t, %v with Gaussian noise", student, gaussian)
	}
}

// TestStudentEvaluated: its best posterior isn't known, so that one has to be given.
func TestStudentEvaluated(t *testing.T) {
	params := &krigo.Params{Kernel: kernel.Spec{Name: "se", Variance: 1, Lengthscales: []float64{1}}, NoiseVariance: 0.1,
		Inducing: [][]float64{{-1}, {1}}}
	o := krigo.Options{Data: krigo.Data{Target: "y"}, Method: krigo.Method{Name: "svgp-t"}}
	if _, err := krigo.Evaluate(t.Context(), waves(), params, o); err == nil || !strings.Contains(err.Error(),
		`"posterior"`) {
		t.Errorf("without a posterior: %v", err)
	}
	params.Posterior = &krigo.FreeParams{Mean: []float64{0.1, -0.2}, Chol: [][]float64{{0.5}, {0.1, 0.6}}}
	if e, err := krigo.Evaluate(t.Context(), waves(), params, o); err != nil || e.Certificate == nil {
		t.Errorf("%+v, %v", e, err)
	}
}

func all(n int) []int {
	rows := make([]int, n)
	for i := range rows {
		rows[i] = i
	}
	return rows
}
