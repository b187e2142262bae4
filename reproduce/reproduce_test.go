package reproduce

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image/png"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/krigo-gp/krigo/internal/linalg"
	"github.com/krigo-gp/krigo/kernel"
	"github.com/krigo-gp/krigo/objective"
	"github.com/krigo-gp/krigo/ranks"
)

// TestReebSplit: the first and last entries of numpy's RandomState(seed).permutation(506).
func TestReebSplit(t *testing.T) {
	for _, c := range []struct {
		seed       int
		head, tail []int
	}{
		{0, []int{329, 371, 219, 403, 78, 15, 487, 340}, []int{192, 117, 47, 172}},
		{1, []int{307, 343, 47, 67, 362, 132, 292, 31}, []int{72, 396, 235, 37}},
		{7, []int{357, 337, 327, 13, 418, 403, 479, 173}, []int{502, 25, 196, 175}},
	} {
		train, test := reebSplit(506, c.seed)
		if len(test) != 102 || len(train) != 404 {
			t.Errorf("seed %d: %d test rows, %d training rows", c.seed, len(test), len(train))
		}
		if !slices.Equal(test[:8], c.head) || !slices.Equal(train[400:], c.tail) {
			t.Errorf("seed %d: %v … %v, numpy has %v … %v", c.seed, test[:8], train[400:], c.head, c.tail)
		}
		all := slices.Concat(train, test)
		slices.Sort(all)
		for i, v := range all {
			if i != v {
				t.Fatalf("seed %d: row %d is %d", c.seed, i, v)
			}
		}
	}
}

// TestReebFullGP holds one split against an independent implementation of the same
// experiment (bounds to 2e-4).
func TestReebFullGP(t *testing.T) {
	for method, want := range map[string]float64{"kl-pac": 0.3121, "sqrt-pac": 0.3160, "evidence": 0.4576} {
		m, err := reebFullGP(context.Background(), 0, 0.6, method)
		if err != nil {
			t.Fatal(err)
		}
		if !(math.Abs(m.B-want) <= 2e-4) {
			t.Errorf("%s: B is %.5f, want %.4f", method, m.B, want)
		}
		if m.Valid {
			t.Errorf("%s: scaled with the test rows, and called valid", method)
		}
		if !(m.TrainRisk < m.TestRisk && m.TestRisk < m.B && m.B < m.BPin) || !(m.MSE > 0.05 && m.MSE < 0.3) || !(m.KLPerRow > 0.05 && m.KLPerRow < 0.6) {
			t.Errorf("%s: %+v", method, m)
		}
	}
}

// TestSoftplus holds the coordinates of the paper's code against their definition, and
// their slopes against differences.
func TestSoftplus(t *testing.T) {
	x, y := linalg.New(12, 2), make([]float64, 12)
	for i := range y {
		x.Row(i)[0], x.Row(i)[1], y[i] = math.Sin(float64(5*i)), math.Cos(float64(3*i)), math.Sin(float64(i))
	}
	s := softplus{&objective.Problem{Kernel: kernel.SE(2, false), Mean: kernel.ZeroMean{}, X: x, Y: y, Objective: &objective.Evidence{}}, 1}
	for _, v := range []float64{1e-3, 0.5, 1, 3, 400} {
		if back, _ := s.logs([]float64{softplusInverse(v), 0, 0}); math.Abs(back[0]-2*math.Log(v)) > 1e-9 {
			t.Errorf("l = %v comes back as %v", v, math.Exp(back[0]/2))
		}
	}
	logs, _ := s.logs([]float64{0.3, -1.2, 2})
	for i, v := range []float64{0.3, -1.2, 2} {
		want := math.Log(math.Log(1+math.Exp(v)) + 1e-6)
		if i == 0 {
			want *= 2
		}
		if math.Abs(logs[i]-want) > 1e-12 {
			t.Errorf("coordinate %d: %v, want %v", i, logs[i], want)
		}
	}
	at, gradient := []float64{0.3, -1.2, -0.7}, make([]float64, 3)
	if _, err := s.Evaluate(at, gradient); err != nil {
		t.Fatal(err)
	}
	for i := range at {
		const h = 1e-5
		value := func(step float64) float64 {
			moved := slices.Clone(at)
			moved[i] += step
			v, err := s.Evaluate(moved, make([]float64, 3))
			if err != nil {
				t.Fatal(err)
			}
			return v
		}
		if want := (value(h) - value(-h)) / (2 * h); math.Abs(gradient[i]-want) > 1e-7*math.Max(1, math.Abs(want)) {
			t.Errorf("derivative %d: %.10g, differences give %.10g", i, gradient[i], want)
		}
	}
}

// count makes n tasks that return their number and count how often they run.
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

// TestRunAll: results come in the tasks' order; what was finished isn't run again.
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
		got, err := runAll(context.Background(), env, "x", count(c.tasks, &ran), nil)
		if err != nil {
			t.Fatal(err)
		}
		if len(got) != c.tasks || int(ran.Load()) != c.runs || !slices.Equal(events, c.events) {
			t.Errorf("round %d: %d results, %d runs, events %v", round, len(got), ran.Load(), events)
		}
		for i, v := range got {
			if v != 10*i {
				t.Errorf("round %d: result %d is %d", round, i, v)
			}
		}
	}
}

// TestRunAllMixed has finished tasks among others: run with -race.
func TestRunAllMixed(t *testing.T) {
	env := Env{Out: t.TempDir(), Progress: func(int, int, string) {}}
	var ran atomic.Int64
	tasks := count(40, &ran)
	odd := []task[int]{}
	for i := 1; i < 40; i += 2 {
		odd = append(odd, tasks[i])
	}
	if _, err := runAll(context.Background(), env, "x", odd, nil); err != nil {
		t.Fatal(err)
	}
	last := 0
	env.Progress = func(done, total int, _ string) { last = max(last, done) }
	if _, err := runAll(context.Background(), env, "x", tasks, nil); err != nil || ran.Load() != 40 || last != 40 {
		t.Errorf("%d runs, the last was number %d: %v", ran.Load(), last, err)
	}
}

// TestRunAllInterrupted: what was done before an interrupt, or beside a failure, is kept.
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
	if done < 50 || done > 100 {
		t.Fatalf("%d runs before the interrupt took effect", done)
	}
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

// TestRunAllDamaged: a line that was half written is named, and nothing is lost with it.
func TestRunAllDamaged(t *testing.T) {
	env := Env{Out: t.TempDir()}
	var ran atomic.Int64
	if _, err := runAll(context.Background(), env, "x", count(4, &ran), nil); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(env.Out, "x.jsonl")
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, whole[:len(whole)-9], 0o600); err != nil {
		t.Fatal(err)
	}
	ran.Store(0)
	_, err = runAll(context.Background(), env, "x", count(4, &ran), nil)
	if err == nil || !strings.Contains(err.Error(), "x.jsonl: line 4") || !strings.Contains(err.Error(), "remove it") || ran.Load() != 0 {
		t.Fatalf("%d runs, %v", ran.Load(), err)
	}
	// As the message says.
	lines := bytes.SplitAfter(whole, []byte("\n"))
	if err := os.WriteFile(path, bytes.Join(lines[:3], nil), 0o600); err != nil {
		t.Fatal(err)
	}
	if got, err := runAll(context.Background(), env, "x", count(4, &ran), nil); err != nil || ran.Load() != 1 || !slices.Equal(got, []int{0, 10, 20, 30}) {
		t.Errorf("%v after %d runs, %v", got, ran.Load(), err)
	}
	// A last line without its end is a line all the same, and the next isn't glued to it.
	if err := os.WriteFile(path, bytes.TrimSuffix(whole, []byte("\n")), 0o600); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if _, err := runAll(context.Background(), env, "x", count(6, &ran), nil); err != nil {
			t.Fatalf("the last line lacked its end: %v", err)
		}
	}
}

func TestMeanSE(t *testing.T) {
	mean, se := meanSE([]float64{1, 2, 4, 5})
	if mean != 3 || math.Abs(se-math.Sqrt(10./3/4)) > 1e-15 {
		t.Errorf("%v ± %v", mean, se)
	}
	if mean, se := meanSE([]float64{2}); mean != 2 || !math.IsNaN(se) {
		t.Errorf("one value: %v ± %v", mean, se)
	}
}

func TestExperiments(t *testing.T) {
	for _, e := range Experiments {
		found, err := Find(e.Name)
		if err != nil || found.Title != e.Title || e.Run == nil {
			t.Errorf("%s: %v", e.Name, err)
		}
	}
	if _, err := Find("reeb-table9"); err == nil || !strings.Contains(err.Error(), "reeb-table9") || !strings.Contains(err.Error(), "reeb-table1") {
		t.Errorf("unknown: %v", err)
	}
	// The printed table has a row for every ε and method, with every measure.
	for _, eps := range reebEpsilons {
		for _, method := range reebMethods {
			if p := paperTable1[row(eps, method)]; len(p) != len(measureNames) || len(p) != len(measures{}.values()) {
				t.Errorf("%s: %d figures", row(eps, method), len(p))
			}
		}
	}
}

// TestFigures draws those that need no training.
func TestFigures(t *testing.T) {
	for _, name := range []string{"reeb-fig4", "reeb-fig5"} {
		e, err := Find(name)
		if err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		env := Env{Out: t.TempDir(), Stdout: &out}
		if err := e.Run(context.Background(), env); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(env.Out, name+".png")
		file, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		picture, err := png.Decode(file)
		if err != nil || picture.Bounds().Dx() < 400 || !strings.Contains(out.String(), path) {
			t.Errorf("%s: %v, %q", name, err, out.String())
		}
	}
}

// TestRunAllOverRanks: ranks share the runs, each result is computed once, and all have all of them; one
// rank goes on with what several have left, and they with what it has.
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
					if v != 10*i {
						t.Errorf("rank %d: result %d is %d", r.Rank(), i, v)
					}
				}
			})
		}
		wait.Wait()
	}
	over(20)
	if ran.Load() != 20 {
		t.Errorf("20 runs were made %d times", ran.Load())
	}
	if _, err := runAll(context.Background(), env, "x", count(25, &ran), nil); err != nil || ran.Load() != 25 {
		t.Errorf("one rank went on with %d runs (%v), want 5", ran.Load()-20, err)
	}
	over(30)
	if ran.Load() != 30 {
		t.Errorf("three went on with %d runs, want 5", ran.Load()-25)
	}
}
