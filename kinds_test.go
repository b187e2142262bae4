package krigo

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/internal/must"
	"github.com/krigo-gp/krigo/model"
)

// birds draws rows of two inputs and one of three species, which mostly follows from the angle of the inputs.
func birds(n int) *dataset.Table {
	rng := rand.New(rand.NewPCG(8, 3))
	t := dataset.Reading{}.New("birds")
	t.Names = []string{"x", "species", "z"}
	for range n {
		x, z := rng.NormFloat64(), rng.NormFloat64()
		third := int(math.Floor((math.Atan2(z, x)+math.Pi+0.2*rng.NormFloat64())/(2*math.Pi)*3)+3) % 3
		if err := t.Append([]string{fmt.Sprint(x), []string{"owl", "jay", "kea"}[third], fmt.Sprint(z)}); err != nil {
			panic(err)
		}
	}
	return t
}

// withSets returns the models with other scores, as a file has them.
func withSets(t *testing.T, all *Targets, s model.Sets) *Targets {
	of := *all
	of.Together.Sets = s
	var file bytes.Buffer
	must.Do(t, of.Write(&file))
	return must.Get(ReadTargets(&file))(t)
}

// TestKinds fits three classes, certifies the label, and goes through a file.
func TestKinds(t *testing.T) {
	table := birds(150)
	spread, o, err := Options{Data: Data{Target: "species"}, Kernel: Kernel{Expression: "se"},
		Run: Run{Restarts: 1}}.Kinds(table)
	if must.Do(t, err); len(o.Data.Beside) != 3 || o.Data.Beside[0] != "species=jay" {
		t.Fatalf("targets %q", o.Data.Beside)
	}
	all := must.Get(FitTargets(t.Context(), spread, o.Data.Beside, o))(t)
	c := all.Together.Certificate
	if c == nil || c.EmpiricalRisk > 0.2 || c.MeanBound > 0.45 ||
		!strings.Contains(all.Sentence(), "get a wrong label of species") ||
		all.Together.Parts != 1 || c.Delta != all.Together.Delta ||
		!strings.Contains(all.Sentence(), "Each of these holds by itself") {
		t.Fatalf("%+v: %s", c, all.Sentence())
	}
	path := filepath.Join(t.TempDir(), "m.krigo")
	must.Do(t, all.Save(path))
	again := must.Get(LoadTargets(path))(t)
	must.Do(t, again.CheckTogether(t.Context(), table))
	if r := must.Get(again.Model(1).Certify(t.Context(), table, CertifyOptions{}))(t); !r.Matches {
		t.Errorf("certified again: %+v", r)
	}
	fresh, wrong := birds(1000), 0 // the first rows are table's
	texts := fresh.Text[1]
	said, held := must.Get(again.PredictLabels(t.Context(), fresh, 0.9))(t), map[string]float64{}
	sets := said.Sets
	for i, p := range said.Predictions {
		total := 0.
		for _, v := range p.Probabilities {
			total += v
		}
		if math.Abs(total-1) > 1e-12 || len(p.Probabilities) != 3 {
			t.Fatalf("probabilities %v", p.Probabilities)
		}
		label := texts[int(fresh.Values[3*i+1])]
		if i >= table.Rows && p.Label != label {
			wrong++
		}
		if i >= table.Rows && slices.Contains(sets[i], label) {
			held[label] += 3. / float64(fresh.Rows-table.Rows)
		}
	}
	label := must.Get(again.Label())(t)
	further := *fresh
	further.Rows -= table.Rows
	further.Values = fresh.Values[3*table.Rows:]
	f := must.Get(label.CertifyFresh(t.Context(), &further))(t)
	must.Near(t, f.MeanRisk, float64(wrong)/850, 1e-12)
	must.Hold(t, f.Rows == 850 && f.Contradicts == nil &&
		strings.Contains(f.Sentence(&label.Model), "get a wrong label of species"),
		"fresh rows: %+v, %s", f, f.Sentence(&label.Model))
	one := must.Get(again.Extract("species=kea"))(t)
	alone := &Targets{model.Several{Models: []*model.Model{&one.Model}}}
	must.Be(t, len(alone.Classes()), 0, "one class alone has no others")
	must.Be(t, must.Get(alone.Label())(t).Target, "species=kea")
	for _, label := range again.Classes() {
		must.Hold(t, held[label] >= 0.8, "sets hold %g of the label %s", held[label], label)
	}
	must.Refuse(again.PredictLabels(t.Context(), fresh, 1))(t, "level 1")
	scores := again.Together.Sets
	must.Do(t, withSets(t, again, nil).CheckTogether(t.Context(), table)) // as files before sets
	must.Refuse(withSets(t, again, nil).PredictLabels(t.Context(), fresh, 0.9))(t, "no scores")
	altered := append(model.Sets{slices.Repeat([]float64{0}, len(scores[0]))}, scores[1:]...)
	must.Fail(t, withSets(t, again, altered).CheckTogether(t.Context(), table), "sets of labels differ")
	if wrong > 170 {
		t.Errorf("%d of 850 labels are wrong", wrong)
	}
	again.Together.Certificate.MeanBound -= 0.01
	must.Hold(t, again.CheckTogether(t.Context(), table) != nil, "another bound passes")
	k := dataset.Kinds{Column: "species", Labels: []string{"jay", "kea"}}
	if _, err := k.Spread(table); err == nil || !strings.Contains(err.Error(), "owl") {
		t.Errorf("a class that the model doesn't know: %v", err)
	}
}
