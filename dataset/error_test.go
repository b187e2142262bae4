package dataset_test

import (
	"context"
	"errors"
	"math"
	"testing"

	"github.com/krigo-gp/krigo"
	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/internal/must"
)

// TestErrorOfPredict: a missing value is no error, unless the constants of the scaling are declared. The error gives its
// place. A value that overflows when it is scaled is no error, since it takes no other row's prediction.
func TestErrorOfPredict(t *testing.T) {
	var rows [][]float64
	for i := range 60 {
		rows = append(rows, []float64{1e-3 * float64(i), math.Sin(0.1 * float64(i))})
	}
	table := must.Get(dataset.FromRows([]string{"x", "y"}, rows))(t)
	m := must.Get(krigo.Fit(context.Background(), table,
		krigo.Options{Data: krigo.Data{Target: "y"}, Promise: krigo.Promise{Epsilon: 1}}))(t)
	gap := must.Get(dataset.FromRows([]string{"x"}, [][]float64{{1}, {math.NaN()}}))(t)
	ps := must.Get(m.Predict(t.Context(), gap, krigo.PredictOptions{}))(t)
	must.Hold(t, ps[1].Outside == 1 && math.Abs(ps[1].Mean-m.Scaling.TargetMean) < 2, "%+v", ps[1])
	m.Scaling.Source = dataset.Declared
	_, err := m.Predict(t.Context(), gap, krigo.PredictOptions{})
	var of *dataset.Error
	must.Hold(t, errors.As(err, &of) && of.File == "rows" && of.Row == 2 && of.Column == 1, "%v", err)
	far := must.Get(dataset.FromRows([]string{"x"}, [][]float64{{1}, {math.MaxFloat64}}))(t)
	ps = must.Get(m.Predict(t.Context(), far, krigo.PredictOptions{}))(t)
	must.Hold(t, !ps[0].Lost() && ps[1].Outside == 1, "%+v", ps)
}
