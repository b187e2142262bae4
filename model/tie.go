package model

import (
	"fmt"
	"strings"

	"github.com/krigo-gp/krigo/internal/cautious"
	"github.com/krigo-gp/krigo/internal/spelling"
)

// Tie is what makes rows of one unit say something of one another, as the rows that trained the model show it: see
// package ties, whose numbers these are. A promise about further rows like the certified ones isn't one about rows of
// new units.
type Tie struct {
	Kind    string   `json:"kind"` // column, pair, order, time, place, copies
	Columns []string `json:"columns,omitempty"`
	Size    float64  `json:"size,omitempty"` // of blocks: rows, or in the units of the columns
	Units   int      `json:"units"`          // that were looked at
	Rows    int      `json:"rows"`
	// Alike is the correlation of errors within a unit, Apart how many times as large errors are where the
	// whole unit is left out.
	Alike float64 `json:"alike"`
	Apart float64 `json:"apart"`
	// Known and New are the shares of rows, on average over units, that a model without the row, or without its unit,
	// predicts to within the band of the promise. nil where the promise is of no such band.
	Known *float64 `json:"known_share,omitempty"`
	New   *float64 `json:"new_share,omitempty"`
	// Half of the units have a share of New between these.
	Low  *float64 `json:"new_low,omitempty"`
	High *float64 `json:"new_high,omitempty"`
}

// What is lost for a new unit if a choice is asked for: 15 of 100 rows, or half of all accuracy. Fewer units than
// leastSplit may be treatments, of which nobody expects a new one.
const (
	leastSplit = 5
	mostLost   = 0.15
	mostApart  = 2
)

// Splits says whether new units are predicted so much worse than known ones that a promise has to say which it is about.
// Of pairs it isn't asked, since no flag groups by two columns.
func (t Tie) Splits() bool {
	if t.Kind == "pair" || t.Units < leastSplit {
		return false
	}
	if t.Known == nil || t.New == nil {
		return t.Apart > mostApart
	}
	return t.Lost() > mostLost
}

// Lost is the share of rows that are predicted well because their units are known; 0 where it isn't known.
func (t Tie) Lost() float64 {
	if t.Known == nil || t.New == nil {
		return 0
	}
	return *t.Known - *t.New
}

// Unit names what rows share.
func (t Tie) Unit() string {
	var names []string
	for _, name := range t.Columns {
		names = append(names, cautious.Name(name))
	}
	switch t.Kind {
	case "order":
		return "stretch of the file"
	case "time":
		return "stretch of " + strings.Join(names, " and ")
	case "place":
		return "place by " + strings.Join(names, " and ")
	case "copies":
		return "set of near copies"
	}
	return strings.Join(names, " and ")
}

// Group is what --group takes to ask about new units; "" if there is nothing, or if the units are very few.
func (t Tie) Group() string {
	switch {
	case t.Units < leastSplit:
	case t.Kind == "column":
		return t.Columns[0]
	case t.Kind == "place":
		return "block:" + strings.Join(t.Columns, ",") + ":auto"
	case t.Kind == "time":
		return fmt.Sprintf("block:%s:%gd", t.Columns[0], t.Size)
	}
	return ""
}

// flag is what to do to learn about new units.
func (t Tie) flag() string {
	switch g := t.Group(); {
	case g != "":
		return "--group " + spelling.Shell(g) + " asks about new ones"
	case t.Kind == "order":
		return "--split last shows how it did on the last rows"
	case t.Kind == "copies":
		return "leave one row of each set, and fit again"
	}
	if t.Units < leastSplit {
		return fmt.Sprintf("%d are too few to say more of new ones", t.Units)
	}
	return "a column that numbers them, and --group with it, asks about new ones"
}
