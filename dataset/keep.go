package dataset

import (
	"math"
	"slices"
	"time"
)

// Kept are columns of a table as people wrote them, to stand beside what is computed of its rows.
type Kept struct {
	Names []string
	Cells func(row int) ([]string, error)
}

// Keep returns columns of a table to be kept: texts as they were read, numbers in the fewest digits, dates as
// YYYY-MM-DD, with the time where they have one, missing values as nothing.
func (t *Table) Keep(names []string) (*Kept, error) {
	columns, err := t.columns(names)
	if err != nil {
		return nil, err
	}
	values := make([]float64, len(columns))
	return &Kept{Names: names, Cells: func(row int) ([]string, error) {
		if err := t.Read(row, 1, columns, values); err != nil {
			return nil, err
		}
		cells := make([]string, len(columns))
		for k, v := range values {
			isDate := slices.ContainsFunc(t.reading.Dates,
				func(d Dates) bool { return d.Column == names[k] && d.Form != "time" })
			switch {
			case isDate && v-v == 0:
				cells[k] = dateOf(v)
			default:
				cells[k] = t.text(columns[k], v)
			}
		}
		return cells, nil
	}}, nil
}

// dateOf writes days since 1970-01-01, to the microsecond.
func dateOf(days float64) string {
	whole := math.Floor(days)
	at := time.Unix(int64(whole)*86400, 0).UTC().Add(time.Duration(math.Round((days-whole)*86400e6)) * time.Microsecond)
	if at.Equal(at.Truncate(24 * time.Hour)) {
		return at.Format("2006-01-02")
	}
	return at.Format("2006-01-02T15:04:05.999999")
}

// Columns returns the cells of so many rows by column.
func (k *Kept) Columns(rows int) (map[string][]string, error) {
	all := map[string][]string{}
	for i := range rows {
		cells, err := k.Cells(i)
		if err != nil {
			return nil, err
		}
		for j, name := range k.Names {
			all[name] = append(all[name], cells[j])
		}
	}
	return all, nil
}
