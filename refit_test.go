package krigo_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/krigo-gp/krigo"
	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/dataset/files"
	"github.com/krigo-gp/krigo/internal/must"
)

// TestRefitOlder: a refit of an older version's model, which kept a setting that its method ignored, gives the same
// model. A model whose options have a field twice is refused.
func TestRefitOlder(t *testing.T) {
	must.Long(t)
	o := krigo.Options{
		Data:   krigo.Data{Target: "MEDV"},
		Kernel: krigo.Kernel{Expression: "se"},
		Method: krigo.Method{Name: "evidence"},
		Prior:  krigo.Prior{Kind: "informed"},
		Run:    krigo.Run{Restarts: 1},
	}
	m, is := fit(t, half(), o), []byte(`"inducing_init":"kmeans"`)
	must.Need(t, bytes.Contains(m.Fitted, is), "%s", m.Fitted)
	for was, same := range map[string]bool{
		`"inducing_init":"random"`: true, `"inducing_init":"random","fix_inducing":true`: true,
		`"inducing_init":"random","inducing_init":"kmeans"`: false,
	} {
		older := *m
		older.Fitted = bytes.Replace(m.Fitted, is, []byte(was), 1)
		if _, differs, err := older.Refit(t.Context(), half(), nil); err != nil || same != (differs == "") {
			t.Errorf("%s: %q, %v", was, differs, err)
		}
	}
}

// TestRefitReadsAsFitted shows that a refit reads days as the fit did: numbers in the fit's table and texts in the
// table at hand may be the same days.
func TestRefitReadsAsFitted(t *testing.T) {
	numbers, texts := "when,y\n", "when,y\n"
	for i := range 60 {
		y := float64(i*37%60) / 10
		numbers += fmt.Sprintf("%d,%v\n", i, y)
		texts += fmt.Sprintf("%s,%v\n", time.Unix(int64(i)*86400, 0).UTC().Format(time.DateOnly), y)
	}
	reading := dataset.Reading{Dates: []dataset.Dates{{Column: "when"}}}
	read := func(text string) *dataset.Table {
		table := must.Get(files.CSV{From: strings.NewReader(text), Source: "d.csv", As: reading}.Read())(t)
		return table
	}
	m := fit(t, read(numbers), krigo.Options{
		Data:   krigo.Data{Target: "y"},
		Kernel: krigo.Kernel{Expression: "se"},
		Prior:  krigo.Prior{Kind: "informed"},
		Run:    krigo.Run{Restarts: 1},
	})
	if _, differs, err := m.Refit(t.Context(), read(texts), nil); err != nil || differs != "" {
		t.Errorf("fitted again: %s, %v", differs, err)
	}
}

// TestRefit: a refit gives the same bits, and finds parameters of an informed prior that the rows don't give.
func TestRefit(t *testing.T) {
	half := 0.5
	for name, o := range map[string]krigo.Options{
		"default": {
			Data:    krigo.Data{TestFraction: 0.1},
			Promise: krigo.Promise{Calibration: 0.25},
			Run:     krigo.Run{Restarts: 1},
		},
		"sparse": {
			Kernel:  krigo.Kernel{ARD: "off"},
			Method:  krigo.Method{Inducing: 8, Epochs: 20},
			Prior:   krigo.Prior{Temper: []float64{1, 0.5}},
			Promise: krigo.Promise{MeanBound: "both"},
		},
		"grid": {Method: krigo.Method{Name: "kl-pac", Alpha: nil}, Run: krigo.Run{Restarts: 1},
			Promise: krigo.Promise{Loss: "asymmetric", Epsilon: 0.4, EpsilonAbove: 0.8}},
		"given": {Method: krigo.Method{Name: "pep", Inducing: 5, Epochs: 5, Alpha: &half},
			Data: krigo.Data{Scaling: "declared", Declared: identity(3)}, Kernel: krigo.Kernel{ARD: "off"},
			Run: krigo.Run{Init: &krigo.Params{Kernel: se(1, 0.7), NoiseVariance: 0.2}}},
	} {
		m := trained(t, homes(), o)
		back := every(0, 1, 85)
		slices.Reverse(back)
		if _, differs, err := m.Refit(context.Background(), pick(homes(), back), nil); err != nil || differs != "" {
			t.Errorf("%s: %s, %v", name, differs, err)
		}
		if m.Fitted = json.RawMessage(strings.Replace(string(m.Fitted), `"seed"`, `"sed"`, 1)); name == "default" {
			other := trained(t, homes(), krigo.Options{
				Data:    krigo.Data{TestFraction: 0.1},
				Kernel:  krigo.Kernel{Expression: "matern12"},
				Promise: krigo.Promise{Calibration: 0.25},
				Run:     krigo.Run{Restarts: 1},
			})
			m.Posterior, m.ObservationNoise = other.Posterior, other.ObservationNoise
			if _, differs, err := m.Refit(context.Background(), homes(), nil); err != nil || differs == "" {
				t.Errorf("the posterior of another kernel was made again: %v", err)
			}
		}
	}
	m := trained(t, homes(), cheap(krigo.Options{
		Method: krigo.Method{Name: "vfe", Inducing: 5, Epochs: 3},
		Prior:  krigo.Prior{Kind: "grid"},
	}))
	for _, epochs := range []string{`"epochs":3`, `"epochs":2`} { // a grid's certificate ignores training
		m.Fitted = json.RawMessage(strings.Replace(string(m.Fitted), `"epochs":3`, epochs, 1))
		r, err := certify(m, homes())
		if err == nil {
			err = r.RefitIfBrief(t.Context(), nil)
		}
		if same := epochs == `"epochs":3`; err != nil || !r.Valid || r.Refitted != same || r.IndependentlyChecked != same ||
			!strings.Contains(string(m.Fitted), epochs) {
			t.Errorf("%s: %+v, %v", epochs, r, err)
		}
	}
	m.Fitted = json.RawMessage(`{"data":{"target":"MEDV"},"kernels":"se"}`)
	_, _, err := m.Refit(context.Background(), homes(), nil)
	must.Fail(t, err, "kernels", "unknown options")
	m.Fitted = nil
	if _, _, err := m.Refit(context.Background(), homes(), nil); err == nil {
		t.Error("an old model was fitted again")
	}
}
