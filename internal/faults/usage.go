package faults

import "fmt"

// UsageError says that the options are wrong, not the data.
type UsageError struct{ Err error }

func (e *UsageError) Error() string { return e.Err.Error() }

// Unwrap returns the error's cause.
func (e *UsageError) Unwrap() error { return e.Err }

// Usage returns an error of usage with the words of format.
func Usage(format string, args ...any) error {
	return &UsageError{fmt.Errorf(format, args...)}
}

// UsageIf returns an error of usage if wrong is true, else nil.
func UsageIf(wrong bool, format string, args ...any) error {
	return AsUsage(If(wrong, format, args...))
}

// AsUsage returns an error as one of usage. It returns nil if err is nil.
func AsUsage(err error) error {
	if err == nil {
		return nil
	}
	return &UsageError{err}
}
