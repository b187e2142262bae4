package model

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/krigo-gp/krigo/internal/cautious"
	"github.com/krigo-gp/krigo/internal/lists"
	"github.com/krigo-gp/krigo/internal/spelling"
)

// Tie says what ties the rows of a unit together, for example the ID of a patient:
// rows of one unit help to predict one another.
// Package ties measures the numbers on the rows that trained the model.
// With a tie, a promise about further rows like the certified rows isn't a promise about rows of
// new units.
type Tie struct {
	Kind    string   `json:"kind"` // column, pair, order, time, place, copies, setting
	Columns []string `json:"columns,omitempty"`
	// Size is the size of a block, in rows or in the columns' units, or the largest distance within
	// a setting, in scaled units.
	Size  float64 `json:"size,omitempty"`
	Units int     `json:"units"` // number of units that package ties looked at
	Rows  int     `json:"rows"`
	// Alike is the correlation of errors within a unit.
	// Apart says how much larger errors are, as a factor, if the row's whole unit is left out and
	// not only the row.
	Alike float64 `json:"alike"`
	Apart float64 `json:"apart"`
	// Known and New are the shares of rows, averaged over units, that are predicted to within the
	// promise's band. The model that predicts a row lacks the row for Known, and the row's whole
	// unit for New. Known and New are nil if the promise has no such band.
	Known *float64 `json:"known_share,omitempty"`
	New   *float64 `json:"new_share,omitempty"`
	// In half of the units, the share New lies between Low and High.
	Low  *float64 `json:"new_low,omitempty"`
	High *float64 `json:"new_high,omitempty"`
	// Takes is the number of units from which a fit that is asked for a certificate about new units
	// issues one. It is 0 if the fit needn't be asked. Delta is the least δ up to 0.2 at which Units
	// are enough. It is 0 if no such δ is.
	Takes int     `json:"takes,omitempty"`
	Delta float64 `json:"delta,omitempty"`
}

// kinds has the kinds of ties, with the least and the largest number of columns that they name.
var kinds = map[string][2]int{"column": {1, 1}, "pair": {2, 2}, "order": {0, 0}, "time": {1, 1},
	"place": {2, 2}, "copies": {0, 0}, setting: {1, math.MaxInt}}

// check returns an error if no model of the target has the tie.
// Ties name any columns of the table, not only inputs.
func (t Tie) check(target string) error {
	most, known := kinds[t.Kind]
	names := slices.Sorted(slices.Values(t.Columns))
	switch {
	case !known:
		return errors.New("is unknown")
	case len(names) < most[0] || len(names) > most[1] ||
		len(slices.Compact(names)) < len(t.Columns) || slices.Contains(names, target) ||
		slices.Contains(names, ""):
		return fmt.Errorf("can't be of the columns %s", spelling.Quoted(t.Columns, mostSaid))
	case t.Units < 2 || t.Rows < t.Units ||
		slices.ContainsFunc([]*float64{t.Known, t.New, t.Low, t.High}, noShare):
		return errors.New("has impossible numbers")
	}
	return nil
}

// noShare says whether a number is given and isn't a share from 0 to 1, up to rounding.
func noShare(of *float64) bool { return of != nil && !(0 <= *of && *of <= 1+1e-9) }

// Near says whether t and u are measurements of the same tie: equal in kind, columns, units and
// rows. Their figures may differ by .01, because a quick fit on another kind of processor moves
// them.
func (t Tie) Near(u Tie) bool {
	const apart = 0.01
	a := []*float64{&t.Alike, &t.Apart, t.Known, t.New, t.Low, t.High}
	b := []*float64{&u.Alike, &u.Apart, u.Known, u.New, u.Low, u.High}
	near := func(a, b *float64) bool {
		return (a == nil && b == nil) ||
			(a != nil && b != nil && math.Abs(*a-*b) <= apart*math.Max(1, math.Abs(*b)))
	}
	sized := math.Abs(t.Size-u.Size) <= sameFigure*u.Size
	return t.Kind == u.Kind && slices.Equal(t.Columns, u.Columns) && sized && t.Units == u.Units &&
		t.Rows == u.Rows && slices.EqualFunc(a, b, near)
}

// Splits is true if more than 15 of 100 rows of a new unit are lost, or if errors more than double.
// Fewer units than leastSplit may be treatments, and nobody expects a new treatment.
const (
	leastSplit = 5
	mostLost   = 0.15
	mostApart  = 2
)

// alike says whether krigo saw no difference between predictions of new and of known units. Both are
// estimates: on R's Fair, which has answers to seven questions in common, they were .6756 and .6755.
func (t Tie) alike() bool {
	return t.Known != nil && t.New != nil && *t.New > *t.Known-0.01
}

// Splits says whether krigo predicts new units so much worse than known units that a promise must
// say which units it is about. It is false for pairs of columns, since no flag groups by two
// columns.
func (t Tie) Splits() bool {
	if t.Kind == "pair" || t.Units < leastSplit {
		return false
	}
	if t.Known == nil || t.New == nil {
		return t.Apart > mostApart
	}
	return t.Lost() > mostLost
}

// Lost returns Known − New: the share of rows that lie within the band if other rows of their unit
// are known, but outside if the whole unit is new. It returns 0 if the shares weren't measured.
func (t Tie) Lost() float64 {
	if t.Known == nil || t.New == nil {
		return 0
	}
	return *t.Known - *t.New
}

// setting is the kind of units whose rows have equal or nearly equal values of several columns.
const setting = "setting"

// mostSaid is the number of a setting's columns that are named.
const mostSaid = 4

// Unit names what the rows of one unit share.
func (t Tie) Unit() string {
	names := lists.Of(t.Columns, cautious.Name)
	switch t.Kind {
	case "order":
		return "stretch of the file"
	case "time":
		return "stretch of " + strings.Join(names, " and ")
	case "place":
		return "place by " + strings.Join(names, " and ")
	case "copies":
		return "set of near copies"
	case setting:
		if more := len(names) - mostSaid; more > 1 {
			names = append(names[:mostSaid], fmt.Sprintf("%d more columns", more))
		}
		return "setting of " + strings.Join(names, ", ")
	}
	if t.Kind == "pair" {
		return "combination of " + strings.Join(names, " and ")
	}
	return strings.Join(names, " and ")
}

// Group returns what --group takes to ask about new units;
// "" if there is no such value, or if units are very few.
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

// flag returns advice how to learn about new units.
func (t Tie) flag() string {
	// The default δ is 0.01.
	asked := spelling.If(t.Takes > 0, " --prior informed") +
		spelling.If(t.Delta > 0.01, " --delta %g", t.Delta)
	switch g := t.Group(); {
	case t.Kind == "order":
		return "With --split last, the fit shows how the model does on the last rows"
	case t.Kind == "copies":
		return "Leave one row of each set in the table, and fit again"
	case t.Units < leastSplit:
		return fmt.Sprintf("The table has %d of them, too few to say more", t.Units)
	case t.Takes > 0 && t.Delta == 0:
		return fmt.Sprintf("A certificate about a new %s takes %d of them, and the training rows "+
			"have %d", t.Unit(), t.Takes, t.Units) + spelling.If(g != "",
			". With %s, the fit only estimates how often it misses on a new one",
			spelling.Flag("group", g))
	case g != "":
		return "With " + spelling.Flag("group", g) + asked + ", the promise is about a new " +
			t.Unit()
	}
	return "For a promise about a new " + t.Unit() + ", number them in a column, " +
		spelling.If(asked != "", "add%s, ", asked) + "and name it by --group"
}
