package model

import "github.com/krigo-gp/krigo/dataset"

// Split names the way in which krigo deals roles to rows.
type Split string

const (
	ByContent  Split = "content"  // dataset.Units.Deal
	ByLast     Split = "last"     // dataset.DealLast: a backtest
	ByPosition Split = "position" // dataset.DealByPosition, in model files up to version 4
)

// Deal assigns every row of d a role. counts says how many of the units (groups if d has them, else
// rows) become test, calibration and prior units. Deal returns the roles and the units.
// If beside isn't nil, it names all targets of the fit, and Deal deals the roles of all rows that
// have any of these.
func (s Split) Deal(d *dataset.Data, beside []string, seed uint64,
	counts func(units int) (test, calibration, prior int, err error)) (dataset.Roles,
	*dataset.Units, error) {
	units, err := d.Units()
	whole := d
	all := units
	if err == nil && beside != nil {
		if whole, err = d.OfAny(beside); err == nil {
			all, err = whole.Units()
		}
	}
	if err != nil {
		return dataset.Roles{}, nil, err
	}
	test, calibration, prior, err := counts(all.Count)
	if err != nil {
		return dataset.Roles{}, nil, err
	}
	var roles dataset.Roles
	if asked := (dataset.Counts{test, calibration, prior}); s == ByLast {
		roles, err = dataset.DealLast(whole.Rows, asked)
	} else {
		roles, err = all.Deal(seed, asked)
	}
	if err == nil && whole != d {
		roles = d.RolesIn(whole, roles, units.Groups())
	}
	return roles, units, err
}

// HashOrder returns the order of the columns of inputs in which a fit's rows are hashed (see
// dataset.Data.ContentOrder). If beside isn't nil, it is the order by all rows that have any of
// these targets.
func HashOrder(d *dataset.Data, beside []string) ([]int, error) {
	if beside != nil {
		whole, err := d.OfAny(beside)
		if err != nil {
			return nil, err
		}
		d = whole
	}
	return d.ContentOrder()
}
