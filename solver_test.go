package krigo_test

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/krigo-gp/krigo"
	"github.com/krigo-gp/krigo/data"
	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/finding"
	"github.com/krigo-gp/krigo/internal/must"
)

func predictions(t *testing.T, m *krigo.Model, table *dataset.Table) (means, variances []float64) {
	t.Helper()
	ps := predict(t, m, table)
	for _, p := range ps {
		means, variances = append(means, p.Mean), append(variances, p.LatentVariance)
	}
	return means, variances
}

// TestFitByCG: conjugate gradients train and predict like Cholesky, within the error of their probes, and certify
// nothing.
func TestFitByCG(t *testing.T) {
	table := data.Boston()
	o := cheap(krigo.Options{
		Data:   krigo.Data{TestFraction: 0.2},
		Method: krigo.Method{Name: "evidence"},
	})
	exact := fit(t, table, o)
	o.Method.Solver = "cg"
	var solver string
	residuals := 0
	o.Run.Progress = func(e krigo.Event) {
		solver = e.Solver
		if e.Residual > 0 {
			residuals++
		}
	}
	m := fit(t, table, o)
	if again := fit(t, table, o); file(t, again) != file(t, m) {
		t.Error("the same seed gives another model")
	}
	must.Hold(t, solver == "cg" && residuals != 0,
		"progress told of the solver %q and of %d residuals", solver, residuals)
	tr := m.Training
	must.Hold(t, tr.StandardError != nil && *tr.StandardError > 0 &&
		math.Abs(tr.ObjectiveValue-exact.Training.ObjectiveValue) <= 3**tr.StandardError+0.1,
		"training %+v, by Cholesky %+v", tr, exact.Training)
	if m.Certificate != nil || !strings.Contains(m.CertificateReason, "estimate") || exact.Certificate == nil {
		t.Errorf("certificate %v, %q", m.Certificate, m.CertificateReason)
	}
	if _, err := m.Certify(t.Context(), table, krigo.CertifyOptions{Epsilon: 0.5}); err == nil {
		t.Error("another half-width was certified")
	}
	near(t, "ln σ_n²", math.Log(m.Posterior.Noise), math.Log(exact.Posterior.Noise), 0.1)
	near(t, "test error", m.Test.MSE, exact.Test.MSE, 0.02)
	near(t, "NLPD", m.Test.NLPD, exact.Test.NLPD, 0.02)
	solved := must.Get(m.Predict(context.Background(), table, krigo.PredictOptions{ExactVariance: true}))(t)
	means, variances := predictions(t, m, table)
	for i, p := range solved {
		// Boston has fewer rows than nearest uses, so both are exact.
		near(t, "mean", p.Mean, means[i], 1e-12)
		near(t, "solved variance", p.LatentVariance, variances[i], 3e-3)
	}
	var usage *krigo.UsageError
	if _, err := exact.Predict(context.Background(), table, krigo.PredictOptions{ExactVariance: true}); !errors.As(err,
		&usage) {
		t.Errorf("exact variances of an exact model: %v", err)
	}
}

// TestFixParameters: at given parameters all solvers predict the same.
func TestFixParameters(t *testing.T) {
	table := homes()
	var p krigo.Params
	must.Do(t, json.Unmarshal([]byte(`{"kernel": {"name": "matern32", "variance": 1.2, "lengthscales": [1, 2, `+
		`3]}, "noise_variance": 0.1, "mean": {"constant": 0.2}}`), &p))
	o := krigo.Options{Method: krigo.Method{Name: "evidence"}, Kernel: krigo.Kernel{Expression: "matern32", ARD: "auto",
		Mean: "constant"}, Run: krigo.Run{Init: &p, FixParameters: true}}
	exact := fit(t, table, o)
	if exact.Training.Stopped != "parameters given" || !(math.Abs(exact.Posterior.Noise-0.1) < 1e-15) ||
		exact.Training.ObjectiveValue == 0 || exact.Certificate == nil {
		t.Errorf("%+v, noise variance %v", exact.Training, exact.Posterior.Noise)
	}
	wantMean, wantVariance := predictions(t, exact, table)
	for _, solver := range []string{"cg", "nearest"} {
		o.Method.Solver = solver
		m := fit(t, table, o)
		mean, variance := predictions(t, m, table)
		for i := range mean {
			near(t, solver+": mean", mean[i], wantMean[i], 1e-5)
			near(t, solver+": variance", variance[i], wantVariance[i], 1e-5)
		}
		// the nearest of all rows are all rows, so this is the exact GP
		must.Hold(t, m.Posterior.Kind() == solver && m.Certificate == nil &&
			m.CertificateReason != "" &&
			(m.Findings.Of(finding.WeightsByCG) != nil) == (solver == "cg") &&
			m.Findings.Of(finding.ByNearest) == nil,
			"%s: a model by %s, certificate %v (%s), %q", solver, m.Posterior.Kind(), m.Certificate,
			m.CertificateReason, m.Findings)
	}
}

// TestResumeCG: a fit that stops and resumes ends as if it had never stopped.
func TestResumeCG(t *testing.T) {
	o := krigo.Options{
		Kernel: krigo.Kernel{Expression: "matern52", ARD: "off"},
		Method: krigo.Method{Name: "evidence", Solver: "cg"},
	}
	whole := fit(t, homes(), o)
	for _, stop := range []int{1, 4, 7} {
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		var raw []byte
		o.Run.Save = func(c *krigo.Checkpoint) (err error) {
			if stop--; stop == 0 {
				cancel()
				raw, err = json.Marshal(c)
			}
			return err
		}
		o.Data.Target = "MEDV"
		if _, err := krigo.Fit(ctx, homes(), o); !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
		resumed := o
		resumed.Run.Save, resumed.Run.Resume = nil, &krigo.Checkpoint{}
		must.Do(t, json.Unmarshal(raw, resumed.Run.Resume))
		m := fit(t, homes(), resumed)
		m.Training.Evaluations, whole.Training.Evaluations = 0, 0
		if a, b := file(t, m), file(t, whole); a != b {
			t.Errorf("stopped and gone on: %+v, in one go %+v", m.Training, whole.Training)
		}
	}
}
