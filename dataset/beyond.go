package dataset

import (
	"fmt"
	"math"
	"slices"

	"github.com/krigo-gp/krigo/internal/linalg"
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

// Cells returns the cells of a column of Beyond at the given rows, or nil without such a column.
func (d *Data) Cells(name string, rows []int) ([]float64, error) {
	at := slices.IndexFunc(d.further, func(c Further) bool { return c.Name == name })
	if at < 0 {
		return nil, nil
	}
	return d.cellsOf(d.observed[at:at+1], rows)
}

// Zeros returns what is added to predictions at the given rows, or nil without such a column.
func (d *Data) Zeros(rows []int) ([]float64, error) { return d.sum(rows, Further.Adds) }

// Shifts returns what is added to f at the given rows, or nil without such a column.
func (d *Data) Shifts(rows []int) ([]float64, error) { return d.sum(rows, Further.Shifts) }

// StandardErrors returns the standard errors of the given rows' targets, or nil if no column has
// them.
func (d *Data) StandardErrors(rows []int) ([]float64, error) { return d.sum(rows, Further.Errs) }

// sum returns, for each of the given rows, the sum of one function's values over the columns of
// Beyond. says picks the function. The result is nil if no column has it.
func (d *Data) sum(rows []int, says func(c Further) func(float64) float64) ([]float64, error) {
	return Sum(d.further, says, func(k int) ([]float64, error) {
		return d.cellsOf(d.observed[k:k+1], rows)
	})
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

// Whole returns the targets of the given rows as the table has them, given the targets that Targets
// returns.
func (d *Data) Whole(rows []int, targets []float64) ([]float64, error) {
	zeros, err := d.Zeros(rows)
	if zeros == nil || err != nil {
		return targets, err
	}
	linalg.Axpy(1, targets, zeros)
	return zeros, nil
}
