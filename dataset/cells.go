package dataset

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"gonum.org/v1/gonum/mat"

	"github.com/krigo-gp/krigo/internal/lists"
	"github.com/krigo-gp/krigo/internal/spelling"
	"github.com/krigo-gp/krigo/memory"
)

// What cells hold: how text becomes a cell, and which cells can't be read as their column requires.

// A cell is a number, a text, or missing. A table holds each cell as a float64.
// NaN stands for a missing value. If any cell of a column is text, the column's cells are places in
// its list of texts, which also has the column's numbers.
// What a column is read for decides whether text and missing values are errors.

// Append adds a row to a table in memory. Its cells are written as in a CSV file.
// If the table takes more memory than it may (package memory), it doesn't grow, and Append and a
// later [Reading.Apply] return this error.
func (t *Table) Append(cells []string) error {
	t.tellUnits(cells)
	if need := len(t.Values) + len(cells); need > cap(t.Values) {
		larger := need + len(t.Values)/2
		// while values move, the old and the new memory exist together
		t.afford(8 * float64(larger))
		if t.over == nil {
			t.Values = slices.Grow(t.Values, larger-len(t.Values))
		}
	}
	if t.over != nil {
		return t.over
	}
	for j, cell := range cells {
		t.Values = append(t.Values, t.value(t.Rows, j, strings.TrimSpace(cell)))
	}
	t.Rows++
	return t.over
}

// AppendLine adds a row, as Append does. The row starts on this line of the file, counted from 1.
// AppendLine refuses a row if its number of cells isn't the table's number of columns.
func (t *Table) AppendLine(line int, cells []string) error {
	if len(cells) != len(t.Names) {
		return &Error{File: t.Source, Line: line,
			Err: fmt.Errorf("expected %d cells, got %d: add or remove cells, and "+
				"write ? for a missing value", len(t.Names), len(cells))}
	}
	t.Lines = append(t.Lines, line)
	return t.Append(cells)
}

// Set sets a cell of a table in memory to a text that is written as in a CSV file.
// Values must have a place for the cell, and the cells above it in its column must be set already.
func (t *Table) Set(row, column int, cell string) {
	t.Values[row*len(t.Names)+column] = t.value(row, column, strings.TrimSpace(cell))
}

// afford asks package memory for `more` bytes in addition to the table's, and sets t.over if
// package memory refuses.
func (t *Table) afford(more float64) {
	const line = 2 * 8 // bytes of a line's number, doubled for spare capacity
	if t.over == nil {
		t.over = memory.Afford(t.Source+": the table", 8*float64(cap(t.Values))+
			line*float64(cap(t.Lines))+t.heavy+more)
	}
}

// perText estimates the bytes that a text takes in its column's list and among its codes, besides
// its characters.
const perText = 100

// value returns the number that stands for a cell of column j.
// If the cell is the column's first text, value also turns the column's cells in the rows above
// into text.
func (t *Table) value(row, j int, cell string) float64 {
	v, err := t.reading.Parse(cell)
	number := err == nil && v-v == 0
	if number && len(t.reading.names) > 0 && slices.Contains(t.reading.names, t.Names[j]) {
		t.name(row, j, cell, v)
	}
	if number && (cell[0] == '0' || t.reading.Below+t.reading.Above != "") {
		t.tellWritten(row, j, cell)
	}
	// A number is compared with the texts for missing values only if the reading has some of its
	// own, such as -999.
	switch {
	case (!number || len(t.reading.Missing) > 0) && t.reading.misses(t.Names[j], cell):
		return math.NaN()
	case number && t.Texts(j) == nil:
		return v
	case number:
		return t.code(j, numeral(v))
	}
	if t.Texts(j) == nil {
		// This is the column's first text. The numbers above become texts of their shortest form.
		if t.afford(perText * float64(row)); t.over != nil {
			return math.NaN()
		}
		for i := range row {
			if at := &t.Values[i*len(t.Names)+j]; *at == *at {
				*at = t.code(j, numeral(*at))
			}
		}
	}
	// Remember texts that would be numbers by the plain rules, but aren't by this reading.
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

// name refuses a cell of a column that names things, if an earlier cell is the same number but is
// written otherwise, because both would become one name.
// A point and zeros after a whole number make no difference.
func (t *Table) name(row, j int, cell string, v float64) {
	// Two spellings are one name if numeral writes both in the same way.
	number := numeral(v)
	text := cell
	if whole, zeros, _ := strings.Cut(cell, cmp.Or(t.reading.Decimal, ".")); strings.Trim(zeros,
		"0") == "" {
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
			at.Row = 0
			at.Line = t.Lines[row]
		}
		at.Err = fmt.Errorf("column %q: %q and, in an earlier row, %q are one number, so they "+
			"would become one name: write them in the same way if they mean the same, or else "+
			"put a letter in front", spelling.Clip(t.Names[j]), spelling.Clip(text),
			spelling.Clip(before))
		t.over = at
	}
}

// Strange says whether a text of column j looks like a number but isn't one, because the reading
// has other settings.
func (t *Table) Strange(j int, text string) bool { return t.odd[oddText{j, text}] }

// code returns the place of a text in column j's list, and adds the text to the list if it isn't
// there.
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
	text = strings.ToValidUTF8(text, "\ufffd") // a model file can hold no other text
	code, ok := t.codes[j][text]
	if !ok {
		t.heavy += perText + float64(len(text))
		if t.afford(0); t.over != nil {
			return math.NaN()
		}
		// without Clone the text would keep the whole line of a CSV file in memory
		text = strings.Clone(text)
		code = float64(len(t.Text[j]))
		t.Text[j] = append(t.Text[j], text)
		t.codes[j][text] = code
	}
	return code
}

// Texts lists the texts of column j. It returns nil for a column of numbers.
func (t *Table) Texts(j int) []string {
	if t.Text == nil {
		return nil
	}
	return t.Text[j]
}

// text returns the text of a cell, or "" if the cell is missing.
// A number's text is its numeral, so that a category is the same whether a file holds it as text or
// as a number.
func (t *Table) text(j int, v float64) string {
	switch texts := t.Texts(j); {
	case v != v:
		return ""
	case texts != nil:
		return texts[int(v)]
	}
	return numeral(v)
}

// CellText returns the text of a cell of column j that holds v, or "" if it is missing.
func (t *Table) CellText(j int, v float64) string { return t.text(j, v) }

// tellWritten counts a number that is read as a limit or half of it, or a whole number that begins
// with 0, in t.Found.
func (t *Table) tellWritten(row, j int, cell string) {
	all := &t.Found.Below
	if len(cell) > 2 && cell[0] == '0' && strings.Trim(cell, "0123456789") == "" {
		all = &t.Found.Padded
	} else if _, above := aboveLimit(t.reading.bare(cell)); above {
		all = &t.Found.Above
	} else if _, below := belowLimit(t.reading.bare(cell)); !below {
		return
	}
	if *all == nil {
		*all = map[int]Written{}
	}
	w := (*all)[j]
	if w.Cells++; w.Cells == 1 {
		w.First = t.Where(row)
		w.Width = len(cell)
	} else if w.Width != len(cell) {
		w.Width = 0
	}
	(*all)[j] = w
}

// tellUnits counts the numbers of a row by their unit, in t.Found.
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

// headless returns a hint to the flag for a table without a header, if a name is a number.
func (t *Table) headless() (hint string) {
	return spelling.If(slices.ContainsFunc(t.Names, func(name string) bool {
		_, err := t.reading.Parse(name)
		return err == nil
	}), "; if the first row names no columns, say --header no")
}

// Check returns an error if the fields of a table, which may be made by hand, don't fit together.
func (t *Table) Check() error {
	seen := make(map[string]int, len(t.Names))
	for j, name := range t.Names {
		if name == "" {
			return &Error{File: t.Source, Column: j + 1,
				Err: fmt.Errorf("column %d has no name: give it one", j+1)}
		}
		if k, found := seen[name]; found {
			return &Error{File: t.Source, Column: j + 1, Name: name,
				Err: fmt.Errorf("columns %d and %d are both named %q: rename one%s", k+1, j+1,
					spelling.Clip(name), spelling.If(t.Lines != nil, ", or have repeated names "+
						"numbered with --header unique; if the second row names columns too, "+
						"say --header two%s", t.headless()))}
		}
		if !utf8.ValidString(name) { // a model file would change the name
			return &Error{File: t.Source, Column: j + 1,
				Err: fmt.Errorf("the name of column %d, %q, isn't UTF-8 text: rename it", j+1,
					spelling.Clip(name))}
		}
		if err := CheckName(name); err != nil {
			return &Error{File: t.Source, Column: j + 1, Err: err}
		}
		seen[name] = j
	}
	if t.Disk != nil || t.over != nil {
		return t.over
	}
	cols := len(t.Names)
	_, rows := t.Own()
	switch {
	case rows < 0 || (cols > 0 && len(t.Values)/cols != rows) || len(t.Values) != rows*cols:
		return fmt.Errorf("%s: %d values in a table of %d rows and %d columns: Rows times "+
			"columns are needed", t.Source, len(t.Values), rows, cols)
	case t.Lines != nil && len(t.Lines) != rows:
		return fmt.Errorf("%s: Lines has %d lines for %d rows: give each row's line, or leave "+
			"it nil", t.Source, len(t.Lines), rows)
	case t.Text != nil && len(t.Text) != cols:
		return fmt.Errorf("%s: Text has lists for %d of %d columns: give a list for each (nil "+
			"for numbers), or leave it nil", t.Source, len(t.Text), cols)
	}
	for j, texts := range t.Text {
		for i := 0; texts != nil && i < rows; i++ {
			v := t.Values[i*cols+j]
			if v == v && !(v >= 0 && v < float64(len(texts)) && v == math.Trunc(v)) {
				return &Error{File: t.Source, Row: i + 1, Column: j + 1, Name: t.Names[j],
					Err: fmt.Errorf("%g is not the place of a text: Text has %d texts, from "+
						"place 0 on", v, len(texts))}
			}
		}
	}
	return nil
}

// use says what a column is read for.
type use struct {
	column      int
	categorical bool // text is allowed
	gaps        bool // values may be missing
	fitting     bool // this is a fit: a person can still change categorical and gaps
	naming      bool // the column's values name groups, and --missing doesn't fill missing ones
}

// uses says that each of the columns is read for numbers.
func uses(columns []int) []use {
	all := make([]use, len(columns))
	for k, j := range columns {
		all[k].column = j
	}
	return all
}

// check returns an error about the first cell, row by row, that doesn't fit its column's use.
// It counts the other such cells.
func (t *Table) check(uses ...use) error {
	columns := make([]int, len(uses))
	// whether a text is wrong, by use and text; nil for a column of numbers
	wrong := make([][]bool, len(uses))
	finite := true // a cell is right if it is a finite number
	for k, u := range uses {
		if err := cmp.Or(t.Refused(u.column), t.undated[u.column]); err != nil {
			return err
		}
		columns[k] = u.column
		texts := t.Texts(u.column)
		if (texts != nil && !u.categorical) || (u.categorical && u.fitting) {
			finite = false
		}
		for _, s := range texts {
			v, err := parse(s)
			number := err == nil && v-v == 0 && !t.Strange(u.column, s)
			wrong[k] = append(wrong[k], (number && u.merged(v)) || (!number && !u.categorical))
		}
	}
	var first error
	more := 0
	if err := t.Each(columns, func(row int, cells []float64) error {
		if finite && allFinite(cells) {
			return nil
		}
		for k, v := range cells {
			switch problem := t.problem(uses[k], v, wrong[k]); {
			case problem == nil:
			case first != nil:
				more++
			default:
				first = t.cell(row, uses[k].column, problem)
			}
		}
		return nil
	}); err != nil {
		return err
	}
	if more > 0 {
		first = fmt.Errorf("%w (and %d more problems)", first, more)
	}
	return first
}

// problem returns what is wrong with a cell that holds v, or nil.
// In text columns, wrong says which texts are wrong.
func (t *Table) problem(u use, v float64, wrong []bool) error {
	switch missing := "the value is missing; remove the row or fill the value"; {
	case v != v && !u.gaps && u.fitting && !u.naming:
		return errors.New(missing + ", or have it filled with --missing mean")
	case v != v && !u.gaps:
		return errors.New(missing)
	case v != v, wrong != nil && !wrong[int(v)]:
		return nil
	case wrong != nil && !u.categorical:
		return t.notNumber(u, t.Texts(u.column)[int(v)])
	case wrong != nil || u.merged(v):
		return fmt.Errorf("%s can't be told from neighbouring categories, because numbers of "+
			"2^53 or more are rounded; put a letter in front of such categories",
			t.text(u.column, v))
	case !u.categorical && v-v != 0:
		return notFinite(v)
	}
	return nil
}

// legible returns the table with missing values in place of texts in columns that are read for
// numbers and may have gaps. If more than half of a column's cells are such texts, it returns t,
// unless these are the rows at hand of a longer table.
func (t *Table) legible(uses []use) *Table {
	as := t
	for _, u := range uses {
		texts := t.Texts(u.column)
		if (texts == nil && t.undated[u.column] == nil) || u.categorical || !u.gaps ||
			t.Disk != nil {
			continue
		}
		numbers := lists.Of(texts, func(text string) float64 {
			if v, err := parse(text); err == nil && v-v == 0 && !t.Strange(u.column, text) {
				return v
			}
			return math.NaN()
		})
		if as == t {
			as = t.apart()
		}
		n := 0
		for i, cell := range as.held(u.column) {
			where := place{i, u.column}
			if texts != nil && *cell == *cell {
				text := texts[int(*cell)]
				if *cell = numbers[int(*cell)]; *cell != *cell {
					as.unread[where] = text
				}
			}
			if _, found := as.unread[where]; found {
				n++
			}
		}
		delete(as.undated, u.column)
		if texts != nil {
			as.Text[u.column] = nil
		}
		if _, own := t.Own(); 2*n > own && !t.reading.part {
			return t
		}
	}
	return as
}

// apart returns a copy of a table in memory whose cells may change.
func (t *Table) apart() *Table {
	as := *t
	as.Values = slices.Clone(t.Values)
	as.Text = slices.Clone(t.Text)
	as.codes = nil
	as.undated = maps.Clone(t.undated)
	if as.unread = maps.Clone(t.unread); as.unread == nil {
		as.unread = map[place]string{}
	}
	return &as
}

// merged says whether v may stand for several categories, because float64 rounds whole numbers from
// 2^53 on. It is false outside of a fit, because no model has such a category, and such a number
// counts as other.
func (u use) merged(v float64) bool { return u.categorical && u.fitting && math.Abs(v) >= 1<<53 }

// notFinite returns the error for a number that is infinite or NaN.
func notFinite(v float64) error {
	return fmt.Errorf("%v is not finite; remove the row or fill the value", v)
}

// mostName limits the name of a column, a category or a class, which messages, models and
// certificates repeat.
const mostName = 1000

// CheckName refuses a name that is too long. Often its cell lacks a quote at its end.
func CheckName(name string) error {
	if n := utf8.RuneCountInString(name); n > mostName {
		return fmt.Errorf("%s has %d characters, and a name has at most %d: is a quote missing "+
			"at its end?", spelling.Quote(name), n, mostName)
	}
	return nil
}

// notNumber returns what is wrong with a text in a column that is read for numbers.
func (t *Table) notNumber(u use, text string) error {
	// The first case that fits is the likeliest mistake, and its message says how to mend it.
	v, err := parse(text)
	_, program := strconv.ParseFloat(text, 64)
	_, decimalComma := parse(strings.Replace(text, ",", ".", 1))
	switch {
	case t.Strange(u.column, text):
		return fmt.Errorf("%q is not a number with the given separators for decimals and "+
			"thousands; write it like the others, or change --decimal or --thousands",
			spelling.Clip(text))
	case programmed(text) && program == nil:
		return fmt.Errorf("%q is written as in a program; write a decimal number, without "+
			"underscores", spelling.Clip(text))
	case grouped.MatchString(text) && decimalComma == nil:
		return fmt.Errorf("%q is ambiguous: its comma may group thousands or be a decimal comma; "+
			"write numbers without groups and with a decimal point", spelling.Clip(text))
	case grouped.MatchString(text):
		return fmt.Errorf("%q groups thousands; write numbers without such commas",
			spelling.Clip(text))
	case errors.Is(err, strconv.ErrRange):
		return fmt.Errorf("%q is out of the range of a 64-bit number; remove the row or change "+
			"the column's unit", spelling.Clip(text))
	case err == nil:
		return notFinite(v)
	case decimalComma == nil:
		return fmt.Errorf("%q is not a number; write a decimal point, not a comma",
			spelling.Clip(text))
	case len(t.Names) == 1 && t.Lines != nil:
		return fmt.Errorf("%q is not a number; separate columns by commas, semicolons or tabs",
			spelling.Clip(text))
	case u.fitting:
		return fmt.Errorf("%q is not a number; correct it, or, if it stands for a missing value, "+
			"say --na %s", spelling.Clip(text), spelling.Shell(spelling.Clip(text)))
	}
	return fmt.Errorf("%q is not a number; write one, or remove the row", spelling.Clip(text))
}

// FromRows returns a table with a copy of rows of numbers. A NaN is a missing value.
// Errors call the table "rows", unless you set its Source to another name.
func FromRows(names []string, rows [][]float64) (*Table, error) {
	return tableOf("rows", names, len(rows), func(i int) []float64 { return rows[i] })
}

// FromMatrix returns a table with a copy of a matrix. A NaN is a missing value.
// Errors call the table "matrix", unless you set its Source to another name.
func FromMatrix(names []string, m mat.Matrix) (*Table, error) {
	rows, cols := m.Dims()
	to := make([]float64, cols)
	return tableOf("matrix", names, rows, func(i int) []float64 { return mat.Row(to, i, m) })
}

// tableOf returns a table with copies of `rows` rows. row returns the values of row i, and may use
// the same memory each time. An infinite value, a row of another length, and a table without rows
// or columns are errors.
func tableOf(source string, names []string, rows int, row func(i int) []float64) (*Table, error) {
	t := &Table{Source: source, Names: slices.Clone(names), Rows: rows,
		Values: make([]float64, 0, rows*len(names))}
	switch {
	case len(names) == 0:
		return nil, fmt.Errorf("%s: the table has no columns", source)
	case rows == 0:
		return nil, fmt.Errorf("%s: the table has no rows", source)
	}
	for i := range rows {
		values := row(i)
		if len(values) != len(names) {
			return nil, &Error{File: source, Row: i + 1,
				Err: fmt.Errorf("expected %d values, one for each column, got %d",
					len(names), len(values))}
		}
		if j := slices.IndexFunc(values, func(v float64) bool { return math.IsInf(v, 0) }); j >= 0 {
			return nil, &Error{File: source, Row: i + 1, Column: j + 1, Name: names[j],
				Err: notFinite(values[j])}
		}
		t.Values = append(t.Values, values...)
	}
	if err := t.Check(); err != nil {
		return nil, err
	}
	return t, nil
}
