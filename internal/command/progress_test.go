package command

import (
	"strings"
	"testing"
	"time"

	"github.com/krigo-gp/krigo"
	"github.com/krigo-gp/krigo/internal/must"
)

// clocked returns a progress that prints to b by a clock which starts at zero and stands still. The function sets it.
func clocked(b *strings.Builder) (p *progress, at func(seconds int)) {
	var now time.Time
	p = newProgress(b, false)
	p.now = func() time.Time { return now }
	p.last = now
	return p, func(seconds int) { now = time.Time{}.Add(time.Duration(seconds) * time.Second) }
}

// TestTraining: lines on training name the stage, the kernel and the iteration, and no time. There is a line when a run
// ends, and every five seconds.
func TestTraining(t *testing.T) {
	var b strings.Builder
	p, at := clocked(&b)
	for _, c := range []struct {
		seconds int
		e       krigo.Event
		want    string
	}{
		{1, krigo.Event{Stage: "kernel 3 of 6", Family: "matern52", Iteration: 23, Value: 143}, ""},
		{5, krigo.Event{Stage: "kernel 3 of 6", Family: "matern52", Iteration: 24, Value: 142.7812},
			"kernel 3 of 6, matern52: iteration 24, objective 142.78\n"},
		{9, krigo.Event{Stage: "kernel 3 of 6", Family: "matern52", Iteration: 25, Value: 142}, ""},
		{10, krigo.Event{Stage: "kernel 3 of 6", Family: "matern52", Iteration: 30, Value: 142, Stopped: "converged"},
			"kernel 3 of 6, matern52: iteration 30, objective 142, converged\n"},
		{11, krigo.Event{Stage: "best kernel", Family: "rq", Iteration: 300, Of: 900, Value: 7, Stopped: "step limit"},
			"best kernel, rq: iteration 300 of 900, objective 7, step limit\n"},
		{16, krigo.Event{Stage: "all rows: ", Family: "se", Iteration: 2, Value: 1},
			"all rows: se: iteration 2, objective 1\n"},
		{21, krigo.Event{Family: "se", Iteration: 4, Of: 31, Comparing: true}, "comparing kernels, se: step 4 of 31\n"},
		{31, krigo.Event{Looking: true, Iteration: 3, Of: 40}, "looking for what ties rows together: 3 of 40\n"},
		{36, krigo.Event{Looking: true}, "looking for what ties rows together\n"},
		{41, krigo.Event{Solver: "cg", Iteration: 4, Residual: 0.01}, "cg: iteration 4, residual 1.0e-02\n"},
		{41, krigo.Event{Family: "se", Stopped: "parameters given"}, "se: parameters given\n"},
	} {
		b.Reset()
		at(c.seconds)
		if p.event(c.e); b.String() != c.want {
			t.Errorf("after %d s: %q, want %q", c.seconds, b.String(), c.want)
		}
	}
}

// TestPredicting: progress counts the predicted rows.
func TestPredicting(t *testing.T) {
	var b strings.Builder
	p, at := clocked(&b)
	for i, done := range []int{100, 150, 500} {
		at(10 * (i + 1))
		p.rows(done, 500)
	}
	want := "predicting: 100 of 500 rows\npredicting: 150 of 500 rows\npredicting: 500 of 500 rows\n"
	must.Be(t, b.String(), want)
}

// TestSlowInspect: inspect says what it does if it takes long, unless it shall be quiet.
func TestSlowInspect(t *testing.T) {
	workplace(t)
	before := slowInspect
	slowInspect = 0
	defer func() { slowInspect = before }()
	for _, quiet := range []bool{false, true} {
		args := []string{"inspect", "homes.csv", "--target", "MEDV"}
		if quiet {
			args = append(args, "--quiet")
		}
		o := call(t.Context(), args...)
		must.Hold(t, o.status == 0 && strings.Contains(o.stderr, "looking for what ties rows") != quiet, "%+v", o)
	}
}
