// Package ties looks for what ties the rows of a table together, using rows that a Gaussian process
// was fitted to. If rows are tied, a promise about further rows like these needn't hold for rows of
// new units.
//
// A unit is a set of rows that may belong together, such as the rows of a patient.
// A candidate says which unit each row belongs to.
// It takes units from a column, from two columns, from blocks of the file, of time or of space, or
// from rows that are nearly copies. The package measures two things for every candidate.
//
//   - Alike: the intraclass correlation, within units, of the errors that rows have when all other
//     rows predict them.
//     If the rows of a unit have similar errors, these rows tell as much as fewer independent rows.
//   - Apart: how much larger errors are if the row's whole unit is left out (leave-group-out) than
//     if the row alone is
//     left out. If they are larger, the fit relies on having seen the unit.
//
// Both measures use only the rows that trained the model, so they take nothing from a certificate.
package ties

import (
	"slices"

	"github.com/krigo-gp/krigo/internal/lists"
)

// Kind says what units are made of.
type Kind string

// The kinds of units.
const (
	Column  Kind = "column"  // rows with the same value
	Pair    Kind = "pair"    // rows with the same values of two columns
	Order   Kind = "order"   // rows near one another in the file
	Time    Kind = "time"    // rows near one another in time
	Place   Kind = "place"   // rows near one another in space
	Copies  Kind = "copies"  // rows that are nearly the same
	Setting Kind = "setting" // rows with the same, or nearly the same, values of several columns
)

// Candidate says which rows may belong together.
type Candidate struct {
	Kind  Kind
	Names []string // columns
	Size  float64  // size of a block, in rows or in the columns' units
	Of    []int    // unit of each row, from 0; −1: the row has no unit
	Named bool     // texts name the units, so units have no order
	// inputs whose values differ between units; nil if the model doesn't know the columns
	Inputs []int
	Sorted bool // the rows of a unit are in few stretches of the file
	// values repeat on their own, as on a grid, so that units tell nothing by themselves
	Chance bool
	Nests  bool // another input is the same in all rows of a unit, as a patient's sex is
}

// column is a column of the table, at some rows.
type column struct {
	name string
	// place of each row's value in values; −1: the row has no value; nil:
	// no candidate needs the column
	of      []int
	values  []float64
	levels  int
	label   bool // all values are texts or whole numbers
	rising  bool // the value grows by 1 with every row of the table
	dates   bool
	inputs  []int
	numbers []float64
}

// Tie holds what was measured for a candidate.
type Tie struct {
	Candidate
	Units, Rows int // units and rows that were measured

	// Alike is the intraclass correlation. AlikeP is the chance that Alike is at least as large for
	// shuffled units. A model that knows the unit has learnt what its rows share, so both are then
	// measured with a model without Inputs.
	Alike, AlikeP float64

	// Apart is the ratio of errors with the whole unit left out to errors with the row left out, in
	// the median unit. A unit's error is the squared mean of the roots of absolute errors.
	// ApartP is the chance that Apart is at least as large for shuffled units.
	Apart, ApartP float64

	// Unordered compares the model with a model without Inputs on left-out units.
	// It is the ratio of their errors, in the mean over units.
	// If the units' values are mere names, they don't help to predict new units, and the ratio is
	// near 1 or above. If the values are measurements, the model interpolates between them, and the
	// ratio is below 1.
	// It is 0 if it wasn't measured.
	Unordered float64

	// Same and New are the shares of rows with errors of at most each half-width, in the mean over
	// units. For Same all other rows predict a row, and for New only the rows of other units do.
	// Middle holds New's quartiles over units.
	Same, New []float64
	Middle    [][2]float64
}

// within says whether every unit of fine lies in a unit of coarse.
func within(fine, coarse []int) bool {
	for _, rows := range lists.Members(fine) {
		if slices.ContainsFunc(rows, func(row int) bool {
			return coarse[row] < 0 || coarse[row] != coarse[rows[0]]
		}) {
			return false
		}
	}
	return true
}
