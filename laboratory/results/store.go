package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// folder holds the results' files, seen from the repository's root.
const folder = "laboratory/results"

// unknown stands for a commit, date, command or machine that nobody noted.
const unknown = "unknown"

// result is a table and its origin. A file without columns has a shape of its own. Then only its origin counts.
type result struct {
	Title    string   `json:"title"`
	Commit   string   `json:"commit"`          // the program measured, or the commit that recorded the figures
	Date     string   `json:"date"`            // 2006-01-02, of the oldest row
	Until    string   `json:"until,omitempty"` // date of the newest row, if rows differ
	Command  string   `json:"command"`         // lines, run in the folder laboratory
	Machine  string   `json:"machine"`
	Defaults int      `json:"defaults"`        // version of the defaults; 0: not known
	Measures []string `json:"measures"`        // names in measures.json
	Align    string   `json:"align"`           // a letter for each column: l or r
	Tight    bool     `json:"tight,omitempty"` // no blanks beside |, for a page whose words are counted
	Columns  []string `json:"columns"`
	Rows     [][]any  `json:"rows"`
}

// measure says when something that tables measure last changed so that its figures may differ.
type measure struct {
	Version int    `json:"version"` // raised by each such change
	Commit  string `json:"commit"`
	Date    string `json:"date"`
	What    string `json:"what"` // what changed
}

// store has all files of the folder.
type store struct {
	root     string
	results  map[string]*result
	measures map[string]measure
}

// read reads the folder and checks every file.
func read(root string) (*store, error) {
	s := &store{root: root, results: map[string]*result{}}
	raw, err := os.ReadFile(s.path("measures"))
	if err == nil {
		err = json.Unmarshal(raw, &s.measures)
	}
	if err != nil {
		return nil, err
	}
	files, err := filepath.Glob(s.path("*"))
	for _, path := range files {
		name := strings.TrimSuffix(filepath.Base(path), ".json")
		if name == "measures" {
			continue
		}
		text, fault := os.ReadFile(path)
		r := &result{}
		in := json.NewDecoder(bytes.NewReader(text))
		in.UseNumber()
		fault = cmp.Or(fault, in.Decode(r))
		var shape *json.UnmarshalTypeError
		if fault == nil || r.Columns == nil && errors.As(fault, &shape) {
			fault = r.sound(s.measures)
		}
		if fault != nil {
			err = errors.Join(err, fmt.Errorf("%s: %w", path, fault))
		}
		s.results[name] = r
	}
	return s, err
}

func (s *store) path(name string) string { return filepath.Join(s.root, folder, name+".json") }

// names returns the results' names in order.
func (s *store) names() []string { return slices.Sorted(maps.Keys(s.results)) }

// sound returns what is wrong with a result.
func (r *result) sound(known map[string]measure) error {
	if r.Commit == "" || r.Command == "" || r.Machine == "" {
		return fmt.Errorf("a commit, a command and a machine are wanted; write %q if they aren't known", unknown)
	}
	for _, date := range []string{r.Date, cmp.Or(r.Until, r.Date)} {
		if _, err := time.Parse(time.DateOnly, date); err != nil && date != unknown {
			return err
		}
	}
	for _, name := range r.Measures {
		if known[name].Version == 0 {
			return fmt.Errorf("measures.json doesn't have %q", name)
		}
	}
	if r.Columns == nil {
		return nil
	}
	if len(r.Measures) == 0 || r.Title == "" {
		return errors.New("a table needs a title, and what it measures")
	}
	if len(r.Align) != len(r.Columns) || strings.Trim(r.Align, "lr") != "" {
		return fmt.Errorf("align %q: want a letter, l or r, for each of %d columns", r.Align, len(r.Columns))
	}
	for i, row := range r.Rows {
		if len(row) != len(r.Columns) {
			return fmt.Errorf("row %d has %d cells of %d", i+1, len(row), len(r.Columns))
		}
	}
	return nil
}
