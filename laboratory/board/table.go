package main

import (
	"encoding/json"
	"fmt"
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

// tableLine is a row of the board, and the words for it in a table.
type tableLine struct{ table, words string }

// readme lists the rows of README's table.
var readme = []tableLine{
	{"split/boston", "boston, 455 rows"},
	{"split/yacht", "yacht, 277"},
	{"split/kin8nm", "kin8nm, 7,373"},
	{"uci/servo", "servo, 150"},
	{"uci/stock", "stock, 482"},
	{"drawn/additive", "drawn sum, 300"},
	{"stranger/births14", "births14, 800"},
}

// contenders are the columns of tables: names, and the suffixes of their rows.
var contenders = []struct{ name, suffix string }{{"krigo", ""}, {"krigo, all rows", " all"}, {"LightGBM", " lightgbm"},
	{"scikit-learn GP", " sklearn"}, {"GPyTorch", " gpytorch"}}

// pages are the pages with tables, and the table of each. A table stands between the markers <!-- board: NAME --> and
// <!-- end board -->.
var pages = []struct{ path, table string }{{"README.md", "readme"}, {"laboratory/results/board.md", "all"}}

// page returns the text of a page, and what it is with the table from the files.
func page(path, name string) (text, fresh string, err error) {
	raw, err := os.ReadFile(filepath.Join(lab, "..", path))
	if err != nil {
		return "", "", err
	}
	text = string(raw)
	marker := "<!-- board: " + name + " -->\n"
	head, rest, found := strings.Cut(text, marker)
	_, tail, ends := strings.Cut(rest, "<!-- end board -->")
	if !found || !ends {
		return "", "", fmt.Errorf("%s has no table between %q and <!-- end board -->", path, marker)
	}
	table, err := table(name)
	return text, head + marker + "\n" + table + "\n<!-- end board -->" + tail, err
}

// writePages writes the tables into their pages.
func writePages() error {
	for _, p := range pages {
		_, fresh, err := page(p.path, p.table)
		if err == nil {
			err = os.WriteFile(filepath.Join(lab, "..", p.path), []byte(fresh), 0o644)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// table returns a table of RMSE, what 95 % intervals hold, and CPU seconds, of krigo and its peers: "readme", or "all",
// which has all tables with numbers to predict.
func table(name string) (string, error) {
	own, err := load(filepath.Join(lab, "results/board.json"))
	if err != nil {
		return "", err
	}
	peers, err := load(filepath.Join(lab, "results/peers.json"))
	if err != nil {
		return "", err
	}
	rows := slices.Concat(own.Tables, peers.Tables)
	lines := readme
	if name == "all" {
		lines = nil
		for _, r := range own.Tables {
			if _, numbers := r.Figures["rmse"]; (numbers || r.Lost > 0) && !strings.HasSuffix(r.Table, " all") {
				lines = append(lines, tableLine{r.Table, r.Table})
			}
		}
	} else if name != "readme" {
		return "", fmt.Errorf("no table %q: readme, all", name)
	}
	var text strings.Builder
	text.WriteString("| error/coverage/CPU s |")
	for _, c := range contenders {
		text.WriteString(" " + c.name + " |")
	}
	text.WriteString("\n|---|" + strings.Repeat("--:|", len(contenders)) + "\n")
	for _, t := range lines {
		text.WriteString("| " + t.words + " |")
		for _, c := range contenders {
			text.WriteString(" " + cell(rows, t.table+c.suffix) + " |")
		}
		text.WriteString("\n")
	}
	return text.String(), nil
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
		cover = fmt.Sprintf("%.0f%%", 100*v)
	}
	digits := 1
	if r.Figures["cpu_seconds"] < 1 {
		digits = 2
	}
	return fmt.Sprintf("%.3f/%s/%.*f", r.Figures["rmse"], cover, digits, r.Figures["cpu_seconds"])
}
