package main

import (
	"bytes"
	"compress/gzip"
	"encoding/csv"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/krigo-gp/krigo"
)

// The kinds of tables for tiesFound.
const (
	tiedSets   = "groups"      // a third of the groups is held out
	untiedSets = "uci"         // no ties are known
	freeTables = "independent" // simulated rows
	tiedTables = "tied"        // simulated rows with a label that ties them
)

var tieKinds = []string{tiedSets, untiedSets, freeTables, tiedTables}

const (
	tieSeeds  = 3
	tieTables = 200 // simulated tables of each kind
	label     = "label"
)

// A tieTable is a table of text cells, with its target last. group ties its rows, and is "" if no tie is known.
type tieTable struct {
	kind, name  string
	names       []string
	rows        [][]string
	group       string
	held        [][]string // rows of held-out groups
	trainGroups int
}

// csv writes rows as CSV.
func (t tieTable) csv(rows [][]string) []byte {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	_ = w.Write(t.names) // writing to a buffer can't fail
	_ = w.WriteAll(rows)
	return b.Bytes()
}

func (t tieTable) write(path string) error { return os.WriteFile(path, t.csv(t.rows), 0o644) }

func (t tieTable) target() string { return t.names[len(t.names)-1] }

var errNoTies = &krigo.UsageError{Err: fmt.Errorf("ties needs --data with a folder that has groups/sets.csv and uci/, or "+
	"--sets %s,%s", freeTables, tiedTables)}

// tieTables returns the tables that env asks for, in the order of the output.
func (e Env) tieTables() (all []tieTable, err error) {
	asked := func(kind string) bool { return e.Sets == nil || slices.Contains(e.Sets, kind) }
	if e.Data == "" && (asked(tiedSets) || asked(untiedSets)) {
		return nil, errNoTies
	}
	if asked(tiedSets) {
		sets, err := readCells(filepath.Join(e.Data, "groups", "sets.csv"))
		if err != nil {
			return nil, err
		}
		for _, s := range sets[1:] { // columns: set, rows, target, group, number of groups
			rows, err := readCells(filepath.Join(e.Data, "groups", s[0]+".csv.gz"))
			if err != nil {
				return nil, err
			}
			t, err := newTieTable(tiedSets, s[0], rows, s[2])
			if err != nil {
				return nil, err
			}
			for seed := range tieSeeds {
				all = append(all, t.holdOut(s[3], uint64(seed)))
			}
		}
	}
	if asked(untiedSets) {
		paths, err := filepath.Glob(filepath.Join(e.Data, "uci", "*.csv.gz"))
		if err != nil || len(paths) == 0 {
			return nil, fmt.Errorf("%s: found no tables (%w)", filepath.Join(e.Data, "uci"), err)
		}
		for _, path := range paths {
			rows, err := readCells(path)
			if err != nil {
				return nil, err
			}
			name, last := strings.TrimSuffix(filepath.Base(path), ".csv.gz"), rows[0][len(rows[0])-1]
			t, err := newTieTable(untiedSets, name, rows, last)
			if err != nil {
				return nil, err
			}
			all = append(all, t)
		}
	}
	for _, kind := range []string{freeTables, tiedTables} {
		for number := range e.reps(tieTables) {
			if asked(kind) {
				all = append(all, simulatedTies(kind, number))
			}
		}
	}
	return all, nil
}

// readCells reads a CSV file, gzip-compressed or not.
func readCells(path string) ([][]string, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	if !strings.HasSuffix(path, ".gz") {
		return csv.NewReader(file).ReadAll()
	}
	packed, err := gzip.NewReader(file)
	if err != nil {
		return nil, err
	}
	return csv.NewReader(packed).ReadAll()
}

// newTieTable keeps the rows with a target, and makes the target the last column.
func newTieTable(kind, name string, rows [][]string, target string) (t tieTable, err error) {
	t.kind, t.name = kind, name
	at := slices.Index(rows[0], target)
	if at < 0 {
		return t, fmt.Errorf("%s has no column %s", name, target)
	}
	for i, row := range rows {
		row = append(slices.Delete(slices.Clone(row), at, at+1), row[at])
		switch y := row[len(row)-1]; {
		case i == 0:
			t.names = row
		case y != "" && y != "NA":
			t.rows = append(t.rows, row)
		}
	}
	return t, nil
}

// holdOut holds out a third of the groups.
func (t tieTable) holdOut(group string, seed uint64) tieTable {
	column := slices.Index(t.names, group)
	var groups []string
	for _, row := range t.rows {
		if !slices.Contains(groups, row[column]) {
			groups = append(groups, row[column])
		}
	}
	rng := rand.New(rand.NewPCG(seed, 0x74696573))
	rng.Shuffle(len(groups), func(i, j int) { groups[i], groups[j] = groups[j], groups[i] })
	out := groups[:max(1, len(groups)/3)]
	held := t
	held.name, held.group, held.rows = fmt.Sprintf("%s-%d", t.name, seed), group, nil
	held.trainGroups = len(groups) - len(out)
	for _, row := range t.rows {
		if slices.Contains(out, row[column]) {
			held.held = append(held.held, row)
		} else {
			held.rows = append(held.rows, row)
		}
	}
	return held
}

// simulatedTies draws a table of independent rows: two to five inputs, a label in words and in code, and a number of
// the row's own. The noise is Gaussian, has heavy tails, or grows with an input. In a tied table, rows with the same
// label share an offset of half to twice the size of the noise. In every second table the file is in the order of the
// labels.
func simulatedTies(kind string, number int) tieTable {
	rng := rand.New(rand.NewPCG(uint64(number), 0x74696573+uint64(len(kind))))
	n, inputs := 120+rng.IntN(381), 2+rng.IntN(4)
	units := n/20 + rng.IntN(n/5-n/20)
	codes := 6 + rng.IntN(20)
	t := tieTable{kind: kind, name: fmt.Sprintf("%s-%d", kind, number), names: []string{"row"}}
	offset := make([]float64, units)
	noise := 0.1 + 0.5*rng.Float64()
	if kind == tiedTables {
		t.group = label
		size := noise * math.Exp2(2*rng.Float64()-1)
		for u := range offset {
			offset[u] = size * rng.NormFloat64()
		}
	}
	var waves []func(x float64) float64
	for j := range inputs {
		t.names = append(t.names, fmt.Sprintf("x%d", j+1))
		waves = append(waves, fourier(rng))
	}
	t.names = append(t.names, label, "code", "y")
	shape := rng.IntN(3)
	of := make([]int, n)
	for i := range of {
		of[i] = rng.IntN(units)
	}
	if kind == tiedTables && number%2 == 0 {
		slices.Sort(of)
	}
	for i := range n {
		row, y := []string{fmt.Sprint(i + 1)}, offset[of[i]]
		var first float64
		for j := range inputs {
			x := rng.Float64()
			if j == 0 {
				first = x
			}
			row = append(row, strconv.FormatFloat(x, 'g', 6, 64))
			y += waves[j](0.4*x) / float64(j+1)
		}
		e := noise * rng.NormFloat64()
		switch shape {
		case 1:
			e /= math.Sqrt((rng.ExpFloat64() + rng.ExpFloat64()) / 2) // Student's t with four degrees of freedom
		case 2:
			e *= 2 * first
		}
		t.rows = append(t.rows, append(row, fmt.Sprintf("L%02d", of[i]+1), fmt.Sprint(1+rng.IntN(codes)),
			strconv.FormatFloat(y+e, 'g', 8, 64)))
	}
	return t
}
