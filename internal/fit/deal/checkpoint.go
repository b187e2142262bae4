package deal

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/krigo-gp/krigo/fitting"
	"github.com/krigo-gp/krigo/internal/fit/ask"
	"github.com/krigo-gp/krigo/iterative"
	"github.com/krigo-gp/krigo/method"
	"github.com/krigo-gp/krigo/model"
	"github.com/krigo-gp/krigo/posterior"
)

// The states of a fit's runs: reported to callbacks, saved, and resumed if the fingerprint is the
// fit's.

// Checkpoints keeps the states of all runs, and calls the callbacks.
type Checkpoints struct {
	mu       sync.Mutex // guards the states and the callbacks
	states   *fitting.Checkpoint
	progress func(fitting.Event)
	save     func(*fitting.Checkpoint) error
	Stage    string // prefix of the names of runs, since stages use the same names
	// when the fit began, from which a budget counts; zero: no kernel is left out from now on
	Begun time.Time
}

// Begin returns the checkpoints of a fit, with the states of an earlier fit if the options resume
// it. It fails if that fit had other rows or options, or if a state is damaged.
func Begin(d *Dealt) (*Checkpoints, error) {
	r := d.Options.Run
	print, err := d.fingerprint()
	if err != nil {
		return nil, err
	}
	c := &Checkpoints{progress: r.Progress, save: r.Save, Begun: time.Now(),
		states: &fitting.Checkpoint{Version: checkpointVersion, Fingerprint: print,
			Runs:   map[string]*method.State{},
			Curves: map[string]*model.Curve{}}}
	if r.Resume == nil {
		return c, nil
	}
	if err := checkOwn(r.Resume, print); err != nil {
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

// AllRows is the stage of a sibling on all rows.
// The sibling shares the fit's checkpoint, so a resumed fit finds the sibling's state there too.
const AllRows = "all rows: "

// Sample is the stage that compares kernels on a sample of the rows.
const Sample = "sample of rows: "

// During names the runs of do after a stage within the present one.
func (c *Checkpoints) During(stage string, do func() error) error {
	was := c.Stage
	c.Stage += stage
	err := do()
	c.Stage = was
	return err
}

// Curves returns the curves of a fit's runs, in the order of their starting points.
func (c *Checkpoints) Curves() []*model.Curve {
	own := maps.Clone(c.states.Curves)
	maps.DeleteFunc(own, func(key string, _ *model.Curve) bool {
		return strings.HasPrefix(key, AllRows) || strings.HasPrefix(key, Sample)
	})
	return slices.SortedFunc(maps.Values(own), func(a, b *model.Curve) int {
		return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(a.Family, b.Family))
	})
}

// Tell records a state and passes it to the callbacks.
func (c *Checkpoints) Tell(event fitting.Event, record func()) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	record()
	key := fmt.Sprintf("%s%s/%d", c.Stage, event.Family, event.Start)
	if c.states.Curves[key] == nil {
		c.states.Curves[key] = &model.Curve{Family: event.Family, Start: event.Start}
	}
	c.states.Curves[key].Add(event.Iteration, event.Value)
	c.report(event)
	if c.save != nil {
		return c.save(c.states)
	}
	return nil
}

// report passes an event to the callback.
func (c *Checkpoints) report(event fitting.Event) {
	if c.progress != nil {
		event.Stage = c.Stage + event.Stage
		c.progress(event)
	}
}

// Run returns the training run of a key, with the state to resume from.
// The run reports its progress as changes of event.
func (c *Checkpoints) Run(key string, event fitting.Event) method.Run {
	return method.Run{Key: c.Stage + key, Load: func(key string) *method.State {
		c.mu.Lock()
		defer c.mu.Unlock()
		return c.states.Runs[key]
	}, Of: func(iterations int) { event.Of = iterations },
		Tell: func(key string, s *method.State, iteration int, value float64,
			stopped string) error {
			event := event
			event.Iteration = iteration
			event.Value = value
			event.Stopped = stopped
			return c.Tell(event, func() { c.states.Runs[key] = s })
		}}
}

// TellComparison passes the progress of a comparison of kernels to the callback.
func (c *Checkpoints) TellComparison(family string, done, of int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.report(fitting.Event{Family: family, Iteration: done, Of: of, Comparing: true})
}

// TellSolve passes the progress of a single solve to the callbacks.
func (c *Checkpoints) TellSolve(s iterative.Progress) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.report(fitting.Event{Solver: posterior.ByCG, Iteration: s.Iteration, Residual: s.Residual})
}

// checkpointVersion is the version of Checkpoint's fields.
// Version 1 had no fingerprint of all rows and options, and version 2 had another fingerprint.
const checkpointVersion = 3

// checkOwn refuses the checkpoint of another fit, and says how the other fit differs from the fit
// with this fingerprint.
func checkOwn(c *fitting.Checkpoint, fingerprint string) error {
	switch {
	case c.Version != checkpointVersion:
		return fmt.Errorf("%w: it was written by another version of krigo",
			fitting.ErrOtherCheckpoint)
	case c.Fingerprint != fingerprint:
		return fmt.Errorf("%w: %s", fitting.ErrOtherCheckpoint,
			differences(c.Fingerprint, fingerprint))
	}
	return nil
}

// differences lists the fields in which two fingerprints differ.
func differences(there, here string) string {
	// value there and value here, by the field's name
	values := map[string][2]string{}
	for side, text := range []string{there, here} {
		var fields any
		if err := json.Unmarshal([]byte(text), &fields); err != nil {
			return "krigo didn't write its fingerprint"
		}
		flatten("", fields, func(name, value string) {
			both := values[name]
			both[side] = value
			values[name] = both
		})
	}
	short := func(value string) string {
		const most = 80
		if len(value) > most {
			value = strings.ToValidUTF8(value[:most], "") + "…"
		}
		return cmp.Or(value, "not given")
	}
	var all []string
	for _, name := range slices.Sorted(maps.Keys(values)) {
		switch both := values[name]; {
		case both[0] == both[1]:
		case name == "rows" || name == "test":
			all = append(all, "other "+name)
		default:
			all = append(all, fmt.Sprintf("%s is %s there and %s here", name, short(both[0]),
				short(both[1])))
		}
	}
	return strings.Join(all, "; ")
}

// flatten calls tell with each value of nested JSON objects that isn't itself an object, and with
// its path.
func flatten(name string, v any, tell func(name, value string)) {
	if object, is := v.(map[string]any); is {
		for key, of := range object {
			flatten(strings.TrimPrefix(name+"."+key, "."), of, tell)
		}
		return
	}
	text, _ := json.Marshal(v) // can't fail: v came from JSON
	tell(name, string(text))
}

// fingerprint identifies the rows, test rows among them, and the options of a checkpoint.
// It leaves out limits of L-BFGS and MMA, since a larger limit only continues a run.
// It is JSON, so that krigo can say in words how two of them differ.
func (d *Dealt) fingerprint() (string, error) {
	o := d.Options
	if !o.Method.OnBatches() && !o.Method.Kind().Has("Anneal") {
		o.Method.Epochs = 0
	}
	of := struct {
		Rows    string      `json:"rows"`
		Inputs  []string    `json:"inputs"`
		Options ask.Options `json:"options"`
		Test    string      `json:"test,omitzero"`
	}{d.Units.Hash, d.Data.Inputs, o.Options, ""}
	if d.Test != nil {
		units, err := d.Test.Units()
		if err != nil {
			return "", err
		}
		of.Test = units.Hash
	}
	text, err := json.Marshal(of)
	return string(text), err
}
