package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/krigo-gp/krigo"
	"github.com/krigo-gp/krigo/data"
	"github.com/krigo-gp/krigo/internal/must"
	"github.com/krigo-gp/krigo/train"
)

// banana is Rosenbrock's function. It interrupts the run at a given evaluation.
type banana struct {
	evaluations, stopAt int
	stop                func()
}

func (b *banana) Dim() int { return 2 }

func (b *banana) Evaluate(x, g []float64) (float64, error) {
	if b.evaluations++; b.evaluations == b.stopAt {
		b.stop()
	}
	d, e := x[1]-x[0]*x[0], 1-x[0]
	if g != nil {
		g[0], g[1] = -400*d*x[0]-2*e, 200*d
	}
	return 100*d*d + e*e, nil
}

// TestMinimizeResumes: a run that was interrupted, or stopped at a limit that is raised later, ends like an
// uninterrupted run and leaves no state behind.
func TestMinimizeResumes(t *testing.T) {
	start := []float64{-1.2, 1}
	env := Env{Out: t.TempDir()}
	whole := must.Get(env.minimize(context.Background(), "a/b", 0, &banana{}, train.Bounds{}, start))(t)

	ctx, cancel := context.WithCancel(context.Background())
	if _, err := env.minimize(ctx, "a/b", 0, &banana{stopAt: 9, stop: cancel}, train.Bounds{}, start); !errors.Is(err,
		context.Canceled) {
		t.Fatal(err)
	}
	rest := &banana{}
	r, err := env.minimize(context.Background(), "a/b", 0, rest, train.Bounds{}, start)
	if err != nil || !slices.Equal(r.X, whole.X) || r.Evaluations != whole.Evaluations ||
		rest.evaluations >= whole.Evaluations {
		t.Errorf("interrupted: %+v after %d evaluations, in one go %+v: %v", r, rest.evaluations, whole, err)
	}

	if r, err := env.minimize(context.Background(), "a/b", 10, &banana{}, train.Bounds{}, start); err != nil ||
		r.Stopped != train.EvaluationLimit {
		t.Fatal(r, err)
	}
	if r, err := env.minimize(context.Background(), "a/b", 6, &banana{}, train.Bounds{}, start); err != nil ||
		r.Evaluations > 6 {
		t.Errorf("a lower limit takes a state beyond it: %+v, %v", r, err)
	}
	r, err = env.minimize(context.Background(), "a/b", 0, &banana{}, train.Bounds{}, start)
	if err != nil || !slices.Equal(r.X, whole.X) || r.Evaluations != whole.Evaluations {
		t.Errorf("with a higher limit: %+v, in one go %+v: %v", r, whole, err)
	}
	if left, _ := filepath.Glob(filepath.Join(env.Out, "states", "*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}

	must.Do(t, os.WriteFile(stateOf(t, env, "a/b"), []byte("{"), 0o600))
	if _, err := env.minimize(context.Background(), "a/b", 0, &banana{}, train.Bounds{}, start); err == nil {
		t.Error("a damaged state is taken")
	}
}

// TestFitResumes: an interrupted fit goes on from its checkpoint and ends like an uninterrupted fit. A checkpoint of
// another fit is refused with its file's name.
func TestFitResumes(t *testing.T) {
	o := krigo.Options{Data: krigo.Data{Target: "MEDV"}, Method: krigo.Method{Name: "vfe", Inducing: 5, Epochs: 6},
		Kernel: krigo.Kernel{ARD: "off"}}
	before := saveEvery
	saveEvery = 0
	defer func() { saveEvery = before }()
	steps := interrupt{after: -1}
	env := Env{Out: t.TempDir(), Partial: &steps}
	whole := must.Get(env.fit(context.Background(), "a/b", data.Boston(), o))(t)

	ctx, cancel := context.WithCancel(context.Background())
	told := interrupt{after: 2, stop: cancel}
	env.Partial = &told
	if _, err := env.fit(ctx, "a/b", data.Boston(), o); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	path := stateOf(t, env, "a/b")
	must.Hold(t, path != stateOf(t, env, "a+b"), "two runs have one file")
	state := must.Get(os.ReadFile(path))(t)
	rest := interrupt{after: -1}
	env.Partial = &rest
	m, err := env.fit(context.Background(), "a/b", data.Boston(), o)
	// The fit reports the state that it resumes from once more.
	if err != nil || m.Certificate.Bound != whole.Certificate.Bound || rest.times == 0 || rest.times+
		told.times != steps.times+1 {
		t.Errorf("interrupted after %d steps, resumed for %d, in one go %d: %v", told.times, rest.times, steps.times, err)
	}
	if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
		t.Error("left behind:", err)
	}

	must.Do(t, os.WriteFile(path, state, 0o600))
	o.Run.Seed++
	if _, err := env.fit(context.Background(), "a/b", data.Boston(), o); !errors.Is(err, krigo.ErrOtherCheckpoint) ||
		!strings.Contains(err.Error(), path) {
		t.Errorf("another fit's checkpoint: %v", err)
	}
}

// interrupt stops a run after a number of reports.
type interrupt struct {
	times, after int
	stop         func()
}

func (i *interrupt) Write(p []byte) (int, error) {
	if i.times++; i.times == i.after {
		i.stop()
	}
	return len(p), nil
}

// stateOf returns the file of a run's state.
func stateOf(t *testing.T, env Env, key string) string {
	t.Helper()
	k := must.Get(keep[struct{}](env, key))(t)
	return k.path
}
