package model

import (
	"errors"
	"fmt"
	"slices"

	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/internal/spelling"
)

// otherData is the error for data that the model wasn't made from.
type otherData struct{ reason string }

func (e *otherData) Error() string { return e.reason }

// RolesOf returns the roles that the rows of d have in the model.
// It fails if the model wasn't made from d. The order of the rows doesn't matter, except for a
// backtest and for an old model, which need the order of their file.
func (m *Model) RolesOf(d *dataset.Data) (dataset.Roles, error) {
	other := func(format string, args ...any) (dataset.Roles, error) {
		return dataset.Roles{}, &otherData{fmt.Sprintf(format, args...)}
	}
	if m.Beside != nil {
		if _, err := d.OfAny(m.Beside); err != nil {
			return other("%v", err)
		}
	}
	if n := m.Counts.Sum(); d.Rows != n {
		return other("%s has %d rows, the model was made from %d (%s)", d.Source, d.Rows,
			n, m.Source)
	}
	if m.Split == ByPosition {
		return m.rolesByPosition(d)
	}
	d = d.Ordered(m.HashOrder)
	dealt := m.DealtUnits()
	// Roles aren't stored. The same deal gives them again, and hashes show that the rows are the
	// same.
	roles, units, err := m.Split.Deal(d, m.Beside, m.Seed,
		func(n int) (test, calibration, prior int, err error) {
			if n != dealt.Sum() {
				err = &otherData{fmt.Sprintf("%s has %d groups, the model was made from %d (%s)",
					d.Source, n, dealt.Sum(), m.Source)}
				if m.Beside != nil {
					err = &otherData{fmt.Sprintf("%s has %d rows, or groups, with any of the "+
						"targets %s, the fit had %d (%s)", d.Source, n,
						spelling.Quoted(m.Beside, 10), dealt.Sum(), m.Source)}
				}
			}
			return dealt[dataset.Test], dealt[dataset.Calibration], dealt[dataset.Prior], err
		})
	if err != nil {
		return roles, err
	}
	if units.Hash != m.All {
		return other("the rows of %s aren't the rows that the model was made from (%s): the "+
			"SHA-256 of all rows, in any order, is %s, but the model's is %s", d.Source, m.Source,
			units.Hash, m.All)
	}
	if units.Targets != m.Targets {
		return other("the targets of %s aren't the targets that the model was made from", d.Source)
	}
	if h := units.HashOf(roles.Rows(dataset.Certified)); h != m.Hash {
		return other("the certified rows of %s aren't the rows that the model was made from "+
			"(%s): their SHA-256 is %s, but the model's is %s. If roles follow the order of "+
			"rows, the order must be the same", d.Source, m.Source, h, m.Hash)
	}
	if rows, _ := roles.Counts(); rows != m.Counts {
		return other("the rows of %s get the roles %v (test, calibration, prior, certified), but "+
			"the model has %v", d.Source, rows, m.Counts)
	}
	if m.HashOrder != nil {
		order, err := HashOrder(d, m.Beside)
		if err != nil {
			return roles, err
		}
		if !slices.Equal(order, m.HashOrder) {
			return other("the columns of %s are hashed in the order %v, those of the model in "+
				"the order %v (%s)", d.Source, order, m.HashOrder, m.Source)
		}
	}
	return roles, m.checkHashes(d, roles)
}

// DealtUnits returns how many units (groups if rows have groups, else rows) got each role when
// krigo dealt the roles.
// For a model of a fit of several targets, these are the units of all rows that have any of the
// targets.
func (m *Model) DealtUnits() dataset.Counts {
	if m.Beside != nil {
		return m.Dealt
	}
	return m.Groups
}

// rolesByPosition returns the roles of an old model, which its file lists row by row.
func (m *Model) rolesByPosition(d *dataset.Data) (dataset.Roles, error) {
	roles := dataset.Roles{Of: m.positional}
	h, err := d.Hash(d.RowsOf(roles, dataset.Certified))
	if err != nil {
		return roles, err
	}
	if h != m.Hash {
		return roles, &otherData{fmt.Sprintf("the certified rows of %s aren't the rows that the "+
			"model was made from (%s): their SHA-256 is %s, but the model's is %s", d.Source,
			m.Source, h, m.Hash)}
	}
	return roles, m.checkHashes(d, roles)
}

// checkHashes returns an error if the hashes in the model aren't the hashes of the rows of d.
func (m *Model) checkHashes(d *dataset.Data, roles dataset.Roles) error {
	hashes, groups, err := HashRows(d, roles)
	if err != nil {
		return err
	}
	altered := []float64{0}
	if d.Ranks().Rank() == 0 && (!slices.Equal(hashes, m.Rows) || !slices.Equal(groups, m.Named)) {
		altered[0] = 1
	}
	if err := d.Ranks().Sum(altered); err != nil {
		return err
	}
	if altered[0] > 0 {
		return &otherData{fmt.Sprintf("the certified rows of %s are the rows that the model was "+
			"made from (%s), but a prior or calibration row has another hash", d.Source, m.Source)}
	}
	return nil
}

// MadeFrom says whether the model was made from d.
func (m *Model) MadeFrom(d *dataset.Data) (bool, error) {
	_, err := m.RolesOf(d)
	var other *otherData
	if errors.As(err, &other) {
		return false, nil
	}
	return err == nil, err
}
