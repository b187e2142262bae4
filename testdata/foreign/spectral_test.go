package foreign

import (
	"bytes"
	"context"
	"encoding/json"
	"math"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/krigo-gp/krigo"
	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/kernel"
	"github.com/krigo-gp/krigo/kernel/kerneltest"
)

func TestKernel(t *testing.T) {
	for _, expr := range []string{"spectral", "spectral+linear", "spectral*se"} {
		k := must(kernel.Parse(expr, 2, false))(t)
		theta := make([]float64, len(k.Params()))
		for i := range theta {
			theta[i] = 0.3 * math.Sin(float64(i))
		}
		t.Run(expr, func(t *testing.T) { kerneltest.Run(t, k, 2, theta) })
	}
}

// TestOneLengthscale shows that a kernel without separate lengthscales is tried once, not with --ard on and off. The
// certificate then pays nothing for a choice.
func TestOneLengthscale(t *testing.T) {
	kernel.RegisterPair("cauchy", func(int) []kernel.Param {
		return []kernel.Param{{Name: "log_lengthscale2", Kind: kernel.Lengthscale, Dim: -1}}
	}, kernel.Differences(func(theta, a, b []float64) float64 {
		r := 0.0
		for d := range a {
			r += (a[d] - b[d]) * (a[d] - b[d])
		}
		return 1 / (1 + r*math.Exp(-theta[0]))
	}))
	table := &dataset.Table{Source: "plane", Names: []string{"a", "b", "y"}, Rows: 120}
	for i := range 3 * table.Rows {
		table.Values = append(table.Values, math.Mod(float64(i)*math.Phi, 1))
	}
	for expression, want := range map[string][]string{"cauchy": {"cauchy"}, "cauchy*se": {"cauchy*se", "cauchy*se (ARD)"}} {
		plan := must(krigo.Decide(t.Context(), table, krigo.Options{Data: krigo.Data{Target: "y"},
			Kernel: krigo.Kernel{Expression: expression, ARD: "auto"}}))(t)
		if !reflect.DeepEqual(plan.Kernels, want) {
			t.Errorf("%s: tried are %q", expression, plan.Kernels)
		}
	}
}

// waves returns a table whose target has two frequencies.
func waves() *dataset.Table {
	const n = 150
	table := &dataset.Table{Source: "waves", Names: []string{"t", "y"}, Rows: n}
	for i := range n {
		x := 10 * math.Mod(float64(i)*math.Phi, 1)
		table.Values = append(table.Values, x, math.Sin(3*x)+0.5*math.Sin(7*x)+0.1*math.Sin(1e4*x))
	}
	return table
}

// TestFit shows that a kernel from outside krigo is trained by four objectives, saved, loaded and certified.
func TestFit(t *testing.T) {
	for _, objective := range []string{"kl-pac", "evidence", "vfe", "svgp"} {
		t.Run(objective, func(t *testing.T) {
			o := krigo.Options{Data: krigo.Data{Target: "y"}, Method: krigo.Method{Name: objective, Epochs: 20},
				Kernel: krigo.Kernel{Expression: "spectral"}, Run: krigo.Run{Restarts: 1}}
			if objective != "evidence" {
				o.Method.Inducing = 20
			}
			m := must(krigo.Fit(context.Background(), waves(), o))(t)
			if m.Certificate == nil || !(m.Certificate.Bound < 1) {
				t.Fatalf("certificate %+v: %s", m.Certificate, m.CertificateReason)
			}
			path := filepath.Join(t.TempDir(), "waves.krigo")
			do(t, m.Save(path))
			loaded := must(krigo.Load(path))(t)
			before, err1 := m.Predict(t.Context(), waves(), krigo.PredictOptions{})
			after, err2 := loaded.Predict(t.Context(), waves(), krigo.PredictOptions{})
			if err1 != nil || err2 != nil || !reflect.DeepEqual(before, after) {
				t.Errorf("the loaded model predicts otherwise (%v, %v)", err1, err2)
			}
			r, err := loaded.Certify(t.Context(), waves(), krigo.CertifyOptions{})
			if err != nil || !r.Matches {
				t.Errorf("certified anew: %+v, %v", r, err)
			}
			params := &krigo.Params{Kernel: loaded.Posterior.Kernel.Spec(loaded.Posterior.Theta),
				NoiseVariance: loaded.Posterior.Noise}
			e := must(krigo.Evaluate(t.Context(), waves(), params, krigo.Options{Data: krigo.Data{Target: "y"},
				Method: krigo.Method{Name: "evidence"}}))(t)
			if _, ok := e.Gradient.Parameters["log_weight[2]"]; !ok || len(e.Gradient.Parameters) != 6 {
				t.Errorf("the gradient by name is %v", e.Gradient.Parameters)
			}
			if o.Run.Init = params; objective == "evidence" {
				if _, err := krigo.Fit(context.Background(), waves(), o); err != nil {
					t.Errorf("started from the parameters: %v", err)
				}
			}
		})
	}
}

func TestSpec(t *testing.T) {
	raw := `{"name":"spectral","parameters":{"bandwidth[1,1]":0.5,"bandwidth[2,1]":2,"frequency[1,1]":3,` +
		`"frequency[2,1]":4,"weight[1]":5,"weight[2]":6}}`
	var s kernel.Spec
	d := json.NewDecoder(strings.NewReader(raw))
	d.DisallowUnknownFields()
	do(t, d.Decode(&s))
	k, theta, err := s.Build(1)
	if err != nil {
		t.Fatal(err)
	}
	back, err := json.Marshal(k.Spec(theta))
	if err != nil || !bytes.Equal(back, []byte(raw)) && s.String() != k.Spec(theta).String() {
		t.Errorf("%s came back as %s, %v", raw, back, err)
	}
	if want := "spectral (bandwidth[1,1] 0.5, bandwidth[2,1] 2, frequency[1,1] 3, frequency[2,1] 4, weight[1] 5, " +
		"weight[2] 6)"; s.String() != want {
		t.Errorf("people see %s", s)
	}
	delete(s.Parameters, "weight[2]")
	if _, _, err := s.Build(1); err == nil || !strings.Contains(err.Error(), `"weight[2]"`) {
		t.Errorf("without a weight: %v", err)
	}
	s.Parameters["weight[2]"], s.Parameters["height"] = 1, 1
	if _, _, err := s.Build(1); err == nil || !strings.Contains(err.Error(), `"height"`) {
		t.Errorf("with a height: %v", err)
	}
	defer func() {
		if recover() == nil {
			t.Error("a name was registered twice")
		}
	}()
	kernel.Register("se", nil)
}
