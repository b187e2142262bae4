// Package must ends a test where something fails that the test only needs.
package must

import "testing"

// Do ends the test at an error.
func Do(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Get returns a value, or ends the test at the error that came in its place: must.Get(os.ReadFile(path))(t).
func Get[T any](v T, err error) func(t testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		Do(t, err)
		return v
	}
}
