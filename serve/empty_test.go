package serve

import (
	"fmt"
	"math"
	"net/http"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/krigo-gp/krigo"
	"github.com/krigo-gp/krigo/data"
	"github.com/krigo-gp/krigo/dataset"
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

// TestNoticesOfCSV shows that an answer in CSV has its notices as headers in ASCII, one for each, and that an outcome may have
// the same gaps.
func TestNoticesOfCSV(t *testing.T) {
	table := dataset.Reading{}.New("t")
	table.Names = []string{"größe", "z", "y"}
	for i := range 150 {
		x := math.Sin(float64(i))
		must.Do(t, table.Append([]string{fmt.Sprint(x), fmt.Sprint(math.Cos(float64(3 * i))), fmt.Sprint(x + math.Sin(7.3*float64(i))/9)}))
	}
	m := must.Get(krigo.Fit(t.Context(), table, krigo.Options{Data: krigo.Data{Target: "y"},
		Kernel: krigo.Kernel{Expression: "linear"}}))(t)
	folder := t.TempDir()
	address, _ := started(t, saved(t, m, folder+"/m.krigo"), Options{Ledger: folder + "/m.ledger"})
	answer := must.Get(http.Post("http://"+address+"/v1/predict", "text/csv",
		strings.NewReader("größe,z\n1,red\n,1\n1e200,2\n1,2\n")))(t)
	defer answer.Body.Close()
	notices := answer.Header.Values("Krigo-Notice")
	must.Hold(t, answer.StatusCode == 200 && len(notices) == 3, "%d %q", answer.StatusCode, notices)
	for i, want := range []string{`gr\u00f6\u00dfe misses 1 of 4 cells (the first in line 3`,
		`z: 1 of 4 cells can't be read as numbers or dates (the first in line 2: "red")`,
		"1 of 4 rows have no prediction, the first in line 4: the prediction overflows"} {
		must.Hold(t, strings.HasPrefix(notices[i], want), "%q", notices)
	}
	status, body := post(t, "http://"+address+"/v1/outcomes", "text/csv", "größe,z,y\n1,red,1\n,1,1\n1e200,2,1\n1,2,1\n")
	must.Hold(t, status == 200 && strings.Contains(body, "größe misses 1 of 4 cells"), "%d %s", status, body)
}
