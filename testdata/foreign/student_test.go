package foreign

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/krigo-gp/krigo"
	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/kernel"
	"github.com/krigo-gp/krigo/matrix"
	"github.com/krigo-gp/krigo/model"
	"github.com/krigo-gp/krigo/objective"
	"github.com/krigo-gp/krigo/objective/objectivetest"
	"github.com/krigo-gp/krigo/pacbayes"
)

func problem(x matrix.Dense, y []float64, noise pacbayes.Expectation) *objective.FreeFormProblem {
	return &objective.FreeFormProblem{Kernel: kernel.SE(x.Cols, false), Mean: kernel.ZeroMean{},
		Rows: objective.Memory{X: x, Y: y}, M: 12,
		Objective: &objective.SVGP{Noise: noise}}
}

// start returns parameters with inducing inputs among the rows, and with the posterior q equal to the prior.
func start(p *objective.FreeFormProblem, x matrix.Dense) []float64 {
	at := make([]float64, p.Dim())
	parts := p.Split(at)
	parts.LogNoise[0] = math.Log(0.05)
	for i := range p.M {
		copy(parts.Z.Row(i), x.Row(i*x.Rows/p.M))
	}
	return at
}

// TestStudent shows that a noise from outside krigo passes the tests of every objective, tends to Gaussian noise for
// many degrees of freedom, and gives a fit that gross errors hardly move.
func TestStudent(t *testing.T) {
	// Many degrees of freedom make the noise smooth. Finite differences then agree although quadrature has only 40
	// points.
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
			value = must(p.StepBatch(at, make([]float64, p.Dim()), all(n), 0.5))(t)
		}
		q := must(p.Posterior(at))(t)
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

// TestStudentByName shows that svgp-t predicts better than svgp if some targets have gross errors.
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
	table := must(dataset.FromRows([]string{"x", "y"}, rows))(t)
	off := func(name string) (square float64) {
		m := roundTrip(t, table, krigo.Options{Data: krigo.Data{Target: "y"},
			Method: krigo.Method{Name: name, Inducing: 12, Batch: 60, Epochs: 150}, Kernel: krigo.Kernel{ARD: "off"},
			Promise: krigo.Promise{Epsilon: 1}})
		ps := must(m.PredictAt(mat.NewDense(3, 1, []float64{-1, 0.3, 2})))(t)
		for i, x := range []float64{-1, 0.3, 2} {
			square += (ps[i].Mean - truth(x)) * (ps[i].Mean - truth(x))
		}
		return square
	}
	if student, gaussian := off("svgp-t"), off("svgp"); !(4*student < gaussian) {
		t.Errorf("squared errors %v with Student's t, %v with Gaussian noise", student, gaussian)
	}
}

// TestStudentPredicts shows that a model's intervals, deviations and scores come from its own noise, also after
// saving. A program that doesn't know the noise refuses the file.
func TestStudentPredicts(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	rows := make([][]float64, 150)
	for i := range rows {
		x := 6*rng.Float64() - 3
		rows[i] = []float64{x, math.Sin(x) + 0.1*distuv.StudentsT{Sigma: 1, Nu: 4, Src: rng}.Rand()}
	}
	table, err := dataset.FromRows([]string{"x", "y"}, rows)
	if err != nil {
		t.Fatal(err)
	}
	m := roundTrip(t, table, krigo.Options{Data: krigo.Data{Target: "y", TestFraction: 0.1},
		Method: krigo.Method{Name: "svgp-t", Inducing: 8, Batch: 75, Epochs: 60}, Kernel: krigo.Kernel{ARD: "off"},
		Promise: krigo.Promise{Epsilon: 1}})
	p := must(m.PredictAt(mat.NewDense(1, 1, []float64{0.5})))(t)
	// f is nearly known, so that predictions have nearly Student's t distribution.
	scale := math.Sqrt(m.ObservationNoise) * m.Scaling.TargetScale
	of := distuv.StudentsT{Mu: p[0].Mean, Sigma: scale, Nu: 4}
	if near := func(a, b float64) bool { return math.Abs(a-b) < 0.05*scale }; !near(p[0].Lower95, of.Quantile(0.025)) ||
		!near(p[0].Upper95, of.Quantile(0.975)) || !near(p[0].PredictiveSD, of.StdDev()) {
		t.Errorf("%+v; want about %v to %v, %v", p[0], of.Quantile(0.025), of.Quantile(0.975), of.StdDev())
	}
	// The golden file is of version 6. This test wrote it once, and it must not be written anew.
	const golden = "testdata/v6.krigo"
	if _, err := os.Stat(golden); errors.Is(err, fs.ErrNotExist) && os.Getenv("UPDATE_SNAPSHOTS") == "1" {
		t.Log(p[0], m.Save(golden))
	}
	stored := must(krigo.Load(golden))(t)
	want := [3]float64{-0.1398507260664157, 1.11341630866357, 0.31956277223446095}
	if p, err = stored.PredictAt(mat.NewDense(1, 1, []float64{0.5})); err != nil ||
		!(math.Abs(p[0].Lower95-want[0])+math.Abs(p[0].Upper95-want[1])+math.Abs(p[0].PredictiveSD-want[2]) < 1e-7) {
		t.Errorf("the stored model predicts %v, %v; want %v", p, err, want)
	}
	gaussian, own := *m, *m // own has the scale of the data's noise, gaussian has its variance
	own.ObservationNoise = 0.01 / (m.Scaling.TargetScale * m.Scaling.TargetScale)
	gaussian.Noise, gaussian.ObservationNoise = "", 2*own.ObservationNoise
	d := must(m.Labelled(table))(t)
	worse := must(gaussian.Score(d, d.All(), nil))(t)
	if better, err := own.Score(d, d.All(), nil); err != nil || !(better.NLPD < worse.NLPD-0.005) ||
		!(math.Abs(better.Coverage95-0.95) < 0.04 && better.Coverage[0].Share < worse.Coverage[0].Share-0.05) ||
		better.MSE != worse.MSE {
		t.Errorf("scores %+v, as Gaussian %+v, %v", better, worse, err)
	}
	for noise, want := range map[string]string{"martian": `doesn't know the noise "martian"`, "": "its header isn't of " +
		"that version"} {
		var file bytes.Buffer
		m.Noise = "student-4"
		do(t, m.Write(&file))
		raw := bytes.Replace(file.Bytes(), []byte(`"noise": "student-4"`), []byte(fmt.Sprintf(`"noise": %-11q`, noise)), 1)
		sum := sha256.Sum256(raw[:len(raw)-sha256.Size])
		if _, err := model.Read(bytes.NewReader(append(raw[:len(raw)-sha256.Size], sum[:]...))); err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", noise, err)
		}
	}
}

// TestStudentEvaluated shows that krigo.Evaluate needs a posterior for this noise, because the best posterior has no
// formula.
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
