package dataset

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/krigo-gp/krigo/finding"
	"github.com/krigo-gp/krigo/internal/cautious"
	"github.com/krigo-gp/krigo/internal/compensated"
	"github.com/krigo-gp/krigo/internal/linalg"
	"github.com/krigo-gp/krigo/internal/lists"
	"github.com/krigo-gp/krigo/internal/spelling"
	"github.com/krigo-gp/krigo/ranks"
)

// How a table becomes data: which columns are chosen, and how an encoding is learnt from them.

// Unlabelled views the named columns as inputs without a target, in that order.
// It ignores other columns. Its error lists every missing name.
// If a file has no header and just as many columns, the columns are the inputs in this order.
func (t *Table) Unlabelled(inputs []string) (*Data, error) {
	return (*Encoding)(nil).Unlabelled(t, inputs)
}

// Regression takes the named column as the target, and as inputs all other columns that aren't
// ignored, in file order.
// There must be something to learn: two rows, an input, and a target that isn't constant.
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

// Misfit is the error of columns that can't be fitted as requested.
// Its message is about the first wrong cell. Package inspect says what the columns hold.
type Misfit struct {
	Table    *Table
	Columns  []int     // columns of the inputs and of the target
	Encoding *Encoding // how the columns would become inputs; nil: without a change
	Cell     error
}

// Error says what is wrong with the cell.
func (m *Misfit) Error() string { return m.Cell.Error() }

// Unwrap returns what is wrong with the cell.
func (m *Misfit) Unwrap() error { return m.Cell }

// uses says what columns are read for, if they are the encoding's columns.
func (e *Encoding) uses(columns []int) []use {
	all := uses(columns)
	for k := range all {
		all[k].categorical, all[k].gaps = e.Categorical(k), e.Fills()
	}
	return all
}

// fit returns an error if the columns can't be fitted with the encoding e.
func (d *Data) fit(e *Encoding) error {
	fit := append(e.uses(d.inputs), uses(d.target)...)
	for k := range fit {
		fit[k].fitting = k < len(d.inputs)
		if at := d.table.serials[fit[k].column]; at != nil { // only a fit returns this error
			return at
		}
	}
	if err := d.table.check(fit...); err != nil {
		return &Misfit{Table: d.table, Columns: slices.Concat(d.inputs, d.target),
			Encoding: e, Cell: err}
	}
	return nil
}

// learnable returns the data, or an error if nothing can be learnt from them.
func (d *Data) learnable() (*Data, error) {
	switch {
	case d.Cols == 0:
		return nil, fmt.Errorf("%s: the target %q is the only column: add at least one input "+
			"column", d.Source, d.Target)
	case d.Rows < 2:
		return nil, fmt.Errorf("%s: %d row of data: at least 2 are needed", d.Source, d.Rows)
	}
	y, err := d.Targets(d.All())
	if err != nil {
		return nil, err
	}
	low := math.Inf(1)
	high := math.Inf(-1)
	if len(y) > 0 {
		low = slices.Min(y)
		high = slices.Max(y)
	}
	// A rank without rows brings +∞ and −∞, which change neither end.
	ends, err := ranks.All(d.Ranks(), low, high)
	if err != nil {
		return nil, err
	}
	for _, of := range ends {
		low = min(low, of[0])
		high = max(high, of[1])
	}
	if low == high {
		return nil, fmt.Errorf("%s: every value of target %q is %s: nothing to learn; choose "+
			"another target", d.Source, d.Target, cautious.Number(low))
	}
	return d, nil
}

// Select views the named inputs, in that order, and the target, as rows for a model that is already
// trained.
func (t *Table) Select(inputs []string, target string) (*Data, error) {
	return (*Encoding)(nil).Select(t, inputs, target)
}

// labelled views the named inputs and the target.
// It leaves out rows without a target, unless the reading refuses them.
func (t *Table) labelled(inputs []string, target string) (*Data, error) {
	if err := t.Check(); err != nil {
		return nil, err
	}
	at, err := t.column(target, "for the target")
	if err == nil && t.reading.MissingTarget != Refuse && !t.reading.every {
		t, err = t.targeted([]int{at})
	}
	if err != nil {
		return nil, err
	}
	columns, err := t.columns(inputs)
	if err != nil {
		return nil, err
	}
	d := t.view(nil, inputs, columns)
	d.Target = target
	d.target = []int{at}
	return d, nil
}

// view views columns as these inputs, or, with an encoding, as the inputs that the encoding makes.
func (t *Table) view(e *Encoding, inputs []string, columns []int) *Data {
	d := &Data{Source: t.Source, Inputs: inputs, Rows: t.Rows, Cols: len(inputs),
		Encoding: e, table: t, inputs: columns, limits: t.limits}
	if e != nil {
		d.Inputs = e.Inputs()
		d.Cols = len(d.Inputs)
		d.encoders = lists.To(len(columns), func(k int) encoder {
			return e.Columns[k].encoder(t, columns[k])
		})
	}
	return d
}

// GroupBy makes a group of the rows that have the same text or number in a column.
// All rows of a group get the same role. The column must be neither an input nor the target.
// [EqualRows] groups copies. block:COLUMNS:SIZE groups the rows whose numbers in these columns lie
// in the same intervals of this size. Inputs may be among these columns.
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
		return nil, fmt.Errorf("%s: column %q is an input or the target, so rows can't be "+
			"grouped by it", d.Source, spelling.Clip(column))
	}
	at, err := d.table.column(column, "to group rows by")
	if err != nil {
		return nil, err
	}
	if err := d.table.check(use{column: at, categorical: true, fitting: true,
		naming: true}); err != nil {
		return nil, err
	}
	return d.grouped([]int{at}, nil, column), nil
}

// grouped returns the same data with rows grouped by columns of the table, or by their blocks if b
// isn't nil. name is the name of the groups.
func (d *Data) grouped(columns []int, b *blocks, name string) *Data {
	grouped := *d
	grouped.group = columns
	grouped.blocks = b
	grouped.grouping = name
	return &grouped
}

// groupBlocks makes a group of the rows in each block.
func (d *Data) groupBlocks(b blocks, columns []int, group string) (*Data, error) {
	if b.auto {
		return nil, fmt.Errorf("%s: group %q: choose the size first, with Table.Blocks", d.Source,
			spelling.Clip(group))
	}
	if slices.Contains(b.columns, d.Target) {
		return nil, fmt.Errorf("%s: column %q is the target, so rows can't be grouped by it",
			d.Source, spelling.Clip(d.Target))
	}
	return d.grouped(columns, &b, group), nil
}

// Unlabelled does what [Table.Unlabelled] does, for the columns that the encoding turns into these
// inputs. It also takes a table that has the inputs themselves instead of the columns.
// If the encoding fills missing numbers, it fills texts, too. [Data.Gaps] tells them.
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
		t = t.legible(e.uses(columns))
		err = t.check(e.uses(columns)...)
	}
	if err != nil {
		return nil, err
	}
	return t.view(e, inputs, columns), nil
}

// Select does what [Table.Select] does, for the columns that the encoding turns into these inputs.
// It refuses inputs that are encoded already, because in encoded inputs krigo couldn't recognise
// the rows that a model was made from. If Filling made the encoding, texts are filled, too.
func (e *Encoding) Select(t *Table, inputs []string, target string) (*Data, error) {
	d, err := t.labelled(e.names(inputs), target)
	if err == nil && e != nil && e.further {
		d.table = d.table.legible(e.uses(d.inputs))
	}
	if err == nil {
		err = d.table.check(append(e.uses(d.inputs), uses(d.target)...)...)
	}
	if err != nil {
		return nil, err
	}
	return e.labelled(d), nil
}

// Coding says how an encoding is learnt.
type Coding struct {
	Categorical []string // names of columns
	Missing     string   // Refuse, FillMean or Indicate
	Counting    bool     // values that stand apart count (see Encoding.Without)
}

// Encode does what [Table.Regression] does, for a table with categorical columns or missing values.
// It learns the encoding only from the rows that prior returns, which no certificate counts.
// prior sees the cells of rows, but not yet their encoding.
func (t *Table) Encode(target string, ignored []string, how Coding,
	prior func(*Data) ([]int, error)) (*Data, error) {
	d, err := t.labelled(t.but(append(ignored, target)...), target)
	if err != nil {
		return nil, err
	}
	e := &Encoding{Missing: how.Missing, Without: !how.Counting,
		Columns: lists.Of(d.Inputs, func(name string) Column { return Column{Name: name} })}
	for _, name := range how.Categorical {
		if name == target {
			return nil, fmt.Errorf("%s: the target %q can't be categorical: only numbers and "+
				"classes are predicted", t.Source, target)
		}
		if _, err := t.column(name, "to be categorical"); err != nil {
			return nil, err
		}
		// a column that isn't an input groups rows or is ignored
		if at := slices.Index(d.Inputs, name); at >= 0 {
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
			return nil, fmt.Errorf("%s: encoding makes two columns named %q: rename one", t.Source,
				spelling.Clip(name))
		}
		seen[name] = true
	}
	return e.labelled(d).learnable()
}

// Learn returns the encoding that the given rows teach for d's columns.
// d.Encoding says which of them are categorical.
func (d *Data) Learn(rows []int) (*Encoding, error) {
	e := &Encoding{Missing: d.Encoding.Missing, Without: d.Encoding.Without}
	for _, c := range d.Encoding.Columns {
		c.Mean = nil
		c.Gap = false
		if c.Categories != nil {
			c.Categories = []string{}
		}
		e.Columns = append(e.Columns, c)
	}
	return e, e.learn(d, rows)
}

// leastGaps is the least number of prior rows that miss a number, and that have it, for an input
// that tells them apart.
// Fewer rows say too little. The count looks at cells of prior rows alone, and at no target.
const leastGaps = 10

// learn fills in categories and means. It learns them from the given rows of d, read without an
// encoding.
func (e *Encoding) learn(d *Data, rows []int) error {
	type column struct {
		values map[float64]bool // values of a categorical column
		sum    compensated.Sum
		summed int // values in sum, which values that stand apart aren't
		count  int
		gaps   []int // places of the missing cells among the rows
	}
	cells := d.Unencoded()
	columns := make([]column, cells.Cols)
	for k := range columns {
		columns[k].values = map[float64]bool{}
	}
	of, _, err := cells.spans(rows)
	if err != nil {
		return err
	}
	count := !e.Without
	e.Without = false
	err = cells.each(rows, func(first int, x, _ []float64) {
		for i, v := range x {
			c := &columns[i%cells.Cols]
			switch {
			case v != v:
				c.gaps = append(c.gaps, first+i/cells.Cols)
				continue
			case e.Columns[i%cells.Cols].Categories != nil:
				c.values[v] = true
			case count || of[i%cells.Cols].holds(v):
				c.sum.Add(v)
				c.summed++
			}
			c.count++
		}
	})
	if err != nil {
		return err
	}
	for k := range e.Columns {
		c := &e.Columns[k]
		found := &columns[k]
		if found.count == 0 {
			return &Error{File: d.Source, Column: d.inputs[k] + 1, Name: c.Name,
				Err: fmt.Errorf("column %q is empty on all %d prior rows, so nothing is known "+
					"about it: remove it, or use "+
					"more prior rows", spelling.Clip(c.Name), len(rows))}
		}
		if c.Categories == nil {
			if e.Missing == Refuse {
				continue
			}
			// Columns that always miss together have one such input.
			c.Gap = e.Missing == Indicate && min(len(found.gaps), found.count) >= leastGaps &&
				!slices.ContainsFunc(linalg.UpTo(k), func(o int) bool {
					return e.Columns[o].Gap && slices.Equal(columns[o].gaps, found.gaps)
				})
			e.Without = e.Without || found.summed < found.count
			mean := found.sum.Value() / float64(found.summed)
			if math.IsInf(mean, 0) || mean != mean {
				return overflow(d.Source, c.Name)
			}
			c.Mean = &mean
			continue
		}
		for v := range found.values {
			text := d.table.text(d.inputs[k], v)
			if err := CheckName(text); err != nil {
				return &Error{File: d.Source, Column: d.inputs[k] + 1, Name: c.Name, Err: err}
			}
			if text != other {
				c.Categories = append(c.Categories, text)
			}
		}
		slices.Sort(c.Categories)
		c.Categories = slices.Compact(c.Categories)
		if len(c.Categories) > MaxCategories {
			return &Error{File: d.Source, Column: d.inputs[k] + 1, Name: c.Name,
				Err: fmt.Errorf("column %q has %d categories on %d prior rows, more than %d: "+
					"remove it, or read it as a number if it is one",
					spelling.Clip(c.Name), len(c.Categories), len(rows), MaxCategories)}
		}
	}
	return nil
}

// Unseen returns a finding for each categorical column of t that has categories which no prior row
// has. The finding says how many rows have such a category, and so count as other, and which
// categories these are. The text "other" counts as other anyway.
func (e *Encoding) Unseen(t *Table) (found finding.List, err error) {
	if e == nil {
		return nil, nil
	}
	columns, err := t.inputs(e.names(nil))
	if err != nil {
		return nil, nil // the table has inputs that are encoded already
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
			_, known := places[cells[0]]
			if !known && cells[0] == cells[0] && t.text(columns[k], cells[0]) != other {
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
		texts := lists.Of(slices.Collect(maps.Keys(unseen)), func(v float64) string {
			return t.text(columns[k], v)
		})
		slices.Sort(texts)
		found.Add(finding.Unseen, c.Name, n, own, texts)
	}
	return found, nil
}

// labelled views the columns of d with the encoding.
func (e *Encoding) labelled(d *Data) *Data {
	encoded := d.table.view(e, d.Inputs, d.inputs)
	encoded.Target = d.Target
	encoded.target = d.target
	return encoded
}
