package dataset

import (
	"maps"
	"slices"
	"strings"

	"github.com/krigo-gp/krigo/finding"
)

// tellUnits counts the numbers of a row by the unit that they stand beside.
func (t *Table) tellUnits(cells []string) {
	if len(t.reading.Units) == 0 {
		return
	}
	if t.units == nil {
		t.units = make([]map[string]int, len(t.Names))
	}
	for j, cell := range cells {
		cell = strings.TrimSpace(cell)
		if v, err := t.reading.parse(cell); err != nil || v-v != 0 {
			continue
		}
		if t.units[j] == nil {
			t.units[j] = map[string]int{}
		}
		t.units[j][t.reading.unitOf(cell)]++
	}
}

// mixedUnits says of columns whose numbers have several units, or some none, that they are read as they stand.
func (t *Table) mixedUnits() (found finding.List) {
	for j, counts := range t.units {
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

// unitOf is the unit that bare takes from a cell.
func (r *Reading) unitOf(cell string) (longest string) {
	for _, unit := range r.Units {
		if len(unit) > len(longest) && (strings.HasSuffix(cell, unit) || strings.HasPrefix(cell, unit)) {
			longest = unit
		}
	}
	return longest
}
