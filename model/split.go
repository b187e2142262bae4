package model

import "github.com/krigo-gp/krigo/dataset"

// Split names the way in which krigo deals roles to rows.
type Split string

const (
	ByContent  Split = "content"  // dataset.Units.Deal
	ByLast     Split = "last"     // dataset.DealLast: a backtest
	ByPosition Split = "position" // dataset.DealByPosition, in model files up to version 4
)

// Deal assigns every row of d a role. counts says how many of the units (groups if d has them, else rows) become test,
// calibration and prior units. Deal returns the roles and the units.
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
