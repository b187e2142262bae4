package command

import (
	"context"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"strings"
	"time"

	"github.com/krigo-gp/krigo"
	"github.com/krigo-gp/krigo/internal/cautious"
	"github.com/krigo-gp/krigo/internal/spelling"
	"github.com/krigo-gp/krigo/model"
)

// progress prints how training goes. On a terminal it overwrites one line.
// Otherwise it prints a line when a run ends, and every few seconds in between.
type progress struct {
	w        io.Writer
	terminal bool
	now      func() time.Time
	last     time.Time // the time of the last line
	open     bool      // an unfinished line stands on the terminal
}

// newProgress returns a progress that writes to w, or one that writes nothing if quiet.
func newProgress(w io.Writer, quiet bool) *progress {
	if quiet {
		return &progress{}
	}
	p := &progress{w: w, now: time.Now, last: time.Now()}
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

// due says whether a line is due. Between two lines there is a time, so that a log stays short.
func (p *progress) due() bool {
	if p.w == nil || p.now().Sub(p.last) < p.every() {
		return false
	}
	p.last = p.now()
	return true
}

// event prints what training does. It says no time, since nobody knows how many iterations a run
// takes, and which kernels and predictions follow.
func (p *progress) event(e krigo.Event) {
	if p.w != nil && (e.Stopped != "" || p.due()) {
		p.print(described(e))
	}
}

// described says in words what an event tells.
func described(e krigo.Event) string {
	stage := e.Stage
	step := fmt.Sprintf("iteration %d", e.Iteration)
	if stage != "" && !strings.HasSuffix(stage, ": ") {
		stage += ", "
	}
	step += spelling.If(e.Of > 0, " of %d", e.Of)
	switch {
	case e.Looking:
		return "looking for what ties rows together" + spelling.If(e.Of > 0, ": %d of %d",
			e.Iteration, e.Of)
	case e.Comparing:
		return fmt.Sprintf("%scomparing kernels, %s: step %d of %d", stage, e.Family,
			e.Iteration, e.Of)
	case e.Residual > 0:
		return fmt.Sprintf("%s%s: %s, residual %.1e", stage, e.Solver, step, e.Residual)
	case e.Iteration == 0:
		return fmt.Sprintf("%s%s: %s", stage, e.Family, e.Stopped)
	}
	line := fmt.Sprintf("%s%s: %s, objective %.5g", stage, e.Family, step, e.Value)
	return line + spelling.If(e.Stopped != "", ", %s", e.Stopped)
}

// rows prints how many rows of a table are predicted.
// It says no time, since writing the predictions may take longer.
func (p *progress) rows(done, of int) {
	if p.due() {
		p.print(fmt.Sprintf("predicting: %d of %d rows", done, of))
	}
}

// telling returns a context in which progress prints how many rows of a table are predicted.
func (p *progress) telling(ctx context.Context) context.Context {
	return model.Telling(ctx, p.rows)
}

// compared prints that a fit of a comparison is done.
// It says no time, since other objectives take other times.
func (p *progress) compared(c krigo.Compared) {
	if p.w == nil {
		return
	}
	line := fmt.Sprintf("%d of %d fits done: %s, ε %s, seed %d", c.Done, c.Total, c.Objective,
		cautious.Width(c.Epsilon), c.Seed)
	if v, ok := c.Measures["bound"]; ok {
		line += fmt.Sprintf(", bound %.4f", cautious.RoundUp(v, 4))
	}
	if v, ok := c.Measures["mse"]; ok {
		line += fmt.Sprintf(", mse %.4f", v)
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

// late says a line if work takes longer than this time. stop waits until it is said.
func (p *progress) late(after time.Duration, line string) (stop func()) {
	said := make(chan struct{})
	timer := time.AfterFunc(after, func() {
		p.say(line)
		close(said)
	})
	return func() {
		if !timer.Stop() {
			<-said
		}
	}
}

// print prints a line. On a terminal the line takes the place of the line before (\r, ESC [K).
func (p *progress) print(line string) {
	if p.terminal {
		fmt.Fprintf(p.w, "\r\x1b[K%s", line)
		p.open = true
	} else {
		fmt.Fprintln(p.w, line)
	}
}

// end ends an unfinished line, so that what follows begins on a line of its own.
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
