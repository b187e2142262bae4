package objective

import (
	"errors"
	"fmt"

	"github.com/krigo-gp/krigo/internal/linalg"
)

// errRowNoise is the error of objectives whose formulas have one noise variance for all rows.
var errRowNoise = errors.New("this objective has one noise variance for all rows: train with evidence, nearest, vfe, " +
	"fitc, dtc or pep if rows differ in noise")

// finite returns an error if the value or an entry of the gradient isn't finite.
func finite(value float64, gradient []float64, noise float64) error {
	what := "objective"
	if value-value == 0 {
		if what = "gradient"; linalg.Finite(gradient) {
			return nil
		}
	}
	return fmt.Errorf("the %s isn't finite at noise variance %.3g: look for extreme values in the data", what, noise)
}

// unfactored returns the error for a matrix, named what, that can't be factored.
func unfactored(what string, noise float64, err error) error {
	return fmt.Errorf("the %s can't be factored at noise variance %.3g (%w): raise the noise variance", what, noise, err)
}
