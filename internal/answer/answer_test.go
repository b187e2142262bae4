package answer

import (
	"fmt"
	"strings"
	"testing"

	"github.com/krigo-gp/krigo"
	"github.com/krigo-gp/krigo/data"
	"github.com/krigo-gp/krigo/internal/must"
)

// TestAnswer shows that an answer has what was asked for, as the model says it, in the columns of a
// table in the order of the request.
func TestAnswer(t *testing.T) {
	table := data.Snelson()
	m := must.Get(krigo.Fit(t.Context(), table, krigo.Options{Data: krigo.Data{Target: "y"},
		Method: krigo.Method{Inducing: 5}, Promise: krigo.Promise{Epsilon: 1}}))(t)
	full := krigo.IntervalOptions{Kind: "full"}
	asked := Asked{Samples: 2, Seed: 3, Covariance: true, Explain: true, Findings: true,
		Intervals: []krigo.IntervalOptions{{Kind: "normalised"}, {Kind: "conformal", Level: 0.9}}}
	got := must.Get(asked.Of(t.Context(), m, table))(t)
	ps := must.Get(m.Predict(t.Context(), table, krigo.PredictOptions{}))(t)
	drawn := must.Get(m.Sample(t.Context(), table, krigo.SampleOptions{Count: 2, Seed: 3}))(t)
	ends := must.Get(m.Intervals(ps, asked.Intervals[1]))(t)
	covariance := must.Get(m.Covariance(t.Context(), table))(t)
	must.Be(t, fmt.Sprint(got.Covariance), fmt.Sprint(covariance))
	columns := got.Table()
	further := "normalised_lower normalised_upper conformal_lower conformal_upper sample1 sample2 " +
		"explain_base contribution_x explain_remainder"
	must.Be(t, strings.Join(columns.Names, " "),
		strings.Join(krigo.PredictionNames(), " ")+" "+further)
	row := make([]float64, len(columns.Names))
	for i := range table.Rows {
		must.Do(t, columns.Fill(i, row))
		must.Be(t, row[0], ps[i].Mean)
		must.Be(t, row[10], ends[i].Lower)
		must.Be(t, row[13], drawn[i][1])
		must.Near(t, row[14]+row[15]+row[16], ps[i].Mean, 1e-9)
	}

	made := must.Get(Asked{Predictions: ps[:1]}.Of(t.Context(), m, table))(t)
	must.Be(t, len(made.Predictions), 1, "predictions that are made aren't made again")
	var two Table
	two.Beside("a", made.Table())
	two.Beside("b", columns)
	must.Be(t, two.Names[8], "mean_b")
	must.Do(t, two.Fill(0, make([]float64, len(two.Names))))

	asked.Intervals = append(asked.Intervals, full)
	_, err := asked.Of(t.Context(), m, table)
	must.Fail(t, err, "intervals full: give the data that the model was made from")
}
