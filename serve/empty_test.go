package serve

import (
	"strings"
	"testing"

	"github.com/krigo-gp/krigo"
)

// TestHandlerOfNothing: without a model there is no handler, but an error that says what to do.
func TestHandlerOfNothing(t *testing.T) {
	for _, m := range []*krigo.Model{nil, {}} {
		if _, err := Handler(m, Options{}); err == nil || !strings.Contains(err.Error(), "krigo.Load") {
			t.Errorf("%+v: %v", m, err)
		}
	}
}
