package foreign

import "testing"

// do ends the test at an error.
func do(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// must returns a value, or ends the test at the error that came in its place.
func must[T any](v T, err error) func(t testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		do(t, err)
		return v
	}
}
