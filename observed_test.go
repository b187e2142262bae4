package krigo_test

import (
	"math"
	"strings"
	"testing"

	"github.com/krigo-gp/krigo"
	"github.com/krigo-gp/krigo/data"
	"github.com/krigo-gp/krigo/internal/must"
	"github.com/krigo-gp/krigo/pacbayes"
)

// TestObserve: RMSE, MAE and misses are those of the predictions, and the words say whether these rows contradict the
// promise. The limit is the same as for fresh rows. For rows that the model was made from, the words say that these say
// nothing about new rows.
func TestObserve(t *testing.T) {
	names := []string{"RM", "LSTAT", "DIS", "MEDV"}
	made, fresh := pick(data.Boston(), every(0, 2, 506), names...), pick(data.Boston(), every(1, 2, 506), names...)
	for options, c := range map[string]struct {
		promise krigo.Promise
		within  string
	}{
		"band":  {krigo.Promise{Epsilon: 0.8}, "(0.8 sd)"},
		"share": {krigo.Promise{Share: 0.9}, "±"},
		"asymmetric": {
			krigo.Promise{Loss: "asymmetric", Epsilon: 0.5, EpsilonAbove: 1},
			"the declared band",
		},
		"mean loss": {krigo.Promise{Loss: "clipped-square", Epsilon: 2}, "The mean loss is "},
	} {
		m := fit(t, made, cheap(krigo.Options{
			Method:  krigo.Method{Name: "evidence"},
			Prior:   krigo.Prior{Kind: "informed"},
			Promise: c.promise,
		}))
		must.Need(t, m.Certificate != nil, "%s: no certificate", options)
		ps := predict(t, m, fresh)
		o := must.Get(m.Observe(t.Context(), fresh, ps))(t)
		squares, sizes, risk := 0., 0., 0.
		for i, p := range ps {
			miss := o.Targets[i] - p.Mean
			must.Need(t, o.Targets[i] == fresh.Values[4*i+3],
				"%s, row %d: %v", options, i, o.Targets[i])
			squares, sizes, risk = squares+miss*miss, sizes+math.Abs(miss), risk+o.Losses[i]/float64(len(ps))
		}
		must.Near(t, o.RMSE, math.Sqrt(squares/float64(len(ps))), 1e-9, options, "RMSE")
		must.Near(t, o.MAE, sizes/float64(len(ps)), 1e-9, options, "MAE")
		must.Hold(t, !o.Contradicts && strings.Contains(o.Promise, c.within) &&
			strings.Contains(o.Promise, "This is compatible with the promise"),
			"%s: %+v", options, o.Promise)
		if options == "band" {
			risk -= must.Get(m.CertifyFresh(t.Context(), fresh))(t).MeanRisk
			must.Near(t, risk, 0, 1e-12, "misses")
			again := must.Get(m.Observe(t.Context(), made, predict(t, m, made)))(t)
			must.Hold(t, strings.Contains(again.Promise, "this says nothing about new rows"),
				"%q", again.Promise)
		}
		for i := range ps {
			fresh.Values[4*i+3] += 30
		}
		o = must.Get(m.Observe(t.Context(), fresh, ps))(t)
		least := pacbayes.HoldOutLimit(true, 1, len(ps), m.Terms.Delta)
		must.Hold(t, o.Contradicts && least >= 0.9 &&
			strings.Contains(o.Promise, "THIS CONTRADICTS THE PROMISE"),
			"%s: %+v", options, o.Promise)
		for i := range ps {
			fresh.Values[4*i+3] -= 30
		}
	}
	m := fit(t, made, cheap(krigo.Options{
		Method: krigo.Method{Name: "evidence"},
		Prior:  krigo.Prior{Kind: "informed"},
	}))
	mixed := pick(data.Boston(), every(0, 1, 506), names...)
	mixed.Rows, mixed.Lines, mixed.Values = 3, mixed.Lines[:3], mixed.Values[:12] // rows 0 and 2 made the model
	mixed.Values[8] += 0.01
	own := must.Get(m.Observe(t.Context(), mixed, predict(t, m, mixed)))(t)
	must.Hold(t,
		strings.Contains(own.Promise, "1 of these rows equals a row that the model was made from."),
		"%q", own.Promise)
	ps := predict(t, m, mixed)
	ps[0].Mean, mixed.Values[3] = 1e308, -1e308
	must.Refuse(m.Observe(t.Context(), mixed, ps))(t, "beyond the range of numbers")
	m.Certificate = nil
	o := must.Get(m.Observe(t.Context(), fresh, predict(t, m, fresh)))(t)
	must.Hold(t, o.Losses == nil && strings.Contains(o.Promise, "no certificate"), "%+v", o.Promise)
}
