package dataset

import (
	"fmt"
	"math"
	"slices"

	"github.com/krigo-gp/krigo/internal/lists"
	"github.com/krigo-gp/krigo/internal/spelling"
)

// Beyond returns the data with columns that say how the target was observed.
func (d *Data) Beyond(columns []Further) (*Data, error) {
	of := *d
	of.further = columns
	of.observed = nil
	for _, c := range columns {
		at, err := d.table.column(c.Name, "for the "+c.What)
		if err == nil {
			err = d.table.check(use{column: at})
		}
		if err == nil && !math.IsInf(c.Least, -1) {
			err = d.table.atLeast(at, c)
		}
		if err != nil {
			return nil, err
		}
		of.observed = append(of.observed, at)
	}
	return &of, nil
}

// atLeast returns an error about the first cell of a column that is below the column's least
// number.
func (t *Table) atLeast(at int, c Further) error {
	return t.Each([]int{at}, func(row int, cells []float64) error {
		if cells[0] >= c.Least {
			return nil
		}
		wrong := t.place(row)
		wrong.Column = at + 1
		wrong.Name = c.Name
		wrong.Err = fmt.Errorf("%s, but the column %q has %s: correct or remove the row",
			c.below(cells[0]), spelling.Clip(c.Name), c.What)
		return wrong
	})
}

// Cells returns the cells of a column of [Data.Beyond] at the given rows, or nil without such a column.
func (d *Data) Cells(name string, rows []int) ([]float64, error) {
	at := slices.IndexFunc(d.further, func(c Further) bool { return c.Name == name })
	if at < 0 {
		return nil, nil
	}
	return d.cellsOf(d.observed[at:at+1], rows)
}

// RowUnits returns the units of the given rows' targets.
func (d *Data) RowUnits(rows []int) (RowUnits, error) {
	return RowUnitsOf(d.further, d.observedAt(rows))
}

// Shifts returns what is added to f at the given rows, or nil without such a column.
func (d *Data) Shifts(rows []int) ([]float64, error) {
	return Sum(d.further, Further.Shifts, d.observedAt(rows))
}

// StandardErrors returns the standard errors of the given rows' targets, in the model's unit, or nil
// if no column has them.
func (d *Data) StandardErrors(rows []int) ([]float64, error) {
	return ErrorsOf(d.further, d.observedAt(rows))
}

// observedAt returns a function that reads the given rows' cells of column k of Beyond.
func (d *Data) observedAt(rows []int) func(k int) ([]float64, error) {
	return func(k int) ([]float64, error) { return d.cellsOf(d.observed[k:k+1], rows) }
}

// cellsOf returns the cells of a column at the given rows, or nil without a column.
func (d *Data) cellsOf(column, rows []int) ([]float64, error) {
	if column == nil {
		return nil, nil
	}
	of := *d
	of.target = column
	of.further = nil
	return of.Targets(rows)
}

// Sizes returns the sizes of the given rows' targets, as widths in the model's unit, given the
// targets that Targets returns.
func (d *Data) Sizes(rows []int, targets []float64) ([]float64, error) {
	units, err := d.RowUnits(rows)
	if err != nil {
		return nil, err
	}
	return lists.To(len(targets), func(i int) float64 { return units.At(i).Size(targets[i]) }), nil
}
