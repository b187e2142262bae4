package dataset

import "errors"

// Rows of several targets: all targets of a fit share one dealing of roles, though rows may lack
// some of the targets.

// OfAny returns a view of all rows of the table that have any of the targets.
// A row's bytes are then its inputs, the targets in the given order, and its group. So a row's role
// doesn't depend on which of the targets is d's.
func (d *Data) OfAny(targets []string) (*Data, error) {
	t := d.table
	if t.from != nil {
		t = t.from.Within(t.ctx)
	}
	if t.Ranks().Size() > 1 {
		return nil, errors.New("several targets: their roles are dealt on one rank")
	}
	var columns []int
	for _, name := range targets {
		at, err := t.column(name, "for a target of the same fit, by which roles were dealt")
		if err == nil {
			err = t.check(use{column: at, gaps: true})
		}
		if err != nil {
			return nil, err
		}
		columns = append(columns, at)
	}
	t, err := t.targeted(columns)
	if err != nil {
		return nil, err
	}
	// The view has no target of its own. All targets stand in beside instead.
	whole := t.view(d.Encoding, d.Inputs, d.inputs)
	whole.order = d.order
	whole.beside = columns
	whole.group = d.group
	whole.grouping = d.grouping
	whole.blocks = d.blocks
	return whole, nil
}

// RolesIn returns the roles of d's rows, given the roles of the rows of whole, which OfAny
// returned, and the number of the group of each row of d.
func (d *Data) RolesIn(whole *Data, of Roles, group []int) Roles {
	rows := map[int]int{} // d's rows by their number in the file
	for row := range d.Rows {
		rows[d.InFile(row)] = row
	}
	own := Roles{Of: make([]Role, d.Rows), Group: group}
	for i, role := range of.Of {
		if row, ok := rows[whole.InFile(i)]; ok {
			own.Of[row] = role
		}
	}
	for _, i := range of.Order {
		if row, ok := rows[whole.InFile(i)]; ok {
			own.Order = append(own.Order, row)
		}
	}
	return own
}

// InFile returns the number of a row in the table's file, from 0.
// Views of different targets of a table have the same numbers for the same rows.
func (d *Data) InFile(row int) int {
	inFile, _ := d.table.where(row)
	return inFile
}
