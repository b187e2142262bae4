package krigo_test

import (
	"encoding/json"
	"errors"
	"math"
	"math/rand/v2"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/krigo-gp/krigo"
	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/finding"
	"github.com/krigo-gp/krigo/internal/must"
	"github.com/krigo-gp/krigo/method"
)

// TestRace: kernels race for a few steps each, and only the best is trained on, or the best two (here matern32 and se) if
// they are nearly alike. The fit resumes from a checkpoint in the race and in each of the ends. A budget ends the race
// early. Users who ask for steps or starts get no race.
func TestRace(t *testing.T) {
	must.Long(t)
	raceOf := krigo.Options{
		Data:   krigo.Data{Target: "MEDV"},
		Kernel: krigo.Kernel{Expression: "se,matern32,rq", ARD: "on"},
		Method: krigo.Method{Name: "nearest", Neighbours: 4, Optimizer: "adam", Batch: 64},
		Prior:  krigo.Prior{Kind: "informed"},
		Run:    krigo.Run{Seed: 5},
	}
	o := raceOf
	var events []krigo.Event
	o.Run.Progress = func(e krigo.Event) {
		if e.Stopped != "" {
			events = append(events, e)
		}
	}
	want := trained(t, half(), o)
	raced := want.Findings.Of(finding.KernelByRace)
	must.Need(t, len(raced) == 1 && raced[0].Numbers[0] == 3 && want.Training.Starts == 3,
		"%d starts, %q", want.Training.Starts, want.Findings)
	var ends [][4]int
	for _, e := range events {
		ends = append(ends, [4]int{e.Start, e.Starts, e.Iteration, e.Of})
	}
	slices.SortFunc(ends[:3], func(a, b [4]int) int { return a[0] - b[0] }) // small kernels are trained side by side
	var stages []string
	for _, e := range events {
		stages = append(stages, e.Stage)
	}
	slices.Sort(stages)
	must.Need(t,
		slices.Equal(stages, []string{"best kernel 1 of 2", "best kernel 2 of 2", "kernel 1 of 3", "kernel 2 of 3", "kernel 3 of 3"}),
		"%q", stages)
	few, all := events[0].Iteration, events[3].Iteration
	must.Need(t,
		slices.Equal(ends, [][4]int{{1, 3, few, few}, {2, 3, few, few}, {3, 3, few, few}, {2, 3, all, all}, {1, 3, all, all}}) &&
			all >= 2*few && want.Training.Iterations == few+2*all,
		"%v, %d iterations", ends, want.Training.Iterations)
	for _, stop := range []int{few + 10, 3*few + 1, 3*few + 40, 2*few + all + 5} {
		halt, last, calls := errors.New("halt"), []byte(nil), 0
		o := raceOf
		o.Run.Save = func(c *krigo.Checkpoint) (err error) {
			if calls++; calls < stop {
				return nil
			}
			last, err = json.Marshal(c)
			return errors.Join(err, halt)
		}
		must.Need(t, errors.Is(attempt(half(), o), halt), "it didn't stop at step %d", stop)
		o.Run.Save, o.Run.Resume = nil, new(krigo.Checkpoint)
		must.Do(t, json.Unmarshal(last, o.Run.Resume))
		m := trained(t, half(), o)
		must.Hold(t, reflect.DeepEqual(m.Certificate, want.Certificate) &&
			m.Training.Iterations == want.Training.Iterations &&
			slices.Equal(m.Trained().Theta, want.Trained().Theta),
			"resumed from step %d: %+v, want %+v", stop, m.Training, want.Training)
	}

	o = raceOf
	o.Run.Budget = time.Nanosecond
	m := trained(t, half(), o)
	must.Hold(t, len(m.Findings.Of(finding.BudgetSpent)) == 1 && m.Training.Iterations == all,
		"%+v, %q", m.Training, m.Findings)
	_, differs, err := m.Refit(t.Context(), half(), nil)
	must.Hold(t, differs == "" && err == nil, "fitted again: %s, %v", differs, err)

	steps := raceOf
	steps.Method.Epochs = 2
	starts := raceOf
	starts.Run.Restarts = 2
	for name, o := range map[string]krigo.Options{"steps": steps, "starts": starts} {
		m := trained(t, half(), o)
		must.Hold(t, len(m.Findings.Of(finding.KernelByRace)) == 0 &&
			len(m.Findings.Of(finding.KernelByValue)) == 1, "%s: %q", name, m.Findings)
	}
}

// TestFewerNeighbours: a model that predicts from fewer than 512 neighbours has the same predictions after it was saved
// and loaded, on another number of cores too, and a refit finds the same number of neighbours.
func TestFewerNeighbours(t *testing.T) {
	must.Long(t)
	const rows = 9150 // seven of eight are prior rows, which are just enough for fewer neighbours
	rng, table := rand.New(rand.NewPCG(1, 3)), &dataset.Table{Source: "rows", Names: []string{"x", "y"}, Rows: rows}
	for i := range rows {
		x := float64(i) / 100
		table.Values = append(table.Values, x, math.Sin(x)+.01*rng.NormFloat64())
	}
	m := trained(t, table, krigo.Options{
		Kernel: krigo.Kernel{Expression: "matern12"},
		Method: krigo.Method{
			Name:       "nearest",
			Neighbours: 2,
			Optimizer:  "adam",
			Batch:      4096,
			Epochs:     1,
		},
		Prior: krigo.Prior{Kind: "informed"},
	})
	_, nearest := m.Posterior.Arrays()
	must.Need(t, nearest < method.PredictiveRows, "%d nearest rows", nearest)
	few := &dataset.Table{Names: table.Names, Rows: 100, Values: table.Values[:200]}
	want, path := predict(t, m, few), filepath.Join(t.TempDir(), "m.krigo")
	must.Do(t, m.Save(path))
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(3))
	back := must.Get(krigo.Load(path))(t)
	must.Hold(t, slices.Equal(predict(t, back, few), want), "the predictions differ")
	_, differs, err := back.Refit(t.Context(), table, nil)
	must.Hold(t, err == nil && differs == "", "fitted again: %s, %v", differs, err)
}
