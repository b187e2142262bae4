package command

import (
	"strings"
	"testing"
	"time"

	"github.com/krigo-gp/krigo"
)

// TestRemaining: the remaining time follows from the share of runs that are done, and the share of steps that the
// current run has done.
func TestRemaining(t *testing.T) {
	for name, c := range map[string]struct {
		e     krigo.Event
		ended int
		want  time.Duration
		known bool
	}{
		"the first step of a run of unknown length": {krigo.Event{Start: 1, Starts: 4, Iteration: 1}, 0, 0, false},
		"a run that ended": {krigo.Event{Start: 1, Starts: 4, Iteration: 9, Stopped: "converged"},
			1, 3 * time.Minute, true},
		"in the second run": {krigo.Event{Start: 2, Starts: 4, Iteration: 9}, 1, 3 * time.Minute, true},
		"a step of a run of known length": {krigo.Event{Start: 1, Starts: 1, Iteration: 25, Of: 100},
			0, 3 * time.Minute, true},
		"the same in the second of two": {krigo.Event{Start: 2, Starts: 2, Iteration: 50, Of: 100},
			1, 20 * time.Second, true},
		"the last run":                   {krigo.Event{Start: 4, Starts: 4, Stopped: "converged"}, 4, 0, false},
		"a run beside others that ended": {krigo.Event{Start: 1, Starts: 4, Stopped: "converged"}, 3, 20 * time.Second, true},
		"a single solve":                 {krigo.Event{Start: 2, Starts: 4, Residual: 0.1}, 1, 0, false},
	} {
		if left, known := remaining(c.e, c.ended, time.Minute); left != c.want || known != c.known {
			t.Errorf("%s: %v, %v; want %v, %v", name, left, known, c.want, c.known)
		}
	}
}

// TestAtMost shows that a run of unknown length tells, from its second iteration on, the longest time that it may take.
// It tells no time at the first iteration, before which much was made ready.
func TestAtMost(t *testing.T) {
	var b strings.Builder
	p := newProgress(&b, false)
	tell := func(e krigo.Event) string {
		b.Reset()
		p.last = time.Time{}
		p.event(e)
		return b.String()
	}
	p.begin = time.Now().Add(-time.Minute)
	for _, e := range []krigo.Event{{Start: 1, Starts: 2, Iteration: 1, Of: 100},
		{Family: "se", Start: 1, Starts: 2, Iteration: 1, Most: 1000}} {
		if line := tell(e); strings.Contains(line, "left") {
			t.Errorf("after the first iteration: %s", line)
		}
	}
	p.runBegan = time.Now().Add(-10 * time.Second)
	if line := tell(krigo.Event{Family: "se", Start: 1, Starts: 2, Iteration: 11, Most: 1000}); !strings.Contains(line,
		"; at most 33m") {
		t.Error(line)
	}
	for i, want := range []string{"objective 0 converged", "objective 0", "; about 4m"} { // the end of a race
		e := krigo.Event{Family: "se", Start: 1, Starts: 1, Iteration: 300 + i, Of: 560}
		if p.runBegan = time.Now().Add(-time.Second); i == 0 {
			e.Stopped = "converged"
		}
		if line := tell(e); !strings.Contains(line, want) || i < 2 && strings.Contains(line, "left") {
			t.Error(line)
		}
	}
	if left := atMost(krigo.Event{Start: 2, Starts: 2, Iteration: 400, Most: 1000}, time.Second); left != 10*time.Minute {
		t.Error(left)
	}
}

// TestPredicting: progress counts the predicted rows, and says how many are predicted a second and how much time is
// left.
func TestPredicting(t *testing.T) {
	var b strings.Builder
	p := newProgress(&b, false)
	tell := func(done int) {
		p.last = time.Time{} // pretends that enough time has gone by
		p.rows(done, 400)
	}
	tell(100)
	p.rowsBegan = time.Now().Add(-10 * time.Second)
	tell(200)
	tell(400)
	tell(100) // the rows of another table
	if lines := strings.Split(b.String(), "\n"); len(lines) != 5 || lines[0] != "predicting: 100 of 400 rows" ||
		!strings.HasPrefix(lines[1], "predicting: 200 of 400 rows, 10 a second; about 20s left") ||
		lines[2] != "predicting: 400 of 400 rows" || !strings.HasPrefix(lines[3], "predicting: 100 of 400 rows") {
		t.Errorf("%q", lines)
	}
}
