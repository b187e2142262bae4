package dataset

import (
	"fmt"
	"strings"

	"github.com/krigo-gp/krigo/internal/spelling"
)

// Error is an error of data that names a place in a table. What doesn't apply, or isn't known, is
// zero. It is found by [errors.As] in what reading, fitting and predicting return.
type Error struct {
	File   string // the table's source
	Line   int    // of the file, from 1
	Row    int    // of the table, from 1
	Column int    // of the table, from 1
	Name   string // of the column
	Err    error  // what is wrong there; where it is so with a whole column, it names that too
}

// Error says the place, in words for people, and what is wrong there.
func (e *Error) Error() string {
	var b strings.Builder
	if e.File != "" {
		b.WriteString(e.File + ": ")
	}
	switch {
	case e.Line > 0 && e.Row > 0:
		fmt.Fprintf(&b, "line %d (row %d)", e.Line, e.Row)
	case e.Line > 0:
		fmt.Fprintf(&b, "line %d", e.Line)
	case e.Row > 0:
		fmt.Fprintf(&b, "row %d", e.Row)
	}
	if e.Row > 0 && e.Column > 0 {
		fmt.Fprintf(&b, ", column %d (%q)", e.Column, spelling.Clip(e.Name))
	}
	if e.Line > 0 || e.Row > 0 {
		b.WriteString(": ")
	}
	fmt.Fprint(&b, e.Err)
	return b.String()
}

// Unwrap returns what is wrong, without the place.
func (e *Error) Unwrap() error { return e.Err }
