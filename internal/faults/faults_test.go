package faults

import (
	"errors"
	"testing"

	"github.com/krigo-gp/krigo/internal/must"
)

func TestFaults(t *testing.T) {
	cause := errors.New("the cause")
	second := Of(cause, "row %d: %w", 2)
	must.Be(t, second.Error(), "row 2: the cause")
	must.Be(t, errors.Is(second, cause), true)
	must.Be(t, Of(nil, "row %d: %w", 2) == nil, true)
	must.Be(t, If(true, "%d more", 1).Error(), "1 more")
	must.Be(t, When(false, cause, "%w") == nil && When(true, nil, "%w") == nil, true)
	must.Be(t, When(true, cause, "but %w").Error(), "but the cause")
	must.Be(t, First(If(false, "first"), second, If(true, "third")) == second, true)
	must.Be(t, First(nil, If(false, "first")) == nil, true)
}
