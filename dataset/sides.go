package dataset

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/krigo-gp/krigo/internal/spelling"
)

// Limited returns a table in which targets may be limits of detection, for a column that says which
// are. The column holds −1 if the target is below the number in the target's column, 1 if above,
// and 0 if it is that number; or left, right and none, or nothing for none.
// If the column is the target itself, its cells say so, as in <0.1 and >50.
// An empty column leaves the table as it is. Views of the new table know the sides ([Data.Sides]),
// the same however they were written.
func (t *Table) Limited(target, column string) (*Table, error) {
	if column == "" {
		return t, nil
	}
	if err := t.Check(); err != nil {
		return nil, err
	}
	if t.Ranks().Size() > 1 || t.Disk != nil {
		return nil, fmt.Errorf("%s: limits of detection are for tables in memory that aren't "+
			"spread over ranks", t.Source)
	}
	at, err := t.column(target, "for the target")
	by, other := t.column(column, "that says which targets are limits")
	if err = cmp.Or(err, other); err != nil {
		return nil, err
	}
	of := *t
	cols := len(t.Names)
	read := t.side
	if at == by {
		read = t.limit
	}
	// The sides become a last column of numbers. If the target's own cells say them, as in <0.1,
	// the target becomes a column of numbers too.
	of.limits = []int{cols}
	of.codes = nil
	of.Values = make([]float64, 0, t.Rows*(cols+1))
	if of.Names = append(slices.Clip(t.Names), target+" (side)"); t.Text != nil {
		if of.Text = append(slices.Clip(t.Text), nil); at == by {
			of.Text = slices.Clone(of.Text)
			of.Text[at] = nil
		}
	}
	for i := range t.Rows {
		row := t.Values[i*cols : (i+1)*cols]
		v, side, err := read(by, row[by])
		if err != nil {
			return nil, t.cell(i, by, err)
		}
		if of.Values = append(append(of.Values, row...), side); at == by {
			of.Values[i*(cols+1)+at] = v
		}
	}
	return &of, of.Check()
}

// side reads a cell of a column of sides: −1, 0 or 1.
func (t *Table) side(j int, cell float64) (_, side float64, err error) {
	switch text := strings.ToLower(t.text(j, cell)); text {
	case "-1", "left":
		return 0, -1, nil
	case "1", "right":
		return 0, 1, nil
	case "0", "none", "":
		return 0, 0, nil
	default:
		return 0, 0, fmt.Errorf("%q isn't left, right or none, nor -1, 1 or 0", spelling.Clip(text))
	}
}

// limit reads a cell of a target that may be a limit.
// It makes -0 a 0, since a column of text and numbers may have lost the sign.
func (t *Table) limit(j int, cell float64) (v, side float64, err error) {
	if t.Texts(j) == nil || cell != cell {
		return cell + 0, 0, nil
	}
	text := t.text(j, cell)
	rest := strings.TrimLeft(text, "<>≤≥=")
	switch sign := strings.TrimSuffix(text[:len(text)-len(rest)], "="); {
	case sign == "<" || sign == "≤":
		side = -1
	case sign == ">" || sign == "≥":
		side = 1
	}
	if side == 0 {
		if v, err = parse(text); t.Strange(j, text) {
			err = errors.ErrUnsupported
		}
	} else {
		v, err = cmp.Or(t.written, &t.reading).Parse(strings.TrimSpace(rest))
	}
	if err != nil || v-v != 0 {
		err = t.notNumber(use{column: j}, text)
	}
	return v + 0, side, err
}

// Sides returns how the target of each given row is known:
// −1 if it is below the number in the target's column, 1 if above, and 0 if it is that number.
// It returns nil for a table that Limited didn't return.
func (d *Data) Sides(rows []int) ([]float64, error) {
	return d.cellsOf(d.limits, rows)
}
