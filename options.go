package krigo

import (
	"cmp"

	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/fitting"
	"github.com/krigo-gp/krigo/internal/fit/ask"
	"github.com/krigo-gp/krigo/labels"
	"github.com/krigo-gp/krigo/method"
	"github.com/krigo-gp/krigo/model/fresh"
	"github.com/krigo-gp/krigo/model/say"
)

// Options say how to fit: the data, the kernel, the method, the prior, the promise, and the run.
// The zero value of every field except Data.Target means the field's default.
// Options as JSON are a checkpoint's fingerprint, part of a plan, and what a model file keeps about
// the fit.
//
// The fields of each part stand in package fitting.
// A field with the tag set:"NAME" is also the flag NAME.
// Its tags are its values or range, and its default.
// The first paragraph of the comment above it is its help, and says what decides the default if no
// value does (package internal/settings).
type Options struct {
	Data   Data   `json:"data"`
	Kernel Kernel `json:"kernel"`
	// without a name, other options and the number of rows decide
	Method  Method  `json:"method"`
	Prior   Prior   `json:"prior"`
	Promise Promise `json:"promise"`
	Run     Run     `json:"run"`
}

// asked returns what a fit with these options is asked for.
func (o Options) asked() ask.Asked { return ask.Newly(ask.Options(o)) }

// The parts of Options.
type (
	// Data says what the columns are, and which rows get which role.
	Data = fitting.Data
	// Columns are columns beside the inputs that say how the target was observed.
	Columns = fitting.Columns
	// Kernel is the prior's covariance function and mean.
	Kernel = fitting.Kernel
	// Method is a way to train; see package method.
	Method = method.Choice
	// Prior says where the prior P comes from.
	Prior = fitting.Prior
	// Promise says what the certificate is about.
	Promise = fitting.Promise
	// Run says where training starts, and what a fit reports and keeps.
	Run = fitting.Run
)

// What a fit reports, keeps and takes.
type (
	// Event reports the progress of training.
	Event = fitting.Event
	// Checkpoint is the state of an unfinished fit.
	Checkpoint = fitting.Checkpoint
	// Params are a model's parameters as people write them, in scaled units.
	Params = fitting.Params
	// MeanParams are the parameters of a prior mean function.
	MeanParams = fitting.MeanParams
	// FreeParams are a free-form posterior at the inducing inputs.
	FreeParams = fitting.FreeParams
	// Plan says what a fit would do, decided before anything is trained.
	Plan = fitting.Plan
	// Roles counts rows, or groups, by role.
	Roles = fitting.Roles
	// Declaration says what a fit is going to do with which rows.
	Declaration = fitting.Declaration
	// Standing says where a declaration stands in a log, and what that proves.
	Standing = fitting.Standing
	// Few says that a grouped model has no certificate because its groups are too few.
	Few = fitting.Few
	// Evaluation is the value of an objective at given parameters.
	Evaluation = fitting.Evaluation
	// EvidenceBounds bounds the evidence from above and below.
	EvidenceBounds = fitting.EvidenceBounds
	// Comparison is a row of Compare's table.
	Comparison = fitting.Comparison
	// Measure is a mean over splits, with its standard error.
	Measure = fitting.Measure
	// Gradient mirrors Params.
	Gradient = fitting.Gradient
)

// What rows say of a model, and of labels that were predicted elsewhere.
type (
	// Observed says how predictions compare with targets.
	Observed = say.Observed
	// Fresh is a bound from rows that the model never saw.
	Fresh = fresh.Fresh
	// Anytime bounds the mean's loss at every number of rows at once.
	Anytime = fresh.Anytime
	// Contradiction is evidence against a certificate.
	Contradiction = fresh.Contradiction
	// Excess says that fresh rows show a larger risk than was certified.
	Excess = fresh.Excess
	// Shift bounds the mean's loss on rows of another source.
	Shift = fresh.Shift
	// LabelOptions say where a table has labels, and what is certified about them.
	LabelOptions = labels.Options
	// CertifiedLabels is a certificate of labels that any classifier predicted.
	CertifiedLabels = labels.Certified
	// Costs is the cost of each pair of a true and a predicted label.
	Costs = labels.Costs
)

// ErrOtherCheckpoint is in Fit's error if Run.Resume comes from another fit.
var ErrOtherCheckpoint = fitting.ErrOtherCheckpoint

// DefaultsVersion is raised by every change that alters what a default fit makes.
const DefaultsVersion = ask.DefaultsVersion

// Validate reports everything that is wrong with the options for every table.
// Without a named method the number of rows decides the method.
// So Validate returns nil if the options suit a thousand rows, fewer rows, or many more.
// Otherwise it reports what is wrong for a thousand rows.
func (o Options) Validate() error {
	var first error
	for _, rows := range []int{1000, 0, 1e6} {
		_, err := o.asked().Resolve(rows)
		if err == nil {
			return nil
		}
		first = cmp.Or(first, err)
	}
	return first
}

// Settle returns the table, and the options, with what the table's inputs decide where the options
// say nothing (see fitting.Data.Settle).
func (o Options) Settle(table *dataset.Table) (*dataset.Table, Options, error) {
	table, data, err := o.Data.Settle(table)
	o.Data = data
	return table, o, err
}
