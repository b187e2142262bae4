package krigo

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/krigo-gp/krigo/iterative"
	"github.com/krigo-gp/krigo/method"
	"github.com/krigo-gp/krigo/model"
	"github.com/krigo-gp/krigo/posterior"
)

// checkpoints keeps the states of all runs, and tells the callbacks.
type checkpoints struct {
	mu       sync.Mutex // guards the states and the callbacks
	states   *Checkpoint
	progress func(Event)
	save     func(*Checkpoint) error
	stage    string // before the names of runs, of which a later stage has the same
}

// begin begins with the states to resume from, if there are any.
func begin(d *dealt) (*checkpoints, error) {
	r := d.options.Run
	print, err := d.fingerprint()
	if err != nil {
		return nil, err
	}
	c := &checkpoints{progress: r.Progress, save: r.Save,
		states: &Checkpoint{Version: checkpointVersion, Fingerprint: print, Runs: map[string]*method.State{},
			Curves: map[string]*model.Curve{}}}
	if r.Resume == nil {
		return c, nil
	}
	if err := r.Resume.checkOwn(print); err != nil {
		return nil, err
	}
	for key, state := range r.Resume.Runs {
		if err := state.Check(); err != nil {
			return nil, fmt.Errorf("the checkpoint's run %q is damaged: %w", key, err)
		}
	}
	maps.Copy(c.states.Runs, r.Resume.Runs)
	for key, curve := range r.Resume.Curves {
		if err := curve.Check(); err != nil {
			return nil, fmt.Errorf("the checkpoint's curve %q is damaged: %w", key, err)
		}
		c.states.Curves[key] = curve.Clone()
	}
	if c.save != nil {
		return c, c.save(c.states)
	}
	return c, nil
}

// allRows is the stage of a sibling of all rows, which shares the fit's checkpoint: a fit that is resumed finds it
// there though it comes afterwards.
const allRows = "all rows: "

// curves returns those of a fit's runs, in the order of their starting points.
func (c *checkpoints) curves() []*model.Curve {
	own := maps.Clone(c.states.Curves)
	maps.DeleteFunc(own, func(key string, _ *model.Curve) bool { return strings.HasPrefix(key, allRows) })
	return slices.SortedFunc(maps.Values(own), func(a, b *model.Curve) int {
		return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(a.Family, b.Family))
	})
}

// tell records a state and hands it on.
func (c *checkpoints) tell(event Event, record func()) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	record()
	key := fmt.Sprintf("%s%s/%d", c.stage, event.Family, event.Start)
	if c.states.Curves[key] == nil {
		c.states.Curves[key] = &model.Curve{Family: event.Family, Start: event.Start}
	}
	c.states.Curves[key].Add(event.Iteration, event.Value)
	if c.progress != nil {
		c.progress(event)
	}
	if c.save != nil {
		return c.save(c.states)
	}
	return nil
}

// run is where the training run of a key stands, and tells of it as of the event.
func (c *checkpoints) run(key string, event Event) method.Run {
	return method.Run{Key: c.stage + key, Load: func(key string) *method.State {
		c.mu.Lock()
		defer c.mu.Unlock()
		return c.states.Runs[key]
	}, Of: func(iterations int) { event.Of = iterations }, Most: func(iterations int) { event.Most = iterations },
		Tell: func(key string, s *method.State, iteration int, value float64, stopped string) error {
			event := event
			event.Iteration, event.Value, event.Stopped = iteration, value, stopped
			return c.tell(event, func() { c.states.Runs[key] = s })
		}}
}

// tellSolve passes the progress of single solves on.
func (c *checkpoints) tellSolve(s iterative.Progress) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.progress != nil {
		c.progress(Event{Solver: posterior.ByCG, Iteration: s.Iteration, Residual: s.Residual})
	}
}
