package verify_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/krigo-gp/krigo"
	"github.com/krigo-gp/krigo/dataset/files"
	"github.com/krigo-gp/krigo/internal/must"
	"github.com/krigo-gp/krigo/pacbayes"
)

// TestLabels: verify.py agrees with a certificate of labels, and refuses forged ones.
func TestLabels(t *testing.T) {
	must.Long(t)
	rng := rand.New(rand.NewPCG(5, 6))
	text := "kind,p_a,p_b,p_c,site\n"
	for range 90 {
		truth, p := rng.IntN(3), []float64{0.05, 0.05, 0.05}
		p[min(truth+rng.IntN(8)/7, 2)] = 0.9
		text += fmt.Sprintf("%c,%v,%v,%v,s%d\n", 'a'+truth, p[0], p[1], p[2], rng.IntN(3))
	}
	dir := t.TempDir()
	file, table := filepath.Join(dir, "labels.json"), filepath.Join(dir, "labels.csv")
	must.Do(t, os.WriteFile(table, []byte(text), 0o600))
	c := must.Get(krigo.CertifyLabels(t.Context(), must.Get(files.CSV{From: strings.NewReader(text)}.Read())(t),
		krigo.LabelOptions{Target: "kind", Probabilities: "p_", SliceBy: "site",
			Costs: &krigo.Costs{Classes: []string{"a", "b", "c"}, Costs: [][]float64{{0, 1, 2}, {1, 0, 1}, {9, 3, 0}}},
			LabelTerms: pacbayes.LabelTerms{Delta: 0.05, AtMostWrong: 0.3, Recall: 0.6, Positive: "b",
				Statements: []string{"error", "classes", "predicted", "brier", "log-loss", "calibration",
					"top-2"}}}))(t)
	honest := string(must.Get(json.MarshalIndent(c, "", "  "))(t))
	try := func(forged string) (bool, string) {
		must.Do(t, os.WriteFile(file, []byte(forged), 0o600))
		return verify(t, file, table)
	}
	if agrees, said := try(honest); !agrees {
		t.Fatal(said)
	}
	older := string(must.Get(os.ReadFile("../testdata/golden/labels-older.json"))(t))
	its := filepath.Join(dir, "older.csv")
	must.Do(t, os.WriteFile(its, []byte("kind,p_a,p_b\n"+strings.Repeat("a,.9,.1\na,.4,.6\nb,.2,.8\n", 10)), 0o600))
	for rules, agrees := range map[string]bool{"": true, `"rules": 2,`: false, `"rules": 1,`: false} {
		must.Do(t, os.WriteFile(file, []byte(strings.Replace(older, `"target"`, rules+`"target"`, 1)), 0o600))
		if is, said := verify(t, file, its); is != agrees {
			t.Errorf("an older file with %q: %v, %s", rules, is, said)
		}
	}
	last := c.Certificate.Statements[len(c.Certificate.Statements)-1]
	s := c.Certificate.Selective
	number := func(format string, v any) string { b, _ := json.Marshal(v); return fmt.Sprintf(format, b) }
	for _, f := range [][2]string{
		{number(`"bound": %s`, c.Certificate.Statements[0].Bound), `"bound": 0.01`},
		{number(`"bound": %s`, last.Bound), `"bound": 0.02`},
		{number(`"answers": %s`, s.AnswersOf), `"answers": 0.999`},
		{number(`"threshold": %s`, s.Threshold), `"threshold": 0.01`},
		{number(`"level": %s`, s.Level), number(`"level": %s`, s.Level*1.1)},
		{`"rows_sha256": "`, `"rows_sha256": "0`},
		{`"rules": 2`, `"rules": 0`},
		{number(`"false_alarms_bound": %s`, c.Certificate.Detection.FalseAlarmsBound), `"false_alarms_bound": 0.001`},
		{number(`"delta": %s,`, 0.05), `"delta": 0.04,`},
	} {
		forged := strings.Replace(honest, f[0], f[1], 1)
		must.Hold(t, forged != honest, "%s isn't in the certificate", f[0])
		if agrees, _ := try(forged); agrees {
			t.Errorf("%s for %s: agrees", f[1], f[0])
		}
	}
}
