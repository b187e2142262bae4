package main

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strings"
)

// file is a results file: where its figures are from, and the rows of the board.
type file struct {
	Title    string   `json:"title"`
	Commit   string   `json:"commit"`
	Date     string   `json:"date"`
	Command  string   `json:"command"`
	Machine  string   `json:"machine"`
	Defaults int      `json:"defaults"` // krigo.DefaultsVersion
	Measures []string `json:"measures"`
	Tables   []row    `json:"tables"`
}

// row has a job's figures, as means over the runs that gave an answer. Memory is the largest of all runs.
type row struct {
	Table   string `json:"table"`
	Runs    int    `json:"runs"`
	Lost    int    `json:"lost,omitempty"` // runs without an answer
	Reason  string `json:"reason,omitempty"`
	Commit  string `json:"commit,omitempty"` // if it isn't the file's
	Figures scores `json:"figures"`
}

// load reads a results file. A file that doesn't exist has no rows.
func load(path string) (file, error) {
	var f file
	raw, err := os.ReadFile(path)
	if os.IsNotExist(err) {
		return f, nil
	}
	if err == nil {
		err = json.Unmarshal(raw, &f)
	}
	return f, err
}

// save writes a results file with one line for each row.
func (f file) save(path string) error {
	var lines []string
	for _, r := range f.Tables {
		lines = append(lines, "    "+encoded(r))
	}
	f.Tables = []row{}
	head, err := json.MarshalIndent(f, "", "  ")
	if err != nil {
		return err
	}
	rows := "[\n" + strings.Join(lines, ",\n") + "\n  ]"
	text := strings.Replace(string(head), `"tables": []`, `"tables": `+rows, 1)
	return os.WriteFile(path, []byte(text+"\n"), 0o644)
}

// encoded returns JSON whose signs <, > and & stand as they are.
func encoded(v any) string {
	var text strings.Builder
	out := json.NewEncoder(&text)
	out.SetEscapeHTML(false)
	if err := out.Encode(v); err != nil {
		panic(err) // rounded figures are finite
	}
	return strings.TrimSuffix(text.String(), "\n")
}

// merge puts new rows into the file. Old rows keep the commit that they are from.
func (f file) merge(fresh file) file {
	fresh.Tables = slices.Clone(fresh.Tables) // the caller goes on with its own rows
	for _, old := range f.Tables {
		if slices.ContainsFunc(fresh.Tables, func(r row) bool { return r.Table == old.Table }) {
			continue
		}
		if old.Commit == "" {
			old.Commit = f.Commit
		}
		if old.Commit == fresh.Commit {
			old.Commit = ""
		}
		fresh.Tables = append(fresh.Tables, old)
	}
	slices.SortFunc(fresh.Tables, func(a, b row) int { return strings.Compare(a.Table, b.Table) })
	return fresh
}

// averaged returns the row of a job from the figures of its runs.
func averaged(name string, runs []scores, lost int, reason string) row {
	r := row{Table: name, Runs: len(runs) + lost, Lost: lost, Reason: reason, Figures: scores{}}
	counts := scores{}
	for _, s := range runs {
		for measure, v := range s {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				continue // for example the NLPD of a model without a density
			}
			counts[measure]++
			r.Figures[measure] += v
			if measure == "memory_mib" {
				r.Figures[measure] = max(r.Figures[measure]-v, v)
			}
		}
	}
	for measure, n := range counts {
		if measure != "memory_mib" && !strings.HasPrefix(measure, "claims") {
			r.Figures[measure] /= n
		}
		r.Figures[measure] = rounded(r.Figures[measure])
	}
	return r
}

// rounded keeps four digits, or four decimals of small numbers.
func rounded(v float64) float64 {
	scale := 1e4
	for math.Abs(v)*scale >= 1e5 && scale > 1 {
		scale /= 10
	}
	return math.Round(v*scale) / scale
}

// measure says how a figure is compared. loss is what is better small.
type measure struct {
	name     string
	loss     func(v float64, s scores) float64
	relative bool
	most     float64 // growth of the loss that is allowed
	fails    bool    // more growth fails the quick board
	errors   bool    // a default's error, which only a new version of the defaults changes
}

func same(v float64, _ scores) float64 { return v }

var measures = []measure{
	{name: "rmse", loss: same, relative: true, most: .03, fails: true, errors: true},
	{name: "error", loss: same, relative: true, most: .03, fails: true, errors: true},
	// An NLPD of .03 more is what a standard deviation of 3 % more costs. A ratio means nothing, for an NLPD may be 0.
	{name: "nlpd", loss: same, most: .03, fails: true, errors: true},
	{name: "coverage", loss: func(v float64, _ scores) float64 { return math.Abs(v - .95) }, most: .03, fails: true},
	{name: "kept", loss: func(v float64, s scores) float64 { return max(0, s["promised"]-v) }, most: .03, fails: true},
	{name: "promised", loss: func(v float64, _ scores) float64 { return -v }, most: .03, fails: true},
	{name: "cpu", loss: same, relative: true, most: .3, fails: true},
	{name: "memory_mib", loss: same, relative: true, most: .3},
}

// changed is the change of an error, relative or in nats, for which the version of the defaults must be raised.
const changed = .01

// verdict is a difference between the file and a run.
type verdict struct {
	text   string
	worse  bool
	fails  bool
	change bool // an error isn't what the file says
}

// judge compares a row of a run with the file's, but for the measure named skip.
func judge(old, now row, skip string) []verdict {
	var list []verdict
	if now.Lost != old.Lost {
		list = append(list, verdict{worse: now.Lost > old.Lost, fails: now.Lost > old.Lost, change: true,
			text: fmt.Sprintf("%s: no answer in %d of %d runs, in the file %d of %d %s", now.Table, now.Lost, now.Runs,
				old.Lost, old.Runs, now.Reason)})
	}
	for _, m := range measures {
		before, had := old.Figures[m.name]
		after, has := now.Figures[m.name]
		if m.name == skip {
			continue
		}
		if !had || !has {
			if had && m.fails && now.Lost == 0 {
				list = append(list, verdict{worse: true, fails: true, text: now.Table + ": no " + m.name})
			}
			continue
		}
		grown := m.loss(after, now.Figures) - m.loss(before, old.Figures)
		if m.relative {
			grown /= max(m.loss(before, old.Figures), 1e-12)
		}
		if m.name == "cpu" && math.Abs(after-before) < 1 {
			continue // .3 seconds are noise
		}
		v := verdict{worse: grown > m.most, fails: m.fails && grown > m.most, change: m.errors && math.Abs(grown) > changed}
		if math.Abs(grown) > m.most || v.change {
			sign := fmt.Sprintf("%+.3f", after-before)
			if m.relative {
				sign = fmt.Sprintf("%+.1f %%", 100*grown)
			}
			v.text = fmt.Sprintf("%s: %s %.4g, in the file %.4g (%s)", now.Table, m.name, after, before, sign)
			list = append(list, v)
		}
	}
	return list
}

// missing returns the rows of the file that a run of all tables no longer has.
func missing(old, now file) (fails []string) {
	for _, r := range old.Tables {
		if !slices.ContainsFunc(now.Tables, func(n row) bool { return n.Table == r.Table }) {
			fails = append(fails, r.Table+" is in the file, and the board no longer runs it: record the board")
		}
	}
	return fails
}

// compare prints what became better and worse than in the file, and returns what fails. If own is true, krigo is built
// from this checkout. Then the file must be of the version of these defaults, and errors must be the file's.
func compare(w io.Writer, old, now file, own bool) []string {
	var fails []string
	if own && old.Defaults != now.Defaults {
		fails = append(fails, fmt.Sprintf("the file is of defaults %d, and krigo.DefaultsVersion is %d: record the board",
			old.Defaults, now.Defaults))
	}
	skip := ""
	if old.Machine != now.Machine && len(old.Tables) > 0 {
		skip = "cpu"
		fmt.Fprintf(w, "CPU time isn't compared: the file is from %s\nthis is %s\n", old.Machine, now.Machine)
	}
	for _, r := range now.Tables {
		at := slices.IndexFunc(old.Tables, func(o row) bool { return o.Table == r.Table })
		if at < 0 {
			fmt.Fprintf(w, "new     %s\n", r.Table)
			continue
		}
		for _, v := range judge(old.Tables[at], r, skip) {
			word := "changed"
			if v.worse {
				word = "WORSE  "
			}
			fmt.Fprintf(w, "%s %s\n", word, v.text)
			if v.fails {
				fails = append(fails, v.text)
				continue
			}
			if own && v.change && old.Defaults == now.Defaults {
				fails = append(fails, v.text+": raise krigo.DefaultsVersion and record the board")
			}
		}
	}
	return fails
}
