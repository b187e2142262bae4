package serve

import (
	"encoding/json"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/krigo-gp/krigo/dataset/files"
	"github.com/krigo-gp/krigo/internal/must"
	"github.com/krigo-gp/krigo/model"
)

// TestExplain shows that the server's explanations equal those of Model.Explain, as JSON and as CSV. They come only if
// they are asked for, for at most 1,000 rows, and give back their memory and their turn.
func TestExplain(t *testing.T) {
	_, m := categorical(t)
	address, s := started(t, saved(t, m, filepath.Join(t.TempDir(), "s.krigo")), Options{})
	url := "http://" + address + "/v1/predict"
	const rows = "fuel,size\noil,2\ngas,\n"
	table := must.Get(files.CSV{From: strings.NewReader(rows), Source: "new.csv"}.Read())(t)
	want := must.Get(m.Explain(t.Context(), table))(t)
	for query, want := range map[string]*model.Explanation{"?explain=true": want, "?explain=false": nil, "": nil} {
		var got struct{ Explanation *model.Explanation }
		_, text := post(t, url+query, jsonKind, `{"rows": [["oil", 2], ["gas", null]]}`)
		must.Do(t, json.Unmarshal([]byte(text), &got))
		must.Hold(t, reflect.DeepEqual(got.Explanation, want),
			"%q: %+v, want %+v", query, got.Explanation, want)
	}
	_, text := post(t, url+"?explain=true", "text/csv", rows)
	names := ",explain_base,contribution_fuel,contribution_size,explain_remainder\n"
	must.Hold(t, strings.Contains(text, names) && strings.Count(text, "\n") == 3, "%s", text)
	many := "fuel,size\n" + strings.Repeat("oil,2\n", 1001)
	if status, text := post(t, url+"?explain=true", "text/csv", many); status != 413 {
		t.Errorf("1001 rows: %d, %s", status, text)
	}
	if status, _ := post(t, url, "text/csv", many); status != 200 {
		t.Errorf("1001 rows without an explanation: %d", status)
	}
	if s.budget.mu.Lock(); s.budget.used != 0 || s.together.free != 1 {
		t.Errorf("%d bytes held, %d turns free", s.budget.used, s.together.free)
	}
	s.budget.mu.Unlock()
}
