package dataset

import "slices"

// Apply makes of a table's dates, which are text or days already, days, and adds their periodic parts: of a table that
// was made by its fields, or from a file of numbers.
func (r Reading) Apply(t *Table) error {
	if err := t.Check(); err != nil {
		return err
	}
	t.reading = r
	if r.Distinct {
		if err := t.distinct(); err != nil {
			return err
		}
	}
	t.reading.Dates = slices.Clone(r.Dates)
	for i := range r.Dates {
		if err := t.date(&t.reading.Dates[i]); err != nil {
			return err
		}
	}
	return nil
}

// Reading is how the table was read, with the forms of its dates.
func (t *Table) Reading() Reading { return t.reading.Naming() }

// ReadAs returns the same table with another account of how its cells were written.
func (t *Table) ReadAs(r Reading) *Table {
	as := *t
	as.reading = r
	return &as
}

// New is a table in memory without rows yet, whose cells are set as the reading has them.
func (r Reading) New(source string) *Table { return &Table{Source: source, reading: r} }
