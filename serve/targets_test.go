package serve

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/krigo-gp/krigo"
	"github.com/krigo-gp/krigo/data"
	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/internal/must"
	"github.com/krigo-gp/krigo/model"
)

// TestTargets: a request about several targets gets one answer, with each target's predictions as its own model gives.
func TestTargets(t *testing.T) {
	rows := data.Boston()
	o := krigo.Options{Kernel: krigo.Kernel{Expression: "se"}, Method: krigo.Method{Name: "evidence", Inducing: 0},
		Data: krigo.Data{Transform: "none"}, Prior: krigo.Prior{Kind: "informed", Share: 0.2},
		Run: krigo.Run{Restarts: 1}, Promise: krigo.Promise{Epsilon: 1}}
	all := must.Get(krigo.FitTargets(t.Context(), rows, []string{"MEDV", "LSTAT"}, o))(t)
	path := filepath.Join(t.TempDir(), "two.krigo")
	must.Do(t, all.Save(path))
	at, _ := started(t, path, Options{Ledger: filepath.Join(t.TempDir(), "ledger")})
	var cells, names []string
	for j, name := range rows.Names {
		text := string(must.Get(json.Marshal(rows.Values[j]))(t))
		names, cells = append(names, name), append(cells, text)
	}
	at = "http://" + at
	ask := func(path, kind, body string) (int, string) { return post(t, at+path, kind, body) }
	csv := strings.Join(names, ",") + "\n" + strings.Join(cells, ",") + "\n"
	status, text := ask("/v1/predict", "text/csv", csv)
	head := strings.Split(text, "\n")[0]
	must.Be(t, status == 200 && strings.HasPrefix(head, "mean_MEDV,") && strings.HasSuffix(head,
		",predictive_sd_LSTAT"), true,
		text)
	row := map[string]json.RawMessage{}
	for j, name := range names {
		if name != "MEDV" && name != "LSTAT" {
			row[name] = json.RawMessage(cells[j])
		}
	}
	body := string(must.Get(json.Marshal(map[string]any{"rows": []any{row}}))(t))
	status, text = ask("/v1/predict?explain=true", "application/json", body)
	must.Need(t, status == 200, "%s", text)
	var answer Answer
	must.Do(t, json.Unmarshal([]byte(text), &answer))
	must.Be(t, len(answer.Others), 1)
	for i, of := range []Answer{answer, answer.Others[0]} {
		must.Be(t, of.Target, all.Models[i].Target)
		must.Be(t, of.Explanation != nil, true)
		want := must.Get(all.Model(i).Predict(t.Context(), rows, krigo.PredictOptions{}))(t)
		must.Be(t, of.Predictions[0].Mean, want[0].Mean)
	}
	got := must.Get(http.Get(at + "/v1/model"))(t)
	defer got.Body.Close()
	var d Description
	must.Do(t, json.NewDecoder(got.Body).Decode(&d))
	must.Be(t, d.Target == "MEDV" && len(d.Others) == 1 && d.Others[0].Target == "LSTAT" && d.Together != nil, true, d)
	must.Be(t, strings.Contains(d.TogetherSentence, "all at once") && d.Watch == nil, true, d.TogetherSentence)
	for _, path := range []string{"/v1/predict?observed=true", "/v1/joint?samples=2", "/v1/outcomes"} {
		status, text = ask(path, "text/csv", csv)
		must.Be(t, status == 409 && strings.Contains(text, "krigo extract"), true, path, status, text)
	}
}

// kindsOf returns rows whose class follows from one input, and the models of two or three classes.
func kindsOf(t testing.TB, classes int) (*dataset.Table, *krigo.Targets) {
	t.Helper()
	rng := rand.New(rand.NewPCG(3, 33))
	table := dataset.Reading{}.New("kinds.csv")
	table.Names = []string{"x", "kind"}
	for range 150 {
		x := float64(classes) * rng.Float64()
		place := min(max(int(x+0.2*rng.NormFloat64()), 0), classes-1)
		must.Do(t, table.Append([]string{fmt.Sprint(x), []string{"low", "mid, so", "up"}[place]}))
	}
	o := krigo.Options{Data: krigo.Data{Target: "kind"}, Kernel: krigo.Kernel{Expression: "se"},
		Run: krigo.Run{Restarts: 1}}
	rows, o, err := o.Kinds(table)
	must.Do(t, err)
	if classes == 2 {
		m := must.Get(krigo.Fit(t.Context(), table, o))(t)
		return table, &krigo.Targets{Several: model.Several{Models: []*model.Model{&m.Model}}}
	}
	return table, must.Get(krigo.FitTargets(t.Context(), rows, o.Data.Beside, o))(t)
}

// TestKinds: a request about more than two classes gets one answer, with the labels, probabilities and sets that krigo
// predict gives, as JSON and as CSV. So does a request about two classes for sets.
func TestKinds(t *testing.T) {
	rows, all := kindsOf(t, 3)
	path := filepath.Join(t.TempDir(), "three.krigo")
	must.Do(t, all.Save(path))
	at, _ := started(t, path, Options{Ledger: filepath.Join(t.TempDir(), "l")})
	body, csv := `{"rows": [`, "x\n"
	for i := range rows.Rows {
		body += strings.Repeat(",", min(i, 1)) + fmt.Sprintf(`{"x": %v}`, rows.Values[2*i])
		csv += fmt.Sprintf("%v\n", rows.Values[2*i])
	}
	status, text := post(t, "http://"+at+"/v1/predict?sets=0.6", "application/json", body+"]}")
	must.Need(t, status == 200, "%s", text)
	var answer KindAnswer
	must.Do(t, json.Unmarshal([]byte(text), &answer))
	want := must.Get(all.PredictLabels(t.Context(), rows, 0.6))(t)
	must.Be(t, fmt.Sprint(answer), fmt.Sprint(KindAnswer{"three", want, nil}))
	status, text = post(t, "http://"+at+"/v1/predict?sets=0.99", "text/csv", csv)
	must.Be(t, status == 200 && strings.HasPrefix(text, "label,labels,probability_low,") &&
		strings.Contains(text, "\"low,\"\"mid, so\"\""), true, text)
	status, text = post(t, "http://"+at+"/v1/outcomes", "application/json",
		`{"rows": [{"x": 0.5, "kind": "low"}, [0.5, "up"], {"x": 1.5, "kind": "mid, so"}]}`)
	must.Be(t, status == 200 && strings.Contains(text, `"rows":3,"misses":1,`), true, text)
	var d Description
	got := must.Get(http.Get("http://" + at + "/v1/model"))(t)
	defer got.Body.Close()
	must.Do(t, json.NewDecoder(got.Body).Decode(&d))
	must.Be(t, d.Watch != nil && strings.Contains(d.WatchSentence, "1 got a wrong label"), true, d.WatchSentence)
	must.Be(t, d.Target == "kind" && len(d.Classes) == 3 && len(d.Others) == 3 && d.Others[0].Target == "kind=low" &&
		d.Certificate.MeanBound == all.Together.Certificate.MeanBound && d.Sentence == all.Sentence(), true, d)

	h := must.Get(Handler(must.Get(all.Label())(t), Options{}))(t)
	answered := httptest.NewRecorder()
	request := httptest.NewRequest("POST", "/v1/predict?sets=0.6", strings.NewReader(body+"]}"))
	request.Header.Set("Content-Type", "application/json")
	h.ServeHTTP(answered, request)
	must.Be(t, strings.Replace(answered.Body.String(), `"model":"model"`, `"model":"three"`, 1),
		string(must.Get(json.Marshal(answer))(t))+"\n")

	_, all = kindsOf(t, 2)
	path = filepath.Join(t.TempDir(), "two.krigo")
	must.Do(t, all.Save(path))
	at, _ = started(t, path, Options{})
	status, text = post(t, "http://"+at+"/v1/predict?sets=0.6", "text/csv", csv)
	must.Be(t, status == 200 && strings.HasPrefix(text, "label,labels,mean,"), true, text)
	_, text = post(t, "http://"+at+"/v1/predict?sets=0.6", "application/json", body+"]}")
	var two Answer
	must.Do(t, json.Unmarshal([]byte(text), &two))
	must.Be(t, fmt.Sprint(two.Sets), fmt.Sprint(must.Get(all.Model(0).LabelsOf(two.Predictions, 0.6))(t).Sets))
}
