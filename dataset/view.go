package dataset

import (
	"fmt"
	"math"
	"slices"

	"github.com/krigo-gp/krigo/internal/cautious"
	"github.com/krigo-gp/krigo/internal/spelling"
	"github.com/krigo-gp/krigo/ranks"
)

// Unlabelled views the named columns as inputs without a target, in that order. Other
// columns are ignored; the error lists every name that is missing. A file without a
// header that has just as many columns is taken to hold them in order.
func (t *Table) Unlabelled(inputs []string) (*Data, error) {
	if err := t.Check(); err != nil {
		return nil, err
	}
	columns, err := t.inputs(inputs)
	if err == nil {
		err = t.check(uses(columns)...)
	}
	if err != nil {
		return nil, err
	}
	return t.view(inputs, columns), nil
}

// Regression splits the table into the named target and, as inputs, all other
// columns in file order that aren't to be ignored. There must be something to learn: two rows, an
// input, a target that isn't constant.
func (t *Table) Regression(target string, ignored ...string) (*Data, error) {
	d, err := t.labelled(t.but(append(ignored, target)...), target)
	if err != nil {
		return nil, err
	}
	if err := d.fit(nil); err != nil {
		return nil, err
	}
	if err := d.learnable(); err != nil {
		return nil, err
	}
	return d, nil
}

// Misfit is the error of columns that can't be fitted as it was asked for, by the first cell that is wrong. Package
// inspect says what the columns hold.
type Misfit struct {
	Table    *Table
	Columns  []int     // that are inputs, and the target
	Encoding *Encoding // by which they would become inputs; nil: as they stand
	Cell     error
}

// Error says what is wrong with the cell.
func (m *Misfit) Error() string { return m.Cell.Error() }

// Unwrap returns what is wrong with the cell.
func (m *Misfit) Unwrap() error { return m.Cell }

// uses says what the encoding reads its columns for, which are those given.
func (e *Encoding) uses(columns []int) []use {
	all := uses(columns)
	for k := range all {
		all[k].categorical, all[k].gaps = e.Categorical(k), e.Fills()
	}
	return all
}

// fit says what keeps the columns from being fitted by an encoding.
func (d *Data) fit(e *Encoding) error {
	fit := append(e.uses(d.inputs), uses(d.target)...)
	for k := range fit {
		fit[k].fitting = k < len(d.inputs)
		if at := d.table.serials[fit[k].column]; at != nil { // rows to be predicted may have either
			return at
		}
	}
	if err := d.table.check(fit...); err != nil {
		return &Misfit{Table: d.table, Columns: slices.Concat(d.inputs, d.target), Encoding: e, Cell: err}
	}
	return nil
}

// learnable says what keeps anything from being learnt.
func (d *Data) learnable() error {
	switch {
	case d.Cols == 0:
		return fmt.Errorf("%s: the target %q is the only column: add at least one input column",
			d.Source, d.Target)
	case d.Rows < 2:
		return fmt.Errorf("%s: %d row of data: at least 2 are needed", d.Source, d.Rows)
	}
	y, err := d.Targets(d.All())
	if err != nil {
		return err
	}
	low, high := math.Inf(1), math.Inf(-1)
	if len(y) > 0 {
		low, high = slices.Min(y), slices.Max(y)
	}
	ends, err := ranks.All(d.Ranks(), low, high)
	if err != nil {
		return err
	}
	for _, of := range ends {
		low, high = min(low, of[0]), max(high, of[1])
	}
	if low == high {
		return fmt.Errorf("%s: every value of target %q is %s: nothing to learn; choose another target",
			d.Source, d.Target, cautious.Number(low))
	}
	return nil
}

// Select picks the named inputs, in that order, and the target: rows for a model that
// is already trained.
func (t *Table) Select(inputs []string, target string) (*Data, error) {
	d, err := t.labelled(inputs, target)
	if err == nil {
		err = t.check(append(uses(d.inputs), uses(d.target)...)...)
	}
	if err != nil {
		return nil, err
	}
	return d, nil
}

func (t *Table) labelled(inputs []string, target string) (*Data, error) {
	if err := t.Check(); err != nil {
		return nil, err
	}
	at, err := t.column(target, "for the target")
	if err != nil {
		return nil, err
	}
	columns, err := t.columns(inputs)
	if err != nil {
		return nil, err
	}
	d := t.view(inputs, columns)
	d.Target, d.target = target, []int{at}
	return d, nil
}

func (t *Table) view(inputs []string, columns []int) *Data {
	return &Data{Source: t.Source, Inputs: inputs, Rows: t.Rows, Cols: len(inputs), table: t, inputs: columns}
}

// GroupBy makes rows that share the text or number in a column a group: they get their role
// together. The column may be none of the inputs, nor the target. [EqualRows] groups copies.
func (d *Data) GroupBy(column string) (*Data, error) {
	if column == EqualRows {
		return d.groupEqual()
	}
	if column == d.Target || slices.Contains(d.Inputs, column) {
		return nil, fmt.Errorf("%s: column %q can't be both a column of the model and what rows are grouped by", d.Source,
			spelling.Clip(column))
	}
	at, err := d.table.column(column, "to group rows by")
	if err != nil {
		return nil, err
	}
	if err := d.table.check(use{column: at, categorical: true, fitting: true, naming: true}); err != nil {
		return nil, err
	}
	grouped := *d
	grouped.group = []int{at}
	return &grouped, nil
}
