package dataset

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/krigo-gp/krigo/internal/cautious"
	"github.com/krigo-gp/krigo/internal/linalg"
	"github.com/krigo-gp/krigo/internal/spelling"
	"github.com/krigo-gp/krigo/ranks"
)

// Data, and the encoding by which cells become inputs as they are read.

// Data is a regression problem, in the units of the file: a view of the columns of a
// [Table] that are its inputs and its target. Nothing is copied.
type Data struct {
	Source     string
	Inputs     []string  // names of the inputs
	Target     string    // name of the target column; empty if there is none
	Rows, Cols int       // rows, and inputs of each
	Encoding   *Encoding // by which columns become inputs; nil: they are inputs as they stand

	table    *Table
	inputs   []int     // columns of the table
	encoders []encoder // of each; nil without an encoding
	target   []int     // its column; none for inputs alone
	group    []int     // the columns by which rows are grouped; none where each stands for itself
	grouping string    // the name of the column, or of the blocks
	blocks   *blocks   // that the columns are cut into; nil: rows of the same text or number are a group
}

// Within is the same data for work that ends with a context; see [Table.Within].
func (d *Data) Within(ctx context.Context) *Data {
	within := *d
	within.table = d.table.Within(ctx)
	return &within
}

// Context is what was given to Within, or nil.
func (d *Data) Context() context.Context { return d.table.ctx }

// Ranks are those that the rows are spread over.
func (d *Data) Ranks() ranks.Ranks { return d.table.Ranks() }

// All returns the numbers of all rows that this rank has.
func (d *Data) All() []int {
	first, n := d.table.Own()
	numbers := linalg.UpTo(n)
	for i := range numbers {
		numbers[i] += first
	}
	return numbers
}

// Own returns which of the rows this rank has.
func (d *Data) Own(rows []int) []int {
	return slices.DeleteFunc(slices.Clone(rows), d.elsewhere)
}

// RowsOf returns the rows of this rank that have the role, in the order of the roles.
func (d *Data) RowsOf(roles Roles, role Role) []int {
	return slices.DeleteFunc(roles.Rows(role), d.elsewhere)
}

// elsewhere says whether another rank has a row.
func (d *Data) elsewhere(row int) bool {
	first, n := d.table.Own()
	return row < first || row >= first+n
}

// Table is what the data view.
func (d *Data) Table() *Table { return d.table }

// Columns returns which columns of the table are inputs, as they stand or encoded.
func (d *Data) Columns() []int { return slices.Clone(d.inputs) }

// Group returns the name of the column, or of the blocks, by which rows are grouped; "" where each stands for itself.
func (d *Data) Group() string { return d.grouping }

// Blocks returns the columns that are cut into blocks, and the blocks' sizes. Both are nil if rows aren't grouped by
// blocks.
func (d *Data) Blocks() (columns []string, sizes []float64) {
	if d.blocks == nil {
		return nil, nil
	}
	return d.blocks.columns, d.blocks.sizes
}

// Where says where a row, counted from 0, stands in the file: its line, or its number.
func (d *Data) Where(row int) string { return d.table.Where(row) }

// Read copies the given rows, in the given order: their inputs to x (len(rows)×Cols,
// row-major), their targets to y (len(rows)). Either may be nil. It fails where a file
// can't be read any more.
func (d *Data) Read(rows []int, x, y []float64) error {
	var cells []float64 // of a block of rows that are to be encoded
	for len(rows) > 0 {
		first, n, most := rows[0], 1, len(rows)
		if d.encoders != nil {
			most = min(most, blockRows)
		}
		for n < most && rows[n] == first+n {
			n++
		}
		if first < 0 || first+n > d.Rows {
			return fmt.Errorf("%s: rows %d to %d asked for, of %d", d.Source, first+1, first+n, d.Rows)
		}
		rows = rows[n:]
		if x != nil {
			to := x[:n*d.Cols]
			x = x[n*d.Cols:]
			if d.encoders != nil {
				cells = slices.Grow(cells[:0], n*len(d.inputs))[:n*len(d.inputs)]
				if err := d.table.Read(first, n, d.inputs, cells); err != nil {
					return err
				}
				encode(d.encoders, to, cells)
			} else if err := d.table.Read(first, n, d.inputs, to); err != nil {
				return err
			}
		}
		if y != nil {
			if err := d.table.Read(first, n, d.target, y[:n]); err != nil {
				return err
			}
			y = y[n:]
		}
	}
	return nil
}

// Select is Read into new memory.
func (d *Data) Select(rows []int) (x, y []float64, err error) {
	x, y = make([]float64, len(rows)*d.Cols), make([]float64, len(rows))
	return x, y, d.Read(rows, x, y)
}

// Targets returns the targets of the given rows.
func (d *Data) Targets(rows []int) ([]float64, error) {
	y := make([]float64, len(rows))
	return y, d.Read(rows, nil, y)
}

// SortedTargets returns the targets of the given rows, those of all ranks together, in ascending order.
func (d *Data) SortedTargets(rows []int) ([]float64, error) {
	y, err := d.Targets(rows)
	if err = d.Ranks().Agree(err); err == nil {
		y, err = ranks.Gather(d.Ranks(), y)
	}
	slices.Sort(y)
	return y, err
}

// each reads the given rows block by block; rows[first] is the first of a block.
func (d *Data) each(rows []int, block func(first int, x, y []float64)) error {
	x, y := make([]float64, blockRows*d.Cols), make([]float64, blockRows)
	for first := 0; first < len(rows); first += blockRows {
		n := min(blockRows, len(rows)-first)
		if err := d.Read(rows[first:first+n], x[:n*d.Cols], y[:n]); err != nil {
			return err
		}
		block(first, x[:n*d.Cols], y[:n])
	}
	return nil
}

// other stands for every category that prior rows don't have.
const other = "other"

// MaxCategories of a column: with more it is a name, or a number.
const MaxCategories = 256

// Encoding says how the columns of a table become a model's inputs: categorical ones as a
// one-hot column for each category and a last one for all others, the rest as numbers, in
// which missing values may be filled. It is learnt from prior rows, and kept in the model.
// Without one (nil), columns are inputs as they stand.
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

// Names lists the categories of its inputs. The last one is all others: nil of a column of
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

// names are those of its columns; without an encoding they are the inputs.
func (e *Encoding) names(inputs []string) (names []string) {
	if e == nil {
		return inputs
	}
	for _, c := range e.Columns {
		names = append(names, c.Name)
	}
	return names
}

// Check says what is wrong with an encoding, as of a file, for these inputs.
func (e *Encoding) Check(inputs []string) error {
	if e.Missing != Refuse && e.Missing != FillMean {
		return fmt.Errorf("missing %q: want %s or %s", spelling.Clip(e.Missing), Refuse, FillMean)
	}
	// One by one: all names of a forged file might not fit in memory.
	left := inputs
	for name := range e.inputs {
		if len(left) == 0 || left[0] != name {
			return fmt.Errorf("it makes other inputs, such as %q", spelling.Clip(name))
		}
		left = left[1:]
	}
	if len(left) > 0 {
		return fmt.Errorf("it doesn't make the input %q", spelling.Clip(left[0]))
	}
	return nil
}

// Fills says whether missing values of inputs are filled.
func (e *Encoding) Fills() bool { return e != nil && e.Missing == FillMean }

// Categorical says whether column k is categorical.
func (e *Encoding) Categorical(k int) bool { return e != nil && e.Columns[k].Categories != nil }

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
			parts = append(parts, fmt.Sprintf("%s by %s", spelling.Printable(c.Name), spelling.Quoted(c.Names(), 10)))
		}
	}
	for _, c := range e.Columns {
		if c.Mean != nil {
			parts = append(parts, fmt.Sprintf("%s %s where it is missing", spelling.Printable(c.Name),
				cautious.Number(*c.Mean)))
		}
	}
	return strings.Join(parts, "; ")
}

// Near says whether two encodings are the same, but for the last digits of means.
func (e *Encoding) Near(f *Encoding) bool {
	return e.Missing == f.Missing && slices.EqualFunc(e.Columns, f.Columns, func(a, b Column) bool {
		mean := a.Mean == nil && b.Mean == nil ||
			a.Mean != nil && b.Mean != nil && math.Abs(*a.Mean-*b.Mean) <= 1e-9*math.Max(math.Abs(*a.Mean), 1e-300)
		return a.Name == b.Name && mean && (a.Categories == nil) == (b.Categories == nil) &&
			slices.Equal(a.Categories, b.Categories)
	})
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
	texts := t.Texts(j)
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
