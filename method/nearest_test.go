package method_test

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/krigo-gp/krigo/internal/must"
	"github.com/krigo-gp/krigo/kernel"
	"github.com/krigo-gp/krigo/matrix"
	"github.com/krigo-gp/krigo/method"
	"github.com/krigo-gp/krigo/objective"
	"github.com/krigo-gp/krigo/posterior"
)

// ridge returns a task whose target depends on one of its inputs, and a start.
func ridge(n int) (method.Task, []float64) {
	rng := rand.New(rand.NewPCG(4, 4))
	rows := objective.Memory{X: matrix.New(n, 3), Y: make([]float64, n)}
	for i := range rows.X.Data {
		rows.X.Data[i] = rng.NormFloat64()
	}
	for i := range n {
		rows.Y[i] = math.Sin(2*rows.X.At(i, 0)) + 0.1*rng.NormFloat64()
	}
	k := kernel.Matern32(3, true)
	t := method.Task{Kernel: k, Mean: kernel.LinearMean{}, Rows: rows, All: rows, N: n, Seed: 5, Limit: 6}
	return t, []float64{0, 0, 0, 0, 0, math.Log(0.1)}
}

var errStopped = errors.New("stopped")

// kept keeps the last state of every run, as files do, and stops after a number of steps.
type kept struct {
	states map[string][]byte
	left   int
}

func (k *kept) run(t *testing.T) method.Run {
	return method.Run{Key: "run", Load: func(key string) *method.State {
		if k.states[key] == nil {
			return nil
		}
		s := &method.State{}
		must.Do(t, json.Unmarshal(k.states[key], s))
		return s
	}, Tell: func(key string, s *method.State, _ int, _ float64, _ string) error {
		b := must.Get(json.Marshal(s))(t)
		k.states[key] = b
		if k.left--; k.left == 0 {
			return errStopped
		}
		return nil
	}}
}

// TestNearestResumes shows that a run that stops before, at or after a search resumes to end with the same bits.
func TestNearestResumes(t *testing.T) {
	for name, m := range map[string]method.Nearest{
		"batches": {Neighbours: 8, Batched: method.Batched{Optimizer: "adam", Batch: 50, Epochs: 9}},
		"vecchia": {Neighbours: 8, Batched: method.Batched{Optimizer: "adam", Batch: 50, Epochs: 9},
			Form: "vecchia", Term: "crps", Searches: 2},
		"descent": {Neighbours: 8},
	} {
		task, x := ridge(200)
		minimize := func(stops ...int) ([]float64, float64) {
			k := &kept{states: map[string][]byte{}}
			for _, k.left = range stops {
				if _, err := m.Bind(task).Minimize(context.Background(), k.run(t), x); !errors.Is(err, errStopped) {
					t.Fatal(err)
				}
			}
			r := must.Get(m.Bind(task).Minimize(context.Background(), k.run(t), x))(t)
			return r.X, r.Value
		}
		want, value := minimize()
		// Searches are due before the steps 0, 4 and 16 of 36, or 0 and 9.
		for _, stops := range [][]int{{3}, {4}, {5}, {9}, {15, 1, 1, 4}, {17, 10}} {
			if got, v := minimize(stops...); !slices.Equal(got, want) || v != value {
				t.Errorf("%s, stopped after %v: %v at %v, without a stop %v at %v", name, stops, v, got, value, want)
			}
		}
	}
}

// TestNearestRaces shows that a run goes on from its race, and that a run that stops in any of its parts resumes to end
// with the same bits. A run from parameters that were trained before has one part.
func TestNearestRaces(t *testing.T) {
	m := method.Nearest{Neighbours: 4, Batched: method.Batched{Optimizer: "adam", Batch: 40}}
	task, x := ridge(80)
	k := &kept{states: map[string][]byte{}}
	want := must.Get(m.Bind(task).Minimize(t.Context(), k.run(t), x))(t)
	for _, stop := range []int{7, 300, 301, 310} {
		k := &kept{states: map[string][]byte{}, left: stop}
		_, err := m.Bind(task).Minimize(t.Context(), k.run(t), x)
		must.Hold(t, errors.Is(err, errStopped), "%v", err)
		got := must.Get(m.Bind(task).Minimize(t.Context(), k.run(t), x))(t)
		must.Hold(t, slices.Equal(got.X, want.X) && got.Iterations == want.Iterations,
			"stopped at %d: %v, want %v", stop, got, want)
	}
	k = &kept{states: map[string][]byte{}}
	race := must.Get(m.Bind(task).(method.Racer).Race(t.Context(), k.run(t), x))(t)
	k.left = want.Iterations - race.Iterations + 1 // the race isn't run again
	got := must.Get(m.Bind(task).Minimize(t.Context(), k.run(t), x))(t)
	must.Hold(t, slices.Equal(got.X, want.X) && race.Iterations < want.Iterations/2,
		"after a race of %d steps: %v, want %v", race.Iterations, got, want)
	task.Started = true
	r := must.Get(m.Bind(task).Minimize(t.Context(), (&kept{states: map[string][]byte{}}).run(t), want.X))(t)
	must.Hold(t, r.Iterations == want.Iterations-race.Iterations &&
		!m.Bind(task).(method.Racer).Races(), "%d steps", r.Iterations)
}

// TestNearestLearns shows that the input that matters gets the shortest lengthscale, and that Q predicts.
func TestNearestLearns(t *testing.T) {
	task, x := ridge(600)
	for name, m := range map[string]method.Nearest{
		"batches": {Batched: method.Batched{Optimizer: "adam", Batch: 64, Epochs: 40}},
		"descent": {Neighbours: 16},
		"crps":    {Neighbours: 16, Term: "crps"},
	} {
		p := m.Bind(task)
		r := must.Get(p.Minimize(context.Background(), (&kept{states: map[string][]byte{}}).run(t), x))(t)
		must.Hold(t, r.X[0] < r.X[1]-1.5 && r.X[0] < r.X[2]-1.5, "%s: ln l² are %v", name, r.X[:3])
		q, _, err := p.Posterior(r.X)
		must.Do(t, err)
		if _, count := q.Arrays(); q.Kind() != posterior.ByNearest || count != 512 {
			t.Errorf("%s: posterior %s of %d", name, q.Kind(), count)
		}
		var square float64
		points, mean := matrix.New(200, 3), make([]float64, 200)
		rng := rand.New(rand.NewPCG(6, 6))
		for i := range points.Data {
			points.Data[i] = rng.NormFloat64()
		}
		q.Latent(points, mean, nil)
		for i, v := range mean {
			e := v - math.Sin(2*points.At(i, 0))
			square += e * e / 200
		}
		must.Hold(t, square < 0.01, "%s: mean squared error %v", name, square)
		if v, _ := p.Evaluate(r.X, nil); v != r.Value {
			t.Errorf("%s: %v at the end, again %v", name, r.Value, v)
		}
	}
}

// TestUnits: copies of a row in its own group don't make the noise small.
func TestUnits(t *testing.T) {
	for name, m := range map[string]method.Method{"nearest": method.Nearest{Neighbours: 16},
		"evidence": method.Evidence{MAP: method.MAP{Hyperprior: "weak"}}} {
		t.Run(name, func(t *testing.T) { copied(t, m) })
	}
}

func copied(t *testing.T, m method.Method) {
	task, x := ridge(600)
	rng := rand.New(rand.NewPCG(7, 7))
	for i := range task.N {
		if i%2 == 0 {
			task.All.Y[i] += rng.NormFloat64()
			continue
		}
		copy(task.All.X.Row(i), task.All.X.Row(i-1))
		task.All.Y[i] = task.All.Y[i-1] + 0.1*rng.NormFloat64()
	}
	noise := func() float64 {
		p := m.Bind(task)
		r := must.Get(p.Minimize(context.Background(), (&kept{states: map[string][]byte{}}).run(t),
			must.Get(p.Start(x))(t)))(t)
		return math.Exp(r.X[len(x)-1])
	}
	alone := noise()
	for i := range task.N {
		task.Units = append(task.Units, i/2)
	}
	apart := noise()
	must.Hold(t, alone < 0.1 && apart > 0.7, "noise %v of rows, %v of groups", alone, apart)
}
