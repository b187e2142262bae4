// Package must has one-line checks for tests.
package must

import (
	"fmt"
	"math"
	"strings"
	"testing"
)

// Long skips a test that takes seconds of a core, if only short tests run (go test -short).
func Long(t testing.TB) {
	t.Helper()
	if testing.Short() {
		t.Skip("it takes seconds")
	}
}

// Do ends the test if there is an error.
func Do(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Get returns a value, or ends the test if there is an error: must.Get(os.ReadFile(path))(t).
func Get[T any](v T, err error) func(t testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		Do(t, err)
		return v
	}
}

// Hold fails the test unless a condition holds. The test goes on.
func Hold(t testing.TB, holds bool, format string, args ...any) {
	t.Helper()
	if !holds {
		t.Errorf(format, args...)
	}
}

// Need ends the test unless a condition holds, because what follows needs it.
func Need(t testing.TB, holds bool, format string, args ...any) {
	t.Helper()
	if !holds {
		t.Fatalf(format, args...)
	}
}

// Be fails the test if two values differ.
func Be[T comparable](t testing.TB, got, want T, about ...any) {
	t.Helper()
	Hold(t, got == want, "%s: %v, want %v", fmt.Sprint(about...), got, want)
}

// Near fails the test if two numbers differ by more than a tolerance.
func Near(t testing.TB, got, want, tolerance float64, about ...any) {
	t.Helper()
	Hold(t, math.Abs(got-want) <= tolerance,
		"%s: %.15g, want %.15g within %.3g", fmt.Sprint(about...), got, want, tolerance)
}

// Fail fails the test unless there is an error with these words.
func Fail(t testing.TB, err error, words string, about ...any) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), words) {
		t.Errorf("%.300s: %v; want an error with %q", fmt.Sprint(about...), err, words)
	}
}

// Refuse fails the test unless a call returns an error with these words:
// must.Refuse(os.ReadFile(path))(t, "no such file").
func Refuse[T any](v T, err error) func(t testing.TB, words string, about ...any) {
	return func(t testing.TB, words string, about ...any) {
		t.Helper()
		Fail(t, err, words, append(about, " ", v)...)
	}
}
