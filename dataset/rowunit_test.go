package dataset

import (
	"testing"

	"github.com/krigo-gp/krigo/internal/must"
)

// TestRowUnits: a unit turns values into targets and back, a unit of a unit does both, and errors
// are divided by the factor.
func TestRowUnits(t *testing.T) {
	cells := [][]float64{{10, 20}, {2, 4}, {8, 8}}
	of := []Further{
		{Unit: func(c float64) RowUnit { return RowUnit{Zero: c} }},
		{Unit: func(c float64) RowUnit { return RowUnit{Factor: c} }},
		{Error: func(c float64) float64 { return c }},
	}
	read := func(k int) ([]float64, error) { return append([]float64(nil), cells[k]...), nil }
	units := must.Get(RowUnitsOf(of, read))(t)
	errs := must.Get(ErrorsOf(of, read))(t)
	for i, want := range []struct{ target, size, err float64 }{{16, 4, 4}, {32, 8, 2}} {
		u := units.At(i)
		must.Be(t, u.Target(3), want.target)
		must.Be(t, u.Value(want.target), 3)
		must.Be(t, u.Narrow(u.Width(5)), 5)
		must.Be(t, 3+u.Adds(3), want.target)
		must.Be(t, u.Width(u.Size(-3)), want.size)
		must.Be(t, errs[i], want.err)
	}
	must.Be(t, RowUnits(nil).At(7), RowUnit{})
	must.Be(t, RowUnit{}.Width(2), 2)
}
