package dataset

import (
	"fmt"
	"math"
	"slices"

	"github.com/krigo-gp/krigo/finding"
	"github.com/krigo-gp/krigo/internal/cautious"
	"github.com/krigo-gp/krigo/internal/compensated"
	"github.com/krigo-gp/krigo/internal/spelling"
	"github.com/krigo-gp/krigo/ranks"
)

// How a table becomes data: its columns chosen, as they stand or by an encoding, which is learnt here.

// Unlabelled views the named columns as inputs without a target, in that order. Other
// columns are ignored; the error lists every name that is missing. A file without a
// header that has just as many columns is taken to hold them in order.
func (t *Table) Unlabelled(inputs []string) (*Data, error) {
	return (*Encoding)(nil).Unlabelled(t, inputs)
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
	return d.learnable()
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

// learnable returns the data, or says what keeps anything from being learnt of them.
func (d *Data) learnable() (*Data, error) {
	switch {
	case d.Cols == 0:
		return nil, fmt.Errorf("%s: the target %q is the only column: add at least one input column",
			d.Source, d.Target)
	case d.Rows < 2:
		return nil, fmt.Errorf("%s: %d row of data: at least 2 are needed", d.Source, d.Rows)
	}
	y, err := d.Targets(d.All())
	if err != nil {
		return nil, err
	}
	low, high := math.Inf(1), math.Inf(-1)
	if len(y) > 0 {
		low, high = slices.Min(y), slices.Max(y)
	}
	ends, err := ranks.All(d.Ranks(), low, high)
	if err != nil {
		return nil, err
	}
	for _, of := range ends {
		low, high = min(low, of[0]), max(high, of[1])
	}
	if low == high {
		return nil, fmt.Errorf("%s: every value of target %q is %s: nothing to learn; choose another target",
			d.Source, d.Target, cautious.Number(low))
	}
	return d, nil
}

// Select picks the named inputs, in that order, and the target: rows for a model that
// is already trained.
func (t *Table) Select(inputs []string, target string) (*Data, error) {
	return (*Encoding)(nil).Select(t, inputs, target)
}

// labelled views columns, and a target where rows have one, without the others unless the reading refuses them.
func (t *Table) labelled(inputs []string, target string) (*Data, error) {
	if err := t.Check(); err != nil {
		return nil, err
	}
	at, err := t.column(target, "for the target")
	if err == nil && t.reading.MissingTarget != Refuse && !t.reading.every {
		t, err = t.targeted(at)
	}
	if err != nil {
		return nil, err
	}
	columns, err := t.columns(inputs)
	if err != nil {
		return nil, err
	}
	d := t.view(nil, inputs, columns)
	d.Target, d.target = target, []int{at}
	return d, nil
}

// view is a view of columns as these inputs, or as what an encoding makes of them.
func (t *Table) view(e *Encoding, inputs []string, columns []int) *Data {
	d := &Data{Source: t.Source, Inputs: inputs, Rows: t.Rows, Cols: len(inputs), Encoding: e, table: t, inputs: columns}
	if e != nil {
		d.Inputs = e.Inputs()
		d.Cols = len(d.Inputs)
		for k, c := range e.Columns {
			d.encoders = append(d.encoders, c.encoder(t, columns[k]))
		}
	}
	return d
}

// GroupBy makes rows that share the text or number in a column a group: they get their role
// together. The column may be none of the inputs, nor the target. [EqualRows] groups copies, and block:COLUMNS:SIZE rows
// whose numbers in these columns, inputs or not, lie in the same interval of that size.
func (d *Data) GroupBy(column string) (*Data, error) {
	if column == EqualRows {
		return d.groupEqual()
	}
	if b, columns, err := d.table.blocks(column); err != nil || columns != nil {
		if err != nil {
			return nil, err
		}
		return d.groupBlocks(b, columns, column)
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
	grouped.group, grouped.grouping, grouped.blocks = []int{at}, column, nil
	return &grouped, nil
}

// groupBlocks makes the rows of a block a group.
func (d *Data) groupBlocks(b blocks, columns []int, group string) (*Data, error) {
	if b.auto {
		return nil, fmt.Errorf("%s: group %q: its size isn't known yet", d.Source, spelling.Clip(group))
	}
	if slices.Contains(b.columns, d.Target) {
		return nil, fmt.Errorf("%s: column %q can't be both the target and what rows are grouped by", d.Source,
			spelling.Clip(d.Target))
	}
	grouped := *d
	grouped.group, grouped.blocks, grouped.grouping = columns, &b, group
	return &grouped, nil
}

// Unlabelled is [Table.Unlabelled] with the columns that become these inputs. A table that
// has the inputs themselves in their place is taken as it is.
func (e *Encoding) Unlabelled(t *Table, inputs []string) (*Data, error) {
	if err := t.Check(); err != nil {
		return nil, err
	}
	columns, err := t.inputs(e.names(inputs))
	if err != nil && e != nil {
		if _, absent := t.inputs(inputs); absent == nil {
			return t.Unlabelled(inputs)
		}
	}
	if err == nil {
		err = t.check(e.uses(columns)...)
	}
	if err != nil {
		return nil, err
	}
	return t.view(e, inputs, columns), nil
}

// Select is [Table.Select] with the columns that become these inputs. Inputs that are
// encoded already won't do: rows that a model was made from couldn't be told from others.
func (e *Encoding) Select(t *Table, inputs []string, target string) (*Data, error) {
	d, err := t.labelled(e.names(inputs), target)
	if err == nil {
		err = d.table.check(append(e.uses(d.inputs), uses(d.target)...)...)
	}
	if err != nil {
		return nil, err
	}
	return e.labelled(d), nil
}

// Coding says how an encoding is to be learnt.
type Coding struct {
	Categorical []string // columns
	Missing     string   // Refuse or FillMean
}

// Encode is [Table.Regression] of a table with categorical columns or missing values, by
// an encoding learnt from prior rows alone: those that no certificate counts, which are chosen
// among rows whose content is known, but not yet what it becomes.
func (t *Table) Encode(target string, ignored []string, how Coding, prior func(*Data) ([]int, error)) (*Data, error) {
	d, err := t.labelled(t.but(append(ignored, target)...), target)
	if err != nil {
		return nil, err
	}
	e := &Encoding{Missing: how.Missing}
	for _, name := range d.Inputs {
		e.Columns = append(e.Columns, Column{Name: name})
	}
	for _, name := range how.Categorical {
		if name == target {
			return nil, fmt.Errorf("%s: the target %q can't be categorical: only numbers are predicted", t.Source, target)
		}
		if _, err := t.column(name, "to be categorical"); err != nil {
			return nil, err
		}
		if at := slices.Index(d.Inputs, name); at >= 0 { // else it is what rows are grouped by
			e.Columns[at].Categories = []string{}
		}
	}
	if err := d.fit(e); err != nil {
		return nil, err
	}
	rows, err := prior(e.labelled(d))
	if err != nil {
		return nil, err
	}
	if err := e.learn(d, rows); err != nil {
		return nil, err
	}
	seen := map[string]bool{}
	for _, name := range e.Inputs() {
		if seen[name] {
			return nil, fmt.Errorf("%s: encoding makes two columns named %q: rename one", t.Source, spelling.Clip(name))
		}
		seen[name] = true
	}
	return e.labelled(d).learnable()
}

// Learn returns the encoding of the same columns as the data's own that rows give.
func (d *Data) Learn(rows []int) (*Encoding, error) {
	own := d.Encoding
	e := &Encoding{Missing: own.Missing}
	for _, c := range own.Columns {
		c.Mean = nil
		if c.Categories != nil {
			c.Categories = []string{}
		}
		e.Columns = append(e.Columns, c)
	}
	return e, e.learn(d, rows)
}

// learn fills in categories and means from rows of the view of the columns as they stand.
func (e *Encoding) learn(d *Data, rows []int) error {
	type column struct {
		values map[float64]bool // that a categorical one has
		sum    compensated.Sum
		count  int
	}
	cells := *d // as they stand
	cells.encoders, cells.Cols = nil, len(d.inputs)
	columns := make([]column, cells.Cols)
	for k := range columns {
		columns[k].values = map[float64]bool{}
	}
	err := cells.each(rows, func(_ int, x, _ []float64) {
		for i, v := range x {
			c := &columns[i%cells.Cols]
			switch {
			case v != v:
				continue
			case e.Columns[i%cells.Cols].Categories != nil:
				c.values[v] = true
			default:
				c.sum.Add(v)
			}
			c.count++
		}
	})
	if err != nil {
		return err
	}
	for k := range e.Columns {
		c, found := &e.Columns[k], &columns[k]
		if found.count == 0 {
			return &Error{File: d.Source, Column: d.inputs[k] + 1, Name: c.Name,
				Err: fmt.Errorf("column %q is empty on all %d prior rows, so nothing is known about it: remove it, or use "+
					"more prior rows", spelling.Clip(c.Name), len(rows))}
		}
		if c.Categories == nil {
			if e.Missing != FillMean {
				continue
			}
			mean := found.sum.Value() / float64(found.count)
			if math.IsInf(mean, 0) || mean != mean {
				return overflow(d.Source, c.Name)
			}
			c.Mean = &mean
			continue
		}
		for v := range found.values {
			if text := d.table.text(d.inputs[k], v); text != other {
				c.Categories = append(c.Categories, text)
			}
		}
		slices.Sort(c.Categories)
		c.Categories = slices.Compact(c.Categories)
		if len(c.Categories) > MaxCategories {
			return &Error{File: d.Source, Column: d.inputs[k] + 1, Name: c.Name,
				Err: fmt.Errorf("column %q has %d categories on %d prior rows, more than %d: remove it, or read it as a "+
					"number if it is one",
					spelling.Clip(c.Name), len(c.Categories), len(rows), MaxCategories)}
		}
	}
	return nil
}

// Unseen says, of each categorical column, of how many rows no prior row has the category, so that it counts as other,
// and which categories these are.
func (e *Encoding) Unseen(t *Table) (found finding.List, err error) {
	if e == nil {
		return nil, nil
	}
	columns, err := t.inputs(e.names(nil))
	if err != nil {
		return nil, nil // a table of inputs that are encoded already
	}
	_, own := t.Own()
	for k, c := range e.Columns {
		if c.Categories == nil {
			continue
		}
		places := c.encoder(t, columns[k]).places
		unseen := map[float64]bool{}
		n := 0
		if err := t.Each(columns[k:k+1], func(_ int, cells []float64) error {
			if _, known := places[cells[0]]; !known && cells[0] == cells[0] {
				unseen[cells[0]] = true
				n++
			}
			return nil
		}); err != nil {
			return nil, err
		}
		if n == 0 {
			continue
		}
		var texts []string
		for v := range unseen {
			texts = append(texts, t.text(columns[k], v))
		}
		slices.Sort(texts)
		found.Add(finding.Unseen, c.Name, n, own, texts)
	}
	return found, nil
}

// labelled is a view of the same columns by the encoding.
func (e *Encoding) labelled(d *Data) *Data {
	encoded := d.table.view(e, d.Inputs, d.inputs)
	encoded.Target, encoded.target = d.Target, d.target
	return encoded
}
