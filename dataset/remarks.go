package dataset

import (
	"slices"

	"github.com/krigo-gp/krigo/finding"
)

// Remarks returns what is to be known of the table as a whole: rows that seem to be none, a header that seems to be a
// row or isn't there, and of cells that were read what is in none of the columns' facts (Describe).
func (t *Table) Remarks(facts []ColumnFacts) (found finding.List) {
	if t.headless {
		found.Add(finding.NoHeader)
	} else if t.rowAsHeader(facts) {
		found.Add(finding.RowAsHeader, t.Names)
	}
	return slices.Concat(found, t.Strays(), t.someZones(), t.mixedUnits())
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
func (t *Table) someZones() finding.List {
	if t.zones == nil {
		return nil
	}
	return finding.List{finding.New(finding.SomeZones, t.zones)}
}
