package serve

import (
	"encoding/json"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/krigo-gp/krigo"
	"github.com/krigo-gp/krigo/data"
	"github.com/krigo-gp/krigo/internal/must"
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
	must.End(t, status != 200, "%s", text)
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
