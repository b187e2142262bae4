// Package model holds trained models as values and as files: the posterior, its
// scaling, its certificate and the role of every row it was made from.
package model

import (
	"encoding/json"

	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/finding"
	"github.com/krigo-gp/krigo/pacbayes"
	"github.com/krigo-gp/krigo/posterior"
)

// Model is a trained Gaussian process with everything needed to predict with it and
// to check its certificate. Numbers are in scaled units where not said otherwise.
//
// No method changes a Model but Calibrate: one that nobody else changes may be used by several goroutines at once.
type Model struct {
	Objective        string
	Inputs           []string // names, in the order of the posterior's inputs
	Target           string
	Reading          dataset.Reading   // how cells of its tables are written
	Encoding         *dataset.Encoding // by which columns of a table become inputs; nil: as they stand
	Scaling          dataset.Scaling
	Posterior        *posterior.Posterior
	ObservationNoise float64 // variance of y about f; not the σ_n² of a PAC-Bayes objective
	Noise            string  // the registered noise whose scale that is, if it isn't Gaussian; see objective.RegisterNoise

	Certificate       *pacbayes.Certificate // nil: none was issued, for CertificateReason
	CertificateReason string
	Context           *Context // nil where certified rows had a part in what predicts, and of old models
	Terms             pacbayes.Terms

	Source  string         // the data it was made from
	Seed    uint64         // of the roles
	Split   Split          // how roles were dealt
	Group   string         // the column by which rows are grouped; "": each stands for itself
	Counts  dataset.Counts // rows by role
	Groups  dataset.Counts // groups by role; as Counts without a Group
	Hash    string         // of the certified rows, see RolesOf
	All     string         // of all rows, dataset.Units.Hash; "" of old models
	Rows    []uint64       // dataset.Data.RowHashes of all but the test rows, in ascending order
	Named   []uint64       // the hashes of the groups of these rows, each once, in ascending order; nil without a Group
	Targets string         // dataset.Units.Targets of all rows; "" of old models
	Range   Range          // of the inputs, on the rows it was made from
	Ties    []Tie          // between rows that trained it; see Population

	// Fitted is what was asked for when the model was fitted, as JSON: see krigo.Options. nil of old models.
	Fitted json.RawMessage

	positional []dataset.Role // of every row, in file order: of old models alone
	checksum   string         // of the file it was read from

	Conformal *Conformal // nil without calibration rows
	Test      *Test      // nil without test rows
	Training  Training
	Curves    []*Curve     // of training, by starting point
	Findings  finding.List // of its data, its fit and itself
}

// Checksum is that of the file the model was read from, in hex, by which it is told from all others; "" of a model that
// wasn't read.
func (m *Model) Checksum() string { return m.checksum }

// Training is what training did.
type Training struct {
	ObjectiveValue float64 `json:"objective_value"`
	// StandardError is that of an ObjectiveValue that is an estimate, else nil.
	StandardError *float64 `json:"objective_value_standard_error,omitempty"`
	Iterations    int      `json:"iterations"`
	Evaluations   int      `json:"evaluations"`
	Starts        int      `json:"starts"`
	Seconds       float64  `json:"seconds"`
	Stopped       string   `json:"stopped"`
	// LeaveOneOut is the root mean square error, in the target's units, of each row as predicted from all others at the
	// same parameters, if all rows trained a full GP: an optimistic one, since the row shaped the parameters too.
	LeaveOneOut float64 `json:"leave_one_out_rmse,omitzero"`

	// Alpha is the α of D = αλ + σ_n² that was learnt, nil where it was given.
	Alpha *float64 `json:"alpha,omitempty"`
}

// Trained returns the posterior that training made: where that became the prior, and nothing was
// learnt after it, the posterior that the prior is.
func (m *Model) Trained() *posterior.Posterior {
	q := m.Posterior
	if prior, _ := q.OfPrior(); prior != nil && q.Support.Rows == 0 {
		prior.Noise = q.Noise
		return prior
	}
	return q
}

// Unlabelled views the columns of a table that the model predicts from.
func (m *Model) Unlabelled(t *dataset.Table) (*dataset.Data, error) {
	return m.Encoding.Unlabelled(t, m.Inputs)
}

// Labelled views the columns of a table that the model predicts from and its target: rows to score or
// certify, in their groups where the model has any.
func (m *Model) Labelled(t *dataset.Table) (*dataset.Data, error) {
	d, err := m.Encoding.Select(t, m.Inputs, m.Target)
	if err == nil && m.Group != "" {
		d, err = d.GroupBy(m.Group)
	}
	return d, err
}
