package krigo

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/krigo-gp/krigo/method"
	"github.com/krigo-gp/krigo/model"
)

// Event tells how training goes.
type Event struct {
	Family    string // kernel family, as in "se" or "se (ARD)"
	Start     int    // which starting point, from 1
	Starts    int    // of how many, over all families
	Iteration int
	Of        int     // iterations that the run from this start takes, where that is known
	Most      int     // iterations after which it stops, where that is known and they may be fewer
	Value     float64 // of the objective
	Stopped   string  // why the run from this start ended; empty while it goes on

	// Solver is how a full GP is solved; "" otherwise. While a long solve is under way,
	// Iteration is its own and Residual, otherwise 0, its relative residual.
	Solver   string
	Residual float64
}

// Checkpoint is a fit in the middle: the state of the run from every starting point.
// A fit resumes only with the same data and options.
type Checkpoint struct {
	Version     int                      `json:"version"`
	Fingerprint string                   `json:"fingerprint"` // of all rows and all options
	Runs        map[string]*method.State `json:"runs"`

	// Curves are how the runs went so far.
	Curves map[string]*model.Curve `json:"curves,omitempty"`
}

// ErrOtherCheckpoint is in Fit's error if Run.Resume isn't of this fit.
var ErrOtherCheckpoint = errors.New("the checkpoint belongs to other data or other options")

// checkpointVersion is that of what a Checkpoint holds. Version 1 didn't know all rows and options, version 2 had
// another fingerprint.
const checkpointVersion = 3

// checkOwn refuses the checkpoint of another fit, and says how that fit differs from the one with this fingerprint.
func (c *Checkpoint) checkOwn(fingerprint string) error {
	switch {
	case c.Version != checkpointVersion:
		return fmt.Errorf("%w: it was written by another version of krigo", ErrOtherCheckpoint)
	case c.Fingerprint != fingerprint:
		return fmt.Errorf("%w: %s", ErrOtherCheckpoint, differences(c.Fingerprint, fingerprint))
	}
	return nil
}

// differences lists the fields in which two fingerprints differ.
func differences(there, here string) string {
	values := map[string][2]string{}
	for side, text := range []string{there, here} {
		var fields any
		if err := json.Unmarshal([]byte(text), &fields); err != nil {
			return "its fingerprint is none of krigo's"
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
			all = append(all, fmt.Sprintf("%s is %s there and %s here", name, short(both[0]), short(both[1])))
		}
	}
	return strings.Join(all, "; ")
}

// flatten tells every value of nested JSON objects that is no object, under its path.
func flatten(name string, v any, tell func(name, value string)) {
	if object, is := v.(map[string]any); is {
		for key, of := range object {
			flatten(strings.TrimPrefix(name+"."+key, "."), of, tell)
		}
		return
	}
	text, _ := json.Marshal(v) // it was JSON
	tell(name, string(text))
}
