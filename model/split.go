package model

import "github.com/krigo-gp/krigo/dataset"

// Split names how rows were dealt their roles.
type Split string

const (
	ByContent  Split = "content"  // dataset.Units.Deal
	ByLast     Split = "last"     // dataset.DealLast: a backtest
	ByPosition Split = "position" // dataset.DealByPosition, of model files up to version 4
)

// Deal deals the rows of d the roles of so many test, calibration and prior rows, or groups where d
// has any, and returns what is dealt with it.
func (s Split) Deal(d *dataset.Data, seed uint64,
	counts func(units int) (test, calibration, prior int, err error)) (dataset.Roles, *dataset.Units, error) {
	units, err := d.Units()
	if err != nil {
		return dataset.Roles{}, nil, err
	}
	test, calibration, prior, err := counts(units.Count)
	if err != nil {
		return dataset.Roles{}, nil, err
	}
	var roles dataset.Roles
	if asked := (dataset.Counts{test, calibration, prior}); s == ByLast {
		roles, err = dataset.DealLast(d.Rows, asked)
	} else {
		roles, err = units.Deal(seed, asked)
	}
	return roles, units, err
}
