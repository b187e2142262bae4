package dataset

import (
	"fmt"

	"github.com/krigo-gp/krigo/internal/linalg"
)

// Further is a column beside the inputs that says how a row's target was observed.
// Its functions say what a cell does; nil: nothing.
type Further struct {
	Name  string  // the column
	What  string  // what the column holds, for errors
	Least float64 // a number below it is an error
	Since string  // why, for errors: "no standard error is"
	Usual float64 // the cell of a row about which nothing is known

	// Unit is the unit of the row's target. Everything learns values in the model's unit, and
	// predictions are in the row's.
	Unit func(cell float64) RowUnit
	// Shift is added to f.
	Shift func(cell float64) float64
	// Error is the standard error of the target as a measurement, in the unit of the row's target.
	Error func(cell float64) float64
}

// Shifts returns c.Shift.
func (c Further) Shifts() func(cell float64) float64 { return c.Shift }

// Errs returns c.Error.
func (c Further) Errs() func(cell float64) float64 { return c.Error }

// Check returns an error if the column can't have the number.
func (c Further) Check(v float64) error {
	if v >= c.Least {
		return nil
	}
	return fmt.Errorf("%s, and %s", c.below(v), c.Since)
}

// below says of a number under c.Least what is wrong with it.
func (c Further) below(v float64) string {
	if c.Least > 0 {
		return fmt.Sprintf("%v isn't above 0", v)
	}
	return fmt.Sprintf("%v is below 0", v)
}

// RowUnitsOf returns the units of rows by what columns say of them.
// A target has the unit of the first column. What remains of it has the unit of the next column.
// The function cells reads the rows' cells of column k.
func RowUnitsOf(columns []Further, cells func(k int) ([]float64, error)) (units RowUnits, err error) {
	for k, c := range columns {
		if c.Unit == nil {
			continue
		}
		of, err := cells(k)
		if err != nil {
			return nil, err
		}
		if units == nil {
			units = make(RowUnits, len(of))
		}
		for i, v := range of {
			units[i] = units[i].of(c.Unit(v))
		}
	}
	return units, nil
}

// ErrorsOf returns the standard errors of rows' targets, in the model's unit, by what columns say of
// them, or nil if no column has them. The function cells reads the rows' cells of column k.
func ErrorsOf(columns []Further, cells func(k int) ([]float64, error)) ([]float64, error) {
	errs, err := Sum(columns, Further.Errs, cells)
	if errs == nil || err != nil {
		return nil, err
	}
	units, err := RowUnitsOf(columns, cells)
	for i := range errs {
		errs[i] = units.At(i).Narrow(errs[i])
	}
	return errs, err
}

// Sum returns, at some rows, the sum of what the columns say, or nil if none of them says anything.
// says picks one of a column's functions, and cells reads the rows' cells of column k.
func Sum(columns []Further, says func(c Further) func(cell float64) float64,
	cells func(k int) ([]float64, error)) (sum []float64, err error) {
	for k, c := range columns {
		value := says(c)
		if value == nil {
			continue
		}
		of, err := cells(k)
		if err != nil {
			return nil, err
		}
		for i, v := range of {
			of[i] = value(v)
		}
		if sum != nil {
			linalg.Axpy(1, sum, of)
		}
		sum = of
	}
	return sum, nil
}
