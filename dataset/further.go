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

	// Zero is subtracted from the target before anything learns, and added to predictions.
	Zero func(cell float64) float64
	// Shift is added to f.
	Shift func(cell float64) float64
	// Error is the standard error of the target as a measurement, in the target's unit.
	Error func(cell float64) float64
}

// Adds returns c.Zero.
func (c Further) Adds() func(cell float64) float64 { return c.Zero }

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
