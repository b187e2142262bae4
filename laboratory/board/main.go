// Command board measures what krigo's defaults do on a fixed list of tables, beside the figures in the tree:
//
//	go run ./board                     all rows, in an hour on two cores; prints what became better and worse
//	go run ./board --record            the same, and writes laboratory/results/board.json
//	go run ./board --only uci,boston   the rows whose names begin so
//	go run ./board --quick             two minutes, for CI: exits with 1 if a default became worse than in
//	                                   laboratory/results/board-quick.json
//	go run ./board --pages             writes the tables beside other libraries, from the files in laboratory/results
//	go run ./board --splits DIR        writes the splits, for peers.py
//
// --krigo PATH measures another program, for example of another commit. README.md of this folder says more.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/krigo-gp/krigo"
)

// options are the command's flags.
type options struct {
	quick, record, reference, pages  bool
	only, krigo, file, table, splits string
}

func main() {
	var o options
	flag.BoolVar(&o.quick, "quick", false, "the short list for CI")
	flag.BoolVar(&o.record, "record", false, "write the figures into the file")
	flag.StringVar(&o.only, "only", "", "rows whose names begin with one of these, with commas between them")
	flag.StringVar(&o.krigo, "krigo", "", "the program to measure (default built from this checkout)")
	flag.StringVar(&o.file, "file", "", "the file of figures (default in laboratory/results)")
	flag.StringVar(&o.table, "table", "", "print a table from the files: readme, all")
	flag.BoolVar(&o.pages, "pages", false, "write the tables from the files into README and laboratory/results/board.md")
	flag.StringVar(&o.splits, "splits", "", "write the splits into this folder")
	flag.BoolVar(&o.reference, "reference", false, "run the work that is the unit of CPU seconds, and nothing else")
	flag.Parse()
	if err := run(o); err != nil {
		fmt.Fprintln(os.Stderr, "board:", err)
		os.Exit(1)
	}
}

func run(o options) error {
	if o.reference {
		fmt.Println(reference())
		return nil
	}
	if o.pages {
		return writePages()
	}
	if o.table != "" {
		text, err := table(o.table)
		fmt.Print(text)
		return err
	}
	list, err := jobs()
	if err != nil {
		return err
	}
	if o.quick {
		list = quick(list)
	}
	if o.only != "" {
		list = slices.DeleteFunc(list, func(j job) bool { return !begins(j.name, strings.Split(o.only, ",")) })
	}
	if len(list) == 0 {
		return fmt.Errorf("no row begins with %s", o.only)
	}
	if o.splits != "" {
		return writeSplits(o.splits, list)
	}
	return o.board(list)
}

func begins(name string, with []string) bool {
	return slices.ContainsFunc(with, func(w string) bool { return strings.HasPrefix(name, w) })
}

// board measures a list of jobs, compares the figures with the file, and writes them if asked to.
func (o options) board(list []job) error {
	path := o.file
	if path == "" {
		path = "results/board.json"
		if o.quick {
			path = "results/board-quick.json"
		}
	}
	old, err := load(path)
	if err != nil {
		return err
	}
	own := o.krigo == ""
	if own {
		dir, err := os.MkdirTemp("", "krigo")
		if err != nil {
			return err
		}
		defer os.RemoveAll(dir)
		o.krigo = filepath.Join(dir, "krigo")
		build := exec.Command("go", "build", "-trimpath", "-o", o.krigo, "./cmd/krigo")
		build.Dir = ".."
		if said, err := build.CombinedOutput(); err != nil {
			return fmt.Errorf("go build: %w\n%s", err, said)
		}
	}
	if o.krigo, err = filepath.Abs(o.krigo); err != nil {
		return err
	}
	now, err := origin(o, own)
	if err != nil {
		return err
	}
	partial := o.only != ""
	if o.record && partial && len(old.Tables) > 0 && old.Defaults != now.Defaults {
		return fmt.Errorf("the file is of defaults %d, and these are %d: record all rows", old.Defaults, now.Defaults)
	}
	for _, j := range list {
		r, err := o.row(j, old)
		if err != nil {
			return err
		}
		fmt.Println(r.text())
		now.Tables = append(now.Tables, r)
		if o.record && partial {
			if err := old.merge(now).save(path); err != nil {
				return err
			}
		}
	}
	fmt.Println(timing(now.Tables))
	if load := load1(); !o.record && load > float64(runtime.NumCPU()) {
		now.Machine += fmt.Sprintf(", busy (load %.1f)", load) // CPU seconds of threads that wait for cores say little
	}
	fails := compare(os.Stdout, old, now, own)
	if !partial {
		fails = append(fails, missing(old, now)...)
	}
	if o.record {
		if partial {
			now = old.merge(now)
		}
		return now.save(path)
	}
	if o.quick && len(fails) > 0 {
		return errors.New("the defaults aren't those of " + path + ":\n  " + strings.Join(fails, "\n  "))
	}
	return nil
}

// row measures a job. A row that seems to take too many CPU seconds is measured again, up to three times, and the
// smallest number counts.
func (o options) row(j job, old file) (row, error) {
	r, err := once(o.krigo, j)
	at := slices.IndexFunc(old.Tables, func(r row) bool { return r.Table == j.name })
	for tries := 0; o.quick && at >= 0 && err == nil && tries < 3; tries++ {
		if r.Figures["cpu"] <= 1.3*old.Tables[at].Figures["cpu"] {
			break
		}
		var again row
		if again, err = once(o.krigo, j); err == nil && again.Lost == 0 {
			r.Figures["cpu"] = min(r.Figures["cpu"], again.Figures["cpu"])
		}
	}
	return r, err
}

func once(krigo string, j job) (row, error) {
	var found []scores
	lost := 0
	reason := ""
	for _, run := range j.runs {
		s, err := measured(krigo, j, run)
		var no *noAnswer
		if errors.As(err, &no) {
			lost++
			reason = no.Error()
			continue
		}
		if err != nil {
			return row{}, err
		}
		found = append(found, s)
	}
	return averaged(j.name, found, lost, reason), nil
}

// text is a row as a line.
func (r row) text() string {
	line := fmt.Sprintf("%-26s %2d runs ", r.Table, r.Runs)
	for _, m := range []string{"rmse", "error", "nlpd", "coverage", "promised", "kept", "cpu_seconds", "cpu", "memory_mib"} {
		if v, ok := r.Figures[m]; ok {
			line += fmt.Sprintf(" %s %.4g", m, v)
		}
	}
	if r.Lost > 0 {
		line += fmt.Sprintf(" no answer in %d: %s", r.Lost, r.Reason)
	}
	return line + published[r.Table]
}

// published has figures of other work on the same splits, in the target's units.
var published = map[string]string{
	"split/boston all":   " (MC dropout: RMSE 2.90, NLPD 2.40)",
	"split/concrete all": " (MC dropout: RMSE 4.83, NLPD 2.94)",
	"split/kin8nm all":   " (MC dropout: RMSE .0789, NLPD -1.14)",
	"split/yacht all":    " (MC dropout: RMSE .666, NLPD 1.25)",
}

// timing says how many of the times that progress named were within a factor of two of the truth.
func timing(rows []row) string {
	var n, held float64
	for _, r := range rows {
		n += r.Figures["claims"]
		held += r.Figures["claims_true"]
	}
	if n == 0 {
		return "progress named no time of two seconds or more"
	}
	return fmt.Sprintf("progress named %.0f times of two seconds or more, %.0f %% within a factor of two", n, 100*held/n)
}

// load1 returns how many processes have lately wanted a core, or 0 if the system doesn't say.
func load1() (load float64) {
	text, err := os.ReadFile("/proc/loadavg")
	if err == nil {
		_, err = fmt.Sscan(string(text), &load)
	}
	if err != nil {
		return 0
	}
	return load
}

// built returns what krigo version says in parentheses: the compiler, the system and the instruction set. The version
// itself differs at every commit, and says nothing about the machine.
func built(version string) string {
	at := strings.LastIndex(version, "(")
	return strings.Trim(version[at+1:], ") \n")
}

// origin returns an empty file that says where the figures to come are from.
func origin(o options, own bool) (file, error) {
	f := file{Title: "The board of defaults", Date: time.Now().UTC().Format(time.DateOnly), Commit: o.krigo,
		Command: "go run ./board --record", Defaults: krigo.DefaultsVersion, Measures: []string{"default"}}
	if o.quick {
		f.Title += ", quick"
		f.Command = "go run ./board --quick --record"
	}
	version, err := exec.Command(o.krigo, "version").Output()
	if err != nil {
		return f, err
	}
	f.Machine = fmt.Sprintf("%s, %d cores, %s", processor(), runtime.NumCPU(), built(string(version)))
	if own {
		// The commit that last changed the product, so that figures don't look older after a change of a page.
		product := []string{"--", "..", ":!../laboratory", ":!../docs"}
		head, err := exec.Command("git", append([]string{"log", "-1", "--format=%h", "--abbrev=8"}, product...)...).Output()
		if err != nil {
			return f, err
		}
		f.Commit = strings.TrimSpace(string(head))
		other, err := exec.Command("git", append([]string{"status", "--porcelain", "-uno"}, product...)...).Output()
		if err != nil {
			return f, err
		}
		if len(other) > 0 {
			f.Commit += " and changes"
		}
	}
	return f, nil
}

// processor returns the processor's name, as Linux knows it.
func processor() string {
	text, _ := os.ReadFile("/proc/cpuinfo")
	_, name, found := strings.Cut(string(text), "model name\t: ")
	if !found {
		return runtime.GOARCH
	}
	name, _, _ = strings.Cut(name, "\n")
	return name
}
