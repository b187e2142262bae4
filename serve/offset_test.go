package serve

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/krigo-gp/krigo"
	"github.com/krigo-gp/krigo/data"
	"github.com/krigo-gp/krigo/internal/must"
)

// TestOffset: a model with an offset takes it as its last input, by name or by place, and predicts as in the library.
func TestOffset(t *testing.T) {
	table := data.Boston()
	m := must.Get(krigo.Fit(t.Context(), table, krigo.Options{Kernel: krigo.Kernel{Expression: "se", ARD: "off"},
		Data:   krigo.Data{Target: "MEDV", Inputs: []string{"RM", "DIS"}, Offset: "LSTAT"},
		Method: krigo.Method{Name: "evidence"}, Prior: krigo.Prior{Kind: "informed"}, Run: krigo.Run{Restarts: 1}}))(t)
	address, _ := started(t, saved(t, m, filepath.Join(t.TempDir(), "s.krigo")), Options{})
	url := "http://" + address + "/v1/predict"
	few := *table
	few.Rows, few.Lines, few.Values = 3, nil, table.Values[:3*len(table.Names)]
	want := must.Get(m.Predict(t.Context(), &few, krigo.PredictOptions{}))(t)
	var objects, arrays []string
	var text strings.Builder
	text.WriteString("LSTAT,DIS,RM\n")
	for i := range few.Rows {
		var cells []string
		for _, name := range []string{"RM", "DIS", "LSTAT"} {
			raw, _ := json.Marshal(few.Values[i*len(few.Names)+slices.Index(few.Names, name)])
			cells = append(cells, string(raw))
		}
		arrays = append(arrays, "["+strings.Join(cells, ",")+"]")
		objects = append(objects, `{"LSTAT":`+cells[2]+`,"RM":`+cells[0]+`,"DIS":`+cells[1]+`}`)
		text.WriteString(cells[2] + "," + cells[1] + "," + cells[0] + "\n")
	}
	for _, rows := range [][]string{objects, arrays} {
		var a Answer
		status, body := post(t, url, jsonKind, `{"rows": [`+strings.Join(rows, ",")+`]}`)
		err := json.Unmarshal([]byte(body), &a)
		must.Not(t, status != 200 || err != nil || !slices.Equal(a.Predictions, read(t, want)), "%d, %v: %s",
			status, err, body)
	}
	var csv strings.Builder
	must.Do(t, krigo.WritePredictions(&csv, want))
	status, body := post(t, url, "text/csv", text.String())
	must.Not(t, status != 200 || body != csv.String(), "%d: %s", status, body)
	status, body = post(t, url, jsonKind, `{"rows": [{"RM": 6, "DIS": 4}]}`)
	must.Not(t, status != 400 || !strings.Contains(body, `input \"LSTAT\" is missing`), "%d: %s", status, body)
}
