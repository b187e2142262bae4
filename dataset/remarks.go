package dataset

import (
	"fmt"
	"slices"
)

// Remarks says what is to be known of the table as a whole: rows that seem to be none, a header that seems to be a row
// or isn't there, and of cells that were read what is in none of the columns' facts (Describe).
func (t *Table) Remarks(facts []ColumnFacts) (said []string) {
	if t.headless {
		said = append(said, "the first line holds numbers alone, so it is taken for a row, and the columns are named here; "+
			"if it is a header, write names that are no numbers")
	} else if t.rowAsHeader(facts) {
		said = append(said, fmt.Sprintf("the first line is taken for the header, though it seems to be a row: %s; if it is "+
			"one, write names above it", quoted(t.Names, 4)))
	}
	return slices.Concat(said, t.Strays(), t.someZones(), t.mixedUnits())
}

// rowAsHeader says whether the names of the columns are what the columns hold: numbers in their range, and texts of
// theirs.
func (t *Table) rowAsHeader(facts []ColumnFacts) bool {
	numbers := 0
	for j, name := range t.Names {
		v, err := t.reading.parse(name)
		switch f := facts[j]; {
		case err == nil && t.texts(j) == nil && f.Low <= v && v <= f.High:
			numbers++
		case err == nil || !slices.Contains(t.texts(j), name) && f.Kind != "identifier":
			return false
		}
	}
	return numbers > 0
}

// someZones tells of columns of times of which some name their zone.
func (t *Table) someZones() []string {
	if t.zones == nil {
		return nil
	}
	return []string{"some times name their zone, the others are taken for UTC, in the columns " + quoted(t.zones, 5)}
}
