// Package ties looks for what ties the rows of a table together, by rows that a Gaussian process was fitted to: a
// promise for further rows like these needn't hold for rows of new units.
//
// A candidate says which unit each row is of: by a column, by two, by blocks of the file, of time or of space, or by
// being a near copy. Two things are measured of it.
//
//   - Alike: the intraclass correlation, within units, of the errors that rows have when all others predict them. Rows
//     of one unit that err alike are fewer than they seem.
//   - Apart: how much larger errors are where the rows of the whole unit are left out (leave-group-out) than where the
//     row alone is. The fit lives on having seen the unit.
//
// Both are of the rows that trained alone: nothing is taken from a certificate.
package ties

// Kind is what units are made of.
type Kind string

// The kinds of units.
const (
	Column Kind = "column" // rows with the same value
	Pair   Kind = "pair"   // rows with the same values of two columns
	Order  Kind = "order"  // rows near one another in the file
	Time   Kind = "time"   // in time
	Place  Kind = "place"  // in space
	Copies Kind = "copies" // rows that nearly are the same
)

// Candidate says which rows may belong together.
type Candidate struct {
	Kind   Kind
	Names  []string // of columns
	Size   float64  // of blocks: rows, or what the columns are in
	Of     []int    // the unit of each row, from 0; −1: none
	Named  bool     // by texts, which have no order
	Inputs []int    // of the model, that tell units apart; none where it doesn't know the columns
	Sorted bool     // the file has the rows of a unit in stretches
	Nests  bool     // another input is the same in all rows of a unit, as what is known of a patient is
}

// Tie is what was measured of a candidate.
type Tie struct {
	Candidate
	Units, Rows int // that were looked at

	// Alike is the intraclass correlation, AlikeP the chance of as much in shuffled units. A model that knows the unit
	// has learnt what rows of one share, so that they are of the model without these inputs.
	Alike, AlikeP float64

	// Apart is the ratio of the errors in the median unit, squared means of their roots; ApartP is the chance of as much
	// in shuffled units.
	Apart, ApartP float64

	// Unordered is the ratio, in the mean over units, of errors without the unit, of the model over that without the
	// inputs that tell it: near 1 or above if a new unit's value says nothing, as of names, below where the model reads
	// between values, as of a measure. It is 0 where it wasn't looked at.
	Unordered float64

	// Same and New are the mean shares, over units, of rows with errors of at most each half-width: predicted by others
	// of their unit too, and of a new unit. Middle are the quartiles of the latter.
	Same, New []float64
	Middle    [][2]float64
}
