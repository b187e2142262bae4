package dataset

import "math"

// RowUnit says how a row's target follows from a value in the model's unit, which the model learns and
// predicts: the target is Zero + Factor·value.
// The zero RowUnit is the model's own unit.
type RowUnit struct {
	Zero   float64
	Factor float64 // above 0; 0 stands for 1
}

// RowUnits has the units of rows, or is nil if all rows have the model's unit.
type RowUnits []RowUnit

// At returns the unit of row i.
func (us RowUnits) At(i int) RowUnit {
	if us == nil {
		return RowUnit{}
	}
	return us[i]
}

// factor returns u.Factor, or 1.
func (u RowUnit) factor() float64 {
	if u.Factor == 0 {
		return 1
	}
	return u.Factor
}

// Value returns the value in the model's unit of a target.
func (u RowUnit) Value(target float64) float64 {
	if u == (RowUnit{}) {
		return target
	}
	return (target - u.Zero) / u.factor()
}

// Target returns the target of a value in the model's unit.
func (u RowUnit) Target(value float64) float64 {
	if u == (RowUnit{}) {
		return value
	}
	return u.factor()*value + u.Zero
}

// Adds returns the target of a value, minus the value.
func (u RowUnit) Adds(value float64) float64 { return u.Zero + (u.factor()-1)*value }

// Width returns a width in the target's unit, given the width in the model's unit.
func (u RowUnit) Width(value float64) float64 { return value * u.factor() }

// Narrow returns a width in the model's unit, given the width in the target's unit.
func (u RowUnit) Narrow(width float64) float64 { return width / u.factor() }

// Size returns the size of the target of a value, as a width in the model's unit.
func (u RowUnit) Size(value float64) float64 { return u.Narrow(math.Abs(u.Target(value))) }

// of returns the unit of a target that u makes of what has the unit inner.
func (u RowUnit) of(inner RowUnit) RowUnit {
	switch {
	case u == (RowUnit{}):
		return inner
	case inner == (RowUnit{}):
		return u
	}
	return RowUnit{Zero: u.Target(inner.Zero), Factor: u.factor() * inner.factor()}
}
