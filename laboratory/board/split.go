package main

import (
	"bytes"
	"compress/gzip"
	"encoding/csv"
	"fmt"
	"io"
	"math"
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

// write writes train.csv, and test.csv if there are test rows.
func (s split) write(dir string) error {
	for name, rows := range map[string][][]string{"train.csv": s.train, "test.csv": s.test} {
		if len(rows) == 0 {
			continue
		}
		var text bytes.Buffer
		if err := csv.NewWriter(&text).WriteAll(rows); err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(dir, name), text.Bytes(), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// column returns the cells of a column, or nil if there is no such column.
func column(rows [][]string, name string) []string {
	for at, head := range rows[0] {
		if head != name {
			continue
		}
		cells := make([]string, 0, len(rows)-1)
		for _, row := range rows[1:] {
			cells = append(cells, row[at])
		}
		return cells
	}
	return nil
}

// numbers returns a column's numbers. It leaves out cells that aren't numbers.
func numbers(rows [][]string, name string) []float64 {
	var of []float64
	for _, cell := range column(rows, name) {
		if v := parsed(cell); !math.IsNaN(v) {
			of = append(of, v)
		}
	}
	return of
}

func parsed(cell string) float64 {
	v, err := strconv.ParseFloat(cell, 64)
	if err != nil {
		return math.NaN()
	}
	return v
}
