package krigo_test

import (
	"bytes"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/krigo-gp/krigo"
	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/finding"
	"github.com/krigo-gp/krigo/internal/must"
)

// TestStudentNoise: with gross errors in one target of 20, Student's t noise predicts the truth about as well as
// Gaussian noise does from the same rows without gross errors. The default chooses it for these rows alone.
func TestStudentNoise(t *testing.T) {
	must.Long(t)
	clean := logNormal(3, 200, true)
	gross := slices.Clone(clean)
	rng := rand.New(rand.NewPCG(3, 7))
	for i := 0; i < len(gross); i += 20 {
		gross[i] = []float64{clean[i][0], clean[i][1] + 10 + 10*rng.Float64()}
	}
	rmse := func(m *krigo.Model) (sum float64) {
		for x := 0.; x <= 6; x += 0.1 {
			p := must.Get(m.PredictAt(mat.NewDense(1, 1, []float64{x})))(t)
			sum += (p[0].Mean - 2*math.Sin(x)) * (p[0].Mean - 2*math.Sin(x)) / 61
		}
		return math.Sqrt(sum)
	}
	student := func(o *krigo.Options) { o.Kernel.Noise = "student" }
	for _, name := range []string{"evidence", "nearest"} {
		by := func(change func(o *krigo.Options)) func(o *krigo.Options) {
			return func(o *krigo.Options) { o.Method.Name = name; change(o) }
		}
		best, _ := fitRows(t, clean, by(func(*krigo.Options) {}))
		m, table := fitRows(t, gross, by(student))
		plain, _ := fitRows(t, gross, by(func(o *krigo.Options) { o.Data.Transform, o.Kernel.Noise = "none", "constant" }))
		must.Need(t, rmse(m) < 1.25*rmse(best)+0.02 && rmse(m) < 0.5*rmse(plain),
			"%s: RMSE %v, clean %v, plain %v", name, rmse(m), rmse(best), rmse(plain))
		must.Be(t, len(m.Findings.Of(finding.GrossErrors)), 1)
		must.Be(t, m.Noise, "student")
		chosen, _ := fitRows(t, gross, by(func(*krigo.Options) {}))
		must.Be(t, [2]string{chosen.Noise, best.Noise}, [2]string{"student", ""})
		must.Be(t, len(chosen.Findings.Of(finding.StudentChosen)), 1)
		must.Be(t, chosen.Training.ObjectiveValue, m.Training.ObjectiveValue)

		before := runtime.GOMAXPROCS(1)
		one, _ := fitRows(t, gross, by(student))
		runtime.GOMAXPROCS(before)
		var files [2]bytes.Buffer
		for i, m := range []*krigo.Model{m, one} {
			m.Training.Seconds = 0
			must.Do(t, m.Write(&files[i]))
		}
		must.Hold(t, bytes.Equal(files[0].Bytes(), files[1].Bytes()),
			"one core makes another model")
		again := must.Get(krigo.Read(&files[0]))(t)
		found := must.Get(again.Certify(t.Context(), table, krigo.CertifyOptions{}))(t)
		must.Hold(t, found.Matches, "not reproduced: %s", found.Differs)
		must.Be(t, must.Get(found.Refit(t.Context(), nil))(t), "")
	}
	informed := krigo.Prior{Kind: "informed"}
	for name, o := range map[string]krigo.Options{
		"kl-pac": {Method: krigo.Method{Name: "kl-pac"}},
		"vfe":    {Method: krigo.Method{Name: "vfe", Inducing: 8}, Prior: informed},
		"log": {
			Data:   krigo.Data{Transform: "log"},
			Method: krigo.Method{Name: "evidence"},
			Prior:  informed,
		},
	} {
		o.Data.Target = "y"
		o.Kernel.Noise = "student"
		must.Hold(t, o.Validate() != nil, "%s isn't refused", name)
	}
}

// TestLimitsOfDetection: with four targets of ten at a limit, the fit that knows it predicts the truth below the limit,
// and estimates the noise. Fits that take limits for measurements, or leave these rows out, can't.
func TestLimitsOfDetection(t *testing.T) {
	rows := make([][]float64, 0, 150)
	measured := make([][]float64, 0, 150)
	for _, r := range logNormal(5, 150, true) {
		side, y := 0., r[1]
		if y < -0.5 {
			side, y = -1, -0.5
		} else {
			measured = append(measured, r)
		}
		rows = append(rows, []float64{r[0], y, side})
	}
	table := must.Get(dataset.FromRows([]string{"x", "y", "side"}, rows))(t)
	rmse := func(m *krigo.Model) (sum float64) {
		for x := 0.; x <= 6; x += 0.1 {
			p := must.Get(m.PredictAt(mat.NewDense(1, 1, []float64{x})))(t)
			sum += (p[0].Mean - 2*math.Sin(x)) * (p[0].Mean - 2*math.Sin(x)) / 61
		}
		return math.Sqrt(sum)
	}
	for _, name := range []string{"evidence", "nearest"} {
		o := krigo.Options{Data: krigo.Data{Target: "y", Censored: "side"}, Kernel: krigo.Kernel{Expression: "se",
			Mean: "constant"},
			Prior: krigo.Prior{Kind: "informed", Share: 1}, Method: krigo.Method{Name: name}}
		m := must.Get(krigo.Fit(t.Context(), table, o))(t)
		without, _ := fitRows(t, measured, func(o *krigo.Options) {
			o.Prior.Share, o.Method.Name, o.Kernel.Mean = 1, name, "constant"
		})
		o.Data.Censored, o.Data.Ignore = "", []string{"side"}
		plain := must.Get(krigo.Fit(t.Context(), table, o))(t)
		a, b, c := rmse(m), rmse(without), rmse(plain)
		must.Need(t, a < 0.4 && a < 0.7*b && a < 0.7*c,
			"%s: RMSE %v, without limits %v, as measured %v", name, a, b, c)
		sd := math.Sqrt(m.ObservationNoise) * m.Scaling.TargetScale
		must.Need(t, sd > 0.3 && sd < 0.5, "the noise is %v, not .4", sd)
		must.Be(t, len(m.Findings.Of(finding.Limits)), 1)
		must.Be(t, strings.Join(m.Inputs, ","), "x")
	}
	for name, o := range map[string]krigo.Options{
		"calibration": {
			Method:  krigo.Method{Name: "evidence"},
			Prior:   krigo.Prior{Kind: "informed"},
			Promise: krigo.Promise{Calibration: 0.3},
		},
		"kl-pac": {Method: krigo.Method{Name: "kl-pac"}},
		"student": {
			Kernel: krigo.Kernel{Noise: "student"},
			Method: krigo.Method{Name: "evidence"},
			Prior:  krigo.Prior{Kind: "informed", Share: 1},
		},
	} {
		o.Data.Target = "y"
		o.Data.Censored = "side"
		must.Hold(t, o.Validate() != nil, "%s isn't refused", name)
	}
	o := krigo.Options{
		Data:   krigo.Data{Target: "y", Censored: "x"},
		Method: krigo.Method{Name: "evidence"},
		Prior:  krigo.Prior{Kind: "informed", Share: 1},
	}
	_, err := krigo.Fit(t.Context(), table, o)
	must.Hold(t, err != nil && strings.Contains(err.Error(), "isn't left, right or none"),
		"any cell is a side: %v", err)
}
