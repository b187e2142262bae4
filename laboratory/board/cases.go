package main

import (
	"compress/gzip"
	"encoding/csv"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// lab is the folder of the module laboratory, from which the board is run. Tests run in a subfolder and change it.
var lab = "."

// split holds the rows to fit and the rows to test. Each begins with the header. If test is empty, the figures are
// those that the fit prints about its certified rows.
type split struct{ train, test [][]string }

// job is a row of the board: a table, how krigo fits it, and the splits or seeds over which figures are averaged.
type job struct {
	name    string
	target  string
	kind    string // number, count or class
	runs    []int
	flags   []string
	inspect bool // fit with the command that krigo inspect prints
	seeded  bool // --seed is the number of the run
	all     bool // measure the sibling, which --deliver all trains on all rows
	limit   int  // CPU seconds that one command may take
	split   func(run int) (split, error)
}

// read returns the rows of a compressed table, with its header.
func read(name string) ([][]string, error) {
	text, err := unpacked(name)
	if err != nil {
		return nil, err
	}
	rows, err := csv.NewReader(strings.NewReader(text)).ReadAll()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return rows, nil
}

func unpacked(name string) (string, error) {
	f, err := os.Open(filepath.Join(lab, name))
	if err != nil {
		return "", err
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		return "", fmt.Errorf("%s: %w", name, err)
	}
	text, err := io.ReadAll(z)
	return string(text), err
}

// divide puts the rows for which held is true into the test part. Row 0 is the first row below the header.
func divide(rows [][]string, held func(row int) bool) split {
	s := split{train: rows[:1:1], test: rows[:1:1]}
	for i, row := range rows[1:] {
		if held(i) {
			s.test = append(s.test, row)
		} else {
			s.train = append(s.train, row)
		}
	}
	return s
}

// fold splits a table by the file NAME.fold.gz, which has the number of the fold in which each row is tested.
func fold(name string) func(int) (split, error) {
	return func(run int) (split, error) {
		rows, err := read("data/uci/" + name + ".csv.gz")
		if err != nil {
			return split{}, err
		}
		text, err := unpacked("data/uci/" + name + ".fold.gz")
		if err != nil {
			return split{}, err
		}
		folds := strings.Fields(text)
		if len(folds) != len(rows)-1 {
			return split{}, fmt.Errorf("%s has %d rows and %d folds", name, len(rows)-1, len(folds))
		}
		return divide(rows, func(i int) bool { return folds[i] == strconv.Itoa(run) }), nil
	}
}

// public splits a table by the file NAME.tests.gz, whose lines have the numbers of a split's test rows.
func public(name string) func(int) (split, error) {
	return func(run int) (split, error) {
		rows, err := read("data/splits/" + name + ".csv.gz")
		if err != nil {
			return split{}, err
		}
		text, err := unpacked("data/splits/" + name + ".tests.gz")
		if err != nil {
			return split{}, err
		}
		lines := strings.Split(strings.TrimSpace(text), "\n")
		if run >= len(lines) {
			return split{}, fmt.Errorf("%s has %d splits, not %d", name, len(lines), run+1)
		}
		held := strings.Fields(lines[run])
		return divide(rows, func(i int) bool { return slices.Contains(held, strconv.Itoa(i)) }), nil
	}
}

// fifth draws the test rows: one row in five. Rows without a target aren't tested.
func fifth(name, target string) func(int) (split, error) {
	return func(run int) (split, error) {
		rows, err := read(name)
		if err != nil {
			return split{}, err
		}
		order := rand.New(rand.NewPCG(uint64(run), 0)).Perm(len(rows) - 1)
		held := map[int]bool{}
		for _, i := range order[:len(order)/5] {
			held[i] = true
		}
		s := divide(rows, func(i int) bool { return held[i] })
		at := slices.Index(rows[0], target)
		s.test = slices.DeleteFunc(s.test, func(row []string) bool { return row[at] == "" || row[at] == "NA" })
		return s, nil
	}
}

// first tests the rows below the first n rows.
func first(name string, n int) func(int) (split, error) {
	return func(int) (split, error) {
		rows, err := read(name)
		return divide(rows, func(i int) bool { return i >= n }), err
	}
}

// pair reads the training part and the test part from two files.
func pair(train, test string) func(int) (split, error) {
	return func(int) (split, error) {
		a, err := read(train)
		if err != nil {
			return split{}, err
		}
		b, err := read(test)
		return split{train: a, test: b}, err
	}
}

// boston is README's main job: the whole table is fitted, and the certified rows are the test.
func boston(int) (split, error) {
	rows, err := read("../data/boston.csv.gz")
	return split{train: rows}, err
}

func to(n int) []int {
	runs := make([]int, n)
	for i := range runs {
		runs[i] = i
	}
	return runs
}

// jobs returns the rows of the whole board, in the order of the file. A job with the suffix " all" is the sibling.
func jobs() ([]job, error) {
	list := []job{{name: "boston", target: "MEDV", kind: "number", runs: to(8), seeded: true, split: boston}}
	siblings := map[string]int{}
	add := func(j job, all int) {
		list = append(list, j)
		siblings[j.name] = all
	}
	for _, name := range []string{"autos", "concreteslump", "machine", "servo", "stock"} {
		add(job{name: "uci/" + name, target: "y", kind: "number", runs: to(10), split: fold(name)}, 10)
	}
	splits := map[string]int{"boston": 10, "concrete": 5, "kin8nm": 1, "yacht": 10}
	for name, n := range splits {
		add(job{name: "split/" + name, target: "y", kind: "number", runs: to(n), split: public(name)}, n)
	}
	for name := range functions {
		add(job{name: "drawn/" + name, target: "y", kind: "number", runs: to(3), split: drawn(name)}, 3)
	}
	add(job{name: "large/kin40k", target: "y", kind: "number", runs: to(1), split: first("data/kin40k.csv.gz", 10000)}, 0)
	add(job{name: "large/bike", target: "cnt", kind: "number", runs: to(1), split: fifth("data/bike.csv.gz", "cnt")}, 0)
	for _, j := range discrete() {
		add(j, 0)
	}
	strangers, err := strangers()
	if err != nil {
		return nil, err
	}
	list = append(list, strangers...)
	for _, j := range slices.Clone(list) {
		if n := siblings[j.name]; n > 0 {
			j.name += " all"
			j.all = true
			j.runs = j.runs[:n]
			list = append(list, j)
		}
	}
	slices.SortFunc(list, func(a, b job) int { return strings.Compare(a.name, b.name) })
	return list, nil
}

// discrete returns the jobs of counts and classes.
func discrete() []job {
	noise := []string{"--noise", "negative-binomial"}
	list := []job{{name: "count/drawn", target: "y", split: drawnCounts}}
	for name, target := range map[string]string{"badhealth": "numvisit", "quine": "Days", "ships": "incidents"} {
		list = append(list, job{name: "count/" + name, target: target, split: fifth("data/counts/"+name+".csv.gz", target)})
	}
	for i := range list {
		list[i].kind = "count"
		list[i].flags = noise
	}
	label := func(name, target string, of func(int) (split, error)) {
		list = append(list, job{name: "class/" + name, target: target, kind: "class", split: of})
	}
	label("pima", "type", pair("data/classes/Pima.tr.csv.gz", "data/classes/Pima.te.csv.gz"))
	label("iris", "Species", fifth("data/classes/iris.csv.gz", "Species"))
	label("penguins", "species", fifth("data/classes/penguins.csv.gz", "species"))
	label("two_class_dat", "Class", fifth("data/classes/two_class_dat.csv.gz", "Class"))
	for i := range list {
		list[i].inspect = true
		list[i].runs = to(1)
	}
	return list
}

// strangers returns the jobs of tables as people have them. A command may take 120 CPU seconds.
func strangers() ([]job, error) {
	text, err := os.ReadFile(filepath.Join(lab, "data/strangers/sets.csv"))
	if err != nil {
		return nil, err
	}
	var list []job
	for _, line := range strings.Fields(string(text))[1:] {
		f := strings.Split(line, ",")
		of := fifth("data/strangers/"+f[0]+".csv.gz", f[1])
		list = append(list, job{name: "stranger/" + f[0], target: f[1], kind: f[2], runs: to(1), inspect: true,
			limit: 120, split: of})
	}
	return list, nil
}

// quick returns the short list for CI. Each run is a row of its own, so that no mean hides the main job.
func quick(list []job) []job {
	short := map[string][]int{"boston": {0, 1, 2}, "uci/servo": {0, 1}, "drawn/additive": {0}, "class/iris": {0},
		"count/quine": {0}, "stranger/airquality": {0}}
	var picked []job
	for _, j := range list {
		for _, run := range short[j.name] {
			one := j
			one.name = fmt.Sprintf("%s #%d", j.name, run)
			one.runs = []int{run}
			picked = append(picked, one)
		}
	}
	return picked
}
