package dataset

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/krigo-gp/krigo/internal/spelling"
)

// Check says how a table that was made by hand doesn't hold what it promises.
func (t *Table) Check() error {
	seen := make(map[string]int, len(t.Names))
	for j, name := range t.Names {
		if name == "" {
			return &Error{File: t.Source, Column: j + 1, Err: fmt.Errorf("column %d has no name: give it one", j+1)}
		}
		if k, found := seen[name]; found {
			return &Error{File: t.Source, Column: j + 1, Name: name,
				Err: fmt.Errorf("columns %d and %d are both named %q: rename one", k+1, j+1, spelling.Clip(name))}
		}
		if !utf8.ValidString(name) { // a model file would have another
			return &Error{File: t.Source, Column: j + 1,
				Err: fmt.Errorf("the name of column %d, %q, isn't UTF-8 text: rename it", j+1, spelling.Clip(name))}
		}
		seen[name] = j
	}
	if t.Disk != nil || t.over != nil {
		return t.over
	}
	cols := len(t.Names)
	_, rows := t.Own()
	switch {
	case rows < 0 || cols > 0 && len(t.Values)/cols != rows || len(t.Values) != rows*cols:
		return fmt.Errorf("%s: %d values in a table of %d rows and %d columns: Rows times columns are needed", t.Source,
			len(t.Values), rows, cols)
	case t.Lines != nil && len(t.Lines) != rows:
		return fmt.Errorf("%s: Lines has the lines of %d rows, of %d: leave it nil, or give each", t.Source, len(t.Lines),
			rows)
	case t.Text != nil && len(t.Text) != cols:
		return fmt.Errorf("%s: Text has the texts of %d columns, of %d: leave it nil, or give each (nil for numbers)",
			t.Source, len(t.Text), cols)
	}
	for j, texts := range t.Text {
		for i := 0; texts != nil && i < rows; i++ {
			v := t.Values[i*cols+j]
			if v == v && !(v >= 0 && v < float64(len(texts)) && v == math.Trunc(v)) {
				return &Error{File: t.Source, Row: i + 1, Column: j + 1, Name: t.Names[j],
					Err: fmt.Errorf("%g is the place of no text, of %d in Text", v, len(texts))}
			}
		}
	}
	return nil
}

// use is what a column is read for.
type use struct {
	column      int
	categorical bool // text will do
	gaps        bool // values may be missing
	fitting     bool // a person can still choose both
	naming      bool // its values name groups: nothing fills them
}

// uses reads columns for numbers.
func uses(columns []int) []use {
	all := make([]use, len(columns))
	for k, j := range columns {
		all[k].column = j
	}
	return all
}

// check looks for the first cell, row by row, that isn't what its column is read for, and
// counts the others.
func (t *Table) check(uses ...use) error {
	columns := make([]int, len(uses))
	wrong := make([][]bool, len(uses)) // by text, of columns of text
	finite := true                     // is all that a cell must be
	for k, u := range uses {
		columns[k] = u.column
		texts := t.texts(u.column)
		if texts != nil && !u.categorical || u.categorical && u.fitting {
			finite = false
		}
		for _, s := range texts {
			v, err := parse(s)
			number := err == nil && v-v == 0 && !t.Strange(u.column, s)
			wrong[k] = append(wrong[k], number && u.merged(v) || !number && !u.categorical)
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
				at := t.place(row)
				if at.Line > 0 {
					at.Row = row + 1
				}
				at.Column, at.Name, at.Err = uses[k].column+1, t.Names[uses[k].column], problem
				first = at
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

// problem is what is wrong with a cell that holds v; wrong says it of the texts of a column of text.
func (t *Table) problem(u use, v float64, wrong []bool) error {
	switch {
	case v != v && !u.gaps:
		return u.missing()
	case v != v, wrong != nil && !wrong[int(v)]:
		return nil
	case wrong != nil && !u.categorical:
		return t.notNumber(u, t.texts(u.column)[int(v)])
	case wrong != nil || u.merged(v):
		return fmt.Errorf("%s is a category that isn't told from its neighbours, as it is a number of 2^53 or more; write "+
			"these with a letter in front", t.text(u.column, v))
	case !u.categorical && v-v != 0:
		return notFinite(v)
	}
	return nil
}

// merged says whether a number is that of several categories: float64 rounds whole numbers from
// 2^53 on. Where none of them was fitted, each is one of the others.
func (u use) merged(v float64) bool { return u.categorical && u.fitting && math.Abs(v) >= 1<<53 }

func (u use) missing() error {
	if u.fitting && !u.naming {
		return errors.New("the value is missing; remove the row or fill the value, or have it filled with --missing mean")
	}
	return errors.New("the value is missing; remove the row or fill the value")
}

func notFinite(v float64) error {
	return fmt.Errorf("%v is not finite; remove the row or fill the value", v)
}

// notNumber says what is wrong with a text in a column that is read for numbers.
func (t *Table) notNumber(u use, text string) error {
	v, err := parse(text)
	_, program := strconv.ParseFloat(text, 64)
	_, decimalComma := parse(strings.Replace(text, ",", ".", 1))
	switch {
	case t.Strange(u.column, text):
		return fmt.Errorf("%q is no number, as decimals have a comma and thousands are grouped as it was said; write it "+
			"as the others, or say otherwise", spelling.Clip(text))
	case programmed(text) && program == nil:
		return fmt.Errorf("%q is written as in a program; write a decimal number, without underscores", spelling.Clip(text))
	case grouped.MatchString(text) && decimalComma == nil:
		return fmt.Errorf("%q is ambiguous: its comma may group thousands or be a decimal comma; write numbers without "+
			"groups and with a decimal point", spelling.Clip(text))
	case grouped.MatchString(text):
		return fmt.Errorf("%q groups thousands; write numbers without such commas", spelling.Clip(text))
	case errors.Is(err, strconv.ErrRange):
		return fmt.Errorf("%q is out of the range of a 64-bit number; remove the row or change the column's unit",
			spelling.Clip(text))
	case err == nil:
		return notFinite(v)
	case decimalComma == nil:
		return fmt.Errorf("%q is not a number; write a decimal point, not a comma", spelling.Clip(text))
	case len(t.Names) == 1:
		return fmt.Errorf("%q is not a number; separate columns by commas, semicolons or tabs", spelling.Clip(text))
	case u.fitting:
		return fmt.Errorf("%q is not a number; correct it, or, if it stands for a missing value, say --na %s",
			spelling.Clip(text),
			spelling.Shell(spelling.Clip(text)))
	}
	return fmt.Errorf("%q is not a number; write one, or remove the row", spelling.Clip(text))
}
