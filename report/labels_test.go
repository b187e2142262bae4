package report

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/krigo-gp/krigo"
	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/internal/cautious"
	"github.com/krigo-gp/krigo/internal/must"
)

// TestLabels: the page of a model of labels counts what the model predicts, and says nothing about residuals.
func TestLabels(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 9))
	table := dataset.Reading{}.New("flowers.csv")
	table.Names = []string{"x", "z", "kind"}
	for range 200 {
		x, z, kind := rng.NormFloat64(), rng.NormFloat64(), "<iris>"
		if z+0.5*rng.NormFloat64() > math.Sin(2*x) {
			kind = "rose"
		}
		must.Do(t, table.Append([]string{fmt.Sprint(x), fmt.Sprint(z), kind}))
	}
	m := must.Get(krigo.Fit(t.Context(), table, krigo.Options{Data: krigo.Data{Target: "kind", TestFraction: 0.3},
		Kernel: krigo.Kernel{Expression: "se"}, Run: krigo.Run{Restarts: 1}}))(t)
	r := must.Get(Page{Model: m, Data: table}.made(t.Context()))(t)
	l := r.main().labels(m.Classes)
	wrong := 0
	for i, p := range must.Get(m.Predict(t.Context(), table, krigo.PredictOptions{}))(t) {
		if at := slices.Index(r.main().rows, i); at >= 0 && p.Label != m.Classes[l.label[at]] {
			t.Errorf("row %d: %q, not %q", i, m.Classes[l.label[at]], p.Label)
		} else if at >= 0 && l.label[at] != l.truth[at] {
			wrong++
		}
	}
	n := len(l.truth)
	must.Be(t, n, m.Test.Rows)
	must.Be(t, cautious.Percent(float64(wrong)/float64(n)), cautious.Percent(m.Test.MeanRisk))
	glance := part(t, r, "glance")
	matrix, cell := glance.Tables[0], 0
	for i := range 2 {
		for j := range 2 {
			var c int
			must.Get(fmt.Sscan(matrix.Cells[i][j+1], &c))(t)
			if cell += c; i != j {
				wrong -= c
			}
		}
	}
	must.Hold(t, cell == n && wrong == 0 && matrix.Head[1] == "label <iris>",
		"%d rows: %v", n, matrix)
	rows := 0
	for _, cells := range figure(t, r, reliability).Cells {
		var c int
		must.Get(fmt.Sscan(cells[1], &c))(t)
		rows += c
	}
	must.Be(t, rows, n)
	sure := figure(t, r, answers).Cells
	must.Be(t, sure[len(sure)-1][2], cautious.Percent(m.Test.MeanRisk))
	scores := []string{r.Scores.Cells[0][2], r.Scores.Cells[0][4], r.Scores.Cells[0][5]}
	must.Be(t, strings.Join(scores, " "), cautious.Percent(m.Test.MeanRisk)+" "+number(m.Test.MSE)+" "+number(m.Test.NLPD))
	must.Be(t, part(t, r, "data").Tables[0].Cells[0][1], "2 categories")
	for _, s := range r.Sections {
		for _, f := range s.Figures {
			must.Hold(t, f.Failed == "" && !strings.Contains(f.Title+f.Caption, "esidual"),
				"%s: %s", f.Title, f.Failed)
		}
	}
	worst := part(t, r, "residuals").Tables[1]
	must.Hold(t, worst.Cells[0][1] != worst.Cells[0][2],
		"the worst row is right: %v", worst.Cells[0])
	must.Be(t, figure(t, r, "Along x").Failed, "")

	l.sure = slices.Repeat([]float64{0.99}, n) // far too sure
	must.Do(t, r.drawReliability(l, true))
	must.Hold(t, strings.Contains(r.Warnings[len(r.Warnings)-1], "expects 99.0 % of the labels"),
		"%q", r.Warnings)
	must.Do(t, r.drawAnswers(l)) // all rows have one probability
	must.Be(t, len(r.last().Figures[len(r.last().Figures)-1].Cells), 1)
}

// TestKinds: the page of more than two classes counts what the models predict together, with data and without.
func TestKinds(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 9))
	table := dataset.Reading{}.New("kinds.csv")
	table.Names = []string{"x", "kind"}
	for range 200 {
		x := 3 * rng.Float64()
		kind := []string{"a", "b", "c"}[min(max(int(x+0.3*rng.NormFloat64()), 0), 2)]
		must.Do(t, table.Append([]string{fmt.Sprint(x), kind}))
	}
	spread, o, err := krigo.Options{Data: krigo.Data{Target: "kind"}, Kernel: krigo.Kernel{Expression: "se"},
		Run: krigo.Run{Restarts: 1}}.Kinds(table)
	must.Do(t, err)
	all := must.Get(krigo.FitTargets(t.Context(), spread, o.Data.Beside, o))(t)
	label := must.Get(all.Label())(t)
	r := must.Get(Page{Model: label, Data: table}.made(t.Context()))(t)
	said, wrong := must.Get(all.PredictLabels(t.Context(), table, 0))(t), 0
	lost, rows := 0., r.main().rows
	for _, i := range rows {
		truth := int(table.Values[2*i+1]) // the place of the text in its column
		text := table.Text[1][truth]
		p := said.Predictions[i]
		if lost -= math.Log(p.Probabilities[slices.Index(said.Classes, text)]); p.Label != text {
			wrong++
		}
	}
	n := float64(len(rows))
	must.Hold(t, wrong != 0, "no label is wrong, so that nothing is counted")
	must.Be(t, strings.Join(r.Scores.Cells[0][1:], " "), cautious.Percent(float64(wrong)/n)+" "+number(lost/n))
	must.Be(t, cautious.Percent(all.Together.Certificate.EmpiricalRisk), r.Scores.Cells[0][1])
	for i, cells := range part(t, r, "glance").Tables[0].Cells {
		for j := range 3 {
			var c int
			must.Get(fmt.Sscan(cells[j+1], &c))(t)
			if i != j {
				wrong -= c
			}
		}
	}
	must.Be(t, wrong, 0)
	must.Be(t, figure(t, r, reliability).Failed+figure(t, r, answers).Failed, "")
	must.Hold(t, strings.HasPrefix(r.Standing, "recomputed") &&
		strings.Contains(r.Sentence, "wrong label of kind"), "%q", r.Sentence)
	r = must.Get(Page{Model: label}.made(t.Context()))(t)
	must.Hold(t, part(t, r, "glance").Missing != "" && len(r.Scores.Cells) == 0, "%+v", r.Scores)
	all.Together.Certificate.MeanBound -= 0.01
	must.Refuse(Page{Model: must.Get(all.Label())(t), Data: table}.made(t.Context()))(t, "don't rely on this file")
}

// TestCounts: the page shows what a model of counts predicts, and residuals by its own distribution.
func TestCounts(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 7))
	table := &dataset.Table{Source: "counts.csv", Names: []string{"x", "kind", "y"}}
	for range 150 {
		x, kind, y := rng.NormFloat64(), float64(rng.IntN(3)), -1.
		for left := math.Exp(1.5 + x); left > 0; left -= rng.ExpFloat64() {
			y++
		}
		table.Values, table.Rows = append(table.Values, x, kind, max(y, 0)), table.Rows+1
	}
	m := must.Get(krigo.Fit(t.Context(), table, krigo.Options{Data: krigo.Data{Target: "y"},
		Kernel: krigo.Kernel{Expression: "se", Noise: "poisson"}, Run: krigo.Run{Restarts: 1}}))(t)
	r := must.Get(Page{Model: m, Data: table}.made(t.Context()))(t)
	ps, s := must.Get(m.Predict(t.Context(), table, krigo.PredictOptions{}))(t), r.main()
	for i, row := range s.rows {
		want := ps[row].Mean
		must.Need(t, math.Abs(s.mean[i]-want) <= 1e-9*want,
			"row %d: %g, not %g", row, s.mean[i], want)
	}
	if got := s.within(1.96); got < 0.85 || math.Abs(got-m.Context.Coverage95) > 0.1 {
		t.Errorf("%g of the residuals lie within 1.96", got)
	}
	for k := range r.columns {
		at := r.sliceOf(k)
		for i, v := range at.mean {
			low, high := v-at.below[i], v+at.above[i]
			must.Need(t, 0 <= low+1e-5 && at.low[i] < v && v < at.high[i] && at.high[i] < high,
				"%d: %+v", i, at)
		}
	}
	must.Hold(t, strings.HasPrefix(part(t, r, "residuals").Note, countRule),
		"%s", part(t, r, "residuals").Note)
}
