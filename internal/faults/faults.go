// Package faults makes errors from lists of what must not be, one row for each.
package faults

import (
	"cmp"
	"fmt"
)

// If returns an error if wrong is true.
func If(wrong bool, format string, args ...any) error {
	if !wrong {
		return nil
	}
	return fmt.Errorf(format, args...)
}

// Of returns err in the words of format, whose last verb is for err. It returns nil if err is nil.
func Of(err error, format string, args ...any) error {
	return If(err != nil, format, append(args, err)...)
}

// When does what Of does if asked is true. Else it returns nil.
func When(asked bool, err error, format string, args ...any) error {
	return If(asked && err != nil, format, append(args, err)...)
}

// First returns the first error of a list that isn't nil.
func First(list ...error) error { return cmp.Or(list...) }
