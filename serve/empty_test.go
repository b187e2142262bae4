package serve

import (
	"math"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/krigo-gp/krigo"
	"github.com/krigo-gp/krigo/data"
	"github.com/krigo-gp/krigo/internal/must"
	"github.com/krigo-gp/krigo/model"
)

// TestNoModel shows that Handler without a model returns errors that say what to do.
func TestNoModel(t *testing.T) {
	for _, m := range []*krigo.Model{nil, {}} {
		if _, err := Handler(m, Options{}); err == nil || !strings.Contains(err.Error(), "krigo.Load") {
			t.Errorf("%+v: %v", m, err)
		}
	}
	if _, err := new(krigo.Model).Predict(t.Context(), data.Snelson(), krigo.PredictOptions{}); err == nil ||
		!strings.Contains(err.Error(), "load one") {
		t.Errorf("prediction: %v", err)
	}
}

// TestLostRow shows that a row whose prediction overflows has null for one, and takes no other row's. A notice names it.
// It is an error if no row has a prediction, so that no answer 200 is empty.
func TestLostRow(t *testing.T) {
	m := fitted(t, 0)
	q := queueOf(m, 1<<20, func(x mat.Matrix) (ps []model.Prediction, err error) {
		ps, err = m.PredictAt(x)
		for i := range ps {
			if x.At(i, 0) == 666 {
				ps[i].Mean = math.NaN()
			}
		}
		return ps, err
	})
	table := tableOf(m, 40, 1)
	for i := 2; i < 30; i++ { // a whole batch of one piece among them
		table.Values[i] = 666
	}
	ps, notices, err := q.run(t.Context(), anna, table)
	must.Do(t, err)
	must.Hold(t, ps[2].Lost() && !ps[1].Lost() && !ps[39].Lost() && len(notices) == 1 &&
		strings.HasPrefix(notices[0], "28 of 40 rows have no prediction, the first in row 3: the prediction overflows"),
		"%v", notices)
	var text strings.Builder
	encode(&text, ps[1:4])
	must.Hold(t, strings.HasSuffix(text.String(), "},null,null]\n"), "%s", text.String())
	_, _, err = q.run(t.Context(), anna, tableOf(m, 2, 666))
	must.Hold(t, err != nil && strings.HasPrefix(err.Error(), "t: row 1: the prediction overflows"), "%v", err)
}
