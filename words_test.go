package krigo_test

import (
	"testing"

	"github.com/krigo-gp/krigo"
)

// TestRoundUp: what is promised is rounded up, and never above 1.
func TestRoundUp(t *testing.T) {
	for _, b := range []float64{0.0001, 0.1234, 0.5, 0.9991, 0.99999, 1} {
		if c := krigo.RoundUp(b); c < b || c > 1 || c-b > 0.0011 {
			t.Errorf("%v becomes %v", b, c)
		}
	}
}
