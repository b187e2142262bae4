package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"sync"

	"github.com/krigo-gp/krigo/ranks"
)

// task is one run of an experiment. Its key holds all its settings.
type task[R any] struct {
	key string
	run func(ctx context.Context) (R, error)
}

// runAll runs tasks side by side, started in their order, and returns their results in the tasks' order. It appends
// every result to a file at once, and doesn't compute a result again that the file holds. After each result it calls
// partial (unless nil), with the results so far.
func runAll[R any](ctx context.Context, env Env, name string, tasks []task[R],
	partial func(results []R, done []bool)) ([]R, error) {
	if err := os.MkdirAll(env.Out, 0o755); err != nil {
		return nil, err
	}
	over := env.Ranks
	if over == nil {
		over = ranks.Alone{}
	}
	path := filepath.Join(env.Out, name+".jsonl")
	if over.Rank() > 0 {
		path = filepath.Join(env.Out, fmt.Sprintf("%s.rank%d.jsonl", name, over.Rank()))
	}
	have, err := readAll[R](env.Out, name)
	if err = over.Agree(err); err != nil { // all ranks learn of an error before any rank writes
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
	w := &work[R]{env: env, tasks: tasks, file: file, partial: partial,
		results: make([]R, len(tasks)), errs: make([]error, len(tasks)), done: make([]bool, len(tasks))}
	w.run(ctx, w.open(have, over))
	if ctx.Err() != nil {
		for _, err := range w.errs {
			if err != nil && !errors.Is(err, ctx.Err()) {
				return nil, err
			}
		}
		return nil, fmt.Errorf("interrupted; finished runs are saved in %s, and the same command goes on from there", path)
	}
	if over.Size() == 1 {
		return w.results, joinDistinct(w.errs)
	}
	if err := over.Agree(joinDistinct(w.errs)); err != nil {
		return nil, err
	}
	if have, err = readAll[R](env.Out, name); err != nil {
		return nil, err
	}
	for i, t := range tasks {
		r, ok := have[t.key]
		if !ok {
			return nil, fmt.Errorf("%s: the run %s of another rank is missing: do all ranks see the same folder?", env.Out,
				t.key)
		}
		w.results[i] = r
	}
	return w.results, nil
}

// work holds the tasks of an experiment, and the results so far.
type work[R any] struct {
	env     Env
	tasks   []task[R]
	file    io.Writer // file of results
	partial func(results []R, done []bool)

	mu       sync.Mutex
	results  []R
	errs     []error
	done     []bool
	finished int
}

// open stores the known results, and returns the numbers of the missing tasks that this rank has to run.
func (w *work[R]) open(have map[string]R, over ranks.Ranks) (open []int) {
	missing := 0
	for i, t := range w.tasks {
		if r, ok := have[t.key]; ok {
			w.results[i], w.done[i] = r, true
			w.finished++
			continue
		}
		if missing%over.Size() == over.Rank() {
			open = append(open, i)
		}
		missing++
	}
	return open
}

// run runs the tasks of these numbers side by side.
func (w *work[R]) run(ctx context.Context, open []int) {
	next := make(chan int, len(open))
	for _, i := range open {
		next <- i
	}
	close(next)
	workers := runtime.GOMAXPROCS(0)
	if w.env.OneAtATime {
		workers = 1
	}
	var wait sync.WaitGroup
	for range workers {
		wait.Go(func() {
			for i := range next {
				if ctx.Err() != nil {
					return
				}
				r, err := w.tasks[i].run(ctx)
				w.keep(i, r, err)
			}
		})
	}
	wait.Wait()
}

// keep writes a task's result and reports it.
func (w *work[R]) keep(i int, r R, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err == nil {
		err = json.NewEncoder(w.file).Encode(keyed[R]{w.tasks[i].key, r})
	}
	w.results[i], w.errs[i], w.done[i] = r, err, err == nil
	if err != nil {
		return
	}
	w.finished++
	if w.env.Progress != nil {
		w.env.Progress(w.finished, len(w.tasks), w.tasks[i].key)
	}
	if w.partial != nil && w.finished < len(w.tasks) {
		w.partial(w.results, w.done)
	}
}

// joinDistinct joins errors, and keeps one of equal errors.
func joinDistinct(errs []error) error {
	said := map[string]bool{}
	var all []error
	for _, err := range errs {
		if err != nil && !said[err.Error()] {
			said[err.Error()] = true
			all = append(all, err)
		}
	}
	return errors.Join(all...)
}

// readAll reads the results of all ranks, also those of an earlier command.
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

// endLine completes a last line that lacks only its newline, as an interrupted write may leave it.
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
			return nil, fmt.Errorf("%s: line %d can't be read (%w): remove it, and the same command repeats the run", path, n, err)
		}
		have[k.Key] = k.Result
	}
	return have, lines.Err()
}
