package main

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/krigo-gp/krigo"
)

func TestMain(m *testing.M) {
	lab = ".."
	os.Exit(m.Run())
}

func boards(old, now scores) (file, file) {
	a := file{Defaults: 3, Tables: []row{{Table: "boston", Runs: 1, Figures: old}}}
	b := file{Defaults: 3, Tables: []row{{Table: "boston", Runs: 1, Figures: now}}}
	return a, b
}

// TestCompare shows which differences fail, for another commit's program and for this checkout's.
func TestCompare(t *testing.T) {
	base := scores{"rmse": .5, "nlpd": -.2, "coverage": .95, "cpu": 40, "memory_mib": 50}
	for _, c := range []struct {
		measure    string
		value      float64
		other, own bool
	}{
		{"rmse", .5, false, false},
		{"rmse", .5 * 1.029, false, true}, // this checkout's errors changed, and the version of the defaults didn't
		{"rmse", .5 * 1.031, true, true},
		{"rmse", .5 * 1.009, false, false},
		{"rmse", .5 * .95, false, true},
		{"nlpd", -.2 + .029, false, true},
		{"nlpd", -.2 + .031, true, true},
		{"coverage", .985, true, true},
		{"coverage", .925, false, false},
		{"cpu", 40 * 1.29, false, false},
		{"cpu", 40 * 1.31, true, true},
		{"cpu", 20, false, false},
		{"memory_mib", 100, false, false},
		{"nlpd", math.NaN(), true, true}, // the figure is gone
	} {
		now := scores{}
		for name, v := range base {
			now[name] = v
		}
		now[c.measure] = c.value
		if math.IsNaN(c.value) {
			delete(now, c.measure)
		}
		old, fresh := boards(base, now)
		var said strings.Builder
		if fails := compare(&said, old, fresh, false); len(fails) > 0 != c.other {
			t.Errorf("%s %g, another program: %q", c.measure, c.value, fails)
		}
		if fails := compare(&said, old, fresh, true); len(fails) > 0 != c.own {
			t.Errorf("%s %g, this checkout: %q", c.measure, c.value, fails)
		}
	}
}

// TestShortFits: a third of a second more isn't 30 % more of a short fit.
func TestShortFits(t *testing.T) {
	old, now := boards(scores{"cpu": 1}, scores{"cpu": 1.9})
	if fails := compare(&strings.Builder{}, old, now, true); len(fails) > 0 {
		t.Error(fails)
	}
}

// TestMachines: CPU time of another machine, compiler or instruction set isn't compared.
func TestMachines(t *testing.T) {
	old, now := boards(scores{"cpu": 10}, scores{"cpu": 60})
	now.Machine = "EPYC, 2 cores, krigo (numeric core portable)"
	var said strings.Builder
	if fails := compare(&said, old, now, true); len(fails) > 0 || !strings.Contains(said.String(), "portable") {
		t.Error(fails, said.String())
	}
}

// TestLost: an answer that is lost fails and says why. An answer that is won doesn't fail another program's board.
func TestLost(t *testing.T) {
	old, now := boards(scores{"rmse": .5}, scores{})
	now.Tables[0].Lost = 1
	now.Tables[0].Reason = "fit: no memory"
	var said strings.Builder
	if fails := compare(&said, old, now, false); len(fails) != 1 || !strings.Contains(fails[0], "no memory") {
		t.Error(fails)
	}
	if fails := compare(&said, now, old, false); len(fails) > 0 {
		t.Error(fails)
	}
}

// TestMerge: rows that are recorded one by one are all there at the end.
func TestMerge(t *testing.T) {
	var old, now file
	now.Tables = make([]row, 0, 8)
	for _, name := range []string{"b", "d", "c", "a"} {
		now.Tables = append(now.Tables, row{Table: name})
		old = old.merge(now)
	}
	now.Tables = now.Tables[:0:8]
	for _, name := range []string{"f", "e"} {
		now.Tables = append(now.Tables, row{Table: name})
		old = old.merge(now)
	}
	names := ""
	for _, r := range old.Tables {
		names += r.Table
	}
	if names != "abcdef" {
		t.Errorf("%q", names)
	}
}

// TestMissing: a table that the board no longer runs fails, and so does a promise that is kept less often.
func TestMissing(t *testing.T) {
	old, now := boards(scores{"kept": 1, "promised": .9}, scores{"kept": .8, "promised": .9})
	if fails := compare(&strings.Builder{}, old, now, true); len(fails) != 1 {
		t.Error(fails)
	}
	now.Tables = nil
	if fails := missing(old, now); len(fails) != 1 {
		t.Error(fails)
	}
}

// TestBuilt: the version of krigo isn't a part of the machine.
func TestBuilt(t *testing.T) {
	for _, version := range []string{"krigo (devel) (go1.26.8, linux/amd64, numeric core avx2)\n",
		"krigo v0.0.0-2026 (go1.26.8, linux/amd64, numeric core avx2)"} {
		if got := built(version); got != "go1.26.8, linux/amd64, numeric core avx2" {
			t.Errorf("%q", got)
		}
	}
}

// TestVersion: a file of other defaults fails, whatever its figures.
func TestVersion(t *testing.T) {
	old, now := boards(scores{"rmse": .5}, scores{"rmse": .5})
	now.Defaults = 4
	if fails := compare(&strings.Builder{}, old, now, true); len(fails) != 1 {
		t.Error(fails)
	}
}

func TestClaims(t *testing.T) {
	at := func(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }
	list := claims([]line{
		{"start 1 of 6: iteration 3, objective 152.67; about 10s left", at(0)},
		{"start 2 of 6: iteration 4, objective 138; about 1m20s left", at(10)},
		{"start 3 of 6: iteration 9, objective 142; at most 6h50m left", at(15)},
		{"no space left", at(16)},
		{"start 6 of 6; about 1s left", at(19)},
	}, at(20))
	want := []claim{{at(10), at(20)}, {at(80), at(10)}, {at(24600), at(5)}}
	if !slices.Equal(list, want) {
		t.Fatal(list)
	}
	if !list[0].holds() || list[1].holds() {
		t.Error("10 s of 20 s are within a factor of two, 80 s of 10 s aren't")
	}
}

// TestSplits reads the splits of every job, and shows that no row is both fitted and tested.
func TestSplits(t *testing.T) {
	list, err := jobs()
	if err != nil {
		t.Fatal(err)
	}
	for _, j := range list {
		s, err := j.split(j.runs[len(j.runs)-1])
		if err != nil {
			t.Errorf("%s: %v", j.name, err)
			continue
		}
		if column(s.train, j.target) == nil || len(s.train) < 20 {
			t.Errorf("%s: %d rows to fit, with the columns %v", j.name, len(s.train)-1, s.train[0])
		}
		if len(s.test) < 2 && j.name != "boston" {
			t.Errorf("%s: %d rows to test", j.name, len(s.test)-1)
		}
	}
	s, err := fold("servo")(3)
	if err != nil || len(s.train)+len(s.test) != 167+2 || len(s.test) != 17+1 {
		t.Errorf("servo: %d rows to fit and %d to test, %v", len(s.train)-1, len(s.test)-1, err)
	}
	if len(quick(list)) != 9 {
		t.Errorf("the quick board has %d rows", len(quick(list)))
	}
}

// TestFile: a file that is written reads the same, and rows that aren't measured again keep their commit.
func TestFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "board.json")
	old, now := boards(scores{"rmse": .5}, scores{"rmse": .4})
	old.Commit = "a"
	now.Commit = "b"
	now.Tables[0].Table = "yacht"
	if err := old.merge(now).save(path); err != nil {
		t.Fatal(err)
	}
	got, err := load(path)
	if err != nil || len(got.Tables) != 2 || got.Tables[0].Commit != "a" || got.Tables[1].Commit != "" {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestPromise(t *testing.T) {
	var f fitted
	text := `{"certificate": {"mean_bound": 0.2, "epsilon_raw": 6, "curve": {"points": [
		{"half_width_raw": 2, "bound": 0.4}, {"half_width_raw": 7, "bound": 0.11}, {"half_width_raw": 9, "bound": 0.05}]}}}`
	if err := json.Unmarshal([]byte(text), &f); err != nil {
		t.Fatal(err)
	}
	if width, share := f.promise(); width != 7 || math.Abs(share-.89) > 1e-12 {
		t.Errorf("%g within %g", share, width)
	}
}

func TestScores(t *testing.T) {
	var f fitted
	f.Test.MSE = 4
	f.Test.RMSE = 2
	f.Test.NLPD = .5
	predicted := [][]string{{"mean", "lower95", "upper95"}, {"1", "0", "2"}, {"3", "2", "4"}}
	s := numberScores(f, predicted, []float64{1, 5}, 2, "number")
	if math.Abs(s["rmse"]-1/math.Sqrt2) > 1e-12 || s["coverage"] != .5 || math.Abs(s["nlpd"]-.5+math.Ln2) > 1e-12 {
		t.Error(s)
	}
	labels := [][]string{{"label", "probability_a", "probability_b"}, {"a", ".8", ".2"}, {"a", ".6", ".4"}}
	s = classScores(f, labels, []string{"a", "b"})
	if s["error"] != .5 || math.Abs(s["nlpd"]+math.Log(.8*.4)/2) > 1e-12 {
		t.Error(s)
	}
}

func TestSuggested(t *testing.T) {
	text := "Fit it:\n\nkrigo fit train.csv --target y\nkrigo fit train.csv --target y --ignore 'row names'\n"
	if words := suggested(text); words != "fit train.csv --target y --ignore 'row names'" {
		t.Error(words)
	}
}

// TestRecorded: the quick board's file has the rows that the quick board measures, for these defaults.
func TestRecorded(t *testing.T) {
	f, err := load("../results/board-quick.json")
	if err != nil {
		t.Fatal(err)
	}
	list, err := jobs()
	if err != nil {
		t.Fatal(err)
	}
	for _, j := range quick(list) {
		if !slices.ContainsFunc(f.Tables, func(r row) bool { return r.Table == j.name && r.Lost == 0 }) {
			t.Errorf("no figures of %s: go run ./board --quick --record", j.name)
		}
	}
	var known map[string]struct{ Version int }
	raw, err := os.ReadFile("../results/measures.json")
	if err == nil {
		err = json.Unmarshal(raw, &known)
	}
	if err != nil {
		t.Fatal(err)
	}
	if f.Defaults != krigo.DefaultsVersion || known["default"].Version != krigo.DefaultsVersion {
		t.Errorf("krigo.DefaultsVersion is %d, in board-quick.json %d, and in measures.json %d", krigo.DefaultsVersion,
			f.Defaults, known["default"].Version)
	}
}

// TestPages: the tables of pages are those of the files.
func TestPages(t *testing.T) {
	for _, p := range pages {
		text, fresh, err := page(p.path, p.table)
		if err != nil || text != fresh {
			t.Errorf("%s isn't what the files say (%v): go run ./board --pages", p.path, err)
		}
	}
}
