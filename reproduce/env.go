// Package reproduce runs the experiments behind the papers' tables and figures, and
// sets the papers' figures beside ours.
package reproduce

import (
	"fmt"
	"io"
	"path/filepath"

	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/ranks"
)

// Env is where an experiment runs.
type Env struct {
	Reps        int       // repetitions, 0 for the paper's number
	M           int       // inducing inputs, 0 for the paper's number
	Epochs      int       // passes over the rows, 0 for the paper's number
	Rows        int       // most rows to train on of the renyi2020 experiments, 0 for a thousand
	Evaluations int       // most evaluations a fit, 0 for the paper's number
	Data        string    // folder of data sets that aren't built in
	Sets        []string  // data sets to run, nil for the paper's
	Methods     []string  // methods to run, nil for the paper's
	OneAtATime  bool      // runs that keep all cores busy by themselves
	Out         string    // folder of results and drawings
	Stdout      io.Writer // the tables, as Markdown
	// Ranks share the runs; all see the folder of results, where each has a file of its own. Nil: alone.
	Ranks ranks.Ranks
	// Progress is told about every finished run, from one goroutine at a time.
	Progress func(done, total int, what string)
	// Partial takes the tables of the runs done so far, one after each run of an
	// experiment whose runs take minutes; nil for none.
	Partial io.Writer
}

func (e Env) reps(paper int) int {
	if e.Reps > 0 {
		return e.Reps
	}
	return paper
}

// table reads a data set that isn't built in.
func (e Env) table(name string) (*dataset.Table, error) {
	if e.Data == "" {
		return nil, fmt.Errorf("this experiment needs %s.csv.gz: name its folder with --data", name)
	}
	return dataset.ReadFile(filepath.Join(e.Data, name+".csv.gz"))
}
