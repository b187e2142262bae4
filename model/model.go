// Package model holds trained models, as values and as files:
// the posterior, its scaling, its certificate, and the role of every row that the model was made
// from.
//
// This program reads a model file, for example of krigo fit, and predicts a row of numbers:
//
//	package main
//
//	import (
//		"fmt"
//		"log"
//		"os"
//
//		"gonum.org/v1/gonum/mat"
//
//		"github.com/krigo-gp/krigo/model"
//	)
//
//	func main() {
//		m, err := model.Load(os.Args[1])
//		if err != nil {
//			log.Fatal(err)
//		}
//		fmt.Println("inputs", m.Inputs, "target", m.Target)
//		row := make([]float64, len(m.Inputs)) // in the order of Inputs
//		predictions, err := m.PredictAt(mat.NewDense(1, len(row), row))
//		if err != nil {
//			log.Fatal(err)
//		}
//		fmt.Println(predictions[0].Mean, "between", predictions[0].Lower95, "and", predictions[0].Upper95)
//	}
//
// Prior rows train the model or its prior. Certified rows are the rows that the certificate counts.
// Calibration rows set conformal intervals, and test rows only measure errors.
// krigo deals the roles, which means that it assigns them to units.
// A unit is a group of rows if rows have groups, else a row.
// A certificate's terms say what it promises and what its bound pays for.
// A rank is one of several processes that share the rows of a table.
package model

import (
	"encoding/json"
	"slices"

	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/finding"
	"github.com/krigo-gp/krigo/observation"
	"github.com/krigo-gp/krigo/pacbayes"
	"github.com/krigo-gp/krigo/posterior"
)

// Model is a trained Gaussian process, with everything needed to predict with the model and to
// check its certificate.
// Numbers are in scaled units unless their field says otherwise.
//
// Only Calibrate, CertifyOwn and SetTies change a Model.
// Goroutines may share a Model that nobody changes.
type Model struct {
	Objective string   `json:"objective"`
	Inputs    []string `json:"inputs"` // names, in the order of the posterior's inputs
	Target    string   `json:"target"`
	// all classes' models, if the model stands for their label
	Joint *Several `json:"-"`

	// how cells of the model's tables are written
	Reading dataset.Reading `json:"reading,omitzero"`
	// makes inputs of columns; nil: columns are the inputs
	Encoding *dataset.Encoding `json:"encoding,omitempty"`
	observation.Observation
	Posterior *posterior.Posterior `json:"-"`

	// nil: CertificateReason says why there is none
	Certificate       *pacbayes.Certificate `json:"certificate"`
	CertificateReason string                `json:"certificate_reason,omitempty"`
	// Context is nil if certified rows helped to train, if a figure overflows, and in old models.
	Context *Context       `json:"context,omitempty"`
	Terms   pacbayes.Terms `json:"terms"`

	Origin
	// range of the inputs on all rows except test rows
	Range Range `json:"-"`
	// what ties rows together, measured on the training rows
	Ties []Tie `json:"ties,omitempty"`
	// all targets of a fit of several; nil: it had one target
	Beside []string `json:"targets,omitempty"`
	// with Beside: units by role of rows that have any target
	Dealt dataset.Counts `json:"-"`

	// Fitted holds the options that the model was fitted with, as JSON (krigo.Options).
	// It is nil in old models.
	Fitted json.RawMessage `json:"fitted,omitempty"`
	// whether Fitted refuses gaps in rows to predict, too
	Refuses bool `json:"-"`

	checksum string // checksum of the file from which the model was read

	// nil if no rows can calibrate intervals; see Calibrate
	Conformal *Conformal `json:"conformal,omitempty"`
	// nil unless the target has classes; see Sets
	Sets     Sets     `json:"label_scores,omitempty"`
	Test     *Test    `json:"test"` // nil without test rows
	Training Training `json:"training"`
	// curves of the training objective, one for each starting point
	Curves   []*Curve     `json:"curves,omitempty"`
	Findings finding.List `json:"findings,omitempty"` // about the data, the fit and the model
}

// Origin says which rows a model was made from, and in which roles.
type Origin struct {
	Source string `json:"source"`          // name of the data that the model was made from
	Seed   uint64 `json:"seed"`            // seed with which the roles were dealt
	Split  Split  `json:"split,omitempty"` // how roles were dealt to rows
	// column that groups rows; "": every row is a unit
	Group string `json:"group,omitempty"`

	Counts dataset.Counts `json:"-"` // rows by role
	// groups by role; equal to Counts without a Group
	Groups dataset.Counts `json:"-"`
	// SHA-256 of the certified rows; RolesOf compares it
	Hash string `json:"certified_rows_sha256"`
	// dataset.Units.Hash of all rows; "" in old models
	All string `json:"rows_sha256,omitempty"`
	// dataset.Units.Targets of all rows; "" in old models
	Targets string `json:"targets_sha256,omitempty"`
	// HashOrder has the places of the columns of inputs in the order in which their cells are
	// hashed (see HashOrder); nil: the order of Inputs
	HashOrder []int `json:"hash_order,omitempty"`
	// sorted dataset.Data.RowHashes of all rows but test rows
	Rows []uint64 `json:"-"`
	// sorted hashes of their groups; nil without a Group
	Named []uint64 `json:"-"`

	positional []dataset.Role // role of every row, in file order; only in old models
}

// Several holds the models of a fit of several targets, and what is certified of all targets
// together.
type Several struct {
	Models   []*Model // in the order in which the fit named the targets
	Together Together
	checksum string // as in Model
}

// Checksum returns the SHA-256, in hex, at the end of the file that the model was read from.
// No other file has the same. It is "" if the model wasn't read.
func (m *Model) Checksum() string { return m.checksum }

// Training holds figures of the training run.
type Training struct {
	ObjectiveValue float64 `json:"objective_value"`
	// StandardError is the standard error of ObjectiveValue if training only estimates that value,
	// else nil.
	StandardError *float64 `json:"objective_value_standard_error,omitempty"`
	Iterations    int      `json:"iterations"`
	Evaluations   int      `json:"evaluations"`
	Starts        int      `json:"starts"`
	Seconds       float64  `json:"seconds"`
	Stopped       string   `json:"stopped"`
	// LeaveOneOut is the root mean square error, in the target's units, when all other rows predict
	// each row with the same parameters. Only a full GP that all rows trained has it.
	// It is optimistic, since the row shaped the parameters too.
	LeaveOneOut float64 `json:"leave_one_out_rmse,omitzero"`

	// Alpha is the α of D = αλ + σ_n² that training learnt. It is nil if α was given.
	Alpha *float64 `json:"alpha,omitempty"`
}

// Trained returns the posterior that training made.
// If that posterior became the prior, and nothing was learnt afterwards, Trained returns it with
// the noise of m.Posterior.
func (m *Model) Trained() *posterior.Posterior {
	q := m.Posterior
	if prior, _ := q.OfPrior(); prior != nil && q.Support.Rows == 0 {
		prior.Noise = q.Noise
		return prior
	}
	return q
}

// Unlabelled returns a view of the columns that the model predicts from, with the columns that
// Further lists. If the model's own rows had no gaps, gaps are filled here too (see Gaps).
func (m *Model) Unlabelled(t *dataset.Table) (*dataset.Data, error) {
	return m.filled(func(m *Model) (*dataset.Data, error) {
		d, err := m.Encoding.Unlabelled(t, m.Inputs)
		if err == nil {
			d, err = m.Beyond(d)
		}
		return d, err
	})
}

// Later does what Labelled does for rows that the model wasn't made from.
// It fills missing inputs as for rows to predict. How they are filled is part of the model, so bounds
// from such rows are about the model and its filling. gaps tells which inputs it filled, as Gaps does.
func (m *Model) Later(t *dataset.Table) (d *dataset.Data, gaps finding.List, err error) {
	if d, err = m.filled(func(m *Model) (*dataset.Data, error) {
		return m.Labelled(t)
	}); err == nil {
		_, gaps, err = m.Gaps(d)
	}
	return d, gaps, err
}

// filled returns the view of m's rows or, if it fails, that of the model with the encoding Filling.
func (m *Model) filled(view func(*Model) (*dataset.Data, error)) (*dataset.Data, error) {
	if m.Joint != nil {
		m = m.Joint.Models[0]
	}
	d, err := view(m)
	if err != nil {
		filling := *m
		filling.Encoding = m.Filling()
		d, err = view(&filling)
	}
	return d, err
}

// Filling returns the encoding for rows that the model wasn't made from. Declared constants are no
// means of rows, and fill nothing.
func (m *Model) Filling() *dataset.Encoding {
	return m.Encoding.Filling(m.Inputs, m.Scaling.InputMean,
		m.Refuses || m.Scaling.Source == dataset.Declared)
}

// Gaps returns how many inputs each row of d misses, and tells which.
// An input counts if it holds a text in place of a number, or if no row of the fit misses it.
// No guarantee is about such rows, so that they count as outside.
// An old model doesn't know its columns without gaps. If it fills gaps, only texts count.
func (m *Model) Gaps(d *dataset.Data) (rows []int, found finding.List, err error) {
	if !d.Encoding.Fills() {
		return nil, nil, nil
	}
	return d.Gaps(func(column string) bool {
		return m.Encoding.Fills() &&
			(m.Range.Missed == nil || slices.Contains(m.Range.Missed, column))
	})
}

// Targeted returns a view of the inputs and the target.
func (m *Model) Targeted(t *dataset.Table) (*dataset.Data, error) {
	t, err := m.Numbered(t, m.Target)
	if err != nil {
		return nil, err
	}
	return m.Encoding.Select(t, m.Inputs, m.Target)
}

// Labelled does what Targeted does for rows to score or certify, with the columns that Further
// lists, and with groups if the model has any.
func (m *Model) Labelled(t *dataset.Table) (*dataset.Data, error) {
	if m.Joint != nil { // its rows are those of each of the classes' models
		return m.Joint.Models[0].Labelled(t)
	}
	d, err := m.Targeted(t)
	if err == nil {
		d, err = m.Beyond(d)
	}
	if err == nil && m.Group != "" {
		d, err = d.GroupBy(m.Group)
	}
	return d, err
}
