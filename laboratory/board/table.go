package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// splitEntry is a split that writeSplits wrote, for peers.py.
type splitEntry struct {
	Table  string `json:"table"`
	Run    int    `json:"run"`
	Folder string `json:"folder"`
	Target string `json:"target"`
	Kind   string `json:"kind"`
}

// writeSplits writes train.csv and test.csv of every run that has test rows, and list.json.
func writeSplits(dir string, list []job) error {
	var all []splitEntry
	for _, j := range list {
		if j.all {
			continue
		}
		for _, run := range j.runs {
			s, err := j.split(run)
			if err != nil {
				return err
			}
			if len(s.test) == 0 {
				break
			}
			e := splitEntry{j.name, run, fmt.Sprintf("%s/%d", j.name, run), j.target, j.kind}
			if err := os.MkdirAll(filepath.Join(dir, e.Folder), 0o755); err != nil {
				return err
			}
			if err := s.write(filepath.Join(dir, e.Folder)); err != nil {
				return err
			}
			all = append(all, e)
		}
	}
	raw, err := json.MarshalIndent(all, "", " ")
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "list.json"), raw, 0o644)
}

// readme lists the tables of README, with the words for them.
var readme = []struct{ table, words string }{
	{"split/boston", "boston, 455 rows"}, {"split/concrete", "concrete, 927 rows"}, {"split/yacht", "yacht, 277 rows"},
	{"split/kin8nm", "kin8nm, 7,373 rows"}, {"uci/servo", "servo, 150 rows"}, {"uci/stock", "stock, 482 rows"},
	{"drawn/additive", "a sum of functions, 300 rows"}, {"stranger/SaratogaHouses", "house prices, as found"},
}

// contender is a column of README's table.
type contender struct{ name, suffix string }

// printTable prints the table of README: RMSE, what 95 % intervals hold, and CPU seconds, of krigo and its peers.
func printTable(w io.Writer, name string) error {
	if name != "readme" {
		return fmt.Errorf("no table %q: readme", name)
	}
	own, err := load(filepath.Join(lab, "results/board.json"))
	if err != nil {
		return err
	}
	peers, err := load(filepath.Join(lab, "results/peers.json"))
	if err != nil {
		return err
	}
	rows := slices.Concat(own.Tables, peers.Tables)
	columns := []contender{{"krigo", ""}, {"krigo, all rows", " all"}, {"LightGBM", " lightgbm"},
		{"scikit-learn GP", " sklearn"}, {"GPyTorch", " gpytorch"}}
	var text bytes.Buffer
	text.WriteString("| RMSE / coverage / CPU s |")
	for _, c := range columns {
		text.WriteString(" " + c.name + " |")
	}
	text.WriteString("\n|---|" + strings.Repeat("---|", len(columns)) + "\n")
	for _, t := range readme {
		text.WriteString("| " + t.words + " |")
		for _, c := range columns {
			text.WriteString(" " + cell(rows, t.table+c.suffix) + " |")
		}
		text.WriteString("\n")
	}
	_, err = w.Write(text.Bytes())
	return err
}

// cell returns the figures of a row in a cell of the table.
func cell(rows []row, name string) string {
	at := slices.IndexFunc(rows, func(r row) bool { return r.Table == name })
	if at < 0 {
		return "–"
	}
	r := rows[at]
	if r.Lost > 0 {
		return "no answer"
	}
	cover := "–"
	if v, ok := r.Figures["coverage"]; ok {
		cover = fmt.Sprintf("%.0f %%", 100*v)
	}
	return fmt.Sprintf("%.3f / %s / %.1f", r.Figures["rmse"], cover, r.Figures["cpu_seconds"])
}
