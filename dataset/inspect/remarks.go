package inspect

import (
	"maps"
	"slices"

	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/finding"
)

// Remarks returns what is to be known of the table as a whole: rows that seem to be none, a header that seems to be a
// row or isn't there, and of cells that were read what is in none of the columns' facts (Describe).
func Remarks(t *dataset.Table, facts []ColumnFacts) (found finding.List) {
	if t.Found.Headless {
		found.Add(finding.NoHeader)
	} else if rowAsHeader(t, facts) {
		found.Add(finding.RowAsHeader, t.Names)
	}
	return slices.Concat(found, Strays(t), someZones(t), mixedUnits(t))
}

// rowAsHeader says whether the names of the columns are what the columns hold: numbers in their range, and texts of
// theirs.
func rowAsHeader(t *dataset.Table, facts []ColumnFacts) bool {
	numbers, reading := 0, t.Reading()
	for j, name := range t.Names {
		v, err := reading.Parse(name)
		switch f := facts[j]; {
		case err == nil && texts(t, j) == nil && f.Low <= v && v <= f.High:
			numbers++
		case err == nil || !slices.Contains(texts(t, j), name) && f.Kind != "identifier":
			return false
		}
	}
	return numbers > 0
}

// someZones tells of columns in which some times name their zone and others don't.
func someZones(t *dataset.Table) finding.List {
	if t.Found.Zones == nil {
		return nil
	}
	return finding.List{finding.New(finding.SomeZones, t.Found.Zones)}
}

// mixedUnits says of columns whose numbers have several units, or some none, that they are read as they stand.
func mixedUnits(t *dataset.Table) (found finding.List) {
	for j, counts := range t.Found.Units {
		if len(counts) < 2 {
			continue
		}
		about := []any{t.Names[j]}
		for _, unit := range slices.Sorted(maps.Keys(counts)) {
			about = append(about, unit, counts[unit])
		}
		found.Add(finding.MixedUnits, about...)
	}
	return found
}
