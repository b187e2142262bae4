package verify_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/krigo-gp/krigo"
	"github.com/krigo-gp/krigo/dataset/files"
	"github.com/krigo-gp/krigo/internal/must"
	"github.com/krigo-gp/krigo/pacbayes"
)

// wrongs returns other values for a value in a certificate. nil stands for a value that lacks.
func wrongs(v any) []any {
	switch v := v.(type) {
	case float64:
		if v == 0 {
			return []any{-0.5, 1e308, 1., "1", nil}
		}
		return []any{-0.5, 1e308, v / 2, v + 1, "1", nil}
	case string:
		return []any{v + "x", "", 7., nil}
	case bool:
		return []any{!v, nil}
	case []any:
		return []any{v[1:], append(slices.Clone(v), v[0]), nil}
	case map[string]any:
		more := maps.Clone(v)
		more["certified"] = true
		return []any{more, nil}
	}
	return nil
}

// edit calls try after each edit of one value in doc.
func edit(doc any, path string, try func(path string)) {
	one := func(path string, v any, set func(v any)) {
		for i, wrong := range wrongs(v) {
			set(wrong)
			try(fmt.Sprint(path, " ", i))
		}
		set(v)
		edit(v, path, try)
	}
	switch doc := doc.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(doc)) {
			one(path+"."+key, doc[key], func(v any) {
				if doc[key] = v; v == nil {
					delete(doc, key)
				}
			})
		}
	case []any:
		for i := range doc {
			one(fmt.Sprintf("%s[%d]", path, i), doc[i], func(v any) { doc[i] = v })
		}
	}
}

// labelled is a program that prints the names of the certificates of labels with which verify.py agrees. A line has a
// name and a certificate, or names the file of the table for the certificates that follow.
const labelled = `import sys; sys.path.insert(0, ".")
import classes
from bounds import Refused
for line in sys.stdin:
    if line.startswith("table "):
        data = open(line[6:-1], "rb").read()
        continue
    name, text = line.rstrip("\n").replace(" {", "\t{", 1).split("\t", 1)
    try:
        classes.verify(text, data)
        print(name)
    except (Refused, ArithmeticError, AttributeError, LookupError, TypeError, ValueError):
        pass
`

// TestEdits: every edit of one value of a certificate of labels is refused by the reader that all commands share, or
// changes nothing that they say, and is refused by verify.py. Names of columns and files, thresholds of scores, and
// means and bounds of losses that no count gives are known from rows alone. So small edits of these are left to certify,
// and so is a file without rules, which says that it is older.
func TestEdits(t *testing.T) {
	must.Long(t)
	fromRows := regexp.MustCompile(`^\.(source|target|prediction|score|probabilities|group|rows_sha256)\b|` +
		`\.(threshold|copies|missed|of)\b|\.classes\[|mean 2$|^\.rules 5$`)
	rng := rand.New(rand.NewPCG(5, 6))
	two, three := "kind,prediction,p_a,p_b,site,sure,place\n", "kind,p_a,p_b,p_c\n"
	for i := range 120 {
		truth, p := rng.IntN(3), []float64{0.05, 0.05, 0.05}
		p[min(truth+rng.IntN(8)/7, 2)] = 0.9
		three += fmt.Sprintf("%c,%v,%v,%v\n", 'a'+truth, p[0], p[1], p[2])
		q := float64(rng.IntN(99)+1) / 100
		label := int(q + 0.5)
		truth = int(q + rng.Float64())
		two += fmt.Sprintf("%c,%c,%v,%v,s%d,%v,g%d\n", 'a'+truth, 'a'+label, 1-q, q, rng.IntN(3), max(q, 1-q)+float64(i)/1e5, i/4)
	}
	costs := &krigo.Costs{Classes: []string{"a", "b"}, Costs: [][]float64{{0, 1}, {5, 0}}}
	terms := func(statements string) pacbayes.LabelTerms {
		return pacbayes.LabelTerms{Delta: 0.05, Statements: strings.Fields(statements)}
	}
	said, passed, edits, left := "", []string{}, 0, 0
	const sampled = 4 // verify.py reads every fourth edit, since it takes longer
	dir := t.TempDir()
	var agrees bytes.Buffer
	checker := exec.Command(python(t), "-c", labelled)
	checker.Stdout = &agrees
	checker.Stderr = os.Stderr
	all := must.Get(checker.StdinPipe())(t)
	must.Do(t, checker.Start())
	file := filepath.Join(dir, "labels.json")
	for name, c := range map[string]struct {
		table string
		o     krigo.LabelOptions
	}{
		"two": {two, krigo.LabelOptions{Prediction: "prediction", SliceBy: "site", Costs: costs, Score: "sure",
			LabelTerms: pacbayes.LabelTerms{Delta: 0.05, Statements: []string{"error", "classes", "predicted"},
				AtMostWrong: 0.4}}},
		"few":    {two, krigo.LabelOptions{Prediction: "prediction", SliceBy: "site", LabelTerms: terms("error")}},
		"groups": {two, krigo.LabelOptions{Prediction: "prediction", Group: "place", Costs: costs, LabelTerms: terms("error")}},
		"brier":  {two, krigo.LabelOptions{Probabilities: "p_", LabelTerms: terms("error brier log-loss calibration")}},
		"three":  {three, krigo.LabelOptions{Probabilities: "p_", LabelTerms: terms("error classes top-2 calibration")}},
		"recall": {three, krigo.LabelOptions{Probabilities: "p_", LabelTerms: pacbayes.LabelTerms{Delta: 0.05,
			Recall: 0.6, Positive: "b", AtMostWrong: 0.3}}},
		"none": {three, krigo.LabelOptions{Probabilities: "p_", LabelTerms: pacbayes.LabelTerms{Delta: 0.05,
			Recall: 0.999, Positive: "b", AtMostWrong: 0.001}}},
	} {
		c.o.Target = "kind"
		made := must.Get(krigo.CertifyLabels(t.Context(), must.Get(files.CSV{From: strings.NewReader(c.table)}.Read())(t), c.o))(t)
		load := func(text []byte) (string, error) {
			must.Do(t, os.WriteFile(file, text, 0o600))
			p, _, err := krigo.LoadLabels(file)
			return string(must.Get(json.Marshal(p))(t)), err
		}
		var doc any
		must.Do(t, json.Unmarshal(must.Get(json.Marshal(made))(t), &doc))
		honest, err := load(must.Get(json.Marshal(doc))(t))
		must.Do(t, err)
		table := filepath.Join(dir, name+".csv")
		must.Do(t, os.WriteFile(table, []byte(c.table), 0o600))
		must.Get(fmt.Fprintf(all, "table %s\n%s %s\n", table, name, must.Get(json.Marshal(doc))(t)))(t)
		edit(doc, "", func(path string) {
			edits++
			text := must.Get(json.Marshal(doc))(t)
			if edits%sampled == 0 {
				must.Get(fmt.Fprintf(all, "%s%s\t%s\n", name, path, text))(t)
			}
			if said, err = load(text); err != nil || said == honest {
				return
			}
			if left++; !fromRows.MatchString(path) && !(name == "groups" && strings.HasPrefix(path, ".costs")) {
				passed = append(passed, name+path)
			}
		})
	}
	slices.Sort(passed)
	t.Logf("%d edits, %d of them left to the rows", edits, left-len(passed))
	if len(passed) > 0 {
		t.Errorf("%d edits are taken and said: %s", len(passed), strings.Join(passed, ", "))
	}

	must.Do(t, all.Close())
	must.Do(t, checker.Wait())
	agreed := strings.Fields(strings.ReplaceAll(agrees.String(), " ", "_"))
	words := regexp.MustCompile(`\.(source|sentence)\b`)
	agreed = slices.DeleteFunc(agreed, func(path string) bool { return words.MatchString(strings.ReplaceAll(path, "_", " ")) })
	if len(agreed) != 7 {
		t.Errorf("verify.py agrees with %d files, and 7 of them are honest: %s", len(agreed), strings.Join(agreed, ", "))
	}
}
