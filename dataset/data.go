package dataset

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/krigo-gp/krigo/finding"
	"github.com/krigo-gp/krigo/internal/cautious"
	"github.com/krigo-gp/krigo/internal/lists"
	"github.com/krigo-gp/krigo/internal/spelling"
	"github.com/krigo-gp/krigo/ranks"
)

// Data, and the encoding that turns cells into inputs when they are read.

// Data is a regression problem, in the units of the file.
// It views the columns of a [Table] that are its inputs and its target, and copies nothing.
// Columns of Beyond change what methods read as the target.
type Data struct {
	Source     string
	Inputs     []string  // names of the inputs
	Target     string    // name of the target column; empty if there is none
	Rows, Cols int       // number of rows, and of inputs
	Encoding   *Encoding // how columns become inputs; nil: columns are inputs without a change

	table  *Table
	inputs []int // columns of the table that become inputs
	// places in inputs, in the order in which cells enter a row's bytes; nil: as in inputs
	order    []int
	encoders []encoder // encoder of each column in inputs; nil without an encoding
	target   []int     // column of the target; nil without a target
	further  []Further // columns that say how the target was observed (see Beyond)
	observed []int     // the places of these columns
	limits   []int     // column that says which targets are limits; nil: all are measured
	beside   []int     // columns of several targets, in place of target (see OfAny)
	group    []int     // columns that decide the groups of rows; nil: rows aren't grouped
	grouping string    // name of the group column, or of the blocks
	// how group is cut into blocks; nil: rows with the same text or number are a group
	blocks *blocks
}

// Within returns the same data for work that ends with a context (see [Table.Within]).
func (d *Data) Within(ctx context.Context) *Data {
	within := *d
	within.table = d.table.Within(ctx)
	return &within
}

// Context returns the context that was given to Within, or nil.
func (d *Data) Context() context.Context { return d.table.ctx }

// Ranks returns the processes over which the rows are spread.
func (d *Data) Ranks() ranks.Ranks { return d.table.Ranks() }

// All returns the numbers of all rows that this rank has.
func (d *Data) All() []int {
	first, n := d.table.Own()
	return lists.To(n, func(i int) int { return first + i })
}

// Unencoded returns a view of the columns that become inputs, before they are encoded.
// A missing value is NaN there.
func (d *Data) Unencoded() *Data {
	cells := *d
	cells.encoders = nil
	cells.Cols = len(d.inputs)
	return &cells
}

// Own returns the given rows without the rows of other ranks.
func (d *Data) Own(rows []int) []int {
	return slices.DeleteFunc(slices.Clone(rows), d.elsewhere)
}

// RowsOf returns the rows of this rank that have the role, in the order of the roles.
func (d *Data) RowsOf(roles Roles, role Role) []int {
	return slices.DeleteFunc(roles.Rows(role), d.elsewhere)
}

// elsewhere says whether another rank has the row.
func (d *Data) elsewhere(row int) bool {
	first, n := d.table.Own()
	return row < first || row >= first+n
}

// Table returns the table that d views.
func (d *Data) Table() *Table { return d.table }

// Columns returns the indices of the table's columns that become inputs, as they stand or encoded.
func (d *Data) Columns() []int { return slices.Clone(d.inputs) }

// Group returns the name of the column, or of the blocks, by which rows are grouped, or "" if they
// aren't grouped.
func (d *Data) Group() string { return d.grouping }

// Blocks returns the columns that are cut into blocks, and the blocks' sizes, or nil if blocks
// don't group the rows.
func (d *Data) Blocks() (columns []string, sizes []float64) {
	if d.blocks == nil {
		return nil, nil
	}
	return d.blocks.columns, d.blocks.sizes
}

// Where says where a row, counted from 0, stands in the file: its line, or its number from 1.
func (d *Data) Where(row int) string { return d.table.Where(row) }

// Read copies the given rows, in the given order:
// their inputs to x (len(rows)×Cols, row-major), and their targets to y (len(rows)).
// x or y may be nil. Read fails if the file can't be read any more.
func (d *Data) Read(rows []int, x, y []float64) error {
	var cells []float64 // cells of the rows that are about to be encoded
	for len(rows) > 0 {
		first := rows[0]
		n := 1
		most := len(rows)
		if d.encoders != nil {
			most = min(most, blockRows)
		}
		for n < most && rows[n] == first+n {
			n++
		}
		if first < 0 || first+n > d.Rows {
			return fmt.Errorf("%s: there are no rows %d to %d, only %d rows", d.Source, first+1,
				first+n, d.Rows)
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
			units, err := RowUnitsOf(d.further, func(k int) ([]float64, error) {
				of := make([]float64, n)
				return of, d.table.Read(first, n, d.observed[k:k+1], of)
			})
			if err != nil {
				return err
			}
			for i, unit := range units {
				y[i] = unit.Value(y[i])
			}
			y = y[n:]
		}
	}
	return nil
}

// Select reads the given rows, as Read does, into new memory.
func (d *Data) Select(rows []int) (x, y []float64, err error) {
	x = make([]float64, len(rows)*d.Cols)
	y = make([]float64, len(rows))
	return x, y, d.Read(rows, x, y)
}

// Targets returns the targets of the given rows.
func (d *Data) Targets(rows []int) ([]float64, error) {
	y := make([]float64, len(rows))
	return y, d.Read(rows, nil, y)
}

// SortedTargets returns the targets of the given rows of all ranks together, in ascending order.
func (d *Data) SortedTargets(rows []int) ([]float64, error) {
	y, err := d.Targets(rows)
	if err = d.Ranks().Agree(err); err == nil {
		y, err = ranks.Gather(d.Ranks(), y)
	}
	slices.Sort(y)
	return y, err
}

// each reads the given rows block by block, and passes each block on.
// The block's first row is rows[first].
func (d *Data) each(rows []int, block func(first int, x, y []float64)) error {
	most := min(blockRows, max(1, blockCells/max(1, d.Cols)), max(1, len(rows)))
	x := make([]float64, most*d.Cols)
	y := make([]float64, most)
	for first, end := range lists.Blocks(len(rows), most) {
		n := end - first
		if err := d.Read(rows[first:end], x[:n*d.Cols], y[:n]); err != nil {
			return err
		}
		block(first, x[:n*d.Cols], y[:n])
	}
	return nil
}

// other is the category of cells whose own category no prior row has.
const other = "other"

// MaxCategories limits the categories of a column.
// A column with more categories holds names, or numbers.
const MaxCategories = 1024

// Few says whether krigo takes n different texts in a number of rows for categories without being
// asked. Each category is an input, so training takes time in proportion to categories times rows:
// 10 s for 466 categories on 1,400 prior rows, and minutes for 1,000 categories on 9,000.
func Few(n, rows int) bool {
	const always, most = 256, 1 << 20
	return n <= always || (n <= MaxCategories && n*rows <= most)
}

// Encoding says how the columns of a table become a model's inputs.
// A categorical column becomes a one-hot input for each category and a last input for all other
// categories. Another column is a numeric input, and its missing values may be filled.
// The encoding is learnt from prior rows and kept in the model.
// Without encoding, columns stay as they are.
type Encoding struct {
	Missing string   `json:"missing"` // Refuse, FillMean or Indicate
	Columns []Column `json:"columns"` // columns of the table, in the order of their inputs
	// Whether means leave out values that stand apart (see [SlipFrom]). They count in older models.
	Without bool `json:"without_apart,omitzero"`

	further bool // rows aren't the model's own, so texts are filled as gaps are; set by Filling
}

// Column is what an [Encoding] says about one column of a table.
type Column struct {
	Name string `json:"name"`
	// sorted, without the category other; nil for numbers
	Categories []string `json:"categories,omitzero"`
	// replaces missing numbers; nil: they aren't replaced
	Mean *float64 `json:"mean,omitempty"`
	// a second input is 1 where the number is missing, and 0 elsewhere
	Gap bool `json:"gap,omitzero"`
}

// GapName is the category of missing numbers, in the name of the input of [Column.Gap].
const GapName = "missing"

// Names returns the categories for which c has inputs, with other at the end.
// It returns nil for a column of numbers.
func (c Column) Names() []string {
	if c.Categories == nil {
		return nil
	}
	return append(slices.Clip(c.Categories), other)
}

// Inputs returns the names of the inputs, for example "fuel=gas".
func (e *Encoding) Inputs() []string { return slices.Collect(e.inputs) }

// inputs yields the names of the inputs.
func (e *Encoding) inputs(yield func(string) bool) {
	for _, c := range e.Columns {
		if (c.Categories == nil && !yield(c.Name)) || (c.Gap && !yield(c.Name+"="+GapName)) {
			return
		}
		for _, category := range c.Names() {
			if !yield(c.Name + "=" + category) {
				return
			}
		}
	}
}

// names returns the names of the encoding's columns. Without an encoding it returns inputs.
func (e *Encoding) names(inputs []string) []string {
	if e == nil {
		return inputs
	}
	return lists.Of(e.Columns, func(c Column) string { return c.Name })
}

// Check returns an error if an encoding, for example from a file, is invalid or doesn't make these
// inputs.
func (e *Encoding) Check(inputs []string) error {
	if !slices.Contains([]string{Refuse, FillMean, Indicate}, e.Missing) {
		return fmt.Errorf("missing %q: want %s, %s or %s", spelling.Clip(e.Missing), Refuse,
			FillMean, Indicate)
	}
	if k := slices.IndexFunc(e.Columns, func(c Column) bool {
		return c.Gap && (c.Categories != nil || c.Mean == nil)
	}); k >= 0 {
		return fmt.Errorf("an input of gaps for column %q, which has no mean",
			spelling.Clip(e.Columns[k].Name))
	}
	// Compare names one by one, because all names of a forged file might not fit in memory.
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

// Filling returns the encoding for further rows. These means, one for each input, take the place of
// missing numbers for which e has no mean. If refuses is set and e doesn't fill, Filling returns e.
func (e *Encoding) Filling(inputs []string, means []float64, refuses bool) *Encoding {
	if refuses && !e.Fills() {
		return e
	}
	filling := &Encoding{Missing: FillMean, further: true,
		Columns: lists.Of(inputs, func(name string) Column { return Column{Name: name} })}
	if e != nil {
		filling.Columns = slices.Clone(e.Columns)
	}
	at := 0
	for k := range filling.Columns {
		c := &filling.Columns[k]
		if c.Categories == nil && c.Mean == nil {
			c.Mean = &means[at]
		}
		at += c.Width()
	}
	return filling
}

// Gaps returns how many inputs each of this rank's rows misses, and tells which.
// Texts in columns of numbers count as missing. In columns where gaps are usual only texts count.
func (d *Data) Gaps(usual func(column string) bool) (rows []int, found finding.List, err error) {
	type tally struct {
		n, first int
		text     string
	}
	skipped := lists.Of(d.inputs, func(j int) bool { return usual(d.table.Names[j]) })
	begin, own := d.table.Own()
	rows = make([]int, own)
	tallies := [2][]tally{make([]tally, len(d.inputs)), make([]tally, len(d.inputs))} // gaps, texts
	err = d.table.Each(d.inputs, func(i int, cells []float64) error {
		for k, v := range cells {
			if v == v {
				continue
			}
			kind := 0
			text, unread := d.table.unread[place{i - begin, d.inputs[k]}]
			if unread {
				kind = 1
			} else if skipped[k] {
				continue
			}
			rows[i-begin]++
			at := &tallies[kind][k]
			if at.n++; at.n == 1 {
				at.first = i
				at.text = text
			}
		}
		return nil
	})
	for kind, of := range tallies {
		for k, at := range of {
			name := d.table.Names[d.inputs[k]]
			switch where := d.table.Where(at.first); {
			case at.n == 0:
			case kind == 0:
				found.Add(finding.NewGaps, name, at.n, own, where, Filled(d.Encoding.Categorical(k)))
			default:
				found.Add(finding.Unread, name, at.n, own, where, at.text, Filled(false))
			}
		}
	}
	return rows, found, err
}

// Filled says what stands in for the missing values of a column.
func Filled(categorical bool) string {
	return spelling.Either(categorical, "which count as \"other\"",
		"which the prior rows' mean fills")
}

// Fills says whether missing values of inputs are filled.
func (e *Encoding) Fills() bool { return e != nil && e.Missing != Refuse }

// Categorical says whether column k is categorical.
func (e *Encoding) Categorical(k int) bool { return e != nil && e.Columns[k].Categories != nil }

// OneHot says whether input j stands for a category, or for gaps.
func (e *Encoding) OneHot(j int) bool {
	if e == nil {
		return false
	}
	for _, c := range e.Columns {
		width := c.Width()
		if j < width {
			return c.Categories != nil || j > 0
		}
		j -= width
	}
	return false
}

// String describes the encoding for people.
func (e *Encoding) String() string {
	var parts []string
	for _, c := range e.Columns {
		if c.Categories != nil {
			parts = append(parts, fmt.Sprintf("%s by %s", spelling.Printable(c.Name),
				spelling.Quoted(c.Names(), 10)))
		}
	}
	for _, c := range e.Columns {
		if c.Mean != nil {
			parts = append(parts, fmt.Sprintf("%s %s if missing", spelling.Printable(c.Name),
				cautious.Number(*c.Mean))+spelling.If(c.Gap, ", with an input that says so"))
		}
	}
	return strings.Join(parts, "; ")
}

// Near says whether two encodings are the same, except for the last digits of means.
func (e *Encoding) Near(f *Encoding) bool {
	return e.Missing == f.Missing && e.Without == f.Without &&
		slices.EqualFunc(e.Columns, f.Columns, func(a, b Column) bool {
			mean := (a.Mean == nil && b.Mean == nil) ||
				(a.Mean != nil && b.Mean != nil &&
					math.Abs(*a.Mean-*b.Mean) <= 1e-9*math.Max(math.Abs(*a.Mean), 1e-300))
			return a.Name == b.Name && mean && a.Gap == b.Gap &&
				(a.Categories == nil) == (b.Categories == nil) &&
				slices.Equal(a.Categories, b.Categories)
		})
}

// encoder turns cells of a column into inputs.
type encoder struct {
	width int
	// input of each category, by its cell; the last input is other; nil for a column of numbers
	places map[float64]int
	fill   float64 // replaces a missing number
}

// Width returns the number of inputs that the column becomes.
func (c Column) Width() int {
	if c.Gap {
		return 2
	}
	return max(1, len(c.Names()))
}

// encoder returns the encoder for column j of a table.
func (c Column) encoder(t *Table, j int) encoder {
	e := encoder{width: c.Width(), fill: math.NaN()}
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

// encode fills x with the inputs that rows of cells become.
func encode(encoders []encoder, x, cells []float64) {
	for ; len(cells) > 0; cells = cells[len(encoders):] {
		for k := range encoders {
			e := &encoders[k]
			v := cells[k]
			if e.places == nil {
				clear(x[1:e.width])
				if v != v {
					v = e.fill
					copy(x[1:e.width], []float64{1})
				}
				x[0] = v
			} else {
				// never known if v is missing, because NaN equals no key
				place, known := e.places[v]
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
