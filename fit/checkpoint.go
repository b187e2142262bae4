package fit

import (
	"errors"

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

// ErrOtherCheckpoint is Fit's where Run.Resume isn't of this fit.
var ErrOtherCheckpoint = errors.New("the checkpoint belongs to other data or other options: resume with those it was written with")

// checkpointVersion is that of what a Checkpoint holds. Version 1 didn't know all rows and options.
const checkpointVersion = 2
