package dataset

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/krigo-gp/krigo/internal/cautious"
	"github.com/krigo-gp/krigo/internal/spelling"
)

// What is done about missing values of inputs. A missing target is always an error.
const (
	Refuse   = "refuse" // they are an error
	FillMean = "mean"   // of numbers their mean on prior rows is put there, of categories other
)

// other stands for every category that prior rows don't have.
const other = "other"

// MaxCategories of a column: with more it is a name, or a number.
const MaxCategories = 256

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

func (e *Encoding) names() []string {
	var names []string
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
