package krigo_test

import (
	"bytes"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/krigo-gp/krigo"
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
