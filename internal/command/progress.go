package command

import (
	"context"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"time"

	"github.com/krigo-gp/krigo"
	"github.com/krigo-gp/krigo/internal/cautious"
	"github.com/krigo-gp/krigo/model"
)

// progress prints how training goes. On a terminal it overwrites one line. Otherwise it prints a line when a run ends,
// and every few seconds in between.
type progress struct {
	w        io.Writer
	terminal bool
	begin    time.Time
	last     time.Time
	open     bool // an unfinished line stands on the terminal

	run      string    // the run of the last line
	first    int       // the iteration of that run's first line
	runBegan time.Time // the time of that run's first line

	starts int          // number of starts that the last event named
	ended  map[int]bool // the starts of these whose runs have ended, not always in their order

	predicted int       // rows predicted so far, in the current table
	rowsBegan time.Time // the time of the table's first event
	rowsFirst int       // the rows predicted at the time rowsBegan
}

func newProgress(w io.Writer, quiet bool) *progress {
	if quiet {
		return &progress{}
	}
	p := &progress{w: w, begin: time.Now(), last: time.Now()}
	if f, ok := w.(*os.File); ok {
		info, err := f.Stat()
		p.terminal = err == nil && info.Mode()&os.ModeCharDevice != 0
	}
	return p
}

// every returns the time between two lines.
func (p *progress) every() time.Duration {
	if p.terminal {
		return 100 * time.Millisecond
	}
	return 5 * time.Second
}

func (p *progress) event(e krigo.Event) {
	if p.w == nil || (e.Stopped == "" && time.Since(p.last) < p.every()) {
		return
	}
	p.last = time.Now()
	if e.Comparing {
		p.print(fmt.Sprintf("comparing kernels, %s: %d of %d second derivatives", e.Family, e.Iteration, e.Of))
		return
	}
	if e.Starts != p.starts {
		p.starts, p.ended = e.Starts, map[int]bool{}
	}
	again := p.ended[e.Start] // the run is the end of a race, or of a search for the best start
	if e.Stopped != "" {
		p.ended[e.Start] = true
	}
	what := e.Family
	if e.Solver != "" {
		what += " by " + e.Solver
	}
	line := fmt.Sprintf("start %d of %d, %s: iteration %d, objective %.5g %s", e.Start, e.Starts, what, e.Iteration,
		e.Value, e.Stopped)
	if e.Residual > 0 {
		line = fmt.Sprintf("%s: iteration %d, residual %.1e", e.Solver, e.Iteration, e.Residual)
	}
	if key := fmt.Sprint(e.Family, e.Start, again); key != p.run || e.Iteration < p.first {
		p.run, p.first, p.runBegan = key, e.Iteration, time.Now()
	} else if took := time.Since(p.runBegan); e.Iteration > p.first && took > time.Second {
		line += fmt.Sprintf("; %.3g iterations a second", float64(e.Iteration-p.first)/took.Seconds())
	}
	switch left, known := remaining(e, len(p.ended), time.Since(p.begin)); {
	case e.Start == 1 && e.Iteration == p.first && e.Stopped == "": // the time includes the work before training
	case known:
		line += fmt.Sprintf("; about %v left", left.Round(time.Second))
	case again && e.Of > e.Iteration && e.Iteration > p.first:
		each := time.Since(p.runBegan) / time.Duration(e.Iteration-p.first)
		line += fmt.Sprintf("; about %v left", (time.Duration(e.Of-e.Iteration) * each).Round(time.Second))
	case e.Most > e.Iteration && e.Iteration > p.first && e.Stopped == "":
		line += fmt.Sprintf("; at most %v left",
			atMost(e, time.Since(p.runBegan)/time.Duration(e.Iteration-p.first)).Round(time.Second))
	}
	p.print(line)
}

// atMost returns how long training goes on if no run converges. iteration is the time of an iteration.
func atMost(e krigo.Event, iteration time.Duration) time.Duration {
	return time.Duration(e.Most*(e.Starts-e.Start+1)-e.Iteration) * iteration
}

// rows prints how many rows are predicted, how fast, and how long the other rows may take.
func (p *progress) rows(done, of int) {
	if done < p.predicted || p.predicted == 0 { // another table begins
		p.rowsBegan, p.rowsFirst = time.Now(), done
	}
	p.predicted = done
	if p.w == nil || time.Since(p.last) < p.every() {
		return
	}
	p.last = time.Now()
	line := fmt.Sprintf("predicting: %d of %d rows", done, of)
	if took := time.Since(p.rowsBegan); done > p.rowsFirst && done < of {
		rate := float64(done-p.rowsFirst) / took.Seconds()
		line += fmt.Sprintf(", %.0f a second; about %v left", rate,
			time.Duration(float64(of-done)/rate*1e9).Round(time.Second))
	}
	p.print(line)
}

// telling returns a context in which progress prints how many rows of a table are predicted.
func (p *progress) telling(ctx context.Context) context.Context { return model.Telling(ctx, p.rows) }

// remaining estimates how long training may still take, if all starts take about as long as the ended starts. The
// time is known from the first step if a run says how many steps it takes, otherwise when the first run has ended.
func remaining(e krigo.Event, ended int, elapsed time.Duration) (left time.Duration, known bool) {
	done := float64(ended)
	switch {
	case e.Residual > 0:
		return 0, false
	case e.Of > 0 && e.Stopped == "":
		done += float64(e.Iteration) / float64(e.Of)
	}
	share := done / float64(e.Starts)
	if !(share > 0 && share < 1) {
		return 0, false
	}
	return time.Duration(float64(elapsed) * (1 - share) / share), true
}

// compared prints that a fit of a comparison is done, and how long the other fits may take.
func (p *progress) compared(c krigo.Compared) {
	if p.w == nil {
		return
	}
	line := fmt.Sprintf("%d of %d fits done: %s, ε %s, seed %d", c.Done, c.Total, c.Objective, cautious.Width(c.Epsilon),
		c.Seed)
	if v, ok := c.Measures["bound"]; ok {
		line += fmt.Sprintf(", bound %.4f", cautious.RoundUp(v, 4))
	}
	if v, ok := c.Measures["mse"]; ok {
		line += fmt.Sprintf(", mse %.4f", v)
	}
	if c.Done < c.Total {
		left := time.Since(p.begin) / time.Duration(c.Done) * time.Duration(c.Total-c.Done)
		line += fmt.Sprintf("; about %v left", left.Round(time.Second))
	}
	p.print(line)
}

// say prints a line that stays on a terminal.
func (p *progress) say(line string) {
	if p.w != nil {
		p.print(line)
		p.end()
	}
}

func (p *progress) print(line string) {
	if p.terminal {
		fmt.Fprintf(p.w, "\r\x1b[K%s", line)
		p.open = true
	} else {
		fmt.Fprintln(p.w, line)
	}
}

func (p *progress) end() {
	if p.open {
		fmt.Fprintln(p.w)
		p.open = false
	}
}

// release is the version of a build by scripts/release.
var release string

// version returns the version of the release, or of the module, as the Go tool recorded it.
func version() string {
	if release != "" {
		return release
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "(devel)"
}
