package observation

import (
	"strings"

	"github.com/krigo-gp/krigo/dataset"
)

// part is a property of a target.
type part struct {
	field   string                    // its field in options and model files
	has     func(o *Observation) bool // nil: there is a name of its column
	version uint32                    // the oldest version of model files that can hold it
	alone   string                    // what rows of several ranks can't have; "": they can

	// column returns the name of the part's column; nil: the part has no column.
	column func(c *Columns) string
	// holds is what the column should have; "": it may be the target.
	holds string
	// reads is what a cell does, without the column's name; zero: it is read with the target.
	reads dataset.Further

	words words

	// vouched is what no program can check, and learnt what only a refit checks; "": nothing
	vouched string
	learnt  string

	// goes has a row for each thing that the part can't be combined with.
	goes func(o *Observation, with Features) []error
	// file is what is said of a model file in place of the rows; "": the same.
	file string
}

// words are what sentences say of a part's column; "": nothing.
// They are formats of the column's name, and then of the thing that they name.
type words struct {
	target  string // the target as the model learns it, given the target
	simple  string // a simple predictor of the target, given the predictor of what the model learns
	counted string // what widths and errors are of, given the target
	share   string // of what R² is a share
	caution string // what a certificate's sentence adds
}

// is says whether the target has the part.
func (p *part) is(o *Observation) bool {
	if p.has == nil {
		return p.column(&o.Columns) != ""
	}
	return p.has(o)
}

// option returns the name of the part's option.
func (p *part) option() string { return strings.ReplaceAll(p.field, "_", "-") }

// cell is a function of a cell that returns the cell.
func cell(v float64) float64 { return v }
