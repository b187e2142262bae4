package dataset

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/krigo-gp/krigo/internal/spelling"
	"github.com/krigo-gp/krigo/memory"
)

// A cell is a number, text, or missing. Tables hold all of them as float64: a missing value
// is NaN, and a column in which any cell is text holds places in its list of texts, of which
// the numbers among them are some. What a column is read for decides whether that will do.

// Append adds a row to a table in memory, of cells written as in a CSV file. A table that takes more memory than it may
// (package memory) grows no further: that is an error, of [Reading.Apply] too.
func (t *Table) Append(cells []string) error {
	t.tellUnits(cells)
	if t.room(len(cells)); t.over != nil {
		return t.over
	}
	for j, cell := range cells {
		t.Values = append(t.Values, t.value(t.Rows, j, strings.TrimSpace(cell)))
	}
	t.Rows++
	return t.over
}

// AppendLine adds a row, as Append does, that starts on this line of the file, counted from 1. It refuses more or fewer
// cells than the table has names.
func (t *Table) AppendLine(line int, cells []string) error {
	if len(cells) != len(t.Names) {
		return &Error{File: t.Source, Line: line, Err: fmt.Errorf("expected %d cells, got %d: add or remove cells, and "+
			"write ? where a value is missing", len(t.Names), len(cells))}
	}
	t.Lines = append(t.Lines, line)
	return t.Append(cells)
}

// Set sets a cell of a table in memory, written as in a CSV file, for which Values has a place.
// The cells above it in its column are set already.
func (t *Table) Set(row, column int, cell string) {
	t.Values[row*len(t.Names)+column] = t.value(row, column, strings.TrimSpace(cell))
}

// room allocates memory for one more row with this number of cells, within the limit of package memory. While values
// move, the old and the new memory exist together.
func (t *Table) room(cells int) {
	if need := len(t.Values) + cells; need > cap(t.Values) {
		larger := need + len(t.Values)/2
		if t.afford(8 * float64(larger)); t.over == nil {
			t.Values = slices.Grow(t.Values, larger-len(t.Values))
		}
	}
}

// afford asks for so many bytes more than the table has.
func (t *Table) afford(more float64) {
	const line = 2 * 8 // with what is spare
	if t.over == nil {
		t.over = memory.Afford(t.Source+": the table", 8*float64(cap(t.Values))+line*float64(cap(t.Lines))+t.heavy+more)
	}
}

// perText are the bytes of a text in its column's list and among its codes, by estimate, apart from its own.
const perText = 100

// value returns what stands for a cell of column j. Where it is the column's first text, the
// rows above the given one become text too.
func (t *Table) value(row, j int, cell string) float64 {
	v, err := t.reading.Parse(cell)
	number := err == nil && v-v == 0
	if number && len(t.reading.names) > 0 && slices.Contains(t.reading.names, t.Names[j]) {
		t.name(row, j, cell, v)
	}
	switch {
	case !number && t.reading.IsMissing(cell):
		return math.NaN()
	case number && t.texts(j) == nil:
		return v
	case number:
		return t.code(j, numeral(v))
	}
	if t.texts(j) == nil {
		if t.afford(perText * float64(row)); t.over != nil {
			return math.NaN()
		}
		for i := range row {
			if at := &t.Values[i*len(t.Names)+j]; *at == *at {
				*at = t.code(j, numeral(*at))
			}
		}
	}
	if !t.reading.zero() {
		if _, err := parse(cell); err == nil {
			if t.odd == nil {
				t.odd = map[oddText]bool{}
			}
			t.odd[oddText{j, strings.Clone(cell)}] = true
		}
	}
	return t.code(j, cell)
}

// name looks whether a cell of a column that names things is the same number as one that is written otherwise: they
// would be one name. A whole number is written alike with a point and zeros.
func (t *Table) name(row, j int, cell string, v float64) {
	number, text := numeral(v), cell
	if whole, zeros, _ := strings.Cut(cell, t.reading.point()); strings.Trim(zeros, "0") == "" {
		text = whole
	}
	if t.named == nil {
		t.named = map[oddText]string{}
	}
	before, known := t.named[oddText{j, number}]
	switch {
	case !known:
		text = strings.Clone(text)
		t.named[oddText{j, number}] = text
		t.heavy += perText + float64(len(text))
	case before != text && t.over == nil:
		at := &Error{File: t.Source, Row: row + 1, Column: j + 1, Name: t.Names[j]}
		if len(t.Lines) > row {
			at.Row, at.Line = 0, t.Lines[row]
		}
		at.Err = fmt.Errorf("column %q: %q and %q, in an earlier row, are one number, and would be one name: write them "+
			"alike if they are the same, or else with a letter in front", spelling.Clip(t.Names[j]), spelling.Clip(text),
			spelling.Clip(before))
		t.over = at
	}
}

// strange says whether a text of column j isn't a number although it looks like one.
func (t *Table) Strange(j int, text string) bool { return t.odd[oddText{j, text}] }

// code returns the place of a text in the column's list, to which it is added if need be.
func (t *Table) code(j int, text string) float64 {
	if t.Text == nil {
		t.Text = make([][]string, len(t.Names))
	}
	if t.codes == nil {
		t.codes = make([]map[string]float64, len(t.Names))
	}
	if t.codes[j] == nil {
		t.codes[j] = map[string]float64{}
		for k, s := range t.Text[j] {
			t.codes[j][s] = float64(k)
		}
	}
	text = strings.ToValidUTF8(text, "\ufffd") // anything else would come back from a model file as another text
	code, ok := t.codes[j][text]
	if !ok {
		t.heavy += perText + float64(len(text))
		if t.afford(0); t.over != nil {
			return math.NaN()
		}
		text = strings.Clone(text) // a cell of a CSV file keeps its whole line in memory
		code = float64(len(t.Text[j]))
		t.Text[j] = append(t.Text[j], text)
		t.codes[j][text] = code
	}
	return code
}

// texts lists the texts of column j; nil of a column of numbers.
func (t *Table) texts(j int) []string {
	if t.Text == nil {
		return nil
	}
	return t.Text[j]
}

// text returns the text of a cell that isn't missing: of a number, its numeral, so that a
// category is the same whether a file holds it as text or as a number.
func (t *Table) text(j int, v float64) string {
	switch texts := t.texts(j); {
	case v != v:
		return ""
	case texts != nil:
		return texts[int(v)]
	}
	return numeral(v)
}

// tellUnits counts the numbers of a row by the unit that they stand beside.
func (t *Table) tellUnits(cells []string) {
	if len(t.reading.Units) == 0 {
		return
	}
	if t.Found.Units == nil {
		t.Found.Units = make([]map[string]int, len(t.Names))
	}
	for j, cell := range cells {
		cell = strings.TrimSpace(cell)
		if v, err := t.reading.Parse(cell); err != nil || v-v != 0 {
			continue
		}
		if t.Found.Units[j] == nil {
			t.Found.Units[j] = map[string]int{}
		}
		t.Found.Units[j][t.reading.unitOf(cell)]++
	}
}
