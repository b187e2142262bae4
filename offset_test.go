package krigo_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/krigo-gp/krigo"
	"github.com/krigo-gp/krigo/data"
	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/internal/must"
)

// TestOffset: predictions, draws, intervals and explanations are those of what the offset misses, plus the offset. The
// certificate counts misses of the sum against the target, and |y| of a relative loss is the target's own. Whoever
// leaves the offset out gets its name in the error.
func TestOffset(t *testing.T) {
	table := pick(data.Boston(), every(0, 2, 506), "RM", "LSTAT", "DIS", "MEDV")
	sim := len(table.Names) - 2 // DIS takes the offset's place
	table.Names[sim] = "sim"
	for i := range table.Rows {
		row := table.Values[4*i : 4*i+4]
		row[sim] = 6*row[0] - 10 + 1000
		row[3] += 1000
	}
	for options, c := range map[string]struct {
		prior   string
		promise krigo.Promise
	}{
		"band":     {"informed", krigo.Promise{Epsilon: 0.5}},
		"relative": {"informed", krigo.Promise{Loss: "relative", Epsilon: 0.003}},
		"grid":     {"grid", krigo.Promise{}},
	} {
		o := cheap(krigo.Options{
			Data:    krigo.Data{Columns: krigo.Columns{Offset: "sim"}},
			Method:  krigo.Method{Name: "evidence"},
			Prior:   krigo.Prior{Kind: c.prior},
			Promise: c.promise,
		})
		m := fit(t, table, o)
		m = must.Get(krigo.Read(strings.NewReader(file(t, m))))(t)
		must.Need(t, slices.Equal(m.Inputs, []string{"RM", "LSTAT"}) && m.Offset == "sim",
			"%q %q", m.Inputs, m.Offset)
		must.Need(t, m.Scaling.TargetMean <= 100,
			"mean %v of what the offset misses", m.Scaling.TargetMean)
		ps := predict(t, m, table)
		d := must.Get(m.Labelled(table))(t)
		misses, n := 0., 0.
		for _, i := range must.Get(m.RolesOf(d))(t).Rows(dataset.Certified) {
			y, width := table.Values[4*i+3], m.Terms.EpsilonRaw
			if m.Terms.Loss.Unitless() {
				width *= math.Abs(y)
			}
			if n++; math.Abs(y-ps[i].Mean) > width {
				misses++
			}
		}
		if m.Terms.Fixed {
			must.Near(t, m.Certificate.EmpiricalRisk, misses/n, 1e-12, options)
		}
		must.Be(t, must.Get(m.Verify(d))(t).Differs, "", options)
		x := mat.NewDense(1, 3, []float64{table.Values[0], table.Values[1], table.Values[2]})
		at := must.Get(m.PredictAt(x))(t)[0]
		must.Need(t, at.Mean == ps[0].Mean, "%v by PredictAt, %v by Predict", at.Mean, ps[0].Mean)
		x.Set(0, 2, table.Values[2]+100)
		moved := must.Get(m.PredictAt(x))(t)[0]
		must.Near(t, moved.Mean, at.Mean+100, 1e-9, "mean")
		must.Near(t, moved.Lower95, at.Lower95+100, 1e-9, "lower")
		observed := must.Get(m.Observe(t.Context(), table, ps))(t)
		must.Need(t, observed.Targets[0] == table.Values[3] && observed.RMSE <= 20,
			"%v, RMSE %v", observed.Targets[0], observed.RMSE)
		e := must.Get(m.Explain(t.Context(), table))(t)
		must.Need(t, e.Columns[2] == "sim" && e.Contributions[0][2] == table.Values[2],
			"%+v", e.Columns)
		drawn := must.Get(m.Sample(t.Context(), table, krigo.SampleOptions{Count: 1}))(t)
		must.Need(t, math.Abs(drawn[0][0]-ps[0].Mean) <= 6*ps[0].LatentSD,
			"draw %v, mean %v", drawn[0][0], ps[0].Mean)
		if m.NoWhole(table.Rows) == nil && m.Terms.Fixed {
			full := must.Get(m.IntervalsOfFew(t.Context(), table, table, krigo.IntervalOptions{Kind: "full", Level: 0.8}))(t)
			must.Need(t, full[0].Lower < ps[0].Mean && ps[0].Mean < full[0].Upper, "%+v", full[0])
		}
		without := pick(table, every(0, 1, 20), "RM", "LSTAT", "MEDV")
		must.Refuse(m.Predict(t.Context(), without, krigo.PredictOptions{}))(t, `no column "sim" for the offset`)
	}
	o := krigo.Options{
		Method: krigo.Method{Name: "evidence"},
		Prior:  krigo.Prior{Kind: "informed"},
		Run:    krigo.Run{Restarts: 1},
	}
	o.Data.Offset, o.Data.Transform = "sim", "log"
	o.Data.Target = "MEDV"
	must.Refuse(krigo.Fit(t.Context(), table, o))(t, "the offset is in the target's own units")
	o.Data.Transform, o.Data.Inputs = "", []string{"RM", "sim"}
	m := fit(t, table, o)
	must.Be(t, strings.Join(m.Inputs, " "), "RM sim")
	table.Values[4*7+sim] = math.NaN()
	must.Refuse(krigo.Fit(t.Context(), table, o))(t, `column 3 ("sim"): the value is missing`)
}
