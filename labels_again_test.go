package krigo_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/krigo-gp/krigo"
	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/dataset/files"
	"github.com/krigo-gp/krigo/internal/must"
	"github.com/krigo-gp/krigo/pacbayes"
)

// olderLabels is a certificate of labels that krigo made before certificates had rules.
const olderLabels = "testdata/golden/labels-older.json"

// TestLabelsOlder: an older file without rules keeps the bounds of its time, which its rows give again. New bounds are
// lower.
func TestLabelsOlder(t *testing.T) {
	rows := must.Get(files.CSV{From: strings.NewReader("kind,p_a,p_b\n" +
		strings.Repeat("a,.9,.1\na,.4,.6\nb,.2,.8\n", 10))}.Read())(t)
	p, _, err := krigo.LoadLabels(olderLabels)
	must.Do(t, err)
	must.Do(t, p.Reproduce(t.Context(), rows))
	must.Be(t, p.Certificate.Statements[0].Bound, 0.33200542866284954)
	made := must.Get(krigo.CertifyLabels(t.Context(), rows, p.Options))(t)
	must.Be(t, made.Rules, 2)
	for i, s := range p.Certificate.Statements {
		now := made.Certificate.Statements[i]
		must.Hold(t, s.Mean < now.Bound && now.Bound < 0.99*s.Bound,
			"%s: %v, and once %v", s.About, now.Bound, s.Bound)
	}
	made.Rules = 0
	err = made.Reproduce(t.Context(), rows)
	must.Hold(t, err != nil && strings.Contains(err.Error(), "bound isn't what was computed"),
		"%v", err)
}

// TestLabelsAgain: a certificate of labels comes back from its file, knows its rows in any order, and counts a class
// that it doesn't know as wrong. Altered files are refused.
func TestLabelsAgain(t *testing.T) {
	read := func(text string) *dataset.Table {
		return must.Get(files.CSV{From: strings.NewReader(text), As: dataset.Reading{}.Every()}.Read())(t)
	}
	rows := strings.Repeat("a,.9,.1,x\na,.4,.6,y\nb,.2,.8,x\n", 30)
	const head = "kind,p_a,p_b,site\n"
	made := must.Get(krigo.CertifyLabels(t.Context(), read(head+rows), krigo.LabelOptions{Target: "kind",
		Probabilities: "p_", SliceBy: "site", LabelTerms: pacbayes.LabelTerms{Statements: []string{"error", "classes",
			"brier", "calibration"}, AtMostWrong: 0.5, Recall: 0.5, Positive: "b"}}))(t)
	text := must.Get(json.Marshal(made))(t)
	path := filepath.Join(t.TempDir(), "labels.json")
	load := func(text string) (*krigo.CertifiedLabels, error) {
		must.Do(t, os.WriteFile(path, []byte(text), 0o600))
		p, sum, err := krigo.LoadLabels(path)
		must.Hold(t, err != nil || len(sum) == 64, "checksum %q", sum)
		return p, err
	}
	p := must.Get(load(string(text)))(t)
	must.Be(t, string(must.Get(json.Marshal(p))(t)), string(text))

	lines := strings.SplitAfter(rows, "\n")
	slices.Reverse(lines)
	again := func(text string) (l *pacbayes.Labelled, hashes []uint64, same bool) {
		l, hashes, same, err := p.Again(t.Context(), read(text))
		must.Do(t, err)
		return l, hashes, same
	}
	l, hashes, same := again(head + strings.Join(lines, ""))
	must.Hold(t, same && l.Classes[l.Truth[0]] == "b" && l.Predicted[1] != l.Truth[1] &&
		hashes[0] == hashes[3], "%v", l)
	// The hash of a row is the same beside a row of an unknown class, and without columns that aren't needed.
	l, more, same := again("p_b,p_a,kind,site\n.6,.4,zebra,x\n.8,.2,b,x\n")
	must.Hold(t, !same && l.Classes[l.Truth[0]] == "zebra" && l.Predicted[1] == l.Truth[1] &&
		more[1] == hashes[0], "%v", l)
	_, _, _, err := p.Again(t.Context(), read("kind,p_a\na,1\n"))
	must.Hold(t, err != nil && strings.Contains(err.Error(), "want two columns or more"), "%v", err)

	for _, forged := range [][2]string{{`"kind":"classes"`, `"kind":"numbers"`}, {`"version":1`, `"version":2`},
		{`"delta":0.01,"classes"`, `"delta":0.02,"classes"`}, {`{`, `[`},
		{`"target":"kind"`, `"target":""`}, {`"rows":90,"delta"`, `"rows":1099511627776,"delta"`}} {
		altered := strings.Replace(string(text), forged[0], forged[1], 1)
		must.Hold(t, altered != string(text), "%s isn't in the file", forged[0])
		must.Refuse(load(altered))(t, path)
	}
}

// TestLabelsClaim: a file whose counts contradict one another is refused before work that grows with them.
func TestLabelsClaim(t *testing.T) {
	read := must.Get(files.CSV{From: strings.NewReader("kind,p_a,p_b\n" + strings.Repeat("a,.9,.1\na,.4,.6\nb,.2,.8\n", 30)),
		As: dataset.Reading{}.Every()}.Read())(t)
	costs := &krigo.Costs{Classes: []string{"a", "b"}, Costs: [][]float64{{0, 1}, {2, 0}}}
	made := must.Get(krigo.CertifyLabels(t.Context(), read, krigo.LabelOptions{Target: "kind", Probabilities: "p_",
		Costs: costs, LabelTerms: pacbayes.LabelTerms{Statements: []string{"error", "brier", "calibration"}}}))(t)
	path := filepath.Join(t.TempDir(), "labels.json")
	for _, n := range []int{9_000_000, 1 << 40} {
		for _, matrix := range []bool{false, true} {
			c := *made.Certificate
			if c.Rows += n; matrix {
				c.Confusion = [][]int{{c.Confusion[0][0] + n, c.Confusion[0][1]}, c.Confusion[1]}
			}
			forged := *made
			forged.Certificate = &c
			must.Do(t, os.WriteFile(path, must.Get(json.Marshal(forged))(t), 0o600))
			begun := time.Now()
			_, _, err := krigo.LoadLabels(path)
			must.Hold(t, err != nil && time.Since(begun) <= time.Second,
				"%d rows: %v after %v", n, err, time.Since(begun))
		}
	}
}
