package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/krigo-gp/krigo/internal/must"
	"github.com/krigo-gp/krigo/ranks"
)

// count makes n tasks that return their number. It counts how often they run.
func count(n int, ran *atomic.Int64) []task[int] {
	var tasks []task[int]
	for i := range n {
		tasks = append(tasks, task[int]{fmt.Sprintf("n=%d", i), func(context.Context) (int, error) {
			ran.Add(1)
			return 10 * i, nil
		}})
	}
	return tasks
}

// TestRunAll: results come in the tasks' order, and finished tasks aren't run again.
func TestRunAll(t *testing.T) {
	var events []string
	env := Env{Out: filepath.Join(t.TempDir(), "new", "folder"), Progress: func(done, total int, what string) {
		events = append(events, fmt.Sprintf("%d/%d", done, total))
	}}
	var ran atomic.Int64
	for round, c := range []struct {
		tasks, runs int
		events      []string
	}{
		{5, 5, []string{"1/5", "2/5", "3/5", "4/5", "5/5"}},
		{5, 0, nil},
		{8, 3, []string{"6/8", "7/8", "8/8"}},
	} {
		ran.Store(0)
		events = nil
		got := must.Get(runAll(context.Background(), env, "x", count(c.tasks, &ran), nil))(t)
		if len(got) != c.tasks || int(ran.Load()) != c.runs || !slices.Equal(events, c.events) {
			t.Errorf("round %d: %d results, %d runs, events %v", round, len(got), ran.Load(), events)
		}
		for i, v := range got {
			must.Hold(t, v == 10*i, "round %d: result %d is %d", round, i, v)
		}
	}
}

// TestRunAllMixed has finished tasks between others. Run it with -race.
func TestRunAllMixed(t *testing.T) {
	env := Env{Out: t.TempDir(), Progress: func(int, int, string) {}}
	var ran atomic.Int64
	tasks := count(40, &ran)
	odd := []task[int]{}
	for i := 1; i < 40; i += 2 {
		odd = append(odd, tasks[i])
	}
	must.Get(runAll(context.Background(), env, "x", odd, nil))(t)
	last := 0
	env.Progress = func(done, total int, _ string) { last = max(last, done) }
	if _, err := runAll(context.Background(), env, "x", tasks, nil); err != nil || ran.Load() != 40 || last != 40 {
		t.Errorf("%d runs, the last was number %d: %v", ran.Load(), last, err)
	}
}

// TestRunAllInterrupted: tasks that finished before an interruption, or beside a failure, are kept.
func TestRunAllInterrupted(t *testing.T) {
	env := Env{Out: t.TempDir()}
	ctx, cancel := context.WithCancel(context.Background())
	var ran atomic.Int64
	tasks := count(200, &ran)
	for i := range tasks {
		run := tasks[i].run
		tasks[i].run = func(ctx context.Context) (int, error) {
			if ran.Load() == 50 {
				cancel()
			}
			return run(ctx)
		}
	}
	_, err := runAll(ctx, env, "x", tasks, nil)
	cancel()
	if err == nil || !strings.Contains(err.Error(), "interrupted") || !strings.Contains(err.Error(), "x.jsonl") {
		t.Errorf("%v", err)
	}
	done := ran.Load()
	must.Need(t, done >= 50 && done <= 100, "%d runs before the interrupt took effect", done)
	if _, err := runAll(context.Background(), env, "x", count(200, &ran), nil); err != nil || ran.Load() != 200 {
		t.Errorf("%d runs in all, %v", ran.Load(), err)
	}

	broken := errors.New("broken")
	tasks = count(3, &ran)
	tasks[1].run = func(context.Context) (int, error) { return 0, broken }
	if _, err := runAll(context.Background(), env, "y", tasks, nil); !errors.Is(err, broken) {
		t.Errorf("a task fails: %v", err)
	}
	ran.Store(0)
	if _, err := runAll(context.Background(), env, "y", count(3, &ran), nil); err != nil || ran.Load() != 1 {
		t.Errorf("after a failure: %d runs, %v", ran.Load(), err)
	}
}

// TestRunAllDamaged: an error names a half-written line, and no other result is lost.
func TestRunAllDamaged(t *testing.T) {
	env := Env{Out: t.TempDir()}
	var ran atomic.Int64
	must.Get(runAll(context.Background(), env, "x", count(4, &ran), nil))(t)
	path := filepath.Join(env.Out, "x.jsonl")
	whole := must.Get(os.ReadFile(path))(t)
	must.Do(t, os.WriteFile(path, whole[:len(whole)-9], 0o600))
	ran.Store(0)
	_, err := runAll(context.Background(), env, "x", count(4, &ran), nil)
	if err == nil || !strings.Contains(err.Error(), "x.jsonl: line 4") || !strings.Contains(err.Error(), "remove it") ||
		ran.Load() != 0 {
		t.Fatalf("%d runs, %v", ran.Load(), err)
	}
	// as the message advises
	lines := bytes.SplitAfter(whole, []byte("\n"))
	must.Do(t, os.WriteFile(path, bytes.Join(lines[:3], nil), 0o600))
	if got, err := runAll(context.Background(), env, "x", count(4, &ran), nil); err != nil || ran.Load() != 1 ||
		!slices.Equal(got, []int{0, 10, 20, 30}) {
		t.Errorf("%v after %d runs, %v", got, ran.Load(), err)
	}
	// A last line without its newline counts, and the next line isn't appended to it.
	must.Do(t, os.WriteFile(path, bytes.TrimSuffix(whole, []byte("\n")), 0o600))
	for range 2 {
		if _, err := runAll(context.Background(), env, "x", count(6, &ran), nil); err != nil {
			t.Fatalf("the last line lacked its end: %v", err)
		}
	}
}

// TestRunAllOverRanks: ranks share the runs. Each result is computed once, and all ranks have all results. One rank
// continues what several ranks left, and the other way round.
func TestRunAllOverRanks(t *testing.T) {
	env := Env{Out: t.TempDir()}
	var ran atomic.Int64
	over := func(tasks int) {
		t.Helper()
		var wait sync.WaitGroup
		for _, r := range ranks.Threads(3) {
			env := env
			env.Ranks = r
			wait.Go(func() {
				got, err := runAll(context.Background(), env, "x", count(tasks, &ran), nil)
				if err = r.Close(err); err != nil {
					t.Error(err)
				}
				for i, v := range got {
					must.Hold(t, v == 10*i, "rank %d: result %d is %d", r.Rank(), i, v)
				}
			})
		}
		wait.Wait()
	}
	over(20)
	must.Hold(t, ran.Load() == 20, "20 runs were made %d times", ran.Load())
	if _, err := runAll(context.Background(), env, "x", count(25, &ran), nil); err != nil || ran.Load() != 25 {
		t.Errorf("one rank went on with %d runs (%v), want 5", ran.Load()-20, err)
	}
	over(30)
	must.Hold(t, ran.Load() == 30, "three went on with %d runs, want 5", ran.Load()-25)
}
