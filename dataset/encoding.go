package dataset

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// What is done about missing values of inputs. A missing target is always an error.
const (
	Refuse   = "refuse" // they are an error
	FillMean = "mean"   // of numbers their mean on prior rows is put there, of categories other
)

// other stands for every category that prior rows don't have.
const other = "other"

// maxCategories of a column: with more it is a name, or a number.
const maxCategories = 256

// Encoding says how the columns of a table become a model's inputs: categorical ones as a
// one-hot column for each category and a last one for all others, the rest as numbers, in
// which missing values may be filled. It is learnt from prior rows, and kept in the model.
// Where there is none (nil), columns are inputs as they stand.
type Encoding struct {
	Missing string   `json:"missing"` // Refuse or FillMean
	Columns []Column `json:"columns"` // of the table, in the order of the inputs
}

// Column is what an [Encoding] says about one column of a table.
type Column struct {
	Name       string   `json:"name"`
	Categories []string `json:"categories,omitzero"` // in alphabetical order, without other; nil of a column of numbers
	Mean       *float64 `json:"mean,omitempty"`      // that fills missing numbers; nil: nothing does
}

// Names lists the categories of its inputs, of which the last is all others: nil of a column of
// numbers.
func (c Column) Names() []string {
	if c.Categories == nil {
		return nil
	}
	return append(slices.Clip(c.Categories), other)
}

// Inputs returns the names of the inputs, as in "fuel=gas".
func (e *Encoding) Inputs() []string { return slices.Collect(e.inputs) }

// inputs yields them.
func (e *Encoding) inputs(yield func(string) bool) {
	for _, c := range e.Columns {
		if c.Categories == nil && !yield(c.Name) {
			return
		}
		for _, category := range c.Names() {
			if !yield(c.Name + "=" + category) {
				return
			}
		}
	}
}

// Check says what is wrong with an encoding, as of a file, for these inputs.
func (e *Encoding) Check(inputs []string) error {
	if e.Missing != Refuse && e.Missing != FillMean {
		return fmt.Errorf("missing %q: want %s or %s", clip(e.Missing), Refuse, FillMean)
	}
	// One by one: all names of a forged file might not fit in memory.
	left := inputs
	for name := range e.inputs {
		if len(left) == 0 || left[0] != name {
			return fmt.Errorf("it makes other inputs, such as %q", clip(name))
		}
		left = left[1:]
	}
	if len(left) > 0 {
		return fmt.Errorf("it doesn't make the input %q", clip(left[0]))
	}
	return nil
}

// OneHot says whether input j is one of a categorical column.
func (e *Encoding) OneHot(j int) bool {
	if e == nil {
		return false
	}
	for _, c := range e.Columns {
		width := c.width()
		if j < width {
			return c.Categories != nil
		}
		j -= width
	}
	return false
}

// String says it for people.
func (e *Encoding) String() string {
	var parts []string
	for _, c := range e.Columns {
		if c.Categories != nil {
			parts = append(parts, fmt.Sprintf("%s by %s", c.Name, quoted(c.Names(), 10)))
		}
	}
	for _, c := range e.Columns {
		if c.Mean != nil {
			parts = append(parts, fmt.Sprintf("%s %.4g where it is missing", c.Name, *c.Mean))
		}
	}
	return strings.Join(parts, "; ")
}

// Unlabelled is [Table.Unlabelled] with the columns that become these inputs. A table that
// has the inputs themselves in their place is taken as it is.
func (e *Encoding) Unlabelled(t *Table, inputs []string) (*Data, error) {
	if e == nil {
		return t.Unlabelled(inputs)
	}
	columns, err := t.inputs(e.names())
	if err != nil {
		if _, absent := t.inputs(inputs); absent == nil {
			return t.Unlabelled(inputs)
		}
		return nil, err
	}
	if err := t.check(e.uses(columns)...); err != nil {
		return nil, err
	}
	return e.view(t, columns), nil
}

// Select is [Table.Select] with the columns that become these inputs. Inputs that are
// encoded already won't do: rows that a model was made from couldn't be told from others.
func (e *Encoding) Select(t *Table, inputs []string, target string) (*Data, error) {
	if e == nil {
		return t.Select(inputs, target)
	}
	d, err := t.labelled(e.names(), target)
	if err == nil {
		err = t.check(append(e.uses(d.inputs), uses(d.target)...)...)
	}
	if err != nil {
		return nil, err
	}
	return e.labelled(d), nil
}

// Encode is [Table.Regression] of a table with categorical columns or missing values, by
// an encoding learnt from prior rows alone: those that no certificate counts, which are chosen
// among rows whose content is known, but not yet what it becomes.
func (t *Table) Encode(target string, ignored []string, categorical []string, missing string, prior func(*Data) ([]int, error)) (*Data, error) {
	d, err := t.labelled(t.but(append(ignored, target)...), target)
	if err != nil {
		return nil, err
	}
	e := &Encoding{Missing: missing}
	for _, name := range d.Inputs {
		e.Columns = append(e.Columns, Column{Name: name})
	}
	for _, name := range categorical {
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
	fit := e.uses(d.inputs)
	for k := range fit {
		fit[k].fitting = true
	}
	if err := t.check(append(fit, uses(d.target)...)...); err != nil {
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
			return nil, fmt.Errorf("%s: encoding makes two columns named %q: rename one", t.Source, clip(name))
		}
		seen[name] = true
	}
	d = e.labelled(d)
	if err := d.learnable(); err != nil {
		return nil, err
	}
	return d, nil
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

// Near says whether two encodings are the same, but for the last digits of means.
func (e *Encoding) Near(f *Encoding) bool {
	return e.Missing == f.Missing && slices.EqualFunc(e.Columns, f.Columns, func(a, b Column) bool {
		mean := a.Mean == nil && b.Mean == nil ||
			a.Mean != nil && b.Mean != nil && math.Abs(*a.Mean-*b.Mean) <= 1e-9*math.Max(math.Abs(*a.Mean), 1e-300)
		return a.Name == b.Name && mean && (a.Categories == nil) == (b.Categories == nil) && slices.Equal(a.Categories, b.Categories)
	})
}

// learn fills in categories and means from rows of the view of the columns as they stand.
func (e *Encoding) learn(d *Data, rows []int) error {
	type column struct {
		values map[float64]bool // that a categorical one has
		sum    compensated
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
				c.sum.add(v)
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
			return fmt.Errorf("%s: column %q is empty on all %d prior rows, so nothing is known about it: remove it, or use more prior rows",
				d.Source, clip(c.Name), len(rows))
		}
		if c.Categories == nil {
			if e.Missing != FillMean {
				continue
			}
			mean := found.sum.value() / float64(found.count)
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
		if len(c.Categories) > maxCategories {
			return fmt.Errorf("%s: column %q has %d categories on %d prior rows, more than %d: remove it, or read it as a number if it is one",
				d.Source, clip(c.Name), len(c.Categories), len(rows), maxCategories)
		}
	}
	return nil
}

func (e *Encoding) names() []string {
	var names []string
	for _, c := range e.Columns {
		names = append(names, c.Name)
	}
	return names
}

// uses says what the encoding reads its columns for, which are those given.
func (e *Encoding) uses(columns []int) []use {
	all := uses(columns)
	for k := range all {
		all[k].categorical, all[k].gaps = e.Columns[k].Categories != nil, e.Missing == FillMean
	}
	return all
}

func (e *Encoding) view(t *Table, columns []int) *Data {
	d := t.view(e.Inputs(), columns)
	d.Encoding = e
	for k, c := range e.Columns {
		d.encoders = append(d.encoders, c.encoder(t, columns[k]))
	}
	return d
}

// labelled is a view of the same columns by the encoding.
func (e *Encoding) labelled(d *Data) *Data {
	encoded := e.view(d.table, d.inputs)
	encoded.Target, encoded.target = d.Target, d.target
	return encoded
}

// encoder makes inputs of the cells of one column.
type encoder struct {
	width  int
	places map[float64]int // of a cell's category among the inputs, of which the last is other; nil of numbers
	fill   float64         // in the place of a missing number
}

// width is the number of its inputs.
func (c Column) width() int { return max(1, len(c.Names())) }

// encoder returns that of column j of a table.
func (c Column) encoder(t *Table, j int) encoder {
	e := encoder{width: c.width(), fill: math.NaN()}
	if c.Mean != nil {
		e.fill = *c.Mean
	}
	if c.Categories == nil {
		return e
	}
	e.places = map[float64]int{}
	texts := t.texts(j)
	at := make(map[string]float64, len(texts))
	for k, text := range texts {
		at[text] = float64(k)
	}
	for place, text := range c.Categories {
		if texts != nil {
			if code, ok := at[text]; ok {
				e.places[code] = place
			}
		} else if v, err := strconv.ParseFloat(text, 64); err == nil && numeral(v) == text {
			e.places[v] = place
		}
	}
	return e
}

// encode makes inputs x of rows of cells.
func encode(encoders []encoder, x, cells []float64) {
	for ; len(cells) > 0; cells = cells[len(encoders):] {
		for k := range encoders {
			e, v := &encoders[k], cells[k]
			if e.places == nil {
				if v != v {
					v = e.fill
				}
				x[0] = v
			} else {
				place, known := e.places[v] // never known where v is missing, as NaN is no key
				if !known {
					place = e.width - 1
				}
				clear(x[:e.width])
				x[place] = 1
			}
			x = x[e.width:]
		}
	}
}
