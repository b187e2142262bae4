// Package krigo trains Gaussian processes that generalise, and certifies that they
// do: with confidence 1−δ, the posterior's risk on further rows is at most a bound B
// computed from the rows it was trained on (Reeb, Doerr, Gerwinn, Rakitsch, "Learning
// Gaussian Processes by Minimizing PAC-Bayesian Generalization Bounds", NeurIPS 2018).
//
// Fit takes a table and returns a Model with its certificate; Load and Read return one that was saved. A Model
// predicts, samples, makes intervals, and certifies itself anew. Decide says what Fit would do, Compare compares
// objectives, Evaluate takes an objective at given parameters, and CertifyPredictions certifies any other model's
// predictions. Options has a struct for each part of a fit; its Method is chosen by name, with settings that
// docs/reference/command-line.md lists. The packages below hold the parts: method the ways to train, then kernel,
// objective, pacbayes, posterior, train, model, dataset.
//
// A kernel, a noise, a loss, a method or a file format of another module registers itself by name in an init function:
// kernel.RegisterPair, objective.RegisterNoise, pacbayes.RegisterLoss, method.Register, files.Register. Options and
// model files then know that name, and whoever loads such a model imports that module.
package krigo

import (
	"errors"
	"fmt"
	"io"

	"github.com/krigo-gp/krigo/method"
	"github.com/krigo-gp/krigo/model"
)

// A fit is four values, none of which changes once it is made:
//
//	dealt    a table whose rows have their roles, scaled (deal); share: the rows of one role, to train on (take)
//	plan     how a share is trained on: kernels, a method with every field filled in, inducing inputs (decide)
//	trained  the best of all runs (plan.optimum)
//	model    its posterior on the grid, certified (plan.finish, dealt.certify)
//
// With a prior on the grid the share is the certified rows. With an informed prior it is the prior rows first, and
// where a posterior is learnt after it the certified ones next, by a plan of its own. What a person should know is said
// by whoever finds it, and handed on. docs/behind/architecture.md shows the files that do this.

// Model is a trained Gaussian process with its certificate: Fit, Load and Read return it, and Save and Write store it.
// Its fields are those of model.Model; the methods here take tables, those of model.Model the views of tables that they
// are made of. Only AcceptFileOrder and Calibrate change a Model: several goroutines may use one at once.
type Model struct{ model.Model }

// Method is a way to train; see package method.
type Method = method.Choice

// Load reads a model file. Its errors name the file.
func Load(path string) (*Model, error) { return wrap(model.Load(path)) }

// Read reads a model as a file holds it, from all that r has.
func Read(r io.Reader) (*Model, error) { return wrap(model.Read(r)) }

// AcceptFileOrder returns the model with a certificate that is valid on the caller's word: see model.Model.
func (m *Model) AcceptFileOrder() (*Model, error) { return wrap(m.Model.AcceptFileOrder()) }

func wrap(m *model.Model, err error) (*Model, error) {
	if err != nil {
		return nil, err
	}
	return &Model{*m}, nil
}

// UsageError says what is wrong with the options rather than with the data.
type UsageError struct{ Err error }

func (e *UsageError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *UsageError) Unwrap() error { return e.Err }

func usage(format string, args ...any) error {
	return &UsageError{fmt.Errorf(format, args...)}
}

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
