package krigo_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/krigo-gp/krigo"
	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/dataset/files"
	"github.com/krigo-gp/krigo/internal/must"
	"github.com/krigo-gp/krigo/pacbayes"
)

// labelled returns a table of 60 labels, 3 of which are wrong, with probabilities. edit may change a row's text.
func labelled(t *testing.T, edit func(row int, text string) string) *dataset.Table {
	var text strings.Builder
	fmt.Fprintln(&text, "kind,prediction,p_cat,p_dog,sure,site")
	for i := range 60 {
		truth, p := "cat", 0.9
		if i%2 == 0 {
			truth, p = "dog", 0.2
		}
		label := truth
		if i < 3 {
			label, p = map[string]string{"cat": "dog", "dog": "cat"}[truth], 1-p
		}
		row := fmt.Sprintf("%s,%s,%.1f,%.1f,%d,s%d", truth, label, p, 1-p, i, i%2)
		if edit != nil {
			row = edit(i, row)
		}
		fmt.Fprintln(&text, row)
	}
	return must.Get(files.CSV{From: strings.NewReader(text.String()), Source: "labels.csv"}.Read())(t)
}

// TestCertifyLabels: the bound is the binomial bound, parts of δ are equal, and sentences round to the cautious side.
func TestCertifyLabels(t *testing.T) {
	p := must.Get(krigo.CertifyLabels(t.Context(), labelled(t, nil), krigo.LabelOptions{Target: "kind",
		Prediction: "prediction"}))(t)
	s := p.Certificate.Statements[0]
	must.Be(t, s.Bound, pacbayes.ClopperPearson(3, 60, 0.01))
	must.Be(t, p.Sentence, "With 99 % confidence (over the draw of the certified rows), at most 15.8 % of further "+
		"rows get a wrong label. It is 5.0 % on the 60 certified rows.")
	q := must.Get(krigo.CertifyLabels(t.Context(), labelled(t, nil),
		krigo.LabelOptions{Target: "kind", Probabilities: "p_",
			SliceBy: "site", LabelTerms: pacbayes.LabelTerms{AtMostWrong: 0.3, Recall: 0.5, Positive: "dog",
				Statements: []string{"error", "classes", "top-1", "brier"}}}))(t)
	c := q.Certificate
	must.Be(t, fmt.Sprint(c.Confusion, c.Selective.Answered, c.Detection.Missed), "[[29 1] [2 28]] 60 2")
	must.Be(t, c.Statements[0].Bound, pacbayes.ClopperPearson(3, 60, 0.01/7))
	must.Be(t, c.Statements[2].Bound, pacbayes.ClopperPearson(2, 30, 0.01/14))
	must.Hold(t, p.Hash != q.Hash, "the hash doesn't hold the probabilities")
	for _, want := range []string{"all of these hold together", "\"dog\": ",
		"get an answer, and at most 30 % of these answers"} {
		must.Hold(t, strings.Contains(q.Sentence, want), "%s\nlacks %q", q.Sentence, want)
	}
	g := must.Get(krigo.CertifyLabels(t.Context(), labelled(t, func(i int, row string) string {
		return row[:strings.LastIndex(row, "s")] + fmt.Sprint("s", i/2)
	}), krigo.LabelOptions{Target: "kind", Prediction: "prediction", Group: "site"}))(t)
	must.Be(t, g.Certificate.Statements[0].Rows, 30)
}

// TestLabelsRefused: an error names the row, the column and the option.
func TestLabelsRefused(t *testing.T) {
	swap := func(old, new string) func(int, string) string {
		return func(i int, row string) string {
			if i == 5 {
				return strings.Replace(row, old, new, 1)
			}
			return row
		}
	}
	terms := func(statements ...string) pacbayes.LabelTerms { return pacbayes.LabelTerms{Statements: statements} }
	for want, c := range map[string]struct {
		edit func(int, string) string
		o    krigo.LabelOptions
	}{
		`line 7 (row 6), column 3 ("p_cat"): column "p_cat" (probabilities): the row's probabilities add up to 0.8`: {
			swap("0.9", "0.7"), krigo.LabelOptions{Probabilities: "p_"}},
		`1.9 isn't a probability`:     {swap("0.9", "1.9"), krigo.LabelOptions{Probabilities: "p_"}},
		`isn't a number`:              {swap("0.9", "high"), krigo.LabelOptions{Probabilities: "p_"}},
		`the class "cow" has no`:      {swap("cat", "cow"), krigo.LabelOptions{Probabilities: "p_"}},
		`the cell is missing`:         {swap("cat", ""), krigo.LabelOptions{Prediction: "prediction"}},
		`none of its labels`:          {nil, krigo.LabelOptions{Prediction: "sure"}},
		`statements: "eror"`:          {nil, krigo.LabelOptions{Prediction: "prediction", LabelTerms: terms("eror")}},
		`top-2 needs the probability`: {nil, krigo.LabelOptions{Prediction: "prediction", LabelTerms: terms("top-2")}},
		`costs needs costs`:           {nil, krigo.LabelOptions{Prediction: "prediction", LabelTerms: terms("costs")}},
		`rows of a group depend`: {nil,
			krigo.LabelOptions{Prediction: "prediction", Group: "site", LabelTerms: terms("classes")}},
		`keep one row of each group`: {nil, krigo.LabelOptions{Prediction: "prediction", Score: "sure", Group: "site",
			LabelTerms: pacbayes.LabelTerms{AtMostWrong: 0.1}}},
		`no such class`: {nil, krigo.LabelOptions{Probabilities: "p_",
			LabelTerms: pacbayes.LabelTerms{Recall: 0.9, Positive: "cow"}}},
		`"cat" and "cаt" look the same: their characters are [U+0063 U+0061 U+0074] and [U+0063 U+0430 U+0074]`: {
			swap("cat", "cаt"), krigo.LabelOptions{Prediction: "prediction"}},
		`delta 0.999999: want a probability between 0 and 0.5`: {nil, krigo.LabelOptions{Prediction: "prediction",
			LabelTerms: pacbayes.LabelTerms{Delta: 0.999999}}},
		`60 different values`: {nil, krigo.LabelOptions{Prediction: "prediction", SliceBy: "sure"}},
	} {
		c.o.Target = "kind"
		must.Refuse(krigo.CertifyLabels(t.Context(), labelled(t, c.edit), c.o))(t, want)
	}
}

// TestRoundedProbabilities: probabilities of three decimals may add up to .999, whatever float64 makes of the sum.
func TestRoundedProbabilities(t *testing.T) {
	table := labelled(t, func(_ int, row string) string {
		return strings.NewReplacer(",0.9,0.1,", ",0.898,0.101,", ",0.2,0.8,", ",0.202,0.797,").Replace(row)
	})
	must.Get(krigo.CertifyLabels(t.Context(), table, krigo.LabelOptions{Target: "kind", Probabilities: "p_"}))(t)
}

// TestCopiesOfLabels: rows that equal earlier rows are named, and a table that consists of copies of itself is refused, in any
// order. Pairs of labels that come again by chance are neither.
func TestCopiesOfLabels(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	var rows, pairs []string
	for range 60 {
		pair := fmt.Sprintf("%c,%c", 'a'+rng.IntN(2), 'a'+rng.IntN(2))
		pairs = append(pairs, pair)
		rows = append(rows, fmt.Sprintf("%s,%v", pair, rng.Float64()))
	}
	certify := func(head string, rows []string) (*krigo.CertifiedLabels, error) {
		text := head + "\n" + strings.Join(rows, "\n") + "\n"
		table := must.Get(files.CSV{From: strings.NewReader(text), Source: "l.csv"}.Read())(t)
		return krigo.CertifyLabels(t.Context(), table, krigo.LabelOptions{Target: "kind", Prediction: "prediction"})
	}
	must.Be(t, must.Get(certify("kind,prediction", pairs))(t).Certificate.Copies, 0)
	must.Be(t, must.Get(certify("kind,prediction,x", rows))(t).Certificate.Copies, 0)
	p := must.Get(certify("kind,prediction,x", slices.Concat(rows, rows[:7])))(t)
	must.Hold(t, p.Certificate.Copies == 7 &&
		strings.Contains(p.Sentence, "7 of the 67 certified rows equal an earlier row"),
		"%s", p.Sentence)
	ten := slices.Repeat(rows, 10)
	rng.Shuffle(len(ten), func(i, j int) { ten[i], ten[j] = ten[j], ten[i] })
	must.Refuse(certify("kind,prediction,x", ten))(t, "its 600 rows are 10 copies of 60 rows")
}
