package krigo_test

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/krigo-gp/krigo"
	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/dataset/files"
	"github.com/krigo-gp/krigo/internal/must"
	"github.com/krigo-gp/krigo/model"
)

// threeTargets returns a table of two inputs and three targets, some of them missing, in a random order of rows.
func threeTargets(t *testing.T, shuffle uint64) *dataset.Table {
	t.Helper()
	rng := rand.New(rand.NewPCG(7, 0))
	lines := make([]string, 150)
	for i := range lines {
		x, z, e := 4*rng.Float64(), rng.Float64(), 0.2*rng.NormFloat64()
		cells := []string{fmt.Sprint(x), fmt.Sprint(z), fmt.Sprint(math.Sin(x) + e), fmt.Sprint(50 * (z - e)),
			fmt.Sprint(x*z + e)}
		if i%7 == 0 {
			cells[3] = ""
		}
		if i%11 == 3 || i == 42 {
			cells[4] = ""
		}
		if i == 42 { // a row without any target has no role
			cells[2], cells[3] = "", ""
		}
		lines[i] = strings.Join(cells, ",")
	}
	rand.New(rand.NewPCG(shuffle, 0)).Shuffle(len(lines), func(i, j int) { lines[i], lines[j] = lines[j], lines[i] })
	text := "x,z,a,b,\"c,1\"\n" + strings.Join(lines, "\n") + "\n"
	return must.Get(files.CSV{From: strings.NewReader(text), Source: "three.csv"}.Read())(t)
}

// TestTargets: a row has the same role for every target. A file keeps the models and what is certified of all, from
// rows in any order.
func TestTargets(t *testing.T) {
	table, o := threeTargets(t, 1), krigo.Options{
		Kernel:  krigo.Kernel{Expression: "se"},
		Method:  krigo.Method{Name: "evidence"},
		Prior:   krigo.Prior{Kind: "informed"},
		Promise: krigo.Promise{Delta: 0.2, Curve: true},
		Run:     krigo.Run{Restarts: 1},
	}
	names := must.Get(krigo.SplitTargets(`a,b,"c,1"`, table.Names))(t)
	all := must.Get(krigo.FitTargets(t.Context(), table, names, o))(t)
	must.Be(t, all.Together.Parts, 4)
	roles := map[int][]dataset.Role{}
	for i, m := range all.Models {
		must.Be(t, m.Target, names[i])
		must.Be(t, slices.Equal(m.Inputs, []string{"x", "z"}), true, m.Inputs)
		must.Be(t, m.Certificate.Delta, 0.05)
		must.Be(t, m.Dealt.Sum(), 149)
		d := must.Get(m.Labelled(table))(t)
		of := must.Get(m.RolesOf(d))(t)
		for row, role := range of.Of {
			roles[d.InFile(row)] = append(roles[d.InFile(row)], role)
		}
	}
	must.Be(t, len(roles), 149)
	both := 0
	for row, of := range roles {
		must.Be(t, len(slices.Compact(of)), 1, row, of)
		if len(of) == 3 && of[0] == dataset.Certified {
			both++
		}
	}
	c := all.Together.Certificate
	must.Be(t, c.Rows, both)
	must.Be(t, c.MeanBound >= all.Models[0].Certificate.MeanBound, true)

	var file bytes.Buffer
	must.Do(t, all.Write(&file))
	again := must.Get(krigo.ReadTargets(bytes.NewReader(file.Bytes())))(t)
	other := threeTargets(t, 2)
	must.Do(t, again.CheckTogether(t.Context(), other))
	must.Be(t, again.Sentence(), all.Sentence())
	b := must.Get(again.Extract("b"))(t)
	if _, differs, err := b.Refit(t.Context(), other, nil); err != nil || differs != "" {
		t.Errorf("fitting again: %q, %v", differs, err)
	}
	must.Refuse(again.Extract("d"))(t, "no such target")
	must.Refuse(krigo.Read(bytes.NewReader(file.Bytes())))(t, "krigo extract FILE --target NAME")
	without := must.Get(files.CSV{From: strings.NewReader("x,z,b\n1,1,1\n2,2,2\n3,1,2\n"), Source: "b.csv"}.Read())(t)
	must.Refuse(certify(b, without))(t, `no column "a" for a target of the same fit`)
	if fresh, err := b.CertifyFresh(t.Context(), without); err != nil || fresh.Rows != 3 {
		t.Errorf("fresh rows need only the model's own target: %v", err)
	}

	// What the file says of all targets together can't be altered.
	again.Together.Units[1] *= 0.5
	must.Fail(t, again.CheckTogether(t.Context(), table), "its units")
	again = must.Get(krigo.ReadTargets(bytes.NewReader(file.Bytes())))(t)
	again.Together.Certificate.MeanBound *= 0.9
	must.Fail(t, again.CheckTogether(t.Context(), table), "mean_bound")
	for what, forge := range map[string]func(s *model.Several){
		"more δ":         func(s *model.Several) { s.Together.Parts = 3 },
		"other δ":        func(s *model.Several) { s.Together.Delta = 0.1 },
		"another order":  func(s *model.Several) { slices.Reverse(s.Models) },
		"a model twice":  func(s *model.Several) { s.Models[1] = s.Models[0] },
		"units too few":  func(s *model.Several) { s.Together.Units = s.Together.Units[1:] },
		"a unit below 0": func(s *model.Several) { s.Together.Units[0] = -1 },
	} {
		s := must.Get(model.ReadSeveral(bytes.NewReader(file.Bytes())))(t)
		forge(s)
		var forged bytes.Buffer
		must.Do(t, s.Write(&forged))
		must.Refuse(model.ReadSeveral(&forged))(t, "the file was altered", what)
	}
	for _, n := range []int{9, 40, file.Len() / 2, file.Len() - 1} {
		if _, err := model.ReadSeveral(bytes.NewReader(file.Bytes()[:n])); err == nil {
			t.Errorf("%d bytes are read as a file", n)
		}
	}
}

// TestTargetsRefused has what a fit of several targets can't do.
func TestTargetsRefused(t *testing.T) {
	table := threeTargets(t, 1)
	identity := dataset.Identity(2)
	for words, o := range map[string]krigo.Data{
		"no target is an input of another":     {Inputs: []string{"x", "b"}},
		"that column is a target":              {Group: "b"},
		"--duplicates drop":                    {Group: dataset.EqualRows},
		"name a size":                          {Group: "block:x:auto"},
		"declared constants are of one target": {Scaling: dataset.Declared, Declared: &identity},
	} {
		must.Refuse(krigo.FitTargets(t.Context(), table, []string{"a", "b"}, krigo.Options{Data: o}))(t, words)
	}
	must.Refuse(krigo.FitTargets(t.Context(), table, []string{"a", "b"}, krigo.Options{
		Run: krigo.Run{Deliver: "all"},
	}))(t,
		"fit each target alone")
	must.Refuse(krigo.FitTargets(t.Context(), table, []string{"a", "a"}, krigo.Options{}))(t, "listed twice")
	must.Refuse(krigo.FitTargets(t.Context(), table, []string{"a"}, krigo.Options{}))(t, "at least two")
	for text, want := range map[string][]string{"a": {"a"}, "c,1": {"c,1"}, `a,"c,1"`: {"a", "c,1"}, "a, b": {"a", "b"}} {
		must.Be(t, slices.Equal(must.Get(krigo.SplitTargets(text, table.Names))(t), want), true, text)
	}
	// Without a direct bound δ has a part for each target, and none for all together.
	o := cheap(krigo.Options{
		Data:   krigo.Data{Ignore: []string{"c,1"}},
		Kernel: krigo.Kernel{Expression: "se"},
		Method: krigo.Method{Name: "evidence"},
		Prior:  krigo.Prior{Kind: "grid"},
	})
	all := must.Get(krigo.FitTargets(t.Context(), table, []string{"a", "b"}, o))(t)
	must.Be(t, all.Together.Parts, 2)
	must.Be(t, strings.Contains(all.Sentence(), "Nothing is certified of a and b at once"), true, all.Sentence())
}

// TestTargetsAreNoTies: a target with few values doesn't tie the rows of another target, since nobody knows it of
// further rows. The same column ties them if it is no target.
func TestTargetsAreNoTies(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	text := "x,a,b\n"
	for range 240 {
		x, b := rng.Float64(), rng.IntN(12)
		text += fmt.Sprintf("%v,%v,%d\n", x, x+math.Sin(float64(b*b))+0.05*rng.NormFloat64(), b)
	}
	table := must.Get(files.CSV{From: strings.NewReader(text), Source: "two.csv"}.Read())(t)
	o := krigo.Options{
		Data:    krigo.Data{Target: "a"},
		Kernel:  krigo.Kernel{Expression: "se"},
		Method:  krigo.Method{Name: "evidence"},
		Prior:   krigo.Prior{Kind: "informed"},
		Promise: krigo.Promise{Curve: true},
		Run:     krigo.Run{Restarts: 1},
	}
	o.Data.Inputs = []string{"x"}
	m := must.Get(krigo.Fit(t.Context(), table, o))(t)
	must.Hold(t, strings.Contains(m.Sentence(m.Certificate), "whose b occurred"),
		"%s", m.Sentence(m.Certificate))
	all := must.Get(krigo.FitTargets(t.Context(), table, []string{"a", "b"}, o))(t)
	must.Hold(t, len(all.Models[0].Ties) == 0 && !strings.Contains(all.Sentence(), "occurred"),
		"%s", all.Sentence())
}
