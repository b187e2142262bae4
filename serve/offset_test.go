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
		Data:   krigo.Data{Target: "MEDV", Inputs: []string{"RM", "DIS"}, Columns: krigo.Columns{Offset: "LSTAT"}},
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
		must.Hold(t, status == 200 && err == nil && slices.Equal(a.Predictions, read(t, want)),
			"%d, %v: %s", status, err, body)
	}
	var csv strings.Builder
	must.Do(t, krigo.WritePredictions(&csv, want))
	status, body := post(t, url, "text/csv", text.String())
	must.Hold(t, status == 200 && body == csv.String(), "%d: %s", status, body)
	status, body = post(t, url, jsonKind, `{"rows": [{"RM": 6, "DIS": 4}]}`)
	must.Hold(t, status == 400 && strings.Contains(body, `input \"LSTAT\" is missing`),
		"%d: %s", status, body)
}

// TestExposure: a model of levels answers the chance of each, and a model with an exposure takes it as its last input.
// An exposure that isn't above 0 is refused by row.
func TestExposure(t *testing.T) {
	table := data.Boston()
	room, level := slices.Index(table.Names, "RM"), slices.Index(table.Names, "RAD")
	for i := range table.Rows {
		row := table.Values[i*len(table.Names):]
		row[level] = min(max(float64(int(row[room])), 5), 8)
	}
	o := krigo.Options{Kernel: krigo.Kernel{Expression: "se", ARD: "off", Noise: "ordinal"},
		Data: krigo.Data{Target: "RAD", Inputs: []string{"RM", "DIS"}}, Run: krigo.Run{Restarts: 1}}
	for _, exposure := range []string{"", "LSTAT"} {
		if o.Data.Exposure = exposure; exposure != "" {
			o.Kernel.Noise = "poisson"
		}
		m := must.Get(krigo.Fit(t.Context(), table, o))(t)
		address, _ := started(t, saved(t, m, filepath.Join(t.TempDir(), "s.krigo")), Options{})
		few := *table
		few.Rows, few.Lines, few.Values = 1, nil, table.Values[:len(table.Names)]
		want := must.Get(m.Predict(t.Context(), &few, krigo.PredictOptions{}))(t)
		var a Answer
		body := `{"rows": [{"RM": 6.575, "DIS": 4.09, "LSTAT": 4.98}]}`
		if exposure == "" {
			body = `{"rows": [{"RM": 6.575, "DIS": 4.09}]}`
		}
		status, said := post(t, "http://"+address+"/v1/predict", jsonKind, body)
		must.Do(t, json.Unmarshal([]byte(said), &a))
		must.Hold(t, status == 200 && len(a.Predictions) == 1 &&
			a.Predictions[0].Mean == want[0].Mean, "%d: %s", status, said)
		if exposure == "" {
			must.Hold(t, len(a.Chances) == 4 && a.Chances[0].Level == 5 &&
				len(a.Chances[0].Probabilities) == 1, "%s", said)
			continue
		}
		status, said = post(t, "http://"+address+"/v1/predict", jsonKind, strings.Replace(body, "4.98", "0", 1))
		must.Hold(t, status == 400 && strings.Contains(said, "isn't above 0"),
			"%d: %s", status, said)
	}
}
