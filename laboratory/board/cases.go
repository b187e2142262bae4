package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

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
