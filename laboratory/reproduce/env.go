package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/krigo-gp/krigo"
	"github.com/krigo-gp/krigo/data"
	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/dataset/files"
	"github.com/krigo-gp/krigo/internal/spelling"
	"github.com/krigo-gp/krigo/ranks"
)

// Env is where an experiment runs.
type Env struct {
	Reps        int       // repetitions, 0 for the paper's number
	M           int       // inducing inputs, 0 for the paper's number
	Epochs      int       // passes over the rows, 0 for the paper's number
	Rows        int       // most training rows of the renyi2020 experiments, 0 for a thousand
	Evaluations int       // most evaluations of a fit, 0 for the paper's number
	Data        string    // folder of data sets that aren't built in
	Sets        []string  // data sets to run, nil for the paper's
	Methods     []string  // methods to run, nil for the paper's
	Beside      string    // for benchmark, small and ties: a file of peers' results
	OneAtATime  bool      // one run at a time, because each run keeps all cores busy
	Out         string    // folder of runs and drawings
	Stdout      io.Writer // the tables, as Markdown
	// Ranks share the runs, unless nil. All ranks see the folder of runs, where each has its own file.
	Ranks ranks.Ranks
	// Progress is called after every run, from one goroutine at a time.
	Progress func(done, total int, what string)
	// Partial gets the tables of the runs so far, after each run of an experiment whose runs take minutes. It may be
	// nil.
	Partial io.Writer
}

func (e Env) reps(paper int) int {
	if e.Reps > 0 {
		return e.Reps
	}
	return paper
}

// check refuses an unknown name before anything runs.
func check(what string, names, known []string) error {
	for _, name := range names {
		if !slices.Contains(known, name) {
			return &krigo.UsageError{Err: fmt.Errorf("unknown %s %q: want one of %s%s", what, name, strings.Join(known, ", "),
				spelling.DidYouMean(name, known))}
		}
	}
	return nil
}

// table returns a data set, built in or read from its file. others names the sets that the experiment has without a
// file.
func (e Env) table(name string, others ...string) (*dataset.Table, error) {
	switch name {
	case "boston":
		return data.Boston(), nil
	case "snelson":
		return data.Snelson(), nil
	}
	others = append(others, "boston", "snelson")
	if e.Data == "" {
		return nil, fmt.Errorf("this experiment needs %s.csv.gz: give its folder by --data%s", name,
			spelling.DidYouMean(name, others))
	}
	const ending = ".csv.gz"
	table, err := files.ReadFile(filepath.Join(e.Data, name+ending), dataset.Reading{})
	if errors.Is(err, fs.ErrNotExist) {
		files, _ := filepath.Glob(filepath.Join(e.Data, "*"+ending)) // empty without a data folder
		for _, file := range files {
			others = append(others, strings.TrimSuffix(filepath.Base(file), ending))
		}
		err = fmt.Errorf("%w%s", err, spelling.DidYouMean(name, others))
	}
	return table, err
}
