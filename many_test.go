package krigo_test

import (
	"math"
	"math/rand/v2"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/krigo-gp/krigo"
	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/finding"
	"github.com/krigo-gp/krigo/internal/must"
	"github.com/krigo-gp/krigo/method"
)

// TestManyPriorRows: of more prior rows than there are terms, and than are asked for correlations, a product of kernels
// is trained on some, and its certificate is recomputed from the file to the bit.
func TestManyPriorRows(t *testing.T) {
	if testing.Short() {
		t.Skip("some ten thousand million operations")
	}
	rng := rand.New(rand.NewPCG(1, 1))
	rows := make([][]float64, method.MaxTerms+200)
	for i := range rows {
		a, b := rng.NormFloat64(), rng.NormFloat64()
		rows[i] = []float64{a, b, math.Sin(2*a) + 0.3*b + 0.2*rng.NormFloat64()}
	}
	table := must.Get(dataset.FromRows([]string{"a", "b", "y"}, rows))(t)
	o := asked("nearest target=y expression=matern32*matern12 neighbours=4 optimizer=adam batch=5000 epochs=1 " +
		"kind=informed prior.share=0.999 mean_bound=direct")
	plan := must.Get(krigo.Decide(t.Context(), table, o))(t)
	terms := finding.List{finding.New(finding.SomeTerms, 100000, 100100)}
	must.Not(t, !reflect.DeepEqual(plan.Findings.Of(finding.SomeTerms), terms), "%q", plan.Findings)
	m := trained(t, table, o)
	must.End(t, !reflect.DeepEqual(m.Findings.Of(finding.SomeTerms), terms) || m.Certificate == nil ||
		!(m.Certificate.MeanBound < 0.2), "%+v, %q", m.Certificate, m.Findings)
	file := filepath.Join(t.TempDir(), "many.krigo")
	must.Do(t, m.Save(file))
	loaded := must.Get(krigo.Load(file))(t)
	again, err := certify(loaded, table)
	must.Not(t, err != nil || again.Certificate.MeanBound != m.Certificate.MeanBound, "%+v, %v", again, err)
}
