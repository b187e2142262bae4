package fitting

import (
	"errors"

	"github.com/krigo-gp/krigo/kernel"
	"github.com/krigo-gp/krigo/method"
	"github.com/krigo-gp/krigo/model"
)

// Event reports the progress of training.
type Event struct {
	// which part of the training goes on, as in "kernel 3 of 6" or "best kernel"; may be empty
	Stage     string
	Family    string // kernel family, as in "se" or "se (ARD)"
	Start     int    // the starting point, counted from 1
	Starts    int    // the number of starting points that are planned so far
	Iteration int
	Of        int     // iterations of the run from this start, if the number is known
	Value     float64 // value of the objective
	Stopped   string  // why the run from this start ended; empty while it goes on

	// Solver names the method that solves a full GP, and is "" for other methods.
	// During a long solve, Iteration counts the solver's iterations and Residual is its relative
	// residual. Otherwise Residual is 0.
	Solver   string
	Residual float64

	// Looking says that units which tie rows together are sought.
	// Iteration counts the candidates that were measured, and Of is their number.
	Looking bool

	// Comparing says that training has ended, and that kernels are compared by their evidence.
	// Iteration counts the second derivatives of Family's evidence, and Of is their number.
	Comparing bool
}

// Checkpoint is the state of an unfinished fit: the state of the run from every starting point.
// A fit resumes only with the same data and options.
type Checkpoint struct {
	Version     int                      `json:"version"`
	Fingerprint string                   `json:"fingerprint"` // hash of all rows and all options
	Runs        map[string]*method.State `json:"runs"`

	// Curves are the values of the objective during the runs so far.
	Curves map[string]*model.Curve `json:"curves,omitempty"`
}

// ErrOtherCheckpoint is in Fit's error if Run.Resume comes from another fit.
var ErrOtherCheckpoint = errors.New("the checkpoint belongs to other data or other options")

// Params are a model's parameters as people write them, in scaled units.
type Params struct {
	Kernel        kernel.Spec `json:"kernel"`
	NoiseVariance float64     `json:"noise_variance"`
	Mean          *MeanParams `json:"mean,omitempty"`
	Inducing      [][]float64 `json:"inducing,omitempty"`
	Posterior     *FreeParams `json:"posterior,omitempty"`
}

// FreeParams are a free-form posterior N(a_M, L_S L_Sᵀ) at the inducing inputs.
type FreeParams struct {
	Mean []float64 `json:"mean"` // a_M
	// L_S row by row: lower triangular; the part above the diagonal may be missing
	Chol [][]float64 `json:"chol"`
}

// MeanParams are the parameters of a prior mean function.
type MeanParams struct {
	Constant float64   `json:"constant"`
	Linear   []float64 `json:"linear,omitempty"`
}
