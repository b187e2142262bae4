package krigo_test

import (
	"context"
	"math"
	"math/rand/v2"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/krigo-gp/krigo"
	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/finding"
	"github.com/krigo-gp/krigo/method"
)

// TestManyPriorRows: of more prior rows than there are terms, and than are asked for correlations, a product of kernels
// is trained on some, and its certificate is recomputed from the file to the bit.
func TestManyPriorRows(t *testing.T) {
	if testing.Short() {
		t.Skip("some ten thousand million operations")
	}
	rng := rand.New(rand.NewPCG(1, 1))
	rows := make([][]float64, method.MaxTerms+1600)
	for i := range rows {
		a, b := rng.NormFloat64(), rng.NormFloat64()
		rows[i] = []float64{a, b, math.Sin(2*a) + 0.3*b + 0.2*rng.NormFloat64()}
	}
	table, err := dataset.FromRows([]string{"a", "b", "y"}, rows)
	if err != nil {
		t.Fatal(err)
	}
	o := krigo.Options{Data: krigo.Data{Target: "y"}, Kernel: krigo.Kernel{Expression: "matern32*matern12"},
		Method: krigo.Method{Name: "nearest", Neighbours: 4, Optimizer: "adam", Batch: 5000, Epochs: 1},
		Prior:  krigo.Prior{Kind: "informed", Share: 0.99}, Promise: krigo.Promise{MeanBound: "direct"}}
	plan, err := krigo.Decide(t.Context(), table, o)
	if err != nil {
		t.Fatal(err)
	}
	terms := finding.List{finding.New(finding.SomeTerms, 100000, 100584)}
	if !reflect.DeepEqual(plan.Findings.Of(finding.SomeTerms), terms) {
		t.Errorf("%q", plan.Findings)
	}
	m, err := krigo.Fit(context.Background(), table, o)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(m.Findings.Of(finding.SomeTerms), terms) || m.Certificate == nil ||
		!(m.Certificate.MeanBound < 0.2) {
		t.Fatalf("%+v, %q", m.Certificate, m.Findings)
	}
	file := filepath.Join(t.TempDir(), "many.krigo")
	if err := m.Save(file); err != nil {
		t.Fatal(err)
	}
	loaded, err := krigo.Load(file)
	if err != nil {
		t.Fatal(err)
	}
	again, err := loaded.Certify(t.Context(), table, krigo.CertifyOptions{})
	if err != nil || again.Certificate.MeanBound != m.Certificate.MeanBound {
		t.Errorf("%+v, %v", again, err)
	}
}
