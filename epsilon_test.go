package krigo

import (
	"strings"
	"testing"

	"github.com/krigo-gp/krigo/dataset"
)

// TestEpsilonThatOverflows: a half-width that overflows in one of its units is refused before anything is trained.
func TestEpsilonThatOverflows(t *testing.T) {
	var x, y []float64
	for i := range 60 {
		x, y = append(x, float64(i)), append(y, 1e100*float64(i%7))
	}
	for _, units := range []string{"sd", "raw"} {
		table := &dataset.Table{Source: "t", Names: []string{"x", "y"}, Rows: len(x)}
		for i := range x {
			table.Values = append(table.Values, x[i], y[i])
		}
		o := Options{Data: Data{Target: "y"}, Promise: Promise{Epsilon: map[string]float64{"sd": 1e300, "raw": 1e-300}[units],
			Units: units}}
		if _, err := Decide(t.Context(), table, o); err == nil || !strings.Contains(err.Error(), "epsilon") {
			t.Errorf("%s: %v", units, err)
		}
	}
}
