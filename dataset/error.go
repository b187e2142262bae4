package dataset

import (
	"fmt"
	"slices"
	"strings"

	"github.com/krigo-gp/krigo/internal/spelling"
)

// Error is an error of data that names a place in a table.
// A field is zero if it doesn't apply or isn't known.
// [errors.As] finds the Error in the errors of reading, fitting and predicting.
type Error struct {
	File   string // the table's source
	Sheet  string // sheet of a workbook; Line and Column then count the sheet's rows and columns
	Line   int    // line of the file, from 1
	Row    int    // row of the table, from 1
	Column int    // column of the table, from 1
	Name   string // name of the column
	Err    error  // what is wrong there; it names the column if the whole column is wrong
}

// Error returns the place, in words for people, and what is wrong there.
func (e *Error) Error() string {
	line := fmt.Sprintf("line %d", e.Line)
	at := ""
	if e.Sheet != "" {
		line = fmt.Sprintf("sheet %q, row %d", spelling.Clip(e.Sheet), e.Line)
		if e.Column > 0 {
			line = fmt.Sprintf("sheet %q, cell %s%d", spelling.Clip(e.Sheet),
				letters(e.Column), e.Line)
		}
	}
	switch {
	case e.Line > 0 && e.Row > 0:
		at = fmt.Sprintf("%s (row %d)", line, e.Row)
	case e.Line > 0:
		at = line
	case e.Row > 0:
		at = fmt.Sprintf("row %d", e.Row)
	}
	at += spelling.If(e.Row > 0 && e.Column > 0,
		", column %d (%q)", e.Column, spelling.Clip(e.Name))
	parts := []string{e.File, at, fmt.Sprint(e.Err)}
	return strings.Join(slices.DeleteFunc(parts, func(part string) bool {
		return part == ""
	}), ": ")
}

// letters returns a sheet's name for the column with this number: A to Z, AA, AB, …
func letters(column int) string {
	if column == 0 {
		return ""
	}
	return letters((column-1)/26) + string(rune('A'+(column-1)%26))
}

// Unwrap returns what is wrong, without the place.
func (e *Error) Unwrap() error { return e.Err }
