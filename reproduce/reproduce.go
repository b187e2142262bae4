// Package reproduce runs the experiments behind the papers' tables and figures, and
// sets the papers' figures beside ours.
package reproduce

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"

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

// Experiment is one table or figure.
type Experiment struct {
	Name  string
	Title string
	Run   func(ctx context.Context, env Env) error
}

// Experiments lists everything that can be reproduced.
var Experiments = []Experiment{
	{"reeb-table1", "Reeb et al. 2018, Table 1: full GPs on boston, and the same with krigo's defaults", reebTable1},
	{"reeb-table2", "Reeb et al. 2018, Table 2: sparse GPs on pol, sarcos, kin40k", reebTable2},
	{"reeb-table3", "Reeb et al. 2018, Table 3: the same with the loss ℓexp", reebTable3},
	{"reeb-fig2", "Reeb et al. 2018, Fig. 2: the numbers of Table 1, drawn", reebFig2},
	{"reeb-fig1", "Reeb et al. 2018, Fig. 1: predictive distributions of kl-PAC-SGP on snelson for three ε", reebFig1},
	{"reeb-fig3", "Reeb et al. 2018, Fig. 3: sparse GPs against the number of inducing inputs", reebFig3},
	{"reeb-fig6", "Reeb et al. 2018, Fig. 6: predictive distributions of kl-PAC-SGP, FITC and VFE", reebFig6},
	{"reeb-fig7", "Reeb et al. 2018, Fig. 7: local minima of FITC and kl-PAC-SGP", reebFig7},
	{"reeb-fig8", "Reeb et al. 2018, Fig. 8: the bound against the grid's resolution", reebFig8},
	{"reeb-fig4", "Reeb et al. 2018, Fig. 4: the inverse binary kl", reebFig4},
	{"reeb-fig5", "Reeb et al. 2018, Fig. 5: the bounded losses", reebFig5},
	{"renyi-fig1", "Yue & Kontar, Optimize to Generalize, Fig. 1: loss surfaces, and how often annealing escapes", renyiFig1},
	{"renyi-table1", "Yue & Kontar, Optimize to Generalize, Table 1: test functions", renyiTable1},
	{"renyi-table2", "Yue & Kontar, Optimize to Generalize, Table 2: engineering data", renyiTable2},
	{"renyi-table3", "Yue & Kontar, Optimize to Generalize, Table 3: the number of inducing inputs", renyiTable3},
	{"renyi-table4", "Yue & Kontar, Optimize to Generalize, Table 4: minutes of training", renyiTable4},
	{"renyi2020-table1", "Yue & Kontar, The Rényi Gaussian Process, Table 1: a fixed α on engineering data", renyi2020Table1},
	{"renyi2020-fig1", "Yue & Kontar, The Rényi Gaussian Process, Fig. 1: box plots on test functions", renyi2020Fig1},
	{"renyi2020-fig2", "Yue & Kontar, The Rényi Gaussian Process, Fig. 2: RMSE against α", renyi2020Fig2},
	{"certificates", "krigo's own: certificates by informed and grid priors on boston, sarcos10k, pol, kin40k", certificates},
	{"validity", "krigo's own: how often bounds fail on simulated training sets whose true risk is known", validity},
	{"snelson-band", "krigo's own: a certified fit of Snelson's data, the picture of the README", snelsonBand},
}

func (e Env) reps(paper int) int {
	if e.Reps > 0 {
		return e.Reps
	}
	return paper
}

// Find returns the experiment of that name.
func Find(name string) (Experiment, error) {
	var names []string
	for _, e := range Experiments {
		if e.Name == name {
			return e, nil
		}
		names = append(names, e.Name)
	}
	return Experiment{}, fmt.Errorf("unknown experiment %q: known are %s", name, strings.Join(names, ", "))
}

// task is one run of an experiment, known by a key that holds all its settings.
type task[R any] struct {
	key string
	run func(ctx context.Context) (R, error)
}

// runAll runs tasks side by side, started in their order, and returns their results in
// the tasks' order. Every result is appended to a file as soon as it is there; one that
// the file holds isn't computed again. After each, partial (unless nil) is shown which
// results are there.
func runAll[R any](ctx context.Context, env Env, name string, tasks []task[R], partial func(results []R, done []bool)) ([]R, error) {
	if err := os.MkdirAll(env.Out, 0o755); err != nil {
		return nil, err
	}
	over := env.Ranks
	if over == nil {
		over = ranks.Alone
	}
	path := filepath.Join(env.Out, name+".jsonl")
	if over.Rank() > 0 {
		path = filepath.Join(env.Out, fmt.Sprintf("%s.rank%d.jsonl", name, over.Rank()))
	}
	have, err := readAll[R](env.Out, name)
	if err = over.Agree(err); err != nil { // before any of them writes
		return nil, err
	}
	file, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	if err := endLine(path, file); err != nil {
		return nil, err
	}

	results, errs, done := make([]R, len(tasks)), make([]error, len(tasks)), make([]bool, len(tasks))
	finished := 0
	var open []int
	missing := 0
	for i, t := range tasks {
		if r, ok := have[t.key]; ok {
			results[i], done[i] = r, true
			finished++
			continue
		}
		if missing%over.Size() == over.Rank() {
			open = append(open, i)
		}
		missing++
	}
	next := make(chan int, len(open))
	for _, i := range open {
		next <- i
	}
	close(next)
	workers := runtime.GOMAXPROCS(0)
	if env.OneAtATime {
		workers = 1
	}
	var mu sync.Mutex
	var wait sync.WaitGroup
	for range workers {
		wait.Go(func() {
			for i := range next {
				if ctx.Err() != nil {
					return
				}
				r, err := tasks[i].run(ctx)
				mu.Lock()
				if err == nil {
					err = json.NewEncoder(file).Encode(keyed[R]{tasks[i].key, r})
				}
				results[i], errs[i], done[i] = r, err, err == nil
				if err == nil {
					finished++
					if env.Progress != nil {
						env.Progress(finished, len(tasks), tasks[i].key)
					}
					if partial != nil && finished < len(tasks) {
						partial(results, done)
					}
				}
				mu.Unlock()
			}
		})
	}
	wait.Wait()
	if ctx.Err() != nil {
		for _, err := range errs {
			if err != nil && !errors.Is(err, ctx.Err()) {
				return nil, err
			}
		}
		return nil, fmt.Errorf("interrupted; the runs done are kept in %s, and the same command goes on from there", path)
	}
	if over.Size() == 1 {
		return results, errors.Join(errs...)
	}
	if err := over.Agree(errors.Join(errs...)); err != nil {
		return nil, err
	}
	if have, err = readAll[R](env.Out, name); err != nil {
		return nil, err
	}
	for i, t := range tasks {
		r, ok := have[t.key]
		if !ok {
			return nil, fmt.Errorf("%s: the run %s of another rank isn't there: do all ranks see the same folder?", env.Out, t.key)
		}
		results[i] = r
	}
	return results, nil
}

// readAll reads the results of all ranks, those of an earlier command too.
func readAll[R any](folder, name string) (map[string]R, error) {
	paths, err := filepath.Glob(filepath.Join(folder, name+".rank*.jsonl"))
	if err != nil {
		return nil, err
	}
	all := map[string]R{}
	for _, path := range append(paths, filepath.Join(folder, name+".jsonl")) {
		have, err := readResults[R](path)
		if err != nil {
			return nil, err
		}
		maps.Copy(all, have)
	}
	return all, nil
}

// endLine completes a last line that lacks only its end, as an interrupted write leaves it.
func endLine(path string, file *os.File) error {
	raw, err := os.ReadFile(path)
	if err != nil || len(raw) == 0 || raw[len(raw)-1] == '\n' {
		return err
	}
	_, err = file.WriteString("\n")
	return err
}

type keyed[R any] struct {
	Key    string `json:"key"`
	Result R      `json:"result"`
}

func readResults[R any](path string) (map[string]R, error) {
	have := map[string]R{}
	file, err := os.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		return have, nil
	}
	if err != nil {
		return nil, err
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<24)
	for n := 1; lines.Scan(); n++ {
		var k keyed[R]
		if err := json.Unmarshal(lines.Bytes(), &k); err != nil {
			return nil, fmt.Errorf("%s: line %d can't be read (%w): remove it, and the run is repeated", path, n, err)
		}
		have[k.Key] = k.Result
	}
	return have, lines.Err()
}

// meanSE returns the mean and its standard error.
func meanSE(v []float64) (mean, se float64) {
	n := float64(len(v))
	for _, x := range v {
		mean += x / n
	}
	for _, x := range v {
		se += (x - mean) * (x - mean)
	}
	if n < 2 {
		return mean, math.NaN()
	}
	return mean, math.Sqrt(se / (n - 1) / n)
}
